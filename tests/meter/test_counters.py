"""The counters against the plain definition, over random sequences of events."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.meter import CLASSES, Meter, Notice
from tests.meter import plain
from tests.meter.plain import Happened

DECISIONS = ("wait", "hold", "advance")


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Near(dict[str, float]):
    """Equal to the same names with seconds that differ by a billionth at most."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, found: object) -> bool:
        return (
            isinstance(found, dict)
            and found.keys() == self.keys()
            and all(abs(found[name] - seconds) <= 1e-9 for name, seconds in self.items())
        )


def near(seconds: dict[str, float]) -> Near:
    return Near(seconds)


Action = tuple[str, float, float, int]
"""What, seconds since the one before, which step as a share of those published, which decision."""

actions = st.lists(
    st.tuples(
        st.sampled_from(("publish", "publish", "answer", "answer", "judge", "judge", "look")),
        st.one_of(st.just(0.0), st.floats(0, 5), st.floats(0, 1e-6)),
        st.floats(0, 1),
        st.integers(0, 2),
    ),
    max_size=60,
)


Look = Callable[[Meter, list[Happened], float], None]


def play(
    taken: list[Action],
    *,
    window: int = 1000,
    look: Look = lambda *_: None,
    always: Look = lambda *_: None,
    **options: Any,
) -> tuple[Meter, list[Happened], FakeClock]:
    clock = FakeClock()
    meter = Meter("test", clock=clock, window=window, **options)
    happened: list[Happened] = []
    call = meter.stream("one")
    published = 0
    for what, pause, share, which in taken:
        clock.now += pause
        step = int(share * (published - 1)) if published else 0
        if what == "publish":
            assert call.publish() == published
            happened.append(Happened("publish", clock.now))
            published += 1
        elif what == "look":
            look(meter, happened, clock.now)
        elif what == "answer":
            applied = call.answer(step, DECISIONS[which])
            happened.append(Happened("answer", clock.now, step, DECISIONS[which]))
            if applied:
                assert (call.source, call.decision) == (step, DECISIONS[which])
        else:
            call.judge(step, DECISIONS[which])
            happened.append(Happened("judge", clock.now, step, DECISIONS[which]))
        always(meter, happened, clock.now)
    call.end()
    happened.append(Happened("end", clock.now))
    always(meter, happened, clock.now)
    return meter, happened, clock


@settings(max_examples=250, deadline=None)
@given(actions)
def test_counters_equal_the_plain_definition_at_any_moment(taken: list[Action]) -> None:
    before = dict.fromkeys(CLASSES, 0.0)

    def look(meter: Meter, happened: list[Happened], now: float) -> None:
        found = meter.seconds()
        assert found == near(plain.seconds(happened, now))
        assert all(found[name] >= before[name] - 1e-12 for name in CLASSES), "a counter went back"
        before.update(found)
        (reading,) = meter.readings()
        integral, held = plain.age_integral(happened, now)
        assert reading.age_integral_s2 == pytest.approx(integral, rel=1e-9, abs=1e-9)
        assert reading.in_force_s == pytest.approx(held, rel=0, abs=1e-9)

    meter, happened, clock = play(taken, look=look)
    look(meter, happened, clock.now)
    meter.close()
    found = meter.seconds()
    assert found == near(plain.seconds(happened, clock.now, closed=True))
    (reading,) = meter.readings()
    assert reading.pending_s == 0
    observed = [h.at for h in happened if h.kind == "publish"]
    assert sum(found.values()) == pytest.approx(
        clock.now - observed[0] if observed else 0, abs=1e-9
    )
    assert meter.errors.keys() <= {"judged too late"}


@settings(max_examples=250, deadline=None)
@given(actions, st.integers(2, 5))
def test_beyond_the_window_what_is_unknown_stays_so(taken: list[Action], window: int) -> None:
    def look(meter: Meter, happened: list[Happened], now: float) -> None:
        assert meter.seconds() == near(plain.seconds(happened, now, window=window))

    meter, happened, clock = play(taken, window=window, look=look)
    assert meter.seconds() == near(plain.seconds(happened, clock.now, window=window))
    meter.close()
    assert meter.seconds() == near(plain.seconds(happened, clock.now, window=window, closed=True))
    (reading,) = meter.readings()
    assert reading.given_up >= len(plain.known(happened, window).given_up)


@settings(max_examples=300, deadline=None)
@given(actions, st.sampled_from([2, 3, 1000]))
def test_at_every_event_in_force_is_that_of_the_time_whose_right_answer_is_known(
    taken: list[Action], window: int
) -> None:
    """Whatever is not known of the source: who is to blame may come later, the figure does not wait."""
    before = {"right": 0.0, "wrong": 0.0}

    def always(meter: Meter, happened: list[Happened], now: float) -> None:
        want = plain.judged(happened, now, window=window)
        (reading,) = meter.readings()
        assert reading.judged == near({"right": want.right, "wrong": want.wrong})
        assert reading.waiting == near(
            {"unjudged": want.unjudged, "unattributed": want.unattributed}
        )
        assert all(reading.judged[k] >= v for k, v in before.items()), "a counter went back"
        before.update(reading.judged)
        lost, compared = plain.causes(happened, now, window=window)
        if reading.judged_s > 1e-3 and (compared == 0 or compared > 1e-3):
            shares = {cause: s / (want.right + want.wrong) for cause, s in lost.items()}
            assert reading.causes == pytest.approx(shares, abs=1e-6)
        if want.right + want.wrong > 1e-3:
            accuracy = want.right / (want.right + want.wrong)
            assert meter.in_force() == pytest.approx(accuracy, abs=1e-6)
            assert reading.in_force == meter.in_force()

    meter, *_ = play(taken, window=window, always=always)
    before_close = meter.in_force()
    meter.close()
    assert meter.in_force() == before_close
    seconds = meter.seconds()
    (reading,) = meter.readings()
    right = seconds["current_correct"] + seconds["outdated_correct"]
    assert reading.judged["right"] == pytest.approx(right, abs=1e-9)
    assert reading.judged_s == pytest.approx(sum(seconds.values()) - seconds["unjudged"], abs=1e-9)


def test_seconds_whose_source_waits_for_its_judgment_are_in_the_figure() -> None:
    """The waiting ones are mostly the wrong ones: a wrong answer is in force over several states."""
    clock = FakeClock()
    meter = Meter("test", clock=clock)
    call = meter.stream("call")
    call.answer(call.publish(reference="a"), "a")
    clock.now = 8.0
    call.answer(call.publish(), "b")
    call.publish(reference="a")
    clock.now = 10.0
    assert meter.in_force() == 0.8
    (reading,) = meter.readings()
    assert reading.judged == {"right": 8.0, "wrong": 2.0}
    assert reading.waiting == {"unjudged": 0.0, "unattributed": 2.0}
    assert sum(meter.seconds().values()) == 8.0


def drawn(draw: random.Random) -> list[Action]:
    """Thirty actions; some sequences mostly publish, some mostly judge, some hardly answer."""
    kinds = ("publish", "answer", "judge", "look")
    weights = (draw.random(), draw.random(), draw.random(), 0.1)
    pauses = (lambda: 0.0, lambda: draw.random() * 5, lambda: draw.expovariate(1e6))
    return [
        (kind, draw.choice(pauses)(), draw.random() ** draw.choice((0.1, 1)), draw.randrange(3))
        for kind in draw.choices(kinds, weights, k=30)
    ]


@pytest.mark.parametrize("block", range(4))
def test_thousands_of_sequences(block: int) -> None:
    """Four thousand of them, half with a window that they outgrow."""
    for seed in range(1000 * block, 1000 * (block + 1)):
        draw = random.Random(seed)
        window = draw.choice((1000, draw.randrange(2, 6)))

        def look(meter: Meter, happened: list[Happened], now: float, window: int = window) -> None:
            assert meter.seconds() == near(plain.seconds(happened, now, window=window))

        meter, happened, clock = play(drawn(draw), window=window, look=look)
        meter.close()
        wanted = plain.seconds(happened, clock.now, window=window, closed=True)
        assert meter.seconds() == near(wanted), seed


def drive(meter: Meter, name: str, seed: int, steps: int, **labels: str) -> None:
    """One session from one thread: answers out of order, judgments late, some of each missing."""
    draw = random.Random(seed)
    waiting: list[tuple[str, int]] = []
    with meter.stream(name, **labels) as call:
        for _ in range(steps):
            step = call.publish()
            waiting += [("answer", step)] * (draw.random() < 0.9)
            waiting += [("judge", step)] * (draw.random() < 0.8)
            draw.shuffle(waiting)
            for what, which in [waiting.pop() for _ in range(min(len(waiting), draw.randrange(4)))]:
                if what == "answer":
                    call.answer(which, draw.choice(DECISIONS))
                    call.shadow("candidate", which, draw.choice(DECISIONS))
                else:
                    call.judge(which, draw.choice(DECISIONS))
    for what, which in waiting:
        if what == "judge":
            call.judge(which, draw.choice(DECISIONS))


def ticking(by: float = 0.0013) -> Callable[[], float]:
    """A clock that no two events read alike, so that what happened has one order."""
    lock, at = threading.Lock(), [0.0]

    def read() -> float:
        with lock:
            at[0] += by  # never on the edge of a latency bucket
            return at[0]

    return read


def happened_on(events: list[Notice], stream: str, component: str) -> list[Happened]:
    words = {"published": "publish", "answered": "answer", "judged": "judge", "ended": "end"}
    return [
        Happened(words[e.kind], e.at, e.step, e.value or "")
        for e in sorted(events, key=lambda e: e.at)
        if e.stream.name == stream and e.component == component
    ]


@pytest.mark.parametrize("seed", range(6))
def test_many_threads_at_once(seed: int) -> None:
    events: list[Notice] = []
    meter = Meter("threads", clock=ticking(), shadows=("candidate",))
    meter.add_sink(events.append)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda k: drive(meter, f"call-{k}", 100 * seed + k, 40), range(24)))
    meter.close()
    for component in ("applied", "candidate"):
        wanted = dict.fromkeys(CLASSES, 0.0)
        for k in range(24):
            mine = happened_on(events, f"call-{k}", component)
            for name, value in plain.seconds(mine, mine[-1].at, closed=True).items():
                wanted[name] += value
        assert meter.seconds(component) == pytest.approx(wanted, rel=0, abs=1e-9)
    assert sum(meter.seconds("applied").values()) == pytest.approx(
        sum(meter.seconds("candidate").values()), abs=1e-9
    )


def test_one_stream_from_many_threads() -> None:
    events: list[Notice] = []
    meter = Meter("threads", clock=ticking())
    meter.add_sink(events.append)
    call = meter.stream("shared")

    def work(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(100):
            step = call.publish()
            call.answer(max(0, step - draw.randrange(5)), draw.choice(DECISIONS))
            call.judge(max(0, step - draw.randrange(5)), draw.choice(DECISIONS))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    call.end()
    meter.close()
    mine = happened_on(events, "shared", "applied")
    assert [h.step for h in mine if h.kind == "publish"] == list(range(800))
    assert meter.seconds() == near(plain.seconds(mine, mine[-1].at, closed=True))
