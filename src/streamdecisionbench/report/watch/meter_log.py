"""A meter's decision log while it grows: its sessions as streams."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.report.watch.growing_file import GrowingFile
from streamdecisionbench.report.watch.lanes import Lane, Stream

__all__ = ["MeterLog"]


@dataclass(slots=True)
class _Session:
    """Rows of one stream, by component and by when its states were published."""

    id: str
    name: str = ""
    ended: bool = False
    rows: dict[str, dict[float, dict[str, Any]]] = field(default_factory=dict)


class MeterLog:
    """Follows the files of a log's folder, or one file. Rows of one state complete each other."""

    kind = "log"
    pooled = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: dict[Path, GrowingFile] = {}
        self._tables: set[Path] = set()
        self._sessions: dict[str, _Session] = {}
        self._again = False
        self._unreadable = 0

    def poll(self) -> list[Stream]:
        touched: dict[str, None] = {}
        for row in self._new_rows():
            name = self._take(row)
            if name is not None:
                touched[name] = None
        return [stream for name in touched for stream in _streams(self._sessions[name])]

    def forgotten(self) -> bool:
        again, self._again = self._again, False
        return again

    def facts(self) -> dict[str, object]:
        still = any(not session.ended for session in self._sessions.values())
        return {
            "status": "running" if still else "complete" if self._sessions else "waiting",
            "name": self._path.resolve().name,
            "unreadable": self._unreadable,
            "simulated": False,
            "virtual": False,
        }

    def _new_rows(self) -> list[dict[str, Any]]:
        """Lines first: a file that has become a table meanwhile says nothing new."""
        rows: list[dict[str, Any]] = []
        for path in self._named("jsonl"):
            lines, again = self._files.setdefault(path, GrowingFile(path)).new_lines()
            self._again |= again
            rows += [row for row in map(self._parse, lines) if row is not None]
        for path in self._named("parquet"):
            if path not in self._tables:
                self._tables.add(path)
                if path.with_suffix(".jsonl") not in self._files:
                    rows += _parquet_rows(path)
        return rows

    def _named(self, form: str) -> list[Path]:
        if self._path.is_dir():
            return sorted(self._path.glob(f"*.{form}"))
        return [self._path] if self._path.suffix == f".{form}" else []

    def _parse(self, line: bytes) -> dict[str, Any] | None:
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if isinstance(row, dict):
            return row
        self._unreadable += 1
        return None

    def _take(self, row: dict[str, Any]) -> str | None:
        stream, at = row.get("stream"), row.get("published_at")
        if not isinstance(stream, str | int) or not isinstance(at, int | float):
            self._unreadable += 1
            return None
        component = str(row.get("component") or "applied")
        key = str(stream).removesuffix(f"~{component}")
        session = self._sessions.setdefault(key, _Session(key))
        session.name = session.name or str(row.get("session") or "")
        session.ended |= row.get("ended_at") is not None
        kept = session.rows.setdefault(component, {}).setdefault(float(at), {})
        for name, value in row.items():
            if value is not None:
                kept.setdefault(name, value)
        return key


def _streams(session: _Session) -> Iterator[Stream]:
    """One stream of all components that saw the same first state; as a rule there is no other."""
    together: dict[float, list[str]] = {}
    for component, rows in session.rows.items():
        together.setdefault(min(rows), []).append(component)
    for place, (first, components) in enumerate(sorted(together.items())):
        rows = session.rows[components[0]]
        at = sorted(rows)
        ends = [row["ended_at"] for row in rows.values() if "ended_at" in row]
        if not ends and len(at) == 1:
            continue
        # As `sdb logs score` ends a stream of which nobody wrote down the end.
        end = max(ends) if ends else at[-1] + median(b - a for a, b in pairwise(at))
        name = session.name or session.id
        yield Stream(
            id=session.id if place == 0 else f"{session.id}~{place}",
            title=name if place == 0 else f"{name} ({', '.join(components)})",
            group="",
            release=[t - first for t in at],
            references=[_text(rows[t].get("reference")) for t in at],
            end=end - first,
            lanes=[_lane(component, session.rows[component], at) for component in components],
            open=not ends,
            began=first,
        )


def _lane(component: str, rows: dict[float, dict[str, Any]], at: list[float]) -> Lane:
    found = [(t, rows.get(t, {})) for t in at]
    return Lane(
        component,
        [
            max(row["answered_at"] - t, 0.0) if "answered_at" in row else math.inf
            for t, row in found
        ],
        [_text(row.get("decision")) for _, row in found],
    )


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _parquet_rows(path: Path) -> list[dict[str, Any]]:
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise InputError(
            "reading a Parquet file needs pyarrow, which is not installed",
            where=path,
            fix="pip install 'streamdecisionbench[logs]'",
        ) from None
    rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return [{name: value for name, value in row.items() if value is not None} for row in rows]
