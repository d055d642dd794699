"""`sdb logs score`: how much of the time the decision in force was right, by group."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from streamdecisionbench.cli.logs.options import (
    AllowUnusable,
    By,
    EngineName,
    Master,
    Memory,
    Quiet,
    Reference,
    ReferenceTable,
    Sources,
    Sql,
)
from streamdecisionbench.cli.options import Csv, Resamples, Seed


def register(app: typer.Typer) -> None:
    app.command("score")(score)


def score(
    sources: Sources,
    sql: Sql = None,
    references: ReferenceTable = None,
    reference: Reference = None,
    by: By = None,
    interval: Annotated[
        float | None,
        typer.Option(help="Seconds between states on average; the recorded pace otherwise."),
    ] = None,
    bounds: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="Also integrate over this range of intervals."),
    ] = None,
    costs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Also what being wrong costs: a cost file (TOML), or default. A column family"
            " picks the section.",
        ),
    ] = None,
    theta: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Also wrong spells and changes; a spell longer than this is long (with --costs: 4).",
        ),
    ] = None,
    engine: EngineName = "duckdb",
    master: Master = None,
    allow_unusable: AllowUnusable = "0",
    seed: Seed = 0,
    resamples: Resamples = 500,
    memory: Memory = "1GB",
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-logs/1.")] = False,
    as_csv: Csv = False,
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a page: groups, classes, day by day."),
    ] = None,
) -> None:
    """Score a decision log: one row per state of a stream, answered when, decided what, right what.

    A group pools time: every observed second of its streams counts alike.
    """
    import csv
    import sys

    from streamdecisionbench.cli.logs.telling import telling
    from streamdecisionbench.cli.printing import Heading, dump, print_tables, require_one_form
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.log_csv import csv_rows
    from streamdecisionbench.logs.log_sums import DAY
    from streamdecisionbench.logs.score_log import score_log
    from streamdecisionbench.report.page.log_page import log_page
    from streamdecisionbench.report.terminal.logs import difference_line, log_tables
    from streamdecisionbench.suite.disk import read_text, write_text

    require_one_form(as_json, as_csv)
    if page is not None and page.exists():
        raise InputError("is there already", where=page, fix="remove it, or name another file")
    asked: dict[str, Any] = {
        "interval": interval,
        "bounds": bounds,
        "costs": costs,
        "theta": theta,
        "references": references,
        "reference": reference,
        "sql": None if sql is None else read_text(sql),
        "sql_name": str(sql),
        "allow_unusable": allow_unusable,
        "seed": seed,
        "resamples": resamples,
        "engine": engine,
        "master": master,
        "memory": memory,
    }
    with telling(quiet) as told:
        found = score_log(sources, by=by or (), told=told, **asked)
        if page is not None:
            try:
                daily = score_log(sources, by=DAY, told=told, **asked)
            except InputError:
                daily = None  # times in seconds have no day
            write_text(page, log_page(found, daily))
    if as_json:
        dump(found.to_json())
        return
    if as_csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows(csv_rows(found))
        return
    print_tables(
        log_tables(found),
        [Heading(found.source, found.signature, found.notes)],
        [difference_line(one) for one in found.differences],
    )
