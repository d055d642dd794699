"""What docs/reference/costs.md says of the published recordings is what they give, and plain walks agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.policies.cost_file import default_costs
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.table import (
    fixed,
    percent,
)
from streamdecisionbench.scoring.error_costs import (
    ALL_ACTS,
    ActMeasures,
    ChangeMeasures,
    CostRates,
    CostScore,
    PathMeasures,
    SpellMeasures,
    act_measures,
    change_measures,
    charge,
    path_measures,
    spell_measures,
)
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.suite.scenario import Suite
from tests.scoring.costs import plain_costs

pytestmark = pytest.mark.slow

Published = tuple[Suite, dict[str, Recording]]
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "costs.md"
THETA = 4.0


class Found:
    """Everything about one recording at one interval."""

    def __init__(self, course: PathMeasures) -> None:
        self.spells: SpellMeasures = spell_measures(course, THETA).overall
        self.changes: ChangeMeasures = change_measures(course).overall
        self.acts: ActMeasures = act_measures(course, default_costs())[ALL_ACTS].overall
        self.score: CostScore = charge(course, default_costs())
        self.cost: CostRates = self.score.overall.at_interval


ROWS: dict[str, Callable[[Found], str]] = {
    "right, %": lambda f: percent(1 - f.spells.wrong_share),
    "error episodes": lambda f: str(f.spells.count),
    "mean length, s": lambda f: fixed(f.spells.mean_length_s, 1),
    "longest, s": lambda f: fixed(f.spells.longest_s, 1),
    "mean age, s": lambda f: fixed(f.spells.mean_age_s, 2),
    "wrong for longer than 4 s, % of time": lambda f: percent(f.spells.beyond_share),
    "in episodes longer than 4 s, % of time": lambda f: percent(f.spells.long_share),
    "in shorter episodes, % of time": lambda f: percent(f.spells.short_share),
    "median delay after a change, s": lambda f: fixed(f.changes.median_delay_s, 2),
    "95th percentile, s": lambda f: fixed(f.changes.p95_delay_s, 2),
    "never right in time, of 177 changes": lambda f: str(f.changes.never_right),
    "useless changes of the decision": lambda f: str(f.changes.decision_changes.useless),
    "calls answered in time, of 25": lambda f: str(f.acts.in_time),
    "late / missed / wrongly / twice": lambda f: (
        f"{f.acts.late} / {f.acts.missed} / {f.acts.wrongly} / {f.acts.twice}"
    ),
    "cost per second: wrong": lambda f: fixed(f.cost.wrong, 2),
    "age": lambda f: fixed(f.cost.age, 2),
    "one-time actions": lambda f: fixed(f.cost.acts, 2),
    "total": lambda f: fixed(f.cost.total, 2),
}


@pytest.fixture(scope="module")
def found(published: Published) -> dict[tuple[str, float], Found]:
    suite, recordings = published
    return {
        (name, interval): Found(
            path_measures(timelines(recordings[name], suite), interval, Bounds())
        )
        for interval in (1.0, 2.0, 4.0)
        for name in ("astra-low", "jev")
    }


def test_the_table_in_the_documentation(found: dict[tuple[str, float], Found]) -> None:
    page = PAGE.read_text(encoding="utf-8").splitlines()
    for label, shown in ROWS.items():
        row = f"| {label} | " + " | ".join(shown(f) for f in found.values()) + " |"
        assert row in page


def test_the_sentences_in_the_documentation(found: dict[tuple[str, float], Found]) -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    jev, astra = found["jev", 2.0], found["astra-low", 2.0]
    assert jev.spells.long_share > astra.spells.long_share
    assert astra.spells.short_share > jev.spells.short_share
    assert f"{percent(jev.spells.long_share)} % of all time is in episodes longer than 4 s" in text
    assert f"{percent(astra.spells.short_share)} % against" in text
    assert jev.cost.wrong == pytest.approx(astra.cost.wrong, abs=0.005)
    assert astra.cost.total < jev.cost.total
    first, amount = next(iter(jev.score.made_of.items()))
    assert first == "recorder: pause → record"
    assert f"digits on tape ({fixed(100 * amount / jev.cost.wrong, 0)} % of it)" in text
    slow, fast = found["astra-low", 1.0].cost, found["jev", 1.0].cost
    assert slow.wrong + slow.age > fast.wrong + fast.age
    assert slow.total < fast.total


@pytest.mark.parametrize("interval", [0.5, 2.0, 7.3])
def test_the_published_spells_by_a_plain_walk(published: Published, interval: float) -> None:
    suite, recordings = published
    for recording in recordings.values():
        parts = timelines(recording, suite)
        mine = spell_measures(path_measures(parts, interval, Bounds()), THETA).by_scenario
        for part in parts:
            want = plain_costs.measures(plain_costs.walk(part, interval), THETA)
            level = mine[part.episode_id]
            assert level.mean_age_s == pytest.approx(want["mean_age"], rel=1e-12, abs=1e-12)
            assert level.beyond_share == pytest.approx(want["beyond"], abs=1e-12)
            assert level.longest_s == pytest.approx(want["longest"], rel=1e-12, abs=1e-12)
            assert level.count == want["count"]
