"""`sdb demo`: from a server to a report in two minutes, without a key and without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(
    out: Annotated[Path, typer.Option(help="Folder for recordings and report.")] = Path("demo"),
    interval: Annotated[
        float, typer.Option(help="Seconds per tick while recording; any pace can be scored.")
    ] = 0.25,
    data: Annotated[Path | None, typer.Option(help="Suite folder (default: SDB v1).")] = None,
    formats: Annotated[str, typer.Option(help="Figure formats: svg, png, pdf.")] = "svg,png",
) -> None:
    """Record three simulated components and a baseline in real time, pair them, write the report."""
    from streamdecisionbench.cli import demoing

    demoing.run(out, interval=interval, data=data, formats=formats)
