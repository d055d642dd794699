"""Laws: every policy against the event-by-event judge, at single intervals and over ranges of them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.kernel.classes import CLASSES
from streamdecisionbench.kernel.overlaps import stretches_of
from streamdecisionbench.kernel.paces import Bounds, OverPaces
from streamdecisionbench.kernel.shares import Shares, shares_over
from streamdecisionbench.kernel.trajectory import (
    Trajectory,
    by_step,
)
from streamdecisionbench.policies.policy_file import (
    Cascade,
    ConfidenceGate,
    Debounce,
    Dispatch,
    Expire,
    Policy,
)
from streamdecisionbench.scoring.pairs import compose
from streamdecisionbench.scoring.policy_answers import Answers
from streamdecisionbench.scoring.policy_replay import PolicyReplay
from streamdecisionbench.scoring.policy_score import score_policy
from streamdecisionbench.scoring.result import Result
from streamdecisionbench.scoring.score import score_timelines
from tests.scoring.policies import kit, plain_policy
from tests.scoring.policies.kit import Case

pytestmark = pytest.mark.slow

EXACT = 1e-12
MANY = settings(max_examples=100, deadline=None)
SOME = settings(max_examples=60, deadline=None)
METRICS = (*CLASSES, "segment")


def judged(case: Case, interval: float) -> dict[str, float]:
    return plain_policy.shares(
        case.policy, case.voices, interval, changed=case.changed, fallback=case.fallback
    )


def scored(case: Case, **options: float) -> Result:
    given_ = {"interval": case.interval, **options}
    return score_policy(case.policy, case.answers, setting=case.setting, **given_)  # type: ignore[arg-type]


def difference(shares: Shares, judge: dict[str, float]) -> float:
    found = {**shares.classes(), "segment": shares.segment_in_force}
    return max(abs(found[name] - judge[name]) for name in METRICS)


@MANY
@given(st.one_of(kit.tied(), kit.loose()))
def test_at_an_interval_exact_equals_plain(case: Case) -> None:
    found = scored(case)
    assert difference(found.overall.at_interval, judged(case, case.interval)) < EXACT


@MANY
@given(kit.loose())
def test_counts_are_those_of_the_plain_walk(case: Case) -> None:
    walk = plain_policy.walk(case.policy, case.voices, case.interval, changed=case.changed)
    counts = scored(case).counts
    assert counts.requests == tuple(walk.sent)
    assert sum(counts.cancelled) == walk.cancelled
    assert sum(counts.withheld) == walk.withheld
    assert counts.held_back == walk.held_back
    assert counts.expiries == judged(case, case.interval)["expiries"]
    for k, taken in enumerate(counts.taken):
        assert taken == sum(h.component == k for h in walk.held)


@SOME
@given(st.one_of(kit.tied(7), kit.loose(10)), st.sampled_from([Bounds(), Bounds(0.7, 3, "linear")]))
def test_integrated_exact_equals_dense_evaluation_between_crossings(
    case: Case, bounds: Bounds
) -> None:
    """Inside every piece the judge's shares are a straight line in c, and its area is the integral."""
    found = score_policy(case.policy, case.answers, bounds=bounds, setting=case.setting)
    tick = found.parts[0].tick
    cuts = crossings(found.trajectory(found.bounds))
    assert (cuts[0], cuts[-1]) == pytest.approx((tick / bounds.high, tick / bounds.low))
    total = dict.fromkeys(METRICS, 0.0)
    for a, b in pairwise(cuts):
        if b - a < 1e-10 * b:
            continue
        places = [a + (b - a) * x for x in (0.1, 0.5, 0.9)]
        first, middle, last = (judged(case, tick / c) for c in places)
        for name in METRICS:
            beta = (last[name] - first[name]) / (places[2] - places[0])
            alpha = first[name] - beta * places[0]
            assert alpha + beta * places[1] == pytest.approx(middle[name], abs=1e-9)
            total[name] += area(alpha, beta, a, b, bounds, tick)
    assert difference(found.overall.integrated, total) < 1e-9


def crossings(sweep: Trajectory) -> list[float]:
    """Every scale at which a piece comes or goes, or one of its ends passes a release."""
    cut = stretches_of(sweep, by_step(sweep.references))
    return sorted({*cut.low.tolist(), *cut.high.tolist()})


def area(alpha: float, beta: float, a: float, b: float, bounds: Bounds, tick: float) -> float:
    if bounds.weighting == "log":
        return (alpha * math.log(b / a) + beta * (b - a)) / math.log(bounds.high / bounds.low)
    both = alpha * (1 / a - 1 / b) + beta * math.log(b / a)
    return both * tick / (bounds.high - bounds.low)


@SOME
@given(kit.loose(), st.lists(st.floats(0.5, 8), min_size=1, max_size=8))
def test_the_curve_is_the_score_at_every_interval(case: Case, at: list[float]) -> None:
    curve = scored(case).curve(metrics=("in_force", "no_decision"))
    for interval in at:
        judge = judged(case, interval)
        if any(np.min(np.abs(line.intervals / interval - 1)) < 1e-9 for line in curve.values()):
            continue
        right = judge["current_correct"] + judge["outdated_correct"]
        assert float(curve["in_force"](interval)) == pytest.approx(right, abs=1e-10)
        assert float(curve["no_decision"](interval)) == pytest.approx(
            judge["no_decision"], abs=1e-10
        )


@SOME
@given(kit.loose())
def test_parts_that_do_nothing_give_the_plain_score_exactly(case: Case) -> None:
    """Gate 0, no expiry, debounce 1, every state: not a digit differs from `sdb score`."""
    policy = Policy(gate=ConfidenceGate(0.0), debounce=Debounce(1), dispatch=Dispatch("every"))
    voice = kit.answers(case.voices[0], "one")
    found = score_policy(policy, [replace(voice, confidence=None)], interval=case.interval)
    plain = score_timelines(voice.parts, interval=case.interval)
    assert found.overall.at_interval == plain.overall.at_interval
    assert found.overall.integrated == plain.overall.integrated
    assert found.overall.oracle == pytest.approx(plain.overall.oracle, abs=EXACT)


class Covered(PolicyReplay):
    """Where there is a closed form, it is not used."""

    def _closed_form(self) -> None:
        return None


@SOME
@given(kit.loose())
def test_splitting_at_crossings_equals_the_closed_form(case: Case) -> None:
    """What has a closed form may be covered as well; both give the same."""
    policy = Policy(gate=ConfidenceGate(0.5))
    voice = kit.answers(case.voices[0], "one")
    closed = score_policy(policy, [voice], interval=case.interval)
    played = Covered(policy, [voice])
    covered = shares_over(played.sweep(Bounds()), [OverPaces(Bounds(), played.flat.tick)])[0][0]
    for name, value in zip(CLASSES, covered.tolist(), strict=False):
        assert getattr(closed.overall.integrated, name) == pytest.approx(value, abs=EXACT)


@SOME
@given(kit.loose(), st.sampled_from(["freshest", "lag_one", "late_override"]))
def test_a_cascade_that_always_asks_is_the_pair(case: Case, rule: str) -> None:
    parts = [nominal(v.part) for v in (case.voices * 2)[:2]]
    policy = Policy(cascade=Cascade(("one", "two"), rule=rule))
    found = score_policy(
        policy, [Answers(p.episode_id, [p]) for p in parts], interval=case.interval
    )
    pair = compose([parts[0]], [parts[1]], rule, case.interval)
    for mine, theirs in (
        (found.overall.at_interval, pair.overall.at_interval),
        (found.overall.integrated, pair.overall.integrated),
    ):
        judge = {**theirs.classes(), "segment": theirs.segment_in_force}
        assert difference(mine, judge) < EXACT
    assert found.counts.taken == (pair.counts.fast_accepted, pair.counts.slow_accepted)


def nominal(part: Timeline) -> Timeline:
    return replace(part, release=np.arange(part.n) * part.tick)


@SOME
@given(kit.loose())
def test_an_infinitely_strict_gate_never_decides(case: Case) -> None:
    strict = replace(case.policy, gate=ConfidenceGate(math.inf))
    found = score_policy(strict, case.answers, interval=case.interval, setting=case.setting)
    for shares in (found.overall.at_interval, found.overall.integrated):
        assert shares.no_decision == pytest.approx(1, abs=EXACT)
        assert shares.in_force == 0


@SOME
@given(kit.loose(), st.floats(0.1, 9))
def test_expiring_into_nothing_never_adds_correct_time(case: Case, after: float) -> None:
    without = replace(case.policy, expire=Expire())
    short = replace(case.policy, expire=Expire(after))
    one, two = (
        score_policy(
            p, case.answers, interval=case.interval, setting=replace(case.setting, fallback={})
        )
        for p in (without, short)
    )
    assert two.in_force <= one.in_force + EXACT
    assert two.log_auc <= one.log_auc + EXACT
    assert two.overall.at_interval.no_decision >= one.overall.at_interval.no_decision - EXACT


@SOME
@given(st.one_of(kit.tied(), kit.loose()))
def test_identity_and_its_generalisation(case: Case) -> None:
    """A = C·U_cur + λ always; C = O where acceptance does not look at what was answered."""
    level = scored(case).overall
    for shares in (level.at_interval, level.integrated):
        assert sum(shares.classes().values()) == pytest.approx(1, abs=EXACT)
        product = 0.0 if shares.u_current is None else shares.oracle * shares.u_current
        assert shares.in_force == pytest.approx(product + shares.outdated_correct, abs=EXACT)
    perfect = [
        plain_policy.Voice(replace(v.part, predicted=v.part.reference), v.confidence)
        for v in case.voices
    ]
    best = judged(
        Case(case.policy, perfect, case.interval, case.changed, case.fallback), case.interval
    )
    right = best["current_correct"] + best["outdated_correct"]
    assert level.oracle == pytest.approx(right, abs=EXACT)
    if case.policy.debounce.agree == 1 and case.fallback is None:
        assert level.oracle == pytest.approx(level.current, abs=EXACT)
        assert level.oracle_integrated == pytest.approx(level.integrated.oracle, abs=1e-9)
    # As documented: what looking at answers gained or lost is (C − O)·U_cur.
    now = level.at_interval
    if now.u_current is not None:
        looked = (level.current - level.oracle) * now.u_current
        product = level.oracle * now.u_current + now.outdated_correct
        assert level.in_force == pytest.approx(product + looked, abs=EXACT)


@SOME
@given(st.lists(kit.loose(8), min_size=2, max_size=3))
def test_scenarios_do_not_touch_each_other(cases: list[Case]) -> None:
    """Scenarios of different lengths under one policy: scores are those of each alone."""
    policy = replace(cases[0].policy, dispatch=Dispatch("one-at-a-time"), cascade=None)
    voices = [
        replace(
            kit.answers(c.voices[0], "one"), parts=[replace(c.voices[0].part, episode_id=f"s{k}")]
        )
        for k, c in enumerate(cases)
    ]
    confidence = {
        way: [v.confidence[way][0] for v in voices if v.confidence] for way in ("min", "product")
    }
    together = score_policy(policy, [Answers("all", [v.parts[0] for v in voices], confidence)])
    for k, voice in enumerate(voices):
        alone = score_policy(policy, [voice]).overall
        level = together.by_scenario[f"s{k}"]
        for name in CLASSES:
            for one, two in (
                (level.at_interval, alone.at_interval),
                (level.integrated, alone.integrated),
            ):
                assert getattr(one, name) == pytest.approx(getattr(two, name), abs=EXACT)


def test_recordings_without_confidences_are_refused_by_name() -> None:
    part = kit.timeline([0.3, 0.3], [0, 1], [0, 1])
    mute = Answers("mute", [part])
    with pytest.raises(InputError, match=r"mute: its answers carry no confidences.*\[gate\]"):
        score_policy(Policy(gate=ConfidenceGate(0.5)), [mute])
    unsure = Policy(cascade=Cascade(("a", "b"), "when-unsure", 0.5))
    sure = Answers("sure", [part], {"min": [np.ones(2)], "product": [np.ones(2)]})
    with pytest.raises(InputError, match="mute: its answers carry no confidences"):
        score_policy(unsure, [mute, sure])
    assert score_policy(unsure, [sure, mute]).counts.escalations == 0
    needs_none = Policy(gate=ConfidenceGate(0.0), expire=Expire(3.0))
    assert score_policy(needs_none, [mute]).in_force == pytest.approx(3.4 / 4, abs=EXACT)


def test_answers_that_were_never_recorded_are_named_when_a_policy_needs_them() -> None:
    part = kit.timeline([0.3, math.inf, 0.3], [0, 1, 1], [0, -1, 1])
    with pytest.raises(
        InputError, match="x t=1: at 2 s this policy sends the state to component 1"
    ):
        score_policy(Policy(), [Answers("one", [part])])
