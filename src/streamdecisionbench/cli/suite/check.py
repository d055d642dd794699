"""`sdb suite check`: is a suite still what its sources say?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.cli.options import SuiteData

if TYPE_CHECKING:
    from streamdecisionbench.suite.scenario import Suite


def register(app: typer.Typer) -> None:
    app.command("check")(check)


def check(
    data: SuiteData = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="python:MODULE:FUNCTION",
            help="Your own reference: a function of one state that gives every answer.",
        ),
    ] = None,
) -> None:
    """Re-run the references over every stored state and make the suite again to compare digests:
    the built-in one from its sources, a generated one from its manifest alone, one of your own by the
    reference you name."""
    from streamdecisionbench.cli.loading import load_suite
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.families.generate import regenerate
    from streamdecisionbench.families.sdb_v1 import NO_REFERENCE
    from streamdecisionbench.families.sdb_v1 import build as build_suite

    suite = load_suite(data)
    problems = _recheck(suite) if reference is None else _against(suite, reference)
    if data is None:
        fresh = build_suite()
        problems += [
            f"{key}: the frozen file is not what its sources build (run `sdb suite build`)"
            for key, value in fresh.manifest.hashes.items()
            if suite.manifest.hashes.get(key) != value
        ]
    elif suite.manifest.generation:
        problems += regenerate(suite)
    if problems:
        unknown = reference is None and any(NO_REFERENCE in problem for problem in problems)
        raise InputError(
            "\n  ".join([f"{len(problems)} problem(s)", *problems[:20]]),
            where=suite.name,
            fix="name your own with --reference python:module:function" if unknown else None,
        )
    states = sum(s.n for s in suite)
    print(f"{suite.name}: references reproduce all {states} stored states")


def _recheck(suite: Suite) -> list[str]:
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.families.sdb_v1 import recheck

    try:
        return recheck(suite)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the references cannot read its states ({type(error).__name__}): it was not built"
            " from these families",
            where=suite.name,
            fix="name your own with --reference python:module:function;"
            " `sdb validate` checks any suite",
        ) from None


def _against(suite: Suite, name: str) -> list[str]:
    """What the user's own reference says otherwise, state by state."""
    import json

    from streamdecisionbench.components.local.python_class import find_target, raised_at
    from streamdecisionbench.errors import InputError

    target = find_target(name.removeprefix("python:")) if name.startswith("python:") else None
    if not callable(target):
        raise InputError(
            f"--reference {name} names no function", fix="write python:module:function"
        )
    problems = []
    for scenario in suite:
        for step in scenario.steps:
            where = f"{scenario.episode_id} tick {step.t}"
            try:
                answers = target(json.loads(json.dumps(step.state)))
            except Exception as error:
                raise InputError(
                    f"{where}: {name} raises {type(error).__name__}", where=raised_at(error)
                ) from None
            if not isinstance(answers, dict):
                raise InputError(
                    f"{where}: {name} returns {ascii(answers)[:80]}",
                    fix="return {question: value} for every question",
                )
            problems += [
                f"{where}: stored {question} = {value}, the reference says {answers.get(question)}"
                for question, value in step.gold.items()
                if answers.get(question) != value
            ]
    return problems
