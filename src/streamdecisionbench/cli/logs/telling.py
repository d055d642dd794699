"""How far a long command is, on standard error: a line that moves, or now and then a new one."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamdecisionbench.logs.engines.engine import Told

__all__ = ["telling"]

_FIRST_S, _EVERY_S = 2.0, 10.0
"""Short work says nothing; where nobody watches, a line now and then is enough."""


@contextmanager
def telling(quiet: bool) -> Iterator[Told]:
    """Something to tell progress to, for as long as the work lasts."""
    started = time.monotonic()
    live = sys.stderr.isatty()
    last, width = started, 0

    def told(doing: str, share: float | None) -> None:
        nonlocal last, width
        now = time.monotonic()
        if quiet or now - started < _FIRST_S or now - last < (0.2 if live else _EVERY_S):
            return
        last = now
        part = f" {share:4.0%}" if share is not None else ""
        line = f"{doing}{part}, {now - started:.0f} s"
        if live:
            sys.stderr.write("\r" + line.ljust(width))
            width = max(width, len(line))
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    try:
        yield told
    finally:
        if width:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()
