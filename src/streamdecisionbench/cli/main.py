"""The command `sdb`: parse, call, print. Every command lives in a module of its own."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from streamdecisionbench.cli.group import group_of
from streamdecisionbench.cli.harmless import harmless
from streamdecisionbench.errors import SdbError
from streamdecisionbench.plain_text import PLAIN_ERRORS, visible

MODULES: tuple[str, ...] = (
    "score", "validate", "import_", "suite", "run", "watch", "merge", "serve", "providers", "audit", "compose",
    "policy", "logs", "analyze", "choose", "gate", "diff", "bundle", "verify", "board", "report", "demo",
)  # fmt: skip
"""In the order `sdb --help` lists them."""

app = typer.Typer(
    name="sdb",
    cls=group_of("streamdecisionbench.cli", MODULES),
    help="StreamDecisionBench: how much of the time is the decision in force right?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

INTERRUPTED = 130
"""What a shell expects of a process that Ctrl-C ended."""

_FIXES = {
    errno.ENOSPC: "make room on that disk, then run the command again",
    errno.EDQUOT: "make room within your quota, then run the command again",
    errno.EFBIG: "raise the limit on file sizes, or choose another place",
    errno.EACCES: "choose a place you may use, or change its permissions",
    errno.EPERM: "choose a place you may use, or change its permissions",
    errno.EROFS: "choose a place that can be written",
    errno.ENOENT: "check the name",
    errno.EISDIR: "name a file, not a folder",
    errno.ENOTDIR: "one part of that path is a file; choose another",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
}


def main() -> None:
    """Runs the command line; an error of the user's is one message and exit code 2."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us: nobody is listening
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN_ERRORS)
    sys.stdout = harmless(sys.stdout)
    try:
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = _run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


def _run() -> int:
    """The command and the last of its output; what can go wrong with either is told."""
    code: int | str | None = 0
    try:
        try:
            _command()()
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
    except SdbError as error:
        return _tell(str(error), error.exit_code)
    except BrokenPipeError:
        return _unheard(0)
    except OSError as error:
        # A file that cannot be read, made or written where no command says more about it.
        what = error.strerror or type(error).__name__
        fix = _FIXES.get(error.errno or 0)
        where = error.filename if error.filename is not None else _output_at_fault(error)
        said = f"{os.fsdecode(where)}: {what}" if isinstance(where, str | bytes) else what
        return _tell(f"{said}\n  fix: {fix}" if fix else said, SdbError.exit_code)
    except RecursionError:
        return _tell("the input is nested too deeply\n  fix: make it flatter", SdbError.exit_code)
    return code if isinstance(code, int) else int(code is not None)


@cache
def _command() -> Callable[[], object]:
    """Made once: whoever calls `main` again waits for the command alone."""
    return typer.main.get_command(app)


def _tell(message: str, code: int) -> int:
    with contextlib.suppress(OSError):
        print(f"error: {visible(message, lines=True)}", file=sys.stderr)
    return code


def _output_at_fault(error: OSError) -> str | None:
    """Standard output, where it was printing that failed: files are named where they are written."""
    home = Path(__file__).parent.parent
    frames = [Path(frame.f_code.co_filename) for frame, _ in traceback.walk_tb(error.__traceback__)]
    ours = [f.relative_to(home) for f in frames if f.is_relative_to(home)]
    if ours and ours[-1].parts[0] == "cli":
        _unheard(0)
        return "standard output"
    return None


def _unheard(code: int) -> int:
    """Whoever read our output is gone: what is left of it must not fail again at the very end."""
    with contextlib.suppress(OSError):
        sys.stdout.close()
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    return code


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
