"""A sign of life from commands that take more than a moment, on standard error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamdecisionbench.logs.engines.engine import ProgressTold


_FIRST_S, _EVERY_S, _LIVE_S = 2.0, 10.0, 0.5
"""Short work says nothing; a terminal gets a line that counts on, a file one now and then."""


@contextmanager
def working(doing: str, first_s: float = _FIRST_S, every_s: float = _EVERY_S) -> Iterator[None]:
    """Says what is being done and for how long, for as long as the block runs."""
    stream = sys.stderr
    live = stream.isatty()
    done = threading.Event()
    began = time.monotonic()
    width = 0

    def tell() -> None:
        nonlocal width
        pause = first_s
        while not done.wait(pause):
            line = f"… {doing}, {time.monotonic() - began:.0f} s"
            stream.write("\r" + line.ljust(width) if live else line + "\n")
            stream.flush()
            width = len(line)
            pause = _LIVE_S if live else every_s

    thread = threading.Thread(target=tell, name="working", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        if live and width:
            stream.write("\r" + " " * width + "\r")
            stream.flush()


# How far a long command is, on standard error: a line that moves, or now and then a new one.


_TELLING_FIRST_S, _TELLING_EVERY_S = 2.0, 10.0
"""Short work says nothing; where nobody watches, a line now and then is enough."""


@contextmanager
def telling(quiet: bool) -> Iterator[ProgressTold]:
    """Something to tell progress to, for as long as the work lasts."""
    started = time.monotonic()
    live = sys.stderr.isatty()
    last, width = started, 0

    def told(doing: str, share: float | None) -> None:
        nonlocal last, width
        now = time.monotonic()
        if (
            quiet
            or now - started < _TELLING_FIRST_S
            or now - last < (0.2 if live else _TELLING_EVERY_S)
        ):
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
