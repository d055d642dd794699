"""A sign of life from commands that take more than a moment, on standard error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["working"]

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
