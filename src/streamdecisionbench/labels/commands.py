"""`sdb label`, and in the group `logs`: draw moments, ask people or a component, estimate the score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.cli.log_options import Quiet, reads_log
from streamdecisionbench.cli.logs_command import By
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_source import LogSource
from streamdecisionbench.text import plural

if TYPE_CHECKING:
    from streamdecisionbench.labels.label_files import AuditFolder
    from streamdecisionbench.labels.label_server import LabelSession
    from streamdecisionbench.suite.scenario import Scenario


def label(
    audit: Annotated[
        Path | None, typer.Argument(help="Folder that `sdb logs sample` has drawn.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Who answers: a file of their own.")
    ] = None,
    overlap: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the states that goes to everybody.")
    ] = 0.2,
    disputes: Annotated[
        bool,
        typer.Option("--disputes", help="Only what people answered differently, to settle it."),
    ] = False,
    import_from: Annotated[
        Path | None,
        typer.Option(
            "--import", metavar="TABLE", help="Take in answers: columns item, answer, by."
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the states for a spreadsheet.")
    ] = None,
    suite: Annotated[
        Path | None, typer.Option(help="A suite folder, to be asked blind; with --scenario.")
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(metavar="ID", help="A scenario, of the built-in suite without --suite."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="With --scenario: where answers go; label-ID otherwise.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes any free one.")
    ] = 0,
) -> None:
    """Ask people what is right, one state at a time, on a page of this machine.

    An answer is on disk before the next state is shown. Going on later starts at the first open state.
    """
    from streamdecisionbench.labels.label_files import (
        AuditFolder,
        export_csv,
        import_labels,
    )

    if (audit is None) == (scenario is None):
        raise InputError(
            "give an audit or a scenario, one of them",
            fix="`sdb label AUDIT --as NAME`, or `sdb label --suite SUITE --scenario ID --as NAME`",
        )
    if scenario is not None:
        if import_from or csv or disputes:
            raise InputError(
                "a scenario is only asked: --import, --csv and --disputes are for audits",
                fix="leave them out",
            )
        _label_scenario(suite, scenario, out, _required(name), port)
        return
    if suite or out:
        raise InputError("--suite and --out go with --scenario", fix="add --scenario ID")
    folder = AuditFolder.open(str(audit))
    if csv is not None:
        export_csv(folder, csv)
        print(
            f"{csv}: {plural(len(folder.items), 'state')}; fill in answer and by, then --import it"
        )
    if import_from is not None:
        for who, count in import_labels(folder, import_from).people.items():
            print(f"{audit}: answers by {who}: {count}")
    if name is not None:
        told = f"You can close this page. What the answers come to: sdb logs estimate {audit}"
        _serve(folder, name, told, port, overlap=overlap, disputes=disputes)
    elif csv is None and import_from is None:
        _required(name)


def _required(name: str | None) -> str:
    if name is None:
        raise InputError("who answers?", fix="add --as NAME: everybody has a file of their own")
    return name


def _label_scenario(
    suite: Path | None, scenario: str, out: Path | None, name: str, port: int
) -> None:
    import json

    from streamdecisionbench.cli.loading import find_scenario, load_suite
    from streamdecisionbench.labels.scenario_labels import sheet_of
    from streamdecisionbench.suite.file_io import write_text

    found = find_scenario(load_suite(suite), scenario)
    folder = _scenario_folder(found, out or Path(f"label-{scenario}"))
    sheet = folder.path / f"{name}.json"

    def write_sheet() -> None:
        answers = folder.read_labels().by_person.get(name, {})
        write_text(sheet, json.dumps(sheet_of(found, answers), indent=1) + "\n")

    told = (
        f"You can close this page. Compare with the references: sdb audit check {scenario} {sheet}"
    )
    _serve(folder, name, told, port, overlap=1.0, when_answered=write_sheet)


def _scenario_folder(scenario: Scenario, path: Path) -> AuditFolder:
    """A fresh folder for a scenario, or the one that was begun for it."""
    from streamdecisionbench.labels.label_files import (
        ITEMS_FILE,
        AuditFolder,
        write_items,
    )
    from streamdecisionbench.labels.scenario_labels import items_of
    from streamdecisionbench.suite.file_io import (
        make_folder,
        require_empty,
    )

    items = items_of(scenario)
    if (path / ITEMS_FILE).is_file():
        folder = AuditFolder.open(path)
        if list(folder.items.values()) != items:
            raise InputError(
                f"holds answers about something else than {scenario.episode_id} as it is now",
                where=path,
                fix="choose another folder with --out",
            )
        return folder
    require_empty(path)
    make_folder(path)
    write_items(path / ITEMS_FILE, items)
    return AuditFolder.open(path)


def _serve(folder: AuditFolder, name: str, told: str, port: int, **how: object) -> None:
    import asyncio

    try:
        from streamdecisionbench.labels.label_files import LabelFile
        from streamdecisionbench.labels.label_server import LabelSession
    except ModuleNotFoundError as error:
        raise InputError(
            f"the page needs {error.name}, which is not installed",
            fix="pip install 'streamdecisionbench[serve]'",
        ) from None
    with LabelFile(folder, name) as file:
        session = LabelSession(folder, file, **how)  # type: ignore[arg-type]
        asyncio.run(_until_stopped(session, told, port))
        print(
            f"answers by {name}: {len(folder.read_labels().by_person.get(name, {}))}, in {file.path}"
        )


async def _until_stopped(session: LabelSession, told: str, port: int) -> None:
    from streamdecisionbench.components.serving.http_server import listen, stop_signal
    from streamdecisionbench.labels.label_server import LabelServer

    server = LabelServer(session, told)
    async with listen(server.application(), "127.0.0.1", port) as listening:
        stop = stop_signal()
        typer.echo(f"answer on {listening.url}/?token={server.token} (stop with Ctrl-C)")
        await stop.wait()


@reads_log(references=False)
def sample(
    source: LogSource,
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
    seed: Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")] = 0,
) -> None:
    """Draw moments of a log that people are to judge, every observed second alike.

    With --silver more of them where it finds the decision in force wrong; what is drawn where is kept, so
    that `sdb logs estimate` corrects for it.
    """
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.labels.label_files import (
        AuditFolder,
        carry_over,
    )
    from streamdecisionbench.labels.label_tables import sample_lines
    from streamdecisionbench.labels.sample import (
        draw_sample,
        write_audit,
    )
    from streamdecisionbench.logs.suite_of_log import asked_by_file
    from streamdecisionbench.suite.file_io import require_empty
    from streamdecisionbench.text import visible

    if moments != "all" and not moments.isdecimal():
        raise InputError(f"--moments {moments} is no number", fix="for example 300, or all")
    require_empty(out)
    earlier = None if answers is None else AuditFolder.open(answers)
    found, items = draw_sample(
        source,
        moments=None if moments == "all" else int(moments),
        by=by or (),
        silver=silver,
        asked=asked_by_file(questions) if questions is not None else None,
        seed=seed,
    )
    write_audit(out, found, items)
    for line in (f"{out}: {found.signature}", *sample_lines(found), *found.notes):
        typer.echo(visible(line))
    if earlier is not None:
        for name, count in carry_over(earlier, AuditFolder.open(out)).people.items():
            typer.echo(f"{plural(count, 'answer')} of {name} taken over from {answers}")
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
    from streamdecisionbench.labels.estimate import estimate_audit
    from streamdecisionbench.labels.label_tables import estimate_lines, estimate_tables

    found = estimate_audit(audit, within=within / 100, seed=seed)
    if as_json:
        dump(found.to_json())
        return
    print_tables(
        estimate_tables(found),
        [Heading(str(audit), found.signature, found.notes)],
        estimate_lines(found),
        whole_in="--json",
    )


@reads_log(references=False)
def judge(
    source: LogSource,
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
    quiet: Quiet = False,
) -> None:
    """Ask a component what is right for every state of a log: silver references.

    As `sdb run` asks: contract, keys, retries, cost, resume, redaction. The result is a log for `sdb logs
    sample --silver`; held against it, others agree or do not.
    """
    from streamdecisionbench.cli.record_options import read_instructions
    from streamdecisionbench.cli.run_command import confirm
    from streamdecisionbench.components.providers.address_and_key import load
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.labels.judge import judge_log
    from streamdecisionbench.logs.log_export import check_name
    from streamdecisionbench.logs.suite_of_log import asked_by_file
    from streamdecisionbench.recording.progress import choose_progress
    from streamdecisionbench.recording.run_options import RunOptions
    from streamdecisionbench.recording.run_request import parse_headers, parse_pairs

    check_name(out)
    if audit is not None and questions is not None:
        raise InputError("an audit has its own questions", fix="leave out --questions or --audit")
    load()
    request = RunOptions.of(
        {None: component},
        out,
        resume=resume,
        efforts={None: effort},
        base_urls={None: base_url},
        timeout_s=timeout,
        max_in_flight=max_in_flight,
        extra=parse_pairs(option or []),
        headers=parse_headers(header or []),
        prompt=None if prompt is None else read_instructions(prompt),
    )
    with source.opened() as (opened, _):
        found = judge_log(
            opened,
            request,
            out,
            lambda estimates: confirm(estimates, yes=yes),
            audit=audit,
            asked=None if questions is None else asked_by_file(questions),
            allowed=source.allowed,
            progress=choose_progress(quiet=quiet, jsonl=False),
        )
    if not found.complete:
        typer.echo(
            f"{found.folder}: {found.reason}; everything answered so far is kept\n"
            "  fix: go on with the same command and --resume",
            err=True,
        )
        raise typer.Exit(130)
    typer.echo(
        f"{out}: {plural(found.rows, 'row')}, {plural(found.states, 'state')} judged by {found.component}"
    )
    if found.without_state:
        typer.echo(
            f"{plural(found.without_state, 'row has', 'rows have')} no state: nothing is said of them"
        )
    typer.echo("silver: what it says, not what is right; figures held against it are agreement")
    if found.compared:
        typer.echo(
            f"it agrees with people on {found.agreed} of {plural(found.compared, 'item')} they answered"
        )


COMMANDS = {
    "label": label,
}
GROUPS = {
    "logs": {
        "sample": sample,
        "estimate": estimate,
        "judge": judge,
    },
}
