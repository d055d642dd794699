"""Whole lines of a file that somebody else writes, as they come."""

from __future__ import annotations

from pathlib import Path

__all__ = ["GrowingFile"]

_KNOWN = 256
"""How many bytes before the place read up to must still be what they were."""


class GrowingFile:
    """Reads on where it stopped. A line without its end waits for the rest.

    A file that was replaced, cut or written anew is read from its start again, and says so.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._before = b""
        self._inode = -1

    def new_lines(self) -> tuple[list[bytes], bool]:
        """Lines that are complete now, and whether they are all lines from the start again."""
        try:
            with self.path.open("rb") as file:
                found = self.path.stat()
                again = self._offset > 0 and (
                    found.st_ino != self._inode or not self._is_the_same(file.fileno())
                )
                if again or self._offset == 0:
                    self._offset, self._before = 0, b""
                self._inode = found.st_ino
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            gone = self._offset > 0
            self._offset, self._before = 0, b""
            return [], gone
        end = data.rfind(b"\n") + 1
        self._offset += end
        self._before = (self._before + data[:end])[-_KNOWN:]
        return data[:end].split(b"\n")[:-1], again

    def _is_the_same(self, descriptor: int) -> bool:
        import os

        start = self._offset - len(self._before)
        return os.pread(descriptor, len(self._before), start) == self._before
