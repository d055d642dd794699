"""What a cost file names, and what of it a log really shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from streamdecisionbench.cost_file.rules import Costs, Section, fields_of
from streamdecisionbench.logs.stream_arrays import StreamArrays

__all__ = ["Named"]

Name = tuple[str, str | None]
"""A field and one of its values, or the field alone."""

_REMEMBERED = 100_000
_SHOWN = 5


@dataclass
class Named:
    """The families of a log's streams, and those names of their sections that its decisions have."""

    seen: dict[str, set[Name]] = field(default_factory=dict)
    _fields: dict[str, dict[str, str]] = field(default_factory=dict, repr=False)
    _met: set[tuple[str, str]] = field(default_factory=set, repr=False)

    def values(
        self, found: StreamArrays, families: Sequence[str], costs: Costs | None
    ) -> list[Mapping[str, str]]:
        """What each decision id says; notes which names of the cost file it has."""
        texts = found.texts if isinstance(found.texts, list) else found.texts.to_pylist()
        if len(self._fields) > _REMEMBERED:
            self._fields.clear()
            self._met.clear()
        values: list[Mapping[str, str]] = [
            self._fields[text] if text in self._fields else self._read(text) for text in texts
        ]
        if costs is not None:
            self._meet(found, families, costs, texts)
        return values or [{}]

    def merge(self, other: Named) -> None:
        for family, names in other.seen.items():
            self.seen.setdefault(family, set()).update(names)

    def notes(self, costs: Costs) -> list[str]:
        """What a reader of the costs must be told: sections that are not used, names never met."""
        found = []
        others = sorted(family for family in self.seen if family not in costs.families)
        if costs.families and others:
            shown = ", ".join(repr(name) for name in others[:_SHOWN] if name)
            found.append(
                f"costs: no section for family {shown}; `default` was used"
                if shown
                else "costs: the log has no column 'family', so the section `default` was used"
            )
        for family, names in sorted(self.seen.items()):
            missing = sorted(_names(costs.section(family)) - names, key=str)
            if missing:
                shown = ", ".join(
                    name if value is None else f"{name} = {value}"
                    for name, value in islice(missing, _SHOWN)
                )
                more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
                of = f" of family {family!r}" if family else ""
                found.append(f"costs: no decision{of} in this log has {shown}{more}")
        return found

    def _read(self, text: str) -> dict[str, str]:
        return self._fields.setdefault(text, fields_of(text))

    def _meet(
        self, found: StreamArrays, families: Sequence[str], costs: Costs, texts: Sequence[str]
    ) -> None:
        place: dict[str, int] = {}
        of = np.repeat([place.setdefault(name, len(place)) for name in families], found.n)
        width = len(texts) + 1
        keys = np.concatenate([of * width + np.maximum(ids, -1) + 1 for ids in (found.y, found.p)])
        names = list(place)
        for family in names:
            self.seen.setdefault(family, set())
        for key in np.unique(keys).tolist():
            family, text = names[key // width], texts[key % width - 1] if key % width else None
            if text is None or (family, text) in self._met:
                continue
            self._met.add((family, text))
            said = self._fields[text]
            self.seen[family] |= _names(costs.section(family)) & {
                name for item in said.items() for name in (item, (item[0], None))
            }


def _names(section: Section) -> set[Name]:
    """Fields and values a section names."""
    found: set[Name] = {(name, None) for name in section.fields}
    for pair in section.pairs:
        found |= {(pair.field, value) for value in (pair.reference, pair.decision) if value}
    for act in section.acts:
        found |= set(act.when.items())
        found |= {(name, None) for name in act.fields}
    return found
