"""`sdb audit probe`: how far a shallow learned probe gets on seeds it has not seen."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamdecisionbench.cli.options import PlainJson

if TYPE_CHECKING:
    from streamdecisionbench.audit.probe import ProbeResult
    from streamdecisionbench.suite.scenario import Suite

_FEWEST = 3
"""Fewer scenarios teach nothing: no value would answer often enough to be learned."""


def register(app: typer.Typer) -> None:
    app.command("probe")(probe)


def probe(
    families: Annotated[
        str | None, typer.Option(help="Only these families, comma-separated.")
    ] = None,
    train: Annotated[
        int, typer.Option(help="Generated scenarios per family to learn from (train split).")
    ] = 100,
    test: Annotated[
        int, typer.Option(help="Generated scenarios per family to try it on (eval split).")
    ] = 20,
    seed: Annotated[int, typer.Option(help="Names the suites it learns from and is tried on.")] = 1,
    data: Annotated[
        Path | None, typer.Option(help="Try it on this suite instead of generated scenarios.")
    ] = None,
    as_json: PlainJson = False,
) -> None:
    """Learn hashed words on generated scenarios, try them on others and on SDB v1; exit code 1 when
    40 % of composed decisions in a family can be had that way."""
    from streamdecisionbench.audit import probe as audit
    from streamdecisionbench.cli.printing import dump
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.families.generate import generate, generated_families
    from streamdecisionbench.suite.generation.parameters import Parameters

    audit.require_learner()
    if train < _FEWEST or test < 1:
        raise InputError(
            f"--train {train} --test {test} measures nothing",
            fix=f"choose at least {_FEWEST} to learn from and 1 to try",
        )
    named = [f.strip() for f in (families or "").split(",") if f.strip()] or generated_families()
    tried = {"SDB v1": _suite(None), **({} if data is None else {data.name: _suite(data)})}
    table: dict[str, dict[str, ProbeResult]] = {}
    for family in named:
        print(f"{family}: learning from {train} scenarios", file=sys.stderr)
        wanted = Parameters(seed=seed, families=(family,), per_family=train, split="train")
        learned = audit.train(list(generate(wanted, tell=_quiet)))
        on = {name: suite.families().get(family, []) for name, suite in tried.items()}
        if data is None:
            fresh = Parameters(seed=seed, families=(family,), per_family=test)
            on["generated"] = list(generate(fresh, tell=_quiet))
        table[family] = {
            name: audit.measure(learned, scenarios) for name, scenarios in on.items() if scenarios
        }
    if as_json:
        dump(_plain(table, train, seed))
    else:
        _show(table)
    if any(result.leaks for found in table.values() for result in found.values()):
        raise typer.Exit(1)


def _quiet(note: str) -> None:
    """What a session had no room to show makes no difference here."""


def _suite(data: Path | None) -> Suite:
    from streamdecisionbench.cli.loading import load_suite
    from streamdecisionbench.errors import InputError

    suite = load_suite(data)
    if suite.manifest.generation and suite.manifest.generation.get("split") == "train":
        raise InputError(
            "is of the train split, which the probe learns from",
            where=data,
            fix="try it on a suite of the eval split",
        )
    return suite


def _plain(table: dict[str, dict[str, ProbeResult]], train: int, seed: int) -> dict[str, Any]:
    from streamdecisionbench.audit.probe import LIMIT

    return {
        "schema": "sdb-audit-probe/1",
        "train": train,
        "seed": seed,
        "limit": LIMIT,
        "families": {
            family: {
                name: {
                    "scenarios": found.scenarios,
                    "states": found.states,
                    "composed": found.composed,
                    "commonest": found.commonest,
                    "questions": found.questions,
                    "leaks": found.leaks,
                }
                for name, found in results.items()
            }
            for family, results in table.items()
        },
    }


def _show(table: dict[str, dict[str, ProbeResult]]) -> None:
    from rich.table import Table

    from streamdecisionbench.analysis.numbers import percent
    from streamdecisionbench.audit.probe import LIMIT
    from streamdecisionbench.report.terminal.scores import console

    out = Table(
        title="Untimed accuracy of a learned shallow probe (%)",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    out.add_column("family", no_wrap=True)
    out.add_column("tried on", no_wrap=True)
    for column in ("states", "composed", "commonest"):
        out.add_column(column, justify="right", no_wrap=True)
    screen = console()
    for family, results in table.items():
        for name, found in results.items():
            figures = (percent(found.composed), percent(found.commonest))
            out.add_row(family, name, str(found.states), *figures)
    screen.print(out)
    screen.print("commonest: every question's commonest answer in training", style="dim")
    for family, results in table.items():
        for name, found in results.items():
            parts = ", ".join(f"{q} {percent(v)}" for q, v in found.questions.items())
            screen.print(f"{family} on {name}, by question: {parts}", style="dim")
            if found.leaks:
                screen.print(
                    f"{family} on {name} leaks: {percent(LIMIT)} % or more without any rule"
                )
