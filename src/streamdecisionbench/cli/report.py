"""`sdb report`: page, text, tables and figures from recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Recording folders.")],
    out: Annotated[Path, typer.Option(help="Fresh folder, or one of an earlier report.")],
    data: Annotated[
        Path | None,
        typer.Option(
            help="Suite folder; the built-in suite or one beside the recording otherwise."
        ),
    ] = None,
    interval: Annotated[
        float, typer.Option(help="Seconds per tick for the fixed-interval figures.")
    ] = 2.0,
    bounds: Annotated[
        tuple[float, float],
        typer.Option(metavar="LOW HIGH", help="Range of intervals to integrate over."),
    ] = (0.5, 8.0),
    pairs: Annotated[bool, typer.Option(help="Compose fast and slow recordings.")] = True,
    formats: Annotated[str, typer.Option(help="Figure formats: svg, png, pdf.")] = "svg,png,pdf",
    prices: Annotated[
        Path | None, typer.Option(help="Price table instead of the built-in one.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Write a report: one page that opens from disk, Markdown, LaTeX and CSV tables, figures."""
    from streamdecisionbench.cli.loading import load, with_sweeps
    from streamdecisionbench.report.figures.figure import parse_formats
    from streamdecisionbench.report.folder import require_usable
    from streamdecisionbench.report.write_report import write_report

    chosen = parse_formats(formats)
    require_usable(out)

    def say(text: str) -> None:
        if not quiet:
            typer.echo(f"… {text}", err=True)

    runs = with_sweeps(runs)
    say(f"reading {len(runs)} recording(s)")
    loaded = load(runs, data)
    written = write_report(
        loaded, out, interval=interval, bounds=bounds, pairs=pairs, formats=chosen, prices=prices, say=say,
    )  # fmt: skip
    typer.echo(f"{out / 'index.html'}: open it in a browser")
    typer.echo(f"{out}: report.md, tables/, figures/, scores.json")
    for note in written.material.notes():
        typer.echo(f"! {note}")


COMMANDS = {
    "report": report,
}
