"""Reads and writes regular files, whole, with one message on failure.

Pipes and devices are not opened: reading them might never end. A written file is complete under its
name or does not exist, and writing never follows a symbolic link.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from streamdecisionbench.errors import InputError

T = TypeVar("T")

DEEPEST = 100
"""JSON nested deeper than this is refused: nobody writes it, and every tool has some such limit."""

# Not every system has all of these.
_PRIVATE = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)

_NESTING = frozenset((dict, list))
_NO_ROOM = "make room, or choose another place"


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a regular file."""
    fd = open_regular(path)
    try:
        with os.fdopen(fd, "rb") as file:
            return file.read()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path) from None


def read_text(path: str | Path, *, fix: str = "save it as UTF-8") -> str:
    """UTF-8 text, with or without the mark that some editors put in front."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text (byte {error.start})", where=path, fix=fix) from None


def read_json(path: str | Path) -> Any:
    """Decodes a JSON file, or says what is wrong with it."""
    data = read_bytes(path)
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"is not valid JSON: {error}", where=path, fix="restore the file"
        ) from None
    except RecursionError:
        raise _nested(path) from None
    if too_deep(value):
        raise _nested(path)
    return value


def read_json_as(path: str | Path, kind: type[T], fix: str, what: str = "") -> T:
    """A JSON file of this form, or the first thing in it that is otherwise."""
    try:
        return msgspec.convert(read_json(path), kind)
    except msgspec.ValidationError as error:
        raise InputError(f"{what}{error}", where=path, fix=fix) from None


def too_deep(value: Any, deepest: int = DEEPEST) -> bool:
    """Whether JSON data is nested beyond `deepest` levels.

    >>> too_deep([[1]], deepest=1), too_deep([[1]], deepest=2)
    (True, False)
    """
    level = [value] if type(value) in _NESTING else []
    for _ in range(deepest):
        if not level:
            return False
        level = [
            child
            for item in level
            for child in (item.values() if type(item) is dict else item)
            if type(child) in _NESTING
        ]
    return bool(level)


def open_regular(path: str | Path) -> int:
    """A descriptor for reading; refuses anything but a regular file, without waiting for it."""
    try:
        fd = os.open(path, os.O_RDONLY | _PRIVATE | _NO_WAITING)
    except FileNotFoundError:
        raise InputError("no such file", where=path, fix="check the path") from None
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or "no such name is possible"
        raise InputError(f"cannot be read ({what})", where=path) from None
    kind = os.fstat(fd).st_mode
    if stat.S_ISREG(kind):
        return fd
    os.close(fd)
    if stat.S_ISDIR(kind):
        raise InputError("is a folder, not a file", where=path, fix="name a file in it")
    raise InputError("is a pipe or a device, not a file", where=path, fix="save it as a file first")


def write_text(path: str | Path, text: str) -> None:
    """The same bytes on every system."""
    write_bytes(path, text.encode())


def write_bytes(path: str | Path, data: bytes) -> None:
    """Replaces the file in one step: a reader sees the old one or the new one, never half."""
    path = Path(path)
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        try:
            write_synced(temporary, data)
            temporary.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise cannot_write(path, error) from None


def write_synced(path: Path, data: bytes) -> None:
    """A file that is ours alone, on the medium when this returns; what had the name, a link too, loses it."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PRIVATE | _NO_LINKS
    with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """A folder's list of files on the medium: until then a power cut may undo a new name."""
    if (
        sys.platform == "win32"
    ):  # names are written with the file there, and no folder can be opened
        return
    found = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(found)
    finally:
        os.close(found)


def require_empty(folder: Path) -> None:
    """Refuses what would be mixed with, or lost."""
    if folder.exists() and not folder.is_dir():
        raise InputError("is a file", where=folder, fix="choose a fresh --out folder")
    if folder.exists() and any(folder.iterdir()):
        raise InputError("is not empty", where=folder, fix="choose a fresh --out folder")


def make_folder(path: str | Path) -> None:
    """The folder and those above it, where they are missing."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError("is a file, not a folder", where=path, fix="choose another") from None
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: str | Path, error: OSError) -> InputError:
    """The message for a disk that is full, a folder that is protected, a medium that is gone."""
    what = error.strerror or type(error).__name__
    return InputError(f"cannot be written ({what})", where=path, fix=_NO_ROOM)


def _nested(path: str | Path) -> InputError:
    return InputError(
        f"is nested more than {DEEPEST} levels deep", where=path, fix="restore the file"
    )
