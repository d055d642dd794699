"""Six classes for every observed instant, as shares of observed time.

The decision of source i is *current* at t when κ(y_i) = y*(t), and *right* when κ(â_i) = κ(y_i):

    right,  current   current_correct     wrong, current                    judgment
    right,  outdated  stale               wrong, outdated, matches y*(t)    outdated_correct
    nothing accepted  no_decision         wrong, outdated, does not match   compound

With F_d(t) the share of [r_0, t) during which the reference was d, a source in force on [a, b) is
current for F_{y_i}(b) − F_{y_i}(a) and correct for F_{p_i}(b) − F_{p_i}(a).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.timeline import Flat, Floats, Ints

__all__ = ["CLASSES", "Cumulative", "classify", "shares_at"]

CLASSES = ("current_correct", "judgment", "stale", "compound", "outdated_correct", "no_decision")

N_METRICS = len(CLASSES) + 1
"""Six classes, then segment-balanced in-force accuracy."""


class Cumulative:
    """F_d: how much weight of the steps so far had reference d. Linear memory in steps."""

    def __init__(self, flat: Flat, weight: Floats) -> None:
        self.flat = flat
        self.weight = weight
        order, self._keys, starts = flat.by_reference
        amounts = ((flat.step_end - flat.r) * weight)[order]
        self._prefix = np.concatenate(([0.0], np.cumsum(amounts)))
        self._start = self._prefix[starts]

    def position(self, decision: Ints, step: Ints) -> Ints:
        """Where `before` reads; the same for every weight of one `Flat`."""
        key = decision * (len(self.flat.r) + 1) + step
        return np.searchsorted(self._keys, key, side="left")

    def before(self, decision: Ints, step: Ints, position: Ints | None = None) -> Floats:
        """Weight of all steps before `step` whose reference is `decision`."""
        if position is None:
            position = self.position(decision, step)
        result: Floats = self._prefix[position] - self._start[decision]
        return result

    def at(self, decision: Ints, time: Floats, step: Ints) -> Floats:
        """F_d(t), `step` being the step that holds at t."""
        flat = self.flat
        here = np.where(flat.y[step] == decision, self.weight[step], 0.0)
        result: Floats = self.before(decision, step) + (time - flat.r[step]) * here
        return result


def classify(
    right: NDArray[np.bool_], current: Floats, correct: Floats, total: Floats
) -> list[Floats]:
    """The six classes' shares of each source from its current, correct and total share."""
    zero = np.zeros_like(total)
    return [
        np.where(right, current, zero),
        np.where(right, zero, current),
        np.where(right, total - current, zero),
        np.where(right, zero, total - current - correct),
        np.where(right, zero, correct),
        zero,
    ]


def shares_at(flat: Flat, u: Floats, accepted: NDArray[np.bool_]) -> Floats:
    """Six class shares and segment-balanced accuracy per scenario for given arrivals.

    Rows are scenarios; columns are `CLASSES`, then the segment-balanced accuracy.
    """
    source = np.flatnonzero(accepted)
    scenario = flat.scenario[source]
    out = np.zeros((flat.count, N_METRICS))
    begin = u[source]
    last_of_scenario = (
        np.append(scenario[1:] != scenario[:-1], True) if source.size else np.zeros(0, bool)
    )
    end = np.append(begin[1:], 0.0) if source.size else begin
    end = np.where(last_of_scenario, flat.H[scenario], end)

    first_arrival = flat.H.copy()
    first_of_scenario = (
        np.append(True, scenario[1:] != scenario[:-1]) if source.size else last_of_scenario
    )
    first_arrival[scenario[first_of_scenario]] = begin[first_of_scenario]
    out[:, 5] = (first_arrival - flat.r0) / (flat.H - flat.r0)
    if not source.size:
        return out

    step_begin, step_end = flat.locate(begin, scenario), flat.locate(end, scenario)
    time = Cumulative(flat, flat.time_weight)
    segment = Cumulative(flat, flat.segment_weight)
    y, p = flat.y[source], flat.p[source]
    current = time.at(y, end, step_end) - time.at(y, begin, step_begin)
    correct = time.at(p, end, step_end) - time.at(p, begin, step_begin)
    balanced = segment.at(p, end, step_end) - segment.at(p, begin, step_begin)
    total = (end - begin) * flat.time_weight[source]
    for column, values in enumerate(classify(flat.right[source], current, correct, total)[:5]):
        out[:, column] = flat.sum_by_scenario(values, scenario)
    out[:, 6] = flat.sum_by_scenario(balanced, scenario)
    return out
