"""The meter: what a running service lives with, counted as it happens."""

from __future__ import annotations

import heapq
import math
import os
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.classes import ALL_CLASSES
from streamdecisionbench.meter.counts import (
    COUNTERS,
    GRAINS,
    THETA_S,
    Counter,
    Counts,
    Reading,
    accuracy,
)
from streamdecisionbench.meter.lane import Lane, Rates
from streamdecisionbench.meter.stream import APPLIED, Notice, Sink, Stream
from streamdecisionbench.text import harmless

if TYPE_CHECKING:
    import asyncio

    from streamdecisionbench.meter.stream_policy import StreamPolicy
    from streamdecisionbench.policies.cost_rules import Costs
    from streamdecisionbench.policies.policy_file import Policy

_GUARDED = (
    "clock", "publish", "answer", "judge", "end", "shadow", "reference", "give up", "export", "log", "state",
    "ask", "change",
)  # fmt: skip
RESERVED = frozenset({
    "stream", "published_at", "requested_at", "answered_at", "applied_at", "decision", "reference",
    "ended_at", "state", "state_id", "confidence", "cost", "weight", "tick_s", "session", "meter",
    "component", "step", "wall_time", "partial", "filename", "class", "outcome", "verdict", "effects",
    "member", "member_latency_s",
})  # fmt: skip
"""Columns of the log and labels of the counters that have a meaning of their own, in any spelling."""

_MAX_GROUPS = 1000
_MAX_LABELS = 100
_NEVER = 2.0**80
"""No clock that counts seconds, or nanoseconds by mistake, gets there."""


class Meter:
    """Counts the seconds of every class over all streams of one service.

    >>> now = 0.0
    >>> meter = Meter("recorder", clock=lambda: now)
    >>> with meter.stream("call-7") as call:
    ...     step = call.publish({"said": "card number"}, reference="pause")
    ...     now = 2.0
    ...     call.answer(step, "pause"), call.decision
    ...     now = 10.0
    (True, 'pause')
    >>> meter.seconds()["current_correct"], meter.seconds()["no_decision"]
    (8.0, 2.0)
    >>> meter.in_force()
    0.8

    `clock` gives seconds and never goes back; wall-clock time is not asked. `reference` is a function
    of a published state that says what is right for it, or a coroutine function. `shadows` are
    components measured beside the applied one, `by` the stream labels that split the counters.
    Judgments may come while at most `window` newer steps of the stream wait for theirs, and after a
    stream's end while at most `late_window` steps of all ended streams wait. Beyond `theta` seconds a
    wrong spell is long. `costs` is a cost file, or `default`: a stream's label `family` picks its section.
    `policy` is a policy file: what it says takes effect does. `on_change(stream, decision)` hears whenever
    another decision is in force, also by expiry.
    """

    def __init__(
        self,
        name: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        reference: Callable[[Any], Any] | None = None,
        shadows: Sequence[str] = (),
        by: Sequence[str] = (),
        window: int = 1000,
        late_window: int = 100_000,
        theta: float = THETA_S,
        costs: Costs | str | os.PathLike[str] | None = None,
        policy: Policy | str | os.PathLike[str] | None = None,
        on_change: Callable[[Stream, Any], object] | None = None,
    ) -> None:
        if not (isinstance(theta, int | float) and 0 <= theta < math.inf):
            raise InputError(f"theta={theta!r} is no limit", fix="give seconds, 0 or more")
        for limit, given in (("window", window), ("late_window", late_window)):
            if not isinstance(given, int) or given < 0:
                raise InputError(f"{limit}={given!r} is no number of steps", fix="give 0 or more")
        self.theta = theta
        self.costs = None if costs is None else _cost_rules(costs)
        self.policy = None if policy is None else _read_policy(policy)
        self._on_change = on_change
        self._rates: dict[str, Rates] = {}
        self.reference = reference
        self.shadows = dict.fromkeys(_names("shadows", shadows, {APPLIED}))
        self.by = _names("by", by, RESERVED)
        self.window = max(2, window)
        self.late_window = late_window
        self.sinks: tuple[Sink, ...] = ()
        self.guards = {where: _Guard(self, where) for where in _GUARDED}
        self._clock = clock
        self._last_read = self._latest = -math.inf
        self._now = 0
        self._spellings = {name.lower(): name for name in self.by}
        self.begin_run()
        self.name = self.text(name, "names")
        _METERS.add(self)

    def begin_run(self) -> None:
        """In this process: counters at zero, streams and files under a name that nobody else uses.

        A forked child calls it before anything else. Locks may have been held when it was forked.
        """
        self.lock = threading.RLock()
        began = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        self.run = f"{began}-{os.getpid()}-{os.urandom(8).hex()}"
        """When and in which process this meter began: part of every stream's id."""
        self.errors: dict[str, int] = {}
        """What went wrong inside the meter, by place; none of it reached the application."""
        self.lost_rows = 0
        """Rows of a decision log that could not be written."""
        self._groups: dict[tuple[str, ...], Counts] = {}
        self._streams: dict[str, Stream] = {}
        self._ordinal = 0
        self._open: dict[int, Stream] = {}
        self._ended: OrderedDict[int, tuple[Stream, int]] = OrderedDict()
        self._ended_steps = 0
        self._tasks: set[asyncio.Future[Any]] = set()
        self._lapses: list[tuple[int, int, Stream]] = []
        """When decisions yield, the next one first; some have been replaced by then."""
        self._lapse_number = 0
        self._changes: list[tuple[Stream, Any]] = []
        self._alarm: threading.Event | None = None
        if not self.by:
            self._group(APPLIED, {})  # so that its counters are there from the start, at zero
        for sink in self.sinks:
            begin_run = getattr(sink, "begin_run", None)
            if begin_run is not None:
                with self.guards["export"]:
                    begin_run()

    def stream(self, name: str, **labels: str) -> Stream:
        """A session begins. Labels go into the log; those named in `by` split the counters."""
        with self.lock:
            kept = {}
            for label, value in labels.items():
                if self._may_label(label):
                    kept[label] = self.text(value, "labels")
                else:
                    self.count_error("labels")
            return Stream(self, self.text(name, "names"), kept)

    def judge(self, stream: str, step: int, reference: Any) -> bool:
        """`Stream.judge` for those who only know the session's name: its latest stream."""
        found = self._streams.get(self.text(stream, "names"))
        if found is None:
            self.count_error("judged too late")
            return False
        return found.judge(step, reference)

    def seconds(self, component: str = APPLIED, **labels: str) -> dict[str, float]:
        """Seconds by class, of which all that decides the class is known, running streams included."""
        total = dict.fromkeys(ALL_CLASSES, 0.0)
        for reading in self._chosen(component, labels):
            for kind, seconds in reading.seconds.items():
                total[kind] += seconds
        return total

    def in_force(self, component: str = APPLIED, **labels: str) -> float | None:
        """In-force accuracy so far: correct time over judged time; None before any was judged."""
        judged = [reading.judged for reading in self._chosen(component, labels)]
        return accuracy(sum(one["right"] for one in judged), sum(one["wrong"] for one in judged))

    def readings(self) -> list[Reading]:
        """Every counter at this moment, per component and labels. Constant time per group."""
        with self.lock:
            self.pass_time()
            found = [counts.read(self._now) for counts in self._groups.values()]
        self.tell_all(())
        return found

    @property
    def open_streams(self) -> int:
        return len(self._open)

    @property
    def steps_waiting_after_end(self) -> int:
        """Steps of ended streams whose judgment may still come."""
        return self._ended_steps

    def close(self) -> None:
        """The service ends: open streams end, nothing more will be judged, exports are completed."""
        for stream in list(self._open.values()):
            stream.end()
        with self.lock:
            while self._ended:
                self._drop_oldest()
            self._lapses.clear()
            if self._alarm is not None:
                self._alarm.set()
        for sink in self.sinks:
            close = getattr(sink, "close", None)
            if close is not None:
                with self.guards["export"]:
                    close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What follows is for streams and exports.

    def add_sink(self, sink: Sink) -> None:
        """Tells `sink` every event from now on."""
        with self.lock:
            self.sinks = (*self.sinks, sink)

    def tell_all(self, events: Sequence[Notice]) -> None:
        """What happened, outside the lock; and what is in force since."""
        for event in events:
            for sink in self.sinks:
                with self.guards["export"]:
                    sink(event)
        if self._changes:
            with self.lock:
                changes, self._changes = self._changes, []
            for stream, decision in changes:
                if self._on_change is not None:
                    with self.guards["change"]:
                        self._on_change(stream, decision)

    def counters(self) -> Iterator[Counter]:
        """What of a reading is exported: costs where there are some."""
        return (one for one in COUNTERS if one.field != "cost_s" or self.costs is not None)

    def text(self, value: Any, where: str) -> str:
        """A name or a label as text that any file takes."""
        try:
            return harmless(str(value))
        except Exception:
            self.count_error(where)
            return f"<{type(value).__name__}>"

    def count_error(self, where: str) -> None:
        with self.lock:
            self.errors[where] = self.errors.get(where, 0) + 1

    def read_clock(self) -> float:
        """Seconds, never fewer than before; the last ones where the clock fails. The lock is held."""
        try:
            at = self._clock()
            if type(at) is not float:
                at = float(at)
        except Exception:
            at = math.nan
        if not self._last_read <= at < _NEVER:
            self.count_error("clock")
            at = self._last_read
        self._last_read = at
        return max(at, self._latest)

    def advance_to(self, at: float) -> int:
        """The moment in grains; what yields until then has yielded at its time. The lock is held."""
        self._now = int(at * GRAINS)
        self._latest = at
        while self._lapses and self._lapses[0][0] <= self._now:
            due, _, stream = heapq.heappop(self._lapses)
            stream.lapse(due)
        return self._now

    def pass_time(self) -> None:
        """Up to now, though nothing else happens."""
        with self.lock, self.guards["clock"]:
            self.advance_to(self.read_clock())

    def expects(self, stream: Stream, due: int | None) -> None:
        """What is in force on this stream yields then. The lock is held."""
        if due is None:
            return
        if due <= self._now:
            stream.lapse(due)
            return
        self._lapse_number += 1
        heapq.heappush(self._lapses, (due, self._lapse_number, stream))
        if self._on_change is not None:
            if self._alarm is None:
                self._alarm = threading.Event()
                threading.Thread(
                    target=self._keep_time, args=(self._alarm,), name="sdb-expiry", daemon=True
                ).start()
            if self._lapses[0][0] == due:
                self._alarm.set()

    def _keep_time(self, alarm: threading.Event) -> None:
        """Lets decisions yield on time where somebody wants to hear of it."""
        while alarm is self._alarm:
            with self.lock:
                self.pass_time()
                alarm.clear()
                wait = (self._lapses[0][0] - self._now) / GRAINS if self._lapses else None
                if wait is None:
                    self._alarm = None
            self.tell_all(())
            if wait is not None:
                alarm.wait(wait)

    def changed(self, stream: Stream, decision: Any) -> None:
        """Another decision is in force. The lock is held."""
        if self._on_change is not None:
            self._changes.append((stream, decision))

    def new_policy(self, labels: dict[str, str], name: str) -> StreamPolicy | None:
        if self.policy is None:
            return None
        from streamdecisionbench.meter.stream_policy import StreamPolicy

        return StreamPolicy(self.policy, labels, name)

    def begins(self, stream: Stream) -> int:
        """Its ordinal in this run."""
        self._ordinal += 1
        self._open[self._ordinal] = self._streams[stream.name] = stream
        return self._ordinal

    def add_shadow(self, name: str) -> None:
        """One that nobody announced; names count against the limit of groups, lest each makes some."""
        if name not in self.shadows and len(self._groups) >= _MAX_GROUPS:
            raise ValueError("too many shadows")
        self.shadows[name] = None

    def new_lane(self, component: str, labels: dict[str, str], first: int = 0) -> Lane:
        rates = None
        if self.costs is not None:
            family = str(labels.get("family", ""))
            section = family if family in self.costs.families else ""
            rates = self._rates.get(section)
            if rates is None:
                rates = self._rates[section] = Rates(self.costs.section(family))
        return Lane(component, self._group(component, labels), self.window, rates, first)

    def keep_ended(self, stream: Stream) -> None:
        """Keeps an ended stream while judgments may come, the oldest only within the window."""
        self._open.pop(stream.ordinal, None)
        _, before = self._ended.pop(stream.ordinal, (stream, 0))
        waiting = stream.unjudged_steps
        self._ended_steps += waiting - before
        if waiting:
            self._ended[stream.ordinal] = (stream, waiting)
        else:
            self._forget(stream)
        while self._ended_steps > self.late_window:
            self._drop_oldest()

    def when_done(self, found: Awaitable[Any], then: Callable[[Any], object]) -> None:
        """Hands over what an awaitable gives, in the event loop that runs."""
        import asyncio

        async def wait() -> None:
            with self.guards["reference"]:
                then(await found)

        task = asyncio.get_running_loop().create_task(wait())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _may_label(self, name: str) -> bool:
        """Not what means something else in a log, also to readers that do not tell a from A."""
        folded = name.lower()
        if folded not in self._spellings and len(self._spellings) < _MAX_LABELS:
            if not _is_name(name) or folded in RESERVED:
                return False
            self._spellings[folded] = name
        return self._spellings.get(folded) == name

    def _chosen(self, component: str, labels: dict[str, str]) -> list[Reading]:
        return [
            reading
            for reading in self.readings()
            if reading.component == component
            and all(dict(reading.labels).get(name) == value for name, value in labels.items())
        ]

    def _drop_oldest(self) -> None:
        _, (stream, waiting) = self._ended.popitem(last=False)
        self._ended_steps -= waiting
        stream.give_up()
        self._forget(stream)

    def _forget(self, stream: Stream) -> None:
        if self._streams.get(stream.name) is stream:
            del self._streams[stream.name]

    def _group(self, component: str, labels: dict[str, str]) -> Counts:
        values = tuple(str(labels.get(name, "")) for name in self.by)
        key = (component, *values)
        with self.lock:
            if key not in self._groups and len(self._groups) >= _MAX_GROUPS:
                # Labels that name single sessions would make as many counters as sessions.
                self.count_error("labels")
                values = ("other",) * len(self.by)
                key = (component, *values)
            found = self._groups.get(key)
            if found is None:
                labelled = tuple(zip(self.by, values, strict=True))
                found = self._groups[key] = Counts(component, labelled, self.theta)
        return found


_METERS: weakref.WeakSet[Meter] = weakref.WeakSet()


def _after_fork() -> None:
    for meter in list(_METERS):
        meter.begin_run()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Guard:
    """Whatever is raised inside is counted, and ends here."""

    __slots__ = ("_meter", "_where")

    def __init__(self, meter: Meter, where: str) -> None:
        self._meter = meter
        self._where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if kind is None or not issubclass(kind, Exception):
            return False
        self._meter.count_error(self._where)
        return True


def _cost_rules(costs: Costs | str | os.PathLike[str]) -> Costs:
    """Reading cost rules takes longer to import than the whole meter: only who has costs pays for it."""
    from streamdecisionbench.policies.cost_file import (
        DEFAULT,
        default_costs,
        read_cost_file,
    )
    from streamdecisionbench.policies.cost_rules import Costs

    if isinstance(costs, Costs):
        return costs
    return default_costs() if costs == DEFAULT else read_cost_file(os.fspath(costs))


def _read_policy(policy: Policy | str | os.PathLike[str]) -> Policy:
    from streamdecisionbench.policies.policy_file import (
        Policy,
        read_policy,
    )

    return policy if isinstance(policy, Policy) else read_policy(os.fspath(policy))


def _is_name(name: object) -> bool:
    """Text that is a column's name in any reader, and none of a reader's own."""
    return (
        isinstance(name, str)
        and name.isprintable()
        and name == name.strip()
        and name[:1] not in ("", "_")
    )


def _names(what: str, given: Sequence[str], taken: Collection[str]) -> tuple[str, ...]:
    """What a service names when it starts; one name may stand alone."""
    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if not _is_name(name):
            fix = "a name is printable text and does not begin with _"
            raise InputError(f"{what}: {name!r} is no name", fix=fix)
        if name.lower() in taken:
            raise InputError(
                f"{what}: {name!r} has a meaning of its own", fix="choose another name"
            )
    if len({name.lower() for name in names}) < len(names):
        raise InputError(f"{what} names one thing twice", fix="say each name once")
    if len(names) >= _MAX_GROUPS:
        raise InputError(f"{what} has {len(names)} names", fix=f"fewer than {_MAX_GROUPS}")
    return names
