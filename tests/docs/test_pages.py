"""The code of README, CONTRIBUTING and docs/ runs, and prints what the pages say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import pages, parsed, run

REPO = Path(__file__).resolve().parents[2]
RUNNABLE = [page for page in pages(REPO) if any(parsed(page))]


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(REPO)))
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # files that a page writes stay out of the repository
    assert run(page) > 0, "every block of the page is skipped"


def test_readme_has_code_that_runs() -> None:
    assert REPO / "README.md" in RUNNABLE


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.md"


def test_blocks_share_names_and_output_is_compared(page: Path) -> None:
    page.write_text("```python\na = 1\n```\n\n```python\n>>> a + 1\n2\n```\n\n```sh\nrm nothing\n```\n")
    assert run(page) == 2


def test_wrong_output_is_found(page: Path) -> None:
    page.write_text("# Title\n\n```python\n>>> 1 + 1\n3\n```\n")
    with pytest.raises(AssertionError, match="line 4"):
        run(page)


def test_a_failing_block_is_found(page: Path) -> None:
    page.write_text("```python\nraise KeyError('told')\n```\n")
    with pytest.raises(KeyError, match="told"):
        run(page)


def test_skips_need_a_reason(page: Path) -> None:
    block = "```python\nraise KeyError\n```\n"
    page.write_text(f'<!-- skip: next "needs a database" -->\n\n{block}')
    assert run(page) == 0
    page.write_text(f"<!-- skip: next -->\n\n{block}")
    with pytest.raises(ValueError, match="say why"):
        run(page)


@pytest.mark.parametrize("info", ["py", "python3", "pycon", "Python", "python title=x", "{python}"])
def test_python_that_would_not_run_is_refused(page: Path, info: str) -> None:
    page.write_text(f"```{info}\n1 + 1\n```\n")
    with pytest.raises(ValueError, match="write ```python"):
        run(page)
