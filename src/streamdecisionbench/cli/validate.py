"""`sdb validate`: every violation in a suite, a scenario or a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("validate")(validate)


def validate(
    path: Annotated[
        Path, typer.Argument(help="A suite folder, a scenario file or a recording folder.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(help="For a recording: the suite it was made on."),
    ] = None,
) -> None:
    """Check a suite, a scenario or a recording; name every violation with file and field."""
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
    from streamdecisionbench.recording.writer import RUN_FILE
    from streamdecisionbench.suite.find_suite import find_suite
    from streamdecisionbench.suite.suite_files import MANIFEST_FILE, read_json
    from streamdecisionbench.suite.violations import validate_scenario, validate_suite

    if path.is_dir() and (path / RUN_FILE).exists():
        suite = find_suite(recorded_suite_hash(path), data=data, near=path)
        recording = read_recording(path, suite)
        responses = sum(len(e.responses) for e in recording.episodes.values())
        typer.echo(
            f"{path}: valid recording, {len(recording.episodes)} scenarios, {responses} responses"
        )
        return
    if path.is_dir() and (path / MANIFEST_FILE).exists():
        found = validate_suite(path)
        what = "suite"
    elif path.is_dir() or not path.exists():
        raise InputError(
            f"holds neither {MANIFEST_FILE} nor {RUN_FILE}"
            if path.is_dir()
            else "no such file or folder",
            where=path,
            fix="give a suite folder, a scenario file or a recording folder",
        )
    else:
        found = validate_scenario(read_json(path), path.name)
        what = "scenario"
    for violation in found:
        typer.echo(str(violation), err=True)
    if found:
        raise InputError(f"{len(found)} violation(s)", where=path)
    typer.echo(f"{path}: valid {what}")
