"""A sign of life from commands that take more than a moment: one line on standard error.

Short work says nothing. A terminal gets a line that moves on, a file a new one now and then.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamdecisionbench.logs.engines.engine import ProgressReported

_FIRST_S, _EVERY_S, _LIVE_S = 2.0, 10.0, 0.5


class _Line:
    """What is being done and for how long, told as often as whoever reads it can bear."""

    def __init__(self, first_s: float, every_s: float) -> None:
        self._stream = sys.stderr
        self._live = self._stream.isatty()
        self._began = time.monotonic()
        self._due = self._began + first_s
        self.pause = _LIVE_S if self._live else every_s
        self._width = 0

    def show(self, doing: str) -> None:
        now = time.monotonic()
        if now < self._due:
            return
        self._due = now + self.pause
        line = f"{doing}, {now - self._began:.0f} s"
        self._stream.write("\r" + line.ljust(self._width) if self._live else line + "\n")
        self._stream.flush()
        self._width = len(line)

    def clear(self) -> None:
        if self._live and self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()


@contextmanager
def working(
    doing: str, first_s: float | None = None, every_s: float | None = None
) -> Iterator[None]:
    """Says what is being done for as long as the block runs."""
    first_s = _FIRST_S if first_s is None else first_s
    line = _Line(first_s, _EVERY_S if every_s is None else every_s)
    done = threading.Event()

    def tell() -> None:
        pause = first_s
        while not done.wait(pause):
            line.show(f"… {doing}")
            pause = line.pause

    thread = threading.Thread(target=tell, name="working", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        line.clear()


@contextmanager
def telling(quiet: bool) -> Iterator[ProgressReported]:
    """Something to tell progress to, for as long as the work lasts."""
    line = _Line(_FIRST_S, _EVERY_S)

    def told(doing: str, share: float | None) -> None:
        if not quiet:
            line.show(doing if share is None else f"{doing} {share:4.0%}")

    try:
        yield told
    finally:
        line.clear()
