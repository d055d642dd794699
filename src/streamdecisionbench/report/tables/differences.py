"""The table of states two recordings decide differently."""

from __future__ import annotations

from streamdecisionbench.analysis.flipped_states import KINDS, Flips, decision_words, flipped_states
from streamdecisionbench.report.gate_words import flip_summary
from streamdecisionbench.report.material import Material
from streamdecisionbench.report.tables.table import Row, Table, sec

__all__ = ["differences", "flips_of"]


def flips_of(material: Material) -> Flips | None:
    """Of a report about two recordings of the same scenarios; None otherwise."""
    if len(material.entries) != 2:
        return None
    first, second = material.entries
    if set(first.recording.episodes) != set(second.recording.episodes):
        return None
    names = (first.label, second.label)
    return flipped_states(first.recording, second.recording, material.suite, names)


def differences(material: Material, flips: Flips) -> Table:
    """Every such state, with what each answered, the reference and the evidence."""
    return Table(
        "differences",
        "States decided differently",
        ("state", "what", "reference", flips.first, flips.second, "evidence", "s before", "s now"),
        tuple(
            Row(
                (
                    f"{flip.scenario} {flip.step}", KINDS[flip.kind], decision_words(flip.reference),
                    decision_words(flip.first), decision_words(flip.second),
                    "; ".join(flip.evidence), sec(flip.first_latency_s), sec(flip.second_latency_s),
                )
            )
            for flip in flips.found
        ),
        material.notes(
            f"{flip_summary(flips)}. Latency is ignored for what differs; {flips.first} is before."
        ),
        text_columns=6,
    )  # fmt: skip
