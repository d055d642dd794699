"""What a drop is made of: causes, scenarios and changes add up to it, as defined and as shown."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.analysis.flips import (
    Causes,
    Loss,
    cause_line,
    cause_words,
    causes_between,
    loss_line,
)
from streamdecisionbench.gate.verdict import (
    Limits,
    Streams,
    gate_streams,
    gate_timelines,
)
from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CAUSES,
)
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.scoring.score import score_timelines
from tests.gate.test_gate import SAMPLING, pair
from tests.kernel import plain
from tests.kernel.test_exact import bounds, intervals, recordings

EXACT = 1e-12
MANY = settings(max_examples=100, deadline=None)


def released_anew(timeline: Timeline, seed: int) -> Timeline:
    """The same states, answered differently and at other times."""
    rng = np.random.default_rng(seed)
    latency = rng.permutation(timeline.latency) * rng.uniform(0.2, 3)
    return replace(timeline, latency=latency, predicted=rng.permutation(timeline.predicted))


@MANY
@given(recordings(most=14), recordings(most=14), intervals, bounds, st.integers(0, 2**32))
def test_causes_scenarios_and_changes_add_up_to_the_drop(
    one: Timeline, two: Timeline, interval: float, limits: tuple[float, float], seed: int
) -> None:
    old = [replace(one, episode_id="a", family="x"), replace(two, episode_id="b", family="x")]
    old.append(replace(one, episode_id="c", family="y"))
    new = [released_anew(part, seed + k) for k, part in enumerate(old)]
    weight = {"a": 0.25, "b": 0.25, "c": 0.5}
    over = Bounds(*limits)
    scores = [score_timelines(side, interval=interval, bounds=over) for side in (old, new)]
    for at in (None, interval):
        found = causes_between(*scores, over, at)
        was, now = (s.log_auc if at is None else s.in_force for s in scores)
        assert found.drop == pytest.approx(was - now, abs=EXACT)
        assert sum(found.causes.values()) == pytest.approx(-found.drop, abs=EXACT)
        for losses in (found.scenarios, found.changes):
            assert sum(loss.drop for loss in losses) == pytest.approx(found.drop, abs=EXACT)
            for cause, value in found.causes.items():
                parts = [loss.causes[cause] for loss in losses]
                assert sum(parts) == pytest.approx(value, abs=EXACT)
            assert all(a.drop >= b.drop for a, b in pairwise(losses))
        edges = [sum(map(int, np.diff(part.reference) != 0)) + 1 for part in old]
        assert Counter(loss.scenario for loss in found.changes) == dict(
            zip("abc", edges, strict=True)
        )
    # The plain definition: class by class, scenario by scenario.
    for cause, classes in CAUSES.items():
        lost = [
            sum(
                weight[part.episode_id] * plain.shares(part, interval).get(name, 0.0)
                for part in side
                for name in classes
            )
            for side in (old, new)
        ]
        assert found.causes[cause] == pytest.approx(lost[0] - lost[1], abs=1e-9)


@MANY
@given(st.integers(2, 9), st.booleans(), st.integers(0, 2**32))
def test_causes_of_logs_add_up_to_the_drop(count: int, paired: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [f"call-{k}" for k in range(count)]
    new, old = (
        Streams.of(np.arange(count), rng.uniform(0.1, 9, (count, len(ALL_CLASSES))), 50, names)
        for _ in range(2)
    )
    gate = gate_streams(new, old, limits=Limits(), measure="m", paired=paired)
    assert gate.causes is not None
    assert gate.causes.drop == pytest.approx(gate.drop.value, abs=EXACT)
    assert sum(gate.causes.causes.values()) == pytest.approx(-gate.drop.value, abs=EXACT)
    losses = gate.causes.scenarios
    assert {loss.scenario for loss in losses} == (set(names) if paired else set())
    if paired:
        assert sum(loss.drop for loss in losses) == pytest.approx(gate.drop.value, abs=EXACT)
        assert losses[0].before == pytest.approx(
            old.right[names.index(losses[0].scenario)] / old.judged[names.index(losses[0].scenario)]
        )


@given(st.floats(-0.6, 0.6), st.floats(-0.6, 0.6), st.floats(-0.6, 0.6))
def test_figures_that_are_shown_add_up(latency: float, judgment: float, both: float) -> None:
    causes = {"latency": latency, "judgment": judgment, "both": both}
    line = cause_line(Causes(-latency - judgment - both, causes))
    word, whole, parts = re.fullmatch(r"(drop|gain) ([\d.]+) points: (.*)", line).groups()  # type: ignore[union-attr]
    shown = {
        cause: float(value.replace("−", "-"))
        for cause, value in (part.rsplit(" ", 1) for part in parts.split(", "))
    }
    change = float(whole) if word == "gain" else -float(whole)
    assert sum(shown.values()) == pytest.approx(change, abs=1e-9)
    assert shown.keys() >= {"latency", "judgment"}
    for cause, value in causes.items():
        assert shown.get(cause, 0.0) == pytest.approx(100 * value, abs=0.1 + 1e-9)
    assert "-0.0" not in line
    assert "−0.0" not in line


def test_a_purely_slower_release_says_latency() -> None:
    """Every decision as before, all right, four times as late: every point is latency's."""
    rng = np.random.default_rng(1)
    _, old = pair(rng, 0.0)
    old = [replace(part, predicted=part.reference, latency=np.full(part.n, 0.05)) for part in old]
    new = [replace(part, latency=np.full(part.n, 0.4)) for part in old]
    gate = gate_timelines(new, old, limits=Limits(1.0), interval=2.0, sampling=SAMPLING)
    assert gate.causes is not None
    told = replace(gate.causes, p50=(0.05, 0.4))
    # A reference holds for three states of 2 s, so 0.35 of 6 s are lost after each of 19 changes of 20;
    # before the first answer nothing is in force, which is latency too.
    assert cause_line(told) == "drop 5.8 points: latency −5.8, judgment 0.0; p50 0.05 → 0.40 s"
    assert gate.causes.drop == pytest.approx(0.35 / 6, abs=EXACT)
    assert cause_words(gate.causes.scenarios[0]) == "latency −0.7"


def test_the_sentence_of_a_drop() -> None:
    found = Causes(0.104, {"latency": -0.1012, "judgment": -0.0028, "both": 0.0}, (0.05, 0.4))
    said = "drop 10.4 points: latency −10.1, judgment −0.3; p50 0.05 → 0.40 s"
    assert cause_line(found) == said
    better = Causes(-0.02, {"latency": 0.01, "judgment": 0.005, "both": 0.005})
    assert cause_line(better) == "gain 2.0 points: latency +1.0, judgment +0.5, both +0.5"
    loss = Loss("support_a", 12, "recorder record → pause", 0.98, 0.661, 0.005, {"latency": -0.005})
    assert loss_line(loss) == (
        "support_a step 12 (recorder record → pause): right 98.0 → 66.1 % of its time,"
        " −0.5 points (latency −0.5)"
    )
