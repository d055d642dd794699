"""`sdb logs`: decisions that somebody else recorded are scored, checked, converted, made into a suite."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.cli.log_options import reads_log
from streamdecisionbench.cli.options import (
    Csv,
    Data,
    Resamples,
    Runs,
    Seed,
)
from streamdecisionbench.logs.log_source import LogSource
from streamdecisionbench.text import plural

if TYPE_CHECKING:
    from streamdecisionbench.logs.log_references import ReferenceSource


By = Annotated[
    list[str] | None,
    typer.Option(
        "--by", metavar="COLUMN", help="Group by a column; `day` always works. Repeat it."
    ),
]
QuestionFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Questions, options and decision spec as JSON; from the log otherwise."
    ),
]
Families = Annotated[
    str | None, typer.Option("--by", metavar="COLUMN", help="The families, from a column.")
]
States = Annotated[bool, typer.Option("--states", help="With the states of the streams shown.")]


@reads_log(unusable=False)
def check(
    source: LogSource,
    by: By = None,
    write_mapping: Annotated[
        Path | None,
        typer.Option(
            "--write-mapping",
            metavar="FILE",
            help="Draft a query for --sql from the columns there are, and look through the log with it.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-logs-check/1.")] = False,
) -> None:
    """Look through a log: columns, streams, references, and rows that cannot be used, by reason.

    Of a table with other columns, what is missing, and a draft of the query that names it.
    """
    from streamdecisionbench.cli.printing import dump, print_tables
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.log_check import check_log
    from streamdecisionbench.logs.log_schema import ColumnsMissingError
    from streamdecisionbench.logs.log_tables import check_lines, check_tables
    from streamdecisionbench.logs.mapping import MappingDraft, draft_mapping
    from streamdecisionbench.suite.file_io import write_text

    def drafted() -> MappingDraft:
        with replace(source, sql=None).open(checked=False) as opened:
            return draft_mapping(opened)

    def used(mapping: Path) -> str:
        return f"sdb logs score {' '.join(map(shlex.quote, source.table))} --sql {shlex.quote(str(mapping))}"

    if write_mapping is not None:
        if source.sql is not None:
            raise InputError("a mapping is given and asked for", fix="leave one of them out")
        if write_mapping.exists():
            raise InputError("is there already", where=write_mapping, fix="name another file")
        draft = drafted()
        write_text(write_mapping, draft.text())
        if draft.missing:
            raise InputError(
                f"is drafted, but no column looks like {', '.join(draft.missing)}",
                where=write_mapping,
                fix=f"write there which column says it, then use it: {used(write_mapping)}",
            )
        source = replace(source, sql=write_mapping)
    try:
        with source.opened() as (opened, _):
            found = check_log(opened, tuple(by or ()))
    except ColumnsMissingError as error:
        if source.sql is None and not as_json:
            text = ""
            with suppress(InputError):  # a draft that cannot be had must not replace the error
                text = drafted().text()
            if text:
                typer.echo(text)
                raise InputError(
                    error.what,
                    where=error.where,
                    fix="a query that names them is drafted above. Save it as mapping.sql, or with"
                    f" --write-mapping mapping.sql; correct it, then use it: {used(Path('mapping.sql'))}",
                ) from None
        raise
    if as_json:
        dump(found.to_json())
    else:
        lines = []
        if write_mapping is not None:
            lines = [
                f"{write_mapping}: drafted. Correct it, then use it:",
                f"  {used(write_mapping)}",
            ]
        print_tables(check_tables(found), lines=[*lines, *check_lines(found)], whole_in="--json")
    if found.unusable.rows:
        raise InputError(
            f"{found.unusable.rows} of {plural(found.rows, 'row')} cannot be used",
            where=found.source,
        )


def convert(
    sources: Annotated[list[Path], typer.Argument(metavar="SOURCE", help="Files or folders.")],
    kind: Annotated[str, typer.Option("--from", help="openinference, otel or langfuse.")],
    out: Annotated[Path, typer.Option(help="New file: .parquet, .jsonl or .csv.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Turn spans of decisions into a decision log, and say what had to be assumed."""
    from streamdecisionbench.cli.printing import dump
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.trace_convert import convert as write
    from streamdecisionbench.render.terminal import console

    paths: list[Path] = []
    for source in sources:
        if source.is_dir():
            paths += sorted(p for p in source.rglob("*") if p.is_file())
        elif source.is_file():
            paths.append(source)
        else:
            raise InputError("is no file and no folder", where=source, fix="name exported traces")
    if not paths:
        raise InputError("holds no file", where=sources[0], fix="name exported traces")
    found = write(kind, paths, out)
    if as_json:
        dump({"schema": "sdb-convert/1", "out": str(out), **vars(found)})
        return
    lines = [
        f"{out}: {plural(found.rows, 'decision')} of {plural(found.streams, 'stream')}, from {plural(found.spans, 'span')}"
    ]
    for heading, counts in (
        ("Assumed, because the traces do not say it:", found.assumed),
        ("Left out:", found.left_out),
    ):
        lines += [heading] if counts else []
        lines += [f"  {count:>8}  {sentence}" for sentence, count in counts.items()]
    for line in lines:
        console().print(line, markup=False, highlight=False)


def export(
    runs: Runs,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .parquet, .csv or .jsonl file.")],
    data: Data = None,
    states: Annotated[bool, typer.Option(help="With the states themselves.")] = True,
) -> None:
    """Write recordings as a table of decisions, one row per state.

    Scored `--by scenario`, it gives what `sdb score` gives by scenario.
    """
    from streamdecisionbench.logs.log_export import (
        check_name,
        log_of,
        write_log,
    )

    check_name(out)
    table = log_of(runs, states=states, data=data)
    write_log(table, out)
    typer.echo(
        f"{out}: {plural(table.num_rows, 'state')} of {plural(len(set(table['stream'].to_pylist())), 'stream')}"
    )


@reads_log()
def pace(
    source: LogSource,
    by: By = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-logs-pace/1.")] = False,
    as_csv: Csv = False,
) -> None:
    """How often states and references really change in your streams, with bounds to score over."""
    from streamdecisionbench.cli.printing import dump, print_csv, print_tables, require_one_form
    from streamdecisionbench.logs.event_rate import log_pace
    from streamdecisionbench.logs.log_tables import pace_tables

    require_one_form(as_json, as_csv)
    allowed = source.allowed
    with source.opened() as (opened, _):
        found = log_pace(opened, by or (), allowed)
    if as_json:
        dump(found.to_json())
    elif as_csv:
        print_csv(pace_tables(found))
    else:
        print_tables(pace_tables(found))


@reads_log()
def score(
    source: LogSource,
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
    seed: Seed = 0,
    resamples: Resamples = 500,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-logs/1.")] = False,
    as_csv: Csv = False,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write a page: groups, days, mix-ups, streams as lanes, the worst first.",
        ),
    ] = None,
    states: States = False,
) -> None:
    """Score a decision log: one row per state of a stream, answered when, decided what, right what.

    A group pools time: every observed second of its streams counts alike.
    """
    from streamdecisionbench.cli.printing import (
        Heading,
        csv_writer,
        dump,
        print_tables,
        require_one_form,
    )
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.log_page import (
        log_page,
        streams_on_page,
    )
    from streamdecisionbench.logs.log_score import (
        csv_rows,
        score_log,
    )
    from streamdecisionbench.logs.log_tables import difference_lines, log_tables
    from streamdecisionbench.suite.file_io import write_text

    require_one_form(as_json, as_csv)
    if page is not None and page.exists():
        raise InputError("is there already", where=page, fix="remove it, or name another file")
    if states and page is None:
        raise InputError("--states belongs to --page", fix="add --page FILE, or sdb logs show")
    found = score_log(
        source,
        by=by or (),
        interval=interval,
        bounds=bounds,
        seed=seed,
        resamples=resamples,
        costs=costs,
        theta=theta,
        days=page is not None,
        show=None if page is None else streams_on_page(states=states),
    )
    if page is not None:
        write_text(page, log_page(found))
    if as_json:
        dump(found.to_json())
        return
    if as_csv:
        csv_writer().writerows(csv_rows(found))
        return
    print_tables(
        log_tables(found),
        [Heading(found.source, found.signature, found.notes)],
        difference_lines(found),
    )


@reads_log()
def show(
    source: LogSource,
    stream: Annotated[
        str | None, typer.Option(metavar="ID", help="This stream, by its name.")
    ] = None,
    worst: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="So many streams, those with the most wrong time (5)."),
    ] = None,
    confusion: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A B",
            help="Streams in which A was in force while B was right; A may be `no decision`.",
        ),
    ] = None,
    by: By = None,
    states: States = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-logs-show/1.")] = False,
) -> None:
    """Show streams of a log: what was right, what was in force, moment by moment; and what was mixed up.

    Seconds are those of `sdb logs score`: those of all streams add up to it.
    """
    from streamdecisionbench.cli.printing import Heading, dump, print_tables
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.lanes import (
        class_legend,
        lane_lines,
    )
    from streamdecisionbench.logs.log_score import (
        score_log,
        shown_json,
    )
    from streamdecisionbench.logs.log_tables import show_lines, show_tables
    from streamdecisionbench.logs.worst_streams import (
        StreamsAsked,
        mix_asked,
    )
    from streamdecisionbench.render.terminal import console
    from streamdecisionbench.text import visible

    if stream is not None and (worst, confusion) != (None, None):
        raise InputError(
            "--stream names one stream: --worst and --confusion choose others",
            fix="leave out --stream, or the others",
        )
    found = score_log(
        source,
        by=by or (),
        show=StreamsAsked(
            most=worst or 5,
            stream=stream,
            mix=None if confusion is None else mix_asked(*confusion),
            states=states,
        ),
    )
    if as_json:
        dump(shown_json(found))
        return
    print_tables(
        show_tables(found),
        [Heading(found.source, found.signature, found.notes)],
        show_lines(found),
        whole_in="--json",
    )
    out = console()
    for one in found.shown.kept:
        title = f"{one.name}: wrong {one.wrong_s:.1f} of {one.judged_s:.1f} judged s"
        for line in ("", visible(title), *lane_lines(one, out.width)):
            out.print(line, soft_wrap=len(line) <= out.width)
    out.print(f"\n{class_legend()}")


@reads_log()
def suite(
    source: LogSource,
    out: Annotated[Path, typer.Option(help="A fresh folder for the suite.")],
    questions: QuestionFile = None,
    by: Families = None,
    streams: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="Sessions to take, drawn by a hash of their names."),
    ] = 50,
    seed: Seed = 0,
) -> None:
    """Make a suite of logged sessions: the same states at the same times, for any component.

    `sdb run --data DIR` publishes them as they came; everything else works on it as on any suite.
    """
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.suite_of_log import asked_by_file, suite_of_log
    from streamdecisionbench.suite.suite_files import write_suite
    from streamdecisionbench.text import visible

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("is not empty", where=out, fix="choose a fresh --out folder")
    allowed = source.allowed
    asked = asked_by_file(questions) if questions is not None else None
    name = out.resolve().name
    with source.opened() as (opened, held):
        made = suite_of_log(
            opened, held, allowed, name=name, streams=streams, by=by, asked=asked, seed=seed
        )
    write_suite(made.suite, out)
    typer.echo(f"{out}: dataset hash {made.suite.dataset_hash}")
    for line in made.told():
        typer.echo(f"  {visible(line)}")
    if held.silver is not None:
        typer.echo(f"  {_silver_line(held.silver)}")


def _silver_line(silver: ReferenceSource) -> str:
    return f"references are silver in part or all: decisions of {silver.source}"


@reads_log()
def import_log(
    source: LogSource,
    out: Annotated[Path, typer.Option(metavar="RUN", help="A fresh folder for the recording.")],
    questions: QuestionFile = None,
    by: Families = None,
    streams: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="Sessions to take, drawn by a hash of their names."),
    ] = 10_000,
    seed: Seed = 0,
) -> None:
    """Make a recording of a log, with its suite in it: for `sdb report`, `diff`, `choose`, `analyze`.

    Sessions whose every state was answered and has a reference; what a log does not have is said.
    """
    from streamdecisionbench.logs.suite_of_log import asked_by_file, not_in_a_log, recording_of_log
    from streamdecisionbench.suite.file_io import require_empty
    from streamdecisionbench.text import visible

    require_empty(out)
    asked = asked_by_file(questions) if questions is not None else None
    with source.opened() as (opened, held):
        made = recording_of_log(
            opened,
            held,
            source.allowed,
            out,
            streams=streams,
            by=by,
            asked=asked,
            seed=seed,
        )
        told = [*made.told(), *not_in_a_log(opened)]
        if held.silver is not None:
            told.append(_silver_line(held.silver))
    typer.echo(f"{out}: a recording, its suite in {out / 'suite'}")
    for line in told:
        typer.echo(f"  {visible(line)}")


HELP = "Decision logs: score what others recorded, show it, make a suite or a recording of it, have people judge it."
COMMANDS = {
    "score": score,
    "show": show,
    "check": check,
    "pace": pace,
    "export": export,
    "convert": convert,
    "suite": suite,
    "import": import_log,
}
