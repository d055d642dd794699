"""Arrays: one scenario of a recording or one stream of a log, and many of them laid end to end.

Symbols are the paper's: releases r_i, latencies L_i, horizon H = n · tick, reference decision
κ(y_i) and answered decision κ(â_i) as small integers that are equal exactly when decisions are.
A stream that somebody else recorded fits the same definitions: irregular releases, an end of its
own with tick := (end − r_0)/n, L = ∞ where no answer came, `UNKNOWN` where nobody knows what was
right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
UNKNOWN = -2
"""Reference id of a state of which nobody knows what was right."""
ANOTHER_SESSION = "at another pace it would have been another session"
NO_ANSWER = -3
"""Predicted id where no answer came. Unequal to `UNKNOWN`, so that the two never match."""
NOTHING = -1
"""The decision where nothing was decided, the source where no state was, the reference not known."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Arrays of one length: their rows can be chosen, and those of parts put one after another."""

    SHARED: ClassVar[tuple[str, ...]] = ()
    """Fields that belong to all rows and stay as they are."""

    def where(self, keep: slice | Ints | NDArray[np.bool_]) -> Self:
        """Some of the rows."""
        return replace(self, **{name: getattr(self, name)[keep] for name in self._columns()})

    def followed_by(self, others: Sequence[Self]) -> Self:
        """These rows, then those of the others."""
        columns = {
            name: [getattr(one, name) for one in (self, *others)] for name in self._columns()
        }
        return replace(self, **{name: joined(found) for name, found in columns.items()})

    def _columns(self) -> list[str]:
        names = (f.name for f in fields(self) if f.name not in self.SHARED)
        return [name for name in names if getattr(self, name) is not None]


def joined(parts: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """One after another, or None where a part is."""
    found = [part for part in parts if part is not None]
    return np.concatenate(found) if len(found) == len(parts) else None


def by_scenario(scenario: Ints, values: Floats, count: int) -> Floats:
    """Sums over what belongs to each of `count` scenarios."""
    return np.bincount(scenario, weights=values, minlength=count).astype(np.float64)


def portions(size: Ints, together: int, rows: int | None = None) -> Iterator[slice]:
    """Consecutive rows, at most so many, whose sizes sum to at most `together`; a larger row alone."""
    ends, begin = np.cumsum(size), 0
    while begin < len(size):
        passed = int(ends[begin - 1]) if begin else 0
        end = int(np.searchsorted(ends, passed + together, side="right"))
        end = max(end if rows is None else min(end, begin + rows), begin + 1)
        yield slice(begin, end)
        begin = end


_NUMBERING = Lock()


class Decisions(list[Mapping[str, str]]):
    """What each decision id of a scenario says: equal ids, equal decisions, whoever gave them.

    It grows while recordings are read, so an id may depend on which came first; no figure does.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ids: dict[frozenset[tuple[str, str]], int] = {}

    def number(self, decision: Mapping[str, str]) -> int:
        key = frozenset(decision.items())
        found = self._ids.get(key)
        if found is None:
            with _NUMBERING:
                found = self._ids.setdefault(key, len(self))
                if found == len(self):
                    self.append(dict(decision))
        return found


@dataclass(frozen=True, slots=True)
class Timeline:
    """One scenario of one recording.

    `reference` and `predicted` hold decision ids: equal ids mean equal composed decisions, in all
    timelines of that scenario. `reference` is `UNKNOWN` where no reference is known; `latency` is infinite where no answer came.
    """

    episode_id: str
    family: str
    tick: float
    release: Floats
    latency: Floats
    reference: Ints
    predicted: Ints
    arrival: Floats | None = None
    """Physical arrivals (actual_recorded_s), for the wall-clock trace beside the replay."""
    values: Sequence[Mapping[str, str]] = ()
    """What each decision id says, field by field; empty where only ids are known."""
    end: float | None = None
    """When the stream ended, where that is not n · tick after the clock's zero."""
    published: Floats | None = None
    """When states really became public, where `release` is not that."""
    rhythm: Floats | None = None
    """When states were to become public, in ticks, where that is not 0, 1, 2, …"""
    fixed_pace: bool = False
    """Whether it holds for one pace only: in a closed loop, states depend on what was in force."""
    effects: tuple[Ints, Ints, Floats] | None = None
    """Source, decision and from when on, where a rule or a policy decided what took effect."""

    @property
    def n(self) -> int:
        return len(self.release)

    @property
    def horizon(self) -> float:
        """H = n · tick, or the end that was recorded."""
        return self.n * self.tick if self.end is None else self.end

    def nominal(self, tick: float) -> Floats:
        """Releases as planned, with `tick` seconds between states on average: r_i = i · tick."""
        beats = np.arange(self.n, dtype=np.float64) if self.rhythm is None else self.rhythm
        out: Floats = beats * tick
        return out

    @property
    def right(self) -> NDArray[np.bool_]:
        """κ(â_i) = κ(y_i)."""
        return np.equal(self.predicted, self.reference)

    @property
    def untimed(self) -> float:
        """U = n⁻¹ Σ 1[κ(â_i) = κ(y_i)], over the states whose reference is known."""
        return float(np.mean(self.right[np.greater_equal(self.reference, 0)]))


def nominal(part: Timeline, tick: float | None = None) -> Timeline:
    """The same answers with releases exactly as planned, at its own tick or another."""
    tick = part.tick if tick is None else tick
    return replace(part, tick=tick, release=part.nominal(tick), arrival=None)


def nominal_like(
    first: Sequence[Timeline], parts: Sequence[Timeline], who: str, *, gaps: bool = False
) -> list[Timeline]:
    """A component's timelines in the order of another's, on its nominal clock.

    Refused when they do not fit: another set of scenarios, other steps, another reference; without
    `gaps` also where an answer is missing.
    """
    mine = {part.episode_id: part for part in parts}
    found = []
    for part in first:
        own = mine.pop(part.episode_id, None)
        if own is None or own.n != part.n:
            what = "was not recorded" if own is None else f"has {own.n} steps, not {part.n}"
            raise InputError(
                f"{part.episode_id} {what}", where=who, fix="pair recordings of the same scenarios"
            )
        if not np.array_equal(own.reference, part.reference):
            raise InputError(
                f"{part.episode_id} has another reference",
                where=who,
                fix="pair recordings of the same suite",
            )
        found.append(nominal(own, part.tick))
    if mine:
        raise InputError(
            f"{', '.join(mine)} is in one recording only",
            where=who,
            fix="pair recordings of the same scenarios",
        )
    check(found, gaps=gaps)
    return found


class TimeIndex:
    """Beginnings, scenario after scenario in the order of time, among which times are found.

    Each is kept as (scenario + share of observed time so far), so that one search finds a time within
    its scenario. The sum costs some last bits, which only matters at a knot, where neighbouring pieces
    agree anyway; shares keep that loss alike for short streams and long ones.
    """

    def __init__(self, begin: Floats, scenario: Ints, start: Floats, horizon: Floats) -> None:
        self._start, self._scale = start, 0.5 / (horizon - start)
        self._keys = scenario + (begin - start[scenario]) * self._scale[scenario]
        size = np.bincount(scenario, minlength=len(start))
        self._last = np.cumsum(size) - 1
        self._first = self._last - size + 1

    def find(self, time: Floats, scenario: Ints) -> Ints:
        """The last beginning at or before each time in its scenario; the first one before that."""
        share = (time - self._start[scenario]) * self._scale[scenario]
        found: Ints = np.searchsorted(self._keys, scenario + share, side="right") - 1
        if not share.size or (share.min() >= 0 and share.max() < 1):
            return found
        return np.clip(found, self._first[scenario], self._last[scenario])


class Timelines(list[Timeline]):
    """The scenarios of a recording; whoever needs them laid end to end shares one replay of them."""

    @cached_property
    def flat(self) -> JoinedTimelines:
        return JoinedTimelines(self)


def joined_timelines(parts: Sequence[Timeline]) -> JoinedTimelines:
    return parts.flat if isinstance(parts, Timelines) else JoinedTimelines(parts)


class Activations(NamedTuple):
    """What comes into force, scenario by scenario in that order, and when.

    `source` are steps and `decision` what was answered for them; both are `NOTHING` where nothing is.
    """

    scenario: Ints
    source: Ints
    decision: Ints
    begin: Floats


def fixed_pace(parts: Iterable[Timeline]) -> bool:
    """Whether some timelines hold for one pace only. Every other flag of this name comes from here."""
    return any(part.fixed_pace for part in parts)


class JoinedTimelines:
    """Timelines laid end to end.

    *Steps* are the sources of all scenarios, concatenated. *Nodes* are the steps with two sentinels
    per scenario: a start (no decision, in force from r_0) and an end (the horizon). Decision ids are
    made unique across scenarios; `UNKNOWN` and `NO_ANSWER` stay what they are.
    """

    parts: Sequence[Timeline] = ()
    swept: tuple[float, float, object] | None = None
    """The replay that was asked for last: from which interval to which, and its sweep."""
    effects: Activations | None = None
    """The recorded activations, where a rule or a policy decided them; they hold for one pace only."""
    values: Sequence[Mapping[str, str]] = ()
    """What each decision id says, field by field; empty where only ids are known."""
    fixed_pace: bool = False
    """Whether some of it holds for one pace only."""

    def __init__(
        self, parts: Sequence[Timeline], beside: Sequence[Sequence[Timeline]] = ()
    ) -> None:
        """`beside` are other components on the same scenarios, whose decisions have ids here, too."""
        self.parts, self.fixed_pace = parts, fixed_pace(parts)
        reference = np.concatenate([p.reference for p in parts])
        predicted = np.concatenate([p.predicted for p in parts])
        n = np.array([p.n for p in parts], dtype=np.int64)
        known = [
            max(found, key=len)
            for found in zip(*([p.values for p in c] for c in (parts, *beside)), strict=True)
        ]
        sizes = [len(values) for values in known]
        highest = np.maximum(reference, predicted)
        widths = np.maximum(np.maximum.reduceat(highest, np.cumsum(n) - n) + 1, sizes)
        for other in beside:
            widths = np.maximum(widths, [int(p.predicted.max()) + 1 for p in other])
        self.decisions = int(widths.sum())
        if sum(sizes) == self.decisions:
            self.values = [
                v for values, size in zip(known, sizes, strict=True) for v in values[:size]
            ]
        self._set(
            n=n,
            r=np.concatenate([np.asarray(p.release, dtype=np.float64) for p in parts]),
            L=np.concatenate([np.asarray(p.latency, dtype=np.float64) for p in parts]),
            H=np.array([p.horizon for p in parts]),
            tick=np.array([p.tick for p in parts]),
            y=reference,
            p=predicted,
            offset=np.cumsum(widths) - widths,
        )
        took = [p.effects for p in parts if p.effects is not None]
        if took:
            source, decision, begin = (np.concatenate(x) for x in zip(*took, strict=True))
            scenario = np.repeat(np.arange(len(parts)), [len(x[0]) for x in took])
            source = np.where(source < 0, source, source + self.first[scenario])
            decision = np.where(decision < 0, decision, decision + self.offset[scenario])
            self.effects = Activations(scenario, source, decision, begin)

    @classmethod
    def of(
        cls, *, n: Ints, r: Floats, L: Floats, H: Floats, tick: Floats, y: Ints, p: Ints,
        effects: Activations | None = None,
    ) -> JoinedTimelines:  # fmt: skip
        """The same from arrays: `n` steps per stream, then everything by step or by stream.

        Equal ids mean equal decisions, also across streams.
        """
        flat = cls.__new__(cls)
        width = int(max(y.max(), p.max(), 0)) + 1
        if effects is not None:
            width = max(width, int(effects.decision.max(initial=-1)) + 1)
        flat.decisions = len(n) * width
        flat._set(n=n, r=r, L=L, H=H, tick=tick, y=y, p=p, offset=np.arange(len(n)) * width)
        if effects is not None:
            said = effects.decision
            numbered = np.where(said < 0, said, said + flat.offset[effects.scenario])
            flat.effects = effects._replace(decision=numbered)
        return flat

    def worded(self, values: Sequence[Mapping[str, str]]) -> JoinedTimelines:
        """Streams from arrays with what each id says.

        Ids are shared by all streams then, so that one that says much is read once. Trajectories allow
        that: they compare decisions within a stream only.
        """
        flat, width = copy(self), self.decisions // self.count
        flat.decisions, flat.values, flat.offset = width, values, np.zeros_like(self.offset)
        flat.y, flat.p = (np.where(ids < 0, ids, ids % width) for ids in (self.y, self.p))
        if self.effects is not None:
            said = self.effects.decision
            flat.effects = self.effects._replace(decision=np.where(said < 0, said, said % width))
        return flat

    def _set(
        self, n: Ints, r: Floats, L: Floats, H: Floats, tick: Floats, y: Ints, p: Ints, offset: Ints
    ) -> None:
        self.count = len(n)
        self.n = n
        self.first = np.cumsum(n) - n
        self.last = self.first + n - 1
        self.scenario = np.repeat(np.arange(self.count), n)
        self.r, self.L, self.H, self.tick = r, L, H, tick
        self.r0 = r[self.first]
        self.offset = offset
        """Of each scenario's decision ids here to those of its timeline."""
        offsets = offset[self.scenario]
        self.y = np.where(y < 0, UNKNOWN, y + offsets)
        self.p = np.where(p < 0, NO_ANSWER, p + offsets)

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        return np.equal(self.y, self.p)

    @cached_property
    def all_known(self) -> bool:
        """Whether every reference is known, as in every recording of a suite."""
        return bool(self.y.min() >= 0)

    @cached_property
    def step_end(self) -> Floats:
        """Where each step's evidence is replaced: the next release, or the horizon."""
        end = np.append(self.r[1:], 0.0)
        end[self.last] = self.H
        return end

    @cached_property
    def time_weight(self) -> Floats:
        """1 / (H − r_0) per step: turns seconds into shares of observed time."""
        weight: Floats = (1.0 / (self.H - self.r0))[self.scenario]
        return weight

    @cached_property
    def segments(self) -> tuple[Ints, Ints]:
        """First step and number of steps of every reference segment, scenario after scenario."""
        begins = np.append(True, self.y[1:] != self.y[:-1])
        begins[self.first] = True
        starts = np.flatnonzero(begins)
        return starts, np.diff(np.append(starts, len(self.y)))

    @cached_property
    def segment_weight(self) -> Floats:
        """1 / (K · |I_k|) per step: turns seconds into segment-balanced shares.

        Segments whose reference is unknown weigh nothing and are not among the K.
        """
        starts, counts = self.segments
        known = self.y[starts] >= 0
        owner = self.scenario[starts]
        lengths = self.step_end[starts + counts - 1] - self.r[starts]
        in_scenario = np.bincount(owner[known], minlength=self.count)
        weights = np.zeros(len(starts))
        weights[known] = 1.0 / (in_scenario[owner[known]] * lengths[known])
        return np.repeat(weights, counts)

    def scale(self, interval: float | None) -> Floats:
        """c = tick/Δ per scenario; without an interval at the pace of each recording."""
        if interval is None:
            return np.ones(self.count)
        self.require_replay()
        if self.fixed_pace and np.max(np.abs(self.tick - interval)) > 1e-9 * interval:
            raise InputError(
                f"lived through at {self.tick[0]:g} s a step: {ANOTHER_SESSION}",
                fix=f"give --interval {self.tick[0]:g}; `sdb sweep … --intervals` records other paces",
            )
        return self.tick / interval

    def require_replay(self) -> None:
        """Refuses another pace than the one at which a policy decided."""
        if self.effects is not None and not self.fixed_pace:
            raise InputError(
                "a policy decided what took effect, and at another pace it would have decided otherwise",
                fix="score the log as recorded, without --interval and --bounds; `sdb policy score`"
                " replays recordings at any pace",
            )

    def arrivals(self, scale: Floats) -> Floats:
        """u_i(c) = r_i + c·L_i."""
        arrivals: Floats = self.r + scale[self.scenario] * self.L
        return arrivals

    def untimed(self) -> tuple[Floats, Floats]:
        """U per scenario over its known references, and with every known segment counting alike.

        Not a number where nothing is known.
        """
        starts, counts = self.segments
        right = self.right.astype(np.float64)
        known = self.y[starts] >= 0
        owner = self.scenario[starts]
        steps = np.bincount(owner, np.where(known, counts, 0), self.count)
        number = np.bincount(owner, known, self.count)
        shares = np.add.reduceat(right, starts) / counts
        with np.errstate(invalid="ignore"):
            by_step = by_scenario(self.scenario, right, self.count) / steps
            return by_step, by_scenario(owner, shares, self.count) / number

    @cached_property
    def places(self) -> TimeIndex:
        return TimeIndex(self.r, self.scenario, self.r0, self.H)

    def locate(self, time: Floats, scenario: Ints) -> Ints:
        """The step whose evidence holds at `time` in its scenario."""
        return self.places.find(time, scenario)


def check(parts: Iterable[Timeline], *, gaps: bool = False) -> None:
    """Refuses arrays no recording could hold; used where timelines are built by hand."""
    for part in parts:
        if part.n == 0:
            raise InputError("has no steps", where=part.episode_id)
        known = np.isfinite(part.latency) | (gaps & np.isposinf(part.latency))
        ok = np.all(np.isfinite(part.release)) and np.all(known)
        if not ok or np.any(part.latency < 0) or np.any(np.diff(part.release) <= 0):
            raise InputError(
                "releases must increase and latencies must be finite and not negative",
                where=part.episode_id,
            )
        if part.release[-1] >= part.horizon:
            raise InputError("the last release is at or after the horizon", where=part.episode_id)
