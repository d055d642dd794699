"""What of a log can be used and what cannot, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from streamdecisionbench.logs.engines.engine import Engine
from streamdecisionbench.logs.schema import COLUMNS
from streamdecisionbench.logs.score import SCORED, check_by
from streamdecisionbench.logs.sums import LogSettings, LogSums
from streamdecisionbench.logs.unusable import REASONS, Unusable
from streamdecisionbench.scoring.pooled import Group


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
        others=tuple(n for n in schema.names if n not in COLUMNS and n != "filename"),
        unusable=sums.unusable,
        torn=engine.torn,
    )
