"""Reads a decision log by its rule: rows of the same stream and `published_at` complete each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.meter.plain import Happened


def rows(folder: Path) -> dict[tuple[str, float], dict[str, Any]]:
    """Every state's row. A line that was torn by a kill is no row."""
    found: dict[tuple[str, float], dict[str, Any]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        *whole, torn = path.read_bytes().split(b"\n")
        del torn
        for line in whole:
            _complete(found, json.loads(line))
    for path in sorted(folder.glob("*.parquet")):
        import pyarrow.parquet as pq

        for row in pq.read_table(path).to_pylist():
            _complete(found, {name: value for name, value in row.items() if value is not None})
    return found


def streams(folder: Path) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for (stream, _), row in sorted(rows(folder).items(), key=lambda item: item[0]):
        found.setdefault(stream, []).append(row)
    return found


def happened(states: list[dict[str, Any]]) -> list[Happened]:
    """A stream's rows as events; judgments at the end, since a row does not say when it was judged."""
    events = [Happened("publish", row["published_at"]) for row in states]
    events += [
        Happened("answer", row["answered_at"], k, row["decision"])
        for k, row in enumerate(states)
        if "decision" in row and "effects" not in row
    ]
    # Under a policy that lets a newer source alone take effect, and nothing lapse.
    events += [
        Happened("answer", row["published_at"] + one["after_s"], k, one["decision"])
        for k, row in enumerate(states)
        for one in json.loads(row.get("effects", "[]"))
    ]
    # At equal times a newer answer comes first and a publication before its own answer.
    order = {"publish": 0, "answer": 1}
    events.sort(key=lambda e: (e.at, order[e.kind], -e.step))
    end = max((row["ended_at"] for row in states if "ended_at" in row), default=None)
    if end is not None:
        events = [e for e in events if e.at < end or e.kind == "publish"]
        events.append(Happened("end", end))
    last = events[-1].at
    events += [
        Happened("judge", last, k, row["reference"])
        for k, row in enumerate(states)
        if "reference" in row
    ]
    return events


def _complete(found: dict[tuple[str, float], dict[str, Any]], row: dict[str, Any]) -> None:
    kept = found.setdefault((row["stream"], row["published_at"]), {})
    for name, value in row.items():
        if name == "effects":  # grows
            kept[name] = max(kept.get(name, ""), value, key=len)
            continue
        assert kept.setdefault(name, value) == value, f"{name} is said twice: {kept} and {row}"
