"""Spells, delays, changes and costs of policies against the event-by-event judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.kernel.overlaps import stretches_of
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.pair_trajectory import (
    pair_trajectory,
    pair_trajectory_over,
)
from streamdecisionbench.kernel.trajectory import by_step
from streamdecisionbench.policies.cost_rules import (
    EQUAL,
    Act,
    AgePenalty,
    Costs,
    Pair,
    Section,
)
from streamdecisionbench.policies.policy_file import (
    Cascade,
    Policy,
)
from streamdecisionbench.scoring.error_costs import (
    PathMeasures,
    change_measures,
    charge,
    path_measures,
    path_measures_along,
    spell_measures,
)
from streamdecisionbench.scoring.policy_answers import Answers, Setting
from streamdecisionbench.scoring.policy_replay import PolicyReplay
from streamdecisionbench.scoring.policy_score import score_policy
from tests.scoring.costs import plain_costs
from tests.scoring.policies import kit, plain_policy
from tests.scoring.policies.kit import Case

pytestmark = pytest.mark.slow

EXACT, INTEGRATED = 1e-10, 1e-9
"""Weights go up to 20, so the first is 1e-12 of what is added up."""
MANY = settings(max_examples=100, deadline=None)
SOME = settings(max_examples=30, deadline=None)
FEW = settings(max_examples=15, deadline=None)

thetas = st.sampled_from([0.0, 0.5, 2.0, 3.7])
ACT = Act("one", {"route": "1"}, late=2.0, missed=3.0, wrongly=5.0, twice=7.0)
PRICED = Costs(
    "own",
    default=Section(
        no_decision=0.5,
        fields={"route": 2.0},
        pairs=(Pair("route", "1", "2", 20.0),),
        age=AgePenalty("linear", per_s=0.5),
        acts=(ACT,),
    ),
)


def named(case: Case) -> tuple[list[Answers], Setting]:
    """As recordings have it: one numbering for all that is said, and what each id says."""
    values = [{"route": str(x)} for x in range(8)]
    found = [replace(one, parts=[replace(one.parts[0], values=values)]) for one in case.answers]
    return found, case.setting


def under(
    policy: Policy,
    answers: list[Answers],
    interval: float,
    bounds: Bounds,
    setting: Setting | None = None,
) -> PathMeasures:
    played = PolicyReplay(policy, answers, setting)
    path, sweep = played.trajectory(interval), played.sweep(bounds)
    return path_measures_along(path, sweep, answers[0].parts, bounds)


def course(case: Case, bounds: Bounds) -> PathMeasures:
    answers, setting = named(case)
    return under(case.policy, answers, case.interval, bounds, setting)


def walker(case: Case) -> plain_costs.Walker:
    """Stretches of the judge's walk: what is in force, expiries and fallbacks included."""
    part = case.voices[0].part
    releases = [float(r) for r in part.release]

    def stretches(interval: float) -> list[plain_costs.Stretch]:
        c = part.tick / interval
        held = plain_policy.walk(case.policy, case.voices, interval, changed=case.changed).held
        ends = [*(h.begin for h in held[1:]), part.horizon][: len(held)]
        taken: list[tuple[float, int, int]] = []
        for own, until in zip(held, ends, strict=True):
            taken.append((own.begin, own.source, own.decision))
            lapses = max(releases[own.source] + c * case.policy.expire.after_s, own.begin)
            if lapses < until and case.fallback is not None:
                taken.append((lapses, own.source, case.fallback))
            elif lapses < until:
                taken.append((lapses, plain_costs.NONE, plain_costs.NONE))
        return plain_costs.stretches(releases, part, taken, c)

    return stretches


def judge(case: Case, theta: float) -> Callable[[float], dict[str, float]]:
    walk = walker(case)
    y = case.voices[0].part.reference
    segment = np.cumsum(np.append(False, y[1:] != y[:-1]))

    def cost(reference: int, decision: int) -> float:
        if decision == plain_costs.NONE:
            return 0.5
        return 20.0 if (reference, decision) == (1, 2) else 2.0

    def measure(interval: float) -> dict[str, float]:
        found = walk(interval)
        done = plain_costs.acts(
            found, lambda d: "one" if d == 1 else None, lambda i: int(segment[i]), np.inf
        )
        acts = sum(done[k] * getattr(ACT, k) for k in ("late", "missed", "wrongly", "twice"))
        age = plain_costs.penalty_rate(found, lambda x: 0.5 * x * x / 2)
        return {
            **plain_costs.measures(found, theta),
            **plain_costs.waiting(found),
            **plain_costs.edits(found, interval),
            "cost": plain_costs.cost_rate(found, cost) + age,
            "acts": acts / plain_costs.observed(found),
        }

    return measure


def at_interval(found: PathMeasures, theta: float) -> dict[str, float]:
    spells, changes = spell_measures(found, theta).overall, change_measures(found).overall
    edits, rates = changes.decision_changes, charge(found, PRICED).overall.at_interval
    return {
        "mean_age": spells.mean_age_s, "beyond": spells.beyond_share, "longest": spells.longest_s,
        "count": spells.count, "long": spells.long_share, "wrong": spells.wrong_share,
        "never": changes.never_right, "waited": changes.waited_s or 0.0, "needed": edits.needed,
        "useless": edits.useless, "reversed": edits.reversed_in_a_tick,
        "cost": rates.wrong + rates.age, "acts": rates.acts,
    }  # fmt: skip


def over_bounds(found: PathMeasures, theta: float) -> dict[str, float]:
    spells = spell_measures(found, theta).overall.integrated
    changes = change_measures(found).overall
    edits, waits = changes.decision_changes.integrated, changes.integrated
    rates = charge(found, PRICED).overall.integrated
    return {
        "mean_age": spells.mean_age_s, "beyond": spells.beyond_share,
        "count": spells.count, "long": spells.long_share,
        "wrong": float(found.over.spells.wrong_share[0]),
        "never": waits.never_right, "waited": waits.waited_s, "needed": edits.needed,
        "useless": edits.useless, "reversed": edits.reversed_in_a_tick,
        "cost": rates.wrong + rates.age, "acts": rates.acts,
    }  # fmt: skip


def crossings(case: Case, bounds: Bounds, theta: float) -> list[float]:
    """Where two moments meet or are θ or a tick apart, from lines through the judge's own walks."""
    walk, tick = walker(case), case.voices[0].part.tick
    low, high = tick / bounds.high, tick / bounds.low
    score = score_policy(case.policy, case.answers, bounds=bounds, setting=case.setting)
    sweep = score.trajectory(score.bounds)
    cut = stretches_of(sweep, by_step(sweep.references))
    cuts = sorted({low, high, *cut.low.tolist(), *cut.high.tolist()})
    out = [c for c in cuts if low < c < high]
    for a, b in pairwise(cuts):
        if b - a < 1e-9 * b:
            continue
        c1, c2 = a + (b - a) / 3, a + (b - a) * 2 / 3
        one, two = ([s.begin * c for s in walk(tick / c)] for c in (c1, c2))
        assert len(one) == len(two), "something changed order inside a window"
        lines = []
        for x, y in zip(one, two, strict=True):
            slope = (y - x) / (c2 - c1)
            lines.append((x - slope * c1, slope))
        lines.append((case.voices[0].part.horizon, 0.0))
        for a1, b1 in lines:
            for a2, b2 in lines:
                for fixed, moving in ((0.0, 0.0), (0.0, theta), (tick * (1 + 1e-9), 0.0)):
                    slope = b1 - b2 - moving
                    if abs(slope) > 1e-12 and a < (c := (fixed - (a1 - a2)) / slope) < b:
                        out.append(c)
    return out


@MANY
@given(st.one_of(kit.tied(), kit.loose()), thetas)
def test_at_any_interval(case: Case, theta: float) -> None:
    found = at_interval(course(case, Bounds(case.interval * 0.99, case.interval * 1.01)), theta)
    want = judge(case, theta)(case.interval)
    assert found == pytest.approx(want, abs=EXACT, rel=EXACT)


@FEW
@given(kit.loose(5), thetas, st.sampled_from(["log", "linear"]))
def test_over_bounds(case: Case, theta: float, weighting: str) -> None:
    bounds = Bounds(0.7, 4.0, weighting)
    found = over_bounds(course(case, bounds), theta)
    tick = case.voices[0].part.tick
    cuts = crossings(case, bounds, theta)
    want = plain_costs.mean_over(judge(case, theta), cuts, tick, 0.7, 4.0, weighting)
    want.pop("longest")  # given at one pace only
    assert found == pytest.approx(want, abs=INTEGRATED, rel=INTEGRATED)


@SOME
@given(st.one_of(kit.tied(), kit.loose()))
def test_equal_costs_and_spells_are_what_the_score_leaves(case: Case) -> None:
    answers, setting = named(case)
    score = score_policy(case.policy, answers, interval=case.interval, setting=setting)
    found = course(case, Bounds())
    cost = charge(found, EQUAL).overall
    assert cost.at_interval.total == pytest.approx(1 - score.in_force, abs=EXACT)
    assert cost.integrated.total == pytest.approx(1 - (score.log_auc or 0.0), abs=INTEGRATED)
    spells = spell_measures(found, 0.0).overall
    assert spells.beyond_share == pytest.approx(1 - score.in_force, abs=EXACT)


@SOME
@given(kit.loose(10), thetas, st.sampled_from(["freshest", "lag_one", "late_override"]))
def test_plain_policies_are_courses_of_recordings_and_pairs(
    case: Case, theta: float, rule: str
) -> None:
    answers, _ = named(case)
    one = under(Policy(), answers[:1], case.interval, Bounds())
    plain = path_measures(answers[0].parts, case.interval, Bounds())
    assert at_interval(one, theta) == pytest.approx(at_interval(plain, theta), abs=EXACT)
    assert over_bounds(one, theta) == pytest.approx(over_bounds(plain, theta), abs=INTEGRATED)
    if len(answers) > 1:
        both = Policy(cascade=Cascade(("one", "two"), rule=rule))
        two = under(both, answers[:2], case.interval, Bounds())
        duo = (answers[0].parts, answers[1].parts, rule)
        path, sweep = pair_trajectory(*duo, case.interval), pair_trajectory_over(*duo, Bounds())
        pair = path_measures_along(path, sweep, answers[0].parts, Bounds())
        assert at_interval(two, theta) == pytest.approx(at_interval(pair, theta), abs=EXACT)
        assert over_bounds(two, theta) == pytest.approx(over_bounds(pair, theta), abs=INTEGRATED)
