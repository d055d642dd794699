"""`sdb diff`: every state two recordings decide differently."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import Data


def register(app: typer.Typer) -> None:
    app.command("diff")(diff)


def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="The recording before.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="The recording now.")],
    data: Data = None,
    only: Annotated[
        str | None, typer.Option(help="lost, won or changed; all of them otherwise.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-diff/1.")] = False,
) -> None:
    """Show where two recordings decide differently, with the evidence."""
    from dataclasses import asdict

    from streamdecisionbench.analysis.flipped_states import KINDS, flipped_states
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import dump
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.report.gate_words import flip_lines, flip_summary
    from streamdecisionbench.report.terminal.scores import console

    if only is not None and only not in KINDS:
        raise InputError(f"--only {only} is not known", fix=f"use {', '.join(KINDS)}")
    before, now = open_runs([first, second], data)
    require_one_suite([before, now])
    flips = flipped_states(before.recording, now.recording, now.suite)
    kinds = (only,) if only else tuple(KINDS)
    if as_json:
        dump(
            {
                "schema": "sdb-diff/1",
                "first": flips.first,
                "second": flips.second,
                "states": flips.states,
                "counts": {kind: flips.count(kind) for kind in KINDS},
                "flips": [asdict(flip) for flip in flips.found if flip.kind in kinds],
                "signatures": {s.name: s.heading().signature for s in (before, now)},
            }
        )
        return
    out = console()
    out.print(flip_summary(flips), markup=False, highlight=False)
    for line in flip_lines(flips, kinds):
        out.print(line, markup=False, highlight=False, overflow="fold")
