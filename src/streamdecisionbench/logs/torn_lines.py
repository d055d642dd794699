"""Text logs that a killed process left with half a line at their end: the rest is whole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from streamdecisionbench.logs.log_files import LogFiles

__all__ = ["Whole", "torn_lines", "torn_note", "without_torn_lines"]

_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Whole:
    """Files without torn lines; of those that had one a copy, with the name of the original."""

    files: LogFiles
    originals: Mapping[str, str]


def torn_lines(files: LogFiles) -> dict[str, bytes]:
    """The half line at the end of each JSON Lines file of this machine that has one."""
    found = {}
    for path in files.of_format("json"):
        if path.lower().endswith((".gz", ".zst")) or not Path(path).is_file():
            continue
        tail = _tail(Path(path))
        if not _is_json(tail):
            found[path] = tail
    return found


def without_torn_lines(files: LogFiles, folder: Path) -> Whole:
    """Copies files that end in half a line into a folder, without that line.

    A file begun just before the kill may hold nothing else; it is left out, unless no other is there.
    """
    copies: dict[str, str] = {}
    for path, tail in torn_lines(files).items():
        copy = folder / f"whole-{len(copies)}" / Path(path).name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        with copy.open("r+b") as file:
            file.truncate(copy.stat().st_size - len(tail))
        copies[path] = str(copy)
    paths = [copies.get(path, path) for path in files.paths]
    read = list(zip(paths, files.formats, strict=True))
    kept = [(path, form) for path, form in read if not _is_empty(path, form)] or read
    whole = replace(files, paths=tuple(p for p, _ in kept), formats=tuple(f for _, f in kept))
    return Whole(whole, {copy: path for path, copy in copies.items()})


def torn_note(torn: int) -> list[str]:
    """What every reader of the figures must be told."""
    if not torn:
        return []
    ends = "1 file ends" if torn == 1 else f"{torn} files end"
    return [f"{ends} in a line that was cut off, as a killed process leaves it: left out"]


def _is_empty(path: str, form: str) -> bool:
    return form == "json" and Path(path).is_file() and not Path(path).stat().st_size


def _tail(path: Path) -> bytes:
    """What stands after the last line break."""
    with path.open("rb") as file:
        at = file.seek(0, 2)
        found = b""
        while at:
            size = min(_BLOCK, at)
            at -= size
            file.seek(at)
            found = file.read(size) + found
            if b"\n" in found:
                return found.rpartition(b"\n")[2]
    return found


def _is_json(line: bytes) -> bool:
    """The last line may lack its line break and be whole."""
    try:
        json.loads(line)
    except ValueError:
        return not line.strip()
    return True
