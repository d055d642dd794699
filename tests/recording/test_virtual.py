"""The virtual clock: nothing waits, and queueing follows the declared workers exactly."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, norm

from streamdecisionbench.components.contract import Answer, Fatal, Request, Retryable
from streamdecisionbench.errors import InputError
from streamdecisionbench.policies.policy_file import parse_policy
from streamdecisionbench.recording.episode import EpisodeLog, Tally, prepare
from streamdecisionbench.recording.event_log import Attempt, Expired, Release, Response, Skipped
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import record
from streamdecisionbench.recording.run_options import DispatchOptions
from streamdecisionbench.recording.virtual import VirtualStream, run_virtual_streams
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.cli.command import sdb
from tests.recording.recorder_kit import (
    Behaviour,
    InProcess,
    MemoryLog,
    alone,
    right,
    settings,
    small_scenario,
    small_suite,
)


def virtual(
    behaviour: Behaviour,
    *,
    steps: int = 4,
    tick: float = 1.0,
    workers: int = 1,
    slots: int = 32,
    policy: str | None = None,
    tally: Tally | None = None,
) -> MemoryLog:
    log, scenario = MemoryLog(), small_scenario("one_a", steps)
    ledger = EpisodeLog(
        prepare(scenario, tick),
        alone(InProcess(behaviour)),
        log.append,
        tally or Tally(),
        policy=None if policy is None else parse_policy(policy),
    )
    streams = [VirtualStream(ledger)]
    asyncio.run(run_virtual_streams(streams, DispatchOptions(max_in_flight=slots), workers))
    return log


def declared(durations: list[float]) -> Behaviour:
    async def behave(request: Request, call: int) -> Answer:
        return right(request, service_s=durations[request.state["clock"]])

    return behave


def test_one_worker_serves_first_come_first_served() -> None:
    log = virtual(declared([2.5, 0.1, 0.1, 0.1]))
    done = {r.t: r.completed_s for r in log.of(Response)}
    assert done == pytest.approx({0: 2.5, 1: 2.6, 2: 2.7, 3: 3.1})


def test_waiting_for_a_worker_is_latency_and_waiting_for_a_slot_is_not() -> None:
    queued = {r.t: r for r in virtual(declared([2.5, 0.1, 0.1, 0.1])).of(Response)}
    assert queued[1].started_s == 1.0
    assert queued[1].latency_s == pytest.approx(1.6)
    one_slot = {r.t: r for r in virtual(declared([2.5, 0.1, 0.1, 0.1]), slots=1).of(Response)}
    assert one_slot[1].started_s == pytest.approx(2.5)
    assert one_slot[1].latency_s == pytest.approx(0.1)
    assert one_slot[1].completed_s == pytest.approx(2.6)


def test_more_workers_answer_out_of_order_and_acceptance_notices() -> None:
    log = virtual(declared([2.5, 0.1, 0.1, 9.0]), workers=4)
    found = {r.t: (r.accepted, r.discard_reason) for r in log.of(Response)}
    assert found == {
        0: (False, "older_than_active"),
        1: (True, None),
        2: (True, None),
        3: (False, "after_horizon"),
    }


@pytest.mark.parametrize(
    ("service_s", "accepted"), [(0.999999999, True), (1.0, False), (1.000000001, False)]
)
def test_an_answer_at_the_horizon_is_too_late(service_s: float, accepted: bool) -> None:
    """Observed time is [r_0, H): at H itself nothing is in force any more."""
    last = virtual(declared([0.1, 0.1, 0.1, service_s])).of(Response)[-1]
    assert last.accepted is accepted
    assert last.discard_reason == (None if accepted else "after_horizon")
    assert last.accepted_s == (last.actual_recorded_s if accepted else None)


@pytest.mark.parametrize(("service_s", "sent"), [(3.999999999, [0, 3]), (4.0, [0])])
def test_nothing_is_sent_at_the_horizon(service_s: float, sent: list[int]) -> None:
    """Step 3 waits for the answer to step 0 and has no use any more when that comes at H."""
    queued = "[dispatch]\nmode = 'one-at-a-time'"
    log = virtual(declared([service_s, 0.1, 0.1, 0.1]), policy=queued)
    assert [r.t for r in log.of(Response)] == sent
    late = {3: "after_horizon"} if len(sent) == 1 else {}
    assert {s.t: s.reason for s in log.of(Skipped)} == {1: "superseded", 2: "superseded", **late}


@pytest.mark.parametrize(
    ("fallback", "correct_s"),
    [("'none'", 0.9), ("{ route = 'wait' }", 1.9), ("{ route = 'go', speed = 'quick' }", 1.9)],
)
def test_progress_counts_what_is_in_force_after_a_decision_lapsed(
    fallback: str, correct_s: float
) -> None:
    """Step 0 says wait from 0.1 s on, lapses at 1 s; wait is right until 2 s, go and quick until 3 s."""
    tally = Tally()
    policy = f"[expire]\nafter_s = 1\nfallback = {fallback}"
    log = virtual(declared([0.1, 9.0, 9.0, 9.0]), policy=policy, tally=tally, workers=4)
    assert [(e.t, e.expired_s) for e in log.of(Expired)] == [(0, 1.0)]
    assert tally.observed_s == pytest.approx(4.0)
    assert tally.correct_s == pytest.approx(correct_s)


def test_at_one_instant_the_newer_source_comes_first() -> None:
    log = virtual(declared([1.5, 0.5, 0.1, 0.1]), workers=2)
    found = {r.t: r.accepted for r in log.of(Response)}
    assert found[1] is True
    assert found[0] is False


def test_releases_are_exactly_planned_and_events_in_order_of_time() -> None:
    log = virtual(declared([2.5, 0.1, 0.1, 0.1]))
    assert [(r.planned_s, r.release_s) for r in log.of(Release)] == [(t, t) for t in range(4)]
    recorded = [r.actual_recorded_s for r in log.of(Response)]
    assert recorded == sorted(recorded)


def test_measured_time_counts_when_nothing_is_declared() -> None:
    async def work(request: Request, call: int) -> Answer:
        sum(range(20_000))
        return right(request)

    for response in virtual(work).of(Response):
        assert response.started_s < response.received_s <= response.completed_s
        assert response.actual_recorded_s == response.completed_s


def test_a_failed_attempt_is_repeated_on_the_timeline() -> None:
    async def second_time(request: Request, call: int) -> Answer:
        if request.state["clock"] == 0 and call < 3:
            raise Retryable("connection")
        return right(request, service_s=0.1)

    log = virtual(second_time, steps=2)
    attempts = [a for a in log.of(Attempt) if a.t == 0]
    assert [a.ok for a in attempts] == [False, False, True]
    assert attempts[2].started_s >= 0.5
    first = next(r for r in log.of(Response) if r.t == 0)
    assert first.service_s == pytest.approx(0.1)


def test_a_fatal_error_stops_it() -> None:
    async def broken(request: Request, call: int) -> Answer:
        raise Fatal("schema", "not what was asked")

    with pytest.raises(Fatal, match="not what was asked"):
        virtual(broken)


@given(
    durations=st.lists(st.floats(0.001, 9.0), min_size=1, max_size=12),
    workers=st.integers(1, 4),
    slots=st.integers(1, 6),
)
def test_law_of_the_queue(durations: list[float], workers: int, slots: int) -> None:
    """DispatchOptions and completion equal the textbook recursion for c FIFO servers behind k slots."""
    log = virtual(declared(durations), steps=len(durations), workers=workers, slots=slots)
    free = [0.0] * workers
    completions: list[float] = []
    for t, duration in enumerate(durations):
        dispatched = float(t)
        if len(completions) >= slots:
            dispatched = max(dispatched, sorted(completions)[len(completions) - slots])
        index = free.index(min(free))
        done = max(dispatched, free[index]) + duration
        free[index] = done
        completions.append(done)
        response = next(r for r in log.of(Response) if r.t == t)
        assert response.started_s == pytest.approx(dispatched, abs=1e-6)
        assert response.completed_s == pytest.approx(done, abs=1e-6)


def test_a_virtual_recording_says_so_and_loads(tmp_path: Path) -> None:
    suite = small_suite("one_a", "two_b", tick=2.0)
    outcome = record(
        suite, alone(InProcess()), settings(suite, clock="virtual", workers=3), tmp_path / "out"
    )
    assert outcome.status == "complete"
    recording = read_recording(tmp_path / "out", suite)
    assert recording.virtual_clock
    assert recording.config["workers"] == 3
    assert sum(len(e.responses) for e in recording.episodes.values()) == 12


def test_a_component_elsewhere_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    suite = small_suite()
    component = InProcess(in_process=False)
    with pytest.raises(InputError, match="leave out --clock virtual"):
        record(suite, alone(component), settings(suite, clock="virtual"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert component.opened == 0


def test_workers_without_the_virtual_clock_mean_nothing_and_are_refused(tmp_path: Path) -> None:
    suite = small_suite()
    with pytest.raises(InputError, match="--workers belongs to the virtual clock"):
        record(suite, alone(InProcess()), settings(suite, workers=2), tmp_path / "out")


def test_simulations_have_no_queue_unless_one_is_declared(tmp_path: Path) -> None:
    suite = small_suite()
    component = InProcess(simulated=True)
    record(suite, alone(component), settings(suite, clock="virtual"), tmp_path / "out")
    recording = read_recording(tmp_path / "out", suite)
    assert recording.config["workers"] == 32
    assert recording.simulated


RULES = """
class Decider:
    def answer(self, request):
        return {name: max(q["criteria"]) for name, q in request.questions.items()}
"""


def recorded(home: Path, name: str, *options: str | Path) -> Path:
    (home / "rules_here.py").write_text(RULES)
    run = ("run", "python:rules_here:Decider", "--clock", "virtual", "--quiet")
    done = sdb(*run, "--scenarios", "support_a,presenter_b", *options, "--out", name, cwd=home)
    assert done.returncode == 0, done.stderr
    return home / name


def latencies(folder: Path) -> dict[tuple[str, int], float]:
    found = read_recording(folder, read_suite(builtin_suite_path()))
    return {(e, r.t): r.service_s for e, x in found.episodes.items() for r in x.responses}


def test_a_declared_latency_is_the_same_wherever_it_is_recorded(tmp_path: Path) -> None:
    """By definition: e^(ln m + σ z) of a hash, to the nanosecond that recordings keep."""
    twice = [recorded(tmp_path, name, "--latency", "lognormal:0.4,0.3") for name in ("a", "b")]
    one, two = map(latencies, twice)
    assert one == two
    for (episode, t), taken in one.items():
        digest = hashlib.blake2b(f"0 {episode} {t}".encode(), digest_size=7).digest()
        z = norm.ppf((int.from_bytes(digest, "big") + 0.5) / 2**56)
        assert taken == pytest.approx(0.4 * np.exp(0.3 * z), abs=2e-9)
    drawn = np.log(list(one.values()))
    assert kstest((drawn - np.log(0.4)) / 0.3, "norm").pvalue > 0.001
    other = latencies(recorded(tmp_path, "c", "--latency", "lognormal:0.4,0.3", "--seed", "1"))
    assert all(other[key] != one[key] for key in one)
    constant = latencies(recorded(tmp_path, "d", "--latency", "0.25"))
    assert set(constant.values()) == {0.25}
    # Those of a recording, state by state.
    again = latencies(recorded(tmp_path, "e", "--latency", f"recorded:{twice[0]}"))
    assert again == pytest.approx(one, abs=2e-9)


def test_a_declared_latency_is_said_wherever_its_numbers_are(tmp_path: Path) -> None:
    run = recorded(tmp_path, "a", "--latency", "lognormal:0.4,0.3")
    recording = read_recording(run, read_suite(builtin_suite_path()))
    assert recording.config["latency"] == "lognormal:0.4,0.3"
    assert recording.config["workers"] == 32
    says = "declared latency: lognormal:0.4,0.3, in place of the time the component takes"
    found = json.loads(sdb("score", run, "--json").stdout)["recordings"][0]
    assert says in found["notes"]
    assert " latency:lognormal_0.4_0.3 " in found["signature"]
    assert says in " ".join(sdb("score", run).stdout.split())
    assert sdb("logs", "export", run, "--out", tmp_path / "log.parquet").returncode == 0
    log = json.loads(sdb("logs", "score", tmp_path / "log.parquet", "--json").stdout)
    assert any(note.startswith("declared latency: ") for note in log["notes"])
    other = recorded(tmp_path, "b", "--latency", "0.4")
    report = tmp_path / "report"
    done = sdb("report", run, other, "--out", report, "--formats", "svg", "--no-pairs", "--quiet")
    assert done.returncode == 0, done.stderr
    assert says[1:] in (report / "report.md").read_text()
    paired = sdb("compose", "--fast", run, "--slow", other, "--json")
    assert "fast_latency:lognormal_0.4_0.3" in paired.stdout


def test_a_run_with_declared_latency_is_gated_as_made_anew(tmp_path: Path) -> None:
    """The same decisions at the same declared times are no copy; a copy is, and so is no declaration."""
    ask = ("--latency", "lognormal:0.4,0.3")
    old, new = (recorded(tmp_path, name, *ask) for name in ("old", "new"))
    gate = ("gate", new, "--max-drop", "5", "--min", "0", "--strict", "--baseline")
    assert sdb(*gate, old).returncode == 0
    shutil.copytree(new, tmp_path / "copy")
    assert "nothing was measured anew" in sdb(*gate, tmp_path / "copy").stdout
    measured = sdb(*gate, recorded(tmp_path, "measured"))
    assert measured.returncode == 3
    assert "only the new one is a recording with a declared latency" in measured.stdout


@pytest.mark.parametrize(
    ("latency", "says"),
    [
        ("soon", "is no latency"),
        ("lognormal:0.4", "is no latency"),
        ("lognormal:0.4,9", "is no latency"),
        ("normal:0.4,0.3", "is no latency"),
        ("0", "is no latency"),
        ("nan", "is no latency"),
        ("recorded:nowhere", "no such folder"),
    ],
)
def test_what_is_no_latency_is_refused(tmp_path: Path, latency: str, says: str) -> None:
    run = ("run", "baseline:lexical-overlap", "--clock", "virtual", "--out", tmp_path / "x")
    done = sdb(*run, f"--latency={latency}")
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "x").exists()


def test_a_latency_is_declared_of_one_measured_component(tmp_path: Path) -> None:
    out = ("--out", tmp_path / "x", "--latency", "0.4")
    virtual_clock = ("--clock", "virtual", *out)
    for asked, says in (
        (("baseline:lexical-overlap", *out), "add --clock virtual"),
        (("simulated:jev", *virtual_clock), "declares its own latency"),
        (("--member", "fast=baseline:lexical-overlap", "--member", "slow=baseline:first-option", *virtual_clock),
         "of one component"),
    ):  # fmt: skip
        done = sdb("run", *asked)
        assert (done.returncode, says in done.stderr) == (2, True), done.stderr
    part = recorded(tmp_path, "part")
    run = ("run", "baseline:lexical-overlap", "--clock", "virtual", "--out", tmp_path / "y")
    done = sdb(*run, "--latency", f"recorded:{part}")
    assert done.returncode == 2
    assert "does not hold the latency of every state of debugging_a" in done.stderr
