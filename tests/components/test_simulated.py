"""Simulated profiles: what they declare, what they draw, and how near that is to what was published."""

from __future__ import annotations

import asyncio
import json
import math
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from statistics import mean, median, stdev

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.components.contract import Fatal, Options, Request, check_answer
from streamdecisionbench.components.registry import create
from streamdecisionbench.components.simulated.profiles import (
    DeclaredLatency,
    Profile,
    builtin_profiles,
    find_profile,
    quantile,
    rank,
    right_states,
    spread,
)
from streamdecisionbench.components.simulated.simulator import (
    SimulatedComponent,
    Simulator,
    draw_scenario,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.families.registry import drafts
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import make_suite, write_suite

ROOT = Path(__file__).parents[2]
HOSTED = ("luna-low", "luna-none", "terra-low", "terra-none", "astra-low", "jev")
CHECKED = (*HOSTED, "djev", "kev-4b", "qwen-logits")


@cache
def suite() -> Suite:
    return make_suite([expand(draft) for draft in drafts().values()], name="SDB v1")


def component(name: str, seed: int = 0, virtual: bool = True) -> SimulatedComponent:
    profile = builtin_profiles()[name]
    return SimulatedComponent(Simulator(suite(), seed), profile, virtual=virtual)


def request(scenario_id: str, t: int) -> Request:
    return Request(**suite().scenarios[scenario_id].request(t))


def test_thirteen_settings_each_named_as_a_simulation() -> None:
    profiles = builtin_profiles()
    assert len(profiles) == 13
    assert [p.name for p in profiles.values() if p.hosting == "hosted"] == list(HOSTED)
    for name, profile in profiles.items():
        assert profile.description.startswith("simulation of the published figures of ")
        info = component(name).info
        assert info.simulated
        assert info.in_process
        assert info.name == profile.model == f"simulated:{name}"


@pytest.mark.parametrize("name", list(builtin_profiles()))
def test_right_states_are_exactly_the_published_number(name: str) -> None:
    profile = builtin_profiles()[name]
    assert profile.published is not None
    total = 0
    for scenario in suite():
        reference = scenario.reference()
        for seed in (0, 1):
            draws = draw_scenario(profile, scenario, seed)
            decisions = [scenario.decision_spec.compose(d.answers) for d in draws]
            right = [a == b for a, b in zip(decisions, reference, strict=True)]
            assert right == [d.right for d in draws]
            assert sum(right) == right_states(profile, scenario)
        total += sum(right)
    # Published untimed accuracies have one or two decimals.
    assert 100 * total / 480 == pytest.approx(profile.published.untimed, abs=0.06)


@pytest.mark.parametrize("name", list(builtin_profiles()))
def test_pooled_latency_keeps_the_declared_quantiles(name: str) -> None:
    profile = builtin_profiles()[name]
    times = sorted(d.latency_s for s in suite() for d in draw_scenario(profile, s, 0))
    latency = profile.latency
    assert latency.floor_s <= times[0]
    assert times[-1] <= latency.max_s
    assert median(times) == pytest.approx(latency.p50_s, rel=0.06)
    assert times[round(0.95 * 480)] == pytest.approx(latency.p95_s, rel=0.08)


def test_scenario_medians_are_the_published_ones() -> None:
    for name in HOSTED:
        profile = builtin_profiles()[name]
        for scenario in suite():
            times = [d.latency_s for d in draw_scenario(profile, scenario, 0)]
            expected = profile.scenarios[scenario.scenario_id].latency_p50_s
            assert median(times) == pytest.approx(expected, rel=0.06)


def test_errors_fall_near_changes_as_often_as_published() -> None:
    for name in HOSTED:
        profile = builtin_profiles()[name]
        counts = {True: [0, 0], False: [0, 0]}
        for scenario in suite():
            changes = scenario.changes()
            for seed in range(8):
                for t, draw in enumerate(draw_scenario(profile, scenario, seed)):
                    near = any(abs(t - c) <= 1 for c in changes)
                    counts[near][0] += not draw.right
                    counts[near][1] += 1
        assert counts[True][1] == 8 * 400  # as published: 400 near, 80 far
        near, far = (100 * counts[k][0] / counts[k][1] for k in (True, False))
        assert near == pytest.approx(profile.errors.near, abs=1.5)
        assert far == pytest.approx(profile.errors.far, abs=3.0)


def test_order_repetition_and_other_profiles_change_nothing() -> None:
    one, other = component("jev"), component("jev")
    places = [(s.scenario_id, t) for s in suite() for t in (0, 7, 31, 59)]

    async def ask(who: SimulatedComponent, where: list[tuple[str, int]]) -> dict[object, object]:
        return {place: await who.answer(request(*place)) for place in where}

    forward = asyncio.run(ask(one, places))
    asyncio.run(ask(component("kev-4b"), places))
    backward = asyncio.run(ask(other, places[::-1] + places))
    assert forward == backward
    assert asyncio.run(ask(component("jev", seed=1), places)) != forward


@pytest.mark.parametrize("name", ["jev", "luna-low", "laya-multilingual"])
def test_every_answer_keeps_the_contract_and_says_what_it_is(name: str) -> None:
    who = component(name)

    async def ask() -> None:
        for scenario in suite():
            for t in range(scenario.n):
                asked = request(scenario.scenario_id, t)
                answer = await who.answer(asked)
                check_answer(answer, asked.questions)
                assert answer.model == f"simulated:{name}"
                assert answer.service_s is not None
                assert answer.usage is not None
                assert answer.usage.input_tokens > 0
                has_distribution = builtin_profiles()[name].interface == "system_one"
                assert (answer.probabilities is not None) == has_distribution

    asyncio.run(ask())


def sureness(profile: Profile) -> dict[bool, list[float]]:
    """How sure single answers are, by whether they are right, on the scale a profile declares."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for scenario in suite():
        for seed in range(10):
            for draw, step in zip(
                draw_scenario(profile, scenario, seed), scenario.steps, strict=True
            ):
                for name, sure in draw.confidence.items():
                    chance = 1 / len(scenario.questions[name].criteria)
                    right = draw.answers[name] == step.gold[name]
                    found[right].append((sure - chance) / (1 - chance))
    return found


def test_confidence_is_as_declared_given_right_and_wrong() -> None:
    declared = builtin_profiles()["jev"].calibration
    assert declared is not None
    found = sureness(builtin_profiles()["jev"])
    assert mean(found[True]) == pytest.approx(declared.right, abs=0.01)
    assert mean(found[False]) == pytest.approx(declared.wrong, abs=0.01)
    assert stdev(found[True]) == pytest.approx(declared.spread, abs=0.01)


def test_without_a_declared_calibration_confidence_tells_nothing() -> None:
    by_right: dict[bool, list[float]] = {True: [], False: []}
    silent = msgspec.structs.replace(builtin_profiles()["jev"], calibration=None)
    for scenario in suite():
        for seed in range(10):
            for draw in draw_scenario(silent, scenario, seed):
                (sure,) = set(draw.confidence.values())
                by_right[draw.right].append(sure)
    assert mean(by_right[True]) == pytest.approx(mean(by_right[False]), abs=0.01)


def test_a_calibration_that_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    raw = msgspec.to_builtins(builtin_profiles()["jev"])
    raw["calibration"] = {"right": 0.9, "wrong": 0.5, "spread": 0.4}
    (tmp_path / "sure.json").write_text(json.dumps(raw))
    with pytest.raises(InputError, match="calibration needs right and wrong"):
        find_profile(str(tmp_path / "sure.json"))


def test_wrong_decisions_persist_within_a_segment() -> None:
    """Two wrong neighbours in one segment say the same: the error, not noise, is what is drawn."""
    for scenario in suite():
        reference = scenario.reference()
        draws = draw_scenario(builtin_profiles()["luna-none"], scenario, 3)
        decisions = [scenario.decision_spec.compose(d.answers) for d in draws]
        for t in range(1, scenario.n):
            if reference[t] == reference[t - 1] and not draws[t].right and not draws[t - 1].right:
                assert decisions[t] == decisions[t - 1]


def test_a_state_of_no_suite_stops_the_run() -> None:
    with pytest.raises(Fatal, match="none of the 480 states"):
        asyncio.run(component("jev").answer(Request(state={"now": 1}, questions={})))
    other = suite().scenarios["presenter_b"].wire_questions()
    state = suite().scenarios["debugging_a"].steps[4].state
    with pytest.raises(Fatal, match="step 4 of debugging_a"):
        asyncio.run(component("jev").answer(Request(state=state, questions=other)))


def test_real_clock_waits_at_least_the_drawn_time() -> None:
    who = component("laya-multilingual", virtual=False)

    async def ask() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        begin = loop.time()
        answer = await who.answer(request("support_a", 5))
        assert answer.received_at is not None
        return loop.time() - begin, answer.service_s or 0.0

    waited, drawn = asyncio.run(ask())
    assert waited >= drawn - 0.002  # the loop's clock may wake a tick early, never much


def test_created_by_name_with_data_clock_and_seed(tmp_path: Path) -> None:
    write_suite(suite(), tmp_path)
    options = Options(seed=7, extra={"data": str(tmp_path), "clock": "virtual"})
    made = create("simulated:astra-low", options)
    assert made.info.settings["seed"] == 7
    assert asyncio.run(made.answer(request("assembly_a", 3))) == asyncio.run(
        component("astra-low", seed=7).answer(request("assembly_a", 3))
    )
    with pytest.raises(InputError, match="choose one of: luna-low"):
        create("simulated:gpt", options)


def test_a_profile_of_your_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    mine = {
        "name": "mine",
        "title": "a planned service",
        "untimed": 50,
        "families": {"live_debugging": 100},
        "latency": {"floor_s": 0.1, "p50_s": 0.2, "p95_s": 0.4, "max_s": 0.8},
    }
    path.write_text(json.dumps(mine))
    write_suite(suite(), tmp_path / "suite")
    made = create(f"simulated:{path}", Options(extra={"data": str(tmp_path / "suite")}))
    assert (
        made.info.settings["description"] == "simulation of a declared profile: a planned service"
    )
    profile = msgspec.convert(mine, Profile)
    assert right_states(profile, suite().scenarios["debugging_a"]) == 60
    assert right_states(profile, suite().scenarios["support_a"]) == 30


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"latency": {"floor_s": 0.5, "p50_s": 0.2, "p95_s": 0.4, "max_s": 1}}, "floor_s ≤ p50_s"),
        ({"latency": {"floor_s": 0, "p50_s": 0.2, "p95_s": 0.4, "max_s": 1}}, "0 < floor_s"),
        ({"untimed": 101}, "percentages"),
        ({"errors": {"anticipate": 2}}, "0–1"),
        ({"errors": {"near": -1}}, "errors.near"),
        ({"scenarios": {"debugging_a": {"right": 61, "of": 60}}}, "right ≤ of"),
        ({"speed": 3}, "unknown field"),
        ({"name": 3}, "is not a profile"),
    ],
)
def test_a_broken_profile_is_refused_with_its_reason(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    latency = {"floor_s": 0.1, "p50_s": 0.2, "p95_s": 0.4, "max_s": 0.8}
    path = tmp_path / "broken.json"
    path.write_text(
        json.dumps({"name": "x", "title": "x", "untimed": 1, "latency": latency} | change)
    )
    with pytest.raises(InputError, match=message):
        create(f"simulated:{path}")


times = st.floats(0.01, 50).flatmap(
    lambda a: st.tuples(st.just(a), *[st.floats(1.01, 6) for _ in range(3)])
)


@given(times, st.floats(0, 1), st.floats(0, 1))
def test_quantile_rises_and_rank_inverts_it(
    shape: tuple[float, float, float, float], u: float, v: float
) -> None:
    floor, a, b, c = shape
    latency = DeclaredLatency(floor, floor * a, floor * a * b, floor * a * b * c)
    low, high = sorted((u, v))
    assert quantile(latency, low) <= quantile(latency, high) * (1 + 1e-12)
    assert quantile(latency, 0.5) == pytest.approx(latency.p50_s)
    assert quantile(latency, 0.95) == pytest.approx(latency.p95_s)
    if 1 / 480 < u < 1 - 1 / 480:
        assert rank(latency, quantile(latency, u)) == pytest.approx(u, abs=1e-6)


def test_spread_is_one_without_scenario_medians_and_shrinks_with_them() -> None:
    assert spread(builtin_profiles()["kev-4b"]) == 1.0
    for name in HOSTED:
        assert 0.5 < spread(builtin_profiles()[name]) < 1.0


@cache
def measured() -> dict[tuple[str, int], dict[str, float]]:
    """Seeds 0–2 of the nine checked profiles, recorded and scored by the real recorder and scorer."""
    command = [sys.executable, "bench/simulation.py", "--json", "--seeds", "3"]
    command += ["--profiles", ",".join(CHECKED)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=900
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {(row["profile"], row["seed"]): row for row in rows}


def test_log_auc_is_within_four_points_of_the_published_one() -> None:
    for row in measured().values():
        assert abs(row["log_auc"] - row["published_log_auc"]) <= 4, row


def test_the_published_order_of_the_six_is_kept() -> None:
    for seed in range(3):
        six = [measured()[name, seed] for name in HOSTED]
        pairs = [
            (a, b) for a in six for b in six if a["published_log_auc"] - b["published_log_auc"] > 2
        ]
        assert len(pairs) == 14
        for better, worse in pairs:
            assert better["log_auc"] > worse["log_auc"], (seed, better, worse)


def test_the_table_in_the_docs_is_what_is_measured() -> None:
    text = (ROOT / "docs" / "explanation" / "simulation.md").read_text(encoding="utf-8")
    text = text.partition("<!-- table:")[2].partition("<!-- end of table -->")[0]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|(.+)\|$", text, re.MULTILINE)
    table = {name: [cell.strip() for cell in cells.split("|")] for name, cells in rows}
    assert set(table) == set(builtin_profiles())
    for name in CHECKED:
        row = measured()[name, 0]
        assert math.isclose(float(table[name][2]), row["log_auc"], abs_tol=0.3), name
        assert float(table[name][3]) == pytest.approx(row["published_log_auc"], abs=1e-9)
