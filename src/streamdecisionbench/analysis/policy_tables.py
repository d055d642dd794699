"""Policy scores as tables: what is in force and what it costs, and what became of the answers."""

from __future__ import annotations

from collections.abc import Sequence

from streamdecisionbench.analysis.cost_of_error import cost_tables
from streamdecisionbench.analysis.numbers import percent as shown
from streamdecisionbench.analysis.policy_words import policy_name
from streamdecisionbench.analysis.result_table import (
    Cell,
    Table,
    count,
    number,
    percent,
    readable,
    text,
)
from streamdecisionbench.analysis.spells import spell_tables
from streamdecisionbench.scoring.policies.live import LivePolicyScore
from streamdecisionbench.scoring.policies.score_policy import PolicyScore

__all__ = ["counts_table", "levels_table", "live_lines", "scores_table", "wrong_time_tables"]


def scores_table(scores: Sequence[PolicyScore], currency: str) -> Table:
    """One row per policy and set of components."""
    first = scores[0]
    rows: list[tuple[Cell, ...]] = []
    for score in scores:
        now = score.overall.at_interval
        rows.append(
            (
                row_name(score),
                score.in_force, score.log_auc, score.overall.oracle, score.overall.current,
                now.judgment + now.compound, now.stale, now.no_decision, score.cost_per_hour,
            )
        )  # fmt: skip
    return Table(
        f"In force under a policy at {first.interval:g} s, AUC {first.bounds.text()} (%)",
        (
            text("", "policy"), percent("in force", "in_force"), percent("AUC", "log_auc"),
            percent("O", "oracle"), percent("C", "current"), percent("wrong", "wrong_answer"),
            percent("stale"), percent("none", "no_decision"), number("/hour", 2, "cost_per_hour"),
        ),
        tuple(rows),
        (
            "O: what reference answers would get under the policy. C: time with a current source."
            " wrong: judgment and compound. none: no decision."
            f" /hour: {currency} for every request sent, at list prices.",
        ),
    )  # fmt: skip


def row_name(score: PolicyScore) -> str:
    """The components and what is done with their answers."""
    return f"{' + '.join(score.components)}: {policy_name(score.policy)}"


def wrong_time_tables(scores: Sequence[PolicyScore]) -> list[Table]:
    """What being wrong costs and how long it lasts, policy by policy, where that is known."""
    charged = {row_name(one): (one, one.wrong_time) for one in scores if one.wrong_time is not None}
    if not charged:
        return []
    first, found = next(iter(charged.values()))
    right = {
        name: {
            level.name: level.in_force
            for level in (one.overall, *one.by_family.values(), *one.by_scenario.values())
        }
        for name, (one, _) in charged.items()
    }
    costs, *_ = cost_tables(
        {name: wrong.cost for name, (_, wrong) in charged.items()},
        right,
        first.interval,
        first.bounds,
    )
    spells = spell_tables(
        {name: wrong.spells for name, (_, wrong) in charged.items()},
        found.theta,
        first.interval,
        first.bounds,
    )
    return [costs, *spells]


def levels_table(score: PolicyScore, plain: PolicyScore | None = None) -> Table:
    """By family and scenario, against the plain policy of the same components."""
    levels = {"overall": score.overall, **score.by_family, **score.by_scenario}
    before = dict.fromkeys(levels, None) if plain is None else {
        "overall": plain.overall, **plain.by_family, **plain.by_scenario,
    }  # fmt: skip
    names = readable(levels)
    rows: list[tuple[Cell, ...]] = [
        (
            names[key],
            level.in_force,
            _gain(level.in_force, None if (plain_ := before[key]) is None else plain_.in_force),
            level.log_auc,
            _gain(level.log_auc, None if plain_ is None else plain_.log_auc),
            level.at_interval.no_decision,
        )
        for key, level in levels.items()
    ]
    return Table(
        policy_name(score.policy)
        + ("" if plain is None else f", against {policy_name(plain.policy)}")
        + " (%, points)",
        (
            text("", "level"), percent(f"at {score.interval:g} s", "in_force"),
            percent("gain", "gain"), percent("AUC", "log_auc"), percent("gain", "gain_log_auc"),
            percent("none", "no_decision"),
        ),
        tuple(rows),
    )  # fmt: skip


def counts_table(score: PolicyScore) -> Table:
    """What became of states and answers, component by component."""
    counts = score.counts
    rows: list[tuple[Cell, ...]] = [
        (
            name, counts.requests[k], counts.cancelled[k], counts.answers[k], counts.withheld[k],
            counts.taken[k],
        )
        for k, name in enumerate(score.components)
    ]  # fmt: skip
    did = [f"{counts.states} states", f"{counts.expiries} decisions lapsed"]
    did.append(f"{counts.held_back} answers waited for agreement in vain")
    if score.policy.when_unsure:
        did.append(f"{counts.escalations} requests because of an unsure answer")
    return Table(
        f"What happened at {score.interval:g} s",
        (
            text("", "component"), count("requests"), count("cancelled"),
            count("in time", "answers"), count("withheld"), count("taken"),
        ),
        tuple(rows),
        ("; ".join(did) + ". in time: before the horizon. withheld: by the gate.",),
    )  # fmt: skip


def live_lines(live: LivePolicyScore) -> list[str]:
    """A live recording in words: what happened, and how near its replay comes."""
    lines = [
        f"{live.name} was recorded under {policy_name(live.policy)} at {live.interval:g} s and kept"
        f" the right decision in force {shown(live.recorded.in_force)} % of the time."
    ]
    if live.gap is not None:
        lines.append(
            f"Its own answers replayed under that policy: {shown(live.replayed)} %"
            f" ({100 * live.gap:+.2f} points live)."
        )
    else:
        lines.append(f"That policy cannot be replayed on its own answers: {live.why_not}.")
    return lines


def _gain(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before
