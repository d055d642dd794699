"""Functions that the live page offers to the rest of the package: see `features.HOOKS`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamdecisionbench.watch.commands import Page


def watching(folder: Path, data: Path | None) -> AbstractContextManager[Page]:
    """The page of a recording in this folder, served while the context is open."""
    from streamdecisionbench.watch import commands

    return commands.watching(folder, data)
