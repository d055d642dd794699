"""Tables about the suite: what is asked, and which decision comes of it."""

from __future__ import annotations

from collections.abc import Sequence

from streamdecisionbench.report.material import family_name, letter
from streamdecisionbench.report.tables.table import Cell, Row, Table, count
from streamdecisionbench.suite.scenario import INACTIVE, DecisionSpec, Scenario, Suite

__all__ = ["benchmark", "specifications"]


def benchmark(suite: Suite) -> Table:
    """Scenarios with their questions, routes, options and changes of the composed reference."""
    rows = []
    for family, group in suite.families().items():
        for place, scenario in enumerate(group):
            cells: tuple[Cell, ...] = (
                family_name(family) if place == 0 else "",
                letter(group, scenario),
                count(len(scenario.questions)),
                count(_routes(scenario)),
                _span(_options(scenario)),
                count(len(scenario.changes())),
            )
            rows.append(Row(cells, rule_above=place == 0))
    everything = list(suite)
    rows.append(
        Row(
            (
                "All",
                "",
                _span([len(s.questions) for s in everything]),
                _span([_routes(s) for s in everything]),
                _span([n for s in everything for n in _options(s)]),
                count(sum(len(s.changes()) for s in everything)),
            ),
            rule_above=True,
        )
    )
    steps = sum(s.n for s in everything)
    return Table(
        "benchmark",
        f"Scenarios of {suite.name}",
        ("Family", "Sc.", "Qs", "Routes", "Options", "Trans."),
        tuple(rows),
        (
            f"Sc.: scenario; Qs: questions per step; Routes: route options; Options: options per"
            f" question; Trans.: changes of the composed reference decision. {steps} states.",
        ),
        text_columns=2,
    )


def specifications(suite: Suite) -> Table:
    """How answers become one decision; scenarios that share a specification share a row."""
    rows = []
    for family, group in suite.families().items():
        seen: dict[tuple[object, ...], list[Scenario]] = {}
        for scenario in group:
            seen.setdefault(_key(scenario.decision_spec), []).append(scenario)
        for alike in seen.values():
            spec = alike[0].decision_spec
            letters = ", ".join(letter(group, s) for s in alike)
            name = family_name(family)
            rows.append(
                Row(
                    (
                        f"{name} ({letters})" if len(group) > 1 else name,
                        ", ".join(_words(route) for route in spec.branches),
                        ", ".join(_words(q) for q in spec.always) or INACTIVE,
                        _branches(spec),
                    )
                )
            )
    return Table(
        "specifications",
        "Decision specifications",
        ("Scenarios", "Route options", "Used in every branch", "Branch questions"),
        tuple(rows),
        ("A composed decision is the route, the questions of every branch and those of its own.",),
        text_columns=4,
    )


def _routes(scenario: Scenario) -> int:
    return len(scenario.decision_spec.branches)


def _options(scenario: Scenario) -> list[int]:
    return [len(q.criteria) for q in scenario.questions.values()]


def _span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}–{high}"


def _key(spec: DecisionSpec) -> tuple[object, ...]:
    return (spec.route_question, spec.always, tuple(sorted(spec.branches.items())))


def _branches(spec: DecisionSpec) -> str:
    """ "repair: target, method; wait, ready: none", branches with the same questions together."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for route, questions in spec.branches.items():
        alike.setdefault(tuple(questions), []).append(route)
    used = [
        f"{', '.join(map(_words, routes))}: {', '.join(map(_words, questions))}"
        for questions, routes in alike.items()
        if questions
    ]
    unused = [f"{', '.join(map(_words, routes))}: none" for q, routes in alike.items() if not q]
    return "; ".join(used + unused)


def _words(name: str) -> str:
    return name.replace("_", " ")
