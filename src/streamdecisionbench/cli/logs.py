"""`sdb logs`: decisions that somebody else recorded are scored, checked, converted, made into a suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.cli.options import (
    Csv,
    Data,
    Reference,
    ReferencesSql,
    ReferenceTables,
    Resamples,
    Runs,
    Seed,
    Sql,
)
from streamdecisionbench.cli.progress import telling

if TYPE_CHECKING:
    from streamdecisionbench.logs.engines.engine import Engine
    from streamdecisionbench.logs.references import ReferenceSource


Sources = Annotated[
    list[str],
    typer.Argument(metavar="SOURCE...", help="Files, folders or patterns of a decision log."),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by", metavar="COLUMN", help="Group by a column; `day` always works. Repeat it."
    ),
]
AllowUnusable = Annotated[
    str,
    typer.Option("--allow-unusable", metavar="N|%", help="Rows that may be left out: 12, or 1%."),
]
EngineName = Annotated[str, typer.Option("--engine", help="duckdb, or spark.")]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL", help="With --engine spark: the cluster, for example spark://host:7077."
    ),
]
Memory = Annotated[
    str, typer.Option(help="Memory DuckDB may use before it goes on on disk, for example 4GB.")
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
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress.")]
States = Annotated[bool, typer.Option("--states", help="With the states of the streams shown.")]


@contextmanager
def _open(
    sources: Sequence[str],
    sql: Path | None,
    engine: str,
    master: str | None,
    memory: str,
    quiet: bool,
    references: Sequence[str] | None = None,
    reference: str | None = None,
    references_sql: Path | None = None,
) -> Iterator[tuple[Engine, ReferenceSource]]:
    """The log with its references, closed however the command ends."""
    from streamdecisionbench.logs.references import attach_references
    from streamdecisionbench.logs.score import open_log
    from streamdecisionbench.suite.disk import read_text

    query = None if sql is None else read_text(sql)
    with (
        telling(quiet) as told,
        open_log(
            sources,
            sql=query,
            sql_name=str(sql),
            engine=engine,
            master=master,
            memory=memory,
            told=told,
        ) as opened,
    ):
        yield (
            opened,
            attach_references(
                opened,
                list(references or ()),
                reference,
                sql=None if references_sql is None else read_text(references_sql),
                sql_name=str(references_sql),
                told=told,
            ),
        )


def check(
    sources: Sources,
    sql: Sql = None,
    references: ReferenceTables = None,
    references_sql: ReferencesSql = None,
    reference: Reference = None,
    by: By = None,
    write_mapping: Annotated[
        Path | None,
        typer.Option(
            "--write-mapping",
            metavar="FILE",
            help="Draft a query for --sql from the columns there are, and look through the log with it.",
        ),
    ] = None,
    engine: EngineName = "duckdb",
    master: Master = None,
    memory: Memory = "1GB",
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-logs-check/1.")] = False,
) -> None:
    """Look through a log: columns, streams, references, and rows that cannot be used, by reason.

    Of a table with other columns, what is missing, and a draft of the query that names it.
    """
    from streamdecisionbench.cli.printing import dump, print_tables
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.check import MappingDraft, check_log, draft_mapping
    from streamdecisionbench.logs.schema import ColumnsMissingError
    from streamdecisionbench.logs.score import open_log
    from streamdecisionbench.report.terminal import check_lines, check_tables
    from streamdecisionbench.suite.disk import write_text

    def drafted() -> MappingDraft:
        with open_log(
            sources, engine=engine, master=master, memory=memory, checked=False
        ) as opened:
            return draft_mapping(opened)

    if write_mapping is not None:
        if sql is not None:
            raise InputError("a mapping is given and asked for", fix="leave one of them out")
        if write_mapping.exists():
            raise InputError("is there already", where=write_mapping, fix="name another file")
        draft = drafted()
        write_text(write_mapping, draft.text())
        if draft.missing:
            raise InputError(
                f"is drafted, but no column looks like {', '.join(draft.missing)}",
                where=write_mapping,
                fix="write there which column says it, then use the file with --sql",
            )
        sql = write_mapping
    try:
        log = _open(
            sources, sql, engine, master, memory, quiet, references, reference, references_sql
        )
        with log as (opened, _):
            found = check_log(opened, tuple(by or ()))
    except ColumnsMissingError:
        if sql is None and not as_json:
            typer.echo(drafted().text())
        raise
    if as_json:
        dump(found.to_json())
    else:
        lines = [] if write_mapping is None else [f"{write_mapping}: drafted; correct it."]
        print_tables(check_tables(found), lines=[*lines, *check_lines(found)])
    if found.unusable.rows:
        raise InputError(
            f"{found.unusable.rows} of {found.rows} rows cannot be used", where=found.source
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
    from streamdecisionbench.logs.convert import convert as write
    from streamdecisionbench.report.terminal import console

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
    lines = [f"{out}: {found.rows} decisions of {found.streams} streams, from {found.spans} spans"]
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
    from streamdecisionbench.logs.export import check_name, log_of, write_log

    check_name(out)
    table = log_of(runs, states=states, data=data)
    write_log(table, out)
    typer.echo(f"{out}: {table.num_rows} states of {len(set(table['stream'].to_pylist()))} streams")


def pace(
    sources: Sources,
    sql: Sql = None,
    references: ReferenceTables = None,
    references_sql: ReferencesSql = None,
    reference: Reference = None,
    by: By = None,
    engine: EngineName = "duckdb",
    master: Master = None,
    allow_unusable: AllowUnusable = "0",
    memory: Memory = "1GB",
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-logs-pace/1.")] = False,
    as_csv: Csv = False,
) -> None:
    """How often states and references really change in your streams, with bounds to score over."""
    from streamdecisionbench.cli.printing import dump, print_csv, print_tables, require_one_form
    from streamdecisionbench.logs.pace import log_pace
    from streamdecisionbench.logs.unusable import Allowed
    from streamdecisionbench.report.terminal import pace_tables

    require_one_form(as_json, as_csv)
    allowed = Allowed.read(allow_unusable)
    log = _open(sources, sql, engine, master, memory, quiet, references, reference, references_sql)
    with log as (opened, _):
        found = log_pace(opened, by or (), allowed)
    if as_json:
        dump(found.to_json())
    elif as_csv:
        print_csv(pace_tables(found))
    else:
        print_tables(pace_tables(found))


def score(
    sources: Sources,
    sql: Sql = None,
    references: ReferenceTables = None,
    references_sql: ReferencesSql = None,
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
    from streamdecisionbench.logs.score import csv_rows, score_log
    from streamdecisionbench.report.page.log_page import log_page, streams_on_page
    from streamdecisionbench.report.terminal import difference_lines, log_tables
    from streamdecisionbench.suite.disk import read_text, write_text

    require_one_form(as_json, as_csv)
    if page is not None and page.exists():
        raise InputError("is there already", where=page, fix="remove it, or name another file")
    if states and page is None:
        raise InputError("--states belongs to --page", fix="add --page FILE, or sdb logs show")
    with telling(quiet) as told:
        found = score_log(
            sources,
            by=by or (),
            interval=interval,
            bounds=bounds,
            references=references,
            references_sql=None if references_sql is None else read_text(references_sql),
            references_sql_name=str(references_sql),
            reference=reference,
            sql=None if sql is None else read_text(sql),
            sql_name=str(sql),
            allow_unusable=allow_unusable,
            seed=seed,
            resamples=resamples,
            engine=engine,
            master=master,
            memory=memory,
            costs=costs,
            theta=theta,
            days=page is not None,
            show=None if page is None else streams_on_page(states=states),
            told=told,
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


def show(
    sources: Sources,
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
    sql: Sql = None,
    references: ReferenceTables = None,
    references_sql: ReferencesSql = None,
    reference: Reference = None,
    by: By = None,
    states: States = False,
    engine: EngineName = "duckdb",
    master: Master = None,
    allow_unusable: AllowUnusable = "0",
    memory: Memory = "1GB",
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-logs-show/1.")] = False,
) -> None:
    """Show streams of a log: what was right, what was in force, moment by moment; and what was mixed up.

    Seconds are those of `sdb logs score`: those of all streams add up to it.
    """
    from streamdecisionbench.cli.printing import Heading, dump, print_tables
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.score import score_log, shown_json
    from streamdecisionbench.logs.show import StreamsAsked, mix_asked
    from streamdecisionbench.report.lanes import class_legend, lane_lines
    from streamdecisionbench.report.terminal import console, show_lines, show_tables
    from streamdecisionbench.safe_text import visible
    from streamdecisionbench.suite.disk import read_text

    if stream is not None and (worst, confusion) != (None, None):
        raise InputError(
            "--stream names one stream: --worst and --confusion choose others",
            fix="leave out --stream, or the others",
        )
    with telling(quiet) as told:
        found = score_log(
            sources,
            by=by or (),
            references=references,
            references_sql=None if references_sql is None else read_text(references_sql),
            references_sql_name=str(references_sql),
            reference=reference,
            sql=None if sql is None else read_text(sql),
            sql_name=str(sql),
            allow_unusable=allow_unusable,
            resamples=0,
            engine=engine,
            master=master,
            memory=memory,
            show=StreamsAsked(
                most=worst or 5,
                stream=stream,
                mix=None if confusion is None else mix_asked(*confusion),
                states=states,
            ),
            told=told,
        )
    if as_json:
        dump(shown_json(found))
        return
    print_tables(
        show_tables(found),
        [Heading(found.source, found.signature, found.notes)],
        show_lines(found),
    )
    out = console()
    for one in found.shown.kept:
        title = f"{one.name}: wrong {one.wrong_s:.1f} of {one.judged_s:.1f} judged s"
        for line in ("", visible(title), *lane_lines(one, min(out.width, 120))):
            out.print(line, soft_wrap=len(line) <= out.width)
    out.print(f"\n{class_legend()}")


def suite(
    sources: Sources,
    out: Annotated[Path, typer.Option(help="A fresh folder for the suite.")],
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="python:module:function|column",
            help="What is right, as a function of the state; or the log's column `reference`.",
        ),
    ] = None,
    references: ReferenceTables = None,
    references_sql: ReferencesSql = None,
    questions: QuestionFile = None,
    by: Families = None,
    streams: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="Sessions to take, drawn by a hash of their names."),
    ] = 50,
    sql: Sql = None,
    engine: EngineName = "duckdb",
    master: Master = None,
    allow_unusable: AllowUnusable = "0",
    seed: Seed = 0,
    memory: Memory = "1GB",
    quiet: Quiet = False,
) -> None:
    """Make a suite of logged sessions: the same states at the same times, for any component.

    `sdb run --data DIR` publishes them as they came; everything else works on it as on any suite.
    """
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.suite_of_log import asked_by_file, suite_of_log
    from streamdecisionbench.logs.unusable import Allowed
    from streamdecisionbench.safe_text import visible
    from streamdecisionbench.suite.suite_files import write_suite

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("is not empty", where=out, fix="choose a fresh --out folder")
    allowed = Allowed.read(allow_unusable)
    asked = asked_by_file(questions) if questions is not None else None
    judge = None if reference == "column" else reference
    name = out.resolve().name
    log = _open(sources, sql, engine, master, memory, quiet, references, judge, references_sql)
    with log as (opened, held):
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


def import_log(
    sources: Sources,
    out: Annotated[Path, typer.Option(metavar="RUN", help="A fresh folder for the recording.")],
    reference: Reference = None,
    references: ReferenceTables = None,
    references_sql: ReferencesSql = None,
    questions: QuestionFile = None,
    by: Families = None,
    streams: Annotated[
        int,
        typer.Option(min=1, max=10_000, help="Sessions to take, drawn by a hash of their names."),
    ] = 10_000,
    sql: Sql = None,
    engine: EngineName = "duckdb",
    master: Master = None,
    allow_unusable: AllowUnusable = "0",
    seed: Seed = 0,
    memory: Memory = "1GB",
    quiet: Quiet = False,
) -> None:
    """Make a recording of a log, with its suite in it: for `sdb report`, `diff`, `choose`, `analyze`.

    Sessions whose every state was answered and has a reference; what a log does not have is said.
    """
    from streamdecisionbench.logs.suite_of_log import asked_by_file, not_in_a_log, recording_of_log
    from streamdecisionbench.logs.unusable import Allowed
    from streamdecisionbench.safe_text import visible
    from streamdecisionbench.suite.disk import require_empty

    require_empty(out)
    asked = asked_by_file(questions) if questions is not None else None
    log = _open(sources, sql, engine, master, memory, quiet, references, reference, references_sql)
    with log as (opened, held):
        made = recording_of_log(
            opened,
            held,
            Allowed.read(allow_unusable),
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


def sample(
    sources: Sources,
    out: Annotated[Path, typer.Option(metavar="AUDIT", help="A fresh folder for the audit.")],
    moments: Annotated[
        str, typer.Option(metavar="N|all", help="How many moments; all: every state is asked.")
    ] = "300",
    by: By = None,
    silver: Annotated[
        str | None,
        typer.Option(
            metavar="SILVER",
            help="What seems right: another log or a recording, python:module:function, or column"
            " for the log's own references.",
        ),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Words for questions and options, as JSON."),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="AUDIT", help="An earlier audit; its answers count where states recur."
        ),
    ] = None,
    sql: Sql = None,
    engine: EngineName = "duckdb",
    master: Master = None,
    allow_unusable: AllowUnusable = "0",
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 0,
    memory: Memory = "1GB",
    quiet: Quiet = False,
) -> None:
    """Draw moments of a log that people are to judge, every observed second alike.

    With --silver more of them where it finds the decision in force wrong; what is drawn where is kept, so
    that `sdb logs estimate` corrects for it.
    """
    from streamdecisionbench.audit.labels import AuditFolder, carry_over
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.sample import draw_sample, write_audit
    from streamdecisionbench.logs.suite_of_log import asked_by_file
    from streamdecisionbench.report.terminal import sample_lines
    from streamdecisionbench.safe_text import visible
    from streamdecisionbench.suite.disk import read_text, require_empty

    if moments != "all" and not moments.isdecimal():
        raise InputError(f"--moments {moments} is no number", fix="for example 300, or all")
    require_empty(out)
    earlier = None if answers is None else AuditFolder.open(answers)
    with telling(quiet) as told:
        found, items = draw_sample(
            sources,
            moments=None if moments == "all" else int(moments),
            by=by or (),
            silver=silver,
            asked=asked_by_file(questions) if questions is not None else None,
            sql=None if sql is None else read_text(sql),
            sql_name=str(sql),
            allow_unusable=allow_unusable,
            seed=seed,
            engine=engine,
            master=master,
            memory=memory,
            told=told,
        )
    write_audit(out, found, items)
    for line in (f"{out}: {found.signature}", *sample_lines(found), *found.notes):
        typer.echo(visible(line))
    if earlier is not None:
        for name, count in carry_over(earlier, AuditFolder.open(out)).people.items():
            typer.echo(f"{count} answers of {name} are taken over from {answers}")
    typer.echo(f"next: write {out / 'guide.md'}, then sdb label {out} --as NAME")


def estimate(
    audit: Annotated[Path, typer.Argument(metavar="AUDIT", help="The folder of an audit.")],
    within: Annotated[
        float, typer.Option(metavar="POINTS", help="How many more moments for ± this many points?")
    ] = 2.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the intervals' draws.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-estimate/1.")] = False,
) -> None:
    """What a log is worth, from what people say of the moments that were drawn.

    Also writes AUDIT/references.parquet: what they say is right, state by state.
    """
    from streamdecisionbench.cli.printing import Heading, dump, print_tables
    from streamdecisionbench.logs.estimate import estimate_audit
    from streamdecisionbench.report.terminal import estimate_lines, estimate_tables

    found = estimate_audit(audit, within=within / 100, seed=seed)
    if as_json:
        dump(found.to_json())
        return
    print_tables(
        estimate_tables(found),
        [Heading(str(audit), found.signature, found.notes)],
        estimate_lines(found),
    )


def judge(
    sources: Sources,
    component: Annotated[
        str, typer.Option("--with", metavar="COMPONENT", help="provider:model; `sdb providers`.")
    ],
    out: Annotated[
        Path, typer.Option(metavar="SILVER", help="A new .parquet, .csv or .jsonl file.")
    ],
    audit: Annotated[
        Path | None,
        typer.Option(metavar="AUDIT", help="Only the states that people are asked about."),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Words for questions and options, as JSON.")
    ] = None,
    prompt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Your own instructions for text models.")
    ] = None,
    effort: Annotated[
        str | None, typer.Option(help="Reasoning effort, where there is one.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Another server.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds for one request.")] = 60.0,
    max_in_flight: Annotated[int, typer.Option(help="Requests at once.")] = 16,
    option: Annotated[
        list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help="For the provider.")
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option("--header", metavar="NAME=VALUE", help="For its server.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what was begun.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a paid pass.")] = False,
    sql: Sql = None,
    engine: EngineName = "duckdb",
    master: Master = None,
    allow_unusable: AllowUnusable = "0",
    memory: Memory = "1GB",
    quiet: Quiet = False,
) -> None:
    """Ask a component what is right for every state of a log: silver references.

    As `sdb run` asks: contract, keys, retries, cost, resume, redaction. The result is a log for `sdb logs
    sample --silver`; held against it, others agree or do not.
    """
    from streamdecisionbench.cli.run import confirm, read_instructions
    from streamdecisionbench.components.providers.address_and_key import load
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.logs.export import check_name
    from streamdecisionbench.logs.judge import judge_log
    from streamdecisionbench.logs.suite_of_log import asked_by_file
    from streamdecisionbench.logs.unusable import Allowed
    from streamdecisionbench.recording.progress import choose_progress
    from streamdecisionbench.recording.request import RunRequest, parse_headers, parse_pairs

    check_name(out)
    if audit is not None and questions is not None:
        raise InputError("an audit has its own questions", fix="leave out --questions or --audit")
    load()
    request = RunRequest(
        components={None: component},
        out=out,
        resume=resume,
        efforts={None: effort},
        base_urls={None: base_url},
        timeout_s=timeout,
        max_in_flight=max_in_flight,
        extra=parse_pairs(option or []),
        headers=parse_headers(header or []),
        prompt=None if prompt is None else read_instructions(prompt),
    )
    with _open(sources, sql, engine, master, memory, quiet) as (opened, _):
        found = judge_log(
            opened,
            request,
            out,
            lambda estimates: confirm(estimates, yes=yes),
            audit=audit,
            asked=None if questions is None else asked_by_file(questions),
            allowed=Allowed.read(allow_unusable),
            progress=choose_progress(quiet=quiet, jsonl=False),
        )
    if not found.complete:
        typer.echo(
            f"{found.folder}: {found.reason}; everything answered so far is kept\n"
            "  fix: go on with the same command and --resume",
            err=True,
        )
        raise typer.Exit(130)
    typer.echo(f"{out}: {found.rows} rows, {found.states} states judged by {found.component}")
    if found.without_state:
        typer.echo(f"{found.without_state} rows have no state: nothing is said of them")
    typer.echo("silver: what it says, not what is right; figures held against it are agreement")
    if found.compared:
        typer.echo(
            f"it agrees with people on {found.agreed} of {found.compared} items they answered"
        )


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
    "sample": sample,
    "estimate": estimate,
    "judge": judge,
}
