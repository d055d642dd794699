"""Who plays the components of a policy in a live run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamdecisionbench.errors import InputError
from streamdecisionbench.in_force import FAST, SLOW
from streamdecisionbench.policy_file import Policy, read_policy

__all__ = ["Players", "PolicyParts", "policy_parts"]

_Named = Mapping[Any, "str | None"]


@dataclass(frozen=True, slots=True)
class Players:
    """Components, efforts and servers, by role or by name."""

    components: _Named = field(default_factory=dict)
    efforts: _Named = field(default_factory=dict)
    base_urls: _Named = field(default_factory=dict)

    @staticmethod
    def named(*tables: Mapping[str, str]) -> Players:
        """From NAME=VALUE options."""
        found: list[_Named] = [dict(table) for table in tables]
        return Players(*found)

    def tables(self) -> tuple[_Named, _Named, _Named]:
        return self.components, self.efforts, self.base_urls


@dataclass(frozen=True, slots=True)
class PolicyParts:
    """A policy, or none, with its players."""

    policy: Policy | None
    players: Players


def policy_parts(
    file: Path | None, by_role: Players, by_name: Players, rule: str | None
) -> PolicyParts:
    """One component alone plays a policy of one, --fast and --slow one of two, --member any.

    A component that the policy itself calls `provider:model` plays itself.
    """
    if file is None:
        if any(by_name.tables()):
            raise InputError("--member… is for a policy", fix="add --policy FILE")
        return PolicyParts(None, by_role)
    policy = read_policy(file)
    if rule is not None:
        raise InputError(
            "--rule and --policy exclude each other",
            where=file,
            fix="set cascade.rule in the policy",
        )
    lanes = _lanes(policy)
    names = [name for _, _, name in lanes]
    for name in (name for table in by_name.tables() for name in table):
        if name not in names:
            raise InputError(
                f"the policy has no component {name!r}",
                where=file,
                fix=f"it has: {', '.join(filter(None, names)) or 'one, without a name'}",
            )
    found = [
        {lane: named.get(name) or roles.get(role) for lane, role, name in lanes}
        for roles, named in zip(by_role.tables(), by_name.tables(), strict=True)
    ]
    for lane, _, name in lanes:
        found[0][lane] = found[0][lane] or (name if ":" in name else None)
        if found[0][lane] is None:
            one = "name it: sdb run provider:model --policy …"
            raise InputError(
                f"nobody plays {name or 'the component'}",
                where=file,
                fix=f"add --member {name}=provider:model" if lane else one,
            )
    return PolicyParts(policy, Players(*found))


def _lanes(policy: Policy) -> list[tuple[str | None, str | None, str]]:
    """(lane in the recording, role on the command line, name in the policy) of every component."""
    if policy.cascade is None:
        return [(None, None, "")]
    names = policy.cascade.components
    if len(names) == 1:
        return [(None, None, names[0])]
    # With three there is no fast and slow: no role of the command line fits.
    roles = (FAST, SLOW) if len(names) == 2 else ("-",) * len(names)
    return [(name, role, name) for name, role in zip(names, roles, strict=True)]
