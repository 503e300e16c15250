"""Where tests of the GPU run: on one, or by the compiler of the host."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from likely.arrays import AnyArray
from likely.engines.gpu import device as devices
from tests.engines.gpu.emulation import EmulatedArray, EmulatedSparse, emulated_device


class Device(Protocol):
    """Takes arrays in and gives them back; `launched` are the kernels that were started."""

    launched: list[str]

    def put(self, array: AnyArray) -> Any: ...

    def put_sparse(self, rows: scipy.sparse.csr_array) -> Any: ...

    def get(self, array: Any) -> AnyArray: ...


class Emulated:
    """The host, whose arrays say that they lie elsewhere."""

    def __init__(self, launched: list[str]) -> None:
        self.launched = launched

    def put(self, array: AnyArray) -> EmulatedArray:
        return EmulatedArray(array)

    def put_sparse(self, rows: scipy.sparse.csr_array) -> EmulatedSparse:
        return EmulatedSparse(rows)

    def get(self, array: Any) -> AnyArray:
        return array.cells if isinstance(array, EmulatedArray) else np.asarray(array)


class RealGPU:
    """A GPU, by CuPy."""

    def __init__(self) -> None:
        self.launched: list[str] = []

    def put(self, array: AnyArray) -> Any:
        import cupy

        if array.flags.forc or min(array.strides) < 0:
            return cupy.asarray(array)
        reach = sum(step * (n - 1) for step, n in zip(array.strides, array.shape, strict=True)) + array.itemsize
        there = cupy.ndarray(array.shape, array.dtype, cupy.cuda.alloc(reach), strides=array.strides)
        there[...] = cupy.asarray(np.ascontiguousarray(array))
        return there

    def put_sparse(self, rows: scipy.sparse.csr_array) -> Any:
        import cupyx.scipy.sparse

        return cupyx.scipy.sparse.csr_matrix(scipy.sparse.csr_matrix(rows))

    def get(self, array: Any) -> AnyArray:
        return array.get() if hasattr(array, "get") else np.asarray(array)


@contextmanager
def device_for_tests(folder: Path) -> Iterator[Device]:
    """A GPU if the variable LIKELY_GPU asks for one, else the compiler of the host."""
    if os.environ.get("LIKELY_GPU"):
        real, here = RealGPU(), devices.device()
        start = here.launch

        def launch(kernel: str, types: Any, *rest: Any, threads: int = 0) -> None:
            real.launched.append(f"{kernel}<{', '.join(types)}>" if types else kernel)
            start(kernel, types, *rest, threads=threads)

        here.launch = launch  # type: ignore[method-assign]
        yield real
        here.launch = start  # type: ignore[method-assign]
        return
    with emulated_device(folder) as here:
        yield Emulated(here.launched)
