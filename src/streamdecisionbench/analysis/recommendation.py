"""The words in which a choice is recommended: the one author for terminal, Markdown and page."""

from __future__ import annotations

from streamdecisionbench.analysis.bootstrap import Estimate
from streamdecisionbench.analysis.choose import Candidate, Choice
from streamdecisionbench.analysis.numbers import fixed
from streamdecisionbench.analysis.numbers import percent as shown
from streamdecisionbench.analysis.result_table import Cell, Table, number, percent, text

__all__ = ["choice_lines", "choice_table"]


def choice_lines(choice: Choice) -> list[str]:
    """The recommendation in plain words."""
    best = choice.best
    lines = [
        f"At {choice.interval:g} s between states, {best.name} keeps the right decision in force"
        f" {shown(best.in_force.value)} % of the time"
        f" (95 %: {shown(best.in_force.low)}–{shown(best.in_force.high)})."
    ]
    idle = [c for c in choice.candidates if c is not best and c.same_as_best]
    if idle:
        names = ", ".join(c.name for c in idle[:3]) + (", …" if len(idle) > 3 else "")
        lines.append(f"{names} would be right at the very same times, so nothing is gained by it.")
    second = choice.runner_up
    if second is not None:
        lines.append(_against(second, "the next best"))
        single = choice.best_single
        if single is not None and best.rule is not None and single is not second:
            lines.append(_against(single, "the best single one"))
    lines.append(
        f"What limits it: {best.limit}. Judgment costs {shown(best.lost_to_judgment)} % of the"
        f" time, latency {shown(best.lost_to_latency)} %, both at once"
        f" {shown(best.shares.compound)} %."
    )
    if best.per_1000 is None:
        lines.append("Cost: not known; name prices with --prices.")
    else:
        lines.append(
            f"Cost at list prices: {_money(best.per_hour)} {choice.currency} an hour at this pace,"
            f" {_money(best.per_1000)} per 1000 decisions."
        )
        cheap = choice.cheapest_level
        if cheap is not None and cheap is not best:
            lines.append(
                f"Cheapest that cannot be told apart from it: {cheap.name},"
                f" {_money(cheap.per_hour)} an hour."
            )
    low, high = choice.holds
    if second is not None:
        lines.append(
            f"It stays the best of these from about {fixed(low, 2)} to {fixed(high, 2)} s"
            f" (tried from {fixed(choice.interval / 4, 2)} to {fixed(choice.interval * 4, 2)} s)."
        )
    unknown = [
        c.name
        for c in choice.candidates
        if not c.within_budget and c.per_1000 is None and c.rule is None
    ]
    if unknown:
        lines.append(f"Left out for want of a price: {', '.join(unknown)}.")
    return lines


def choice_table(choice: Choice, top: int | None = None) -> Table:
    """The candidates, best first; without `top` all of them, with every column."""
    listed = choice.candidates if top is None else choice.candidates[: max(top, 1)]
    columns = [
        text("", "candidate"), percent("in force", "in_force"), percent("low", "in_force_low"),
        percent("high", "in_force_high"), percent("vs best", "minus_best"),
        percent("judgm.", "lost_to_judgment"), percent("latency", "lost_to_latency"),
        number("/hour", 2, "per_hour"),
    ]  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        (
            c.name + ("" if c.within_budget or top is None else " *"), c.in_force.value,
            c.in_force.low, c.in_force.high, None if c is choice.best else -c.behind_best.value,
            c.lost_to_judgment, c.lost_to_latency, c.per_hour,
        )
        for c in listed
    ]  # fmt: skip
    if top is None:
        columns += [number("/1000", 2, "per_1000"), text("limit"), text("within budget")]
        rows = [
            (*row, c.per_1000, c.limit, "yes" if c.within_budget else "no")
            for row, c in zip(rows, listed, strict=True)
        ]
    notes = [
        "vs best: points against the best within budget. judgm., latency: time lost to each."
        " Costs count every state asked of every component."
    ]
    if any(not c.within_budget for c in listed):
        notes.append("* beyond the budget, or its cost is not known")
    hidden = len(choice.candidates) - len(rows)
    if hidden > 0:
        notes.append(f"{hidden} more not shown; --top {len(choice.candidates)} shows all")
    return Table(
        f"In force at {choice.interval:g} s (%), what is lost, and {choice.currency} an hour",
        tuple(columns),
        tuple(rows),
        tuple(notes),
    )


def _against(other: Candidate, what: str) -> str:
    gap = other.behind_best
    told = "" if gap.excludes_zero else ": these recordings cannot tell them apart"
    money = "" if other.per_hour is None else f", which costs {_money(other.per_hour)} an hour"
    return (
        f"That is {shown(gap.value)} points more than {what}, {other.name}{money}"
        f" (95 %: {_signed(gap)}){told}."
    )


def _signed(gap: Estimate) -> str:
    return f"{100 * gap.low:+.1f} to {100 * gap.high:+.1f}"


def _money(amount: float | None) -> str:
    if amount is None:
        return "–"
    return fixed(amount, 2 if amount >= 1 else 3)
