"""What would help a pair or a policy is what a recording rewritten by hand scores, and is never guessed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.analysis.bootstrap import Sampling
from streamdecisionbench.analysis.choose import Terms, choice_lines, choice_table, choose
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.scoring.counterfactual import BOTH, INSTANT, RIGHT, Counterfactual
from streamdecisionbench.scoring.pairs import compose
from streamdecisionbench.scoring.policy_score import score_policy
from streamdecisionbench.scoring.policy_tables import would_help_line
from tests.scoring import plain_pairs
from tests.scoring.policies import kit, plain_policy
from tests.scoring.test_pairs import duos, intervals, rules

EXACT = 1e-12
MANY = settings(max_examples=60, deadline=None)


def rewritten(part: Timeline, change: str) -> Timeline:
    """By hand: a new timeline with latencies of 0, with the reference's answers, or with both."""
    latency = [0.0] * part.n if change != RIGHT else part.latency.tolist()
    said = part.predicted if change == INSTANT else part.reference
    return Timeline(
        part.episode_id, part.family, part.tick, part.release.copy(), np.array(latency),
        part.reference.copy(), np.array(said.tolist()), rhythm=part.rhythm,
    )  # fmt: skip


@MANY
@given(duos(12), rules, intervals)
def test_a_changed_pair_is_the_plain_score_of_rewritten_recordings(
    duo: tuple[Timeline, Timeline], rule: str, interval: float
) -> None:
    found = compose([duo[0]], [duo[1]], rule, interval)
    changed = found.would_help()
    assert len(changed) == 9
    for one in changed:
        members = [
            rewritten(part, one.change) if name in one.members else part
            for name, part in zip(("fast", "slow"), duo, strict=True)
        ]
        shares = plain_pairs.shares(members[0], members[1], interval, rule)
        by_hand = shares["current_correct"] + shares["outdated_correct"]
        assert one.in_force == pytest.approx(by_hand, abs=EXACT)
        again = compose([members[0]], [members[1]], rule, interval)
        assert one.in_force == pytest.approx(again.in_force, abs=EXACT)
        assert one.gain == pytest.approx(again.in_force - found.in_force, abs=EXACT)


@MANY
@given(kit.loose())
def test_a_changed_policy_is_the_score_of_rewritten_recordings(case: kit.Case) -> None:
    answers = case.answers
    found = score_policy(case.policy, answers, interval=case.interval, setting=case.setting)
    changed = found.would_help()
    assert len(changed) == 3 * (len(answers) + (len(answers) > 1))
    for one in changed:
        members = [
            replace(own, parts=[rewritten(p, one.change) for p in own.parts])
            if own.name in one.members
            else own
            for own in answers
        ]
        again = score_policy(case.policy, members, interval=case.interval, setting=case.setting)
        assert one.in_force == pytest.approx(again.in_force, abs=EXACT)
        assert one.gain == pytest.approx(again.in_force - found.in_force, abs=EXACT)
        # The plain walk has no order for requests that are caused, sent and answered at one instant.
        if not case.policy.when_unsure or one.change == RIGHT:
            voices = [
                replace(voice, part=own.parts[0])
                for voice, own in zip(case.voices, members, strict=True)
            ]
            plain = plain_policy.shares(
                case.policy, voices, case.interval, changed=case.changed, fallback=case.fallback
            )
            assert one.in_force == pytest.approx(
                plain["current_correct"] + plain["outdated_correct"], abs=EXACT
            )


REFERENCE = np.repeat(np.arange(20), 3).tolist()


def _recording(error: float, latency: float, seed: int) -> list[Timeline]:
    rng = np.random.default_rng(seed)
    return [
        kit.timeline(
            (latency * rng.uniform(0.8, 1.2, 60)).tolist(),
            REFERENCE,
            [y if rng.random() > error else 99 for y in REFERENCE],
            name=f"s{k}",
        )
        for k in range(4)
    ]


RUNS = {"quick": _recording(0.2, 0.05, 1), "careful": _recording(0.0, 1.6, 2)}


def test_latency_of_a_slow_member_is_named_where_it_matters() -> None:
    """A wrong fast answer in force is 'judgment', although a faster slow member would replace it."""
    found = choose(RUNS, 2.0, terms=Terms(sampling=Sampling(resamples=200), policies=False))
    assert found.best.members == ("quick", "careful")
    assert found.best.lost_to_latency < 0.05  # what the classes say
    faster = [replace(p, latency=p.latency / 10) for p in RUNS["careful"]]
    assert found.best.rule is not None
    gained = compose(RUNS["quick"], faster, found.best.rule, 2.0).in_force
    assert gained > found.best.in_force.value + 0.1
    lines = " ".join(choice_lines(found))
    assert "What limits it" not in lines
    assert "What would help most: careful instant, +" in lines
    instant = next(c for c in found.would_help if c.members == ("careful",) and c.change == INSTANT)
    assert instant.in_force >= gained - EXACT
    # Nor does the table print a share of latency for the pair.
    table = choice_table(found, 10)
    columns = [column.key or column.name for column in table.columns]
    for row in table.rows:
        if "+" in str(row[columns.index("candidate")]):
            assert row[columns.index("lost_to_latency")] is None


def test_a_component_alone_keeps_its_classes() -> None:
    terms = Terms(sampling=Sampling(resamples=200), policies=False, pairs=False)
    found = choose(RUNS, 2.0, terms=terms)
    assert found.would_help == []
    assert any("What limits it" in line for line in choice_lines(found))


def test_the_sentence_names_the_largest_gain_of_one_change() -> None:
    found = [
        Counterfactual(("a",), INSTANT, 0.70, 0.10),
        Counterfactual(("a",), RIGHT, 0.75, 0.15),
        Counterfactual(("a",), BOTH, 0.99, 0.39),
        Counterfactual(("b",), INSTANT, 0.80, 0.20),
        Counterfactual(("b",), RIGHT, 0.59, -0.01),
        Counterfactual(("a", "b"), INSTANT, 0.85, 0.25),
        Counterfactual(("a", "b"), RIGHT, 0.9, 0.3),
        Counterfactual(("a", "b"), BOTH, 1.0, 0.4),
    ]
    assert would_help_line(found) == (
        "What would help most: b instant, +20.0 points (to 80.0 %). Also replayed: a instant +10.0,"
        " a always right +15.0, b always right -1.0, both instant +25.0, both always right +30.0."
    )


@st.composite
def _none_helps(draw: st.DrawFn) -> list[Counterfactual]:
    gain = draw(st.floats(-0.5, 0.0004))
    return [Counterfactual(("a",), change, 0.5 + gain, gain) for change in (INSTANT, RIGHT, BOTH)]


@given(_none_helps())
def test_no_gain_is_called_none(found: list[Counterfactual]) -> None:
    assert would_help_line(found).startswith("No change to a single member would help")
