"""The holder of the decision in force under a policy: what was chosen on recordings is what a service does."""

from __future__ import annotations

import heapq
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamdecisionbench as sdb
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.classes import CLASSES
from streamdecisionbench.meter import DecisionLog, Meter, Stream
from streamdecisionbench.meter.decision_log import rows_of
from streamdecisionbench.meter.stream import Notice
from streamdecisionbench.policies.policy_file import (
    Policy,
    parse_policy,
)
from tests.cli.command import sdb as command
from tests.meter.test_counters import FakeClock
from tests.scoring.policies import kit
from tests.scoring.policies.kit import NAMES, Case
from tests.scoring.policies.test_replay import scored


def word(decision: int) -> dict[str, str]:
    return {"d": str(decision)}


def deployed(case: Case) -> Policy:
    """The case's policy as a file would have it: its fallback written out."""
    fallback = None if case.fallback is None else word(case.fallback)
    return replace(case.policy, expire=replace(case.policy.expire, fallback=fallback))


def serve(
    case: Case, meter: Meter, clock: FakeClock, name: str, judged_late: float = 0.0
) -> Stream:
    """Plays a recording into a service that asks whom its policy wants asked: published states, then
    answers when they come. Half of the references may come at the end."""
    first = case.voices[0].part
    c, begin = first.tick / case.interval, clock.now
    call = meter.stream(name)
    coming: list[tuple[float, int, int, int]] = [
        (begin + float(r) / c, 1, t, 0) for t, r in enumerate(first.release)
    ]
    heapq.heapify(coming)
    seen = late = 0
    for_later: list[int] = []
    while coming and coming[0][0] < begin + first.horizon / c:
        clock.now, publishes, t, k = heapq.heappop(coming)
        if publishes:
            seen += case.changed[t]
            late = int(judged_late * 100 * (t + 1)) % 2
            right = word(int(first.reference[t]))
            assert call.publish({"seen": seen}, reference=None if late else right) == t
            if late:
                for_later.append(t)
        else:
            voice = case.voices[k]
            said, sure = word(int(voice.part.predicted[t])), float(voice.confidence[t])
            applied = call.answer(t, said, component=NAMES[k], confidence=sure)
            expired = t * first.tick / c + case.policy.expire.after_s < clock.now - begin
            if applied and not expired and case.voices[0].part.release[t] == t * first.tick:
                assert call.decision == said
                assert call.source == t
        for component, step in call.due():
            assert component is not None
            voice = case.voices[NAMES.index(component)]
            arrival = clock.now + float(voice.part.latency[step])
            heapq.heappush(coming, (arrival, 0, step, NAMES.index(component)))
    clock.now = begin + first.horizon / c
    call.end()
    for t in for_later:
        call.judge(t, word(int(first.reference[t])))
    return call


def shares(seconds: dict[str, float]) -> dict[str, float]:
    assert seconds["unjudged"] == seconds["unattributed"] == 0
    return {name: seconds[name] / sum(seconds.values()) for name in CLASSES}


@settings(max_examples=150, deadline=None)
@given(kit.loose(), st.sampled_from([0.0, 0.37]), st.integers(1, 7))
def test_a_recording_played_into_a_service_gives_what_policy_score_says(
    case: Case, judged_late: float, at_once: int
) -> None:
    """Gates, debounce, expiry with and without fallback, cascades, every dispatch: the meter's seconds
    are the replay's, and those of the log it wrote, however it was flushed."""
    wanted = scored(case).overall.at_interval.classes()
    clock = FakeClock()
    meter = Meter("test", clock=clock, policy=deployed(case))
    events: list[Notice] = []
    meter.add_sink(events.append)
    call = serve(case, meter, clock, "x", judged_late)
    assert shares(meter.seconds()) == pytest.approx(wanted, abs=1e-9)
    assert not meter.errors

    events = [one._replace(value=None) if one.kind == "published" else one for one in events]
    flushes = [events[k : k + at_once] for k in range(0, len(events), at_once)]
    rows = [row for part in flushes for row in rows_of(part)]
    import pyarrow as pa

    names = dict.fromkeys(name for row in rows for name in row)
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    (group,) = sdb.score_log(table, resamples=0).groups
    assert shares(group.at_pace.classes()) == pytest.approx(wanted, abs=1e-9)
    assert group.decisions == case.voices[0].part.n
    assert rows[0]["stream"] == call.id


GATED = "[gate]\nconfidence = 0.7\n[expire]\nafter_s = 6\n"
FALLBACK = '[expire]\nafter_s = 6\n[expire.fallback]\nrecorder = "record"\n'
PAIR = '[cascade]\ncomponents = ["fast", "slow"]\nask = "when-unsure"\nbelow = 0.6\n'


def test_decisions_yield_on_time_whoever_looks_when() -> None:
    clock = FakeClock()
    heard: list[Any] = []
    meter = Meter(
        "test",
        clock=clock,
        policy=parse_policy(FALLBACK),
        on_change=lambda stream, decision: heard.append((stream.name, decision)),
    )
    call = meter.stream("call")
    step = call.publish({}, reference={"recorder": "pause"})
    clock.now += 1.0
    assert call.answer(step, {"recorder": "pause"})
    clock.now += 4.9
    assert call.decision == {"recorder": "pause"}
    clock.now += 4.1
    assert meter.seconds()["judgment"] == pytest.approx(4.0)  # since 6.0, though nothing happened
    assert call.decision == {"recorder": "record"}
    assert call.source == step
    assert heard == [("call", {"recorder": "pause"}), ("call", {"recorder": "record"})]
    meter.close()


def test_who_listens_hears_of_an_expiry_that_nobody_looks_at() -> None:
    """On the real clock, without a timer of the application's."""
    over = threading.Event()
    meter = Meter(
        "test",
        policy=parse_policy("[expire]\nafter_s = 0.05"),
        on_change=lambda _, decision: over.set() if decision is None else None,
    )
    call = meter.stream("call")
    call.answer(call.publish({}), "pause")
    assert over.wait(20)
    meter.close()


def test_the_slow_one_is_asked_when_the_fast_one_is_unsure_or_fails() -> None:
    meter = Meter("test", clock=FakeClock(), policy=parse_policy(PAIR))
    call = meter.stream("call")
    for sure, asked in ((0.9, False), (0.6, False), (0.3, True)):
        step = call.publish({})
        assert call.ask("fast", step)
        assert not call.ask("fast", step)
        assert not call.ask("slow", step)
        call.answer(step, "a", component="fast", confidence=sure)
        assert call.ask("slow", step) is asked
    step = call.publish({})
    call.answer(step, None, component="fast")
    assert call.due() == [("fast", step), ("slow", step)]
    assert not meter.errors


def test_what_a_gate_keeps_back_is_counted_and_what_it_cannot_judge_is_told() -> None:
    meter = Meter("test", clock=FakeClock(), policy=parse_policy(GATED))
    call = meter.stream("call")
    step = call.publish({})
    assert not call.answer(step, "a", confidence=0.5)
    assert not call.answer(call.publish({}), "a")
    assert call.answer(call.publish({}), "a", confidence=0.7)
    assert meter.readings()[0].answers["withheld"] == 2
    assert meter.errors == {"no confidence": 1}
    assert not call.answer(0, "a", component="nobody", confidence=1.0)
    assert meter.errors["answer"] == 1


def test_requests_that_latest_gave_up_never_answer() -> None:
    meter = Meter(
        "test", clock=FakeClock(), policy=parse_policy('[dispatch]\nmode = "latest"\nlimit = 1')
    )
    call = meter.stream("call")
    old, new = call.publish({}), call.publish({})
    assert not call.answer(old, "a")
    assert call.answer(new, "b")
    assert call.decision == "b"


def test_a_policy_that_does_not_hold_is_refused_when_the_service_starts(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("[gate]\nconfidense = 0.7\n")
    with pytest.raises(InputError, match="confidense"):
        Meter("test", policy=file)


def test_a_log_of_a_policy_has_one_pace(tmp_path: Path) -> None:
    clock = FakeClock()
    meter = Meter("test", clock=clock, policy=parse_policy(GATED))
    DecisionLog(meter, tmp_path / "log")
    with meter.stream("call") as call:
        for k in range(3):
            call.answer(call.publish({}, reference="a"), "a", confidence=0.6 + k / 10)
            clock.now += 1.0
    meter.close()
    done = command("logs", "score", tmp_path / "log", "--json")
    (group,) = json.loads(done.stdout)["groups"]
    assert group["in_force"] == pytest.approx(meter.in_force(), abs=1e-9) == pytest.approx(2 / 3)
    for option in (("--interval", "2"), ("--bounds", "1", "4")):
        done = command("logs", "score", tmp_path / "log", *option)
        assert done.returncode == 2
        assert "a policy decided what took effect" in done.stderr


def cascade(folder: Path) -> Meter:
    """Six calls: the fast one answers after 0.1 s and is wrong, the slow one 0.7 s later and is right."""
    clock = FakeClock()
    meter = Meter("test", clock=clock, policy=parse_policy(PAIR))
    DecisionLog(meter, folder)
    for k in range(6):
        with meter.stream(f"call-{k}") as call:
            for _ in range(3):
                step = call.publish({}, reference="right")
                clock.now += 0.1
                call.answer(step, "wrong", component="fast", confidence=0.3)
                clock.now += 0.7
                call.answer(step, "right", component="slow", confidence=0.9)
                clock.now += 1.2
    meter.close()
    return meter


def test_latency_of_a_cascade_is_told_by_member(tmp_path: Path) -> None:
    (reading,) = cascade(tmp_path / "log").readings()
    assert {name: sum(took.buckets) for name, took in reading.member_latency.items()} == {
        "fast": 18,
        "slow": 18,
    }
    assert sum(reading.latency_buckets) == 36
    assert reading.member_latency["slow"].sum_s == pytest.approx(18 * 0.8)
    (group,) = json.loads(command("logs", "score", tmp_path / "log", "--json").stdout)["groups"]
    assert group["cascade_streams"] == 6
    assert (group["untimed"], group["latency"]["p50"]) == (0.0, pytest.approx(0.1))
    members = group["member_latency"]
    assert {name: one["p50"] for name, one in members.items()} == pytest.approx(
        {"fast": 0.1, "slow": 0.8}
    )
    assert {one["answered"] for one in members.values()} == {18}
    shown = command("logs", "score", tmp_path / "log").stdout
    assert "untimed 1st" in shown
    assert "p50 1st s" in shown
    assert "by member of the cascade" in shown
    assert "of the first" in shown


def test_a_cascade_s_log_without_members_is_labelled_too(tmp_path: Path) -> None:
    cascade(tmp_path / "log")
    (file,) = (tmp_path / "log").glob("*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        row.pop("member_latency_s", None)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (group,) = sdb.score_log(tmp_path / "log").groups
    assert (group.cascade, group.member_latency) == (6, {})
    assert "untimed 1st" in command("logs", "score", tmp_path / "log").stdout


def test_one_component_under_a_policy_is_no_cascade(tmp_path: Path) -> None:
    clock = FakeClock()
    meter = Meter("test", clock=clock, policy=parse_policy(GATED))
    DecisionLog(meter, tmp_path / "log")
    with meter.stream("call") as call:
        call.answer(call.publish({}, reference="a"), "a", confidence=0.9)
        clock.now += 1.0
    meter.close()
    (reading,) = meter.readings()
    assert reading.member_latency == {}
    (group,) = sdb.score_log(tmp_path / "log").groups
    assert group.cascade == 0


@pytest.mark.parametrize("bad", ["[1]", "5", '{"fast": -1}', '{"fast": "soon"}', "{", '{"a": NaN}'])
def test_member_latencies_that_are_none_are_unusable(tmp_path: Path, bad: str) -> None:
    row = {
        "stream": "s",
        "published_at": 0.0,
        "answered_at": 1.0,
        "decision": "a",
        "reference": "a",
    }
    rows = [{**row, "published_at": 2.0 * k, "answered_at": 2.0 * k + 1} for k in range(3)]
    rows[1]["member_latency_s"] = bad
    rows[2]["member_latency_s"] = '{"fast": 0.5}'
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in rows))
    done = command("logs", "score", log)
    assert done.returncode == 2
    assert "member_latency_s" in done.stderr
