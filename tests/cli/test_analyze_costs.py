"""`sdb analyze spells | changes | actions | cost-of-error` and `sdb score --costs`."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.kernel.arrays import Timeline
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.scoring.score import score
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.cli.command import record_simulated, sdb
from tests.scoring.costs import plain_costs

pytestmark = pytest.mark.slow

EQUAL = 'schema = "sdb-costs/1"\n[default]\nwrong = 1.0\nno_decision = 1.0\n'


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two simulated components over two scenarios of two families."""
    folder = tmp_path_factory.mktemp("costs")
    for name in ("jev", "astra-low"):
        record_simulated(name, folder / name, "--scenarios", "support_a,assembly_b")
    return [str(folder / "jev"), str(folder / "astra-low")]


def _json(*arguments: str) -> dict[str, Any]:
    done = sdb(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def _parts(run: str) -> list[Timeline]:
    suite = read_suite(builtin_suite_path())
    return timelines(read_recording(Path(run), suite), suite)


@pytest.mark.parametrize("interval", [0.7, 2.0])
def test_spells_by_scenario_are_those_of_a_plain_walk(runs: list[str], interval: float) -> None:
    document = _json("analyze", "spells", *runs, "--theta", "3", "--interval", str(interval))
    for run in runs:
        found = document["result"][Path(run).name]["by_scenario"]
        assert set(found) == {"support_a", "assembly_b"}
        for part in _parts(run):
            want = plain_costs.measures(plain_costs.walk(part, interval), 3.0)
            mine = found[part.episode_id]
            assert mine["mean_age_s"] == pytest.approx(want["mean_age"], abs=1e-12)
            assert mine["beyond_share"] == pytest.approx(want["beyond"], abs=1e-12)
            assert mine["longest_s"] == pytest.approx(want["longest"], abs=1e-11)
            assert mine["count"] == want["count"]


def test_without_theta_what_lies_beyond_is_all_that_is_wrong(runs: list[str]) -> None:
    document = _json("analyze", "spells", runs[0], "--theta", "0")
    scored = _json("score", runs[0])["recordings"][0]
    result = document["result"]["jev"]
    for level in ("by_family", "by_scenario"):
        for name, found in result[level].items():
            wrong = 1 - scored[level][name]["in_force"]
            assert found["beyond_share"] == pytest.approx(wrong, abs=1e-12)
            over = 1 - scored[level][name]["log_auc"]
            assert found["integrated"]["beyond_share"] == pytest.approx(over, abs=1e-9)


def test_changes_by_scenario_are_those_of_a_plain_walk(runs: list[str]) -> None:
    document = _json("analyze", "changes", *runs)
    for run in runs:
        found = document["result"][Path(run).name]["by_scenario"]
        for part in _parts(run):
            walk = plain_costs.walk(part, 2.0)
            waits = plain_costs.delays(walk)
            edits = plain_costs.edits(walk, 2.0)
            mine = found[part.episode_id]
            changed = sum(a != b for a, b in pairwise(part.reference.tolist()))
            assert mine["changes"] == len(waits) == changed
            assert mine["never_right"] == sum(d == float("inf") for d, _ in waits)
            assert mine["decision_changes"]["needed"] == edits["needed"]
            assert mine["decision_changes"]["useless"] == edits["useless"]
            assert mine["decision_changes"]["reversed_in_a_tick"] == edits["reversed"]
            answered = sorted(d for d, _ in waits if d < float("inf"))
            assert answered[0] <= mine["median_delay_s"] <= answered[-1]


def test_equal_costs_give_the_plain_score(runs: list[str], tmp_path: Path) -> None:
    path = tmp_path / "equal.toml"
    path.write_text(EQUAL)
    found = _json("score", *runs, "--costs", str(path))["recordings"]
    for recording in found:
        levels = [recording["overall"], *recording["by_family"].values()]
        levels += recording["by_scenario"].values()
        for level in levels:
            assert level["cost"]["per_second"] == pytest.approx(1 - level["in_force"], abs=1e-12)
            over = level["cost"]["integrated"]["per_second"]
            assert over == pytest.approx(1 - level["log_auc"], abs=1e-9)


def test_costs_are_part_of_the_signature_and_of_nothing_without_them(runs: list[str]) -> None:
    plain, priced = (
        _json("score", runs[0], *more)["recordings"][0] for more in ((), ("--costs", "default"))
    )
    assert "cost" not in plain["overall"]
    assert "costs" not in plain
    assert priced["costs"]["sha256"].startswith(priced["signature"].rpartition("costs:")[2])
    assert priced["overall"]["in_force"] == plain["overall"]["in_force"]
    cost = priced["overall"]["cost"]
    assert cost["per_second"] == pytest.approx(cost["wrong"] + cost["age"] + cost["acts"])
    csv = sdb("score", runs[0], "--costs", "default", "--csv").stdout.splitlines()
    assert csv[0].endswith(",cost_per_second,integrated_cost_per_second")


def test_the_screen_says_what_it_costs(runs: list[str]) -> None:
    screen = sdb("score", *runs, "--costs", "default", NO_COLOR="1").stdout
    assert "What being wrong costs at 2 s a tick (SDB v1 defaults" in screen
    assert max(map(len, screen.splitlines())) <= 80


def test_a_pair_is_charged_like_its_components(runs: list[str]) -> None:
    pair = _json("analyze", "cost-of-error", *runs, "--pair", "freshest")["result"]
    composed = _json("compose", "--fast", runs[0], "--slow", runs[1], "--rule", "freshest")
    assert set(pair) == {"jev", "astra-low", "pair freshest"}
    spells = _json("analyze", "spells", *runs, "--pair", "freshest")["result"]["pair freshest"]
    shares = composed["pairs"][0]["overall"]
    assert 1 - spells["overall"]["wrong_share"] == pytest.approx(shares["in_force"], abs=1e-9)


def test_acts_are_counted_by_name(runs: list[str]) -> None:
    result = _json("analyze", "actions", *runs)["result"]["jev"]
    assert {"submit payment", "release unit", "all acts"} <= set(result)
    for act in result.values():
        found = act["overall"]
        assert found["calls"] == found["in_time"] + found["late"] + found["missed"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("analyze", "spells", "--theta", "-1"), "theta -1 is not a number of seconds"),
        (("analyze", "spells", "--pair", "newest"), "newest"),
        (("analyze", "actions", "--costs", "equal.toml"), "no act is declared"),
        (("score", "--costs", "nowhere.toml"), "no such file"),
        (
            ("score", "--costs", "wrong.toml"),
            "wrong.toml: there is no key family.support_call_assist.recoder",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(
    runs: list[str], tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "equal.toml").write_text(EQUAL)
    (tmp_path / "wrong.toml").write_text(
        'schema = "sdb-costs/1"\n[family.support_call_assist]\nrecoder = 1\n'
    )
    done = sdb(*arguments, *runs, cwd=tmp_path)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())
    assert "fix:" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_score_from_python_takes_costs(runs: list[str]) -> None:
    from streamdecisionbench.policies.cost_file import default_costs

    found = score(runs[0], costs=default_costs())
    assert found.cost is not None
    assert found.cost.overall.at_interval.total > 0
