"""`sdb analyze repeats`: passes of one setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from streamdecisionbench.cli.options import (
    DEFAULT_BOUNDS,
    Bounds,
    Csv,
    Data,
    Interval,
    Json,
    Runs,
    Weighting,
)

if TYPE_CHECKING:
    from streamdecisionbench.cli.loading import Subject


def register(app: typer.Typer) -> None:
    app.command("repeats")(repeats)


def repeats(
    runs: Runs,
    data: Data = None,
    interval: Interval = 2.0,
    bounds: Bounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Give mean and range of every headline number over passes of one setting."""
    from streamdecisionbench.analysis.repeats import repeats as analyse
    from streamdecisionbench.analysis.repeats import repeats_table
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import Form, show

    options = {"interval": interval, "bounds": bounds, "weighting": weighting}
    subjects = open_runs(runs, data)
    require_one_suite(subjects)
    found = analyse([s.score(**options) for s in subjects])
    notes = _other_settings(subjects)
    show("repeats", found, [repeats_table(found)], subjects, Form(as_json, as_csv), options, notes)


def _other_settings(subjects: Sequence[Subject]) -> dict[str, str]:
    """Passes repeat one setting; a note for each that does not. Imported ones do not say theirs."""
    asked = {
        s.name: f"{s.recording.config['provider']}:{s.recording.config.get('model')}"
        for s in subjects
        if s.recording.config.get("provider")
    }
    first = next(iter(asked.values()), None)
    return {
        name: f"not a pass of {first} but of {setting}: the range is not one setting's"
        for name, setting in asked.items()
        if setting != first
    }
