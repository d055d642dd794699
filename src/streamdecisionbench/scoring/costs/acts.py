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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.cost_file.rules import Act
from streamdecisionbench.errors import InputError
from streamdecisionbench.scoring.costs.stretches import Stretches
from streamdecisionbench.scoring.timeline import Floats, Ints
from streamdecisionbench.scoring.trajectory import NOTHING, References, Trajectory

__all__ = ["ActCounts", "Calls", "acts_of", "calls_of", "instances"]

EARLY, IN_TIME, LATE, WRONG = range(4)
"""How a doing stands to its call."""


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
        keys = self.instance * width + self.first_segment
        order = np.argsort(keys, kind="stable")
        found = np.searchsorted(keys[order], instance * width + segment, side="right")
        inside = found < len(order)
        call = order[np.where(inside, found, 0)]
        return np.where(inside & (self.instance[call] == instance), call, NOTHING)


def instances(refs: References, acts: Sequence[Act | None]) -> Ints:
    """Which act every decision id does, `NOTHING` if none; `acts` are by scenario.

    Ids of acts, like those of decisions, belong to one scenario.
    """
    if not refs.values:
        raise InputError(
            "acts need decisions that say their fields",
            fix="give recordings of a suite, or a cost file without acts",
        )
    # Ids ascend with scenarios, and those below a scenario's own reference ids are of earlier ones.
    known = refs.decision != NOTHING
    lowest = np.full(refs.count, len(refs.values), dtype=np.int64)
    np.minimum.at(lowest, refs.scenario[known], refs.decision[known])
    lowest = np.minimum.accumulate(lowest[::-1])[::-1]
    owner = np.searchsorted(lowest, np.arange(len(refs.values)), side="right") - 1
    found: dict[tuple[int, tuple[str | None, ...]], int] = {}
    out = np.full(len(refs.values), NOTHING, dtype=np.int64)
    for k, value in enumerate(refs.values):
        act = acts[max(int(owner[k]), 0)]
        which = act.instance(value) if act is not None else None
        if which is not None:
            out[k] = found.setdefault((int(owner[k]), which), len(found))
    return out


def calls_of(refs: References, instance: Ints) -> Calls:
    """The calls of the reference."""
    asked = shown(instance, refs.decision)
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


def shown(instance: Ints, decision: Ints) -> Ints:
    """Which act each of some decisions does; nothing decided does none."""
    return np.where(decision == NOTHING, NOTHING, instance[decision])


def acts_of(
    path: Trajectory, cut: Stretches, instance: Ints, acts: Sequence[Act | None]
) -> ActCounts:
    """The calls and doings of one act per scenario along a trajectory."""
    refs = path.references
    calls = calls_of(refs, instance)
    pieces, begins = np.unique(cut.piece, return_index=True)
    key = shown(instance, path.decision[pieces])
    owner = path.scenario[pieces]
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
