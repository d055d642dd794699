"""`sdb suite generate`: a new suite from a seed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from streamdecisionbench.suite.generation.compose import Solver


def register(app: typer.Typer) -> None:
    app.command("generate")(generate)


def generate(
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes, anywhere.")],
    out: Annotated[Path, typer.Option(help="A fresh folder for the suite.")],
    families: Annotated[
        str | None, typer.Option(help="Only these families, comma-separated.")
    ] = None,
    per_family: Annotated[
        int, typer.Option(help="Scenarios per family, taking turns between its kinds.")
    ] = 10,
    steps: Annotated[int, typer.Option(help="Steps per scenario.")] = 60,
    changes: Annotated[
        int, typer.Option(help="Changes of the reference per scenario, met within 2.")
    ] = 22,
    noise: Annotated[
        float,
        typer.Option(help="Share of ticks with evidence that changes nothing, met within 0.1."),
    ] = 0.5,
    wording: Annotated[
        str,
        typer.Option(
            help="listed: rules list the phrases that count; free: they define intents, and people use"
            " their own words (support and presenter)."
        ),
    ] = "listed",
    split: Annotated[
        str, typer.Option(help="eval or train: they share no seed, no state and no name.")
    ] = "eval",
    second_solver: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAMILY=python:MODULE:FUNCTION",
            help="Answers a state independently; where it differs nothing is generated.",
        ),
    ] = None,
) -> None:
    """Generate a suite of new scenarios: new names, limits, phrases and events for every seed."""
    from streamdecisionbench.cli.working import working
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.families.generate import generate as generate_suite
    from streamdecisionbench.families.generate import generated_families
    from streamdecisionbench.suite.generation.parameters import Parameters
    from streamdecisionbench.suite.suite_files import write_suite

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("is not empty", where=out, fix="choose a fresh --out folder")
    named = [name.strip() for name in families.split(",")] if families is not None else None
    parameters = Parameters(
        seed=seed,
        families=tuple(generated_families(wording) if named is None else filter(None, named)),
        per_family=per_family,
        steps=steps,
        changes=changes,
        noise=noise,
        wording=wording,
        split=split,
    )
    parameters.check()
    solvers = dict(_solver(text, parameters.families) for text in second_solver or ())
    notes: list[str] = []
    with working(f"making {per_family * len(parameters.families)} scenarios"):
        suite = generate_suite(parameters, solvers, notes.append)
    write_suite(suite, out)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    print(
        f"{out}: {suite.name}, {len(suite.scenarios)} scenarios, dataset hash {suite.dataset_hash}"
    )
    print(f"`sdb suite check --data {out}` makes it again from its manifest alone")


def _solver(text: str, families: tuple[str, ...]) -> tuple[str, Solver]:
    import importlib

    from streamdecisionbench.errors import InputError

    family, _, place = text.partition("=")
    kind, _, rest = place.partition(":")
    module, _, name = rest.partition(":")
    if kind != "python" or not module or not name or family not in families:
        raise InputError(
            f"--second-solver {text!r} is not FAMILY=python:MODULE:FUNCTION",
            fix=f"FAMILY is one of {', '.join(families)}",
        )
    try:
        found: Solver = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"--second-solver {text!r} cannot be loaded ({error})",
            fix="check the names, and run from the folder that holds the module",
        ) from None
    return family, found
