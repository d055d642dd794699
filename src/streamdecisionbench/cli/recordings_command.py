"""`sdb validate`, `sdb import`, `sdb merge`: recordings checked, taken from tables, joined."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from streamdecisionbench.errors import InputError
from streamdecisionbench.text import plural


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
    from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
    from streamdecisionbench.recording.run_file import RUN_FILE
    from streamdecisionbench.suite.file_io import read_json
    from streamdecisionbench.suite.suite_check import (
        MANIFEST_FILE,
        validate_scenario,
        validate_suite,
    )
    from streamdecisionbench.suite.suite_files import find_suite

    if path.is_dir() and (path / RUN_FILE).exists():
        suite = find_suite(recorded_suite_hash(path), data=data, near=path)
        recording = read_recording(path, suite)
        responses = sum(len(e.responses) for e in recording.episodes.values())
        typer.echo(
            f"{path}: valid recording, {plural(len(recording.episodes), 'scenario')}, {plural(responses, 'response')}"
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


def import_tables(
    tables: Annotated[
        list[Path], typer.Argument(metavar="TABLE...", help="CSV files, one per recording.")
    ],
    reference: Annotated[Path, typer.Option(help="The table whose decisions are the reference.")],
    out: Annotated[Path, typer.Option(help="A fresh folder for the suite and the recordings.")],
    correct: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCENARIO:STEP=STEP", help="Where the reference is that of another step."
        ),
    ] = None,
) -> None:
    """Turn published tables (one row per response) into a suite and recordings."""
    from streamdecisionbench.recording.published_tables import Correction
    from streamdecisionbench.recording.published_tables import import_tables as run

    corrections = [Correction.parse(text) for text in correct or []]
    suite, folders = run(reference, tables, out, corrections=corrections)
    typer.echo(
        f"{out / 'suite'}: {plural(len(suite.scenarios), 'scenario')}, references from {reference.name}"
    )
    for folder in folders:
        typer.echo(f"{folder}: recording")


def merge(
    recordings: Annotated[list[Path], typer.Argument(help="Recordings of one setting.")],
    out: Annotated[Path, typer.Option(help="Fresh folder for the joined recording.")],
    data: Annotated[
        Path | None, typer.Option(help="Suite folder, to check meanings as well.")
    ] = None,
) -> None:
    """Join recordings of one setting that cover different scenarios; sweeps condition by condition."""
    from streamdecisionbench.recording.merge import merge as join
    from streamdecisionbench.recording.merge import merge_sweeps
    from streamdecisionbench.recording.reader import conditions_in
    from streamdecisionbench.suite.suite_files import read_suite

    suite = read_suite(data) if data else None
    if recordings and all(conditions_in(folder) for folder in recordings):
        for name, joined in merge_sweeps(recordings, out, suite).items():
            _tell(out / name, joined)
    else:
        _tell(out, join(recordings, out, suite))


def _tell(out: Path, joined: dict[str, Any]) -> None:
    covered = joined["config"]["scenarios"]
    typer.echo(
        f"{out}: {plural(len(covered), 'scenario')}, {plural(joined['summary']['responses'], 'response')}"
    )
    served = {model for part in joined["parts"] for model in part["served_models"]}
    if any(set(part["served_models"]) != served for part in joined["parts"]):
        typer.echo(f"note: the parts were served by different models: {', '.join(sorted(served))}")
    missing = len(joined["dataset_manifest"]["episodes"]) - len(covered)
    if missing:
        typer.echo(
            f"note: {plural(missing, 'scenario of the suite is', 'scenarios of the suite are')} in none of the parts"
        )


COMMANDS = {
    "validate": validate,
    "import": import_tables,
    "merge": merge,
}
