"""Reading a cost file (TOML): what it says, or the line that is wrong and what to write instead."""

from __future__ import annotations

import difflib
import hashlib
import math
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NoReturn

from streamdecisionbench.errors import InputError
from streamdecisionbench.rules.costs import AGE_KINDS, Act, AgePenalty, Costs, Pair, Section

SCHEMA = "sdb-costs/1"
DEFAULT = "default"
"""In place of a file's name: the shipped costs."""
ANY = "*"

_TOP = ("schema", "title", "dated", "about", "default", "family")
_SECTION = ("wrong", "no_decision", "fields", "pairs", "age", "acts", "about")
_PAIR = ("field", "reference", "decision", "cost", "why")
_ACT = ("name", "when", "fields", "within_s", "late", "missed", "wrongly", "twice", "why")
_AGE = {
    "linear": ("per_s",),
    "threshold": ("after_s", "add"),
    "capped": ("per_s", "cap"),
}


Values = Mapping[str, Collection[str]]
"""Which fields there are, and which values each has."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a cost file may name."""

    names: tuple[str, ...]
    """Families there may be a section for."""
    families: Mapping[str, Values]
    """By family; one that is not here is for other decisions, and nothing holds its section."""
    every: Values
    """Of all families together, for the section `default`."""


def read_cost_file(path: str | Path, vocabulary: Vocabulary | None = None) -> Costs:
    """A user's cost file; with a vocabulary, everything it names must be in there."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError("no such file", where=path, fix="name a cost file, COSTS.toml") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"is not UTF-8 text (byte {error.start})", where=path, fix="save it as UTF-8"
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", where=path, fix="name a cost file, COSTS.toml"
        ) from None
    return _Reader(str(path), text, vocabulary).costs(path.stem)


@cache
def default_costs() -> Costs:
    """The shipped costs of the four families: docs/costs.md says where each number comes from.

    >>> support = default_costs().section("support_call_assist")
    >>> recording_card_digits = support.cost({"recorder": "pause"}, {"recorder": "record"})
    >>> recording_card_digits > 10 * support.cost({"hold_action": "return_customer"}, {"hold_action": "wait"})
    True
    """
    file = resources.files("streamdecisionbench") / "data" / "costs.toml"
    return _Reader("costs.toml", file.read_text(encoding="utf-8"), None).costs("default")


@dataclass(frozen=True, slots=True)
class _Words:
    """What one section may name; nothing is known where `values` is None."""

    values: Values | None
    who: str


class _Reader:
    """One file: its text, its lines, and what its names may be."""

    def __init__(self, where: str, text: str, vocabulary: Vocabulary | None) -> None:
        self.where, self.text, self.vocabulary = where, text, vocabulary
        try:
            self.data: dict[str, Any] = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise InputError(
                f"is not TOML: {error}", where=where, fix="see docs/costs.md for an example"
            ) from None
        self.lines = toml_lines(text)

    def costs(self, stem: str) -> Costs:
        data = self.data
        self._known(data, _TOP, ())
        if data.get("schema") != SCHEMA:
            self._refuse(
                ("schema",), "is no cost file of ours", f'write schema = "{SCHEMA}" on top'
            )
        families = self._table(data, "family", ())
        for family in families:
            self._require_family(family)
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        return Costs(
            name=str(data.get("title", stem)),
            dated=str(data.get("dated", "")),
            default=self._section(
                self._table(data, "default", ()), ("default",), self._words(None)
            ),
            families={
                family: self._section(
                    self._table(families, family, ("family",)),
                    ("family", family),
                    self._words(family),
                )
                for family in families
            },
            digest=digest,
        )

    def _words(self, family: str | None) -> _Words:
        if self.vocabulary is None:
            return _Words(None, "")
        if family is None:
            return _Words(self.vocabulary.every, "this suite")
        return _Words(self.vocabulary.families.get(family), family)

    def _require_family(self, family: str) -> None:
        known = () if self.vocabulary is None else self.vocabulary.names
        if known and family not in known:
            self._refuse(
                ("family", family), f"no family is called {family!r}", _instead(family, known)
            )

    def _section(self, table: Mapping[str, Any], path: tuple[str, ...], words: _Words) -> Section:
        self._known(table, _SECTION, path)
        weights = self._table(table, "fields", path)
        for name in weights:
            self._field(name, (*path, "fields", name), words)
        pairs = self._list(table, "pairs", path)
        acts = self._list(table, "acts", path)
        found = tuple(self._pair(p, (*path, "pairs", k), words) for k, p in enumerate(pairs))
        self._require_distinct(found, path)
        return Section(
            wrong=self._number(table, "wrong", path, 1.0),
            no_decision=self._number(table, "no_decision", path, 1.0),
            fields={name: self._number(weights, name, (*path, "fields")) for name in weights},
            pairs=found,
            age=self._age(table, path),
            acts=tuple(self._act(a, (*path, "acts", k), words) for k, a in enumerate(acts)),
        )

    def _pair(self, table: Mapping[str, Any], path: tuple[str | int, ...], words: _Words) -> Pair:
        self._known(table, _PAIR, path)
        name = self._text(table, "field", path)
        self._field(name, (*path, "field"), words)
        sides = []
        for side in ("reference", "decision"):
            value = self._text(table, side, path) if side in table else ANY
            if value != ANY:
                self._value(name, value, (*path, side), words)
            sides.append(None if value == ANY else value)
        if sides == [None, None]:
            self._refuse(path, "names no value", "give reference, decision or both; a field's own weight goes under fields")  # fmt: skip
        if sides[0] == sides[1]:
            self._refuse(path, f"{name} = {sides[0]} is right here: it costs nothing", "name two different values")  # fmt: skip
        reference, decision = sides
        return Pair(name, reference, decision, self._number(table, "cost", path))

    def _act(self, table: Mapping[str, Any], path: tuple[str | int, ...], words: _Words) -> Act:
        self._known(table, _ACT, path)
        when = self._table(table, "when", path)
        if not when:
            self._refuse(path, "says not when it is done", 'write, for example, when = { route = "release" }')  # fmt: skip
        for name in when:
            self._field(name, (*path, "when", name), words)
            self._value(name, self._text(when, name, (*path, "when")), (*path, "when", name), words)
        fields = table.get("fields", [])
        if not isinstance(fields, list) or not all(isinstance(f, str) for f in fields):
            self._refuse((*path, "fields"), "fields must be a list of field names", 'for example fields = ["destination"]')  # fmt: skip
        for name in fields:
            self._field(name, (*path, "fields"), words)
        costs = {
            k: self._number(table, k, path, 0.0) for k in ("late", "missed", "wrongly", "twice")
        }
        return Act(
            name=self._text(table, "name", path),
            when=dict(when),
            fields=tuple(fields),
            within_s=self._number(table, "within_s", path) if "within_s" in table else None,
            **costs,
        )

    def _age(self, table: Mapping[str, Any], path: tuple[str, ...]) -> AgePenalty | None:
        age = self._table(table, "age", path)
        if not age:
            return None
        path = (*path, "age")
        kind = age.get("kind")
        if kind not in AGE_KINDS:
            self._refuse((*path, "kind"), f"kind {kind!r} is not known", f"use {', '.join(AGE_KINDS)}")  # fmt: skip
        needed = _AGE[str(kind)]
        self._known(age, ("kind", *needed), path)
        values = {name: self._number(age, name, path) for name in needed}
        for name in ("per_s", "cap"):
            if values.get(name) == 0:
                self._refuse((*path, name), f"{name} is 0: such a penalty costs nothing", "leave the age table out")  # fmt: skip
        return AgePenalty(str(kind), **values)

    def _require_distinct(self, pairs: tuple[Pair, ...], path: tuple[str, ...]) -> None:
        seen: set[tuple[str, str | None, str | None]] = set()
        for k, pair in enumerate(pairs):
            key = (pair.field, pair.reference, pair.decision)
            if key in seen:
                self._refuse((*path, "pairs", k), "says the same pair twice", "keep one of the two")
            seen.add(key)

    def _field(self, name: str, path: tuple[str | int, ...], words: _Words) -> None:
        if words.values is not None and name not in words.values:
            self._refuse(
                path, f"no question of {words.who} is called {name!r}", _instead(name, words.values)
            )

    def _value(self, name: str, value: str, path: tuple[str | int, ...], words: _Words) -> None:
        if words.values is not None and value not in words.values[name]:
            self._refuse(
                path, f"{name} never has the value {value!r}", _instead(value, words.values[name])
            )

    def _known(
        self, table: Mapping[str, Any], known: Collection[str], path: tuple[str | int, ...]
    ) -> None:
        for name in table:
            if name not in known:
                self._refuse((*path, name), f"{name!r} is not known here", _instead(name, known))

    def _table(
        self, table: Mapping[str, Any], name: str, path: tuple[str | int, ...]
    ) -> Mapping[str, Any]:
        value = table.get(name, {})
        if not isinstance(value, dict):
            self._refuse((*path, name), f"{name} must be a table", f"write [{'.'.join(map(str, (*path, name)))}]")  # fmt: skip
        return value

    def _list(
        self, table: Mapping[str, Any], name: str, path: tuple[str | int, ...]
    ) -> list[Mapping[str, Any]]:
        value = table.get(name, [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self._refuse((*path, name), f"{name} must be tables", f"write [[{'.'.join(map(str, (*path, name)))}]]")  # fmt: skip
        return value

    def _text(self, table: Mapping[str, Any], name: str, path: tuple[str | int, ...]) -> str:
        value = table.get(name)
        if not isinstance(value, str) or not value:
            what = f"{name} is missing" if value is None else f"{name} must be text"
            self._refuse((*path, name), what, f'write {name} = "…"')
        return value

    def _number(
        self,
        table: Mapping[str, Any],
        name: str,
        path: tuple[str | int, ...],
        default: float | None = None,
    ) -> float:
        value = table.get(name, default)
        if value is None:
            self._refuse((*path, name), f"{name} is missing", f"write {name} = 1.0")
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._refuse((*path, name), f"{name} must be a number", f"write {name} = 1.0")
        if not math.isfinite(value) or value < 0:
            self._refuse(
                (*path, name),
                f"{name} is {value:g}: a cost is never below 0 and never without end",
                f"write {name} = 0 for what costs nothing",
            )
        return float(value)

    def _refuse(self, path: tuple[str | int, ...], what: str, fix: str) -> NoReturn:
        line = line_of(self.lines, path)
        raise InputError(what, where=f"{self.where}, line {line}" if line else self.where, fix=fix)


def _instead(name: str, known: Collection[str]) -> str:
    """The nearest known name, or all of them."""
    near = difflib.get_close_matches(name, list(known), n=1)
    if near:
        return f"write {near[0]}"
    shown = list(known)[:12]
    more = ", …" if len(known) > len(shown) else ""
    return f"use one of: {', '.join(shown)}{more}"


# On which line of a TOML file each table and each key stands, for messages that can be acted on.


KeyPath = tuple[str | int, ...]
"""Keys from the top of the file; a number picks one of an array of tables."""

_PART = r"""(?:"[^"]*"|'[^']*'|[A-Za-z0-9_-]+)"""
_NAME = rf"{_PART}(?:\s*\.\s*{_PART})*"
_TABLE = re.compile(rf"^\s*(\[\[?)\s*({_NAME})\s*\]")
_KEY = re.compile(rf"^\s*({_NAME})\s*=\s*(.*)$")
_QUOTES = ('"""', "'''")


def toml_lines(text: str) -> dict[KeyPath, int]:
    """Line numbers by path, of a file that parses.

    >>> toml_lines("a = 1\\n[[b]]\\nc = 2\\n[[b]]\\nc = 3\\n")[("b", 1, "c")]
    5
    """
    found: dict[KeyPath, int] = {}
    counts: dict[KeyPath, int] = {}
    here: KeyPath = ()
    inside: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if inside is not None:
            if inside in line:
                inside = None
            continue
        if table := _TABLE.match(line):
            here = _resolved(_parts(table[2]), counts)
            if table[1] == "[[":
                counts[here] = counts.get(here, -1) + 1
                here = (*here, counts[here])
            found.setdefault(here, number)
        elif key := _KEY.match(line):
            path = here
            for part in _parts(key[1]):
                path = (*path, part)
                found.setdefault(path, number)
            for quote in _QUOTES:
                if key[2].startswith(quote) and quote not in key[2][3:]:
                    inside = quote
    return found


def line_of(lines: dict[KeyPath, int], path: Sequence[str | int]) -> int | None:
    """The line of a path, or of the nearest table around it."""
    for end in range(len(path), 0, -1):
        if tuple(path[:end]) in lines:
            return lines[tuple(path[:end])]
    return None


def _parts(name: str) -> list[str]:
    return [part.strip("'\"") for part in re.findall(_PART, name)]


def _resolved(parts: list[str], counts: dict[KeyPath, int]) -> KeyPath:
    """A table inside an array of tables belongs to its newest element."""
    path: KeyPath = ()
    for k, part in enumerate(parts):
        path = (*path, part)
        if path in counts and k < len(parts) - 1:
            path = (*path, counts[path])
    return path
