"""What could be chosen: recordings alone and as fast and slow pairs, ready for any interval.

All stand on one nominal clock r_i = i · tick, singles and pairs alike, so that differences between
them are paired by state. Whatever else applies decisions becomes a `Contender` of its own and goes
through the same choice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from streamdecisionbench.analysis.bootstrap import same_states
from streamdecisionbench.analysis.steps import shares_by_step, shares_by_step_at, stretches
from streamdecisionbench.analysis.token_cost import Cost
from streamdecisionbench.in_force import spelled
from streamdecisionbench.policy_file import Policy
from streamdecisionbench.scoring.classes import shares_at
from streamdecisionbench.scoring.in_force_replay import accepted_at
from streamdecisionbench.scoring.pairs.nominal_clock import Duo, Lane, lane, on_stage, stage
from streamdecisionbench.scoring.pairs.replay import SLOW_SHARE, Path, path_at, shares_along
from streamdecisionbench.scoring.score import Shares, family_weights, macro_shares
from streamdecisionbench.scoring.timeline import Flat, Floats, Timeline

if TYPE_CHECKING:
    from streamdecisionbench.analysis.policy_contenders import Policies
    from streamdecisionbench.scoring.policies.scene import Answers

__all__ = ["PAIRED", "Contender", "Field"]

PAIRED = 4
"""With more than twice as many recordings, pairs are made of so many best in force at the interval
and so many best untimed."""


@dataclass(frozen=True, slots=True)
class Contender:
    """Something an application could use, as functions of the interval Δ in seconds."""

    name: str
    members: tuple[str, ...]
    """The components it asks; fewer are simpler."""
    rule: str | None
    by_step: Callable[[float], Floats]
    """a_g(Δ): what every step (scenarios end to end) earns, as a share of its scenario's time."""
    shares: Callable[[float], Shares]
    per_state: Callable[[float], float | None]
    """Money per published state; None where a price is not known."""
    slow_share: Callable[[float], float] | None = None
    simulated_pair: bool = False
    """A pair or a policy with a simulation in it. Simulated answers are drawn independently of each
    other, and their confidences as declared: what is gained says nothing about the components they
    imitate."""
    value: Callable[[float], float] | None = None
    """A(Δ), where it is known without its steps."""
    policy: Policy | None = None
    """What is done with the answers; None: the newest simply takes effect."""
    chosen: bool = False
    """Whether the policy has numbers that were chosen."""


class Field:
    """Recordings of the same states on one stage, with all that is made of them once."""

    def __init__(
        self,
        recordings: Mapping[str, Sequence[Timeline]],
        costs: Mapping[str, Cost | None] | None = None,
        simulated: Collection[str] = (),
    ) -> None:
        same_states(recordings)
        self.stage = stage(next(iter(recordings.values())))
        self.costs = costs or {}
        self.simulated = frozenset(simulated)
        none = np.zeros(self.stage.flat.count)  # paths at one scale need no critical scales
        self._flats: dict[str, Flat] = {}
        self._lanes: dict[str, Lane] = {}
        for name, parts in recordings.items():
            own = on_stage(self.stage, parts, name)
            self._flats[name] = Flat(own)
            self._lanes[name] = lane(self.stage, own, none)
        self.weights = family_weights([p.family for p in self.stage.parts])
        self.policies: Policies | None = None
        self._duos: dict[tuple[str, str], Duo] = {}
        self._paired: dict[float, list[str]] = {}
        self._steps: tuple[float, dict[str, Floats]] = (0.0, {})

    @property
    def parts(self) -> Sequence[Timeline]:
        return self.stage.parts

    @property
    def answers(self) -> Mapping[str, Answers]:
        """What policies are made of, on the nominal clock; empty where none are weighed."""
        return {} if self.policies is None else self.policies.answers

    def singles(self) -> list[Contender]:
        return [self._single(name) for name in self._flats]

    def pairs(self, interval: float, rules: Sequence[str]) -> list[Contender]:
        """Every fast and slow two of those worth pairing: the fast one's median latency is lower."""
        names = self.paired(interval)
        speed = {name: (float(np.median(self._lanes[name].L)), k) for k, name in enumerate(names)}
        return [
            self._pair(fast, slow, rule)
            for fast, slow in permutations(names, 2)
            if speed[fast] < speed[slow]
            for rule in rules
        ]

    def paired(self, interval: float) -> list[str]:
        """Whom to pair: everybody, or of many the best in force at the interval and untimed."""
        names = list(self._flats)
        if len(names) <= 2 * PAIRED:
            return names
        if interval in self._paired:
            return self._paired[interval]
        timed = {n: -self.in_force(self._steps_of(n, interval)) for n in names}
        untimed = {n: -float(self.weights @ self._lanes[n].untimed) for n in names}
        chosen = {n for by in (timed, untimed) for n in sorted(names, key=by.__getitem__)[:PAIRED]}
        self._paired[interval] = [name for name in names if name in chosen]
        return self._paired[interval]

    def _steps_of(self, name: str, interval: float) -> Floats:
        """What every step of a recording earns; known while the interval stays."""
        if self._steps[0] != interval:
            self._steps = interval, {}
        known = self._steps[1]
        if name not in known:
            known[name] = shares_by_step_at(self._flats[name], interval)
        return known[name]

    def in_force(self, by_step: Floats) -> float:
        """A(Δ): what the steps earn, scenarios averaged family by family."""
        return float((np.repeat(self.weights, self.stage.flat.n) * by_step).sum())

    def per_state(self, *members: str) -> float | None:
        """Every state is asked of every component."""
        known = [self.costs.get(member) for member in members]
        each = [c.per_decision if c is not None else None for c in known]
        return None if any(x is None for x in each) else sum(x for x in each if x is not None)

    def _single(self, name: str) -> Contender:
        flat = self._flats[name]

        def shares(interval: float) -> Shares:
            u = flat.r + (flat.tick / interval)[flat.scenario] * flat.L
            table = shares_at(flat, u, accepted_at(flat, u))
            return macro_shares(table, self._lanes[name].untimed, self.weights)

        return Contender(
            name=name,
            members=(name,),
            rule=None,
            by_step=lambda interval: self._steps_of(name, interval),
            shares=shares,
            per_state=lambda _: self.per_state(name),
        )

    def _pair(self, fast: str, slow: str, rule: str) -> Contender:
        where = self.stage
        duo = self._duos.setdefault((fast, slow), Duo(where, self._lanes[fast], self._lanes[slow]))

        def path(interval: float) -> Path:
            return path_at(duo, where.flat.tick / interval, rule)

        def by_step(interval: float) -> Floats:
            found = path(interval)
            held = stretches(where.flat, found.scenario, found.begin, found.end, duo.p[found.node])
            return shares_by_step(where.flat, held)

        def table(interval: float) -> Floats:
            return shares_along(duo, path(interval), where.flat, where.time, where.segment)

        return Contender(
            name=f"{fast} + {slow} ({spelled(rule)})",
            members=(fast, slow),
            rule=rule,
            by_step=by_step,
            shares=lambda interval: macro_shares(
                table(interval)[:, :SLOW_SHARE], duo.slow.untimed, self.weights
            ),
            per_state=lambda _: self.per_state(fast, slow),
            slow_share=lambda interval: float(self.weights @ table(interval)[:, SLOW_SHARE]),
            simulated_pair=not self.simulated.isdisjoint((fast, slow)),
        )
