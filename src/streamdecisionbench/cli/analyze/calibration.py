"""`sdb analyze calibration`: how far confidence can be trusted while a decision is in force."""

from __future__ import annotations

from typing import Annotated

import typer

from streamdecisionbench.cli.options import Csv, Data, Interval, Json, Runs


def register(app: typer.Typer) -> None:
    app.command("calibration")(calibration)


def calibration(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    compose: Annotated[str, typer.Option(help="Of a decision's answers: min or product.")] = "min",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Compare the confidence of the decision in force with how long it is right."""
    from streamdecisionbench.analysis.calibration import calibration as analyse
    from streamdecisionbench.analysis.calibration import calibration_tables
    from streamdecisionbench.cli.loading import open_runs
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.policy_file import COMPOSES
    from streamdecisionbench.scoring.bounds import check_interval
    from streamdecisionbench.scoring.policies.read_answers import answers_of

    check_interval(interval)
    if compose not in COMPOSES:
        raise InputError(f"--compose {compose!r} is not known", fix=f"use {' or '.join(COMPOSES)}")
    subjects = open_runs(runs, data)
    found = {s.name: analyse(answers_of(s.recording, s.suite), interval, compose) for s in subjects}
    options = {"interval": interval, "compose": compose}
    show("calibration", found, calibration_tables(found), subjects, Form(as_json, as_csv), options)
