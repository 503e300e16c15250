"""Compiled loops. Numba is imported when the first of them is called, not when their modules are: it takes its time."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from threading import RLock
from typing import Any, Generic, ParamSpec, TypeVar, overload

from likely.interpreter import INTERPRETER, THREAD

Given = ParamSpec("Given")
Returned = TypeVar("Returned")
Choice = TypeVar("Choice", bound=Callable[..., object])

_LOCK = RLock()
_BEFORE: list[Callable[[], object]] = []
"""What is to be told to Numba before it compiles anything."""


class JitKernel(Generic[Given, Returned]):
    """A loop that is compiled for the types of its first call, and kept on disk; other kernels call it, too.

    One that is `interpretable` gives the same bits when Python runs it, as `interpreter.py` has it do for little data:
    it adds and multiplies in a fixed order (no `fastmath`, `sum`, `@`), has logarithms from `math` rather than NumPy,
    and makes a number that may be negative an `np.int64` before an `np.uint64`.

    It is handed on to Numba's own object, which has its signatures (`signatures`) and the plain function (`py_func`).
    Other kernels know it by the type (`_numba_type_`) of a second one, which has no entrance for Python and no file: it
    becomes a part of those that call it.
    """

    def __init__(self, loop: Callable[Given, Returned], options: dict[str, Any], interpretable: bool = False) -> None:
        update_wrapper(self, loop)
        self._loop, self._options, self._lock, self._interpretable = loop, options, RLock(), interpretable

    def __call__(self, *given: Given.args, **named: Given.kwargs) -> Returned:
        if THREAD.interprets:
            return self._loop(*given, **named)
        if self._interpretable and INTERPRETER.is_quicker(self._loop, given):
            return INTERPRETER.run(self._loop, given, named)
        return self._compiled(*given, **named)  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        if name == "_compiled":
            with self._lock:  # its own: to compile, one thread waits for another that asks for a kernel
                if name not in vars(self):
                    vars(self)[name] = _compiled(self._loop, **self._options)
                    self._interpretable &= INTERPRETER.policy != ""  # there is nothing to be saved any more
            return vars(self)[name]
        return getattr(self._compiled, name)

    @cached_property
    def _numba_type_(self) -> Any:
        return (self._compiled if self._compiled.signatures else self._part)._numba_type_

    @cached_property
    def _part(self) -> Any:
        """What other kernels call, where Python has not called it before: an entrance takes its time to compile."""
        return _compiled(self._loop, **self._options | {"cache": False, "no_cpython_wrapper": True})

    def __reduce__(self) -> str:
        return self._loop.__qualname__


def _compiled(loop: Callable[..., Any], *, cache: bool = True, **options: Any) -> Any:
    """Numba's object; where no folder can be written to, every process compiles for itself."""
    from numba import njit

    INTERPRETER.numba_is_loaded = True
    with _LOCK:
        while _BEFORE:
            _BEFORE.pop()()
    make = partial(njit, nogil=True, no_cfunc_wrapper=True, **options)
    try:
        return make(cache=cache)(loop)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        return make()(loop)


def before_compiling(tell: Callable[[], object]) -> None:
    """Do this once Numba has been imported, and before anything is compiled."""
    _BEFORE.append(tell)


def compiled_as(function: Callable[..., object], **options: Any) -> Callable[[Choice], Choice]:
    """Decorate what chooses a loop for the types of a call, by which kernels replace `function`: Numba's `overload`."""

    def remember(choose: Choice) -> Choice:
        def register() -> None:
            from numba.extending import overload

            overload(function, **options)(choose)

        before_compiling(register)
        return choose

    return remember


class Intrinsic(Generic[Given, Returned]):
    """Machine instructions for kernels: `make` makes them as Numba wants them, `in_python` does the same slowly."""

    def __init__(self, make: Callable[[], Any], in_python: Callable[Given, Returned]) -> None:
        self._make, self._in_python = make, in_python

    def __call__(self, *given: Given.args, **named: Given.kwargs) -> Returned:
        return self._in_python(*given, **named)

    @cached_property
    def _numba_type_(self) -> Any:
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        made, context = intrinsic(self._make()), cpu_target.typing_context
        context.refresh()
        return context.resolve_value_type(made)


@overload
def kernel(loop: Callable[Given, Returned], /) -> JitKernel[Given, Returned]: ...


@overload
def kernel(
    *, interpretable: bool = False, **options: object
) -> Callable[[Callable[Given, Returned]], JitKernel[Given, Returned]]: ...


def kernel(loop: Callable[..., Any] | None = None, /, *, interpretable: bool = False, **options: object) -> object:
    """Have a loop compiled, without the interpreter's lock and once on a machine; options are those of `numba.njit`."""
    if loop is None:
        return partial(kernel, interpretable=interpretable, **options)
    return JitKernel(loop, options, interpretable)
