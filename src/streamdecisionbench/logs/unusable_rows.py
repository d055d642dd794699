"""Rows that cannot be used: why, how many, one to look at, and how many may be left out.

A reason belongs to a row or to a whole stream. Nothing is dropped in silence: what is left out is
counted by reason, and above what the user allows the command refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from streamdecisionbench.errors import InputError
from streamdecisionbench.text import plural

_FILL = "fill it in, or leave such rows out with --sql"
_WHOLE_JSON = "it begins like JSON and cannot be read; write the whole JSON, or text"
_OWN_IDS = (
    "if ids start anew in every file, make them unique:"
    " SELECT * REPLACE (filename || stream AS stream) FROM source"
)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a row cannot be used, the column to look at, and what helps."""

    column: str
    what: str
    fix: str


REASONS: Mapping[str, Reason] = {
    "no_stream": Reason("stream", "has no stream", _FILL),
    "unreadable_time": Reason(
        "time",
        "has a time that cannot be read",
        "write it like the other times of its column, or leave such rows out with --sql",
    ),
    "no_time": Reason("published_at", "has no time of its state, or one no clock shows", _FILL),
    "repeated": Reason(
        "published_at",
        "is there more than once, word for word",
        "SELECT DISTINCT in a query given with --sql",
    ),
    "duplicate": Reason(
        "published_at",
        "is one of several different rows for the same stream and moment",
        "keep one of them with --sql; if two components answered the same stream, name the column"
        f" that tells them apart with --by; {_OWN_IDS}",
    ),
    "answered_before_asked": Reason(
        "answered_at",
        "was answered before it was asked",
        "check both clocks; times must come from one",
    ),
    "asked_before_published": Reason(
        "requested_at",
        "was asked before its state became current",
        "check both clocks, or leave requested_at out if it is not that",
    ),
    "answer_without_decision": Reason(
        "decision",
        "has an answer's time and no decision",
        "where no valid answer came, answered_at must be null too",
    ),
    "decision_without_answer": Reason(
        "answered_at",
        "has a decision and no time of its answer",
        "add when it arrived; a decision that never arrived is null",
    ),
    "applied_before_answered": Reason(
        "applied_at", "took effect before its answer came", "check both clocks"
    ),
    "applied_without_answer": Reason(
        "applied_at", "took effect without an answer", "applied_at is null where no answer came"
    ),
    "bad_effects": Reason(
        "effects",
        "does not say what took effect when",
        "see docs/reference/formats.md, or leave the column out and let the newest answer count",
    ),
    "bad_member_latency": Reason(
        "member_latency_s",
        "does not say how long each member took",
        'write {"name": seconds, …} with seconds from 0 on, or leave the column out',
    ),
    "bad_decision": Reason("decision", "has a decision that is neither text nor JSON", _WHOLE_JSON),
    "bad_reference": Reason(
        "reference", "has a reference that is neither text nor JSON", _WHOLE_JSON
    ),
    "bad_cost": Reason("cost", "has a cost that is no amount", "costs are numbers from 0 to 1e12"),
    "ends_differ": Reason(
        "ended_at",
        "belongs to a stream with more than one end",
        f"ended_at is the same on all rows of a stream; {_OWN_IDS}",
    ),
    "after_end": Reason(
        "ended_at",
        "belongs to a stream that ended at or before its last state",
        "check ended_at; if ids are used again, make them unique with --sql",
    ),
    "no_end": Reason(
        "ended_at",
        "is its stream's only state, and nobody knows when the stream ended",
        "add ended_at, or leave streams of one state out with --sql",
    ),
    "no_length": Reason(
        "ended_at",
        "belongs to a stream that lasts longer, or less, than any clock shows",
        "check its times; ended_at is null where nobody knows it",
    ),
    "used_again": Reason(
        "stream",
        "belongs to a stream that goes on in another file after a pause unlike its others",
        f"{_OWN_IDS}; if it is one session, add ended_at, or say so with --sql: SELECT * FROM source",
    ),
    "long_pause": Reason(
        "stream",
        "belongs to a stream without ended_at that pauses for more than 30 minutes and for more than"
        " ten times its other gaps: its id may be used again",
        "if ids are used again, make them unique in a query given with --sql, for example"
        " SELECT * REPLACE (stream || CAST(published_at AS DATE) AS stream) FROM source; if it is one"
        " session, add ended_at",
    ),
    "group_changes": Reason(
        "stream",
        "belongs to a stream that is in several groups of --by while it runs: its time would count"
        " more than once",
        "group by a column that is the same on all rows of a stream, or cut streams where it changes,"
        " with an ended_at of their own, in a query given with --sql; without ended_at a stream ends at"
        " a pause of more than 30 minutes and of ten times its other gaps",
    ),
    "bad_weight": Reason(
        "weight",
        "belongs to a stream whose weight is out of range, or not the same on all rows",
        "one weight per stream, from 1e-12 to 1e12",
    ),
    "bad_tick": Reason(
        "tick_s",
        "belongs to a stream whose tick_s is out of range, or not the same on all rows",
        "one number of seconds per stream, from 1e-12 to 1e12, or no such column",
    ),
}
"""In the order they are asked: a row is counted once, under the first reason that holds."""


@dataclass(frozen=True, slots=True, order=True)
class Example:
    """A row to look at."""

    stream: str
    published_at: str
    value: str
    file: str = ""
    row: int | None = None
    """Its number in the file, from 1, without the header."""

    def place(self) -> str:
        return self.file + (f" row {self.row}" if self.row is not None else "")

    def text(self) -> str:
        return f"stream {self.stream!r}, published_at {self.published_at}"


@dataclass
class Unusable:
    """Rows left out so far, by reason."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, Example] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(self.counts.values())

    def add(self, reason: str, count: int, example: Example) -> None:
        self.counts[reason] = self.counts.get(reason, 0) + count
        # The first in order, so that every engine shows the same one.
        self.examples[reason] = min(self.examples.get(reason, example), example)

    def merge(self, other: Unusable) -> None:
        for reason, count in other.counts.items():
            self.add(reason, count, other.examples[reason])

    def find_files(self, file_of: Callable[[str, str], str | None]) -> None:
        """Says of every example which file it lies in, where that can be found out."""
        for reason, example in self.examples.items():
            found = file_of(example.stream, example.published_at)
            self.examples[reason] = replace(example, file=found or "")

    def find_row(self, row_of: Callable[[str], tuple[str, int] | None]) -> None:
        """Says of an unreadable time which row of which file it is in, where that can be found out."""
        example = self.examples.get("unreadable_time")
        found = None if example is None else row_of(example.value)
        if example is not None and found is not None:
            self.examples["unreadable_time"] = replace(example, file=found[0], row=found[1])

    def ordered(self) -> list[tuple[str, int, Example]]:
        return [(r, self.counts[r], self.examples[r]) for r in REASONS if r in self.counts]

    def notes(self) -> list[str]:
        """What was left out, for people."""
        return [f"{_rows(n)} left out: {REASONS[reason].what}" for reason, n, _ in self.ordered()]


@dataclass(frozen=True, slots=True)
class Allowed:
    """How many rows may be left out: a number of rows, or a share of all.

    >>> Allowed.read("1%").rows_of(5000), Allowed.read("12").rows_of(5000)
    (50, 12)
    """

    rows: int = 0
    share: float = 0.0

    @classmethod
    def read(cls, text: str | int | float) -> Allowed:
        """From `12` or `1%`."""
        written = str(text).strip()
        try:
            if written.endswith("%"):
                share = float(written[:-1]) / 100
                if 0 <= share <= 1:
                    return cls(share=share)
            elif int(written) >= 0:
                return cls(rows=int(written))
        except ValueError:
            pass
        raise InputError(
            f"--allow-unusable {written} is neither a number of rows nor a share",
            fix="for example 12 or 1%",
        )

    def rows_of(self, rows: int) -> int:
        return max(self.rows, int(self.share * rows))

    def check(self, found: Unusable, rows: int, where: str) -> None:
        """Refuses where more rows cannot be used than allowed."""
        if found.rows <= self.rows_of(rows):
            return
        lines = [
            f"{_rows(count)}: {REASONS[reason].what} ({REASONS[reason].column} {example.value};"
            f" {example.text()}{'; ' + example.place() if example.file else ''})"
            f"\n    fix: {REASONS[reason].fix}"
            for reason, count, example in found.ordered()
        ]
        raise InputError(
            f"{found.rows} of {plural(rows, 'row')} cannot be used\n  " + "\n  ".join(lines),
            where=where,
            fix="or allow for them with --allow-unusable, as a number of rows or a share like 1%",
        )


def _rows(count: int) -> str:
    return plural(count, "row")
