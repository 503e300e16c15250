"""Text that a spreadsheet would run as a formula, made harmless."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

DANGER = "=+-@\t\r"
GUARD = "'"
HARMLESS_PATTERN = r"^([+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?%?|[+-])$"
"""Numbers, and a sign by itself, which may be a class."""
_HARMLESS = re.compile(HARMLESS_PATTERN)
DANGER_PATTERN = r"^[=+\-@\t\r]"


def guarded(text: str) -> str:
    """The text with an apostrophe before it if a spreadsheet would take it for a formula; numbers and signs are none.

    >>> guarded("=1+1"), guarded("-3.5"), guarded("- none")
    ("'=1+1", '-3.5', "'- none")
    """
    return GUARD + text if text[:1] in DANGER and text and not _HARMLESS.fullmatch(text) else text


def guarded_column(column: pa.ChunkedArray) -> Any:
    """The same for a column of strings."""
    import pyarrow as pa
    import pyarrow.compute as pc

    risky = pc.and_not(
        pc.match_substring_regex(column, DANGER_PATTERN), pc.match_substring_regex(column, HARMLESS_PATTERN)
    )
    if not pc.any(risky).as_py():
        return column
    return pc.if_else(
        risky, pc.binary_join_element_wise(pa.scalar(GUARD, column.type), column, pa.scalar("", column.type)), column
    )
