"""The in-force rule: which answer takes effect, one component's newest or what a pair's rule lets through.

The one definition behind a live recording, its replay at any pace (`scoring.in_force_replay` and
`scoring.pairs.replay` hold its closed forms) and the meter. An arbiter is asked once per arrival, in
order of arrival, and remembers what it let through. The horizon is not its business: an answer at or
after H never reaches it. Standard library only.
"""

from __future__ import annotations

from typing import Protocol

from streamdecisionbench.errors import InputError

__all__ = [
    "FAST",
    "REACH",
    "RULES",
    "SLOW",
    "Arbiter",
    "Newest",
    "PairRule",
    "pair_rule",
    "spelled",
]

FAST = "fast"
SLOW = "slow"

REACH: dict[str, int | None] = {"freshest": 0, "lag_one": 1, "late_override": None}
"""How many steps a slow answer may lie behind the active source, by rule; None reaches any source."""

RULES = tuple(REACH)


class Arbiter(Protocol):
    """Decides, arrival by arrival."""

    def admits(self, lane: str | None, source: int) -> bool:
        """Whether the answer for step `source` may replace the active decision."""
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

    def activate(self, lane: str | None, source: int) -> None:
        self.active = source


class PairRule:
    """Fast answers and slow corrections, against the active source j.

    Within a component a source must be newer than any it delivered before, admitted or not. Fast
    needs i > j; slow needs i ≥ j − k with k from `REACH`, or nothing where it reaches any source.
    """

    def __init__(self, rule: str) -> None:
        self.rule = pair_rule(rule)
        self.active = -1
        self._delivered = {FAST: -1, SLOW: -1}

    def admits(self, lane: str | None, source: int) -> bool:
        if lane not in self._delivered:
            raise ValueError(f"a pair has no component {lane!r}")
        newest_of_its_own = source > self._delivered[lane]
        self._delivered[lane] = max(self._delivered[lane], source)
        if not newest_of_its_own:
            return False
        if lane == FAST:
            return source > self.active
        reach = REACH[self.rule]
        return reach is None or source >= self.active - reach

    def activate(self, lane: str | None, source: int) -> None:
        self.active = source


def pair_rule(name: str) -> str:
    """The rule's name as it is recorded.

    >>> pair_rule("lag-one")
    'lag_one'
    """
    rule = name.replace("-", "_")
    if rule not in RULES:
        raise InputError(f"no rule is called {name!r}", fix=f"choose one of: {', '.join(RULES)}")
    return rule


def spelled(rule: str) -> str:
    """A rule as people read and type it; data keep the underscore.

    >>> spelled("late_override")
    'late-override'
    """
    return rule.replace("_", "-")
