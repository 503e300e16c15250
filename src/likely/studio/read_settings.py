"""How a dropped table is to be read, where a reader of the page has answered a question of the careful reader."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from likely.io.file_table import FileTable, open_table


class ReadSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a page may say of a file: options of `open_table`, and none that names a file to write."""

    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    escape: str | None = None
    decimal: str | None = None
    header: bool | None = None
    skip: int | None = None
    na: list[str] | None = None
    types: dict[str, str] | None = None
    multiline: bool = False
    sheet: str | None = None
    rejects: Literal["skip"] | None = None

    def open(self, path: Path) -> FileTable:
        """The table of a file, read so."""
        return open_table(
            path, encoding=self.encoding, delimiter=self.delimiter, quote=self.quote, escape=self.escape,
            decimal=self.decimal, header=self.header, skip=self.skip, na=self.na, types=self.types,
            multiline=self.multiline, sheet=self.sheet, rejects=self.rejects,
        )  # fmt: skip
