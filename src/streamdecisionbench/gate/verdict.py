"""The release gate: has the score dropped by more than allowed, as far as these data can show?

With D = baseline − new, in points, and [low, high] its interval:

    pass         high ≤ allowed      the drop is shown to be smaller than allowed
    fail         low > allowed       it is shown to be larger
    cannot tell  otherwise           with the drop that would have been shown in 80 of 100 trials

D is paired by state and resampled as in `bootstrap`; where only scores by scenario are at hand, it is
paired by scenario, and of logs by stream, with Student's t over scenarios or streams. Intervals of
95 % aim at 2.5 % false passes and as many false alarms where the true drop is just what is allowed;
`bench/gate.py` measures both. A floor for the new score is judged in the same way.

N states that all went alike do not show that none ever goes otherwise: a change in a share p of all
states stays unseen with probability (1 − p)^N, which is 2.5 % at p = 1 − 0.025^(1/N). That much adds to
the scatter seen, as errors do: √(width² + p²) to either side.

What stands on one side only may hide a drop, so it is never taken for the same. Labels that differ,
data that were not measured anew, and a baseline that has nothing to lose make the gate unable to tell.
Judged time of a log that the other log does not have could be all right or all wrong: the interval
holds both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from streamdecisionbench.analysis.bootstrap import (
    POWER,
    Estimate,
    Sampling,
    bootstrap,
    over_scenarios,
    same_states,
)
from streamdecisionbench.analysis.flips import (
    Causes,
    Flips,
    causes_by_step,
    largest_first,
    loss_of,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Floats,
    Ints,
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.classes import (
    CORRECT,
    UNJUDGED,
)
from streamdecisionbench.kernel.levels import family_weights
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import classes_by_step
from streamdecisionbench.render.table import percent
from streamdecisionbench.scoring.intervals import (
    Spread,
    student_interval,
)
from streamdecisionbench.scoring.stream_sums import attributed
from streamdecisionbench.text import plural

PASS, FAIL, CANNOT_TELL = "pass", "fail", "cannot tell"
LEVEL = 0.95
_Z = NormalDist().inv_cdf((1 + LEVEL) / 2)
_SAME = "both hold the same answers at the same times: nothing was measured anew"
_NOTABLE = 0.0005
"""A share of time judged on one side only that is worth a word."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What is allowed, in points (hundredths)."""

    max_drop: float = 1.0
    minimum: float | None = None
    model_change: bool = False
    """Whether another served model is no failure."""

    def __post_init__(self) -> None:
        if not 0 <= self.max_drop <= 100:
            raise InputError(
                f"--max-drop {self.max_drop:g} is not a number of points", fix="give 0 to 100"
            )
        if self.minimum is not None and not 0 <= self.minimum <= 100:
            raise InputError(
                f"--min {self.minimum:g} is not a score in points", fix="give 0 to 100"
            )


@dataclass(frozen=True, slots=True)
class Side:
    """What stands on one side of a gate: whose answers, to what, under which labels."""

    name: str
    holds: Mapping[str, float] = field(default_factory=dict)
    """How much of what: `scenarios` or `streams`, `states`, of logs the `judged_share` of time;
    of sessions from a log what it is worth at their own pace."""
    notes: tuple[str, ...] = ()
    """What every reader of its numbers must be told."""
    labels: frozenset[str] = frozenset()
    """What of it must be so on both sides, or neither."""
    models: tuple[str, ...] = ()
    signature: str = ""
    p50: float | None = None
    """Median latency in seconds, where it is known."""

    @property
    def words(self) -> str:
        """
        >>> Side("x", {"streams": 60, "states": 1800, "judged_share": 0.5}).words
        '60 streams, 1800 states, 50.0 % of time judged'
        """
        shares = ("judged_share", "in_force_at_own_pace", "own_pace_s")
        counts = [
            plural(n, what.removesuffix("s"))
            for what, n in self.holds.items()
            if what not in shares
        ]
        if "own_pace_s" in self.holds:
            counts.append(
                f"{percent(self.holds['in_force_at_own_pace'])} % in force at its own pace of"
                f" {self.holds['own_pace_s']:.3g} s"
            )
        if "judged_share" in self.holds:
            counts.append(f"{percent(self.holds['judged_share'])} % of time judged")
        return ", ".join(counts)


class Sides(NamedTuple):
    new: Side
    baseline: Side


_UNKNOWN = Sides(Side("new"), Side("baseline"))


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict and what it rests on. Shares are fractions; `drop` is baseline minus new."""

    verdict: str
    reasons: tuple[str, ...]
    measure: str
    new: Estimate
    baseline: Estimate
    drop: Estimate
    limits: Limits
    paired_by: str
    drawn: str
    sides: Sides = _UNKNOWN
    flips: Flips | None = None
    causes: Causes | None = None
    """What the drop is made of, where classes of time are known."""

    @property
    def detectable(self) -> float:
        """The smallest true drop that would fail the gate in 80 of 100 trials, as a fraction."""
        return self.limits.max_drop / 100 + self.drop.detectable(LEVEL)

    def promised(self, true_drop: float) -> float:
        """How often a true drop of this size would fail the gate."""
        beyond = true_drop - self.limits.max_drop / 100
        if self.drop.error == 0:
            return float(beyond > 0)
        return NormalDist().cdf(beyond / self.drop.error - _Z)

    @property
    def notes(self) -> list[str]:
        """What a reader must be told, with whose it is."""
        said: dict[str, list[str]] = {}
        for role, side in zip(Sides._fields, self.sides, strict=True):
            for note in side.notes:
                said.setdefault(note, []).append(role)
        return [f"{' and '.join(roles)}: {note}" for note, roles in said.items()]


def gate_timelines(
    new: Sequence[Timeline],
    baseline: Sequence[Timeline],
    *,
    limits: Limits,
    interval: float | None = None,
    bounds: Bounds | None = None,
    sampling: Sampling | None = None,
    sides: Sides = _UNKNOWN,
    made_anew: bool = False,
) -> Gate:
    """Of two recordings of the same states: at an interval, or integrated over the bounds.

    Equal answers at equal times are those of a copy, unless the new ones are known to be `made_anew`.
    """
    sampling, bounds = sampling or Sampling(), bounds or Bounds()
    parts = same_states({"baseline": baseline, "new": new})
    by_class = [
        classes_by_step(JoinedTimelines(side), bounds, interval) for side in (new, baseline)
    ]
    of_new, of_old = (found[:, CORRECT].sum(axis=1) for found in by_class)
    states = len(of_new)
    score_new, score_old = bootstrap(parts, np.stack((of_new, of_old), axis=1), sampling)
    (drop,) = bootstrap(parts, (of_old - of_new)[:, None], sampling, share=False)
    same = not made_anew and all(
        np.array_equal(getattr(a, of), getattr(b, of))
        for a, b in zip(new, baseline, strict=True)
        for of in ("release", "latency", "predicted")
    )
    return gate_estimates(
        with_room(score_new, states),
        with_room(score_old, states),
        with_room(drop, states, -1.0),
        limits=limits,
        measure=f"in force over {bounds.text()}"
        if interval is None
        else f"in force at {interval:g} s",
        paired_by="state",
        drawn="scenarios, then blocks" if over_scenarios(parts) else "blocks of steps",
        sides=sides,
        doubts=[_SAME] * same,
        causes=causes_by_step(parts, by_class[1], by_class[0]),
    )


def gate_by_scenario(
    new: Mapping[str, float],
    baseline: Mapping[str, float],
    families: Mapping[str, str],
    *,
    states: int,
    limits: Limits,
    measure: str,
    sides: Sides = _UNKNOWN,
    causes: Causes | None = None,
) -> Gate:
    """Of scores by scenario alone: paired by scenario, means of families' means."""
    if set(new) != set(baseline):
        odd = sorted(set(new) ^ set(baseline))
        raise InputError(
            f"the two scores are not of the same scenarios: {', '.join(odd[:5])}",
            fix="score the same scenarios twice",
        )
    if len(new) < 2:
        raise InputError(
            "one scenario says nothing about how scores differ",
            fix="gate the recordings themselves, or scores over several scenarios",
        )
    names = sorted(new)
    of_new, of_old = (np.array([s[name] for name in names]) for s in (new, baseline))
    weights = family_weights([families[name] for name in names])

    spread = Spread.of(weights)

    def estimate(values: Floats, bottom: float = 0.0) -> Estimate:
        """A weighted mean of clusters: its error is that of Σ w·(x − x̄)."""
        mean = float(weights @ values)
        return with_room(_student(mean, (weights * (values - mean), spread)), states, bottom)

    return gate_estimates(
        estimate(of_new),
        estimate(of_old),
        estimate(of_old - of_new, -1.0),
        limits=limits,
        measure=measure,
        paired_by="scenario",
        drawn="scenarios (Student's t)",
        sides=sides,
        doubts=[_SAME] * bool(np.array_equal(of_new, of_old)),
        causes=causes,
    )


@dataclass(frozen=True, slots=True)
class Streams:
    """Streams of a log, a row each: seconds judged and seconds right, times the stream's weight.

    Two streams are the same where `keys` are: an id, and with it how many states it has.
    """

    keys: Ints
    right: Floats
    judged: Floats
    observed: Floats
    """Seconds, whether judged or not."""
    states: int
    """Whose reference is known."""
    seconds: Floats | None = None
    """By class, where they are known; unattributed time is divided among the causes as in the whole log."""
    names: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        keys: Ints,
        seconds: Floats,
        states: int,
        names: Sequence[str],
        older_judgment: Floats | None = None,
    ) -> Streams:
        """From seconds by class, and how many of judgment have a decision made for an older state."""
        observed = seconds.sum(axis=1)
        right, judged = seconds[:, CORRECT].sum(axis=1), observed - seconds[:, UNJUDGED]
        if older_judgment is not None:
            seconds = attributed(seconds, float(older_judgment.sum()), like=seconds.sum(axis=0))
        return cls(keys, right, judged, observed, states, seconds, names)

    @property
    def in_force(self) -> float:
        return float(self.right.sum() / self.judged.sum())

    def residuals(self) -> Floats:
        """What each stream adds to the error of A = Σ right / Σ judged, to first order."""
        return (self.right - self.in_force * self.judged) / float(self.judged.sum())

    @property
    def spread(self) -> Spread:
        return Spread.of(self.judged)

    def estimate(self) -> Estimate:
        """In-force accuracy with the interval that `sdb logs score` has for it."""
        own = _student(self.in_force, (self.residuals(), self.spread), share=True)
        return with_room(own, self.states)


def gate_streams(
    new: Streams,
    baseline: Streams,
    *,
    limits: Limits,
    measure: str,
    paired: bool = True,
    sides: Sides = _UNKNOWN,
) -> Gate:
    """Of two logs. `paired`: of the same streams; otherwise of two samples of the same traffic.

    Of J judged seconds R are right, new and old. Paired, T = Σ max(J_new, J_old) over all streams
    could have been judged on both sides. What was not could be wrong or right, so the drop lies between
    (R_old − R_new − (T − J_new))/T and (R_old − R_new + (T − J_old))/T, give or take the error of D.
    Not paired, the log of which a smaller share of time is judged could have as large a one.
    """
    drop = baseline.in_force - new.in_force
    said = []
    same = False
    if paired:
        keys = np.union1d(new.keys, baseline.keys)
        residuals = np.zeros(len(keys))
        judged, right = [], []
        for sign, side in ((-1.0, new), (1.0, baseline)):
            place = np.searchsorted(keys, side.keys)
            np.add.at(residuals, place, sign * side.residuals())
            judged.append(np.bincount(place, weights=side.judged, minlength=len(keys)))
            right.append(np.bincount(place, weights=side.right, minlength=len(keys)))
        whole = float(np.maximum(*judged).sum())
        change = float(baseline.right.sum() - new.right.sum())
        low = (change - whole + float(new.judged.sum())) / whole
        high = (change + whole - float(baseline.judged.sum())) / whole
        spread = new.spread.narrower(baseline.spread)
        error = _student(drop, (residuals, spread))
        both = len(np.intersect1d(new.keys, baseline.keys))
        same = np.array_equal(judged[0], judged[1]) and np.array_equal(right[0], right[1])
        if both < len(keys):
            said.append(
                f"{both} of {plural(len(keys), 'stream')} are in both logs with as many states;"
                " --unpaired takes the logs for two samples of the same traffic"
            )
    else:
        shares = [float(side.judged.sum() / side.observed.sum()) for side in (new, baseline)]
        unknown, before_unknown = (1 - share / max(shares) for share in shares)
        now, before = new.in_force * (1 - unknown), baseline.in_force * (1 - before_unknown)
        low, high = before - now - unknown, before + before_unknown - now
        sides_apart = ((side.residuals(), side.spread) for side in (new, baseline))
        error = _student(drop, *sides_apart)
    hidden = Estimate(
        drop, error.low + min(low - drop, 0.0), error.high + max(high - drop, 0.0), error.error
    )
    if high - low > _NOTABLE:
        said.append(
            "judged on one side only, which by itself allows a drop between"
            f" {_points(low)} and {_points(high)}"
        )
    longest = max(float(side.judged.max() / side.judged.sum()) for side in (new, baseline))
    if longest > 0.5:
        said.append(
            f"one stream has {100 * longest:.0f} % of the judged time: the others hardly show how much"
            " such a stream varies"
        )
    states = min(new.states, baseline.states)
    return gate_estimates(
        new.estimate(),
        baseline.estimate(),
        with_room(hidden, states, -1.0),
        limits=limits,
        measure=measure,
        paired_by="stream" if paired else "nothing",
        drawn="streams (Student's t)",
        sides=sides,
        said=said,
        doubts=[_SAME] * same,
        causes=_stream_causes(new, baseline, paired=paired),
    )


def _stream_causes(new: Streams, baseline: Streams, *, paired: bool) -> Causes | None:
    """Shares of judged time; stream by stream where both logs have them."""
    if new.seconds is None or baseline.seconds is None:
        return None
    before, now = (side.seconds / side.judged.sum() for side in (baseline, new))
    for shares in (before, now):
        shares[:, UNJUDGED] = 0.0
    whole = loss_of("", None, "", 1.0, before.sum(axis=0), now.sum(axis=0))
    places = np.intersect1d(baseline.keys, new.keys, return_indices=True)[1:] if paired else ()
    losses = [
        loss_of(baseline.names[j], None, "", 1.0, before[j], now[k])
        for j, k in zip(*(x.tolist() for x in places), strict=True)
        if baseline.judged[j] > 0 and new.judged[k] > 0
    ]
    return Causes(whole.drop, whole.causes, scenarios=largest_first(losses))


def gate_estimates(
    new: Estimate,
    baseline: Estimate,
    drop: Estimate,
    *,
    limits: Limits,
    measure: str,
    paired_by: str,
    drawn: str,
    sides: Sides = _UNKNOWN,
    said: Sequence[str] = (),
    doubts: Sequence[str] = (),
    causes: Causes | None = None,
) -> Gate:
    """The verdict on estimates, however they were made; with `doubts` no drop can be told.

    The reasons that decide come first.
    """
    found: list[tuple[str, str]] = []
    allowed = limits.max_drop / 100
    doubts = [*doubts, *_unlike(sides)]
    if baseline.value <= allowed and limits.minimum is None:
        doubts.append(
            f"the baseline is right {percent(baseline.value)} % of the time: no drop of more than"
            f" {limits.max_drop:g} points could show; --min asks for a score"
        )
    if doubts:
        found += [(CANNOT_TELL, doubt) for doubt in doubts]
    elif drop.high < 0:
        found.append((PASS, f"the score rose by at least {_points(-drop.high)}"))
    elif drop.high <= allowed:
        most = f"the drop is at most {_points(drop.high)}, {limits.max_drop:g} is allowed"
        found.append((PASS, most))
    elif drop.low > allowed:
        least = f"the drop is at least {_points(drop.low)}, {limits.max_drop:g} is allowed"
        found.append((FAIL, least))
    else:
        shown = allowed + drop.detectable(LEVEL)
        between = (
            f"the drop lies between {_points(drop.low)} and {_points(drop.high)}; these data would"
            f" show one of {_points(shown)} in {100 * POWER:g} of 100 trials"
        )
        found.append((CANNOT_TELL, between))
    found += [(found[-1][0], word) for word in said]
    if limits.minimum is not None:
        floor, asked = limits.minimum / 100, f"{limits.minimum:g} is asked"
        if new.low >= floor:
            found.append((PASS, f"the score is at least {_points(new.low)}, {asked}"))
        elif new.high < floor:
            found.append((FAIL, f"the score is at most {_points(new.high)}, {asked}"))
        else:
            between = f"the score lies between {_points(new.low)} and {_points(new.high)}, {asked}"
            found.append((CANNOT_TELL, between))
    now, before = (sorted(side.models) for side in sides)
    if now != before and not limits.model_change:
        change = f"another model was served: {_named(before)} before, {_named(now)} now"
        found.append((FAIL, change))
    found.sort(key=lambda one: (FAIL, CANNOT_TELL, PASS).index(one[0]))
    verdict, reasons = found[0][0], tuple(reason for _, reason in found)
    if causes is not None:
        causes = replace(causes, p50=(sides.baseline.p50, sides.new.p50))
    return Gate(
        verdict, reasons, measure, new, baseline, drop, limits, paired_by, drawn, sides,
        causes=causes,
    )  # fmt: skip


def with_room(estimate: Estimate, states: int, bottom: float = 0.0) -> Estimate:
    """With what so many states may leave unseen beside the scatter seen, within `bottom` and 1."""
    room = 1 - ((1 - LEVEL) / 2) ** (1 / states)
    value = estimate.value
    return Estimate(
        value,
        max(value - math.hypot(value - estimate.low, room), bottom),
        min(value + math.hypot(estimate.high - value, room), 1.0),
        math.hypot(estimate.error, room / _Z),
    )


def _student(value: float, *samples: tuple[Floats, Spread], share: bool = False) -> Estimate:
    """The interval of a value to whose error every unit of a sample adds a residual.

    One unit alone shows no scatter, so anything is possible.
    """
    squares = [(float(residuals @ residuals), spread) for residuals, spread in samples]
    low, high = student_interval(value, *squares, share=share) or (value - 2, value + 2)
    return Estimate(value, low, high, (high - low) / 2 / _Z)


def _unlike(sides: Sides) -> list[str]:
    new, old = sides.new.labels, sides.baseline.labels
    return [f"only the new one is a {label}" for label in sorted(new - old)] + [
        f"only the baseline is a {label}" for label in sorted(old - new)
    ]


def _points(share: float) -> str:
    return f"{100 * share:z.1f} points"


def _named(models: Sequence[str]) -> str:
    return ", ".join(models) if models else "no model named"
