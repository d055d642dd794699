"""`sdb audit check`: a reader's answers against the references."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import PlainJson, SuiteData


def register(app: typer.Typer) -> None:
    app.command("check")(check)


def check(
    scenario: Annotated[str, typer.Argument(help="A scenario id.")],
    answers: Annotated[Path, typer.Argument(help="A filled answer sheet.")],
    data: SuiteData = None,
    as_json: PlainJson = False,
) -> None:
    """Compare a reader's answers with the references; exit code 1 when a decision differs."""
    from streamdecisionbench.audit.agreement import check as compare
    from streamdecisionbench.audit.agreement import read_answers
    from streamdecisionbench.cli.loading import find_scenario, load_suite
    from streamdecisionbench.cli.printing import decision_text, dump

    found = find_scenario(load_suite(data), scenario)
    result = compare(found, read_answers(answers, found))
    if as_json:
        dump(result.to_json())
    else:
        print(f"{scenario}: {result.consumed} of {result.states} composed decisions agree")
        for question, count in result.per_question.items():
            print(f"  {question:<20}{count:>3} of {result.states}")
        for d in result.disagreements:
            kind = "decision" if d.consumed else "ignored answer"
            print(f"\nt={d.t}  {kind} differs in {', '.join(d.questions)}")
            print(f"  reference {decision_text(d.reference)}")
            print(f"  answered  {decision_text(d.answered)}")
            for note in d.evidence:
                print(f"  evidence  {note}")
    if result.consumed != result.states:
        raise typer.Exit(1)
