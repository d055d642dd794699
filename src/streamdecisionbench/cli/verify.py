"""`sdb verify`: score a bundle again and see whether it holds what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("verify")(verify)


def verify(
    bundles: Annotated[list[Path], typer.Argument(metavar="FILE", help="Bundles.")],
) -> None:
    """Score every recording of a bundle again; refuse what does not match."""
    from streamdecisionbench.analysis.bundles.verify import open_bundle
    from streamdecisionbench.report.terminal.scores import console

    out = console()
    for path in bundles:
        found = open_bundle(path)
        out.print(
            f"{path}: verified, {len(found.recordings)} recording(s) of suite"
            f" {found.suite.dataset_hash[:12]}, scored again and equal",
            markup=False, highlight=False, soft_wrap=True,
        )  # fmt: skip
        for entry in found.contents.recordings:
            marks = [
                name
                for name, on in (
                    ("simulation", entry.simulated),
                    ("virtual clock", entry.virtual_clock),
                )
                if on
            ]
            label = f" ({', '.join(marks)})" if marks else ""
            auc = 100 * float(entry.score["overall"]["log_auc"])
            out.print(f"  {auc:5.1f}  {entry.name}{label}", markup=False, highlight=False)
