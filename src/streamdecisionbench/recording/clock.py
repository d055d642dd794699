"""The clock a recording is made on, and recognising that time passed the client by.

A clock counts monotonic seconds since an episode's start. An event loop wakes up to about a millisecond late, because its timers are rounded to milliseconds.
`sleep_until` therefore sleeps to a little before the instant and then yields to the loop, over and
over, until the instant is there: answers that arrive meanwhile are still taken in. A laptop's lid, a
hypervisor's pause or Ctrl-Z in the middle of a scenario leaves states published late or not at all. What
was recorded around it measures nothing, so the scenario is recorded anew. A heartbeat finds pauses between
two releases too: those would pass for latency.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

SPIN_S = 0.0012
"""How long before an instant the clock starts to watch it: just above a timer's rounding."""

LEAD_S = 0.02
"""An episode starts this long after its clock is made, so that step 0 is not late either."""

_SWITCH_S = 0.0005


class Clock:
    """Seconds since the episode's start. `spin_s` = 0 leaves waiting to the event loop's timers.

    >>> clock = Clock(lead_s=0.0)
    >>> 0 <= clock.now() < 60
    True
    """

    __slots__ = ("_spin_s", "origin")

    def __init__(self, *, lead_s: float = LEAD_S, spin_s: float = SPIN_S) -> None:
        self.origin = time.monotonic() + lead_s
        self._spin_s = spin_s

    def now(self) -> float:
        return time.monotonic() - self.origin

    def at(self, monotonic_s: float) -> float:
        """An instant of `time.monotonic()` on this clock."""
        return monotonic_s - self.origin

    async def sleep_until(self, instant_s: float) -> float:
        """Waits for an instant and returns the time it really is.

        It yields at least once, also when the instant is past: after a stall, steps that are due
        together still go out one by one, each with its request behind it.
        """
        await asyncio.sleep(max(0.0, instant_s - self._spin_s - self.now()))
        now = self.now()
        while now < instant_s:
            await asyncio.sleep(0 if self._spin_s else instant_s - now)
            now = self.now()
        return now


def seconds(value: float) -> float:
    """A time as it is written down: to the nanosecond, which is what the clock can tell apart.

    >>> seconds(2.00000000012345)
    2.0
    """
    return round(value, 9)


@contextmanager
def steady() -> Iterator[None]:
    """While it lasts, nothing in this process pauses the event loop for long.

    The garbage collector is off (its full pass takes milliseconds) and a thread that draws progress
    hands the interpreter over after half a millisecond instead of five. A heap that its owner froze
    stays frozen.
    """
    interval = sys.getswitchinterval()
    collecting = gc.isenabled()
    frozen = gc.get_freeze_count() > 0
    gc.collect()
    gc.freeze()
    gc.disable()
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        if not frozen:
            gc.unfreeze()
        if collecting:
            gc.enable()


SLEPT, STOPPED, TOO_LATE = "slept", "stopped", "too_late"

_NOTICED_S = 0.05
"""Sleep shorter than this cannot be told from the time between reading two clocks."""

_LONG_S = 1.0
_IDLE = 0.1
"""A process that used less than this share of a gap was not running in it."""


class Paused(Exception):  # noqa: N818 - named by what happened
    """The machine or the process stood still: the scenario under way cannot be used."""

    def __init__(self, kind: str, seconds: float, t: int, episode_id: str = "") -> None:
        super().__init__(kind)
        self.kind, self.seconds, self.t, self.episode_id = kind, seconds, t, episode_id

    @property
    def words(self) -> str:
        """What happened, for people.

        >>> Paused("slept", 4.2, 7).words
        'the machine slept for 4.2 s at step 7'
        """
        what = {
            SLEPT: f"the machine slept for {self.seconds:.3g} s",
            STOPPED: f"the process stood still for {self.seconds:.3g} s",
            TOO_LATE: f"a state was {self.seconds:.3g} s late, at or after the horizon",
        }[self.kind]
        return f"{what} at step {self.t}"


class PauseDetector:
    """Looks at the clocks of one scenario at every release. `stops` = False forgives mere stops."""

    def __init__(
        self, interval_s: float, horizon_s: float, episode_id: str = "", *, stops: bool = True
    ) -> None:
        self._interval_s, self._horizon_s = interval_s, horizon_s
        self._episode_id, self._stops = episode_id, stops
        self._asleep_s = asleep_s()
        self._cpu_s = time.process_time()

    def released(self, t: int, release_s: float, planned_s: float) -> None:
        """Raises `Paused` when this release shows that time passed us by."""
        self.check_sleep(t)
        lag_s = release_s - planned_s
        cpu_s = time.process_time()
        used_s, self._cpu_s = cpu_s - self._cpu_s, cpu_s
        if release_s >= self._horizon_s:
            raise Paused(TOO_LATE, lag_s, t, self._episode_id)
        if self._stops and lag_s >= max(self._interval_s, _LONG_S) and used_s < _IDLE * lag_s:
            raise Paused(STOPPED, lag_s, t, self._episode_id)

    def check_sleep(self, t: int) -> None:
        """Raises `Paused` when the machine slept since the scenario began."""
        slept_s = asleep_s() - self._asleep_s
        if slept_s > _NOTICED_S:
            raise Paused(SLEPT, slept_s, t, self._episode_id)


BEAT_S = 0.01
STALL_S = 0.05
"""A gap between two beats that is reported: what was pending is marked with it."""
AGAIN_S = 0.25
"""A gap in which the process did not run for this long: what was pending is recorded again."""
_BUSY = 0.5
"""A process that used this share of a gap was working, not stopped."""


class Waiting(Protocol):
    """A stream that a gap can spoil."""

    episode_id: str

    def waiting(self, end_s: float) -> int | None:
        """The step that was pending or due before `end_s` of `time.monotonic()`; None: neither."""
        ...


class Heartbeat:
    """Finds the times in which the event loop of a round did not run.

    The loop beats every `BEAT_S`, and whenever an answer or a release is processed: the gap is known before
    anything that waited through it is written. `in_process`: a component may block the loop with work of
    its own; then only a gap that a second thread saw as well is a stop. `only_stops`: nothing else is a
    gap, because all components run in this process. `stops` = False marks and never raises.

    >>> now = iter([0.0, 0.01, 0.81, 0.82])
    >>> heart = Heartbeat(now=lambda: next(now), cpu=lambda: 0.0)
    >>> heart.beat(), heart.beat(), heart.beat()
    (None, None, None)
    >>> heart.gaps, heart.within(0.5, 9.0)
    ([(0.01, 0.81)], 0.31)
    """

    def __init__(
        self,
        *,
        in_process: bool = False,
        only_stops: bool = False,
        stops: bool = True,
        now: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.process_time,
    ) -> None:
        self._only_stops, self._stops = only_stops, stops
        self._now, self._cpu = now, cpu
        self._second = _SecondThread() if in_process else None
        self._streams: list[Waiting] = []
        self.gaps: list[tuple[float, float]] = []
        """In order, on `time.monotonic()`."""
        self.pause: Paused | None = None
        self._seen_s, self._cpu_s = now(), cpu()

    def watch(self, stream: Waiting) -> None:
        """The stream is asked what a gap spoiled."""
        self._streams.append(stream)

    def beat(self) -> None:
        """The loop runs. Notes the gap since the last beat, if there was one."""
        begin_s, used_s = self._seen_s, -self._cpu_s
        end_s, self._cpu_s = self._now(), self._cpu()
        self._seen_s = end_s
        if end_s - begin_s < STALL_S:
            return
        stopped = used_s + self._cpu_s < _BUSY * (end_s - begin_s)
        if self._second is not None:
            stopped = stopped and self._second.stood_still(begin_s, end_s)
        if not stopped and self._only_stops:
            return
        self.gaps.append((begin_s, end_s))
        if not stopped or not self._stops or end_s - begin_s < AGAIN_S or self.pause is not None:
            return
        for stream in self._streams:
            t = stream.waiting(end_s)
            if t is not None:
                self.pause = Paused(STOPPED, end_s - begin_s, t, stream.episode_id)
                return

    def within(self, begin_s: float, end_s: float) -> float:
        """Seconds of gaps between two instants of `time.monotonic()`."""
        total_s = 0.0
        for begin, end in reversed(self.gaps):
            if end <= begin_s:
                break
            total_s += max(0.0, min(end, end_s) - max(begin, begin_s))
        return round(total_s, 9)

    async def over(self, work: Awaitable[None]) -> None:
        """Beats until the work is done. Raises `Paused` as soon as a stop has spoiled it."""
        if self._second is not None:
            self._second.start()
        try:
            async with asyncio.TaskGroup() as group:
                beating = group.create_task(self._run())
                await work
                beating.cancel()
        except BaseExceptionGroup as failures:
            raise (self.pause or failures.exceptions[0]) from None
        finally:
            if self._second is not None:
                self._second.end()
        self._raise()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            self.beat()
            self._raise()

    def _raise(self) -> None:
        if self.pause is not None:
            raise self.pause


class _SecondThread:
    """Beats outside the event loop: it goes on while a component blocks the loop, and not in a stop."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._seen_s = time.monotonic()
        self._gaps: list[tuple[float, float]] = []

    def start(self) -> None:
        self._seen_s = time.monotonic()
        threading.Thread(target=self._run, name="sdb-heartbeat", daemon=True).start()

    def end(self) -> None:
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(BEAT_S):
            before_s, self._seen_s = self._seen_s, time.monotonic()
            if self._seen_s - before_s >= STALL_S / 2:
                self._gaps.append((before_s, self._seen_s))

    def stood_still(self, begin_s: float, end_s: float) -> bool:
        """Whether it missed most of this time too."""
        gaps = [*self._gaps[-100:], (self._seen_s, end_s)]
        missed_s = sum(max(0.0, min(e, end_s) - max(b, begin_s)) for b, e in gaps)
        return missed_s >= (end_s - begin_s) / 2


def asleep_s() -> float:
    """Seconds this machine has slept since it was started; 0 where the system does not say.

    One clock stops while the machine sleeps and one does not: the difference is what it slept.
    """
    if hasattr(time, "CLOCK_BOOTTIME"):  # Linux
        running, always = time.CLOCK_MONOTONIC, time.CLOCK_BOOTTIME
    elif hasattr(time, "CLOCK_UPTIME_RAW"):  # macOS
        running, always = time.CLOCK_UPTIME_RAW, time.CLOCK_MONOTONIC
    else:
        return 0.0
    for _ in range(10):
        before = time.clock_gettime(running)
        total = time.clock_gettime(always)
        between = time.clock_gettime(running) - before
        if between < _NOTICED_S / 10:  # not interrupted between the two
            break
    return total - before
