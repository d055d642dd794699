"""Which group of a decision log to use: a release, a model, a prompt, told apart by a column.

The leader is the group that is right for the largest share of its judged time. `sdb` recommends it where
the 95 % interval of its lead over every other group lies above zero, and prints "cannot tell" otherwise.
Leads come from the replicates of both groups, drawn by stream id: groups of the same streams are paired.
With references of only some states the shares are of judged time, and intervals widen accordingly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from streamdecisionbench.analysis.bootstrap import Estimate
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_score import (
    LogDifference,
    LogGroup,
    LogScore,
)
from streamdecisionbench.render.table import (
    Cell,
    Table,
    count,
    number,
    percent,
    percentage,
    text,
)

SCHEMA = "sdb-logs-choose/1"
USE, CANNOT_TELL = "use", "cannot tell"
_Z = NormalDist().inv_cdf(0.975)
_UNEQUAL = 0.05
"""Judged shares of time that differ by more are worth a warning."""


@dataclass(frozen=True, slots=True)
class LogChoice:
    """The leading group, and its lead over every other judged group, closest first."""

    score: LogScore
    leader: LogGroup
    leads: Sequence[LogDifference]
    """Leader minus the other group."""

    @property
    def undecided(self) -> list[LogDifference]:
        """Leads whose interval holds zero or is not known."""
        return [one for one in self.leads if not _shown(one)]

    @property
    def verdict(self) -> str:
        return CANNOT_TELL if self.undecided else USE

    @property
    def detectable(self) -> float | None:
        """The smallest lead over the closest group that would show in 80 of 100 trials."""
        interval = self.leads[0].in_force[1]
        if interval is None:
            return None
        error = (interval[1] - interval[0]) / 2 / _Z
        return Estimate(self.leads[0].in_force[0], *interval, error).detectable()

    def to_json(self) -> dict[str, Any]:
        """Schema `sdb-logs-choose/1`: shares as fractions."""
        lead = {id(one.against): one for one in self.leads}

        def candidate(group: LogGroup) -> dict[str, Any]:
            own = lead.get(id(group))
            value, interval = (0.0, None) if own is None else own.in_force
            return {
                "by": dict(group.by),
                "in_force": group.in_force,
                "interval_95": group.interval_95,
                "judged_share": group.judged_share,
                "judged_streams": group.judged_streams,
                "behind_leader": {"value": value, "interval_95": interval},
                "as_good_as_leader": own is None or not _shown(own),
                "cost_per_hour": _per_hour(group),
            }

        return {
            "schema": SCHEMA,
            "verdict": self.verdict,
            "use": dict(self.leader.by) if self.verdict == USE else None,
            "leader": dict(self.leader.by),
            "candidates": [candidate(group) for group in self.groups],
            "detectable": self.detectable,
            "words": log_choice_lines(self),
            "interval": self.score.settings.interval,
            "signature": self.score.signature,
            "notes": list(self.score.notes),
        }

    @property
    def groups(self) -> list[LogGroup]:
        return [self.leader, *(one.against for one in self.leads)]


def choose_group(score: LogScore) -> LogChoice:
    """Weighs the groups of a log that has at least two with judged time."""
    judged = [group for group in score.groups if group.in_force is not None]
    if len(judged) < 2:
        columns = " and ".join(score.settings.by)
        raise InputError(
            f"has {'one group' if judged else 'no group'} with known references by {columns}",
            where=score.source,
            fix="group by a column with two or more values, or add references (--references)",
        )
    leader = max(judged, key=lambda group: group.in_force or 0.0)
    leads = [score.difference(leader, other) for other in judged if other is not leader]
    return LogChoice(score, leader, sorted(leads, key=lambda one: one.in_force[0]))


def log_choice_lines(choice: LogChoice) -> list[str]:
    """The answer, the reason, and what else to know before following it."""
    leader, columns = choice.leader, " and ".join(choice.score.settings.by)
    sure = leader.interval_95
    said = f"{percent(leader.in_force)} % of its judged time"
    said += f" (95 %: {percent(sure[0])}–{percent(sure[1])})" if sure else ""
    if choice.verdict == USE:
        others = "the other group" if len(choice.leads) == 1 else "every other group"
        lines = [f"Use {columns} {leader.name}: it is right for {said}, longer than {others}."]
    else:
        names = ", ".join(one.against.name for one in choice.undecided[:5])
        names += ", …" if len(choice.undecided) > 5 else ""
        lines = [
            f"Cannot tell: {columns} {leader.name} leads, right for {said}, but these streams do not"
            f" tell it apart from {names}."
        ]
        if choice.detectable is not None:
            lines.append(
                f"They would show a lead of {percent(choice.detectable)} points over"
                f" {choice.leads[0].against.name} in 80 of 100 trials; more judged streams show less."
            )
        cheap = _cheapest([leader, *(one.against for one in choice.undecided)])
        if cheap is not None:
            lines.append(f"Of these {cheap.name} costs least: {_per_hour(cheap):.2f} an hour.")
    shares = [group.judged_share for group in choice.groups]
    if max(shares) - min(shares) > _UNEQUAL:
        lines.append(
            f"Between {percent(min(shares))} and {percent(max(shares))} % of the time is judged: the"
            " comparison holds if references are missing at random in every group."
        )
    return lines


def log_choice_table(choice: LogChoice) -> Table:
    """Best first, with how far each group is behind the leader."""
    groups = choice.groups
    priced = any(group.cost for group in groups)
    behind: list[tuple[Cell, Cell]] = [(None, "")]
    behind += [(one.in_force[0], _ends(one.in_force[1])) for one in choice.leads]
    rows: list[tuple[Cell, ...]] = [
        (group.name, group.in_force, _ends(group.interval_95), *own, group.judged_share,
         group.judged_streams, group.latency.get("p50"), *([_per_hour(group)] if priced else []))
        for group, own in zip(groups, behind, strict=True)
    ]  # fmt: skip
    return Table(
        "In force by group (% of judged time)",
        (
            text(" and ".join(choice.score.settings.by), "group"), percentage("in force", "in_force"),
            text("95 %", "interval_95"), percentage("behind", "behind_leader"),
            text("95 % of it", "behind_leader_interval_95"), percentage("judged", "judged_share"),
            count("streams", "judged_streams"), number("p50 s", 2, "latency_p50"),
            *([number("/hour", 2, "cost_per_hour")] if priced else []),
        ),
        tuple(rows),
        ("behind: points behind the leader. judged: share of time with a known reference.",),
    )  # fmt: skip


def _shown(lead: LogDifference) -> bool:
    interval = lead.in_force[1]
    return interval is not None and interval[0] > 0


def _per_hour(group: LogGroup) -> float | None:
    return group.cost / group.seconds * 3600 if group.cost else None


def _cheapest(groups: Sequence[LogGroup]) -> LogGroup | None:
    """None unless every group has a cost."""
    if not all(group.cost for group in groups):
        return None
    return min(groups, key=lambda group: group.cost / group.seconds)


def _ends(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{percent(interval[0])}–{percent(interval[1])}"
