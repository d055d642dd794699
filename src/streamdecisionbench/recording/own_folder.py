"""Which folder a recording may be made in: a fresh one, or one in which nothing was answered yet."""

from __future__ import annotations

import contextlib
from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.event_lines import decode_line
from streamdecisionbench.recording.events import Response
from streamdecisionbench.recording.run_record import COMPLETE, RUN_FILE, read_run
from streamdecisionbench.recording.writer import EVENTS_FILE
from streamdecisionbench.suite.disk import read_bytes

__all__ = ["clear", "nothing_answered", "require_fresh"]

_PARTIAL = "events.partial-*.jsonl"


def require_fresh(folder: Path, *, overwrite: bool = False) -> None:
    """A recording starts in a folder of its own.

    A run that stopped before anything was answered (a wrong model name, no key) leaves a folder that
    the corrected command may use. `overwrite` also gives up answers, but never a complete recording.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError("is a file, not a folder", where=folder, fix="choose another --out")
    if not any(folder.iterdir()):
        return
    ours = _is_ours(folder)
    if ours and (overwrite or nothing_answered(folder)):
        return
    fix = "choose another --out"
    if ours:
        fix += ", add --resume to go on with the recording in it, or --overwrite to give it up"
    elif (folder / RUN_FILE).exists():
        fix += ", or add --resume to go on with the recording in it"
    raise InputError("is not a fresh folder", where=folder, fix=fix)


def nothing_answered(folder: Path) -> bool:
    """Whether no answer is in any log of the folder."""
    return not any(_has_response(log) for log in (folder / EVENTS_FILE, *folder.glob(_PARTIAL)))


def clear(folder: Path) -> None:
    """Removes what a recorder left: our files only, and links to nowhere else."""
    for path in _our_files(folder):
        path.unlink()


def _is_ours(folder: Path) -> bool:
    """Nothing but an unfinished recording of ours."""
    if {p.name for p in folder.iterdir()} - {p.name for p in _our_files(folder)}:
        return False
    if not (folder / RUN_FILE).exists():
        return nothing_answered(folder)
    try:
        return read_run(folder).status != COMPLETE
    except InputError:
        return False


def _our_files(folder: Path) -> list[Path]:
    names = [RUN_FILE, EVENTS_FILE]
    found = [folder / name for name in (*names, *(f"{name}.tmp" for name in names))]
    return [
        p for p in (*found, *sorted(folder.glob(_PARTIAL))) if p.is_file() and not p.is_symlink()
    ]


def _has_response(log: Path) -> bool:
    if not log.exists():
        return False
    for line in read_bytes(log).split(b"\n"):
        with contextlib.suppress(ValueError, RecursionError):
            if line and isinstance(decode_line(line), Response):
                return True
    return False
