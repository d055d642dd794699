"""The words in which a choice is recommended: the one author for terminal, Markdown and page."""

from __future__ import annotations

from streamdecisionbench.analysis.bootstrap import Estimate
from streamdecisionbench.analysis.choose import Candidate, Choice
from streamdecisionbench.analysis.contenders import PAIRED
from streamdecisionbench.analysis.numbers import fixed
from streamdecisionbench.analysis.numbers import percent as shown
from streamdecisionbench.analysis.result_table import Cell, Table, number, percent, text
from streamdecisionbench.analysis.weighing import CASCADES

__all__ = ["choice_lines", "choice_table", "holds_line", "money"]


def choice_lines(choice: Choice) -> list[str]:
    """The recommendation in plain words: what, how sure, against what, what limits it, the cost."""
    best = choice.best
    lines = [
        f"At {choice.interval:g} s between states, use {best.name}: it keeps the right decision in"
        f" force {shown(best.in_force.value)} % of the time"
        f" (95 %: {shown(best.in_force.low)}–{shown(best.in_force.high)})."
    ]
    lines += _policy(best)
    lines += _weighed(choice)
    if choice.idle:
        names = ", ".join(choice.idle[:3]) + (", …" if len(choice.idle) > 3 else "")
        lines.append(f"{names} would be right at the very same times, so nothing is gained by it.")
    lines.append(
        f"What limits it: {best.limit}. Judgment costs {shown(best.lost_to_judgment)} % of the"
        f" time, latency {shown(best.lost_to_latency)} %, both at once"
        f" {shown(best.shares.compound)} %."
    )
    if best.per_hour is None:
        lines.append("Cost: not known; name prices with --prices.")
    else:
        lines.append(
            f"Cost at list prices: {money(best.per_hour)} {choice.terms.currency} an hour at this"
            f" pace, {money(best.per_1000)} per 1000 decisions."
        )
    lines += _left_out(choice)
    return lines


def holds_line(choice: Choice, holds: tuple[float, float]) -> str:
    """Over which paces the same would be recommended."""
    low, high = (fixed(x, 2) for x in holds)
    tried = (fixed(choice.interval * factor, 2) for factor in (0.25, 4))
    return f"It stays the choice from about {low} to {high} s (tried from {' to '.join(tried)} s)."


def choice_table(choice: Choice, top: int | None = None) -> Table:
    """The candidates, best first; without `top` all of them, with every column."""
    listed = choice.candidates if top is None else choice.candidates[: max(top, 1)]
    columns = [
        text("", "candidate"), percent("in force", "in_force"), percent("low", "in_force_low"),
        percent("high", "in_force_high"), percent("behind", "behind_leader"),
        percent("judgm.", "lost_to_judgment"), percent("latency", "lost_to_latency"),
        number("/hour", 2, "per_hour"),
    ]  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            c.name, c.in_force.value, c.in_force.low,
            c.in_force.high, None if c.name == choice.leader.name else c.behind_leader.value,
            c.lost_to_judgment, c.lost_to_latency, c.per_hour,
        )
        for c in listed
    ]  # fmt: skip
    if top is not None:
        columns.insert(0, text("", "mark"))
        rows = [(_mark(choice, c), *row) for row, c in zip(rows, listed, strict=True)]
    else:
        columns += [
            number("/1000", 2, "per_1000"), text("limit"), text("within budget"),
            text("recommended"),
        ]  # fmt: skip
        rows = [
            (
                *row, c.per_1000, c.limit, "yes" if c.within_budget else "no",
                "yes" if c.name == choice.best.name else "no",
            )
            for row, c in zip(rows, listed, strict=True)
        ]  # fmt: skip
    notes = [
        f"behind: points behind {choice.leader.name}, right longest of all that may be chosen."
        " judgm., latency: time lost to each. Costs count every state asked of every component,"
        " those of policies what they send."
    ]
    if any(c.policy is not None for c in listed):
        notes.append(
            "Numbers of policies are chosen on half of the scenarios and judged on the other;"
            f" policies of two components are tried for the {CASCADES} best pairs."
        )
    if any(c.name == choice.best.name for c in listed):
        notes.append("> recommended")
    if any(not c.within_budget for c in listed):
        notes.append("* beyond the budget, or its cost is not known")
    if any(c.simulated_pair for c in listed):
        notes.append("~ a pair or policy with a simulation in it: never recommended")
    hidden = len(choice.candidates) - len(rows)
    if hidden > 0:
        notes.append(f"{hidden} more not shown; --top {len(choice.candidates)} shows all")
    return Table(
        f"In force at {choice.interval:g} s (%), what is lost, {choice.terms.currency} an hour",
        tuple(columns),
        tuple(rows),
        tuple(notes),
    )


def money(amount: float | None) -> str:
    """An amount with the digits that matter.

    >>> money(39.012), money(0.0741), money(None)
    ('39.01', '0.074', '–')
    """
    if amount is None:
        return "–"
    return fixed(amount, 2 if amount >= 1 else 3)


def _policy(best: Candidate) -> list[str]:
    """What is done with the answers, and how its numbers were found."""
    if best.policy is None:
        return []
    how = (
        " Its numbers were chosen on one half of the scenarios and judged on the other, both ways;"
        " over all of them these are the best."
    )
    return [f"As a policy: {best.policy_words}.{how if best.chosen else ''}"]


def _weighed(choice: Choice) -> list[str]:
    """Against the one that is right longer, or against the next best and the best single one."""
    best, leader = choice.best, choice.leader
    if leader.name != best.name:
        gap = best.behind_leader
        small = gap.value < choice.terms.min_gain
        why = (
            f"less than the minimum gain of {_points(choice.terms.min_gain)}"
            if small
            else "these recordings cannot tell the two apart"
        )
        return [
            f"{leader.name} reaches {shown(leader.in_force.value)} %, {_points(gap.value)}"
            f" more (95 %: {_signed(gap)}){_at_cost(leader, choice)}: {why}, so"
            f" {_virtue(best, leader)} is recommended."
        ]
    lines = []
    second, single = choice.runner_up, choice.best_single
    if second is not None:
        lines.append(_behind(second, "The next best", choice))
    if single is not None and single.name not in (best.name, second.name if second else ""):
        lines.append(_behind(single, "The best single one", choice))
    return lines


def _behind(other: Candidate, what: str, choice: Choice) -> str:
    gap = other.behind_leader
    told = "" if gap.excludes_zero else "; these recordings cannot tell the two apart"
    return (
        f"{what}, {other.name}, is {_points(gap.value)} behind (95 %: {_signed(gap)})"
        f"{_at_cost(other, choice)}{told}."
    )


def _left_out(choice: Choice) -> list[str]:
    lines = []
    if choice.simulated_pairs:
        lines.append(
            "Pairs of simulations prove nothing, since simulated answers are drawn independently of"
            " each other: no such pair is recommended."
        )
    if choice.simulated_policies:
        either = " either" if choice.simulated_pairs else ""
        lines.append(
            f"Policies of simulations prove nothing{either}, since their confidences are declared:"
            " none is recommended."
        )
    if choice.paired and choice.paired < choice.recordings:
        lines.append(
            f"Pairs were made of {choice.paired} of the {choice.recordings} recordings: the"
            f" {PAIRED} best in force at this pace and the {PAIRED} best untimed."
        )
    if choice.unpriced:
        lines.append(f"Left out for want of a price: {', '.join(choice.unpriced)}.")
    return lines


def _virtue(best: Candidate, leader: Candidate) -> str:
    """Why the one is preferred to the other."""
    if best.per_hour is None or best.per_hour == leader.per_hour:
        return "the simpler one"
    if leader.per_hour is not None and best.per_hour > leader.per_hour:
        return "the simpler one"  # the policy saves too little
    return "the one whose price is known" if leader.per_hour is None else "the cheaper one"


def _points(share: float) -> str:
    """
    >>> _points(0.01), _points(0.0234)
    ('1 point', '2.3 points')
    """
    text = shown(share).removesuffix(".0")
    return f"{text} point" if text == "1" else f"{text} points"


def _mark(choice: Choice, candidate: Candidate) -> str:
    marks = (
        (candidate.name == choice.best.name, ">"),
        (not candidate.within_budget, "*"),
        (candidate.simulated_pair, "~"),
    )
    return "".join(mark for holds, mark in marks if holds)


def _at_cost(other: Candidate, choice: Choice) -> str:
    if other.per_hour is None:
        return ", at a price that is not known" if choice.best.per_hour is not None else ""
    return f", for {money(other.per_hour)} {choice.terms.currency} an hour"


def _signed(gap: Estimate) -> str:
    return f"{100 * gap.low:+.1f} to {100 * gap.high:+.1f}"
