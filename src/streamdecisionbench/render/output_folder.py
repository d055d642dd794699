"""The folder a report lives in: fresh, or one that an earlier report made and may make again.

A report is written whole beside its place and renamed into it, so whoever looks sees the earlier one
or the new one. A report that is killed leaves only what the next one clears away or puts back.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.file_io import (
    cannot_write,
    write_synced,
)

MARKER = ".sdb-report.json"
"""Lists what the report wrote, with digests; only that is ever taken away."""

_STAGE = ".sdb-{pid}-"


def require_usable(out: Path) -> None:
    """Refuses a folder with content that no report made."""
    if out.exists() and not out.is_dir():
        raise InputError("is a file", where=out, fix="give a folder with --out")
    if out.is_dir() and any(out.iterdir()) and not _is_plain(out / MARKER):
        raise InputError(
            "the folder is not empty and holds no earlier report",
            where=out,
            fix="give a fresh folder with --out",
        )


def fill(out: Path, files: Mapping[str, bytes]) -> None:
    """Replaces an earlier report by these files. Files of others stay where they are."""
    require_usable(out)
    home = out.resolve()
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        _clear_leftovers(home)
        stage = Path(
            tempfile.mkdtemp(
                prefix=_STAGE.format(pid=os.getpid()), suffix=f"-{home.name}", dir=home.parent
            )
        )
    except OSError as error:
        raise cannot_write(out, error) from None
    try:
        for name, content in files.items():
            _write(stage / name, content)
        digests = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
        marker = {"made_by": "sdb report", "files": digests}
        _write(stage / MARKER, (json.dumps(marker, indent=2) + "\n").encode())
        stage.chmod(home.stat().st_mode & 0o7777 if home.exists() else 0o777 & ~_umask())
        _keep_others(home, stage, files)
        _put(stage, home)
    except OSError as error:
        at = Path(os.fsdecode(error.filename or home))
        raise InputError(
            f"the report cannot be written ({error.strerror or type(error).__name__})",
            where=out / at.relative_to(stage) if at.is_relative_to(stage) else out,
            fix="make room, or choose another --out folder",
        ) from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_synced(path, content)
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def _keep_others(home: Path, stage: Path, files: Mapping[str, bytes]) -> None:
    """Takes along whatever lies in the folder and is neither of this report nor of the earlier one."""
    earlier = _made_before(home)
    for path in _entries(home):
        name = path.relative_to(home).as_posix()
        target = stage / name
        if name in files or name == MARKER or os.path.lexists(target):
            continue
        if path.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(path.readlink())
        elif path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        elif not (name in earlier and _digest(path) == earlier[name]):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                target.hardlink_to(path)
            except OSError:
                shutil.copy2(path, target, follow_symlinks=False)
    for folder in sorted((p for p in _entries(stage) if _is_folder(p)), reverse=True):
        old = home / folder.relative_to(stage)
        emptied = old.is_dir() and any(old.iterdir())
        if emptied and not any(folder.iterdir()):
            folder.rmdir()  # held nothing but parts of the earlier report


def _put(stage: Path, home: Path) -> None:
    """The new folder under its name; what had the name is then in the stage."""
    if not home.exists():
        stage.rename(home)
        return
    # Somebody stands in the folder: another one under its name would leave them nowhere.
    if not Path.cwd().is_relative_to(home) and _swap(stage, home):
        return
    # The folder itself cannot move, say because a disk is mounted there: file by file, then.
    kept = {p.relative_to(stage) for p in _entries(stage)}
    for path in [p for p in _entries(home) if p.relative_to(home) not in kept]:
        if not _is_folder(path):
            path.unlink()
    for path in [p for p in _entries(stage) if not _is_folder(p)]:
        target = home / path.relative_to(stage)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.replace(target)


def _swap(stage: Path, home: Path) -> bool:
    """In two steps; killed between them, `_clear_leftovers` puts the earlier report back."""
    aside = stage.with_name(f"{stage.name}-before")
    try:
        home.rename(aside)
    except OSError:
        return False
    try:
        stage.rename(home)
    except OSError:
        aside.rename(home)
        return False
    aside.rename(stage)
    return True


def _clear_leftovers(home: Path) -> None:
    """Stages of reports for this very folder whose processes are gone."""
    start, end = _STAGE.partition("{pid}")[0], f"-{home.name}"
    for path in home.parent.iterdir():
        words = path.name.removeprefix(start).split("-")
        ours = path.name.startswith(start) and path.name.removesuffix("-before").endswith(end)
        if ours and words[0].isdigit() and _is_folder(path) and not _alive(int(words[0])):
            if path.name.endswith("-before") and not home.exists():
                path.rename(home)  # it died between the two steps
            else:
                shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    return True


def _made_before(home: Path) -> dict[str, str]:
    """What the earlier report wrote and its digests, as its marker says."""
    if not _is_plain(home / MARKER):
        return {}
    try:
        listed = json.loads((home / MARKER).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    if not isinstance(listed, dict):
        return {}
    return {str(name): str(digest) for name, digest in listed.items()}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _entries(home: Path) -> Iterator[Path]:
    """Everything below, links not followed."""
    if not _is_folder(home):
        return
    for path in sorted(home.iterdir()):
        yield path
        if _is_folder(path):
            yield from _entries(path)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _umask() -> int:
    now = os.umask(0o022)
    os.umask(now)
    return now
