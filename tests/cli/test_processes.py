"""Real processes: pipes, signals, terminals, and how little is imported to say hello."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from likely.io.sources import SPOOL_CHUNK
from tests.cli.conftest import MAILS, NEW
from tests.cli.preloaded import preloaded

LIKELY = [sys.executable, "-m", "likely"]
PLAIN = {**os.environ, "PYTHONWARNINGS": "default", "COLUMNS": "80"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mails.csv").write_text(MAILS)
    (tmp_path / "new.csv").write_text(NEW)
    return tmp_path


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with preloaded(tmp_path_factory.mktemp("quick") / "bin") as environment:
        yield environment


def shell(line: str, folder: Path, quick: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A line as a user types it."""
    command = ["bash", "-o", "pipefail", "-c", line]
    return subprocess.run(command, cwd=folder, env=quick, capture_output=True, text=True)


def test_a_whole_way_through_pipes(folder: Path, quick: dict[str, str]) -> None:
    line = "cat mails.csv | likely train - -t kind -o - | likely predict - new.csv | cut -d, -f4"
    done = shell(line, folder, quick)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "prediction\nskip\nread\n"


def test_exit_codes(folder: Path, quick: dict[str, str]) -> None:
    done = shell("likely train mails.csv -t kind --model naive -q", folder, quick)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = shell("likely train mails.csv -t knid", folder, quick)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert shell("likely merge mails.likely mails.likely -o two.likely -q", folder, quick).returncode == 0
    assert shell("likely show --diff mails.likely two.likely", folder, quick).returncode == 1


def test_a_reader_that_leaves_is_no_trouble(folder: Path) -> None:
    (folder / "long.csv").write_text(MAILS + "shop,7,5,skip\n" * 50_000)
    line = f"{' '.join(LIKELY)} convert long.csv | head -n 2"
    done = shell(line, folder, PLAIN)
    assert done.stdout == "sender,links,hour,kind\nfriend,0,18.5,read\n"
    assert done.stderr == ""
    assert done.returncode == 141, "as `cat` under pipefail"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_leave_nothing_half_written(folder: Path, number: int, code: int) -> None:
    spool = folder / "spool"
    spool.mkdir()
    process = subprocess.Popen(
        [*LIKELY, "convert", "-", "-o", "out.csv"], cwd=folder, env={**PLAIN, "TMPDIR": str(spool)},
        stdin=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    # More than a pipe holds and is copied at once: written only when the copy has begun; and there is no end to it.
    process.stdin.write(b"shop,7,5,skip\n" * (3 * SPOOL_CHUNK // 14))
    assert list(spool.iterdir())
    process.send_signal(number)
    err = process.communicate()[1].decode()
    assert process.returncode == code
    assert "Traceback" not in err
    assert not list(folder.glob("*out.csv*"))
    assert not list(folder.glob(".*unfinished*"))
    assert not list(spool.iterdir())


def on_a_terminal(arguments: list[str], folder: Path, **more: str) -> str:
    """What a terminal of 80 columns gets to see, on both streams."""
    main, other = pty.openpty()
    environment = {**PLAIN, "TERM": "xterm-256color", **more}
    environment.pop("COLUMNS", None)
    process = subprocess.Popen([*LIKELY, *arguments], cwd=folder, env=environment, stdout=other, stderr=other)
    os.close(other)
    seen = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        seen += piece
    process.wait()
    os.close(main)
    assert process.returncode == 0, seen.decode()
    return seen.decode()


def test_colours_and_bars_are_for_terminals_only(folder: Path, quick: dict[str, str]) -> None:
    assert "\x1b[" not in shell("likely schema mails.csv", folder, quick).stdout
    assert "\x1b[1;36m" in on_a_terminal(["schema", "mails.csv"], folder)
    assert "36m" not in on_a_terminal(["schema", "mails.csv"], folder, NO_COLOR="1")
    assert "converting" in on_a_terminal(["convert", "mails.csv", "-o", "x.parquet"], folder)
    assert on_a_terminal(["convert", "mails.csv", "-o", "x.parquet", "--quiet"], folder) == ""


def test_predictions_on_a_terminal_are_a_table_of_the_first_rows(folder: Path, quick: dict[str, str]) -> None:
    (folder / "long.csv").write_text(
        "n,name,y\n" + "".join(f"{k},{'long name ' * 9}{k},{'ab'[k % 2]}\n" for k in range(30))
    )
    shell("likely train long.csv -t y --model naive", folder, quick)
    seen = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", on_a_terminal(["predict", "long.likely", "long.csv"], folder))
    lines = [line.rstrip() for line in seen.replace("\r\n", "\n").splitlines()]
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["n", "name", "y", "prediction", "P(a)", "P(b)"]
    assert lines[20].split()[0] == "19"
    assert re.search(r"  0\.\d{4}$", lines[20])
    assert lines[22] == "The first 20 rows; -o FILE writes everything."
    assert len(shell("likely predict long.likely long.csv", folder, quick).stdout.splitlines()) == 31
    names = [f"{'the same beginning ' * 2}{k}" for k in range(2)]
    (folder / "names.csv").write_text(
        f"{','.join(names)},y\n" + "".join(f"{k / 1e9},{k % 3},{'ab'[k % 2]}\n" for k in range(9))
    )
    shell("likely train names.csv -t y --model naive", folder, quick)
    seen = on_a_terminal(["predict", "names.likely", "names.csv"], folder)
    assert seen.count("the same beginning the …") == 2, "columns stay two where their names are cut to the same"
    shell("likely convert names.csv -o names.parquet", folder, quick)
    assert "8e-09" in on_a_terminal(["predict", "names.likely", "names.parquet"], folder), "a small number is no zero"


def test_messages_are_folded_between_words_on_a_terminal(folder: Path, quick: dict[str, str]) -> None:
    arguments = ["train", "mails.csv", "--target", "kind", "--model", "naive", "-o", f"{'long-name-' * 4}.likely"]
    (said,) = shell(f"likely {' '.join(arguments)}", folder, quick).stderr.splitlines()
    assert len(said) > 80
    seen = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", on_a_terminal(arguments, folder))
    lines = [line.split("\r")[-1] for line in seen.replace("\r\n", "\n").splitlines()]
    told = lines[next(k for k, line in enumerate(lines) if line.startswith("Learned")) :]
    assert max(map(len, told)) <= 80
    assert " ".join(told) == said


def test_help_needs_nothing_heavy() -> None:
    program = (
        "import sys; from likely.cli.run import run; assert run(['train', '--help']) == 0; "
        "heavy = {'numpy', 'pandas', 'pyarrow', 'numba', 'scipy', 'sklearn', 'matplotlib'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=PLAIN)
    assert done.returncode == 0, done.stderr
    assert "--target" in done.stdout


def test_standard_output_in_any_encoding(folder: Path) -> None:
    (folder / "u.csv").write_text("näme,y\nZürich,p\n漢字,q\n")
    environment = {**PLAIN, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    done = subprocess.run([*LIKELY, "schema", "u.csv"], cwd=folder, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert rb"n\xe4me" in done.stdout


def test_a_fault_of_ours_is_a_sentence_with_a_code_of_its_own(folder: Path) -> None:
    program = (
        "import sys; import likely.teaching.blackboard as blackboard; "
        "blackboard.main = lambda: {}['gone']; sys.argv = ['likely', 'demo', 'blackboard']; "
        "from likely.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=PLAIN, capture_output=True, text=True)
    assert done.returncode == 70
    assert "This should not have happened (KeyError" in done.stderr
    assert "Traceback" not in done.stderr
