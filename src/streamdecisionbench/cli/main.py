"""The command `sdb`: which module holds a command, and what every command shares.

A command is parsed, called and printed by a module of its own or of its group. Here its errors become one
message and an exit code, and its output is made harmless: titles, answers, names of models and evidence
come from files and servers, so a control sequence in them is shown, not obeyed.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import IO, Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from streamdecisionbench import features
from streamdecisionbench.cli.usage import WIDEST, in_our_style, note_all, wants_all, write_options
from streamdecisionbench.errors import InputError, SdbError
from streamdecisionbench.text import (
    PLAIN_ERRORS,
    visible,
)

JOBS = {
    "My model": {
        "demo": "report.demo", "run": "cli.run_command", "sweep": "cli.run_command", "world": "worlds.commands", "score": "cli.score_command", "report": "report.commands", "choose": "cli.choose_command",
        "compose": "cli.compose_command", "providers": "cli.providers_command",
    },
    "My logs": {"logs": "cli.logs_command", "label": "labels.commands"},
    "My CI": {"gate": "gate.commands", "diff": "gate.commands"},
    "My service": {"policy": "cli.policy_command", "watch": "watch.commands", "serve": "cli.serve_command"},
    "Suites and authors": {"suite": "cli.suite_command", "audit": "audit.commands", "validate": "cli.recordings_command"},
    "The paper's analyses": {
        "analyze": "cli.analyze_command", "import": "cli.recordings_command", "merge": "cli.recordings_command",
        "share": "sharing.commands",
    },
}  # fmt: skip
"""The commands that `sdb --help` lists, by job, with the module of each. Commands of a feature that is
not installed are left out. A feature adds commands to a group of the core with `GROUPS` in its module
`commands`: {group: {command: function}}."""
COMMON = (
    "demo",
    "run",
    "score",
    "report",
    "choose",
    "compose",
    "logs",
    "label",
    "gate",
    "watch",
    "suite",
)
"""The commands that `sdb --help` lists without `--all`."""
MODULES = {name: module for commands in JOBS.values() for name, module in commands.items()}
MOVED = {
    "policy search": "choose --frontier",
    "bundle": "share bundle",
    "verify": "share verify",
    "board": "share board",
}
"""Commands by their old name, and where they are now."""
_MEANT = {
    "describe": ("suite stats", "suite show"), "record": ("run",), "compare": ("diff", "gate"),
    "evaluate": ("score",), "eval": ("score",), "metrics": ("score",), "summary": ("score",),
    "ls": ("suite list", "providers"), "models": ("providers",), "view": ("watch",), "open": ("watch",),
    "annotate": ("label",), "leaderboard": ("share board",), "recommend": ("choose",), "pair": ("compose",),
    "page": ("report",), "ci": ("gate",), "new": ("suite generate",), "create": ("suite generate",),
}  # fmt: skip
"""What people type who mean one of ours."""
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
_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")
_LAYOUT = re.compile(r"([\n\r\t]+)")


class OnceEach(TyperCommand):
    """A command that refuses an option given twice where only the last would count."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        write_options(self, ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        args = note_all(ctx, args)
        try:
            _, _, given = self.make_parser(ctx).parse_args(list(args))
        except Exception:  # told by the parser itself, in its own words
            given = []
        seen = set()
        for option in given:
            if option in seen and not getattr(option, "multiple", True) and option.opts:
                raise InputError(
                    f"{option.opts[0]} is given twice", fix="give it once: only one could count"
                )
            seen.add(option)
        with in_our_style(ctx):
            return super().parse_args(ctx, args)


class WholeSummaries(TyperGroup):
    """A group whose commands are listed with their whole first sentence, with hints for a wrong name.

    Commands that features add to it are loaded when they are asked for: other commands start as fast
    as without them.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            self._load_added()
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        self._load_added()
        return super().list_commands(ctx)

    def _load_added(self) -> None:
        added = {k: f for k, f in _added_to(self.name or "").items() if k not in self.commands}
        if added:
            self.commands |= _group(added, None, "").commands

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        group = " ".join(ctx.command_path.split()[1:])
        if (moved := MOVED.get(f"{group} {name}".strip())) is not None:
            raise InputError(
                f"`{ctx.command_path} {name}` is now `sdb {moved}`", fix=f"type `sdb {moved}`"
            )
        meant = _meant(group, name)
        listed = f"`{ctx.command_path} --help` lists what there is"
        raise InputError(
            f"{ctx.command_path} has no command {visible(name)[:40]!r}",
            fix=f"did you mean {' or '.join(f'`sdb {one}`' for one in meant)}? {listed}"
            if meant
            else listed,
        )

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        named = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        listed = [(name, command) for name, command in named if command and not command.hidden]
        if listed:
            with formatter.section("Commands"):
                formatter.write_dl([(name, _sentence(command.help)) for name, command in listed])


class _Sdb(WholeSummaries):
    """Commands by the name they are typed with; a module is read when its command is asked for.

    A module holds its commands as `COMMANDS`; one that also says what they have in common (`HELP`)
    is a group of that name. They import nothing heavy at the top: `sdb --help` reads them all and
    stays fast, and a command reads only its own.
    """

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.commands = cast(Any, dict.fromkeys(MODULES))

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name in MODULES if _read(name)[0]]

    def make_context(self, *how: Any, **more: Any) -> Any:
        with in_our_style():
            return super().make_context(*how, **more)

    def invoke(self, ctx: Any) -> Any:
        with in_our_style():
            return super().invoke(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, note_all(ctx, args))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in MODULES and self.commands[cmd_name] is None:
            functions, help_ = _read(cmd_name)
            if not functions:
                return None
            own = functions if help_ is not None else {cmd_name: functions[cmd_name]}
            group = _group(own, help_, cmd_name)
            self.commands[cmd_name] = group.commands[cmd_name] if help_ is None else group
        return self.commands.get(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """From what modules say: making every command of every group would take as long as all else."""
        wanted = [name for name in MODULES if name in COMMON or wants_all(ctx)]
        longest = max(map(len, MODULES))
        for job, commands in JOBS.items():
            listed = [
                (name.ljust(longest), _sentence(help_ or functions[name].__doc__))
                for name in commands
                if name in wanted
                for functions, help_ in [_read(name)]
                if functions
            ]
            if listed:
                with formatter.section(job):
                    formatter.write_dl(listed)
        if not wants_all(ctx):
            formatter.write_paragraph()
            formatter.write_text("`sdb --help --all` lists all commands.")


def _meant(group: str, name: str) -> list[str]:
    """Commands with a similar name: of the group first, then of the same name, then of others.

    >>> _meant("logs", "label"), _meant("suite", "describe"), _meant("", "scroe")
    (['label'], ['suite stats', 'suite show'], ['score'])
    """
    from difflib import get_close_matches

    every: dict[str, list[str]] = {}
    inside: dict[str, list[str]] = {}
    for command in MODULES:
        functions, help_ = _read(command)
        if functions:
            every[command] = [command]
        for typed in (*functions, *_added_to(command)) if help_ is not None else ():
            inside.setdefault(typed, []).append(f"{command} {typed}")
    own = {
        typed: full
        for typed, places in inside.items()
        for full in places
        if full == f"{group} {typed}"
    }
    close = get_close_matches(name, own, n=1, cutoff=0.75)
    if close:
        return [own[close[0]]]
    same = every.get(name, []) + inside.get(name, []) + list(_MEANT.get(name, ()))
    if same:
        return sorted(same, key=lambda one: not one.startswith(f"{group} "))[:2]
    known = {**inside, **every}
    return [
        full for one in get_close_matches(name, known, n=2, cutoff=0.7) for full in known[one][:1]
    ]


def _read(name: str) -> tuple[Mapping[str, Callable[..., None]], str | None]:
    """The functions of a command's module, and the help they share where it is a group.

    No function if the module is of a feature that is not installed.
    """
    module = features.load(MODULES[name])
    if module is None:
        return {}, None
    help_ = getattr(module, "HELP", None)
    return module.COMMANDS, help_


def functions_of(name: str) -> dict[str, Callable[..., None]]:
    """The functions of a command's module; of a group also those that features add to it."""
    functions, help_ = _read(name)
    return {**functions, **(_added_to(name) if help_ is not None else {})}


def _added_to(group: str) -> dict[str, Callable[..., None]]:
    """The commands that features add to a group of the core."""
    found: dict[str, Callable[..., None]] = {}
    for feature in features.FEATURES:
        found |= getattr(features.load(f"{feature}.commands"), "GROUPS", {}).get(group, {})
    return found


def _group(functions: Mapping[str, Callable[..., None]], help_: str | None, name: str) -> Any:
    group = typer.Typer(
        name=name, cls=WholeSummaries, help=help_, no_args_is_help=True, rich_markup_mode=None
    )
    for typed, function in functions.items():
        group.command(typed, cls=OnceEach)(function)
    return typer.main.get_group(group)


def _sentence(text: str | None) -> str:
    """The first sentence of a command's help, on one line.

    >>> _sentence("Score recordings.\\n\\nOne gives a screen.")
    'Score recordings.'
    """
    first = " ".join((text or "").strip().split("\n\n")[0].split())
    return first.split(". ")[0].rstrip(".") + "." if first else ""


class PipeSafeStream:
    """A text stream that may lose its reader (`sdb gate … | head`): a command still ends with its own word."""

    def __init__(self, stream: IO[str]) -> None:
        self.inner = stream

    def write(self, text: str) -> int:
        with self._heard_or_not():
            self.inner.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        with self._heard_or_not():
            self.inner.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    @contextlib.contextmanager
    def _heard_or_not(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            # Also what is left in buffers goes nowhere, or it would fail again at the very end.
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
            with contextlib.suppress(OSError):
                os.dup2(nowhere.fileno(), self.inner.fileno())
            self.inner = nowhere


class SanitizedStream(PipeSafeStream):
    """The same, and `write` shows control characters instead of passing them on."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(stream)
        self._in_colour = stream.isatty()

    def write(self, text: str) -> int:
        super().write(self._shown(text))
        return len(text)

    def _shown(self, text: str) -> str:
        if text.isprintable():
            return text
        parts = _COLOUR.split(text) if self._in_colour else [text]
        return "".join(
            part if k % 2 else "".join(
                piece if j % 2 else visible(piece) for j, piece in enumerate(_LAYOUT.split(part))
            )
            for k, part in enumerate(parts)
        )  # fmt: skip


app = typer.Typer(
    name="sdb",
    cls=_Sdb,
    help="StreamDecisionBench: how much of the time is the decision in force right?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
)


def main() -> None:
    """Runs the command line; an error of the user's is one message and exit code 2."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us: nobody is listening
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN_ERRORS)
    if not isinstance(sys.stdout, PipeSafeStream):
        sys.stdout = SanitizedStream(sys.stdout)
    if not isinstance(sys.stderr, PipeSafeStream):
        sys.stderr = PipeSafeStream(sys.stderr)
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
            _command()(prog_name="sdb")
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
    except SdbError as error:
        return _tell(str(error), error.exit_code)
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
def _command() -> Callable[..., object]:
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
        _unheard()
        return "standard output"
    return None


def _unheard() -> None:
    """Whoever read our output is gone: what is left of it must not fail again at the very end."""
    with contextlib.suppress(OSError):
        sys.stdout.close()
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


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
