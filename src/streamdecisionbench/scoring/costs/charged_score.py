"""A score with what it costs beside it."""

from __future__ import annotations

from dataclasses import replace

from streamdecisionbench.cost_file.rules import Costs
from streamdecisionbench.scoring.costs.charge import charge
from streamdecisionbench.scoring.costs.course import course_of
from streamdecisionbench.scoring.score import Score

__all__ = ["charged"]


def charged(score: Score, costs: Costs) -> Score:
    """The same score, charged at its interval and over its bounds; the signature says by what."""
    found = charge(course_of(score.parts, score.interval, score.bounds), costs)
    mark = f"costs:{costs.digest[:12] or costs.name}"
    signature = f"{score.signature} {mark}" if score.signature else mark
    return replace(score, cost=found, signature=signature)
