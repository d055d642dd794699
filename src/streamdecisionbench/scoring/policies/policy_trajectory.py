"""What a policy had in force when, as a trajectory: at one interval and over a range of them.

Over a range the pieces come window by window (`cover`): within one the same decisions follow each
other and every moment is a line in c, so two pieces that hold at the same scale lie in one window
and are listed in the order of time, as a sweep asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.policy_file import Policy
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.policies.cover import cover
from streamdecisionbench.scoring.policies.read_answers import Setting, on_one_clock
from streamdecisionbench.scoring.policies.scene import NO_FALLBACK, Answers, Rows, Scene, scenes
from streamdecisionbench.scoring.policies.shares import Line, replay
from streamdecisionbench.scoring.timeline import Flat, Floats, Ints
from streamdecisionbench.scoring.trajectory import (
    NOTHING,
    References,
    Sweep,
    Trajectory,
    references_of,
)

__all__ = ["policy_sweep", "policy_trajectory"]

_CELLS = 2_000_000
"""Answers replayed at once."""


def policy_trajectory(
    policy: Policy, components: Sequence[Answers], interval: float, setting: Setting | None = None
) -> Trajectory:
    """A policy in replay at an interval.

    >>> from streamdecisionbench import example_recording, example_suite
    >>> from streamdecisionbench.policy_file import Expire
    >>> from streamdecisionbench.scoring.policies.read_answers import answers_of
    >>> answers = answers_of(example_recording(), example_suite())
    >>> found = policy_trajectory(Policy(expire=Expire(3.0)), [answers], 2.0)
    >>> found.decision.tolist(), found.begin.tolist()
    ([-1, 0, 0, 1, 1], [0.0, 0.4, 2.4, 4.8, 6.8])
    """
    stand = _Stand(policy, components, setting or Setting({}, {}))
    found = [stand.pieces(scene, scene.rows(interval)) for scene in stand.scenes]
    pieces = _sorted(found)
    begin, end = pieces.begin.time, pieces.end.time
    keep = begin < end
    return Trajectory(
        stand.references,
        stand.flat.tick / interval,
        pieces.scenario[keep],
        pieces.decision[keep],
        pieces.source[keep],
        begin[keep],
        end[keep],
    )


def policy_sweep(
    policy: Policy, components: Sequence[Answers], bounds: Bounds, setting: Setting | None = None
) -> Sweep:
    """A policy in replay at every interval within the bounds."""
    stand = _Stand(policy, components, setting or Setting({}, {}))
    found = []
    for scene in stand.scenes:
        windows = cover(scene, bounds)
        wide = np.flatnonzero(windows.low < windows.high)
        order = wide[np.argsort(windows.low[wide], kind="stable")]
        place = np.zeros(stand.flat.count, dtype=np.int64)
        place[scene.index] = np.arange(scene.count)
        low, high = windows.low[order], windows.high[order]
        rows = Rows(
            place[windows.scenario[order]],
            np.zeros(len(order), dtype=np.int64),
            np.sqrt(low * high),
        )
        size = max(1, _CELLS // (scene.components * scene.n))
        for begin in range(0, len(rows), size):
            part = rows.slice(begin, begin + size)
            one = stand.pieces(scene, part)
            span = slice(begin, begin + size)
            found.append(replace(one, low=low[span][one.row], high=high[span][one.row]))
    pieces = _sorted(found)
    keep = ~((pieces.begin.a == pieces.end.a) & (pieces.begin.b == pieces.end.b))
    return Sweep(
        stand.references,
        stand.flat.tick / bounds.high,
        stand.flat.tick / bounds.low,
        pieces.scenario[keep],
        pieces.decision[keep],
        pieces.source[keep],
        pieces.begin.a[keep],
        pieces.begin.b[keep],
        pieces.end.a[keep],
        pieces.end.b[keep],
        pieces.low[keep],
        pieces.high[keep],
    )


@dataclass(frozen=True, slots=True)
class _Pieces:
    """Pieces of some rows, row after row in the order of time, empty ones among them."""

    row: Ints
    scenario: Ints
    decision: Ints
    source: Ints
    begin: Line
    end: Line
    low: Floats
    high: Floats


class _Stand:
    """Components on one clock, with decision ids that all of them share."""

    def __init__(self, policy: Policy, components: Sequence[Answers], setting: Setting) -> None:
        components = on_one_clock(components)
        parts = components[0].parts
        self.scenes = scenes(policy, components, changed=setting.changed, fallback=setting.fallback)
        self.flat = Flat(parts)
        words = [_words(components, s, setting) for s in range(len(parts))]
        self.width = np.array([own.width for own in words])
        self.offset = np.cumsum(self.width) - self.width
        self.words = words
        self.references = self._references()

    def pieces(self, scene: Scene, rows: Rows) -> _Pieces:
        """Nothing at first, then each decision, and what stands in for it once it has lapsed."""
        done = replay(scene, rows)
        held, lines = done.held, done.lines
        count = len(rows)
        s = rows.scenario[held.row]
        index = scene.index[s]
        start = scene.release[rows.scenario, 0]
        horizon = scene.horizon[rows.scenario]
        first = np.append(True, held.row[1:] != held.row[:-1])[: len(held.row)]
        until = Line(horizon.copy(), np.zeros(count), horizon.copy())
        for mine, other in zip(
            (until.a, until.b, until.time),
            (lines.begin.a, lines.begin.b, lines.begin.time),
            strict=True,
        ):
            mine[held.row[first]] = other[first]
        nothing = np.full(count, NOTHING, dtype=np.int64)
        table = np.stack(
            [
                np.stack([self.words[i].answered[k] for i in scene.index.tolist()])
                for k in range(scene.components)
            ]
        )
        said = table[held.component, s, held.source]
        source = self.flat.first[index] + held.source
        instead = np.array([w.fallback for w in self.words], dtype=np.int64)[index]
        lapsed = held.instead == NO_FALLBACK
        standing = np.where(lapsed, NOTHING, instead + self.offset[index])
        row = np.concatenate((np.arange(count), held.row, held.row))
        # Within a row: nothing, then decisions and their fallbacks by turns.
        nth = np.arange(len(held.row))
        place = np.concatenate((np.full(count, -1), 2 * nth, 2 * nth + 1))
        order = np.lexsort((place, row))
        begin = _joined(Line(start, np.zeros(count), start), lines.begin, lines.yields)
        end = _joined(until, lines.yields, lines.end)
        decision = np.concatenate((nothing, said + self.offset[index], standing))
        sources = np.concatenate((nothing, source, np.where(lapsed, NOTHING, source)))
        return _Pieces(
            row[order],
            scene.index[rows.scenario[row]][order],
            decision[order],
            sources[order],
            _at(begin, order),
            _at(end, order),
            np.zeros(len(row)),
            np.zeros(len(row)),
        )

    def _references(self) -> References:
        plain = references_of(self.flat)
        starts, _ = self.flat.segments
        reference = np.concatenate(
            [own.reference + begin for own, begin in zip(self.words, self.offset, strict=True)]
        )
        values = [value for own in self.words for value in own.values]
        named = all(own.values for own in self.words)
        return replace(plain, decision=reference[starts], values=values if named else ())


@dataclass(frozen=True, slots=True)
class _Words:
    """One scenario's decisions, one id each, whoever gave them."""

    reference: Ints
    answered: Sequence[Ints]
    """By component and step."""
    fallback: int
    values: Sequence[Mapping[str, str]]
    width: int


def _words(components: Sequence[Answers], s: int, setting: Setting) -> _Words:
    """Without values, equal ids are taken for equal decisions."""
    parts = [one.parts[s] for one in components]
    name = parts[0].episode_id
    fallback = setting.fallback.get(name, NO_FALLBACK)
    if not all(part.values for part in parts):
        answered = [part.predicted for part in parts]
        highest = max(int(parts[0].reference.max()), fallback, *(int(p.max()) for p in answered))
        return _Words(parts[0].reference, answered, fallback, (), highest + 1)
    ids: dict[tuple[tuple[str, str], ...], int] = {}

    def known(values: Sequence[Mapping[str, str]]) -> Ints:
        own = [ids.setdefault(tuple(sorted(v.items())), len(ids)) for v in values]
        return np.array(own, dtype=np.int64)

    maps = [known(part.values) for part in parts]
    answered = [
        np.where(part.predicted < 0, NOTHING, own[np.maximum(part.predicted, 0)])
        for own, part in zip(maps, parts, strict=True)
    ]
    if fallback != NO_FALLBACK:
        said = setting.said.get(name)
        fallback = int(known([said])[0]) if said is not None else int(maps[0][fallback])
    reference = maps[0][parts[0].reference]
    return _Words(reference, answered, fallback, [dict(key) for key in ids], len(ids))


def _joined(*lines: Line) -> Line:
    return Line(*(np.concatenate([getattr(x, n) for x in lines]) for n in ("a", "b", "time")))


def _at(line: Line, which: Ints | NDArray[np.bool_]) -> Line:
    return Line(line.a[which], line.b[which], line.time[which])


def _sorted(found: Sequence[_Pieces]) -> _Pieces:
    """Scenario after scenario; within one as they come."""
    scenario = np.concatenate([one.scenario for one in found])
    order = np.argsort(scenario, kind="stable")

    def ids(name: str) -> Ints:
        whole: Ints = np.concatenate([getattr(one, name) for one in found])[order]
        return whole

    def scales(name: str) -> Floats:
        values: Floats = np.concatenate([getattr(one, name) for one in found])[order]
        return values

    def moments(name: str) -> Line:
        return _at(_joined(*(getattr(one, name) for one in found)), order)

    return _Pieces(
        np.zeros(0, dtype=np.int64),
        scenario[order],
        ids("decision"),
        ids("source"),
        moments("begin"),
        moments("end"),
        scales("low"),
        scales("high"),
    )
