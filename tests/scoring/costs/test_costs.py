"""Cost rates, age penalties and one-time acts against plain walks; equal costs are the plain score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from streamdecisionbench.kernel.arrays import (
    JoinedTimelines,
    Timeline,
)
from streamdecisionbench.kernel.paces import (
    AtPace,
    Bounds,
    OverPaces,
    PaceWeights,
)
from streamdecisionbench.kernel.pair_trajectory import (
    pair_trajectory,
    pair_trajectory_over,
)
from streamdecisionbench.kernel.trajectory import (
    Trajectory,
    trajectory_at,
    trajectory_between,
)
from streamdecisionbench.policies.cost_rules import (
    Act,
    AgePenalty,
    Pair,
    Section,
)
from streamdecisionbench.scoring.error_costs import Figures
from streamdecisionbench.scoring.one_time_actions import OUTCOMES
from streamdecisionbench.scoring.score import score_timelines
from tests.kernel.test_exact import bounds, intervals, recordings
from tests.scoring.costs import plain_costs
from tests.scoring.test_pairs import duos

pytestmark = pytest.mark.slow

EXACT, INTEGRATED = 1e-12, 1e-9
MANY = settings(max_examples=100, deadline=None)
FEW = settings(max_examples=40, deadline=None)

VALUES = (
    {"do": "wait", "what": "-", "how": "x"},
    {"do": "act", "what": "p", "how": "x"},
    {"do": "act", "what": "q", "how": "x"},
    {"do": "act", "what": "p", "how": "y"},  # the same act as 1, another decision
    {"do": "else"},
)
ACT = Act("act", {"do": "act"}, ("what",), late=2.0, missed=3.0, wrongly=5.0, twice=7.0)
rules = st.sampled_from(("freshest", "lag_one", "late_override"))


def worded(timeline: Timeline) -> Timeline:
    """With words for its ids."""
    width = int(max(timeline.reference.max(), timeline.predicted.max())) + 1
    return replace(timeline, values=VALUES[:width])


@st.composite
def sections(draw: DrawFn) -> Section:
    weight = st.sampled_from([0.0, 0.3, 1.0, 2.5, 20.0])
    ages = [
        None,
        AgePenalty("linear", per_s=0.5),
        AgePenalty("threshold", after_s=1.5, add=2.0),
        AgePenalty("capped", per_s=0.5, cap=1.25),
    ]
    return Section(
        wrong=draw(weight),
        no_decision=draw(weight),
        fields=draw(st.dictionaries(st.sampled_from(["do", "what", "how"]), weight)),
        pairs=tuple(
            draw(
                st.lists(
                    st.builds(
                        Pair,
                        st.just("do"),
                        st.sampled_from([None, "act", "wait"]),
                        st.sampled_from([None, "act", "else"]),
                        weight,
                    ),
                    max_size=2,
                )
            )
        ),
        age=draw(st.sampled_from(ages)),
        acts=(replace(ACT, within_s=draw(st.sampled_from([None, 0.7, 3.0]))),),
    )


def _figures(found: Trajectory, measure: PaceWeights, section: Section) -> dict[str, float]:
    figures = Figures(found, measure)
    rates = figures.rates([section])
    (done,) = figures.acts([section])
    return {
        "wrong": float(rates["wrong"][0]),
        "age": float(rates["age"][0]),
        "act_rate": float(rates["acts"][0]),
        **dict(zip(OUTCOMES, done.numbers[0].tolist(), strict=True)),
    }


def _at(path: Trajectory, section: Section) -> dict[str, float]:
    return _figures(path, AtPace(path.scale), section)


def _over(sweep: Trajectory, section: Section, limits: Bounds) -> dict[str, float]:
    return _figures(sweep, OverPaces(limits, sweep.references.tick), section)


def _plain_penalty(age: AgePenalty | None) -> Callable[[float], float]:
    """∫ of the penalty over one spell, cut at its corner and by the trapezoid rule (it is linear)."""

    def rate(x: float) -> float:
        if age is None:
            return 0.0
        if age.kind == "linear":
            return age.per_s * x
        if age.kind == "threshold":
            return age.add if x > age.after_s else 0.0
        return min(age.per_s * x, age.cap)

    def total(length: float) -> float:
        corner = 0.0
        if age is not None and age.kind != "linear":
            corner = age.after_s if age.kind == "threshold" else age.cap / age.per_s
        cuts = sorted({0.0, min(corner, length), length})
        middle = [(a, b, rate((a + b) / 2)) for a, b in pairwise(cuts)]
        return sum((b - a) * value for a, b, value in middle)

    return total


def plainly(
    walker: plain_costs.Walker, timeline: Timeline, section: Section
) -> Callable[[float], dict[str, float]]:
    act = section.acts[0]
    segment = np.cumsum(np.append(False, timeline.reference[1:] != timeline.reference[:-1]))

    def cost(reference: int, decision: int) -> float:
        if decision == plain_costs.NONE:
            return section.no_decision
        y, d = VALUES[reference], VALUES[decision]
        found = []
        for name in y.keys() & d.keys():
            if y[name] != d[name]:
                fits = [
                    (2 * (p.reference is not None) + (p.decision is not None), -k, p.cost)
                    for k, p in enumerate(section.pairs)
                    if p.field == name and (p.reference or p.decision)
                    if p.reference in (None, y[name]) and p.decision in (None, d[name])
                ]
                found.append(max(fits)[2] if fits else section.fields.get(name, section.wrong))
        return max(found)

    def act_of(decision: int) -> object:
        value = VALUES[decision]
        return value.get("what") if value["do"] == "act" else None

    def measure(interval: float) -> dict[str, float]:
        found = walker(interval)
        within = np.inf if act.within_s is None else act.within_s
        done = plain_costs.acts(found, act_of, lambda s: int(segment[s]), within)
        amount = sum(done[k] * getattr(act, k) for k in ("late", "missed", "wrongly", "twice"))
        return {
            "wrong": plain_costs.cost_rate(found, cost),
            "age": plain_costs.penalty_rate(found, _plain_penalty(section.age)),
            "act_rate": amount / plain_costs.observed(found),
            **done,
        }

    return measure


def _mean(
    measure: Callable[[float], dict[str, float]],
    parts: list[Timeline],
    section: Section,
    limits: Bounds,
    nominal: bool,
) -> dict[str, float]:
    apart = [section.acts[0].within_s or 0.0, 1.5, 2.5]  # and the corners of the penalties
    crossings = plain_costs.meetings(parts, apart, nominal)
    return plain_costs.mean_over(
        measure, crossings, parts[0].tick, limits.low, limits.high, limits.weighting
    )


def _close(found: dict[str, float], want: dict[str, float], tolerance: float) -> None:
    want = {name: value for name, value in want.items() if name in found}
    assert found == pytest.approx(want, abs=tolerance, rel=tolerance)


@MANY
@given(recordings().map(worded), sections(), intervals)
def test_a_recording_at_any_interval(timeline: Timeline, section: Section, interval: float) -> None:
    found = _at(trajectory_at(JoinedTimelines([timeline]), interval), section)
    want = plainly(lambda x: plain_costs.walk(timeline, x), timeline, section)(interval)
    _close(found, want, EXACT)


@MANY
@given(duos(), rules, sections(), intervals)
def test_a_pair_at_any_interval(
    pair: tuple[Timeline, Timeline], rule: str, section: Section, interval: float
) -> None:
    fast, slow = map(worded, pair)
    found = _at(pair_trajectory([fast], [slow], rule, interval), section)
    walker = lambda x: plain_costs.walk_pair(fast, slow, rule, x)  # noqa: E731
    _close(found, plainly(walker, fast, section)(interval), EXACT)


@FEW
@given(recordings(most=6).map(worded), sections(), bounds, st.sampled_from(("log", "linear")))
def test_a_recording_over_bounds(
    timeline: Timeline, section: Section, limits: tuple[float, float], weighting: str
) -> None:
    within = Bounds(*limits, weighting)
    flat = JoinedTimelines([timeline])
    found = _over(
        trajectory_between(flat, flat.tick / limits[1], flat.tick / limits[0]), section, within
    )
    measure = plainly(lambda x: plain_costs.walk(timeline, x), timeline, section)
    _close(found, _mean(measure, [timeline], section, within, nominal=False), INTEGRATED)


@FEW
@given(duos(most=4), rules, sections(), bounds)
def test_a_pair_over_bounds(
    pair: tuple[Timeline, Timeline], rule: str, section: Section, limits: tuple[float, float]
) -> None:
    fast, slow = map(worded, pair)
    within = Bounds(*limits)
    found = _over(pair_trajectory_over([fast], [slow], rule, within), section, within)
    measure = plainly(lambda x: plain_costs.walk_pair(fast, slow, rule, x), fast, section)
    _close(found, _mean(measure, [fast, slow], section, within, nominal=True), INTEGRATED)


@MANY
@given(recordings(most=30).map(worded), intervals, bounds)
def test_equal_costs_are_the_plain_score(
    timeline: Timeline, interval: float, limits: tuple[float, float]
) -> None:
    within = Bounds(*limits)
    equal = replace(Section(fields={"do": 1.0}), acts=(ACT,))
    score = score_timelines([timeline], interval=interval, bounds=within)
    flat = JoinedTimelines([timeline])
    found = _at(trajectory_at(flat, interval), equal)
    assert found["wrong"] == pytest.approx(1 - score.in_force, abs=EXACT)
    assert found["age"] == 0.0
    over = _over(
        trajectory_between(flat, flat.tick / limits[1], flat.tick / limits[0]), equal, within
    )
    assert over["wrong"] == pytest.approx(1 - score.log_auc, abs=INTEGRATED)
