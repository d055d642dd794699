"""Packing recordings into one file: events, suite, conditions, prices, scores.

The same recordings always give the same bytes: names in order, one date for all of them.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from streamdecisionbench.analysis.bundles.contents import (
    CONTENTS,
    MOST_RECORDINGS,
    SCHEMA,
    SUITE_FOLDER,
    VERSION,
    Contents,
    Entry,
    conditions,
    scored,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.conditions import remarks
from streamdecisionbench.recording.prices import read_prices
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.writer import EVENTS_FILE, RUN_FILE
from streamdecisionbench.suite.disk import read_bytes, write_bytes
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import write_suite

__all__ = ["pack", "write_bundle"]

_DATE = (1980, 1, 1, 0, 0, 0)
_PLAIN_FILE = 0o100644 << 16


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
    for nth, recording in enumerate(recordings, start=1):
        if recording.path is None:
            raise InputError("has no folder, so no events to pack", where=recording.name)
        if told_of := remarks(recording.config):
            raise InputError(told_of[0], where=recording.name, fix="bundle whole recordings")
        folder = f"recordings/{nth:03}"
        for name in (RUN_FILE, EVENTS_FILE):
            files[f"{folder}/{name}"] = read_bytes(recording.path / name)
        entries.append(
            Entry(
                name=recording.name,
                folder=folder,
                component=str(recording.config.get("component", "")),
                served_models=recording.served_models,
                simulated=recording.simulated,
                virtual_clock=recording.virtual_clock,
                conditions=conditions(recording, told),
                score=scored(recording, suite),
            )
        )
    contents = Contents(
        schema=SCHEMA,
        sdb=VERSION,
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
