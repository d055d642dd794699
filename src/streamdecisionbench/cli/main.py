"""The command `sdb`: parse, call, print. Every command lives in a module of its own."""

from __future__ import annotations

import sys

import typer

from streamdecisionbench.errors import SdbError

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
    from streamdecisionbench.cli import commands

    commands.register(app)
    try:
        app()
    except SdbError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)


if __name__ == "__main__":
    main()
