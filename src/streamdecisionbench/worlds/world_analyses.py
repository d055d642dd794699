"""Analyses of recordings made in a world: outcomes, and how wrong spells propagate."""

from __future__ import annotations

from collections.abc import Sequence

from streamdecisionbench.analysis.analyses import Analysis, Found, Recorded
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.worlds.outcomes import (
    outcomes,
    outcomes_table,
    propagation,
    propagation_table,
)


def _outcomes(
    recorded: Sequence[Recorded],
    unhurried: Recording | None = None,
    allow_import: Sequence[str] | None = None,
) -> Found:
    allowed = allow_import or ()
    found = {r.name: outcomes(r.recording, unhurried, allowed=allowed) for r in recorded}
    told = {
        name: {"outcomes": {what: twins.to_json() for what, twins in of.items()}}
        for name, of in found.items()
    }
    return Found(told, [outcomes_table(name, of) for name, of in found.items()])


def _propagation(recorded: Sequence[Recorded], allow_import: Sequence[str] | None = None) -> Found:
    found = {r.name: propagation(r.recording, allowed=allow_import or ()) for r in recorded}
    told = {name: one.to_json() for name, one in found.items()}
    return Found(told, [propagation_table(name, one) for name, one in found.items()])


ANALYSES = {
    "outcomes": Analysis(_outcomes, whole=True),
    "propagation": Analysis(_propagation, whole=True),
}
