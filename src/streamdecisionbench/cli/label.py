"""`sdb label`: people say what is right, on a page of this machine, and every answer is on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    from streamdecisionbench.audit.labels import AuditFolder
    from streamdecisionbench.report.label.server import LabelSession
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
    from streamdecisionbench.audit.labels import AuditFolder, export_csv, import_labels

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
        print(f"{csv}: {len(folder.items)} states; fill in answer and by, then --import it")
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

    from streamdecisionbench.audit.export import sheet_of
    from streamdecisionbench.cli.loading import find_scenario, load_suite
    from streamdecisionbench.suite.disk import write_text

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
    from streamdecisionbench.audit.export import items_of
    from streamdecisionbench.audit.labels import ITEMS_FILE, AuditFolder, write_items
    from streamdecisionbench.suite.disk import make_folder, require_empty

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
        from streamdecisionbench.audit.labels import LabelFile
        from streamdecisionbench.report.label.server import LabelSession
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
    from streamdecisionbench.report.label.server import LabelServer

    server = LabelServer(session, told)
    async with listen(server.application(), "127.0.0.1", port) as listening:
        stop = stop_signal()
        typer.echo(f"answer on {listening.url}/?token={server.token} (stop with Ctrl-C)")
        await stop.wait()


COMMANDS = {
    "label": label,
}
