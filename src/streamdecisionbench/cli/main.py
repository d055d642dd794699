"""The command `sdb`: parse, call, print. Every command lives in a module of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.group import add_commands
from streamdecisionbench.errors import SdbError

MODULES: tuple[str, ...] = (
    "score", "validate", "import_", "suite", "run", "watch", "merge", "serve", "providers", "audit", "compose",
    "policy", "logs", "analyze", "choose", "gate", "diff", "bundle", "verify", "board", "report", "demo",
)  # fmt: skip
"""In the order `sdb --help` lists them."""

app = typer.Typer(
    name="sdb",
    help="StreamDecisionBench: how much of the time is the decision in force right?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Runs the command line; an error of the user's is one message and exit code 2."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us: nobody is listening
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    if not app.registered_commands:
        add_commands(app, "streamdecisionbench.cli", MODULES)
    try:
        app()
    except SdbError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        # A file that cannot be read, made or written where no command says more about it.
        what = error.strerror or type(error).__name__
        print(
            f"error: {error.filename}: {what}" if error.filename else f"error: {what}",
            file=sys.stderr,
        )
        sys.exit(SdbError.exit_code)


def _show_version(wanted: bool) -> None:
    if wanted:
        from streamdecisionbench._version import __version__

        typer.echo(f"sdb {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


if __name__ == "__main__":
    main()
