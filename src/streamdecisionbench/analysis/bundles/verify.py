"""Whether a bundle is what it says: everything scored again from its events.

Nothing stated is believed. Digests show damage, not honesty, so what can be derived is derived anew:
suite hash, completeness, times, served models, labels of simulation, every figure of every score.
"""

from __future__ import annotations

import hashlib
import math
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from streamdecisionbench.analysis.bundles.contents import (
    CONTENTS,
    MOST_RECORDINGS,
    SCHEMA,
    SUITE_FOLDER,
    Contents,
    Entry,
    scored,
)
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import read_suite

__all__ = ["Verified", "find_faults", "open_bundle"]

TOLERANCE = 1e-12
_MOST_FILES = 10_000
_MOST_BYTES = 2**31
"""Unpacked, all files together: more than a thousand passes of the suite in the package."""
_MOST_FAULTS = 20


@dataclass(frozen=True, slots=True)
class Verified:
    """A bundle that holds what it says, its recordings read and scored anew."""

    path: Path
    contents: Contents
    suite: Suite
    recordings: tuple[Recording, ...]


def open_bundle(path: Path) -> Verified:
    """Reads a bundle and refuses it if anything in it does not match, naming every fault found."""
    with TemporaryDirectory() as folder:
        contents, home = _unpack(path, Path(folder))
        suite, recordings, faults = _examine(contents, home)
    if faults or suite is None:
        shown = faults[:_MOST_FAULTS]
        more = [f"and {len(faults) - len(shown)} more"] if len(faults) > len(shown) else []
        raise InputError(
            "does not hold what it says:\n    " + "\n    ".join([*shown, *more]),
            where=path,
            fix="ask for a bundle made from the recordings themselves",
        )
    return Verified(path, contents, suite, tuple(recordings))


def find_faults(path: Path) -> list[str]:
    """Everything that does not match; empty for a bundle that holds what it says."""
    with TemporaryDirectory() as folder:
        contents, home = _unpack(path, Path(folder))
        return _examine(contents, home)[2]


def _unpack(path: Path, home: Path) -> tuple[Contents, Path]:
    if not path.is_file():
        raise InputError("is no file", where=path, fix="name a bundle made by `sdb bundle`")
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _require_harmless(members, path)
            for member in members:
                target = home / member.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source:
                    content = source.read(member.file_size + 1)
                if len(content) != member.file_size:
                    raise zipfile.BadZipFile(f"{member.filename} is larger than it says")
                target.write_bytes(content)
    # What zipfile raises for foreign archives: NotImplementedError for a compression it does not know,
    # RuntimeError for an encrypted member, EOFError and ValueError for cut or false headers.
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise InputError(
            f"is no readable bundle ({error})", where=path, fix="fetch the file again"
        ) from None
    listed = home / CONTENTS
    if not listed.is_file():
        raise InputError(f"holds no {CONTENTS}", where=path, fix="make it with `sdb bundle`")
    try:
        contents = msgspec.json.decode(listed.read_bytes(), type=Contents)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"its {CONTENTS} cannot be read: {error}", where=path) from None
    if contents.schema != SCHEMA:
        raise InputError(f"its schema is {contents.schema!r}, not {SCHEMA}", where=path)
    if not 1 <= len(contents.recordings) <= MOST_RECORDINGS:
        raise InputError(f"lists {len(contents.recordings)} recordings", where=path)
    for entry in contents.recordings:
        if not re.fullmatch(r"recordings/[0-9]{3,4}", entry.folder):
            raise InputError(f"names a folder it may not: {entry.folder!r}", where=path)
    return contents, home


def _require_harmless(members: list[zipfile.ZipInfo], path: Path) -> None:
    """No way out of the folder, no links, no bombs, no name twice."""
    names = [m.filename for m in members]
    if len(names) > _MOST_FILES or sum(m.file_size for m in members) > _MOST_BYTES:
        raise InputError("unpacks to more than a bundle may hold", where=path)
    if len({name.lower() for name in names}) < len(names):
        raise InputError("holds one name twice", where=path)
    for member in members:
        parts = PurePosixPath(member.filename).parts
        mode = member.external_attr >> 16
        odd = (
            not parts
            or ".." in parts
            or member.filename.startswith("/")
            or "\\" in member.filename
            or "\0" in member.filename
            or ":" in member.filename
            or member.is_dir()
            or (mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG))
        )
        if odd:
            raise InputError(f"holds a file it may not: {member.filename!r}", where=path)


def _examine(contents: Contents, home: Path) -> tuple[Suite | None, list[Recording], list[str]]:
    faults = list(_file_faults(contents, home))
    try:
        suite = read_suite(home / SUITE_FOLDER)
    except SdbError as error:
        return None, [], [*faults, f"the suite: {_said(error, home)}"]
    if suite.dataset_hash != contents.suite:
        faults.append(
            f"the suite is {suite.dataset_hash[:12]}, stated is {contents.suite[:12]}: another suite"
        )
    recordings: list[Recording] = []
    for entry in contents.recordings:
        if any(entry.name == other.name for other in recordings):
            faults.append(f"two recordings are called {entry.name}")
        folder = home / entry.folder
        try:
            hash_ = recorded_suite_hash(folder)
            if hash_ != suite.dataset_hash:
                faults.append(
                    f"{entry.name}: was recorded on another suite, {hash_[:12]}, not on"
                    f" {suite.dataset_hash[:12]}"
                )
                continue
            recording = read_recording(folder, suite)
        except SdbError as error:
            faults.append(f"{entry.name}: {_said(error, home)}")
            continue
        faults += _entry_faults(entry, recording, suite)
        recordings.append(_named(recording, entry.name))
    return suite, recordings, faults


def _file_faults(contents: Contents, home: Path) -> Iterator[str]:
    there = {p.relative_to(home).as_posix(): p for p in home.rglob("*") if p.is_file()}
    there.pop(CONTENTS, None)
    for name in sorted(set(there) | set(contents.files)):
        if name not in there:
            yield f"{name} is listed and missing"
        elif name not in contents.files:
            yield f"{name} is there and not listed"
        elif hashlib.sha256(there[name].read_bytes()).hexdigest() != contents.files[name]:
            yield f"{name} was altered: its digest is not the one listed"


def _entry_faults(entry: Entry, recording: Recording, suite: Suite) -> Iterator[str]:
    stated = {
        "served models": (list(entry.served_models), list(recording.served_models)),
        "component": (entry.component, str(recording.config.get("component", ""))),
        "simulated": (entry.simulated, recording.simulated),
        "virtual clock": (entry.virtual_clock, recording.virtual_clock),
    }
    in_record = recording.run.get("served_models")
    if isinstance(in_record, list):
        stated["served models of the run record"] = (in_record, list(recording.served_models))
    for what, (said, found) in stated.items():
        if said != found:
            yield f"{entry.name}: {what} stated as {_short(said)}, the events say {_short(found)}"
    again = {**scored(recording, suite), "name": entry.score.get("name")}
    for place, said, found in _differences(entry.score, again, "score"):
        yield f"{entry.name}: {place} is stated as {_short(said)}, scored again it is {_short(found)}"


def _differences(said: Any, found: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """What is stated and does not come out again. What is not stated need not match anything."""
    if isinstance(said, dict) and isinstance(found, dict):
        for key, value in said.items():
            yield from _differences(value, found.get(key), f"{place}.{key}")
    elif isinstance(said, list) and isinstance(found, list) and len(said) == len(found):
        for k, (a, b) in enumerate(zip(said, found, strict=True)):
            yield from _differences(a, b, f"{place}[{k}]")
    elif _number(said) and _number(found):
        if not math.isclose(said, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield place, said, found
    elif said != found and not place.endswith(".signature"):
        yield place, said, found


def _named(recording: Recording, name: str) -> Recording:
    halves = {role: replace(half, name=f"{name} {role}") for role, half in recording.halves.items()}
    return replace(recording, name=name, halves=halves)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else text[:57] + "…"


def _said(error: Exception, home: Path) -> str:
    """One line, without the folder it happened to be unpacked into."""
    return " ".join(str(error).replace(f"{home}/", "").split())
