"""What `sdb suite coverage` prints: rules with their misreadings, options, and what is missing."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table as RichTable

from streamdecisionbench.families.coverage import FamilyCoverage
from streamdecisionbench.render.terminal import console, grid
from streamdecisionbench.suite.scenario import FAMILIES, Suite
from streamdecisionbench.text import plural


def print_coverage(suite: Suite, found: Mapping[str, FamilyCoverage]) -> None:
    """Per family: rules with their misreadings, options, and what is missing."""
    out = console()
    out.print(f"{suite.name} ({suite.dataset_hash[:12]})")
    for family, part in found.items():
        out.print()
        title = f"{FAMILIES.get(family, family)}: {plural(part.scenarios, 'scenario')}, {plural(part.states, 'state')}"
        out.print(title, style="bold")
        if part.rules:
            out.print(_rules(part))
        else:
            out.print("rules: not known for these scenarios, so only options are counted")
        out.print(_options(part))
        for line in _missing(part):
            out.print(line)
    if not any(part.rules for part in found.values()):
        return
    out.print()
    out.print(
        "decides: states whose decision changes when the rule is misread in one of these ways.\n"
        "changes: states whose decision this one misreading changes."
    )


def _rules(part: FamilyCoverage) -> RichTable:
    rows = []
    for rule, decided in part.rules.items():
        misread = [m for m in part.misreadings if m.rule == rule]
        for place, m in enumerate(misread):
            first = (rule, str(decided)) if place == 0 else ("", "")
            rows.append((*first, m.what, f"({m.answers})" if m.answers_only else str(m.decisions)))
        if not misread:
            rows.append((rule, "–", "", "–"))
    headings = ("rule", "decides", "misread by somebody who", "changes")
    return grid(headings, rows, left=(0, 2), wrap=(2,))


def _options(part: FamilyCoverage) -> RichTable:
    rows = []
    for question, values in part.options.items():
        counts = sorted(values.values())
        missing = sum(n == 0 for n in counts)
        rows.append((question, str(len(counts)), f"{counts[0]}, {counts[-1]}", str(missing)))
    headings = ("question", "options", "states answered: fewest, most", "unanswered")
    return grid(headings, rows, left=(0, 2), wrap=())


def _missing(part: FamilyCoverage) -> list[str]:
    lines = [f"rule {rule} decides no state" for rule in part.undecided()]
    lines += [f"option {q} = {value} answers no state" for q, value in part.unanswered()]
    lines += [
        f"nothing would notice somebody who {m.what} (rule {m.rule})" for m in part.unnoticed()
    ]
    if lines:
        return lines
    if not part.rules:
        return ["every option answers a state"]
    return ["every rule decides, every option answers, every misreading shows"]
