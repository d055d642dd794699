"""The policy file: what an application does with the answers it gets.

One TOML file, every part of it optional; without any part it is the plain policy (send every state,
the newest answer takes effect at once and stays). The same object is replayed on recordings
(`scoring.policies`) and run live (`recording`). docs/reference/policies.md defines every part.

>>> policy = parse_policy("[gate]\\nconfidence = 0.8\\n[expire]\\nafter_s = 6", name="careful")
>>> policy.gate.confidence, policy.expire.after_s, policy.debounce.agree, policy.plain
(0.8, 6.0, 1, False)
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamdecisionbench.kernel.rule import RULES
from streamdecisionbench.policies.toml_reader import (
    INFINITE,
    TomlTable,
    parse_toml,
    read_toml_text,
)

COMPOSES = ("min", "product")
MODES = ("every", "one-at-a-time", "latest", "changed")
ASKS = ("always", "when-unsure")
NONE = "none"
MOST_COMPONENTS = 3


@dataclass(frozen=True, slots=True)
class ConfidenceGate:
    """An answer takes effect only if its composed confidence is at least `confidence`."""

    confidence: float = 0.0
    compose: str = "min"
    components: tuple[str, ...] = ()
    """Whose answers the gate looks at; empty: all of them."""


@dataclass(frozen=True, slots=True)
class Expire:
    """A decision yields once it is older than `after_s`, counted from the release of its source.

    `fallback` is None for "no decision", a composed decision {question: value}, or one such table
    per family or scenario.
    """

    after_s: float = math.inf
    fallback: Mapping[str, Any] | None = None

    def fallback_for(self, family: str, episode_id: str) -> Mapping[str, str] | None:
        """The composed decision to fall back to in a scenario; None: no decision."""
        if self.fallback is None or not any(isinstance(v, Mapping) for v in self.fallback.values()):
            return self.fallback
        found: Mapping[str, str] | None = self.fallback.get(episode_id, self.fallback.get(family))
        return found


@dataclass(frozen=True, slots=True)
class Debounce:
    """A decision takes effect once this many consecutive sources of a component gave it."""

    agree: int = 1


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Which states are sent to a component."""

    mode: str = "every"
    limit: int | None = None
    """Requests in flight at most, with `latest`."""
    fields: tuple[str, ...] = ()
    """Parts of the state that count, with `changed`; empty: the whole state."""


@dataclass(frozen=True, slots=True)
class Cascade:
    """Components in order, and when each is asked."""

    components: tuple[str, ...]
    ask: str = "always"
    below: float = 0.0
    rule: str = "freshest"


@dataclass(frozen=True, slots=True)
class Policy:
    """All parts together."""

    name: str = "plain"
    gate: ConfidenceGate = field(default_factory=ConfidenceGate)
    expire: Expire = field(default_factory=Expire)
    debounce: Debounce = field(default_factory=Debounce)
    dispatch: Dispatch = field(default_factory=Dispatch)
    cascade: Cascade | None = None

    @property
    def plain(self) -> bool:
        """Whether every state is sent and the newest answer simply takes effect."""
        return (
            self.gate.confidence == 0
            and math.isinf(self.expire.after_s)
            and self.debounce.agree == 1
            and self.dispatch.mode == "every"
            and (self.cascade is None or len(self.cascade.components) == 1)
        )

    @property
    def count(self) -> int:
        """How many components it takes."""
        return 1 if self.cascade is None else len(self.cascade.components)

    @property
    def rule(self) -> str:
        return "freshest" if self.cascade is None else self.cascade.rule

    @property
    def when_unsure(self) -> bool:
        return self.cascade is not None and self.cascade.ask == "when-unsure"

    def gated(self) -> tuple[bool, ...]:
        """Component by component, whether the gate looks at its answers."""
        named = self.gate.components
        if not named or self.cascade is None:
            return (True,) * self.count
        return tuple(name in named for name in self.cascade.components)

    def confident(self) -> tuple[bool, ...]:
        """Component by component, whether the policy needs its confidences.

        Not at a limit of 0, which everything passes, nor above 1, which nothing does.
        """
        below = self.cascade.below if self.cascade is not None and self.when_unsure else 0.0
        return tuple(
            (gated and 0 < self.gate.confidence <= 1) or (k < self.count and 0 < below <= 1)
            for k, gated in enumerate(self.gated(), start=1)
        )

    def to_json(self) -> dict[str, Any]:
        """The parts that do something, with the file's own keys: a policy file as JSON."""
        out: dict[str, Any] = {}
        if self.gate.confidence != 0 or self.gate.compose != "min":
            out["gate"] = {
                "confidence": _finite(self.gate.confidence),
                "compose": self.gate.compose,
            }
            if self.gate.components:
                out["gate"]["components"] = list(self.gate.components)
        if not math.isinf(self.expire.after_s):
            fallback = NONE if self.expire.fallback is None else self.expire.fallback
            out["expire"] = {"after_s": self.expire.after_s, "fallback": fallback}
        if self.debounce.agree != 1:
            out["debounce"] = {"agree": self.debounce.agree}
        if self.dispatch.mode != "every":
            out["dispatch"] = {"mode": self.dispatch.mode}
            if self.dispatch.mode == "latest":
                out["dispatch"]["limit"] = self.dispatch.limit
            if self.dispatch.mode == "changed":
                out["dispatch"]["fields"] = list(self.dispatch.fields)
        if self.cascade is not None:
            out["cascade"] = {
                "components": list(self.cascade.components),
                "ask": self.cascade.ask,
                "rule": self.cascade.rule,
            }
            if self.when_unsure:
                out["cascade"]["below"] = _finite(self.cascade.below)
        return out

    def to_toml(self) -> str:
        """A policy file that `parse_policy` reads as this policy.

        >>> print(Policy(gate=ConfidenceGate(0.8), cascade=Cascade(("a", "b"))).to_toml(), end="")
        [gate]
        confidence = 0.8
        compose = "min"
        <BLANKLINE>
        [cascade]
        components = ["a", "b"]
        ask = "always"
        rule = "freshest"
        """
        tables = [
            f"[{name}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in part.items())
            for name, part in self.to_json().items()
        ]
        return "\n".join(tables)


def read_policy(path: str | Path) -> Policy:
    """The policy in a TOML file, named after the file."""
    path = Path(path)
    text = read_toml_text(path, "name a policy file, POLICY.toml")
    return parse_policy(text, name=path.stem, where=path)


def parse_policy(text: str, *, name: str = "policy", where: str | Path | None = None) -> Policy:
    """The policy that TOML text writes out."""
    return _policy(parse_toml(text, where, "docs/reference/policies.md shows a policy file"), name)


def policy_of(
    raw: Mapping[str, Any], *, name: str = "policy", where: str | Path | None = None
) -> Policy:
    """The policy of parsed tables: what a TOML file holds, or `Policy.to_json` gave."""
    return _policy(TomlTable(raw, "", where), name)


def _policy(top: TomlTable, name: str) -> Policy:
    parts = {
        "gate": _gate,
        "expire": _expire,
        "debounce": _debounce,
        "dispatch": _dispatch,
        "cascade": _cascade,
    }
    top.known(*parts)
    read: dict[str, Any] = {key: parts[key](top.table(key)) for key in top.raw}
    policy = Policy(name=name, **read)
    members = policy.cascade.components if policy.cascade else ()
    unknown = [name for name in policy.gate.components if name not in members]
    if unknown:
        top.fail(
            f"gate.components names {', '.join(map(repr, unknown))}, which cascade.components"
            " does not list",
            f"allowed: {', '.join(map(repr, members)) or 'nothing without a [cascade]'}",
        )
    return policy


def _gate(table: TomlTable) -> ConfidenceGate:
    table.known("confidence", "compose", "components")
    allowed = "allowed: a number from 0 (everything passes)"
    return ConfidenceGate(
        confidence=table.number("confidence", allowed, 0.0, endless=True),
        compose=table.choice("compose", COMPOSES, "min"),
        components=table.names("components"),
    )


def _expire(table: TomlTable) -> Expire:
    table.known("after_s", "fallback")
    above = "allowed: seconds above 0"
    after = table.number("after_s", above, endless=True)
    if after == 0:
        table.refuse("after_s", above)
    fallback = table.raw.get("fallback", NONE)
    if fallback == NONE:
        return Expire(after)
    allowed = f'allowed: "{NONE}", or a composed decision as a table: {{ question = "value", … }}'
    if not isinstance(fallback, dict) or not fallback:
        table.refuse("fallback", allowed)
    tables = [v for v in fallback.values() if isinstance(v, dict)]
    leaves = [v for part in (tables or [fallback]) for v in part.values()]
    if (tables and len(tables) != len(fallback)) or not all(isinstance(v, str) for v in leaves):
        table.refuse("fallback", allowed + ", or one such table per family or scenario")
    return Expire(after, fallback)


def _debounce(table: TomlTable) -> Debounce:
    table.known("agree")
    return Debounce(table.whole("agree", "allowed: a whole number of sources, 1 or more"))


def _dispatch(table: TomlTable) -> Dispatch:
    table.known("mode", "limit", "fields")
    mode = table.choice("mode", MODES, "every")
    limit = None
    if "limit" in table.raw or mode == "latest":
        allowed = 'allowed: a whole number of requests, 1 or more, with mode "latest"'
        limit = table.whole("limit", allowed)
    return Dispatch(mode, limit, table.names("fields"))


def _cascade(table: TomlTable) -> Cascade:
    table.known("components", "ask", "below", "rule")
    components = table.names("components", None)
    if not 1 <= len(components) <= MOST_COMPONENTS or len(set(components)) < len(components):
        allowed = f"allowed: one to {MOST_COMPONENTS} different names in order, fastest first"
        table.refuse("components", allowed)
    ask = table.choice("ask", ASKS, "always")
    below = 0.0
    if "below" in table.raw or ask == "when-unsure":
        what = 'a number from 0, the confidence below which "when-unsure" asks the next one'
        below = table.number("below", f"allowed: {what}", endless=True)
    rule = table.choice("rule", RULES, "freshest", lambda text: text.replace("-", "_"))
    return Cascade(components, ask, below, rule)


def _finite(value: float) -> float | str:
    return INFINITE if math.isinf(value) else value


def _toml(value: Any) -> str:
    """A value of `Policy.to_json` as TOML; its strings are JSON's, but for one control sign."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
