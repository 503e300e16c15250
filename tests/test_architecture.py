"""The shape of the house: one way in, small rooms, quick to open, nothing of the builder's machine."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

import likely
from likely import naive_bayes
from likely.models.registry import entries

REPO = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "docs", "tests", "benchmarks", ".ci")
LONGEST_MODULE = 400
MOST_ANY = 210
HEAVY = ("numba", "sklearn", "pandas", "pyarrow", "scipy")
# HTML or SVG written by hand: an element that begins a string, or stands in one.
ELEMENT = re.compile(
    r"</?(?:a|b|body|br|caption|div|figure|g|h[1-6]|head|html|i|li|meta|p|path|pre|rect|script|span|strong|style|svg|table"
    r"|tbody|td|text|th|thead|title|tr|ul)[ >/]"
)
# An absolute path into someone's home or workshop; relative ones and web addresses are fine.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:work|root|home)/")


def files() -> Iterator[Path]:
    """Every file of the project, without caches and what git and make leave at the root."""
    yield from (path for path in REPO.iterdir() if path.is_file() and path.name != ".git")
    for folder in FOLDERS:
        for path in (REPO / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def in_fresh_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_imports_go_one_way() -> None:
    # In a process of its own: the linter puts the loggers of this one to sleep.
    linter = (
        "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, no_logo=True))"
    )
    done = subprocess.run([sys.executable, "-c", linter], cwd=REPO, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def circles(graph: dict[str, set[str]]) -> set[tuple[str, ...]]:
    """Sets of modules each of which reaches all others of its set."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        todo, seen = [start], set[str]()
        while todo:
            new = graph[todo.pop()] - seen
            seen |= new
            todo += new
        reached[start] = seen
    return {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in graph
        if name in reached[name]
    }


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {("b", "c")}
    assert circles({"a": {"b"}, "b": set()}) == set()


def test_no_modules_import_each_other() -> None:
    """Imports inside functions and those for types alone count, too."""
    found = grimp.build_graph("likely", cache_dir=None)
    assert len(found.modules) > 100
    graph = {name: found.find_modules_directly_imported_by(name) for name in found.modules}
    short = {tuple(name.removeprefix("likely.") for name in circle) for circle in circles(graph)}
    assert short == set(), "move what both need below them"


def test_markup_is_written_in_one_place() -> None:
    """HTML and SVG come from `markup.tag`, which escapes; no string outside `render` holds an element."""
    source = Path(likely.__file__).parent
    found = {}
    for path in source.rglob("*.py"):
        if path.name == "markup.py" or path.parent.name == "render":
            continue
        strings = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        marked = [text for text in strings if isinstance(text, str) and ELEMENT.search(text)]
        if marked:
            found[str(path.relative_to(source))] = marked
    assert found == {}


def test_modules_are_short() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in files() if path.suffix == ".py"}
    assert len(lengths) > 5
    assert {str(path): n for path, n in lengths.items() if n > LONGEST_MODULE} == {}


def test_no_module_is_called_utils() -> None:
    vague = {"utils.py", "helpers.py", "common.py", "misc.py"}
    assert [str(path) for path in files() if path.name in vague] == []


def test_import_is_lazy() -> None:
    code = f"import json, sys, likely; print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    assert json.loads(in_fresh_python(code)) == []


def test_public_names_resolve() -> None:
    assert likely.__all__, "the package offers nothing"
    assert len(set(likely.__all__)) == len(likely.__all__)
    for name in likely.__all__:
        assert getattr(likely, name) is not None, name
    assert set(likely.__all__) <= set(dir(likely))


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        likely.no_such_name  # noqa: B018


def test_package_says_that_it_is_typed() -> None:
    assert (Path(likely.__file__).parent / "py.typed").is_file()


def test_no_machine_paths() -> None:
    found = []
    for path in files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # not text
        found += [
            f"{path.relative_to(REPO)}:{n}" for n, line in enumerate(text.splitlines(), 1) if MACHINE_PATH.search(line)
        ]
    assert found == []


@pytest.mark.parametrize("path", ["/{}/x", "'/{}/x'", "file:///{}/x"])
@pytest.mark.parametrize("folder", ["work", "root", "home"])
def test_machine_paths_would_be_seen(path: str, folder: str) -> None:
    assert MACHINE_PATH.search(path.format(folder))
    assert not MACHINE_PATH.search(f"https://example.org/{folder}/x")


PUBLIC_CLASSIFIERS = [
    *(entry.load() for entry in entries()),
    *(vars(naive_bayes)[name] for name in naive_bayes.__all__),
]


@pytest.mark.parametrize("kind", PUBLIC_CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_a_classifier_has_few_classes_above_it(kind: type) -> None:
    own = [base.__name__ for base in kind.__mro__ if base.__module__.startswith("likely.")]
    assert 1 <= len(own) <= 3, own


def test_no_method_waits_for_another_class_to_fill_it() -> None:
    sources = [path for path in files() if path.suffix == ".py" and REPO / "src" in path.parents]
    assert [str(path) for path in sources if "raise NotImplementedError" in path.read_text()] == []


def test_a_class_name_means_one_thing() -> None:
    homes: dict[str, list[str]] = {}
    for path in Path(likely.__file__).parent.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(path.stem)
    assert len(homes) > 300
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}, "say what each of them is"


def test_types_are_said() -> None:
    """`Any` is for what a library without types hands over; there were three times as many lines of it once."""
    sources = [path for path in files() if path.suffix == ".py" and REPO / "src" in path.parents]
    lines = [line for path in sources for line in path.read_text().splitlines()]
    assert len([line for line in lines if re.search(r"\bAny\b", line) and "import" not in line]) <= MOST_ANY


def test_every_module_of_logic_has_a_test_file() -> None:
    """One of its name in the same folder of tests/, or the one that tests/homes.toml states."""
    source, tests = Path(likely.__file__).parent, REPO / "tests"
    homes: dict[str, str] = tomllib.loads((tests / "homes.toml").read_text())
    lost = []
    for path in source.rglob("*.py"):
        name = path.relative_to(source).with_suffix("")
        tree = ast.parse(path.read_text())
        has_logic = any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree.body)
        if path.name in ("__init__.py", "__main__.py") or not has_logic:
            continue
        own = (tests / name.parent / f"test_{name.name}.py").is_file()
        stated = homes.pop(name.as_posix(), None)
        if own == (stated is not None) or (stated is not None and not (tests / stated).is_file()):
            lost.append(name.as_posix())
    assert lost == [], "give them a test file, or a line in tests/homes.toml; one of both"
    assert homes == {}, "these modules are gone"


def test_the_picture_of_the_house_is_current() -> None:
    spec = importlib.util.spec_from_file_location("house", REPO / "docs" / "pictures" / "house.py")
    assert spec is not None and spec.loader is not None
    house = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(house)
    drawn = (REPO / "docs" / "pictures" / "house.svg").read_text()
    assert house.drawn() == drawn, "run python docs/pictures/house.py"
