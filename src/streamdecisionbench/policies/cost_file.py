"""Reading a cost file (TOML): what it says, or the key that is wrong and what to write instead."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from streamdecisionbench.policies.cost_rules import (
    Act,
    AgePenalty,
    Costs,
    Pair,
    Section,
)
from streamdecisionbench.policies.toml_reader import (
    TomlTable,
    instead,
    parse_toml,
    read_toml_text,
)

SCHEMA = "sdb-costs/1"
DEFAULT = "default"
"""In place of a file's name: the shipped costs."""
ANY = "*"
_MOST = 1e12
"""Seconds: thirty thousand years of an ordinary wrong decision."""

_AGE = {
    "linear": ("per_s",),
    "threshold": ("after_s", "add"),
    "capped": ("per_s", "cap"),
}

Values = Mapping[str, Collection[str]]
"""Which fields there are, and which values each has."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Families, fields and values that a cost file may name."""

    names: tuple[str, ...]
    """Families there may be a section for."""
    families: Mapping[str, Values]
    """By family; one that is not here is for other decisions, and nothing holds its section."""
    every: Values
    """Of all families together, for the section `default`."""


def read_cost_file(path: str | Path, vocabulary: Vocabulary | None = None) -> Costs:
    """A user's cost file; with a vocabulary, everything it names must be in there."""
    path = Path(path)
    text = read_toml_text(path, "name a cost file, COSTS.toml")
    return _costs(text, path, path.stem, vocabulary)


@cache
def default_costs() -> Costs:
    """The shipped costs of the four families: docs/reference/costs.md says where each number comes from.

    >>> support = default_costs().section("support_call_assist")
    >>> recording_card_digits = support.cost({"recorder": "pause"}, {"recorder": "record"})
    >>> recording_card_digits > 10 * support.cost({"hold_action": "return_customer"}, {"hold_action": "wait"})
    True
    """
    file = resources.files("streamdecisionbench") / "data" / "costs.toml"
    return _costs(file.read_text(encoding="utf-8"), "costs.toml", "default", None)


def _costs(text: str, where: str | Path, stem: str, vocabulary: Vocabulary | None) -> Costs:
    top = parse_toml(text, where, "see docs/reference/costs.md for an example")
    top.known("schema", "title", "dated", "about", "default", "family")
    if top.raw.get("schema") != SCHEMA:
        top.refuse("schema", f'write schema = "{SCHEMA}" on top')
    families = top.table("family")
    for family in families.raw:
        if vocabulary is not None and family not in vocabulary.names:
            families.fail(f"no family is called {family!r}", instead(family, vocabulary.names))
    every = _Section(vocabulary.every if vocabulary else None, "this suite")
    of = vocabulary.families if vocabulary else {}
    return Costs(
        name=str(top.raw.get("title", stem)),
        dated=str(top.raw.get("dated", "")),
        default=every.read(top.table("default")),
        families={f: _Section(of.get(f), f).read(families.table(f)) for f in families.raw},
        digest=hashlib.sha256(text.encode()).hexdigest(),
    )


class _Section:
    """Reads one section; `values` are the fields and values it may name, None: not known."""

    def __init__(self, values: Values | None, who: str) -> None:
        self.values, self.who = values, who

    def read(self, table: TomlTable) -> Section:
        table.known("wrong", "no_decision", "fields", "pairs", "age", "acts", "about")
        weights = table.table("fields")
        for name in weights.raw:
            self._field(weights, name)
        pairs: list[Pair] = []
        for each in table.tables("pairs"):
            pair = self._pair(each)
            same = (pair.field, pair.reference, pair.decision)
            if any((p.field, p.reference, p.decision) == same for p in pairs):
                each.fail(f"{each.path} says the same pair again", "keep one of the two")
            pairs.append(pair)
        acts: list[Act] = []
        for each in table.tables("acts"):
            act = self._act(each)
            for other in acts:
                if (other.when, set(other.fields)) == (act.when, set(act.fields)):
                    each.fail(f"{each.path} says the same act again", "keep one of the two")
                if other.name == act.name:
                    what = f"{each.name('name')} = {act.name!r} stands twice"
                    each.fail(what, "give every act a name of its own")
            acts.append(act)
        return Section(
            wrong=_cost(table, "wrong", 1.0),
            no_decision=_cost(table, "no_decision", 1.0),
            fields={name: _cost(weights, name) for name in weights.raw},
            pairs=tuple(pairs),
            age=_age(table.table("age")),
            acts=tuple(acts),
        )

    def _pair(self, table: TomlTable) -> Pair:
        table.known("field", "reference", "decision", "cost", "why")
        name = table.text("field")
        self._field(table, name)
        sides: list[str | None] = []
        for side in ("reference", "decision"):
            value = table.text(side) if side in table.raw else ANY
            if value != ANY:
                self._value(table, name, value)
            sides.append(None if value == ANY else value)
        reference, decision = sides
        if reference is None and decision is None:
            fix = "give reference, decision or both; a field's own weight goes under fields"
            table.fail(f"{table.path} names no value", fix)
        if reference == decision:
            what = f"{table.path}: {name} = {reference} is right here: it costs nothing"
            table.fail(what, "name two different values")
        return Pair(name, reference, decision, _cost(table, "cost"))

    def _act(self, table: TomlTable) -> Act:
        table.known(
            "name", "when", "fields", "within_s", "late", "missed", "wrongly", "twice", "why"
        )
        when = table.table("when")
        if not when.raw:
            fix = 'write, for example, when = { route = "release" }'
            table.fail(f"{table.path} says not when it is done", fix)
        for name in when.raw:
            self._field(when, name)
            self._value(when, name, when.text(name))
        fields = table.names("fields")
        for name in fields:
            self._field(table, name)
        return Act(
            name=table.text("name"),
            when=dict(when.raw),
            fields=fields,
            within_s=_cost(table, "within_s") if "within_s" in table.raw else None,
            **{k: _cost(table, k, 0.0) for k in ("late", "missed", "wrongly", "twice")},
        )

    def _field(self, table: TomlTable, name: str) -> None:
        if self.values is not None and name not in self.values:
            what = f"{table.path}: no question of {self.who} is called {name!r}"
            table.fail(what, instead(name, self.values))

    def _value(self, table: TomlTable, name: str, value: str) -> None:
        if self.values is not None and value not in self.values[name]:
            what = f"{table.path}: {name} never has the value {value!r}"
            table.fail(what, instead(value, self.values[name]))


def _age(table: TomlTable) -> AgePenalty | None:
    if not table.raw:
        return None
    kind = table.choice("kind", _AGE, "")
    table.known("kind", *_AGE[kind])
    values = {name: _cost(table, name) for name in _AGE[kind]}
    for name in ("per_s", "cap"):
        if values.get(name) == 0:
            table.fail(f"{table.name(name)} is 0: it costs nothing", "leave the age table out")
    return AgePenalty(kind, **values)


def _cost(table: TomlTable, key: str, default: float | None = None) -> float:
    """Never below 0 and never without end."""
    fix = f"write {key} = 0 for what costs nothing, or for example {key} = 1.0"
    found = table.number(key, fix, default)
    if found > _MOST:
        table.refuse(key, f"write at most {_MOST:g}")
    return found
