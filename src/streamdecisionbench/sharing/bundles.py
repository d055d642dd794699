"""Bundles: recordings in one file that says what they scored, packed, and verified by scoring them again.

`bundle.json` (schema `sdb-bundle/1`) says what the bundle holds. The same recordings always give the same
bytes: names in order, one date for all of them. Digests show damage, not honesty, so when it is opened
what can be derived is derived anew: suite hash, completeness, times, requests, served models, labels of
simulation and clock, every figure of every score. Conditions must be those of the run record. What is
left is stated by whoever made the bundle: the recording's name, its place and terms, and the prices.
"""

from __future__ import annotations

import errno
import hashlib
import io
import math
import re
import shutil
import stat
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from streamdecisionbench._version import __version__
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.recording.event_log import EVENTS_FILE
from streamdecisionbench.recording.prices import read_prices
from streamdecisionbench.recording.provenance_notes import remarks
from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.scoring.score import score
from streamdecisionbench.scoring.score_json import result_to_json
from streamdecisionbench.suite.file_io import (
    read_bytes,
    write_bytes,
)
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import (
    SUITE_FOLDER,
    other_suite_error,
    read_suite,
    write_suite,
)
from streamdecisionbench.text import (
    plural,
    visible,
)

SCHEMA = "sdb-bundle/1"
CONTENTS = "bundle.json"
MOST_RECORDINGS = 1000
TOLERANCE = 1e-12
_DATE = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16
_MOST_FILES = 10_000
_MOST_BYTES = 2**31
"""Unpacked, all files together: more than a thousand passes of the suite in the package."""
_MOST_RATIO = 100
"""Unpacked against packed, where that is more than `_SMALL`: recordings and suites need about 40."""
_SMALL = 2**26
_STATED = frozenset({"place", "terms"})
"""Conditions only people know."""
_MOST_FAULTS = 20


class BundleEntry(msgspec.Struct, frozen=True):
    """One recording: what it is called, what answered, under which conditions, what it scored."""

    name: str
    folder: str
    component: str
    served_models: tuple[str, ...]
    simulated: bool
    virtual_clock: bool
    conditions: dict[str, Any]
    score: dict[str, Any]
    imported: bool = False
    """Not recorded by `sdb run` but read from somebody's table: its requests are not known."""

    @property
    def labels(self) -> list[str]:
        """What every reader must know beside its numbers."""
        told = (
            (self.simulated, "simulation"),
            (self.virtual_clock, "virtual clock"),
            (self.imported, "imported"),
        )
        return [word for holds, word in told if holds]


class Contents(msgspec.Struct, frozen=True):
    """The whole: a suite, its recordings, the prices that applied, and every file's digest."""

    schema: str
    sdb: str
    suite: str
    suite_name: str
    recordings: tuple[BundleEntry, ...]
    prices: dict[str, Any]
    files: dict[str, str]


def scored(recording: Recording, suite: Suite) -> dict[str, Any]:
    """The score as `sdb score --json` gives it, with its usual interval and bounds."""
    return _plain(
        result_to_json(score(recording, suite, interval=recording.closed_loop_interval_s or 2.0))
    )


def conditions(recording: Recording, told: Mapping[str, str]) -> dict[str, Any]:
    """When, where and how it was recorded, as the run record has it; `told` is what people add."""
    run, config = recording.run, recording.config
    environment = run.get("environment")
    machine = environment if isinstance(environment, Mapping) else {}
    found = {
        "started_at": run.get("started_at"),
        "ended_at": run.get("ended_at"),
        "interval_s": config.get("interval_s"),
        "max_in_flight": config.get("max_in_flight"),
        "settings": config.get("settings"),
        "host": machine.get("base_url_host"),
        "client": {key: machine.get(key) for key in ("platform", "python", "cpus_usable")},
        "network": run.get("network"),
    }
    return _plain({**told, **found})


def events_digest(recording: Recording) -> str:
    """What tells passes apart: the same events written in other bytes, or called otherwise, are one."""
    return hashlib.sha256(msgspec.json.encode(recording.episodes)).hexdigest()


def _plain(found: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
    return plain


def write_bundle(
    recordings: Sequence[Recording],
    suite: Suite,
    out: Path,
    *,
    told: Mapping[str, str] | None = None,
    prices: Path | None = None,
) -> Contents:
    """Writes the bundle; `told` holds conditions only people know, such as place and terms."""
    if out.exists():
        raise InputError("exists already", where=out, fix="give a new file with --out")
    content, contents = pack(recordings, suite, told=told or {}, prices=prices)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(out, content)
    return contents


def pack(
    recordings: Sequence[Recording],
    suite: Suite,
    *,
    told: Mapping[str, str],
    prices: Path | None = None,
) -> tuple[bytes, Contents]:
    """The bundle's bytes with what it says of itself."""
    if not 1 <= len(recordings) <= MOST_RECORDINGS:
        raise InputError(f"a bundle holds 1 to {MOST_RECORDINGS} recordings", fix="make several")
    files = _suite_files(suite)
    entries = []
    seen: dict[str, str] = {}
    for nth, recording in enumerate(recordings, start=1):
        events = events_digest(recording)
        if events in seen:
            raise InputError(f"holds the same events as {seen[events]}", where=recording.name)
        seen[events] = recording.name
        if not _is_name(recording.name):
            raise InputError(f"is no name for a recording: {recording.name!r}", fix="rename it")
        if recording.path is None:
            raise InputError("has no folder, so no events to pack", where=recording.name)
        if told_of := remarks(recording.config):
            raise InputError(told_of[0], where=recording.name, fix="bundle whole recordings")
        folder = f"recordings/{nth:03}"
        for name in (RUN_FILE, EVENTS_FILE):
            files[f"{folder}/{name}"] = read_bytes(recording.path / name)
        entries.append(
            BundleEntry(
                name=recording.name,
                folder=folder,
                component=str(recording.config.get("component", "")),
                served_models=recording.served_models,
                simulated=recording.simulated,
                virtual_clock=recording.virtual_clock,
                conditions=conditions(recording, told),
                score=scored(recording, suite),
                imported="imported_from" in recording.config,
            )
        )
    contents = Contents(
        schema=SCHEMA,
        sdb=__version__,
        suite=suite.dataset_hash,
        suite_name=suite.name,
        recordings=tuple(entries),
        prices=msgspec.to_builtins(read_prices(prices)),
        files={
            name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())
        },
    )
    listed = msgspec.json.format(msgspec.json.encode(contents), indent=1)
    return _zipped({CONTENTS: listed + b"\n", **files}), contents


def _suite_files(suite: Suite) -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        home = Path(folder) / SUITE_FOLDER
        write_suite(suite, home)
        return {f"{SUITE_FOLDER}/{p.name}": p.read_bytes() for p in sorted(home.iterdir())}


def _zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name in sorted(files, key=lambda name: (name != CONTENTS, name)):
            member = zipfile.ZipInfo(name, _DATE)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = _PLAIN_FILE
            member.create_system = 3
            archive.writestr(member, files[name])
    return buffer.getvalue()


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
        shown = [f"- {_printed(fault)}" for fault in faults[:_MOST_FAULTS]]
        more = [f"and {len(faults) - len(shown)} more"] if len(faults) > len(shown) else []
        raise InputError(
            "does not hold what it says:\n    " + "\n    ".join([*shown, *more]),
            where=path,
            fix="ask for a bundle made from the recordings themselves",
        )
    return Verified(path, contents, suite, tuple(recordings))


def _unpack(path: Path, home: Path) -> tuple[Contents, Path]:
    if not path.is_file():
        raise InputError("is no file", where=path, fix="name a bundle made by `sdb share bundle`")
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _require_harmless(members, path)
            for member in members:
                target = home / member.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, target.open("wb") as file:
                    shutil.copyfileobj(source, file)
                if target.stat().st_size != member.file_size:
                    raise zipfile.BadZipFile(f"{member.filename} is not as large as it says")
    except SdbError:
        raise
    # What `zipfile` raises for a damaged archive is not documented: BadZipFile, but also zlib.error,
    # RuntimeError, EOFError, ValueError, OverflowError, and EINVAL for a place that cannot be. Other
    # errors of the system are not the bundle's.
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise InputError(
            f"is no readable bundle ({error})", where=path, fix="fetch the file again"
        ) from None
    listed = home / CONTENTS
    if not listed.is_file():
        raise InputError(f"holds no {CONTENTS}", where=path, fix="make it with `sdb share bundle`")
    try:
        contents = msgspec.json.decode(listed.read_bytes(), type=Contents)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"its {CONTENTS} cannot be read: {error}", where=path) from None
    if contents.schema != SCHEMA:
        raise InputError(f"its schema is {contents.schema!r}, not {SCHEMA}", where=path)
    if not 1 <= len(contents.recordings) <= MOST_RECORDINGS:
        raise InputError(f"lists {plural(len(contents.recordings), 'recording')}", where=path)
    for entry in contents.recordings:
        if not re.fullmatch(r"recordings/[0-9]{3,4}", entry.folder):
            raise InputError(f"names a folder it may not: {entry.folder!r}", where=path)
        if not _is_name(entry.name):
            shown = _printed(ascii(entry.name))
            raise InputError(f"calls a recording what it may not: {shown}", where=path)
    return contents, home


def _is_name(text: str) -> bool:
    """One visible line that is no command to whoever reads the output, such as a CI runner."""
    return bool(text.strip()) and text == visible(text) == _printed(text) and text[:2] != "::"


def _printed(text: str) -> str:
    """One line of text from a bundle, without what a CI runner takes for a command in its middle."""
    return visible(text).replace("##[", "## [")


def _require_harmless(members: list[zipfile.ZipInfo], path: Path) -> None:
    """No way out of the folder, no links, no bombs, no name twice."""
    names = [unicodedata.normalize("NFC", m.filename).casefold() for m in members]
    most = min(_MOST_BYTES, max(_SMALL, _MOST_RATIO * path.stat().st_size))
    if len(names) > _MOST_FILES or sum(m.file_size for m in members) > most:
        raise InputError("unpacks to more than a bundle may hold", where=path)
    if len(set(names)) < len(names):
        raise InputError("holds one name twice", where=path)
    for member in members:
        plain = PurePosixPath(member.filename)
        kind = stat.S_IFMT(member.external_attr >> 16)
        # As it is written a name has one spelling: `./bundle.json` would be a second one.
        outside = ".." in plain.parts or plain.is_absolute() or str(plain) != member.filename
        strange = any(sign in member.filename for sign in "\\\0:")
        if outside or strange or member.is_dir() or kind not in (0, stat.S_IFREG):
            raise InputError(f"holds a file it may not: {member.filename!r}", where=path)
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InputError(
                f"is no readable bundle: {member.filename!r} is packed by another method than deflate",
                where=path,
                fix="fetch the file again",
            )


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
    if suite.name != contents.suite_name:
        faults.append(f"the suite is called {suite.name!r}, stated is {contents.suite_name!r}")
    recordings: list[Recording] = []
    seen: dict[str, str] = {}
    for entry in contents.recordings:
        if any(entry.name == other.name for other in recordings):
            faults.append(f"two recordings are called {entry.name}")
        try:
            on = recorded_suite_hash(home / entry.folder)
            if on != suite.dataset_hash:
                raise other_suite_error(on, suite.dataset_hash, where=None, fix="")
            recording = read_recording(home / entry.folder, suite)
        except SdbError as error:
            faults.append(f"{entry.name}: {_said(error, home)}")
            continue
        recording = _named(recording, entry.name)
        events = events_digest(recording)
        if events in seen:
            faults.append(f"{entry.name} holds the same events as {seen[events]}")
        seen[events] = entry.name
        faults += _entry_faults(entry, recording, suite)
        recordings.append(recording)
    return suite, recordings, faults


def _file_faults(contents: Contents, home: Path) -> Iterator[str]:
    there = {p.relative_to(home).as_posix(): p for p in home.rglob("*") if p.is_file()}
    there.pop(CONTENTS, None)
    for name in sorted(set(there) | set(contents.files)):
        if name not in there:
            yield f"{name} is listed and missing"
        elif name not in contents.files:
            yield f"{name} is there and not listed"
        else:
            with there[name].open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != contents.files[name]:
                yield f"{name} was altered: its digest is not the one listed"


def _entry_faults(entry: BundleEntry, recording: Recording, suite: Suite) -> Iterator[str]:
    derived: dict[str, tuple[Any, Any]] = {
        "served models": (list(entry.served_models), list(recording.served_models)),
        "component": (entry.component, str(recording.config.get("component", ""))),
        "simulated": (entry.simulated, recording.simulated),
        "virtual clock": (entry.virtual_clock, recording.virtual_clock),
        "imported": (entry.imported, "imported_from" in recording.config),
    }
    in_record = recording.run.get("served_models")
    if isinstance(in_record, list):
        derived["served models of the run record"] = (in_record, list(recording.served_models))
    for what, (said, found) in derived.items():
        if said != found:
            yield f"{entry.name}: {what} stated as {_short(said)}, the events say {_short(found)}"
    recorded = conditions(recording, {})
    for what, found in recorded.items():
        if (said := entry.conditions.get(what)) != found:
            yield f"{entry.name}: {what} stated as {_short(said)}, {RUN_FILE} says {_short(found)}"
    for what in sorted(entry.conditions.keys() - recorded.keys() - _STATED):
        yield f"{entry.name}: {what} is no condition of a recording"
    if not entry.imported:
        yield from _request_faults(entry.name, recording)
    overall = entry.score.get("overall")
    if not isinstance(overall, dict) or "log_auc" not in overall:
        yield f"{entry.name}: its score states no overall.log_auc"
    again = {**scored(recording, suite), "name": entry.name}
    for place, said, found in _differences(entry.score, again, "score"):
        yield f"{entry.name}: {place} is stated as {_short(said)}, scored again it is {_short(found)}"


def _request_faults(name: str, recording: Recording) -> Iterator[str]:
    """Reading checks the hashes of requests that it knows how we make; here none may be left out."""
    if not recording.ours:
        yield (
            f"{name}: its run record does not name the sdb that recorded it (environment.versions),"
            " so the hashes of requests cannot be checked"
        )
    bare = sum(not r.request_hash for e in recording.episodes.values() for r in e.responses)
    if bare:
        yield f"{name}: {bare} response(s) without the hash of their request"


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
    elif place.endswith(".signature") and isinstance(said, str) and isinstance(found, str):
        # Another version may say more; what it says must be so.
        own = {word for word in said.split() if not word.startswith("sdb:")}
        if not own or own - set(found.split()):
            yield place, said, found
    elif said != found:
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
