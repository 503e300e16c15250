"""Damaged files of Arrow and Parquet: a model or a sentence, and no memory is touched that is not the file's.

They are read in another process: what is missed ends it, with a signal and not with an exception.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from likely.errors import FileError
from likely.io import open_table

N_ROWS = 60
N_DAMAGED = 400 if os.environ.get("LIKELY_TORTURE") == "full" else 60

READ = """
import sys
from likely.errors import LikelyError
from likely.io import open_table
from likely.table import as_table

for path in sys.argv[1:]:
    try:
        for rows in (open_table(path).sample(), open_table(path).read()):
            table = as_table(rows)
            for name in table.names:
                table.codes(name), table.storage(name), table.gaps(name)
    except LikelyError:
        pass
    except Exception as error:
        print(path, type(error).__name__, error)
"""


def table() -> pa.Table:
    rows = range(N_ROWS)
    return pa.table({
        "number": np.arange(N_ROWS) / 7, "truth": [k % 2 == 0 for k in rows], "word": [f"word {k % 7}" for k in rows],
        "category": pa.array([f"c{k % 3}" for k in rows]).dictionary_encode(),
        "gaps": [None, "x", "yy"] * (N_ROWS // 3),
    })  # fmt: skip


def write(kind: str, path: Path) -> None:
    if kind == "parquet":
        pq.write_table(table(), path)
        return
    with (pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream)(path, table().schema) as writer:
        writer.write_table(table(), N_ROWS // 3)


@pytest.mark.parametrize("kind", ["arrow", "arrows", "parquet"])
def test_damaged_files(kind: str, tmp_path: Path) -> None:
    write(kind, tmp_path / f"whole.{kind}")
    whole, rng = (tmp_path / f"whole.{kind}").read_bytes(), np.random.default_rng(0)
    paths = []
    for number in range(N_DAMAGED):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), rng.integers(1, 4)):
            damaged[place] = rng.integers(0, 256)
        paths.append(tmp_path / f"damaged{number}.{kind}")
        paths[-1].write_bytes(damaged)
    done = subprocess.run([sys.executable, "-c", READ, *paths], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-500:]


def test_a_text_that_ends_beyond_the_file_is_refused(tmp_path: Path) -> None:
    write("arrow", path := tmp_path / "forged.arrow")
    ends = np.cumsum([0, *(len(f"word {k % 7}") for k in range(N_ROWS // 3))]).astype(np.int32)
    forged = path.read_bytes().replace(ends.tobytes(), np.where(ends > 90, 1 << 30, ends).astype(np.int32).tobytes())
    assert forged != path.read_bytes()
    path.write_bytes(forged)
    with pytest.raises(FileError, match=r"forged\.arrow"):
        open_table(path).sample()
