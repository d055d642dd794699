"""The in-force rule: which answer takes effect.

The one definition behind a live recording, its replay at any pace (`scoring.sweep`,
`scoring.pair_trajectory_over` and `scoring.policy_replay` compute the rule for arrays) and the meter. An arbiter
is asked once per arrival, in order of arrival, and remembers what it let through. The horizon is not
its business: an answer at or after H never reaches it. Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from streamdecisionbench.errors import InputError

FAST = "fast"
SLOW = "slow"

OLDER_THAN_ACTIVE = "older_than_active"
WITHHELD = "withheld"
"""Not sure enough for the gate."""
NOT_AGREED = "not_agreed"
"""Not yet given by as many consecutive sources as the debounce asks for."""

REACH: dict[str, int | None] = {"freshest": 0, "lag_one": 1, "late_override": None}
"""How many steps a slow answer may lie behind the active source, by rule; None reaches any source."""

RULES = tuple(REACH)


class Arbiter(Protocol):
    """Decides, arrival by arrival."""

    @property
    def active(self) -> int:
        """The step whose answer took effect last; −1 before any did."""
        ...

    def refusal(
        self, lane: str | None, source: int, decision: object, confidence: float | None
    ) -> str | None:
        """Why the answer for step `source` may not replace the active decision; None: it may."""
        ...

    def activate(self, lane: str | None, source: int) -> None:
        """It has: the event is on disk."""
        ...


class Newest:
    """A source newer than the active one.

    >>> newest = Newest()
    >>> newest.admits(None, 3), newest.activate(None, 3), newest.admits(None, 2)
    (True, None, False)
    """

    def __init__(self) -> None:
        self.active = -1

    def admits(self, lane: str | None, source: int) -> bool:
        return source > self.active

    def refusal(
        self, lane: str | None, source: int, decision: object, confidence: float | None
    ) -> str | None:
        return None if self.admits(lane, source) else OLDER_THAN_ACTIVE

    def activate(self, lane: str | None, source: int) -> None:
        self.active = source


class CascadeRule(Newest):
    """Answers of several components, given in order, against the active source j.

    Within a component a source must be newer than any it delivered before, admitted or not. Against
    an active decision of its own or of a later component an answer needs i > j; against one of an
    earlier component i ≥ j − k with k from `REACH`, or nothing where it reaches any source.
    """

    def __init__(self, order: Sequence[str | None], rule: str) -> None:
        super().__init__()
        self.rule = pair_rule(rule)
        self._active_rank = -1
        self._rank = {lane: k for k, lane in enumerate(order)}
        self._delivered = dict.fromkeys(order, -1)

    def admits(self, lane: str | None, source: int) -> bool:
        return self.delivers(lane, source) and self.lets_in(lane, source)

    def delivers(self, lane: str | None, source: int) -> bool:
        """Whether the source is newer than any this component delivered before."""
        if lane not in self._delivered:
            raise ValueError(f"there is no component {lane!r}")
        newest_of_its_own = source > self._delivered[lane]
        self._delivered[lane] = max(self._delivered[lane], source)
        return newest_of_its_own

    def lets_in(self, lane: str | None, source: int) -> bool:
        """Whether what was delivered may replace the active decision."""
        if self.active < 0:
            return True
        if self._rank[lane] <= self._active_rank:
            return source > self.active
        reach = REACH[self.rule]
        return reach is None or source >= self.active - reach

    def activate(self, lane: str | None, source: int) -> None:
        self.active, self._active_rank = source, self._rank[lane]


class PairRule(CascadeRule):
    """Fast answers and slow corrections."""

    def __init__(self, rule: str) -> None:
        super().__init__((FAST, SLOW), rule)


class PolicyRule:
    """Gate, then debounce, then the in-force rule of a cascade: what a policy lets take effect.

    >>> rule = PolicyRule(CascadeRule([None], "freshest"), gates={None: 0.8}, agree=2)
    >>> rule.refusal(None, 0, "stop", 0.9), rule.refusal(None, 1, "stop", 0.5)
    ('not_agreed', 'withheld')
    >>> rule.refusal(None, 2, "stop", 0.8), rule.activate(None, 2)
    (None, None)
    """

    def __init__(
        self, cascade: CascadeRule, *, gates: Mapping[str | None, float], agree: int = 1
    ) -> None:
        self._cascade = cascade
        self._gates = gates
        self._agree = agree
        self._said: dict[str | None, tuple[object, int]] = {}

    def refusal(
        self, lane: str | None, source: int, decision: object, confidence: float | None
    ) -> str | None:
        gate = self._gates.get(lane, 0.0)
        if gate > 0 and (confidence is None or confidence < gate):
            return WITHHELD
        if not self._cascade.delivers(lane, source):
            return OLDER_THAN_ACTIVE
        before, times = self._said.get(lane, (None, 0))
        times = times + 1 if times and decision == before else 1
        self._said[lane] = decision, times
        if times < self._agree:
            return NOT_AGREED
        return None if self._cascade.lets_in(lane, source) else OLDER_THAN_ACTIVE

    def activate(self, lane: str | None, source: int) -> None:
        self._cascade.activate(lane, source)

    @property
    def active(self) -> int:
        return self._cascade.active


def pair_rule(name: str) -> str:
    """The rule's name as it is recorded.

    >>> pair_rule("lag-one")
    'lag_one'
    """
    rule = name.replace("-", "_")
    if rule not in RULES:
        raise InputError(
            f"no rule is called {name!r}",
            fix=f"choose one of: {', '.join(map(spelled, RULES))}",
        )
    return rule


def spelled(rule: str) -> str:
    """A rule as people read and type it; data keep the underscore.

    >>> spelled("late_override")
    'late-override'
    """
    return rule.replace("_", "-")
