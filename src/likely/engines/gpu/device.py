"""Where an array lies, and how kernels are started there: CuPy for GPUs of NVIDIA.

Arrays of CuPy, PyTorch and JAX are taken as they are, by DLPack, and results are given back as arrays of the same
library. Nothing is imported to find out that an array is none of these.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module, resources
from typing import Any, Protocol

import numpy as np

from likely.arrays import AnyArray
from likely.errors import DataError, MissingExtra, to_install

DeviceArray = Any
"""An array in the memory of a device: of CuPy, or whatever stands for it."""

C_TYPES = {
    "float32": "float", "float64": "double", "int8": "signed char", "uint8": "unsigned char",
    "int16": "short", "uint16": "unsigned short", "int32": "int", "uint32": "unsigned int", "int64": "long long",
    "uint64": "unsigned long long", "bool": "bool",
}  # fmt: skip


class Device(Protocol):
    """A device that counts."""

    xp: Any
    """The module that has NumPy's functions for its arrays."""

    threads: int
    block_sizes: tuple[int, ...]
    tile_threads: tuple[tuple[int, int], ...]
    word_threads: int
    n_blocks: int
    shared_bytes: int
    """Threads of a block as usual, and where more or fewer are better (most first); those of a block that counts tiles,
    with the most classes of each; blocks that keep the device busy; the shared memory of a block."""

    def view(self, array: object) -> DeviceArray:
        """An array of any library as one of ours, without a copy."""
        ...

    def give_back(self, array: DeviceArray, like: object) -> Any:
        """An array of ours as one of the library that another one belongs to."""
        ...

    def fetch(self, array: DeviceArray) -> AnyArray:
        """A copy on the host."""
        ...

    def log_gamma(self, array: DeviceArray) -> DeviceArray:
        """log Γ of every number."""
        ...

    def launch(
        self,
        kernel: str,
        types: Sequence[str],
        grid: tuple[int, ...],
        shared: int,
        arguments: Sequence[object],
        threads: int = 0,
    ) -> None:
        """Start a kernel in blocks of the usual size, or of another one.

        An array becomes a pointer, None a null pointer, a number of NumPy itself.
        """
        ...


@cache
def source() -> str:
    """The text of the kernels."""
    return resources.files("likely.engines.gpu").joinpath("kernels.cu").read_text(encoding="utf-8")


@cache
def device() -> Device:
    """The device on which arrays of CUDA are counted."""
    return CupyDevice()


def c_type(array: DeviceArray) -> str:
    """What the cells of an array are called in a kernel."""
    name = str(array.dtype)
    if name not in C_TYPES:
        raise DataError(f"Cells of the type {name} cannot be counted on a GPU: convert them to float32 or int32.")
    return C_TYPES[name]


def address(array: DeviceArray) -> int:
    """Where the cells of an array begin."""
    return int(array.data.ptr if hasattr(array.data, "ptr") else array.ctypes.data)


class CupyDevice:
    """A GPU by CuPy: kernels are compiled when they are first needed, for the types of their arrays."""

    threads = 256
    block_sizes: tuple[int, ...] = (1024, 512, 256, 128)
    tile_threads: tuple[tuple[int, int], ...] = ((256, 2), (512, 8))
    word_threads = 512

    def __init__(self) -> None:
        try:
            cupy: Any = import_module("cupy")
        except ImportError as error:
            raise MissingExtra(
                f"Rows on a GPU need CuPy: {to_install('gpu')}. ({type(error).__name__}: {error})"
            ) from None
        self.xp = cupy
        device = cupy.cuda.Device().attributes
        self.n_blocks = 16 * int(device["MultiProcessorCount"])
        self.shared_bytes = int(device["MaxSharedMemoryPerBlockOptin"])
        self._functions: dict[str, Any] = {}

    def view(self, array: object) -> DeviceArray:
        if isinstance(array, self.xp.ndarray):
            return array
        try:
            if hasattr(array, "detach"):
                array = array.detach()  # a tensor that learns by itself does not hand out its memory
            return self.xp.from_dlpack(array)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise DataError(f"An array of {type(array).__module__} cannot be read on the GPU: {error}.") from None

    def give_back(self, array: DeviceArray, like: object) -> Any:
        library = type(like).__module__.partition(".")[0]
        if library == "torch":
            return sys.modules["torch"].from_dlpack(array)
        if library in ("jax", "jaxlib"):
            return sys.modules["jax"].dlpack.from_dlpack(array)
        return array

    def fetch(self, array: DeviceArray) -> AnyArray:
        return np.asarray(self.xp.asnumpy(array))

    def log_gamma(self, array: DeviceArray) -> DeviceArray:
        return import_module("cupyx.scipy.special").gammaln(array)

    def launch(
        self,
        kernel: str,
        types: Sequence[str],
        grid: tuple[int, ...],
        shared: int,
        arguments: Sequence[object],
        threads: int = 0,
    ) -> None:
        function = self._function(f"{kernel}<{', '.join(types)}>" if types else kernel)
        if shared > function.max_dynamic_shared_size_bytes:
            function.max_dynamic_shared_size_bytes = shared
        told = [np.uintp(0) if argument is None else argument for argument in arguments]
        function(grid, (threads or self.threads,), tuple(told), shared_mem=shared)

    def _function(self, name: str) -> Any:
        if name not in self._functions:
            module = self.xp.RawModule(code=source(), options=("-std=c++17",), name_expressions=(name,))
            self._functions[name] = module.get_function(name)
        return self._functions[name]
