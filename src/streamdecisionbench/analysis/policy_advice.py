"""What a policy search found, in words and as a table."""

from __future__ import annotations

from streamdecisionbench.analysis.bootstrap import Estimate
from streamdecisionbench.analysis.choose import Choice
from streamdecisionbench.analysis.numbers import fixed
from streamdecisionbench.analysis.numbers import percent as shown
from streamdecisionbench.analysis.policy_search import FrontierPoint, PolicySearch, Step
from streamdecisionbench.analysis.result_table import Cell, Table, number, percent, text

__all__ = ["chosen_line", "frontier_table", "search_lines", "steps_table"]

_NOTABLE = 0.002
"""Points of a frontier closer in accuracy than this are not told apart in a table for people."""


def search_lines(found: PolicySearch, *, simulated: bool = False) -> list[str]:
    """The finding in plain words: what beats the plain policy, or that nothing does."""
    plain, winner = found.plain.candidate, found.winner
    use = "the best of these simulations is" if simulated else "use"
    lines = []
    if winner is None:
        lines.append(
            f"At {found.interval:g} s between states nothing beats the plain policy beyond its"
            f" interval. Use {plain.members[0]} and take its newest answer."
        )
    else:
        step = found.best if winner is found.best.candidate else found.together
        gain = found.gain if step is found.best else found.together_gain
        lines.append(
            f"At {found.interval:g} s between states {use} {winner.name}. Chosen on half of the"
            f" scenarios and judged on the other, it keeps the right decision in force"
            f" {shown(step.held_out.value)} % of the time: {_points(gain)} more than"
            f" {plain.name}."
        )
        if not step.agreed:
            one, two = step.by_half
            lines.append(f"The halves did not choose alike: {one.name}, and {two.name}.")
    if winner is not None and winner is not found.best.candidate:
        lines.append(
            f"No gate, expiry or queue adds to that beyond its interval: the best,"
            f" {found.best.candidate.name}, {_points(found.policy_gain)}."
        )
    elif winner is not None and not found.together.candidate.plain:
        lines.append(
            f"Of that, {_points(found.policy_gain)} over asking components together,"
            f" {found.together.candidate.name}."
        )
    elif winner is None:
        lines.append(
            f"The best by looks, {found.best.candidate.name}, gains {_points(found.gain)} where it"
            " was not chosen."
        )
    limit = ""
    if found.budget is not None:
        limit = f", {found.within_budget} within {found.budget:g} {found.currency} an hour"
    lines.append(
        f"{found.tried} policies were tried{limit}; chosen on {', '.join(found.halves[0])} for the"
        " others, and the other way round."
    )
    if found.without_confidence:
        lines.append(
            f"No confidences: {', '.join(found.without_confidence)}; no gate was tried on them."
        )
    return lines


def chosen_line(choice: Choice) -> str:
    """What `sdb choose` and the report say at the same pace, by the function all three share."""
    best = choice.best
    words = "" if best.policy is None else f" ({best.policy_words})"
    least = fixed(100 * choice.terms.min_gain).removesuffix(".0")
    unproven = ", and pairs and policies of simulations prove nothing"
    return (
        f"Weighed with price and simplicity, where less than {least} point"
        f"{'' if least == '1' else 's'} counts for nothing"
        f"{unproven if choice.simulated_policies else ''}: use {best.name}{words}, as `sdb choose`"
        " says."
    )


def steps_table(found: PolicySearch) -> Table:
    """Single, together, policy: each with what it is worth where it was not chosen."""
    columns = (
        text("", "step"), text("best over all scenarios", "policy"),
        percent("held out", "held_out"), percent("low", "held_out_low"),
        percent("high", "held_out_high"), percent("gain"), percent("low", "gain_low"),
        percent("high", "gain_high"),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [
        _row("single", found.plain, None),
        _row("together", found.together, found.together_gain),
        _row("policy", found.best, found.gain),
    ]
    level = f"{100 * found.sampling.level:g} %"
    return Table(
        f"Held out, at {found.interval:g} s (%, gains in points, {level})",
        columns,
        tuple(rows),
        ("gain: over the best single component, paired by state.",),
    )


def frontier_table(found: PolicySearch, *, every: bool = False) -> Table:
    """Accuracy against money, from the cheapest on."""
    points = list(found.frontier)
    listed = points if every else _notable(points)
    rows: list[tuple[Cell, ...]] = [
        (p.candidate.name, p.candidate.per_hour, p.seen, p.held_out) for p in listed
    ]
    notes = ["all: over the scenarios it was chosen on, which flatters it. held out: as above."]
    if len(listed) < len(points):
        notes.append(f"{len(points) - len(listed)} in between not shown; --csv and --json have all")
    return Table(
        f"The most accurate for its money ({found.currency} an hour)",
        (
            text("", "policy"), number("/hour", 2, "cost_per_hour"), percent("all", "seen"),
            percent("held out", "held_out"),
        ),
        tuple(rows),
        tuple(notes),
    )  # fmt: skip


def _row(label: str, step: Step, gain: Estimate | None) -> tuple[Cell, ...]:
    held = step.held_out
    gained = (None, None, None) if gain is None else (gain.value, gain.low, gain.high)
    return (label, step.candidate.name, held.value, held.low, held.high, *gained)


def _notable(points: list[FrontierPoint]) -> list[FrontierPoint]:
    """From the most accurate down: whatever is cheaper by a visible step in accuracy."""
    kept: list[FrontierPoint] = []
    for point in reversed(points):
        if not kept or kept[-1].seen - point.seen >= _NOTABLE * (1 + len(kept) // 4):
            kept.append(point)
    return kept[::-1]


def _points(gain: Estimate) -> str:
    return (
        f"{fixed(100 * gain.value)} points (95 %: {100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
    )
