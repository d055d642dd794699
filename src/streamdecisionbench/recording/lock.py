"""One process per recording folder: two that write the same log would lose each other's events."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamdecisionbench.errors import InputError

__all__ = ["alone_in"]


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Holds the folder, made where it is missing. The system lets go when the process dies.

    Where there are no such locks (Windows, some network file systems) nothing is held.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    held = os.open(folder, os.O_RDONLY)
    try:
        if not _take(held):
            raise InputError(
                "another process is recording into it",
                where=folder,
                fix="wait until it has ended, or choose another --out",
            )
        yield
    finally:
        os.close(held)


def _take(held: int) -> bool:
    """False only where another process holds it."""
    import fcntl

    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
