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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.errors import InputError
from streamdecisionbench.rules.costs import Act, Section
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.changes import MovingChanges, at_most, moving_changes
from streamdecisionbench.scoring.cut import (
    EDGE,
    Stretches,
    mean_by_scenario,
    moments,
    neighbours,
    powers,
)
from streamdecisionbench.scoring.sweep import NOTHING, References, Sweep, Trajectory
from streamdecisionbench.scoring.timeline import Floats, Ints

EARLY, IN_TIME, LATE, WRONG = range(4)
"""How a doing stands to its call."""

_MOST_INSTANCES = 1 << 32
"""Of one scenario; far more than decisions."""


@dataclass(frozen=True, slots=True)
class ActCounts:
    """By scenario; over bounds, on average."""

    calls: Floats
    in_time: Floats
    late: Floats
    missed: Floats
    wrongly: Floats
    twice: Floats

    def cost(self, acts: Sequence[Act | None]) -> Floats:
        """Seconds of an ordinary wrong decision, per scenario; `acts` are by scenario."""
        total = np.zeros(len(acts))
        for k, act in enumerate(acts):
            if act is not None:
                total[k] = (
                    act.late * self.late[k]
                    + act.missed * self.missed[k]
                    + act.wrongly * self.wrongly[k]
                    + act.twice * self.twice[k]
                )
        return total


@dataclass(frozen=True, slots=True)
class Instances:
    """Which act a decision does in a scenario, as numbers that belong to one scenario each."""

    values: Sequence[Mapping[str, str]]
    acts: Sequence[Act]
    """Every act once."""
    act_of: Ints
    """Which of them each scenario may do, `NOTHING` if none."""
    found: dict[tuple[int, tuple[str | None, ...]], int]
    """Numbers given so far, by act and which of it."""

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
class Calls:
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


def act_slots(sections: Sequence[Section]) -> list[list[Act | None]]:
    """The first act of every scenario's section, then the second ones, and so on."""
    longest = max((len(s.acts) for s in sections), default=0)
    return [[s.acts[k] if k < len(s.acts) else None for s in sections] for k in range(longest)]


def instances(refs: References, acts: Sequence[Act | None]) -> Instances:
    """Which act every decision does; `acts` are by scenario."""
    if not refs.values:
        raise InputError(
            "acts need decisions that say their fields",
            fix="give recordings of a suite, or a cost file without acts",
        )
    place: dict[int, int] = {}
    distinct: list[Act] = []
    act_of = np.full(len(acts), NOTHING, dtype=np.int64)
    for k, act in enumerate(acts):
        if act is not None:
            if id(act) not in place:
                place[id(act)] = len(distinct)
                distinct.append(act)
            act_of[k] = place[id(act)]
    return Instances(refs.values, distinct, act_of, {})


def calls_of(refs: References, instance: Instances) -> Calls:
    """The calls of the reference."""
    asked = instance.of(refs.scenario, refs.decision)
    follows = np.append(False, refs.scenario[1:] == refs.scenario[:-1])
    first = (asked != NOTHING) & ~(follows & (asked == np.append(NOTHING, asked[:-1])))
    starts = np.flatnonzero(first)
    number = np.cumsum(first) - 1
    return Calls(
        refs.scenario[starts],
        asked[starts],
        refs.begin[starts],
        starts,
        np.where(asked != NOTHING, number, NOTHING),
    )


def acts_of(
    path: Trajectory, cut: Stretches, instance: Instances, acts: Sequence[Act | None]
) -> ActCounts:
    """The calls and doings of one act per scenario along a trajectory."""
    refs = path.references
    calls = calls_of(refs, instance)
    pieces, begins = np.unique(cut.piece, return_index=True)
    owner = path.scenario[pieces]
    key = instance.of(owner, path.decision[pieces])
    follows = np.append(False, owner[1:] == owner[:-1])
    changed = np.flatnonzero(key != np.where(follows, np.append(NOTHING, key[:-1]), NOTHING))
    # A doing stands until the act shown changes again, or the end.
    time, scenario = path.begin[pieces[changed]], owner[changed]
    last = np.append(scenario[1:] != scenario[:-1], True)[: len(scenario)]
    until = np.where(last, refs.horizon[scenario], np.append(time[1:], 0.0)[: len(time)])
    done = key[changed] != NOTHING
    piece, segment = pieces[changed][done], cut.segment[begins[changed][done]]
    time, until, scenario, key = time[done], until[done], scenario[done], key[changed][done]

    now, before, after = candidates(refs, calls, key, segment, path.source[piece])
    stands = (after != NOTHING) & (until > calls.begin[after] if len(calls.begin) else False)
    call = np.where(now != NOTHING, now, np.where(before != NOTHING, before, NOTHING))
    kind = np.where(now != NOTHING, IN_TIME, np.where(before != NOTHING, LATE, WRONG))
    if len(calls.begin):
        waited = time - calls.begin[call]
        limit = limits(acts)[scenario] * path.scale[scenario]
        kind = np.where((kind == IN_TIME) & (waited > limit * (1 + 1e-12)), LATE, kind)
    early = (kind == WRONG) & stands
    call, kind = np.where(early, after, call), np.where(early, EARLY, kind)
    # Where it is not known what is right, a doing is not judged.
    judged = (refs.decision[segment] != NOTHING) | (before != NOTHING)
    return _count(calls, refs.count, scenario[judged], call[judged], kind[judged])


def candidates(
    refs: References, calls: Calls, key: Ints, segment: Ints, source: Ints
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


def limits(acts: Sequence[Act | None]) -> Floats:
    """`within_s` by scenario; infinite where any time is fine."""
    return np.array([np.inf if a is None or a.within_s is None else a.within_s for a in acts])


def _count(calls: Calls, count: int, scenario: Ints, call: Ints, kind: Ints) -> ActCounts:
    answers = np.flatnonzero(call != NOTHING)
    _, first = np.unique(call[answers], return_index=True)
    first = answers[first]
    is_first = np.zeros(len(call), dtype=bool)
    is_first[first] = True

    def by_scenario(where: Ints, which: NDArray[np.bool_]) -> Floats:
        return np.bincount(where[which], minlength=count).astype(np.float64)

    total = np.bincount(calls.scenario, minlength=count).astype(np.float64)
    in_time = by_scenario(scenario, is_first & ((kind == IN_TIME) | (kind == EARLY)))
    late = by_scenario(scenario, is_first & (kind == LATE))
    return ActCounts(
        calls=total,
        in_time=in_time,
        late=late,
        missed=total - in_time - late,
        wrongly=by_scenario(scenario, (kind == WRONG) | (kind == EARLY)),
        twice=by_scenario(scenario, (call != NOTHING) & ~is_first),
    )


# One-time acts over a range of intervals: how often each outcome happens, on average.
#
# Doings come, go and change their standing as c grows: their moment passes from one reference segment
# into the next, becomes late, or outlasts the beginning of a later call. Cut at these crossings, a
# doing keeps its standing over each range of c, and which doing of a call is the first one is a
# question of neighbours, as for spells.


@dataclass(frozen=True, slots=True)
class MeanActs:
    """Over the bounds: how often each outcome happens, and the same times c."""

    counts: ActCounts
    rates: ActCounts
    """The mean of count · c: divided by T on the recording clock, outcomes per second."""


@dataclass(frozen=True, slots=True)
class _Doings:
    """On [low, high) a doing of standing `kind` for `call`, in the order of time."""

    scenario: Ints
    call: Ints
    kind: Ints
    order: Ints
    low: Floats
    high: Floats

    def where(self, keep: NDArray[np.bool_] | Ints) -> _Doings:
        return _Doings(*(getattr(self, name)[keep] for name in _Doings.__dataclass_fields__))


def mean_acts(
    sweep: Sweep, instance: Instances, acts: Sequence[Act | None], bounds: Bounds
) -> MeanActs:
    """The calls and doings of one act per scenario along a sweep."""
    refs = sweep.references
    calls = calls_of(refs, instance)
    doings = _doings(sweep, calls, instance, acts)
    wrong = doings.where((doings.kind == WRONG) | (doings.kind == EARLY))
    answers = doings.where(doings.call != NOTHING)
    answers = answers.where(np.lexsort((answers.order, answers.call)))
    pairs = neighbours(
        answers.call,
        answers.low,
        answers.high,
        sweep.lowest[calls.scenario],
        sweep.highest[calls.scenario],
    )
    first = (pairs.before == EDGE) & (pairs.after != EDGE)
    kind = np.where(pairs.after == EDGE, NOTHING, answers.kind[pairs.after]) if len(answers.kind) else np.full(len(pairs.after), NOTHING)  # fmt: skip
    owner = calls.scenario[pairs.group]
    on_pairs, on_wrong = (
        powers(pairs.low, pairs.high, bounds),
        powers(wrong.low, wrong.high, bounds),
    )
    whole = powers(sweep.lowest[calls.scenario], sweep.highest[calls.scenario], bounds)

    def sums(weight: str) -> ActCounts:
        def mean(values: Floats, scenario: Ints) -> Floats:
            return mean_by_scenario(values, scenario, refs.tick, bounds)

        def over(which: NDArray[np.bool_]) -> Floats:
            return mean(np.where(which, getattr(on_pairs, weight), 0.0), owner)

        return ActCounts(
            calls=mean(getattr(whole, weight), calls.scenario),
            in_time=over(first & ((kind == IN_TIME) | (kind == EARLY))),
            late=over(first & (kind == LATE)),
            missed=over((pairs.before == EDGE) & (pairs.after == EDGE)),
            wrongly=mean(getattr(on_wrong, weight), wrong.scenario),
            twice=over((pairs.before != EDGE) & (pairs.after != EDGE)),
        )

    return MeanActs(sums("one"), sums("scale"))


def _doings(sweep: Sweep, calls: Calls, instance: Instances, acts: Sequence[Act | None]) -> _Doings:
    refs = sweep.references
    found = moving_changes(sweep, instance.of(sweep.scenario, sweep.decision))
    # How long what a doing did stands: until the act shown changes again, or the end.
    pairs = neighbours(found.scenario, found.low, found.high, sweep.lowest, sweep.highest)
    stay = np.flatnonzero(pairs.before != EDGE)
    stay = stay[found.new[pairs.before[stay]] != NOTHING]
    doing, low, high = pairs.before[stay], pairs.low[stay], pairs.high[stay]
    until_at, until_delay = _until(refs, found, pairs.after[stay], found.scenario[doing])
    seen = moments(refs, found.scenario[doing], found.at[doing], found.delay[doing], low, high)
    row = seen.row
    doing, until_at, until_delay = doing[row], until_at[row], until_delay[row]
    low, high = seen.low, seen.high
    scenario, key = found.scenario[doing], found.new[doing]
    now, before, after = candidates(
        refs, calls, key, seen.segment, sweep.source[found.piece[doing]]
    )
    known = (refs.decision[seen.segment] != NOTHING) | (before != NOTHING)

    def part(keep: NDArray[np.bool_], call: Ints, kind: int, a: Floats, b: Floats) -> _Doings:
        keep = keep & (a < b)
        count = int(keep.sum())
        return _Doings(
            scenario[keep],
            call[keep],
            np.full(count, kind),
            found.piece[doing][keep],
            a[keep],
            b[keep],
        )

    holds, over = now != NOTHING, (now == NOTHING) & (before != NOTHING)
    stray = ~holds & ~over
    parts = [part(over, before, LATE, low, high)]
    if len(calls.begin):
        # In time while t − begin ≤ within_s · c.
        within = limits(acts)[scenario]
        slope = np.where(np.isinf(within), 0.0, found.delay[doing] - within)
        gap = np.where(np.isinf(within), -1.0, found.at[doing] - calls.begin[now])
        a, b = at_most(gap, slope, low, high)
        parts += [part(holds, now, IN_TIME, a, b)]
        parts += [part(holds, now, LATE, low, a), part(holds, now, LATE, b, high)]
        # Stands at the next call while until > begin: the other way round for `at_most`.
        ends = stray & (after != NOTHING)
        a, b = at_most(until_at - calls.begin[after], until_delay, low, high)
        parts += [
            part(ends & known, after, EARLY, b, high),
        ]
        nothing = np.full(len(now), NOTHING)
        parts += [part(ends & known, nothing, WRONG, a, b)]
        stray &= after == NOTHING
    parts.append(part(stray & known, np.full(len(now), NOTHING), WRONG, low, high))
    return _Doings(
        *(
            np.concatenate([getattr(p, name) for p in parts])
            for name in _Doings.__dataclass_fields__
        )
    )


def _until(
    refs: References, found: MovingChanges, after: Ints, scenario: Ints
) -> tuple[Floats, Floats]:
    at_end = after == EDGE
    return (
        np.where(at_end, refs.horizon[scenario], found.at[after]),
        np.where(at_end, 0.0, found.delay[after]),
    )
