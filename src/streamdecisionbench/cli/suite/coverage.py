"""`sdb suite coverage`: which rules, options and misreadings a suite puts to the test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from streamdecisionbench.cli.options import PlainJson, SuiteData

if TYPE_CHECKING:
    from streamdecisionbench.families.coverage import FamilyCoverage


def register(app: typer.Typer) -> None:
    app.command("coverage")(coverage)


def coverage(data: SuiteData = None, as_json: PlainJson = False) -> None:
    """Per rule the states it decides, per option the states it answers, per misreading of one rule
    the decisions it changes."""
    from streamdecisionbench.cli.loading import load_suite
    from streamdecisionbench.cli.printing import dump
    from streamdecisionbench.cli.working import working
    from streamdecisionbench.families.coverage import coverage as measure

    suite = load_suite(data)
    with working(f"misreading every rule over {sum(s.n for s in suite)} states"):
        found = measure(suite)
    if as_json:
        dump(
            {
                "schema": "sdb-coverage/1",
                "suite": suite.name,
                "dataset_hash": suite.dataset_hash,
                "families": {family: _plain(part) for family, part in found.items()},
            }
        )
        return
    from streamdecisionbench.report.terminal.coverage import print_coverage

    print_coverage(suite, found)


def _plain(part: FamilyCoverage) -> dict[str, Any]:
    return {
        "scenarios": part.scenarios,
        "states": part.states,
        "rules": part.rules,
        "options": part.options,
        "misreadings": [
            {
                "rule": m.rule,
                "what": m.what,
                "decisions": m.decisions,
                "answers": m.answers,
                "answers_only": m.answers_only,
            }
            for m in part.misreadings
        ],
        "undecided_rules": part.undecided(),
        "unanswered_options": [list(pair) for pair in part.unanswered()],
        "unnoticed_misreadings": [[m.rule, m.what] for m in part.unnoticed()],
    }
