"""A queueing server lets replies leave when a plain simulation of it says."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.components.serving.http_server import listen
from streamdecisionbench.components.serving.timed_replies import Planned, Queued, RequestQueue
from tests.cli.command import sdb
from tests.components.serving.test_timed_replies import ask, one_route

pytestmark = pytest.mark.slow

times = st.integers(0, 400).map(lambda k: k / 16)
"""Exact in binary, so that sums are equal and not nearly equal."""


def plainly(arrivals: list[float], services: list[float], capacity: int, batch: int) -> list[float]:
    """By definition: at every instant at which something can happen, look at everything."""
    leaves: list[float | None] = [None] * len(arrivals)
    free = [0.0] * capacity
    while None in leaves:
        waiting = [k for k, at in enumerate(leaves) if at is None]
        place = min(range(capacity), key=free.__getitem__)
        start = max(free[place], arrivals[waiting[0]])
        # Who arrives at the very moment a place becomes free finds it free, unless somebody waited.
        if free[place] < arrivals[waiting[0]] or len(waiting) == 1:
            taken = [waiting[0]]
        else:
            here = [k for k in waiting if arrivals[k] < start]
            taken = (here or waiting[:1])[:batch]
        free[place] = start + max(services[k] for k in taken)
        for k in taken:
            leaves[k] = free[place]
    return [at for at in leaves if at is not None]


@given(
    st.lists(st.tuples(times, times), min_size=1, max_size=25),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_replies_leave_as_in_a_plain_simulation(
    requests: list[tuple[float, float]], capacity: int, batch: int
) -> None:
    requests.sort(key=lambda r: r[0])
    queue = RequestQueue(capacity, batch)
    found: dict[int, float] = {}
    for k, (arrived, service_s) in enumerate(requests):
        while queue.due is not None and queue.due < arrived:
            queue.advance(queue.due)
        queue.arrive(arrived, service_s, lambda at, k=k: found.__setitem__(k, at))  # type: ignore[misc]
    while queue.due is not None:
        queue.advance(queue.due)
    arrivals, services = [a for a, _ in requests], [s for _, s in requests]
    assert [found[k] for k in range(len(requests))] == plainly(arrivals, services, capacity, batch)
    assert all(found[k] >= arrivals[k] + services[k] or batch > 1 for k in range(len(requests)))


@given(st.lists(st.tuples(times, times), min_size=1, max_size=20), st.integers(1, 3))
def test_one_at_a_time_keeps_the_order_of_service(
    requests: list[tuple[float, float]], capacity: int
) -> None:
    """First come, first served: starts never overtake each other."""
    requests.sort(key=lambda r: r[0])
    queue, starts = RequestQueue(capacity), []
    for arrived, service_s in requests:
        queue.arrive(arrived, service_s, lambda at, s=service_s: starts.append(at - s))  # type: ignore[misc]
    while queue.due is not None:
        queue.advance(queue.due)
    assert len(starts) == len(requests)
    assert starts == sorted(starts)


def test_a_real_server_queues() -> None:
    """Six at once at two places: three waves, and none leaves before its own."""

    async def run(batch: int) -> list[float]:
        queued = Queued(RequestQueue(2, batch))
        app = one_route(lambda body: Planned({}, 0.2), finish_at=queued)
        async with listen(app, "127.0.0.1", 0) as at:
            found = await asyncio.gather(*(ask(at.port) for _ in range(6)))
        assert queued.queue.waiting == 0
        assert queued.queue.longest >= 1
        return sorted(took for _, _, took in found)

    took = asyncio.run(run(batch=1))
    assert took[0] >= 0.2
    assert took[2] >= 0.38
    assert took[4] >= 0.55
    batched = asyncio.run(run(batch=4))
    assert batched[2] >= 0.38  # two start at once, four follow together


@pytest.mark.parametrize(
    "options",
    [("--batch", 2), ("--capacity", 0), ("--service-time", -1), ("--service-time", "nobody")],
)
def test_odd_capacities_are_refused(options: tuple[str, object]) -> None:
    done = sdb("serve", "--port", 0, *options)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
