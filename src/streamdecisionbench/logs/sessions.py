"""Whole sessions of a log, drawn by a hash of their names: their states, times and references.

A session can be asked again where every one of its states is there and has a reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from streamdecisionbench.logs.canonical import canonical
from streamdecisionbench.logs.columns import plain_array, text_column
from streamdecisionbench.logs.stream_arrays import StreamArrays, stream_arrays
from streamdecisionbench.logs.usable import Unusable
from streamdecisionbench.scoring.poisson_bootstrap import stream_keys
from streamdecisionbench.suite.publishing import LONGEST_TICK_S, SHORTEST_TICK_S

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["LEFT_OUT", "Session", "Sessions"]

LEFT_OUT: Mapping[str, str] = {
    "unjudged": "have states without a reference",
    "no_state": "have rows without a state",
    "broken": "have rows that cannot be used",
    "pace": "have states less than a microsecond apart, or more than eleven days",
    "not_drawn": "were not drawn",
}
"""Why a session is not among those that are asked again, in words."""

_MOST_DECISIONS = 100_000


@dataclass(frozen=True, slots=True, order=True)
class Session:
    """One stream of a log. Sorted by the hash that draws it."""

    key: int
    stream: str
    group: str | None = field(compare=False)
    published_s: tuple[float, ...] = field(compare=False)
    """Since its first state, to the microsecond."""
    end_s: float = field(compare=False)
    states: tuple[str, ...] = field(compare=False)
    references: tuple[str, ...] = field(compare=False)
    """In canonical form."""


@dataclass
class Sessions:
    """The sessions of a log that were drawn, with all decisions that were ever taken in it."""

    most: int
    by: str | None = None
    seed: int = 0
    drawn: list[Session] = field(default_factory=list)
    streams: int = 0
    rows: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    decisions: set[str] = field(default_factory=set)
    unusable: Unusable = field(default_factory=Unusable)
    _spellings: dict[str, str | None] = field(default_factory=dict, repr=False)

    def keys(self, schema: pa.Schema) -> list[str]:
        """The columns that tell streams apart."""
        return ["stream", *([self.by] if self.by and self.by in schema.names else [])]

    def add(self, table: pa.Table) -> None:
        """Looks through whole streams, sorted by stream and published_at."""
        self.rows += table.num_rows
        found = stream_arrays(table, self.keys(table.schema), self.unusable, self._spellings)
        if found is None:
            return
        for name in ("decision", "reference"):
            if name in table.schema.names and len(self.decisions) < _MOST_DECISIONS:
                texts = text_column(plain_array(table.column(name))).unique().to_pylist()
                forms = (canonical(text) for text in texts if text is not None)
                self.decisions.update(form for form in forms if form is not None)
        first = table.take(found.row)
        names = [str(name) for name in plain_array(first.column("stream")).to_pylist()]
        keys = stream_keys(names, self.seed).tolist()
        begins = (np.cumsum(found.n) - found.n).tolist()
        whole = _whole(table, found, self.keys(table.schema))
        self.streams += len(names)
        for k, (name, key, begin) in enumerate(zip(names, keys, begins, strict=True)):
            reason = self._reason(found, k, begin, whole[k])
            if reason is None and len(self.drawn) == self.most and self._farthest <= (key, name):
                reason = "not_drawn"
            if reason is None:
                rows = table.slice(int(found.row[k]), int(found.n[k]))
                self._take(_session(rows, found, k, begin, name, key, self.by))
            else:
                self._leave(reason)

    def merge(self, other: Sessions) -> None:
        for reason, count in other.left_out.items():
            self._leave(reason, count)
        for session in other.drawn:
            self._take(session)
        self.streams += other.streams
        self.rows += other.rows
        self.decisions |= other.decisions
        self.unusable.merge(other.unusable)

    @property
    def _farthest(self) -> tuple[int, str]:
        last = self.drawn[-1]
        return last.key, last.stream

    def _reason(self, found: StreamArrays, k: int, begin: int, whole: bool) -> str | None:
        span = slice(begin, begin + int(found.n[k]))
        if not whole:
            return "broken"
        if (found.y[span] < 0).any():
            return "unjudged"
        edges = np.round(np.append(found.r[span], found.H[k]), 6)
        shortest, mean = np.diff(edges).min(), edges[-1] / found.n[k]
        if shortest < SHORTEST_TICK_S * (1 - 1e-3) or mean > LONGEST_TICK_S:
            return "pace"
        return None

    def _take(self, session: Session | None) -> None:
        if session is None:
            self._leave("no_state")
            return
        self.drawn.append(session)
        self.drawn.sort()
        if len(self.drawn) > self.most:
            self.drawn.pop()
            self._leave("not_drawn")

    def _leave(self, reason: str, count: int = 1) -> None:
        self.left_out[reason] = self.left_out.get(reason, 0) + count


def _whole(table: pa.Table, found: StreamArrays, keys: list[str]) -> list[bool]:
    """Whether all rows of each usable stream can be used: they lie together then."""
    from streamdecisionbench.logs.columns import changes

    begins = np.zeros(table.num_rows, dtype=bool)
    for key in keys:
        begins |= changes(plain_array(table.column(key)))
    of = np.cumsum(begins) - 1
    size = np.bincount(of)[of[found.row]]
    return list((size == found.n) & begins[found.row])


def _session(
    rows: pa.Table,
    found: StreamArrays,
    k: int,
    begin: int,
    name: str,
    key: int,
    by: str | None,
) -> Session | None:
    def texts(column: str) -> list[Any]:
        listed: list[Any] = text_column(plain_array(rows.column(column))).to_pylist()
        return listed

    states = texts("state")
    if None in states:
        return None
    group = None
    if by is not None:
        group = rows.column(by)[0].as_py()
    return Session(
        key=key,
        stream=name,
        group=None if group is None else str(group),
        published_s=tuple(round(at, 6) for at in found.r[begin : begin + int(found.n[k])].tolist()),
        end_s=round(float(found.H[k]), 6),
        states=tuple(states),
        references=tuple(canonical(text) or "" for text in texts("reference")),
    )
