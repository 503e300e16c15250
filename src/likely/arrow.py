"""Arrow, imported when it is first used: a quarter of a second that help, arrays and small commands do without."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:

    class _Deferred:
        """Stands for a module, and remembers what was asked of it."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, attribute: str) -> object:
            found = getattr(import_module(self._name), attribute)
            setattr(self, attribute, found)
            return found

    pa, pc = _Deferred("pyarrow"), _Deferred("pyarrow.compute")

__all__ = ["pa", "pc"]
