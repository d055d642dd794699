"""`sdb report`: page, text, tables and figures from recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.options import AllowImport, Data, IntegrateBounds, Runs
from streamdecisionbench.kernel.paces import DEFAULT_BOUNDS


def report(
    runs: Runs,
    out: Annotated[Path, typer.Option(help="Fresh folder, or one of an earlier report.")],
    data: Data = None,
    interval: Annotated[
        float | None,
        typer.Option(
            help="Seconds per tick for the fixed-interval figures; 2, or a world's own pace."
        ),
    ] = None,
    bounds: IntegrateBounds = DEFAULT_BOUNDS,
    pairs: Annotated[bool, typer.Option(help="Compose fast and slow recordings.")] = True,
    corrector: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Draw every pair with this slow component; the slowest if none."
        ),
    ] = None,
    best_pairs: Annotated[
        bool, typer.Option("--best-pairs", help="Draw the pairs that score best instead.")
    ] = False,
    window: Annotated[
        str | None, typer.Option(metavar="SCENARIO", help="Where the trajectory's window is found.")
    ] = None,
    formats: Annotated[str, typer.Option(help="Figure formats: svg, png, pdf.")] = "svg,png,pdf",
    prices: Annotated[
        Path | None, typer.Option(help="Price table instead of the built-in one.")
    ] = None,
    allow_import: AllowImport = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Write a report: one page that opens from disk, Markdown, LaTeX and CSV tables, figures."""
    from streamdecisionbench.cli.loading import load, with_sweeps
    from streamdecisionbench.render.output_folder import require_usable
    from streamdecisionbench.report.figures.figure import parse_formats
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
        loaded, out, interval=interval, bounds=bounds, pairs=pairs, corrector=corrector,
        best_pairs=best_pairs, window=window, formats=chosen, prices=prices, allowed=allow_import or (),
        say=say,
    )  # fmt: skip
    typer.echo(f"{out / 'index.html'}: open it in a browser")
    typer.echo(f"{out}: report.md, tables/, figures/, scores.json")
    for note in written.material.notes():
        typer.echo(f"! {note}")


COMMANDS = {
    "report": report,
}
