"""The kernels are CUDA: its compiler takes every one of them, for the types that rows come in.

Kernels that run by the compiler of the host (`emulation.py`) may still be refused by that of a GPU.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from itertools import cycle, islice, product
from pathlib import Path

import pytest

from likely.engines.gpu.device import CupyDevice, source

CELLS, CODES = ("float", "double"), ("unsigned char", "unsigned short", "int")
VALUES = ("bool", "unsigned char", "int", "long long")
FINISHED = ("float", "double", "int")
CLASSES = ("2", "3", "16")
TILES = [(str(classes), str(threads)) for threads, most in CupyDevice.tile_threads for classes in sorted({1, 2, most})]


def each_once(*choices: Sequence[str]) -> list[tuple[str, ...]]:
    """Types of a kernel such that each choice of each of them comes at least once."""
    return list(islice(zip(*map(cycle, choices), strict=False), max(map(len, choices))))


INSTANCES: dict[str, list[tuple[str, ...]]] = {
    "deal_rows": each_once(CODES),
    "count_labels": each_once(VALUES),
    "observe_pieces": list(product(CELLS, ("false", "true"))),
    "observe_tiles": [
        (cell, code, weighted, *tile)
        for tile in TILES
        for cell, code, weighted in zip(CELLS, CODES, ("false", "true"), strict=False)
    ],
    "join_pieces": [()],
    "join_parts": [()],
    "count_values": each_once(VALUES, CODES),
    "count_words": each_once(CODES, (str(CupyDevice.word_threads),)),
    "count_many_values": each_once(VALUES, CODES, ("double",)),
    "sum_sparse_rows": each_once(CELLS, ("int", "long long"), CODES),
    "add_bells": list(product(CELLS, CLASSES, FINISHED[1:], ("2",))),
    "add_lines": each_once(VALUES, CLASSES, FINISHED),
    "add_held_lines": [
        (*some, *more)
        for some, more in zip(
            each_once(VALUES, CLASSES, FINISHED), each_once(("8", "16", "128"), ("2", "1", "4")), strict=False
        )
    ],
    "add_code_tables": each_once(CLASSES, FINISHED),
    "add_code_trees": each_once(CLASSES, FINISHED),
    "add_sparse_counts": each_once(CELLS, ("int", "long long"), CLASSES, FINISHED),
    "finish_scores": each_once(FINISHED),
}


def test_every_kernel_is_among_them() -> None:
    assert set(re.findall(r"__global__ void(?: __launch_bounds__\(\w+\))? (\w+)\(", source())) == set(INSTANCES)


def test_the_compiler_of_a_gpu_takes_every_kernel(tmp_path: Path) -> None:
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("no nvcc, by which the kernels of the GPU could be compiled")
    names = [
        f"{kernel}<{', '.join(types)}>" if types else kernel for kernel, all_ in INSTANCES.items() for types in all_
    ]
    used = ",\n".join(f"(void*)&{name}" for name in names)
    (tmp_path / "kernels.cu").write_text(f"{source()}\nvoid* used[] = {{\n{used}\n}};\n", encoding="utf-8")
    command = [
        compiler,
        "-std=c++17",
        "-arch=sm_80",
        "-Werror",
        "all-warnings",
        "-ptx",
        "-o",
        "kernels.ptx",
        "kernels.cu",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    text = (tmp_path / "kernels.ptx").read_text(encoding="utf-8")
    assert len(re.findall(r"^\.(?:visible|weak) \.entry", text, re.MULTILINE)) == len(names)
