"""Every observed instant's class, as shares of observed time.

The decision of source i is *current* at t when κ(y_i) = y*(t), and *right* when κ(â_i) = κ(y_i):

    right,  current   current_correct     wrong, current                    judgment
    right,  outdated  stale               wrong, outdated, matches y*(t)    outdated_correct
    nothing accepted  no_decision         wrong, outdated, does not match   compound

Where references may be unknown, two more, asked in this order:

    y*(t) unknown                                   unjudged, whatever is in force
    κ(y_i) unknown, the decision matches y*(t)      current_correct
    κ(y_i) unknown, the decision does not match     unattributed

At one pace, releases and acceptances cut time into stretches on which nothing changes; the class of
a stretch follows from three ids: what was answered, what was right for its state, what is right now.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.scoring.timeline import Flat, Floats, Ints

CLASSES = ("current_correct", "judgment", "stale", "compound", "outdated_correct", "no_decision")
ALL_CLASSES = (*CLASSES, "unjudged", "unattributed")
"""The classes where references may be unknown."""

N_METRICS = len(CLASSES) + 1
"""Six classes, then segment-balanced in-force accuracy."""

TABLE = (*CLASSES, "segment_in_force", *ALL_CLASSES[len(CLASSES) :])
"""Columns of the scorer's tables: the six classes, segment-balanced accuracy, the two classes more."""

_MATCHES, _CURRENT, _RIGHT, _OWN_KNOWN, _HELD, _NOW_KNOWN = (1 << bit for bit in range(6))


def _column(bits: int) -> int:
    """The table above, read once for every combination of what is known of an instant."""
    if not bits & _NOW_KNOWN:
        name = "unjudged"
    elif not bits & _HELD:
        name = "no_decision"
    elif bits & _MATCHES:
        outdated = bits & _OWN_KNOWN and not bits & _CURRENT
        name = "outdated_correct" if outdated else "current_correct"
    elif not bits & _OWN_KNOWN:
        name = "unattributed"
    elif bits & _RIGHT:
        name = "stale"
    else:
        name = "judgment" if bits & _CURRENT else "compound"
    return TABLE.index(name)


_COLUMN = np.array([_column(bits) for bits in range(64)], dtype=np.int64)
_RIGHT_COLUMNS = np.array([name in ("current_correct", "outdated_correct") for name in TABLE])


@dataclass(frozen=True, slots=True)
class ClassStretches:
    """Observed time, cut at every release and acceptance: on [begin, end) nothing changes.

    `source` is the step whose answer is in force, −1 for none; `step` the one whose evidence holds.
    """

    scenario: Ints
    source: Ints
    step: Ints
    begin: Floats
    end: Floats


def stretches(flat: Flat, source: Ints, begin: Floats) -> ClassStretches:
    """All observed time, given the answers that take effect, in that order, and when they do."""
    answers = len(source)
    owner = flat.scenario[source]
    # An answer's place among all cuts: after the releases up to its time and the answers before it.
    place = flat.locate(begin, owner) + np.arange(1, answers + 1)
    is_answer = np.zeros(len(flat.r) + answers, dtype=np.int64)
    is_answer[place] = 1
    answer = np.cumsum(is_answer) - 1
    step = np.arange(-1, len(answer) - 1) - answer
    time = flat.r[step]
    time[place] = begin
    end = np.append(time[1:], 0.0)
    end[np.cumsum(flat.n + np.bincount(owner, minlength=flat.count)) - 1] = flat.H
    scenario = flat.scenario[step]
    held = np.append(source, -1)[answer]
    held[held < flat.first[scenario]] = -1
    return ClassStretches(scenario, held, step, time, end)


class Classes:
    """Which class an instant falls into, looked up for many instants at once."""

    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._now_known = (
            None if flat.all_known else np.greater_equal(flat.y, 0).view(np.uint8) << 5
        )
        # What a source alone says of its instants; the last place, −1, is that of no source.
        bits = np.append(flat.right, False).view(np.uint8) << 2
        bits[:-1] |= _HELD
        if flat.all_known:
            bits |= _NOW_KNOWN
            bits[:-1] |= _OWN_KNOWN
        else:
            bits[:-1] |= np.greater_equal(flat.y, 0).view(np.uint8) << 3
        self._of_source = bits

    def __call__(self, source: Ints, step: Ints) -> Ints:
        """The column of `TABLE` while `source` (−1 for none) is in force and `step` holds."""
        flat = self._flat
        now = flat.y[step]
        bits = self._of_source[source]
        bits += np.equal(flat.p[source], now)
        bits += np.equal(flat.y[source], now).view(np.uint8) << 1
        if self._now_known is not None:
            bits += self._now_known[step]
        column: Ints = _COLUMN[bits]
        return column


def is_right(column: Ints) -> NDArray[np.bool_]:
    """Whether the decision in force is right in that column of `TABLE`."""
    right: NDArray[np.bool_] = _RIGHT_COLUMNS[column]
    return right


def table_at(flat: Flat, source: Ints, begin: Floats, *, segments: bool = True) -> Floats:
    """Shares of observed time per scenario, columns as in `TABLE`, for answers that take effect.

    `source` are steps, scenario by scenario in the order their answers take effect; `begin` when.
    Without `segments` the segment-balanced accuracy is left at zero, which saves a quarter.
    """
    found = stretches(flat, source, begin)
    column = Classes(flat)(found.source, found.step)
    seconds = found.end - found.begin
    width = len(TABLE)
    sums = np.bincount(
        found.scenario * width + column, weights=seconds, minlength=flat.count * width
    )
    out: Floats = sums.reshape(flat.count, width) / (flat.H - flat.r0)[:, None]
    if segments:
        right = np.flatnonzero(is_right(column))
        out[:, TABLE.index("segment_in_force")] = flat.sum_by_scenario(
            seconds[right] * flat.segment_weight[found.step[right]], found.scenario[right]
        )
    return out


def shares_at(flat: Flat, u: Floats, accepted: NDArray[np.bool_]) -> Floats:
    """Six class shares and segment-balanced accuracy per scenario for given arrivals.

    Rows are scenarios; columns are `CLASSES`, then the segment-balanced accuracy.
    """
    source = np.flatnonzero(accepted)
    return table_at(flat, source, u[source])[:, :N_METRICS]


class Cumulative:
    """F_d: how much weight of the steps so far had reference d ≥ 0. Linear memory in steps.

    A source in force on [a, b) is current for F_{y_i}(b) − F_{y_i}(a) and correct for
    F_{p_i}(b) − F_{p_i}(a).
    """

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
