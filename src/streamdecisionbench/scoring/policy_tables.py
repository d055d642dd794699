"""A policy in plain words, for people who have not read its file, and policy scores as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from streamdecisionbench.kernel.rule import spelled
from streamdecisionbench.policies.policy_file import Policy
from streamdecisionbench.render.sentences import right_in_force
from streamdecisionbench.render.table import (
    Cell,
    Table,
    count,
    number,
    percentage,
    readable,
    text,
)
from streamdecisionbench.render.table import percent as shown
from streamdecisionbench.scoring.counterfactual import BOTH, Counterfactual
from streamdecisionbench.scoring.error_tables import (
    cost_tables,
    spell_tables,
)
from streamdecisionbench.scoring.result import Result
from streamdecisionbench.text import plural

_RULES = {
    "freshest": "a later one's replaces an earlier one's for the same state",
    "lag_one": "a later one's may also be one state older than the one in force",
    "late_override": "a later one's always replaces an earlier one's, however old it is",
}


def policy_lines(policy: Policy) -> list[str]:
    """One sentence per part, in the order an answer meets them.

    >>> from streamdecisionbench.policies.policy_file import parse_policy
    >>> for line in policy_lines(parse_policy("[dispatch]\\nmode = 'latest'\\nlimit = 2")):
    ...     print(line)
    Every state is sent as it comes; with 2 requests in flight the oldest is cancelled.
    The newest answer takes effect at once and stays until the next one.
    """
    lines = [*_cascade(policy), _dispatch(policy)]
    if policy.gate.confidence > 0:
        lines.append(_gate(policy))
    if policy.debounce.agree > 1:
        lines.append(
            f"A decision takes effect once {policy.debounce.agree} answers in a row gave it"
            f"{' (per component)' if policy.count > 1 else ''}."
        )
    if policy.gate.confidence <= 0 and policy.debounce.agree == 1 and policy.count == 1:
        lines.append("The newest answer takes effect at once and stays until the next one.")
    if math.isfinite(policy.expire.after_s):
        fallback = policy.expire.fallback
        instead = "no decision is in force" if fallback is None else "the fallback is in force"
        lines.append(
            f"{policy.expire.after_s:g} s after the state it was made for, a decision lapses;"
            f" from then until the next one {instead}."
        )
    return lines


def policy_name(policy: Policy) -> str:
    """A few words for a row of a table.

    >>> from streamdecisionbench.policies.policy_file import parse_policy
    >>> policy_name(parse_policy("[gate]\\nconfidence = 0.8\\n[expire]\\nafter_s = 6"))
    'gate 0.8, expire 6 s'
    """
    parts = []
    if policy.count > 1 and policy.cascade is not None:
        asks = f"when unsure below {policy.cascade.below:g}" if policy.when_unsure else "always"
        parts.append(asks)
        if policy.cascade.rule != "freshest":
            parts.append(spelled(policy.cascade.rule))
    if policy.dispatch.mode != "every":
        limit = f" {policy.dispatch.limit}" if policy.dispatch.mode == "latest" else ""
        parts.append(policy.dispatch.mode.replace("-", " ") + limit)
    if policy.gate.confidence > 0:
        product = " product" if policy.gate.compose == "product" else ""
        parts.append(f"gate{product} {policy.gate.confidence:g}")
    if policy.debounce.agree > 1:
        parts.append(f"debounce {policy.debounce.agree}")
    if math.isfinite(policy.expire.after_s):
        parts.append(f"expire {policy.expire.after_s:g} s")
    return ", ".join(parts) or "plain"


def _cascade(policy: Policy) -> list[str]:
    cascade = policy.cascade
    if cascade is None:
        return []
    names = cascade.components
    if len(names) == 1:
        return [f"One component: {names[0]}."]
    if policy.when_unsure:
        asks = f"{names[0]} is asked first; each next one about a state on which the one before"
        asked = f"{asks} was below {cascade.below:g} sure."
    else:
        asked = "All of them are asked at once."
    return [
        f"Components in order: {', '.join(names)}. {asked}",
        f"The newest answer takes effect; {_RULES[cascade.rule]}.",
    ]


def _dispatch(policy: Policy) -> str:
    mode = policy.dispatch.mode
    if mode == "one-at-a-time":
        return "One request at a time; when it is answered, the newest state waiting is sent."
    if mode == "latest":
        return (
            f"Every state is sent as it comes; with {policy.dispatch.limit} requests in flight the"
            " oldest is cancelled."
        )
    if mode == "changed":
        fields = ", ".join(policy.dispatch.fields) or "anything in it"
        return f"A state is sent when {fields} changed."
    return "Every state is sent as it comes."


def _gate(policy: Policy) -> str:
    gate = policy.gate
    if gate.confidence > 1:
        return "No answer can be sure enough: nothing ever takes effect."
    whose = f" of {', '.join(gate.components)}" if gate.components else ""
    how = "the least sure of its answers" if gate.compose == "min" else "its answers together"
    return (
        f"An answer{whose} takes effect only if {how} reach{'es' if gate.compose == 'min' else ''}"
        f" a confidence of {gate.confidence:g}."
    )


def scores_table(scores: Sequence[Result], currency: str) -> Table:
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
            text("", "policy"), percentage("in force", "in_force"), percentage("AUC", "log_auc"),
            percentage("O", "oracle"), percentage("C", "current"), percentage("wrong", "wrong_answer"),
            percentage("stale"), percentage("none", "no_decision"), number("/hour", 2, "cost_per_hour"),
        ),
        tuple(rows),
        (
            "O: what reference answers would get under the policy. C: time with a current source."
            " wrong: judgment and compound. none: no decision."
            f" /hour: {currency} for every request sent, at list prices.",
        ),
    )  # fmt: skip


def row_name(score: Result) -> str:
    """The components and what is done with their answers."""
    return f"{' + '.join(score.members)}: {policy_name(score.policy)}"


def wrong_time_tables(scores: Sequence[Result]) -> list[Table]:
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


def levels_table(score: Result, plain: Result | None = None) -> Table:
    """By family and scenario, against the plain policy of the same components."""
    levels = {"overall": score.overall, **score.by_family, **score.by_scenario}
    names = readable(levels)
    rows: list[tuple[Cell, ...]] = []
    for key, level in levels.items():
        gains: tuple[Cell, Cell] = None, None
        if plain is not None:
            before = {"overall": plain.overall, **plain.by_family, **plain.by_scenario}[key]
            gains = level.in_force - before.in_force, _gain(level.log_auc, before.log_auc)
        rows.append(
            (names[key], level.in_force, gains[0], level.log_auc, gains[1],
             level.at_interval.no_decision)
        )  # fmt: skip
    return Table(
        policy_name(score.policy)
        + ("" if plain is None else f", against {policy_name(plain.policy)}")
        + " (%, points)",
        (
            text("", "level"), percentage(f"at {score.interval:g} s", "in_force"),
            percentage("gain", "gain"), percentage("AUC", "log_auc"), percentage("gain", "gain_log_auc"),
            percentage("none", "no_decision"),
        ),
        tuple(rows),
    )  # fmt: skip


def counts_table(score: Result) -> Table:
    """What became of states and answers, component by component."""
    counts = score.counts
    rows: list[tuple[Cell, ...]] = [
        (
            name, counts.requests[k], counts.cancelled[k], counts.answers[k], counts.withheld[k],
            counts.taken[k],
        )
        for k, name in enumerate(score.members)
    ]  # fmt: skip
    did = [plural(counts.states, "state"), f"{plural(counts.expiries, 'decision')} lapsed"]
    did.append(f"{plural(counts.held_back, 'answer')} waited for agreement in vain")
    if score.policy.when_unsure:
        did.append(f"{plural(counts.escalations, 'request')} because of an unsure answer")
    return Table(
        f"What happened at {score.interval:g} s",
        (
            text("", "component"), count("requests"), count("cancelled"),
            count("in time", "answers"), count("withheld"), count("taken"),
        ),
        tuple(rows),
        ("; ".join(did) + ". in time: before the horizon. withheld: by the gate.",),
    )  # fmt: skip


def would_help_line(found: Sequence[Counterfactual]) -> str:
    """The largest gain of one change to one member, then the other changes."""
    single = [one for one in found if one.single]
    best = max(single, key=lambda one: one.gain)
    others = [one for one in single if one is not best]
    if len({one.members for one in single}) > 1:
        others += [one for one in found if len(one.members) > 1 and one.change != BOTH]
    else:
        others += [one for one in found if one.change == BOTH]

    def words(one: Counterfactual) -> str:
        if len(one.members) == 1:
            return f"{one.members[0]} {one.change}"
        return f"{'both' if len(one.members) == 2 else 'all'} {one.change}"

    rest = ", ".join(f"{words(one)} {signed_points(one.gain)}" for one in others)
    if best.gain < 0.0005:
        none = f"{words(best)} {signed_points(best.gain)}"
        return f"No change to a single member would help: {none}, {rest}."
    return (
        f"What would help most: {words(best)}, {signed_points(best.gain)} points (to"
        f" {shown(best.in_force)} %). Also replayed: {rest}."
    )


def signed_points(share: float) -> str:
    """
    >>> signed_points(0.0891), signed_points(-0.012), signed_points(0.0)
    ('+8.9', '-1.2', '+0.0')
    """
    text = shown(share)
    return text if text.startswith("-") else f"+{text}"


def live_lines(live: Result) -> list[str]:
    """A live recording in words: what happened, and how near its replay comes."""
    lines = [
        f"{live.name} was recorded under {policy_name(live.policy)} at {live.interval:g} s and kept"
        f" {right_in_force(live.recorded.in_force)}."
    ]
    if live.replayed:
        lines.append(
            f"Its own answers replayed under that policy: {shown(live.replayed[live.policy.name].in_force)} %"
            f" ({100 * live.gap:+.2f} points live)."
        )
    else:
        lines.append(f"That policy cannot be replayed on its own answers: {live.why_not}.")
    if live.expiry_differences:
        number = len(live.expiry_differences)
        lines.append(
            f"{plural(number, 'lapse in its log is', 'lapses in its log are')} not what"
            f" the policy says; the first: {live.expiry_differences[0]}."
        )
    return lines


def _gain(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before
