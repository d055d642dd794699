"""`sdb analyze baselines`: policies that read no rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import Csv, Json


def register(app: typer.Typer) -> None:
    app.command("baselines")(baselines)


def baselines(
    data: Annotated[
        Path | None, typer.Option(help="Suite folder; the built-in suite if none.")
    ] = None,
    as_json: Json = False,
    as_csv: Csv = False,
) -> None:
    """Score policies that read no rules: first option, lexical overlap, best constant."""
    from streamdecisionbench.analysis.baselines import baselines as analyse
    from streamdecisionbench.analysis.baselines import baselines_table
    from streamdecisionbench.cli.printing import Form, show
    from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

    suite = read_suite(data or builtin_suite_path())
    found = analyse(suite)
    options = {"suite": suite.name, "dataset_hash": suite.dataset_hash}
    show(
        "baselines", found, [baselines_table(found, suite.name)], [], Form(as_json, as_csv), options
    )
