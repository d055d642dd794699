"""Reading one published table: a CSV row per response, the decision as key=value pairs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamdecisionbench.components.usage import Usage
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.events import finite
from streamdecisionbench.suite.disk import read_text
from streamdecisionbench.suite.ids import require_id

__all__ = ["Row", "Table", "read_table"]

_TIMES = ("release_s", "started_s", "received_s", "completed_s", "recorded_s")
_TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")


@dataclass(frozen=True, slots=True)
class Row:
    """One response of a table."""

    t: int
    release_s: float
    started_s: float
    received_s: float
    completed_s: float
    recorded_s: float
    usage: Usage
    decision: dict[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A recording as a table: rows by scenario, in step order."""

    name: str
    rows: Mapping[str, Sequence[Row]]


def read_table(path: str | Path) -> Table:
    """Reads one CSV; every complaint names the file, the line and the column."""
    path = Path(path)
    name = require_id(path.stem, str(path), "name of a recording")
    rows: dict[str, list[Row]] = {}
    text = read_text(path, fix="save it as CSV in UTF-8")
    with io.StringIO(text, newline="") as file:
        reader = csv.DictReader(file)
        try:
            columns = set(reader.fieldnames or ())
            key = "episode" if "episode" in columns else "scenario"
            missing = [c for c in (key, "t", *_TIMES, "decision") if c not in columns]
            if missing:
                raise InputError(f"has no column {', '.join(missing)}", where=path)
            for number, raw in enumerate(reader, start=2):
                where = f"{path}, line {number}"
                _require_whole(raw, where)
                episode = rows.setdefault(require_id(raw[key], where, "id of a scenario"), [])
                row = _row(raw, where)
                if row.t != len(episode):
                    raise InputError(f"t is {row.t}, expected {len(episode)}", where=where)
                episode.append(row)
        except csv.Error as error:
            raise InputError(
                f"is not CSV: {error}", where=f"{path}, line {reader.line_num}", fix="restore it"
            ) from None
    if not rows:
        raise InputError("holds no rows", where=path)
    return Table(name, rows)


def _require_whole(raw: Mapping[str | None, Any], where: str) -> None:
    if None in raw:
        raise InputError("has more cells than the first line has columns", where=where)
    short = [str(name) for name, cell in raw.items() if cell is None]
    if short:
        raise InputError(f"is cut off: no {', '.join(short)}", where=where, fix="restore the row")


def _row(raw: Mapping[str, str], where: str) -> Row:
    try:
        times = {name: float(raw[name]) for name in _TIMES}
        tokens = {name: int(raw.get(name) or 0) for name in _TOKENS}
        t = int(raw["t"])
    except (TypeError, ValueError) as error:
        raise InputError(f"a number cannot be read: {error}", where=where) from None
    for name, value in times.items():
        if not finite(value):
            raise InputError(f"{name} is not a time (NaN, infinite or negative)", where=where)
    for name, count in tokens.items():
        if not 0 <= count < 2**63:
            raise InputError(f"{name} is {count}, which is no count", where=where)
    pairs = [pair.partition("=") for pair in raw["decision"].split("|")]
    if not all(name and sign for name, sign, _ in pairs):
        raise InputError("decision is not key=value pairs joined by |", where=where)
    decision = {name: value for name, _, value in pairs}
    return Row(t=t, usage=Usage(**tokens), decision=decision, **times)
