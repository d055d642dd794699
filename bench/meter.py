"""What the meter costs: time per event, memory over an hour, and how many streams one core serves.

    python bench/meter.py                                  # all three, five or six minutes of one core
    python bench/meter.py --streams 200 --seconds 600      # ten seconds

Ratios are to an uninstrumented holder of the newest decision and to one increment of a Prometheus
counter, in the same process. The hour is virtual: 10,000 open streams, one event a second each. A fifth of
the steps is never judged: memory grows until every stream's window of unjudged steps is full, here well
within the first sixth of the hour, and must be flat from then on.
"""

from __future__ import annotations

import argparse
import gc
import resource
import time
from collections.abc import Callable
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter

from streamdecisionbench.kernel.rule import Newest
from streamdecisionbench.meter import Meter


class Bare:
    """What a service without a meter does: hold the newest answer."""

    def __init__(self) -> None:
        self.rule = Newest()
        self.steps = 0
        self.decision: str | None = None

    def publish(self) -> int:
        self.steps += 1
        return self.steps - 1

    def answer(self, step: int, decision: str) -> None:
        if self.rule.admits(None, step):
            self.rule.activate(None, step)
            self.decision = decision


def per_call_us(work: Callable[[int], None], calls: int, events: int = 1) -> float:
    best = float("inf")
    for _ in range(5):
        begin = time.process_time()
        work(calls)
        best = min(best, (time.process_time() - begin) / (calls * events))
    return 1e6 * best


def time_per_event() -> float:
    counter = Counter("bench", "x", ["class"], registry=CollectorRegistry()).labels("stale")

    def increments(n: int) -> None:
        for _ in range(n):
            counter.inc(0.5)

    def bare(n: int) -> None:
        holder = Bare()
        for _ in range(n):
            holder.answer(holder.publish(), "wait")

    def metered(n: int) -> None:
        call = Meter("bench").stream("call")
        for _ in range(n):
            step = call.publish()
            call.answer(step, "wait")
            call.judge(step, "wait")

    one, two, three = (
        per_call_us(increments, 100_000),
        per_call_us(bare, 100_000, 2),
        per_call_us(metered, 20_000, 3),
    )
    print(f"per event: {three:.1f} µs (publish, answer and judge alike)")
    print(f"  {three / two:.0f} times an uninstrumented call ({two:.2f} µs)")
    print(f"  {three / one:.0f} times one increment of a Prometheus counter ({one:.2f} µs)")
    for size in (1_000, 100_000):
        took = per_call_us(metered, size // 3 + 1, 3)
        print(f"  on a stream of {size // 3:,} steps: {took / three:.2f} of that")
    return three


def resident_mb() -> float:
    """Now, not at most: what was given back counts as given back."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def hour(streams: int, seconds: int, window: int) -> None:
    """One event a second and stream: publish, answer, judge in turn; a fifth is never judged."""
    now = [0.0]
    meter = Meter("bench", clock=lambda: now[0], window=window)
    calls = [meter.stream(f"call-{k}") for k in range(streams)]
    steps = [0] * streams
    gc.collect()
    begin = time.process_time()
    sizes = []
    for second in range(seconds):
        now[0] = float(second)
        for k, call in enumerate(calls):
            phase = (second + k) % 3
            if phase == 0:
                steps[k] = call.publish()
            elif phase == 1:
                call.answer(steps[k], "wait")
            elif steps[k] % 5:
                call.judge(steps[k], "wait")
        if second * 6 % seconds == 0 or second == seconds - 1:
            sizes.append(resident_mb())
    took = time.process_time() - begin
    events = streams * seconds
    print(f"{streams:,} open streams, {seconds:,} s of virtual time, {events:,} events")
    print(
        f"  a window of {window} unjudged steps each; resident memory by sixths of it, MB: {', '.join(f'{size:.0f}' for size in sizes)}"
    )
    print(f"  one core serves {events / took / streams:.1f} times that rate"
          f" ({events / took:,.0f} events a second)")  # fmt: skip
    looking = time.process_time()
    meter.seconds()
    print(f"  reading all counters: {1e6 * (time.process_time() - looking):.0f} µs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--window", type=int, default=20)
    chosen = parser.parse_args()
    us = time_per_event()
    # Ten thousand streams lie far apart in memory: there an event takes about twice as long.
    takes_s = chosen.streams * chosen.seconds * 2.2 * us / 1e6
    print(f"the hour, up to {takes_s:.0f} s of one core", flush=True)
    hour(chosen.streams, chosen.seconds, chosen.window)


if __name__ == "__main__":
    main()
