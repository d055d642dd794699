"""`sdb suite build`: a suite from its sources."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from streamdecisionbench.suite.scenario import Suite


def register(app: typer.Typer) -> None:
    app.command("build")(build)


def build(
    out: Annotated[
        Path, typer.Option(help="Folder to write to. Building twice gives the same bytes.")
    ],
    drafts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[python:MODULE:DRAFT]...",
            help="Drafts of your own; the built-in suite otherwise.",
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="What your suite is called.")] = "",
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of your own code where it raises.")
    ] = False,
) -> None:
    """Build a suite from its sources: timelines, rules and references.

    A draft that does not keep its promises is refused with every one that it breaks.
    """
    from streamdecisionbench.errors import InputError, SdbError
    from streamdecisionbench.families.sdb_v1 import build as build_suite
    from streamdecisionbench.plain_text import visible
    from streamdecisionbench.suite.suite_files import write_suite

    if out.exists() and any(
        p.name != "manifest.json" and p.suffix != ".json" for p in out.iterdir()
    ):
        raise InputError(
            "holds files that are no suite", where=out, fix="choose another --out folder"
        )
    try:
        suite = _of_drafts(drafts, name) if drafts else build_suite()
    except SdbError as error:
        if debug and error.trace:
            typer.echo(visible(error.trace, lines=True), err=True)
        raise
    write_suite(suite, out)
    print(
        f"{out}: {suite.name}, {len(suite.scenarios)} scenarios, dataset hash {suite.dataset_hash}"
    )


def _of_drafts(places: list[str], name: str) -> Suite:
    from streamdecisionbench.components.local.python_class import find_target
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.suite.authoring import Draft, expand
    from streamdecisionbench.suite.suite_files import make_suite

    scenarios = []
    for place in places:
        if not place.startswith("python:"):
            raise InputError(f"{place!r} names no draft", fix="write python:module:draft")
        found = find_target(place.removeprefix("python:"))
        listed = found if isinstance(found, list | tuple) else [found]
        if not listed or not all(isinstance(draft, Draft) for draft in listed):
            raise InputError(
                f"{place} is no Draft and no list of them",
                fix="name a Draft of streamdecisionbench.suite.authoring",
            )
        scenarios += [expand(draft) for draft in listed]
    return make_suite(scenarios, name=name)
