"""Policies in a choice: the same rule for all, numbers judged where they were not chosen."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamdecisionbench.analysis.bootstrap import Sampling
from streamdecisionbench.analysis.candidates import CandidatePool, halve
from streamdecisionbench.analysis.choose import (
    MIN_SAVING,
    Budget,
    Candidate,
    Choice,
    Terms,
    choice_lines,
    choice_table,
    could_be_recommended,
    decide,
    holds,
)
from streamdecisionbench.analysis.token_cost import Cost, Tokens
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.levels import family_weights
from streamdecisionbench.policies.policy_file import (
    Cascade,
    ConfidenceGate,
    Policy,
    policy_of,
)
from streamdecisionbench.recording.prices import Price
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.policy_answers import Answers
from streamdecisionbench.scoring.policy_score import score_policy
from tests.analysis.kit import timeline
from tests.cli.command import record_simulated, sdb
from tests.report.kit import in_haste

pytestmark = pytest.mark.slow

QUICK = Terms(sampling=Sampling(resamples=300))
STEPS = 60


def answers(
    name: str, error: float, latency: float, *, seed: int, tells: float | None, price: float
) -> Answers:
    """`tells`: how much surer it is of right answers than of wrong ones; None: no confidences."""
    rng = np.random.default_rng(seed)
    parts, sure = [], []
    for k in range(4):
        draw = np.random.default_rng(k)  # all components see the same scenarios
        y = np.cumsum(draw.random(STEPS) < 0.25).tolist()
        right = rng.random(STEPS) > error
        said = [a if ok else 99 for a, ok in zip(y, right, strict=True)]
        took = (latency * rng.uniform(0.8, 1.2, STEPS)).tolist()
        parts.append(timeline(y, said, took, name=f"s{k}", family="ab"[k % 2]))
        level = 0.5 + (tells or 0.0) * np.where(right, 0.5, -0.5)
        sure.append(np.clip(level + 0.1 * rng.standard_normal(STEPS), 0.01, 0.99))
    confidence = None if tells is None else {"min": sure, "product": sure}
    return Answers(name, parts, confidence, [np.full(STEPS, price)] * 4)


def _cost(each: Answers) -> Cost:
    tokens = Tokens(4 * STEPS, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    total = float(sum(paid.sum() for paid in each.cost or ()))
    return Cost(tokens, Price("p", "m", 1, 1), "USD", "2026-11-01", total, 0.0)


def field(*components: Answers, simulated: tuple[str, ...] = ()) -> CandidatePool:
    return CandidatePool(
        {one.name: one.parts for one in components},
        {one.name: _cost(one) for one in components},
        simulated,
        components,
    )


@cache
def telling() -> tuple[Answers, Answers]:
    """A fast one that knows when it is wrong, and a slow one that is always right."""
    return (
        answers("fast", 0.4, 0.2, seed=1, tells=0.8, price=0.001),
        answers("slow", 0.0, 2.5, seed=2, tells=None, price=0.02),
    )


def by_name(choice: Choice) -> dict[str, Candidate]:
    return {c.name: c for c in choice.candidates}


def test_a_policy_that_pays_is_recommended_with_its_numbers() -> None:
    found = decide(field(*telling()), 4.0, QUICK, listed=True)
    assert found.best.policy is not None
    assert found.best.members == ("fast", "slow")
    lines = choice_lines(found)
    assert lines[0].startswith(f"At 4 s between states, use {found.best.name}: it keeps")
    assert lines[1].startswith(f"As a policy: {found.best.policy_words}. Its numbers were chosen")
    # What it says can be written down as a policy file and scored.
    policy = policy_of(found.best.policy)
    assert score_policy(policy, telling(), interval=4.0).in_force > 0.5
    assert by_name(found)["fast"].in_force.value < found.best.in_force.value - 0.01
    without = Terms(sampling=QUICK.sampling, policies=False)
    assert decide(field(*telling()), 4.0, without).best.policy is None


def test_numbers_are_judged_on_the_half_they_were_not_chosen_on() -> None:
    """Every threshold scored by the scorer, the best of each half taken by hand."""
    fast, slow = telling()
    found = by_name(decide(field(fast, slow), 4.0, QUICK, listed=True))
    one = halve(fast.parts)
    weights = family_weights([p.family for p in fast.parts])
    assert fast.confidence is not None
    every = np.concatenate(list(fast.confidence["min"]))
    levels = sorted(
        {math.ceil(round(x * 100, 7)) / 100 for x in np.quantile(every, np.arange(1, 21) / 21)}
    )
    unsure = next(n for n in found if n.endswith("), when unsure"))
    rule = unsure.split("(")[1].split(")")[0].replace("-", "_")
    both = ("fast", "slow")
    cases = {
        "fast, gated": [(Policy(gate=ConfidenceGate(x)), [fast]) for x in levels],
        unsure: [(Policy(cascade=Cascade(both, "when-unsure", x, rule)), [fast, slow]) for x in levels],
    }  # fmt: skip
    for name, tried in cases.items():
        table = np.array(
            [
                [s.in_force for s in score_policy(p, who, interval=4.0).by_scenario.values()]
                for p, who in tried
            ]
        )
        first = table[np.argmax(table[:, one].mean(axis=1))]
        second = table[np.argmax(table[:, ~one].mean(axis=1))]
        want = float(np.where(one, second, first) @ weights)
        assert found[name].in_force.value == pytest.approx(want, abs=1e-12)
        best = tried[int(np.argmax(table @ weights))][0]
        assert found[name].policy == best.to_json()


def plainly(found: Choice) -> str:
    """The rule in words of its own, over everything the choice lists."""
    able = [c for c in found.candidates if c.within_budget and not c.simulated_pair]
    top = max(c.in_force.value for c in able)
    good = [
        c
        for c in able
        if top - c.in_force.value < max(found.terms.min_gain, 1e-12)
        or c.behind_leader.low <= 0 <= c.behind_leader.high
    ]

    def price(c: Candidate) -> float:
        return math.inf if c.per_hour is None else round(c.per_hour, 12)

    def size(c: Candidate) -> tuple[int, int]:
        return len(c.members), int(c.policy is not None)

    best = min(good, key=lambda c: (price(c), size(c), -round(c.in_force.value, 12)))
    if best.policy is not None:
        plain = [
            c for c in good if size(c) < size(best) and price(best) > price(c) * (1 - MIN_SAVING)
        ]
        if plain:
            best = min(plain, key=lambda c: (size(c), price(c), -round(c.in_force.value, 12)))
    return best.name


@pytest.mark.parametrize("interval", [0.5, 1.0, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("budget", [None, 8.0])
@pytest.mark.parametrize("latency", [0.2, 2.2])
def test_one_rule_decides(interval: float, budget: float | None, latency: float) -> None:
    who = (
        answers("one", 0.3, latency, seed=3, tells=0.5, price=0.004),
        answers("two", 0.05, 3.0, seed=4, tells=0.3, price=0.02),
    )
    terms = Terms(Budget(per_hour=budget), sampling=QUICK.sampling)
    everyone = field(*who)
    try:
        found = decide(everyone, interval, terms, listed=True)
    except InputError:
        assert budget is not None
        return
    assert found.best.name == plainly(found)
    assert budget is None or (found.best.per_hour or 0.0) <= budget
    assert choice_lines(decide(everyone, interval, terms)) == choice_lines(found)


def test_three_components_are_weighed_where_they_were_measured() -> None:
    """The best pairs with a third: worth what the score says, at the price of all three."""
    middle = answers("middle", 0.2, 1.0, seed=9, tells=0.4, price=0.005)
    who = (*telling(), middle)
    found = decide(field(*who), 4.0, QUICK, listed=True)
    three = [c for c in found.candidates if len(c.members) == 3]
    assert {c.members for c in three} == {("fast", "middle", "slow")}
    (plain,) = [c for c in three if c.to_use().to_json().keys() == {"cascade"} and not c.chosen]
    scored = score_policy(plain.to_use(), (who[0], middle, who[1]), interval=4.0)
    assert plain.in_force.value == pytest.approx(scored.in_force, abs=1e-12)
    assert plain.per_1000 == pytest.approx(1000 * (0.001 + 0.005 + 0.02))
    assert found.best.name == plainly(found)
    for terms, simulated in (
        (Terms(pairs=False, sampling=QUICK.sampling), ()),
        (QUICK, ("middle",)),
    ):
        other = decide(field(*who, simulated=simulated), 4.0, terms, listed=True)
        assert not any(len(c.members) == 3 for c in other.candidates)


@pytest.mark.parametrize("seed", range(3))
def test_what_other_terms_recommend_is_in_the_table(seed: int) -> None:
    """By default the table lists whatever a budget or another minimum gain would recommend."""
    who = (
        answers("one", 0.3, 0.2, seed=30 + seed, tells=0.5, price=0.004),
        answers("two", 0.15, 1.5, seed=40 + seed, tells=0.3, price=0.01),
        answers("three", 0.02, 2.5, seed=50 + seed, tells=None, price=0.02),
    )
    everyone, few = field(*who), Sampling(resamples=100)
    listed = {
        c.name
        for c in could_be_recommended(decide(everyone, 2.0, Terms(sampling=few), listed=True))
    }
    assert {"one", "two", "three"} <= listed
    for gain in (0.0, 0.02, 0.05, 0.2):
        for budget in (None, 8.0, 20.0, 40.0):
            terms = Terms(Budget(per_hour=budget), gain, policies=False, sampling=few)
            plain = decide(everyone, 2.0, Terms(policies=False, sampling=few), listed=True)
            could = {c.name for c in could_be_recommended(plain)}
            assert decide(everyone, 2.0, terms).best.name in could


def test_a_policy_must_save_a_tenth_to_be_recommended_for_its_price() -> None:
    """Where answers take longer than the interval, a queue sends less; a little less is not enough."""
    slow = answers("slow", 0.1, 2.4, seed=5, tells=None, price=0.02)
    for interval, saves in ((1.0, True), (2.35, False)):
        found = decide(field(slow), interval, QUICK, listed=True)
        queue = by_name(found).get("slow, one at a time")
        if queue is None:
            continue
        plain = by_name(found)["slow"]
        assert queue.per_hour is not None
        assert plain.per_hour is not None
        much = queue.per_hour <= plain.per_hour * (1 - MIN_SAVING)
        assert much is saves
        assert found.best.name == plainly(found)
        if not much:
            assert found.best.policy is None


def test_intervals_replayed_together_give_what_each_gives_alone() -> None:
    """To the last bit: how many are replayed at once is no part of a choice."""
    intervals, terms = [0.5, 1.9, 7.9], Terms(sampling=Sampling(resamples=40))
    together = field(*telling())
    together.trials.look_ahead(intervals)
    for interval in intervals:
        alone = decide(field(*telling()), interval, terms, listed=True)
        assert decide(together, interval, terms, listed=True) == alone


def test_policies_of_simulations_are_never_recommended() -> None:
    for simulated in (("fast",), ("slow",), ("fast", "slow")):
        found = decide(field(*telling(), simulated=simulated), 4.0, QUICK, listed=True)
        assert not set(found.best.members) & set(simulated) or found.best.policy is None
        assert found.leader.simulated_pair is False
        assert found.simulated_policies
        assert any("Policies of simulations prove nothing" in x for x in choice_lines(found))
        marks = {str(row[1]): row[0] for row in choice_table(found, 50, every=True).rows}
        assert marks[found.best.name] == ">"
        for c in found.candidates:
            if c.policy is not None and set(c.members) & set(simulated):
                assert marks[c.name] == "~"


def test_noise_is_not_recommended() -> None:
    """Confidences that tell nothing: whatever is recommended does not look at them."""
    kept = 0
    for seed in range(20):
        who = answers("one", 0.3, 0.3, seed=100 + seed, tells=0.0, price=0.001)
        kept += decide(field(who), 2.0, QUICK).best.policy is None
    assert kept >= 19


def test_what_changes_nothing_is_no_contender() -> None:
    """Answers that come at once: no queue ever waits, nothing is ever cancelled."""
    quick = answers("quick", 0.3, 0.05, seed=6, tells=None, price=0.001)
    found = decide(field(quick), 2.0, QUICK, listed=True)
    assert {c.name for c in found.candidates} == {"quick", "quick, debounced"}
    assert holds(field(quick), found) == (0.5, 8.0)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    for profile in ("jev", "terra-none"):
        record_simulated(profile, folder / profile, "--families", "support_call_assist")
    return folder


def test_page_and_command_say_the_same(
    recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if these had been measured: then pairs and policies of them may be recommended."""
    monkeypatch.setattr(Recording, "simulated", property(lambda _: False))
    monkeypatch.setattr("streamdecisionbench.report.write_report.can_draw", lambda: False)
    in_haste(monkeypatch, paces=160)
    runs = (recorded / "jev", recorded / "terra-none")
    made = sdb("report", *runs, "--out", tmp_path / "report", "--quiet", "--bounds", "1.8", "2.2")
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    said: list[dict[str, Any]] = json.loads(data)["answers"]
    assert [one["d"] for one in said] == [1.8, 1.9, 2.0, 2.1, 2.2]
    assert said[2]["policy"], "a policy is recommended at 2 s"
    for one in (said[0], said[2]):
        done = sdb("choose", *runs, "--interval", repr(one["d"]), "--json")
        result = json.loads(done.stdout)["result"]
        best = result["best"]
        assert (best["name"], best["members"], best["policy"]) == (
            one["best"], one["members"], one["policy"],
        )  # fmt: skip
        assert best["in_force"]["value"] == one["value"]
        # The command adds over which paces it stays the choice.
        assert result["words"][:-1] == one["lines"]
