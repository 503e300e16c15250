"""The kernels of the GPU, compiled for the host: threads of a block are fibres that wait for each other.

The text is that of the GPU. Only what CUDA adds to C++ is said otherwise: shared memory, the numbers of threads and
blocks, the barrier, and atomic sums (there is one fibre at a time). Arrays are NumPy's, in a class that says that it
lies on a device, so the whole engine runs as it does there.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.special

from likely.arrays import AnyArray
from likely.engines.gpu import device as devices
from likely.engines.gpu.device import source

PRELUDE = r"""
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>
#include <ucontext.h>
using std::exp;
using std::log;
struct Place { int x, y, z; };
static Place threadIdx, blockIdx, blockDim, gridDim;
static std::vector<unsigned char> emulated_shared;
static ucontext_t scheduler;
static std::vector<ucontext_t> fibres;
static std::vector<char> done;
static int current;
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)
struct ushort4 { unsigned short x, y, z, w; };
static void pause() { swapcontext(&fibres[current], &scheduler); }
static int block_waits, block_turn, left_alive;
static void __syncthreads() {
    const int turn = block_turn;
    if (++block_waits == left_alive) block_waits = 0, ++block_turn;
    while (turn == block_turn) pause();
}
static int told_codes[1024], warp_waits[32], warp_turn[32];
static unsigned int __match_any_sync(unsigned int, int code) {  // of whole warps
    const int warp = threadIdx.x / 32, own = threadIdx.x, lanes = blockDim.x < 32 ? blockDim.x : 32;
    unsigned int same = 0;
    for (int step = 0; step < 2; ++step) {
        const int turn = warp_turn[warp];
        if (!step) told_codes[own] = code;
        else for (int k = 0; k < lanes; ++k) same |= (unsigned int)(told_codes[warp * 32 + k] == code) << k;
        if (++warp_waits[warp] == lanes) warp_waits[warp] = 0, ++warp_turn[warp];
        while (turn == warp_turn[warp]) pause();
    }
    return same;
}
static int __popc(unsigned int bits) { return __builtin_popcount(bits); }
static unsigned int dot(unsigned int bytes, unsigned int others, unsigned int more) {
    for (int k = 0; k < 32; k += 8) more += (bytes >> k & 255) * (others >> k & 255);
    return more;
}
template <int SIZE> static void copy_later(void* to, const void* from, int bytes) { std::memcpy(to, from, bytes); }
static void end_copies() {}
template <int OPEN> static void await_copies() {}
template <typename A, typename B> static void atomicAdd(A* to, B more) { *to += more; }
static void (*body)(void**);
static void** body_arguments;
static void enter() {
    body(body_arguments);
    done[current] = 1;
    --left_alive;
    if (left_alive && block_waits == left_alive) block_waits = 0, ++block_turn;
    swapcontext(&fibres[current], &scheduler);
}
static std::vector<std::vector<char>> stacks;
static void run_blocks(void (*kernel)(void**), void** arguments, const int* grid, int threads, long shared) {
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {threads, 1, 1};
    body = kernel, body_arguments = arguments;
    emulated_shared.assign(shared + 64, 0xCD);
    fibres.resize(threads), done.resize(threads), stacks.resize(threads, std::vector<char>(64 * 1024));
    for (int z = 0; z < grid[2]; ++z) for (int y = 0; y < grid[1]; ++y) for (int x = 0; x < grid[0]; ++x) {
        blockIdx = {x, y, z};
        left_alive = threads;
        std::fill(emulated_shared.begin(), emulated_shared.end(), 0xCD);
        for (int t = 0; t < threads; ++t) {
            done[t] = 0;
            getcontext(&fibres[t]);
            fibres[t].uc_stack.ss_sp = stacks[t].data();
            fibres[t].uc_stack.ss_size = stacks[t].size();
            fibres[t].uc_link = &scheduler;
            makecontext(&fibres[t], enter, 0);
        }
        for (int left = threads; left > 0;) {
            left = 0;
            for (int t = 0; t < threads; ++t) {
                if (done[t]) continue;
                threadIdx = {t, 0, 0};
                current = t;
                swapcontext(&scheduler, &fibres[t]);
                left += !done[t];
            }
        }
    }
}
"""

WRAPPER = r"""
template <typename... A, std::size_t... I>
static void call(void (*kernel)(A...), void** told, std::index_sequence<I...>) { kernel(*(A*)told[I]...); }
template <typename... A>
static void call_all(void (*kernel)(A...), void** told) { call(kernel, told, std::index_sequence_for<A...>{}); }
static void this_kernel(void** told) { call_all(&KERNEL, told); }
extern "C" void start(void** told, const int* grid, int threads, long shared) {
    run_blocks(this_kernel, told, grid, threads, shared);
}
"""


class EmulatedArray:
    """An array that says that it lies on a GPU, and cannot be read as one of NumPy."""

    def __init__(self, cells: AnyArray) -> None:
        self.cells = cells

    @property
    def shape(self) -> tuple[int, ...]:
        return self.cells.shape

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)

    def __array__(self, *how: object, **more: object) -> AnyArray:
        raise TypeError("implicit conversion to a NumPy array is not allowed")

    def __len__(self) -> int:
        return len(self.cells)


class EmulatedSparse:
    """A sparse matrix in rows, with what is asked of one of CuPy."""

    has_canonical_format = True

    def __init__(self, rows: scipy.sparse.csr_array) -> None:
        self.data, self.indices, self.indptr = rows.data, rows.indices, rows.indptr
        self.shape, self.dtype, self._rows = rows.shape, rows.dtype, rows

    def tocsr(self) -> EmulatedSparse:
        return self

    def copy(self) -> EmulatedSparse:
        return EmulatedSparse(self._rows.copy())

    def __getitem__(self, rows: slice) -> EmulatedSparse:
        return EmulatedSparse(self._rows[rows])

    def get(self) -> scipy.sparse.csr_array:
        return self._rows


class EmulatedModule(ModuleType):
    """Stands for the sparse matrices of CuPy."""

    def issparse(self, rows: object) -> bool:
        return isinstance(rows, EmulatedSparse)


class EmulatedDevice:
    """Kernels by the compiler of the host; a block has few threads, so that there are many blocks."""

    xp = np
    threads = 32
    block_sizes = (64, 32)
    tile_threads = ((32, 4), (64, 8))
    word_threads = 64
    n_blocks = 3
    shared_bytes = 96 * 1024

    def __init__(self, folder: Path, compiler: str) -> None:
        self.folder, self.compiler = folder, compiler
        self._started: dict[str, Any] = {}
        self.launched: list[str] = []

    def view(self, array: object) -> AnyArray:
        return array.cells if isinstance(array, EmulatedArray) else np.asarray(array)

    def give_back(self, array: AnyArray, like: object) -> EmulatedArray:
        return EmulatedArray(array)

    def fetch(self, array: AnyArray) -> AnyArray:
        return np.array(array)

    def log_gamma(self, array: AnyArray) -> AnyArray:
        return scipy.special.gammaln(array)

    def launch(
        self,
        kernel: str,
        types: Sequence[str],
        grid: tuple[int, ...],
        shared: int,
        arguments: Sequence[object],
        threads: int = 0,
    ) -> None:
        name = f"{kernel}<{', '.join(types)}>" if types else kernel
        self.launched.append(name)
        start, held = self._function(name), []
        for argument in arguments:
            if argument is None:
                held.append(ctypes.c_void_p(0))
            elif isinstance(argument, np.ndarray):
                held.append(ctypes.c_void_p(argument.ctypes.data))
            else:
                assert isinstance(argument, np.generic), f"{name} was given {argument!r}: its type is not known"
                held.append((ctypes.c_char * argument.itemsize).from_buffer_copy(argument.tobytes()))
        told = (ctypes.c_void_p * len(held))(*(ctypes.addressof(one) for one in held))
        start(told, (ctypes.c_int * 3)(*grid, *([1] * (3 - len(grid)))), threads or self.threads, ctypes.c_long(shared))

    def _function(self, name: str) -> Any:
        if name not in self._started:
            shared = re.sub(
                r"extern __shared__ ([\w ]+?) (\w+)\[\];", r"\1* \2 = (\1*)emulated_shared.data();", source()
            )
            text = PRELUDE + shared + WRAPPER.replace("KERNEL", name)
            stem = self.folder / hashlib.sha256(text.encode()).hexdigest()[:20]
            if not stem.with_suffix(".so").exists():
                stem.with_suffix(".cpp").write_text(text, encoding="utf-8")
                made = stem.with_suffix(f".{id(self)}.so")
                command = [self.compiler, "-O1", "-std=c++17", "-w", "-shared", "-fPIC", "-o", str(made)]
                subprocess.run([*command, str(stem.with_suffix(".cpp"))], check=True)
                made.replace(stem.with_suffix(".so"))
            self._started[name] = ctypes.CDLL(str(stem.with_suffix(".so"))).start
        return self._started[name]


@contextmanager
def emulated_device(folder: Path) -> Iterator[EmulatedDevice]:
    """While it lasts, rows of a GPU are counted by the host's compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler by which the kernels of the GPU could be emulated")
    here = EmulatedDevice(folder, compiler)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(devices, "CupyDevice", lambda: here)
        patch.setitem(sys.modules, "cupyx.scipy.sparse", EmulatedModule("cupyx.scipy.sparse"))
        devices.device.cache_clear()
        yield here
    devices.device.cache_clear()
