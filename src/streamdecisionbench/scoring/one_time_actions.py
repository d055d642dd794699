"""One-time acts: submitted, released, returned to, in time or not, wrongly, twice.

Some decisions are not a picture that can be put right but an act: the payment is submitted when the
decision to submit comes into force, and staying there does not submit it again. The reference *calls*
for an act from when it first says so until it says something else. A *doing* is the moment the
decision in force changes to the act. Each doing answers one call at most:

- the call that holds at that moment: `in_time`, or `late` if it comes more than `within_s` after the
  call began;
- else the call that held for the state the decision was given for, now over: `late`;
- a doing for a call already answered is done `twice`;
- any other is done `wrongly`; if it still stands when the next call for the act begins, there is
  nothing left to do, and that call counts as `in_time`.

A call without any doing is `missed`.

Doings come, go and change their standing as c grows: their moment passes from one reference segment
into the next, becomes late, or outlasts the beginning of a later call. Cut at these crossings, a
doing keeps its standing over each range of c, and which doing of a call is the first one is a
question of neighbours, as for spells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    NOTHING,
    Columns,
    Floats,
    Ints,
    by_scenario,
)
from streamdecisionbench.kernel.overlaps import (
    EDGE,
    Stretches,
    at_most,
    neighbours,
)
from streamdecisionbench.kernel.paces import PaceWeights
from streamdecisionbench.kernel.trajectory import References
from streamdecisionbench.policies.cost_rules import (
    Act,
    Section,
)
from streamdecisionbench.scoring.change_delays import changes_of

OUTCOMES = ("calls", "in_time", "late", "missed", "wrongly", "twice")
_CALLS, _IN_TIME, _LATE, _MISSED, _WRONGLY, _TWICE = range(6)

_MOST_INSTANCES = 1 << 32
"""Of one scenario; far more than decisions."""
_ON_TIME = 1 + 1e-12
"""Done exactly `within_s` after the call began is in time, whatever rounding makes of it."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """On [low, high) an outcome `kind`, counted in `OUTCOMES`."""

    count: int
    """How many scenarios there are."""
    scenario: Ints
    kind: Ints
    low: Floats
    high: Floats

    def numbers(self, measure: PaceWeights) -> tuple[Floats, Floats]:
        """How often each outcome (column) happens in each scenario (row), and the same times c.

        The second divided by T on the recording clock are outcomes per second.
        """
        on, width = measure.of(self.scenario, self.low, self.high), len(OUTCOMES)
        place = self.scenario * width + self.kind
        number, rate = (by_scenario(place, x, self.count * width) for x in (on.one, on.scale))
        return number.reshape(-1, width), rate.reshape(-1, width)


def cost_of_acts(numbers: Floats, acts: Sequence[Act | None]) -> Floats:
    """Seconds of an ordinary wrong decision, by scenario as `acts` are."""
    prices = [(0.0,) * 4 if a is None else (a.late, a.missed, a.wrongly, a.twice) for a in acts]
    cost: Floats = (numbers[:, _LATE:] * np.array(prices)).sum(axis=1)
    return cost


def act_slots(sections: Sequence[Section]) -> list[list[Act | None]]:
    """The first act of every scenario's section, then the second ones, and so on."""
    longest = max((len(s.acts) for s in sections), default=0)
    return [[s.acts[k] if k < len(s.acts) else None for s in sections] for k in range(longest)]


def outcomes_of(cut: Stretches, acts: Sequence[Act | None]) -> Outcomes:
    """The calls and doings of one act per scenario."""
    sweep = cut.sweep
    refs = sweep.references
    instance = _Instances(refs, acts)
    calls = _calls_of(refs, instance)
    doings = _doings(cut, calls, instance, acts)
    answers = doings.where(doings.call != NOTHING)
    answers = answers.where(np.lexsort((answers.order, answers.call)))
    lowest, highest = sweep.lowest[calls.scenario], sweep.highest[calls.scenario]
    pairs = neighbours(answers.call, answers.low, answers.high, lowest, highest)
    # What lies before the end of the list is counted where it is after something.
    heard = (pairs.after != EDGE) | (pairs.before == EDGE)
    before, after = pairs.before[heard], pairs.after[heard]
    kind = np.full(len(after), _MISSED)
    kind[after != EDGE] = answers.kind[after[after != EDGE]]
    kind[before != EDGE] = _TWICE
    stray = doings.where(doings.stray)
    return Outcomes(
        refs.count,
        np.concatenate((calls.scenario, calls.scenario[pairs.group[heard]], stray.scenario)),
        np.concatenate(
            (np.full(len(lowest), _CALLS), kind, np.full(len(stray.scenario), _WRONGLY))
        ),
        np.concatenate((lowest, pairs.low[heard], stray.low)),
        np.concatenate((highest, pairs.high[heard], stray.high)),
    )


class _Instances:
    """Which act a decision does in a scenario, as numbers that belong to one scenario each."""

    def __init__(self, refs: References, acts: Sequence[Act | None]) -> None:
        if not refs.values:
            raise InputError(
                "acts need decisions that say their fields",
                fix="give recordings of a suite, or a cost file without acts",
            )
        self.values = refs.values
        self.acts = list({id(act): act for act in acts if act is not None}.values())
        place = {id(act): k for k, act in enumerate(self.acts)}
        self.act_of = np.array([place.get(id(act), NOTHING) for act in acts], dtype=np.int64)
        self.found: dict[tuple[int, tuple[str | None, ...]], int] = {}

    def of(self, scenario: Ints, decision: Ints) -> Ints:
        """The instance each decision does in its scenario; nothing decided does none."""
        act = self.act_of[scenario]
        width = len(self.values) + 1
        keys, where = np.unique(act * width + decision, return_inverse=True)
        numbers = np.full(len(keys), NOTHING, dtype=np.int64)
        for k, key in enumerate(keys.tolist()):
            which, value = divmod(key, width)
            if which < 0 or value == width - 1:
                continue  # no act here, or no decision: −1 borrowed from the act before
            instance = self.acts[which].instance(self.values[value])
            if instance is not None:
                numbers[k] = self.found.setdefault((which, instance), len(self.found))
        number = numbers[where]
        return np.where(number == NOTHING, NOTHING, number + scenario * _MOST_INSTANCES)


@dataclass(frozen=True, slots=True)
class _Calls:
    """Stretches of the reference that ask for an act, in time order."""

    scenario: Ints
    instance: Ints
    begin: Floats
    first_segment: Ints
    of_segment: Ints
    """The call of every reference segment, `NOTHING` where none holds."""

    def next_for(self, instance: Ints, segment: Ints) -> Ints:
        """The first call for an act that begins after a segment; `NOTHING` if there is none."""
        if not len(self.begin):
            return np.full(len(segment), NOTHING, dtype=np.int64)
        width = len(self.of_segment) + 1
        names, rank = np.unique(self.instance, return_inverse=True)
        keys = rank * width + self.first_segment
        order = np.argsort(keys, kind="stable")
        sought = np.searchsorted(names, instance) * width + segment
        found = np.searchsorted(keys[order], sought, side="right")
        inside = found < len(order)
        call = order[np.where(inside, found, 0)]
        return np.where(inside & (self.instance[call] == instance), call, NOTHING)


def _calls_of(refs: References, instance: _Instances) -> _Calls:
    """The calls of the reference."""
    asked = instance.of(refs.scenario, refs.decision)
    follows = np.append(False, refs.scenario[1:] == refs.scenario[:-1])
    first = (asked != NOTHING) & ~(follows & (asked == np.append(NOTHING, asked[:-1])))
    starts = np.flatnonzero(first)
    number = np.cumsum(first) - 1
    return _Calls(
        refs.scenario[starts],
        asked[starts],
        refs.begin[starts],
        starts,
        np.where(asked != NOTHING, number, NOTHING),
    )


@dataclass(frozen=True, slots=True)
class _Doings(Columns):
    """On [low, high) a doing that answers `call` as `kind` says; `stray`: nothing called for it."""

    scenario: Ints
    call: Ints
    kind: Ints
    stray: NDArray[np.bool_]
    order: Ints
    """In time."""
    low: Floats
    high: Floats


def _doings(
    cut: Stretches, calls: _Calls, instance: _Instances, acts: Sequence[Act | None]
) -> _Doings:
    sweep = cut.sweep
    refs = sweep.references
    found = changes_of(cut, instance.of(sweep.scenario, sweep.decision))
    owner = sweep.scenario[found.piece]
    pairs = neighbours(owner, found.low, found.high, sweep.lowest, sweep.highest)
    stay = np.flatnonzero(pairs.before != EDGE)
    stay = stay[found.new[pairs.before[stay]] != NOTHING]
    doing = pairs.before[stay]
    row, stretch, low, high = cut.opening(found.piece[doing], pairs.low[stay], pairs.high[stay])
    doing, until = doing[row], pairs.after[stay][row]
    piece, scenario, segment = found.piece[doing], cut.scenario[stretch], cut.segment[stretch]
    now, before, after = _candidates(refs, calls, found.new[doing], segment, sweep.source[piece])
    nothing = np.full(len(doing), NOTHING)
    # Where it is not known what is right, a doing is not judged.
    stray = (now == NOTHING) & (before == NOTHING) & (refs.decision[segment] != NOTHING)
    parts: list[_Doings] = []

    def add(
        keep: NDArray[np.bool_], call: Ints, kind: int, a: Floats, b: Floats, stray: bool = False
    ) -> None:
        of_kind, strays = np.full(len(a), kind), np.full(len(a), stray)
        found = _Doings(scenario, call, of_kind, strays, piece, a, b)
        parts.append(found.where(keep & (a < b)))

    add((now == NOTHING) & (before != NOTHING), before, _LATE, low, high)
    if len(calls.begin):
        # In time while t − begin ≤ within_s · c.
        within = np.array([np.inf if x is None or x.within_s is None else x.within_s for x in acts])
        limit = within[scenario] * _ON_TIME
        anytime = np.isinf(limit)
        gap = np.where(anytime, 0.0, sweep.begin_at[piece] - calls.begin[now])
        slope = np.where(anytime, 0.0, sweep.begin_delay[piece] - limit)
        a, b = at_most(gap, slope, low, high)
        holds = now != NOTHING
        add(holds, now, _IN_TIME, a, b)
        add(holds, now, _LATE, low, a)
        add(holds, now, _LATE, b, high)
        # Gone by the next call while until ≤ begin; if it still stands then, nothing is left to do.
        at_end, last = until == EDGE, found.piece[until]
        until_at = np.where(at_end, refs.horizon[scenario], sweep.begin_at[last])
        until_delay = np.where(at_end, 0.0, sweep.begin_delay[last])
        a, b = at_most(until_at - calls.begin[after], until_delay, low, high)
        waits = stray & (after != NOTHING)
        add(waits, after, _IN_TIME, b, high, stray=True)
        add(waits, nothing, _IN_TIME, a, b, stray=True)
        stray &= after == NOTHING
    add(stray, nothing, _IN_TIME, low, high, stray=True)
    return parts[0].followed_by(parts[1:])


def _candidates(
    refs: References, calls: _Calls, key: Ints, segment: Ints, source: Ints
) -> tuple[Ints, Ints, Ints]:
    """For doings of act `key` in `segment`: the call that holds, the source's, the next one."""
    if not len(calls.begin):
        none = np.full(len(key), NOTHING, dtype=np.int64)
        return none, none, none

    def matching(call: Ints) -> Ints:
        return np.where((call != NOTHING) & (calls.instance[call] == key), call, NOTHING)

    now = matching(calls.of_segment[segment])
    own = calls.of_segment[refs.step_segment[np.maximum(source, 0)]]
    before = matching(np.where(source == NOTHING, NOTHING, own))
    return now, before, calls.next_for(key, segment)
