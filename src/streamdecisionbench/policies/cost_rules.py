"""The cost of being wrong: weights of fields and of pairs of values, ages, one-time acts.

The unit is one second of an ordinary wrong decision. While a decision d is in force and y is right,
every second costs

    C(y, d) = 0                                if d = y
            = `no_decision`                    if nothing is in force
            = the worst of d's wrong fields    otherwise,

a field being wrong where both decisions have it and differ in it; what only one of them has follows
from a wrong route and is not counted again. A wrong field costs what its pair of values costs, or
its own weight, or `wrong`. With all of them 1 the cost per second is exactly 1 − A.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from streamdecisionbench.text import compact_json

DECISION = "decision"
"""The one field of a decision that has no fields of its own."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A field that shows `decision` while `reference` is right; None matches any value."""

    field: str
    reference: str | None
    decision: str | None
    cost: float


@dataclass(frozen=True, slots=True)
class AgePenalty:
    """The extra cost of a second, by how long the decision in force has been wrong.

    linear: `per_s` · age.  threshold: `add` once the age is beyond `after_s`.
    capped: the linear one, but never more than `cap`.
    """

    kind: str
    per_s: float = 0.0
    after_s: float = 0.0
    add: float = 0.0
    cap: float = 0.0


@dataclass(frozen=True, slots=True)
class Act:
    """Something that is done once when a decision comes into force, and cannot be taken back.

    A decision does the act if it has every value of `when`; acts that differ in one of `fields` are
    different acts. Costs are in seconds of an ordinary wrong decision, each time it happens.
    """

    name: str
    when: Mapping[str, str]
    fields: tuple[str, ...] = ()
    within_s: float | None = None
    """Done later than this after the reference first asked for it is late; None: any time is fine
    while it asks."""
    late: float = 0.0
    missed: float = 0.0
    wrongly: float = 0.0
    twice: float = 0.0

    def instance(self, decision: Mapping[str, str]) -> tuple[str | None, ...] | None:
        """Which act a decision does, None if none.

        >>> act = Act("release", {"route": "release"}, ("destination",))
        >>> act.instance({"route": "release", "destination": "rack"}), act.instance({"route": "hold"})
        (('rack',), None)
        """
        if any(decision.get(name) != value for name, value in self.when.items()):
            return None
        return tuple(decision.get(name) for name in self.fields)


@dataclass(frozen=True, slots=True)
class Section:
    """The costs of one family, or of all without their own section."""

    wrong: float = 1.0
    no_decision: float = 1.0
    fields: Mapping[str, float] = field(default_factory=dict)
    pairs: tuple[Pair, ...] = ()
    age: AgePenalty | None = None
    acts: tuple[Act, ...] = ()

    def cost(self, reference: Mapping[str, str], decision: Mapping[str, str] | None) -> float:
        """C(y, d).

        >>> rules = Section(fields={"card": 0.5}, pairs=(Pair("recorder", "pause", "record", 20.0),))
        >>> rules.cost({"recorder": "pause", "card": "a"}, {"recorder": "record", "card": "b"})
        20.0
        >>> rules.cost({"recorder": "record", "card": "a"}, {"recorder": "record", "card": "b"})
        0.5
        """
        return self.blame(reference, decision)[0]

    def blame(
        self, reference: Mapping[str, str], decision: Mapping[str, str] | None
    ) -> tuple[float, str | None]:
        """C(y, d) and the field that makes it; None where no field does."""
        if decision is None:
            return self.no_decision, None
        wrong = [
            name for name in reference if decision.get(name, reference[name]) != reference[name]
        ]
        if not wrong:
            return (0.0 if decision == reference else self.wrong), None
        costs = [self._field_cost(name, reference[name], decision[name]) for name in wrong]
        worst = max(costs)
        return worst, wrong[costs.index(worst)]

    def _field_cost(self, name: str, reference: str, decision: str) -> float:
        """The most specific rule: a pair, the right value alone, the shown value alone, the field."""
        best, cost = 0, self.fields.get(name, self.wrong)
        for pair in self.pairs:
            if pair.field != name:
                continue
            if pair.reference not in (None, reference) or pair.decision not in (None, decision):
                continue
            rank = 2 * (pair.reference is not None) + (pair.decision is not None)
            if rank > best:
                best, cost = rank, pair.cost
        return cost


@dataclass(frozen=True, slots=True)
class Costs:
    """A cost file: sections by family, and one for everything else."""

    name: str
    dated: str = ""
    default: Section = field(default_factory=Section)
    families: Mapping[str, Section] = field(default_factory=dict)
    digest: str = ""
    """Of the file's bytes: part of a score's signature."""

    def section(self, family: str) -> Section:
        return self.families.get(family, self.default)


EQUAL = Costs("equal")
"""Every second of any wrong decision costs 1: the plain score's own weights."""


def fields_of(decision: str) -> dict[str, str]:
    """The fields of a decision of a log or a meter, from its canonical text.

    A JSON object has its own fields, and values that are not text are written as JSON. Any other decision is
    one value of the field `decision`.

    >>> fields_of('{"recorder":"pause","slide":3}'), fields_of("pause")
    ({'recorder': 'pause', 'slide': '3'}, {'decision': 'pause'})
    """
    if decision[:1] != "{":
        return {DECISION: decision}
    try:
        found = json.loads(decision)
    except (ValueError, RecursionError):
        return {DECISION: decision}
    return {k: v if isinstance(v, str) else compact_json(v) for k, v in found.items()}
