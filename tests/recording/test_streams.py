"""Several streams at once: evenly staggered, equally loaded, sharing what they should share."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as how
from hypothesis import strategies as st

from streamdecisionbench.components.contract import Answer, Request
from streamdecisionbench.components.serving.timed_replies import RequestQueue
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.event_log import Release, Response, scan
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import (
    Part,
    record,
    record_together,
    replicas_for,
    rounds_of,
)
from streamdecisionbench.recording.run_file import read_run
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from tests.cli.command import sdb
from tests.recording.recorder_kit import (
    InProcess,
    alone,
    right,
    settings,
    small_suite,
    suite_folder,
)

NAMES = ("one_a", "two_b", "three_a", "four_b")
SUITE = small_suite(*NAMES, steps=10, tick=1.0)


@given(st.integers(1, 40), st.integers(1, 12))
def test_every_round_is_full_and_every_replica_whole(streams: int, scenarios: int) -> None:
    names = [f"s{k}" for k in range(scenarios)]
    rounds = rounds_of(names, streams)
    assert all(len(plays) == streams for plays in rounds)
    assert all(len({p.offset_s(2.0, streams) for p in plays}) == streams for plays in rounds)
    assert all(0 <= p.offset_s(2.0, streams) < 2.0 for plays in rounds for p in plays)
    played = [(p.replica, p.episode_id) for plays in rounds for p in plays]
    replicas = replicas_for(streams, scenarios)
    assert sorted(played) == sorted((r, n) for r in range(replicas) for n in names)
    # No smaller number of replicas fills every round.
    assert all(k * scenarios % streams for k in range(1, replicas))


def taking(services: dict[tuple[str, int], float]) -> InProcess:
    async def behave(request: Request, call: int) -> Answer:
        key = (request.state["scenario"], request.state["clock"])
        return right(request, service_s=services[key])

    return InProcess(behave)


@how(max_examples=15, deadline=None)
@given(st.sampled_from([2, 4]), st.integers(1, 3), st.data())
def test_virtual_streams_share_the_workers_as_one_queue(
    tmp_path_factory: pytest.TempPathFactory, streams: int, workers: int, data: st.DataObject
) -> None:
    """The latencies are those of the server's own queue, fed with all arrivals in order."""
    out = tmp_path_factory.mktemp("virtual")
    keys = [(name, t) for name in NAMES for t in range(10)]
    drawn = data.draw(st.lists(st.integers(1, 40), min_size=len(keys), max_size=len(keys)))
    services = {key: k / 16 for key, k in zip(keys, drawn, strict=True)}
    chosen = settings(
        SUITE,
        clock="virtual",
        workers=workers,
        streams=streams,
        max_in_flight=1000,
    )
    record(SUITE, alone(taking(services)), chosen, out)
    found = {
        (r.episode_id, r.t): r.completed_s
        for r in scan(out / "events.jsonl").events
        if isinstance(r, Response)
    }
    for plays in rounds_of(NAMES, streams):
        offsets = {p.episode_id: p.offset_s(1.0, streams) for p in plays}
        for (name, t), left in leaving(offsets, services, workers).items():
            assert found[name, t] == pytest.approx(left - offsets[name], abs=1e-6)


def leaving(
    offsets: dict[str, float], services: dict[tuple[str, int], float], workers: int
) -> dict[tuple[str, int], float]:
    arrivals = sorted((offsets[name] + t, name, t) for name in offsets for t in range(10))
    queue = RequestQueue(workers)
    leaves: dict[tuple[str, int], float] = {}

    def tell(key: tuple[str, int]) -> Callable[[float], None]:
        return lambda at: leaves.__setitem__(key, at)

    for at, name, t in arrivals:
        queue.arrive(at, services[name, t], tell((name, t)))
    while queue.due is not None:
        queue.advance(queue.due)
    return leaves


@pytest.mark.parametrize("clock", ["virtual", "real"])
def test_limits_hold_per_stream_and_in_all(tmp_path: Path, clock: str) -> None:
    async def slow(request: Request, call: int) -> Answer:
        if clock == "real":
            await asyncio.sleep(0.25)
        return right(request, service_s=2.5 if clock == "virtual" else None)

    suite = small_suite(*NAMES, steps=8, tick=0.05 if clock == "real" else 1.0)
    component = InProcess(slow)
    chosen = settings(
        suite,
        clock=clock,
        workers=100 if clock == "virtual" else None,
        streams=4,
        max_in_flight=3,
        in_all=5,
    )
    record(suite, alone(component), chosen, tmp_path / "out")
    offsets = {p.episode_id: p.offset_s(suite.scenarios["one_a"].tick_seconds, 4) for p in rounds_of(NAMES, 4)[0]}  # fmt: skip
    changes: list[tuple[float, int, str]] = []
    for event in scan(tmp_path / "out" / "events.jsonl").events:
        if isinstance(event, Response):
            begin = event.started_s + offsets[event.episode_id]
            end = event.completed_s + offsets[event.episode_id]
            changes += [(begin, 1, event.episode_id), (end, -1, event.episode_id)]
    now, most, own = dict.fromkeys(NAMES, 0), 0, 0
    for _, change, name in sorted(changes, key=lambda c: (round(c[0], 6), c[1])):
        now[name] += change
        most, own = max(most, sum(now.values())), max(own, *now.values())
    assert own <= 3
    assert most == 5
    config = read_run(tmp_path / "out").config
    assert (config["streams"], config["max_in_flight_in_all"]) == (4, 5)


@pytest.mark.realtime
def test_releases_of_streams_take_turns(tmp_path: Path) -> None:
    """In real time: stream k is a quarter of an interval behind stream k - 1, tick after tick."""
    suite = small_suite(*NAMES, steps=6, tick=0.2)
    seen: list[tuple[float, str, int]] = []

    async def note(request: Request, call: int) -> Answer:
        seen.append((time.monotonic(), request.state["scenario"], request.state["clock"]))
        return right(request)

    record(suite, alone(InProcess(note)), settings(suite, streams=4), tmp_path / "out")
    order = [(t, name) for _, name, t in sorted(seen)]
    assert order == [(t, name) for t in range(6) for name in NAMES]
    lines = scan(tmp_path / "out" / "events.jsonl").events
    assert [e.episode_id for e in lines if isinstance(e, Release)] == list(NAMES) * 6
    read_recording(tmp_path / "out", suite)


def sweeping(data: Path, out: Path, *more: Any) -> list[Any]:
    return ["sweep", "baseline:first-option", "--clock", "virtual", "--data", data,
            "--intervals", "2,0.5", "--streams", "1,2,8", "--out", out, "--quiet", *more]  # fmt: skip


def test_a_sweep_over_pace_and_load_by_command(tmp_path: Path) -> None:
    data, out = suite_folder(tmp_path / "suite", *NAMES, steps=6), tmp_path / "sweep"
    done = sdb(*sweeping(data, out))
    assert done.returncode == 0, done.stderr
    names = {f"interval-{i}-streams-{s}" for i in ("2", "0.5") for s in (1, 2, 8)}
    assert {p.name for p in out.iterdir()} == names
    loaded = out / "interval-0.5-streams-8"
    assert sorted(p.name for p in loaded.iterdir()) == ["replica-1", "replica-2"]
    one, two = (read_run(loaded / f"replica-{k}").config for k in (1, 2))
    assert {k for k in {*one, *two} if one.get(k) != two.get(k)} == {"replica", "seed"}
    assert "streams" not in read_run(out / "interval-2-streams-1").config
    scored = sdb("score", loaded / "replica-1", "--data", data)
    assert "streams:8" in scored.stdout
    # What a stop left is finished; what was complete stays as it was.
    kept = {p: p.read_bytes() for p in out.rglob("events.jsonl") if loaded not in p.parents}
    for path in loaded.rglob("*.json*"):
        path.unlink()
    again = sdb(*sweeping(data, out, "--resume"))
    assert again.returncode == 0, again.stderr
    assert {p: p.read_bytes() for p in kept} == kept
    assert len(list(out.rglob("run.json"))) == 8


def test_sweeps_are_merged_condition_by_condition(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", *NAMES, steps=6)
    for name, some in (("a", "one_a,two_b"), ("b", "three_a,four_b")):
        done = sdb(*sweeping(data, tmp_path / name, "--scenarios", some))
        assert done.returncode == 0, done.stderr
    done = sdb("merge", tmp_path / "a", tmp_path / "b", "--data", data, "--out", tmp_path / "ab")
    assert done.returncode == 0, done.stderr
    joined = sorted(
        p.parent.relative_to(tmp_path / "ab") for p in (tmp_path / "ab").rglob("run.json")
    )
    parts = sorted(p.parent.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("run.json"))
    assert joined == parts
    assert all(len(read_recording(tmp_path / "ab" / each).episodes) == 4 for each in joined)
    (tmp_path / "b" / "interval-2-streams-2" / "run.json").unlink()
    odd = sdb("merge", tmp_path / "a", tmp_path / "b", "--out", tmp_path / "odd")
    assert odd.returncode == 2
    assert "interval-2-streams-2" in odd.stderr
    assert not (tmp_path / "odd").exists()


def test_a_round_that_was_stopped_is_recorded_anew_as_a_whole(tmp_path: Path) -> None:
    """What is left of it alone would meet another load; nothing of it is lost."""
    suite, out = SUITE, tmp_path / "out"
    chosen = settings(suite, clock="virtual", streams=2, seed=3)
    record(suite, alone(InProcess()), chosen, out)
    lines = (out / "events.jsonl").read_bytes().splitlines(keepends=True)
    first = [x for x in lines if b"one_a" in x or b"two_b" in x]
    cut = [*first, *(x for x in lines if b"three_a" in x)]  # four_b of the same round is missing
    (out / "events.jsonl").write_bytes(b"".join(cut))
    run = json.loads((out / "run.json").read_text())
    run["status"] = "running"
    (out / "run.json").write_text(json.dumps(run))
    component = InProcess()
    record(suite, alone(component), chosen, out, resume=True)
    assert {name for name, _ in component.calls} == {"three_a", "four_b"}
    again = (out / "events.jsonl").read_bytes()
    assert again.startswith(b"".join(first))
    assert (out / "events.partial-1.jsonl").read_bytes() == b"".join(cut)
    read_recording(out, suite)


def test_a_replica_is_not_recorded_without_the_others(tmp_path: Path) -> None:
    suite = small_suite("one_a", steps=4, tick=1.0)

    def parts() -> list[Part]:
        return [
            Part(
                alone(InProcess()),
                settings(suite, clock="virtual", streams=2, replica=k),
                tmp_path / f"replica-{k}",
            )
            for k in (1, 2)
        ]

    record_together(suite, parts())
    for path in (tmp_path / "replica-2").iterdir():
        path.unlink()
    with pytest.raises(InputError, match="recorded at the same time"):
        record_together(suite, parts(), resume=True)
    assert read_recording(tmp_path / "replica-1", suite).episodes


def test_the_estimate_is_for_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-" + "x" * 20)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    data, out = suite_folder(tmp_path / "suite", *NAMES, steps=6), tmp_path / "out"
    asked: list[int] = []

    def confirm(estimates: Any) -> bool:
        asked.extend(e.requests for e in estimates)
        return False

    request = RunOptions.of(
        {None: "openai:gpt-5.6-luna"}, out, data=data, intervals=(2.0, 1.0), streams=(1, 2, 3, 8)
    )
    with pytest.raises(InputError, match="not confirmed"):
        launch(request, confirm)
    assert asked == [2 * (1 + 1 + 3 + 2) * 4 * 6]
    assert not out.exists()


@pytest.mark.parametrize("streams", ["", "0", "-1", "many", "2,2", "1.5"])
def test_odd_numbers_of_streams_are_refused(tmp_path: Path, streams: str) -> None:
    done = sdb("run", "baseline:first-option", "--streams", streams, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "fix:" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_sweep_is_not_watched(tmp_path: Path) -> None:
    done = sdb("run", "baseline:first-option", "--streams", 2, "--watch", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "--watch shows one recording" in done.stderr
    assert not (tmp_path / "out").exists()
