"""On which line of a TOML file each table and each key stands, for messages that can be acted on."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["Path", "line_of", "toml_lines"]

Path = tuple[str | int, ...]
"""Keys from the top of the file; a number picks one of an array of tables."""

_PART = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_NAME = rf"{_PART}(?:\s*\.\s*{_PART})*"
_TABLE = re.compile(rf"^\s*(\[\[?)\s*({_NAME})\s*\]")
_KEY = re.compile(rf"^\s*({_NAME})\s*=\s*(.*)$")
_QUOTES = ('"""', "'''")


def toml_lines(text: str) -> dict[Path, int]:
    """Line numbers by path, of a file that parses.

    >>> toml_lines("a = 1\\n[[b]]\\nc = 2\\n[[b]]\\nc = 3\\n")[("b", 1, "c")]
    5
    """
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    here: Path = ()
    inside: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if inside is not None:
            if inside in line:
                inside = None
            continue
        if table := _TABLE.match(line):
            here = _resolved(_parts(table[2]), counts)
            if table[1] == "[[":
                counts[here] = counts.get(here, -1) + 1
                here = (*here, counts[here])
            found.setdefault(here, number)
        elif key := _KEY.match(line):
            path = here
            for part in _parts(key[1]):
                path = (*path, part)
                found.setdefault(path, number)
            for quote in _QUOTES:
                if key[2].startswith(quote) and quote not in key[2][3:]:
                    inside = quote
    return found


def line_of(lines: dict[Path, int], path: Sequence[str | int]) -> int | None:
    """The line of a path, or of the nearest table around it."""
    for end in range(len(path), 0, -1):
        if tuple(path[:end]) in lines:
            return lines[tuple(path[:end])]
    return None


def _parts(name: str) -> list[str]:
    return [part.strip("'\"") for part in re.findall(_PART, name)]


def _resolved(parts: list[str], counts: dict[Path, int]) -> Path:
    """A table inside an array of tables belongs to its newest element."""
    path: Path = ()
    for k, part in enumerate(parts):
        path = (*path, part)
        if path in counts and k < len(parts) - 1:
            path = (*path, counts[path])
    return path
