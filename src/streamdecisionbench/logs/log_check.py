"""Checks a log: which columns it has, which rows are usable, and the reasons why others are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from streamdecisionbench.logs.engines.engine import FILE, Engine
from streamdecisionbench.logs.log_schema import (
    COLUMNS,
    LATENCIES,
)
from streamdecisionbench.logs.log_score import (
    SCORED,
    check_by,
)
from streamdecisionbench.logs.log_sums import (
    LogSettings,
    LogSums,
)
from streamdecisionbench.logs.stream_arrays import UNREADABLE
from streamdecisionbench.logs.unusable_rows import (
    REASONS,
    Unusable,
)
from streamdecisionbench.scoring.stream_sums import Group


@dataclass(frozen=True, slots=True)
class Checked:
    """A log, looked through."""

    source: str
    rows: int
    streams: int
    decisions: int
    judged: int
    answered: int
    assumed_end: int
    scattered: tuple[int, str] | None
    """Streams that lie in more than one file, and one of them."""
    columns: tuple[str, ...]
    missing: Mapping[str, str]
    """Columns that are not there, with what is taken instead."""
    others: tuple[str, ...]
    unusable: Unusable
    torn: int = 0
    """Files that end in a line that was cut off."""
    values: tuple[str, ...] = ()
    """Values that only references or only decisions have, in words."""
    timed_by: str = ""
    """The column of latencies that `answered_at` is made of, where it is."""
    notes: tuple[str, ...] = ()
    """What to know about how the log was read."""

    def to_json(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "schema": "sdb-logs-check/1",
            "source": self.source,
            "rows": self.rows,
            "usable": self.rows - self.unusable.rows,
            "streams": self.streams,
            "decisions": self.decisions,
            "judged": self.judged,
            "answered": self.answered,
            "streams_without_end": self.assumed_end,
            "streams_in_several_files": self.scattered[0] if self.scattered else 0,
            "torn_lines": self.torn,
            "columns": list(self.columns),
            "answered_by": self.timed_by or None,
            "values": list(self.values),
            "notes": list(self.notes),
            "missing": dict(self.missing),
            "group_by": list(self.others),
            "unusable": [
                {
                    "reason": reason,
                    "rows": count,
                    "what": REASONS[reason].what,
                    "column": REASONS[reason].column,
                    "fix": REASONS[reason].fix,
                    "example": asdict(example),
                }
                for reason, count, example in self.unusable.ordered()
            ],
        }


_INSTEAD = {
    "requested_at": "published_at is taken",
    "answered_at": "no answer ever came",
    "applied_at": "no physical trace",
    "decision": "no answer ever came",
    "reference": "nothing is judged without --references or --reference",
    "ended_at": "one median gap after the last state is taken",
    "state": "no references from a function, no suite",
    "state_id": "references are found by stream and published_at",
    "confidence": "–",
    "cost": "–",
    "weight": "every stream counts alike",
    "tick_s": "(end − start)/n is taken",
}


def check_log(engine: Engine, by: tuple[str, ...] = ()) -> Checked:
    """Looks through a whole log. Nothing is refused: everything is counted."""
    schema = engine.schema()
    check_by(schema, by, engine.name)
    sums = engine.usable(LogSums(LogSettings(by=by, resamples=0)), (*SCORED, *by))
    whole = Group()
    for group in sums.groups.values():
        whole.merge(group)
    counts = whole.counts()
    return Checked(
        source=engine.name,
        rows=sums.rows,
        streams=int(counts["streams"]),
        decisions=int(counts["decisions"]),
        judged=int(counts["judged"]),
        answered=whole.latency.count,
        assumed_end=int(counts["assumed_end"]),
        scattered=engine.scattered(),
        columns=tuple(name for name in COLUMNS if name in schema.names),
        missing={name: told for name, told in _INSTEAD.items() if name not in schema.names},
        others=tuple(n for n in schema.names if n not in {*COLUMNS, *LATENCIES, FILE, UNREADABLE}),
        unusable=sums.unusable,
        torn=engine.torn,
        values=tuple(sums.values.notes()),
        timed_by=engine.timed_by,
        notes=tuple(engine.notes()),
    )
