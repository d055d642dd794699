"""What a second costs under a cost file, for every pair of decisions a meter sees."""

from __future__ import annotations

import os

from streamdecisionbench.cost_file.rules import AgePenalty, Costs, Section, fields_of
from streamdecisionbench.meter.counts import RATE

__all__ = ["RATE", "Prices", "Rates"]

_REMEMBERED = 10_000


class Rates:
    """One section of a cost file."""

    __slots__ = ("_found", "_section", "age")

    def __init__(self, section: Section) -> None:
        self._section = section
        self.age: AgePenalty | None = section.age
        self._found: dict[tuple[str, str | None], int] = {}

    def of(self, reference: str, decision: str | None) -> int:
        """C(y, d) in units; both in canonical text.

        >>> Rates(Section(wrong=2.5)).of("pause", "record") / RATE
        2.5
        """
        rate = self._found.get((reference, decision))
        if rate is None:
            if len(self._found) >= _REMEMBERED:
                self._found.clear()
            shown = None if decision is None else fields_of(decision)
            rate = int(self._section.cost(fields_of(reference), shown) * RATE)
            self._found[reference, decision] = rate
        return rate


class Prices:
    """A cost file in a meter: the section of a stream is that of its label `family`."""

    __slots__ = ("_sections", "costs")

    def __init__(self, costs: Costs | str | os.PathLike[str]) -> None:
        if not isinstance(costs, Costs):
            # Reading TOML takes longer to import than the whole meter.
            from streamdecisionbench.cost_file.read import DEFAULT, default_costs, read_cost_file

            costs = default_costs() if costs == DEFAULT else read_cost_file(os.fspath(costs))
        self.costs = costs
        default = Rates(costs.default)
        self._sections = {name: Rates(section) for name, section in costs.families.items()}
        self._sections[""] = default

    def of(self, family: str) -> Rates:
        return self._sections.get(family) or self._sections[""]
