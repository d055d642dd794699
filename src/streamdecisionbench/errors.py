"""Errors that are the user's to fix: each says what was wrong, where, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class SdbError(Exception):
    """Anything `sdb` reports in one message instead of a traceback. Exit code 2."""

    exit_code = 2
    trace: str = ""
    """The traceback inside a user's own code, for whoever asks with `--debug`."""


class InputError(SdbError):
    """A file, a field or an argument that cannot be used as it is.

    >>> print(InputError("tick_seconds is negative", where="debugging_a.json", fix="write seconds above 0"))
    debugging_a.json: tick_seconds is negative
      fix: write seconds above 0
    """

    def __init__(
        self, what: str, *, where: str | Path | None = None, fix: str | None = None
    ) -> None:
        self.what = what
        self.where = str(where) if where is not None else None
        self.fix = fix
        text = f"{self.where}: {what}" if self.where else what
        super().__init__(f"{text}\n  fix: {fix}" if fix else text)
