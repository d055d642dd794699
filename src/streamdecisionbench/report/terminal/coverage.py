"""What a suite puts to the test, as tables in 80 columns."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from streamdecisionbench.families.coverage import FamilyCoverage
from streamdecisionbench.report.terminal.scores import console
from streamdecisionbench.suite.scenario import FAMILIES, Suite

__all__ = ["print_coverage"]


def print_coverage(suite: Suite, found: Mapping[str, FamilyCoverage]) -> None:
    """Per family: rules with their misreadings, options, and what is missing."""
    out = console()
    out.print(f"{suite.name} ({suite.dataset_hash[:12]})", markup=False, highlight=False)
    for family, part in found.items():
        out.print()
        title = f"{FAMILIES.get(family, family)}: {part.scenarios} scenarios, {part.states} states"
        out.print(title, markup=False, highlight=False, style="bold")
        if part.rules:
            out.print(_rules(part))
        else:
            out.print("rules: not known here, so only options are counted")
        out.print(_options(part))
        for line in _missing(part):
            out.print(line, markup=False, highlight=False)
    out.print()
    out.print(
        "decides: states whose decision changes when the rule is misread in one of these ways.\n"
        "changes: states whose decision this one misreading changes."
    )


def _rules(part: FamilyCoverage) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("rule", no_wrap=True)
    table.add_column("decides", justify="right", no_wrap=True)
    table.add_column("misread by somebody who", overflow="fold")
    table.add_column("changes", justify="right", no_wrap=True)
    for rule, decided in part.rules.items():
        rows = [m for m in part.misreadings if m.rule == rule]
        for place, m in enumerate(rows):
            first = (rule, str(decided)) if place == 0 else ("", "")
            changes = f"({m.answers})" if m.answers_only else str(m.decisions)
            table.add_row(*first, m.what, changes)
        if not rows:
            table.add_row(rule, "–", "", "–")
    return table


def _options(part: FamilyCoverage) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("question", no_wrap=True)
    table.add_column("options", justify="right", no_wrap=True)
    table.add_column("states answered: fewest, most", no_wrap=True)
    table.add_column("unanswered", justify="right", no_wrap=True)
    for question, values in part.options.items():
        counts = sorted(values.values())
        table.add_row(
            question,
            str(len(counts)),
            f"{counts[0]}, {counts[-1]}",
            str(sum(n == 0 for n in counts)),
        )
    return table


def _missing(part: FamilyCoverage) -> list[str]:
    lines = [f"rule {rule} decides no state" for rule in part.undecided()]
    lines += [f"option {q} = {value} answers no state" for q, value in part.unanswered()]
    lines += [
        f"nothing would notice somebody who {m.what} (rule {m.rule})" for m in part.unnoticed()
    ]
    return lines or ["every rule decides, every option answers, every misreading shows"]
