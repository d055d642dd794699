"""`sdb analyze pace`: in-force accuracy at several intervals."""

from __future__ import annotations

from typing import Annotated

import typer

from streamdecisionbench.cli.options import Csv, Data, Json, Runs


def register(app: typer.Typer) -> None:
    app.command("pace")(pace)


def pace(
    runs: Runs,
    data: Data = None,
    at: Annotated[
        list[float] | None,
        typer.Option(metavar="SECONDS", help="Intervals instead of the usual scales; repeatable."),
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Show in-force accuracy at several time-step intervals."""
    from streamdecisionbench.analysis.pace import pace as analyse
    from streamdecisionbench.analysis.pace import pace_table
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.scoring.bounds import check_interval

    subjects = open_runs(runs, data)
    found = {}
    for s in subjects:
        parts = s.parts
        for x in at or ():
            check_interval(x)
        if not at:
            found[s.name] = analyse(parts)
            continue
        tick = parts[0].tick
        alike = all(part.tick == tick for part in parts)  # sessions of a log have each their own
        scales = [(f"×{tick / x:.3g}" if alike else "–", tick / x) for x in at]
        found[s.name] = analyse(parts, scales=scales, tick=tick)
    show("pace", found, [pace_table(found)], subjects, Form(as_json, as_csv))
