"""How sure one recording's score is, for every output that prints it.

`detectable` is the smallest true difference between this recording and another of the same scatter, erring
independently, whose interval would exclude zero in 80 of 100 trials. Paired differences have their own
(`intervals`), mostly smaller: hard states are hard for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from streamdecisionbench.analysis.bootstrap import (
    METRICS,
    Estimate,
    Sampling,
    intervals,
)
from streamdecisionbench.scoring.score import Score
from streamdecisionbench.scoring.score_json import scores_to_json

__all__ = ["ScoreIntervals", "score_intervals", "sure_scores_to_json"]


@dataclass(frozen=True, slots=True)
class ScoreIntervals:
    """Of log-AUC, of in force at the interval and of untimed accuracy."""

    metrics: Mapping[str, Estimate]
    sampling: Sampling
    drawn: str
    """What was resampled: `blocks`, or `scenarios, then blocks`."""

    @property
    def signature(self) -> str:
        """How they were drawn, to stand beside a score's own signature."""
        drawn = "blocks" if self.drawn == "blocks" else "scenarios+blocks"
        s = self.sampling
        return f"interval:{100 * s.level:g}% bootstrap:{drawn} block:{s.block} resamples:{s.resamples} seed:{s.seed}"

    def detectable(self, metric: str) -> float:
        return sqrt(2) * self.metrics[metric].detectable(self.sampling.level)


def score_intervals(score: Score, sampling: Sampling | None = None) -> ScoreIntervals:
    found = intervals(
        {score.name: score.parts}, interval=score.interval, bounds=score.bounds, sampling=sampling
    )
    return ScoreIntervals(found.recordings[score.name], found.sampling, found.drawn)


def sure_scores_to_json(scores: Sequence[Score], *, with_curves: bool = False) -> dict[str, Any]:
    """Schema sdb-score/1 with every recording's intervals beside its scores."""
    document = scores_to_json(scores, with_curves=with_curves)
    for entry, score in zip(document["recordings"], scores, strict=True):
        found = score_intervals(score)
        entry["interval_95"] = {m: [found.metrics[m].low, found.metrics[m].high] for m in METRICS}
        entry["detectable"] = {m: found.detectable(m) for m in METRICS}
        entry["interval_signature"] = found.signature
    return document
