"""The clock a recording is made on: monotonic seconds since an episode's start.

An event loop wakes up to about a millisecond late, because its timers are rounded to milliseconds.
`sleep_until` therefore sleeps to a little before the instant and then yields to the loop, over and
over, until the instant is there: answers that arrive meanwhile are still taken in.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["LEAD_S", "SPIN_S", "Clock", "seconds", "steady"]

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
