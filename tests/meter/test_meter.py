"""What an application sees of the meter: holding, judging, shadows, ends, labels, and its failures."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
import math
import re
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.errors import InputError
from streamdecisionbench.meter import CLASSES, Meter, Notice
from streamdecisionbench.meter.counts import LATENCY_BUCKETS_S
from streamdecisionbench.meter.lane import STRAGGLERS
from streamdecisionbench.meter.stream import text_of
from streamdecisionbench.text import decision_text
from tests.meter.test_counters import FakeClock, near


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def meter(clock: FakeClock) -> Meter:
    return Meter("test", clock=clock)


def only(**seconds: float) -> dict[str, float]:
    return dict.fromkeys(CLASSES, 0.0) | seconds


def test_importing_it_needs_the_standard_library_alone() -> None:
    """In an interpreter that has looked for nothing else at its start."""
    program = (
        f"import sys; sys.path[:0] = {sys.path!r}; import streamdecisionbench.meter; "
        "print(*{m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == {"__main__", "streamdecisionbench"}


def test_the_newest_source_wins(meter: Meter) -> None:
    with meter.stream("call") as call:
        assert call.decision is None
        assert call.source is None
        first, second = call.publish(), call.publish()
        assert call.answer(second, {"card": "wait"}) is True
        assert call.answer(first, {"card": "hold"}) is False
        assert call.decision == {"card": "wait"}
        assert call.source == second
        assert call.answer(second, {"card": "stop"}) is False
        assert call.answer(99, "no such step") is False
        assert call.answer(-1, "no such step") is False
    (reading,) = meter.readings()
    assert reading.answers == {"applied": 1, "superseded": 4, "late": 0, "failed": 0, "withheld": 0}


def test_seconds_count_once_they_are_judged(meter: Meter, clock: FakeClock) -> None:
    with meter.stream("call") as call:
        step = call.publish()
        clock.now = 1.0
        call.answer(step, "wait")
        clock.now = 3.0
        assert meter.seconds() == only()
        assert meter.readings()[0].pending_s == 3.0
        assert call.judge(step, "wait") is True
        assert call.judge(step, "hold") is False  # the first judgment counts
        assert meter.seconds() == only(no_decision=1.0, current_correct=2.0)
        clock.now = 5.0
        assert meter.seconds() == only(no_decision=1.0, current_correct=4.0)
        assert meter.in_force() == 0.8


def test_every_class(meter: Meter, clock: FakeClock) -> None:
    """One second each, in the order of the table."""
    call = meter.stream("call")
    steps = [call.publish(reference="a")]
    clock.now = 1.0  # no_decision
    call.answer(steps[-1], "a")
    clock.now = 2.0  # current_correct
    steps.append(call.publish(reference="b"))
    clock.now = 3.0  # stale
    call.answer(steps[-1], "c")
    clock.now = 4.0  # judgment
    steps.append(call.publish(reference="d"))
    clock.now = 5.0  # compound
    steps.append(call.publish(reference="c"))
    clock.now = 6.0  # outdated_correct
    steps.append(call.publish())
    call.answer(steps[-1], "e")
    clock.now = 7.0  # unjudged
    call.publish(reference="f")
    clock.now = 8.0  # unattributed
    call.publish(reference="e")
    clock.now = 9.0  # right, its own state unjudged: current_correct
    call.end()
    meter.close()
    assert meter.seconds() == dict.fromkeys(CLASSES, 1.0) | {"current_correct": 2.0}


def test_references_by_a_function_of_the_state(clock: FakeClock) -> None:
    meter = Meter("test", clock=clock, reference=lambda state: state["right"])
    with meter.stream("call") as call:
        call.answer(call.publish({"right": "wait"}), "wait")
        clock.now = 2.0
        call.publish({"wrong": "no such key"})
        clock.now = 3.0
    assert meter.seconds() == only(current_correct=2.0)
    assert meter.errors == {"reference": 1}


def test_references_by_a_coroutine_function(clock: FakeClock) -> None:
    async def judge(state: dict[str, str]) -> str:
        await asyncio.sleep(0)
        return state["right"]

    meter = Meter("test", clock=clock, reference=judge)

    async def serve() -> None:
        async with meter.stream("call") as call:
            call.answer(call.publish({"right": "wait"}), "wait")
            clock.now = 2.0
            assert meter.seconds() == only()
            await asyncio.sleep(0.01)
            assert meter.seconds() == only(current_correct=2.0)

    asyncio.run(serve())
    assert meter.errors == {}


def test_tasks_at_once() -> None:
    meter = Meter("tasks")

    async def session(k: int) -> None:
        async with meter.stream(f"call-{k}") as call:
            for _ in range(10):
                step = call.publish(reference="wait")
                await asyncio.sleep(0)
                assert call.answer(step, "wait")

    async def serve() -> None:
        await asyncio.gather(*(session(k) for k in range(100)))

    asyncio.run(serve())
    (reading,) = meter.readings()
    assert reading.answers["applied"] == 1000
    assert meter.open_streams == 0


def test_judging_after_the_end_by_the_streams_name(meter: Meter, clock: FakeClock) -> None:
    with meter.stream("call") as call:
        step = call.publish()
        call.answer(step, "wait")
        clock.now = 4.0
    clock.now = 300.0
    assert meter.seconds() == only()
    assert meter.steps_waiting_after_end == 1
    assert meter.judge("call", step, "wait") is True
    assert meter.seconds() == only(current_correct=4.0)
    assert meter.steps_waiting_after_end == 0
    assert meter.judge("call", step, "wait") is False
    assert meter.errors == {"judged too late": 1}


def test_ended_streams_wait_within_a_window(clock: FakeClock) -> None:
    meter = Meter("test", clock=clock, late_window=10)
    calls = []
    for k in range(6):
        with meter.stream(f"call-{k}") as call:
            for _ in range(3):
                clock.now += 1.0
                call.publish()
            clock.now += 1.0
        calls.append(call)
    assert meter.steps_waiting_after_end == 9
    assert meter.seconds() == only(unjudged=9.0)
    assert calls[2].judge(0, "wait") is False
    assert calls[3].judge(0, "wait") is True
    assert meter.seconds() == only(unjudged=9.0, no_decision=1.0)
    meter.close()
    assert meter.seconds() == only(unjudged=17.0, no_decision=1.0)


def test_a_shadow_is_measured_and_never_applied(clock: FakeClock) -> None:
    meter = Meter("test", clock=clock, shadows=("candidate",))
    with meter.stream("call") as call:
        step = call.publish(reference="wait")
        clock.now = 1.0
        call.answer(step, "hold")
        clock.now = 2.0
        assert call.shadow("candidate", step, "wait") is True
        assert call.decision == "hold"
        clock.now = 10.0
    assert meter.seconds() == only(no_decision=1.0, judgment=9.0)
    assert meter.seconds("candidate") == only(no_decision=2.0, current_correct=8.0)
    assert meter.in_force() == 0.0
    assert meter.in_force("candidate") == 0.8


def test_a_shadow_nobody_announced_counts_from_the_current_state_on(
    meter: Meter, clock: FakeClock
) -> None:
    with meter.stream("one") as call:
        old = call.publish(reference="wait")
        clock.now = 5.0
        call.publish(reference="wait")
        clock.now = 6.0
        assert call.shadow("late", old, "wait") is False
        clock.now = 8.0
    assert meter.seconds("late") == only(no_decision=3.0)
    with meter.stream("two") as call:
        call.publish(reference="wait")
        clock.now = 10.0
    assert meter.seconds("late") == only(no_decision=5.0)


def test_labels_split_the_counters(clock: FakeClock) -> None:
    meter = Meter("test", clock=clock, by=("model",))
    for model, seconds in (("jev", 1.0), ("astra", 2.0), ("jev", 4.0)):
        with meter.stream("call", model=model, region="eu") as call:
            call.answer(call.publish(reference="wait"), "wait")
            clock.now += seconds
    assert meter.seconds()["current_correct"] == 7.0
    assert meter.seconds(model="jev")["current_correct"] == 5.0
    assert meter.seconds(model="astra")["current_correct"] == 2.0
    assert meter.seconds(model="nobody") == only()


def test_labels_of_two_kinds_are_both_asked(clock: FakeClock) -> None:
    meter = Meter("test", clock=clock, by=("model", "plan"))
    for k, (model, plan) in enumerate([("jev", "gold"), ("jev", "free"), ("astra", "gold")]):
        with meter.stream("call", model=model, plan=plan) as call:
            call.publish(reference="wait")
            clock.now += 2.0**k
    found = [meter.seconds(**labels)["no_decision"] for labels in (
        {"model": "jev", "plan": "gold"}, {"model": "jev"}, {"plan": "gold"}, {},
        {"model": "astra", "plan": "free"},
    )]  # fmt: skip
    assert found == [1.0, 3.0, 5.0, 7.0, 0.0]


def test_labels_as_many_as_sessions_do_not_make_as_many_counters(clock: FakeClock) -> None:
    meter = Meter("test", clock=clock, by=("caller",))
    for k in range(1500):
        with meter.stream("call", caller=str(k)) as call:
            call.publish(reference="wait")
            clock.now += 1.0
    assert len(meter.readings()) == 1001
    assert meter.seconds()["no_decision"] == 1500.0
    assert meter.seconds(caller="999")["no_decision"] == 1.0
    assert meter.seconds(caller="other")["no_decision"] == 500.0
    assert meter.errors == {"labels": 500}


def test_shadows_as_many_as_sessions_do_not_make_as_many_counters(clock: FakeClock) -> None:
    meter = Meter("test", clock=clock)
    call = meter.stream("call")
    step = call.publish(reference="wait")
    found = [call.shadow(f"shadow-{k}", step, "wait") for k in range(1500)]
    assert found == [True] * 999 + [False] * 501
    assert len(meter.readings()) == 1000
    assert meter.errors == {"shadow": 501}
    assert call.shadow("shadow-998", call.publish(), "wait") is True


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"by": ("session",)}, "by: 'session' has a meaning of its own"),
        ({"by": ("Component",)}, "by: 'Component' has a meaning of its own"),
        ({"by": ("class",)}, "by: 'class' has a meaning of its own"),
        ({"by": ("verdict",)}, "by: 'verdict' has a meaning of its own"),
        ({"by": ("tick_s",)}, "by: 'tick_s' has a meaning of its own"),
        ({"by": ("",)}, "by: '' is no name"),
        ({"by": ("_until",)}, "by: '_until' is no name"),
        ({"by": ("\ud800",)}, "is no name"),
        ({"by": (7,)}, "by: 7 is no name"),
        ({"by": ("model", "model")}, "by names one thing twice"),
        ({"by": ("model", "Model")}, "by names one thing twice"),
        ({"shadows": ("applied",)}, "shadows: 'applied' has a meaning of its own"),
        ({"shadows": ("",)}, "shadows: '' is no name"),
        ({"shadows": ("a", "a")}, "shadows names one thing twice"),
        ({"shadows": [f"s{k}" for k in range(1000)]}, "shadows has 1000 names"),
        ({"late_window": -1}, "late_window=-1 is no number of steps"),
        ({"late_window": None}, "late_window=None is no number of steps"),
        ({"window": -5}, "window=-5 is no number of steps"),
        ({"window": 2.5}, "window=2.5 is no number of steps"),
        ({"theta": float("nan")}, "theta=nan is no limit"),
        ({"theta": float("inf")}, "theta=inf is no limit"),
        ({"theta": -1}, "theta=-1 is no limit"),
    ],
)
def test_what_cannot_be_measured_is_refused_when_the_service_starts(
    options: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        Meter("test", **options)


def test_one_name_may_stand_alone(clock: FakeClock) -> None:
    meter = Meter("test", clock=clock, by="model", shadows="candidate")
    with meter.stream("call", model="jev") as call:
        call.publish(reference="wait")
        clock.now = 1.0
    assert [(r.component, r.labels) for r in meter.readings()] == [
        ("applied", (("model", "jev"),)), ("candidate", (("model", "jev"),)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "label", ["", "_until", "tick_s", "Reference", "STREAM", "state_id", "filename", "a\nb", " a", "\ud800"]
)  # fmt: skip
def test_labels_that_would_make_a_log_unreadable_are_left_out_and_counted(
    label: str, meter: Meter
) -> None:
    with meter.stream("call", **{label: "x", "model": "jev"}) as call:
        assert call.labels == {"model": "jev"}
    assert meter.errors == {"labels": 1}


def test_a_label_has_one_spelling_and_there_are_not_endlessly_many(meter: Meter) -> None:
    """Readers that do not tell a from A would find two columns of one name."""
    assert meter.stream("call", Model="jev").labels == {"Model": "jev"}
    assert meter.stream("call", model="jev").labels == {}
    assert meter.stream("call", Model="jev").labels == {"Model": "jev"}
    labels = {f"label-{k}": "x" for k in range(200)}
    assert len(meter.stream("call", **labels).labels) == 99
    assert meter.errors == {"labels": 1 + 101}


def test_labels_are_text_from_the_beginning(meter: Meter) -> None:
    models = ["jev"]
    call = meter.stream("call", model=models, step_s=3)  # type: ignore[arg-type]
    models.append("astra")
    assert call.labels == {"model": "['jev']", "step_s": "3"}
    assert meter.errors == {}


def test_steps_from_arrays(meter: Meter, clock: FakeClock) -> None:
    with meter.stream("call") as call:
        step = np.int64(call.publish())
        assert call.answer(step, "wait") is True  # type: ignore[arg-type]
        assert call.judge(step, "wait") is True  # type: ignore[arg-type]
        assert call.shadow("candidate", step, "wait") is True  # type: ignore[arg-type]
        assert call.source == 0
        clock.now = 1.0
        assert call.answer(1.0, "wait") is False  # type: ignore[arg-type]
    assert meter.seconds() == only(current_correct=1.0)
    assert meter.errors == {"answer": 1}


def test_what_is_applied_is_no_shadow(meter: Meter) -> None:
    call = meter.stream("call")
    step = call.publish()
    for name in ("applied", "", [], None, Mute()):
        assert call.shadow(name, step, "wait") is False  # type: ignore[arg-type]
    assert call.decision is None
    assert meter.errors == {"shadow": 5}
    assert [reading.component for reading in meter.readings()] == ["applied"]


class Mute:
    """Cannot be a key, says nothing, compares with nothing."""

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        raise RuntimeError("says nothing")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compares with nothing")


def test_names_of_any_kind(meter: Meter, clock: FakeClock) -> None:
    """A stream is found again by what it was called."""
    for name in (7, ["a", "list"], Mute(), None):
        call = meter.stream(name)  # type: ignore[arg-type]
        call.publish()
        clock.now += 1.0
        assert meter.judge(name, 0, "wait") is True  # type: ignore[arg-type]
        call.end()
    assert meter.seconds() == near(only(no_decision=4.0))
    assert meter.errors == {"names": 2}
    assert meter.seconds(model=[]) == only()  # type: ignore[arg-type]


def test_ended_streams_are_forgotten(clock: FakeClock) -> None:
    """Once nothing of them waits, or nothing more is expected."""
    meter = Meter("test", clock=clock, late_window=5)
    for k in range(100):
        with meter.stream(f"call-{k}") as call:
            call.publish(reference="wait" if k % 2 else None)
            clock.now += 1.0
    assert (len(meter._streams), len(meter._ended), meter.open_streams) == (5, 5, 0)
    assert meter.judge("call-99", 0, "hold") is False
    assert meter.judge("call-98", 0, "hold") is True
    assert (len(meter._streams), len(meter._ended)) == (4, 4)
    meter.close()
    assert (len(meter._streams), len(meter._ended)) == (0, 0)


def test_a_latency_on_a_buckets_border_belongs_to_it(meter: Meter, clock: FakeClock) -> None:
    """As `le` says: less or equal. Of borders that the clock can hit exactly."""
    borders = [border for border in LATENCY_BUCKETS_S if border * 4 % 1 == 0]
    assert len(borders) > 10
    for border in borders:
        with meter.stream("call") as call:
            step = call.publish()
            clock.now += border
            call.answer(step, "wait")
        clock.now = math.ceil(clock.now + 1)
    (reading,) = meter.readings()
    found = zip((*LATENCY_BUCKETS_S, math.inf), reading.latency_buckets, strict=True)
    assert [border for border, count in found for _ in range(count)] == borders


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Card:
    text: str


@pytest.mark.parametrize(
    ("decision", "reference"),
    [
        ({"b": 1, "a": [1, 2]}, {"a": (1, 2), "b": 1}),
        ('{"b": 1, "a": 2}', {"a": 2, "b": 1}),
        ({"colour": Colour.RED}, {"colour": "red"}),
        (Card("wait"), {"text": "wait"}),
        (True, "true"),
        (3, "3"),
        (3.0, 3),
        (" wait ", "wait"),
        ('"wait"', "wait"),
        ('{"torn', '{"torn'),
        ("wartet schön", "wartet schön"),
    ],
)
def test_decisions_are_compared_in_canonical_form(
    decision: Any, reference: Any, meter: Meter, clock: FakeClock
) -> None:
    with meter.stream("call") as call:
        call.answer(call.publish(reference=reference), decision)
        clock.now = 1.0
    assert meter.seconds() == only(current_correct=1.0)
    assert meter.errors == {}


json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(),
        st.sampled_from(['"', '"a"', "[1", "{}", " a ", '"\\\\"', '"[1"', "\ud800"]),
    ),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=8,
)  # fmt: skip


@given(json_values, st.integers(0, 3))
def test_a_canonical_text_is_its_own_canonical_text(value: Any, quotes: int) -> None:
    """What is written is what is read: as a value, as JSON, as JSON of JSON."""
    for _ in range(quotes):
        value = json.dumps(value)
    text = decision_text(value)
    if text is not None:
        assert decision_text(text) == text
        if not isinstance(value, float):  # alone and as text, "1.0" is the text it is
            assert decision_text(json.dumps(value)) == text
    if value is not None:
        written = text_of(value)
        assert decision_text(written) == written == text_of(written)
        written.encode()


def test_a_decision_that_is_no_json_value_is_held_counted_wrong_and_said(
    meter: Meter, clock: FakeClock
) -> None:
    thing = object()
    with meter.stream("call") as call:
        assert call.answer(call.publish(reference="wait"), thing) is True
        assert call.decision is thing
        clock.now = 1.0
    assert meter.seconds() == only(judgment=1.0)
    assert meter.errors == {"decision": 1}
    assert meter.stream("call").judge(0, thing) is False
    assert meter.errors["judge"] == 1


def test_a_clock_that_fails_or_goes_back_stops_no_application(clock: FakeClock) -> None:
    readings: list[Any] = [0.0, 2.0, 1.0, float("nan"), OSError("no clock"), 5.0, 5.0, 5.0]

    def broken() -> float:
        found = readings.pop(0)
        if isinstance(found, Exception):
            raise found
        return float(found)

    meter = Meter("test", clock=broken)
    call = meter.stream("call")
    assert [call.publish(reference=None) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert call.answer(4, "wait") is True
    assert call.decision == "wait"
    call.end()
    assert meter.errors == {"clock": 3}


def test_what_a_sink_raises_goes_no_further(meter: Meter, clock: FakeClock) -> None:
    def broken(event: Notice) -> None:
        raise OSError("no space left on device")

    meter.add_sink(broken)
    with meter.stream("call") as call:
        step = call.publish(reference="wait")
        assert call.answer(step, "wait") is True
        clock.now = 1.0
    meter.close()
    assert meter.seconds() == only(current_correct=1.0)
    assert meter.errors == {"export": 4}


def test_an_interrupt_inside_the_meter_is_not_swallowed(meter: Meter) -> None:
    def stop(event: Notice) -> None:
        raise KeyboardInterrupt

    meter.add_sink(stop)
    with pytest.raises(KeyboardInterrupt):
        meter.stream("call").publish()


def test_after_the_end_nothing_is_counted_and_nothing_raised(
    meter: Meter, clock: FakeClock
) -> None:
    with meter.stream("call") as call:
        step = call.publish(reference="wait")
        clock.now = 2.0
    call.end()
    clock.now = 9.0
    assert call.publish() == 1
    assert call.answer(step, "wait") is False
    assert call.shadow("candidate", step, "wait") is False
    assert meter.seconds() == only(no_decision=2.0)
    assert meter.readings()[0].answers["late"] == 1
    assert meter.errors == {"publish": 1, "shadow": 1}


def test_an_answer_older_than_the_window_is_in_force_and_measured(clock: FakeClock) -> None:
    meter = Meter("test", clock=clock, window=2)
    with meter.stream("call") as call:
        for k in range(5):
            clock.now = float(k)
            call.publish(reference="wait" if k < 4 else "hold")
        assert call.answer(0, "wait") is True
        assert call.decision == "wait"
        clock.now = 6.0
    meter.close()
    assert meter.seconds() == only(no_decision=4.0, stale=2.0)
    assert meter.readings()[0].age_integral_s2 == pytest.approx((36 - 16) / 2)


def test_an_answer_for_a_state_that_is_long_forgotten_is_in_force_and_not_measured(
    clock: FakeClock,
) -> None:
    """Nobody can say any more of which state it is: the log could not either. So it says so."""
    meter = Meter("test", clock=clock, window=2)
    with meter.stream("call") as call:
        steps = [call.publish(reference="wait") for _ in range(STRAGGLERS + 10)]
        assert call.answer(steps[2], "wait") is True
        assert (call.decision, call.source) == ("wait", steps[2])
        clock.now = 5.0
        assert call.answer(steps[1], "hold") is False
        assert call.answer(steps[-1], "wait") is True
        clock.now = 6.0
    assert meter.seconds() == near(only(no_decision=5.0, current_correct=1.0))
    assert meter.errors == {"answered too late": 1}


@pytest.mark.parametrize("window", [0, 1, 2])
def test_the_current_step_and_the_source_are_in_any_window(window: int, clock: FakeClock) -> None:
    meter = Meter("test", clock=clock, window=window)
    with meter.stream("call") as call:
        for k in range(3):
            step = call.publish()
            clock.now = k + 0.5
            call.answer(step, "wait")
            assert call.judge(step, "wait" if k else "hold") is True
            clock.now = k + 1.0
    assert meter.seconds() == near(
        only(no_decision=0.5, judgment=0.5, outdated_correct=0.5, current_correct=1.5)
    )
    assert meter.errors == {}


def test_a_source_that_nobody_will_judge_any_more_keeps_nobody_waiting(clock: FakeClock) -> None:
    meter = Meter("test", clock=clock, window=2)
    with meter.stream("call") as call:
        call.answer(call.publish(), "wait")
        for now, reference in ((1.0, "hold"), (2.0, "hold"), (3.0, "wait")):
            clock.now = now
            call.publish(reference=reference)
            clock.now = now + 1.0
            waiting = {"unattributed": 1.0} if now == 1.0 else {}
            assert meter.readings()[0].waiting == {
                "unjudged": float(now == 1.0),
                "unattributed": 0.0,
                **waiting,
            }
    assert meter.seconds() == near(only(unjudged=1.0, unattributed=2.0, current_correct=1.0))
    assert meter.readings()[0].pending_s == 0.0


def test_the_last_of_the_stragglers_is_still_known(clock: FakeClock) -> None:
    """Outside the window so many steps, and no more, are kept for answers that may come."""
    for beyond, known in ((0, True), (1, False)):
        meter = Meter("test", clock=clock, window=2)
        call = meter.stream("call")
        for _ in range(2 + STRAGGLERS + beyond):
            call.publish(reference="wait")
        assert call.answer(0, "wait") is True
        assert meter.errors == ({} if known else {"answered too late": 1})
        assert sum(meter.readings()[0].latency_buckets) == known


def test_latencies_ages_and_changes(meter: Meter, clock: FakeClock) -> None:
    with meter.stream("call") as call:
        a = call.publish()
        clock.now = 0.4
        call.answer(a, "wait")
        clock.now = 2.0
        b = call.publish()
        clock.now = 2.1
        call.answer(b, "wait")
        c = call.publish()
        clock.now = 3.1
        call.answer(c, "hold")
        clock.now = 4.1
    (reading,) = meter.readings()
    assert reading.changes == 1
    assert reading.latency_sum_s == pytest.approx(0.4 + 0.1 + 1.0)
    assert sum(reading.latency_buckets) == 3
    # In force: step a aged 0.4–2.1, step b aged 0.1–1.1, step c aged 1.0–2.0.
    integral = (2.1**2 - 0.4**2 + 1.1**2 - 0.1**2 + 2.0**2 - 1.0**2) / 2
    assert reading.age_integral_s2 == pytest.approx(integral)
    assert reading.mean_age_s == pytest.approx(integral / 3.7)


def test_a_change_is_another_decision(meter: Meter) -> None:
    with meter.stream("call") as call:
        for decision in ("wait", "wait", "hold", "wait", '"wait"', "stop"):
            call.answer(call.publish(), decision)
    assert meter.readings()[0].changes == 3


def test_wall_clock_jumps_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    meter = Meter("test")
    with meter.stream("call") as call:
        step = call.publish(reference="wait")
        monkeypatch.setattr(time, "time", lambda: -1e9)
        call.answer(step, "wait")
    assert 0 < sum(meter.seconds().values()) < 60


def test_failed_requests_are_counted(meter: Meter, clock: FakeClock) -> None:
    with meter.stream("call") as call:
        step = call.publish(reference="wait")
        assert call.answer(step, None) is False
        clock.now = 1.0
        assert call.answer(step, "wait") is True
        clock.now = 2.0
    assert meter.seconds() == only(no_decision=1.0, current_correct=1.0)
    assert meter.readings()[0].answers == {
        "applied": 1,
        "superseded": 0,
        "late": 0,
        "failed": 1,
        "withheld": 0,
    }


def test_memory_is_bounded_by_the_window(clock: FakeClock) -> None:
    """Never judged, never answered, or answered only now and then: what is kept stays small."""
    for answered, judged in ((0, 0), (1, 0), (0, 1), (1, 1), (10, 1), (10, 3)):
        meter = Meter("test", clock=clock, window=50)
        call = meter.stream("call")
        for k in range(2000):
            step = call.publish()
            if answered and k % answered == 0:
                call.answer(step, "wait")
            if judged and k % judged == 0:
                call.judge(step, "wait")
            clock.now += 0.1
        lane = call._lanes["applied"]
        assert len(lane.steps) <= 50
        assert len(lane._stragglers) <= STRAGGLERS
        if answered == judged == 1:
            assert len(lane.steps) <= 1
