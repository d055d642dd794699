"""Joint recordings: made by the real recorder, scored as they happened and replayed."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from streamdecisionbench.components.serving.http_server import listen
from streamdecisionbench.components.serving.simulation_server import DemoServer
from streamdecisionbench.components.simulated.profiles import builtin_profiles
from streamdecisionbench.components.simulated.simulator import Simulator
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.rule import RULES
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from streamdecisionbench.scoring.pair_live import contention, halves_of, live_pair
from streamdecisionbench.scoring.pairs import all_pairs
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import (
    builtin_suite_path,
    make_suite,
    read_suite,
    write_suite,
)
from tests.cli.command import sdb

pytestmark = pytest.mark.slow

SCENARIOS = ("assembly_a", "presenter_a")
FAST, SLOW = "simulated:jev", "simulated:terra-low"


@pytest.fixture(scope="module")
def suite() -> Suite:
    return read_suite(builtin_suite_path())


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both components alone, and together under every rule, on the virtual clock."""
    root = tmp_path_factory.mktemp("pairs")

    def record(name: str, components: dict[str | None, str], rule: str = "freshest") -> Path:
        request = RunOptions.of(
            components, root / name, scenarios=SCENARIOS, clock="virtual", rule=rule
        )
        (outcome,) = launch(request, lambda estimates: True)
        assert outcome.status == "complete"
        return root / name

    found = {"fast": record("fast", {None: FAST}), "slow": record("slow", {None: SLOW})}
    for rule in RULES:
        found[rule] = record(rule, {"fast": FAST, "slow": SLOW}, rule)
    return found


@pytest.fixture(scope="module")
def runs(folders: dict[str, Path], suite: Suite) -> dict[str, Recording]:
    return {name: read_recording(folder, suite) for name, folder in folders.items()}


@pytest.mark.parametrize("rule", RULES)
def test_on_an_exact_clock_the_replay_is_what_happened(
    rule: str, runs: dict[str, Recording], suite: Suite
) -> None:
    """Releases are nominal and nothing waits, so only the log's nanoseconds are between them."""
    live = live_pair(runs[rule], suite)
    assert live.rule == rule
    assert (live.fast, live.slow) == (FAST, SLOW)
    assert live.gap == pytest.approx(0, abs=1e-9)
    replay = next(p for p in live.replays if p.rule == rule)
    assert live.counts == replay.counts
    assert live.slow_share == pytest.approx(replay.slow_share, abs=1e-9)
    assert live.recorded.in_force == pytest.approx(replay.in_force, abs=1e-9)
    for name, shares in live.by_scenario.items():
        assert shares.in_force == pytest.approx(replay.by_scenario[name].in_force, abs=1e-9)


def test_the_other_rules_replay_from_any_joint_recording(
    runs: dict[str, Recording], suite: Suite
) -> None:
    """Drawn latencies do not depend on the rule, so each recording predicts the two others."""
    happened = {rule: live_pair(runs[rule], suite) for rule in RULES}
    assert len({round(one.recorded.in_force, 6) for one in happened.values()}) == len(RULES)
    for one in happened.values():
        for rule, shares in one.replayed.items():
            assert shares.in_force == pytest.approx(happened[rule].recorded.in_force, abs=1e-9)


def test_contention_costs_nothing_where_nothing_is_shared(
    runs: dict[str, Recording], suite: Suite
) -> None:
    cost = contention(runs["freshest"], runs["fast"], runs["slow"], suite)
    alone, joint = (one.latency for one in cost["fast"])
    assert alone is not None
    assert joint is not None
    assert joint.p50 == pytest.approx(alone.p50, abs=1e-9)
    assert cost["pair"].auc_cost == pytest.approx(0, abs=1e-9)
    assert cost["pair"].in_force_cost == pytest.approx(0, abs=1e-9)


def test_contention_is_the_difference_to_components_that_were_faster_alone(
    runs: dict[str, Recording], suite: Suite
) -> None:
    """The fast component's own recording stands in for a slow one that ran better alone."""
    cost = contention(runs["freshest"], runs["fast"], runs["fast"], suite)
    pair, (alone, joint) = cost["pair"], (one.latency for one in cost["slow"])
    assert alone is not None
    assert joint is not None
    assert joint.p50 > alone.p50
    assert pair.auc_cost == pair.alone.log_auc - pair.joint.log_auc != 0
    assert cost["slow"].alone.log_auc == pytest.approx(cost["fast"].alone.log_auc)


def test_one_component_is_no_pair(runs: dict[str, Recording]) -> None:
    with pytest.raises(InputError, match="one component"):
        halves_of(runs["fast"])


def test_all_pairs_are_the_pairs_one_by_one(runs: dict[str, Recording], suite: Suite) -> None:
    found = all_pairs([runs["fast"], runs["slow"]], suite)
    assert [(p.fast, p.slow, p.rule) for p in found[:4:3]] == [
        ("fast", "slow", "freshest"),
        ("slow", "fast", "freshest"),
    ]
    halves = halves_of(runs["freshest"])
    joint = all_pairs(halves, suite)
    for one, other in zip(found, joint, strict=True):
        assert one.log_auc == pytest.approx(other.log_auc, abs=1e-9)


@contextmanager
def served(suite: Suite) -> Iterator[str]:
    """The simulation behind a real HTTP server on a loop of its own."""
    demo = DemoServer(Simulator(suite), dict(builtin_profiles()))
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    listening = listen(demo.application(), "127.0.0.1", 0)
    try:
        yield asyncio.run_coroutine_threadsafe(listening.__aenter__(), loop).result(30).url
    finally:
        asyncio.run_coroutine_threadsafe(listening.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


@pytest.mark.realtime
def test_a_pair_of_two_servers_recorded_live_scores_like_its_replay(
    suite: Suite, tmp_path: Path
) -> None:
    """Twenty steps at half a second: requests, releases and arbitration in real time."""
    whole = suite.scenarios["presenter_a"]
    suite = make_suite(
        [msgspec.structs.replace(whole, steps=whole.steps[:20])], name="the first twenty steps"
    )
    write_suite(suite, tmp_path / "suite")
    with served(suite) as one, served(suite) as two:
        request = RunOptions.of(
            {"fast": "systemone:jev", "slow": "systemone:terra-low"},
            tmp_path / "live",
            data=tmp_path / "suite",
            interval_s=0.5,
            rule="late_override",
            base_urls={"fast": one, "slow": two},
        )
        (outcome,) = launch(request, lambda estimates: True)
    assert outcome.status == "complete"
    live = live_pair(read_recording(tmp_path / "live", suite), suite)
    assert live.counts.slow_accepted > 0
    assert live.counts.fast_accepted > 0
    assert abs(live.gap) < 0.005, f"{live.recorded.in_force} recorded, {live.replayed} replayed"


def test_the_command_prints_a_pair_within_80_columns(folders: dict[str, Path]) -> None:
    done = sdb("compose", "--fast", folders["fast"], "--slow", folders["slow"])
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    for words in (
        "fast: fast",
        "slow: slow",
        "pair, freshest",
        "pair, late-override",
        "simulation",
    ):
        assert words in done.stdout


def test_the_command_writes_its_schema(
    folders: dict[str, Path], runs: dict[str, Recording], suite: Suite
) -> None:
    done = sdb(
        "compose", "--fast", folders["fast"], "--slow", folders["slow"], "--rule", "lag-one",
        "--interval", "1", "--bounds", "1", "4", "--weighting", "linear", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "sdb-compose/1"
    (entry,) = document["pairs"]
    assert (entry["fast"], entry["slow"], entry["rule"]) == ("fast", "slow", "lag_one")
    pair = all_pairs(
        [runs["fast"], runs["slow"]], suite,
        rule="lag_one", interval=1.0, bounds=(1.0, 4.0), weighting="linear",
    )[0]  # fmt: skip
    whole = entry["overall"]
    assert whole["in_force"] == pair.in_force
    assert whole["log_auc"] == pair.log_auc
    assert sum(whole["classes"].values()) == pytest.approx(1, abs=1e-12)
    assert sum(whole["integrated"]["classes"].values()) == pytest.approx(1, abs=1e-12)
    assert entry["signature"] == pair.signature
    assert entry["corrections"] == pair.counts.corrections
    assert list(entry["by_scenario"]) == list(SCENARIOS)
    assert [one["name"] for one in document["alone"]] == ["fast", "slow"]


def test_the_command_reads_joint_recordings_and_contention(folders: dict[str, Path]) -> None:
    arguments = (
        "compose",
        folders["lag_one"],
        "--fast",
        folders["fast"],
        "--slow",
        folders["slow"],
    )
    done = sdb(*arguments)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "as it happened" in done.stdout
    assert "contention cost" in done.stdout
    document = json.loads(sdb(*arguments, "--json").stdout)
    assert document["live"]["rule"] == "lag_one"
    assert set(document["live"]["replayed_at_recorded_pace"]) == set(RULES)
    assert abs(document["contention"]["auc_cost"]) < 1e-6


def test_the_command_composes_all(folders: dict[str, Path]) -> None:
    done = sdb("compose", "--all", folders["fast"], folders["slow"])
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "Best pair" in done.stdout
    document = json.loads(
        sdb("compose", "--all", folders["fast"], folders["slow"], "--json").stdout
    )
    assert len(document["pairs"]) == 6
    assert document["best"]["value"] == max(p["overall"]["log_auc"] for p in document["pairs"])
    assert len(document["best_by_range"]) == 4
    assert set(document["best_by_family"]) == {"procedural_coaching", "presenter_voice_control"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "a pair needs two recordings"),
        (("--fast", "fast"), "a pair needs two recordings"),
        (("fast",), "one component"),
        (("fast", "slow"), "without a role"),
        (("--all", "fast"), "at least two"),
        (("--fast", "fast", "--slow", "slow", "--rule", "newest"), "no rule is called"),
        (("--fast", "fast", "--slow", "slow", "--interval", "0"), "interval"),
        (("--fast", "fast", "--slow", "slow", "--bounds", "8", "1"), "bounds"),
        (("--fast", "fast", "--slow", "nowhere"), "no such folder"),
        (("freshest", "--fast", "fast"), "both components alone"),
    ],
)
def test_wrong_use_is_one_message_and_exit_code_2(
    arguments: tuple[str, ...], words: str, folders: dict[str, Path]
) -> None:
    root = folders["fast"].parent
    known = {*folders, "nowhere"}
    previous = ""
    full: list[str] = []
    for argument in arguments:
        is_path = argument in known and previous not in ("--rule",)
        full.append(str(root / argument) if is_path else argument)
        previous = argument
    done = sdb("compose", *full)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
