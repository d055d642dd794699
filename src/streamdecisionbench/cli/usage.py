"""Help in named groups, `--help --all`, and errors in the use of a command in the style of all others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from streamdecisionbench.errors import InputError
from streamdecisionbench.text import visible

UsageError: Any = typer.BadParameter.__bases__[0]
"""The base of all errors that the parser of the command line raises."""

WIDEST = 120
"""Help is as wide as the terminal, up to this number of columns."""

_ALL = "sdb.help.all"

_PAIR = "use --member fast=provider:model --member slow=provider:model"
_SERVER = "put it into a TOML file and give --server FILE"
_WORLD = "use `sdb world run WORLD COMPONENT …`"
MOVED_OPTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "sdb run": {
        "--fast": ("--member", _PAIR),
        "--slow": ("--member", _PAIR),
        "--fast-effort": ("--member-effort", "use --member-effort fast=EFFORT"),
        "--slow-effort": ("--member-effort", "use --member-effort slow=EFFORT"),
        "--fast-base-url": ("--member-base-url", "use --member-base-url fast=URL"),
        "--slow-base-url": ("--member-base-url", "use --member-base-url slow=URL"),
        **{f"--{name.replace('_', '-')}": (f"the key {name} of --server", _SERVER)
           for name in ("hardware", "revision", "weights_sha256", "hourly_usd")},
        **{f"--{name}": ("`sdb world run`", _WORLD)
           for name in ("world", "seeds", "steps", "wording", "reference", "frames")},
        "--intervals": ("`sdb sweep`", "use `sdb sweep COMPONENT --intervals …`"),
    },
}  # fmt: skip
"""By command, the options that moved: where each is now, and how to use it."""


def note_all(ctx: Any, args: list[str]) -> list[str]:
    """The arguments without `--all`, where it asks for all of the help."""
    asks = "--all" in args and any(name in args for name in ctx.help_option_names)
    if asks and (not hasattr(ctx.command, "commands") or all(a.startswith("-") for a in args)):
        ctx.meta[_ALL] = True
        return [arg for arg in args if arg != "--all"]
    return args


def wants_all(ctx: Any) -> bool:
    return bool(ctx.meta.get(_ALL))


def write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Arguments, then options by group; hidden ones only with `--all`."""
    arguments: list[tuple[str, str]] = []
    groups: dict[str, list[tuple[str, str]]] = {}
    more = 0
    for param in command.get_params(ctx):
        hidden = getattr(param, "hidden", False)
        if hidden and not wants_all(ctx):
            more += 1
            continue
        param.hidden = False
        record = param.get_help_record(ctx)
        param.hidden = hidden
        if record is None:
            continue
        if param.param_type_name == "argument":
            arguments.append(record)
        else:
            groups.setdefault(getattr(param, "rich_help_panel", None) or "", []).append(record)
    rest = groups.pop("", [])
    named = [("Arguments", arguments), *groups.items(), ("Other" if groups else "Options", rest)]
    widest = max((len(record[0]) for _, records in named for record in records), default=0)
    for title, records in named:
        if records:
            with formatter.section(title):
                formatter.write_dl(
                    [(first.ljust(min(widest, 30)), text) for first, text in records]
                )
    if more:
        formatter.write_paragraph()
        formatter.write_text(f"`{ctx.command_path} --help --all` lists {more} more options.")


@contextmanager
def in_our_style(ctx: Any = None) -> Iterator[None]:
    """Turns an error of the parser into one with a fix; `ctx` is the command that is parsed."""
    try:
        yield
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        error.ctx = error.ctx or ctx
        raise as_input_error(error) from None


def as_input_error(error: Any) -> InputError:
    ctx = error.ctx
    command = ctx.command_path if ctx is not None else "sdb"
    listed = f"`{command} --help` lists arguments and options"
    kind, param = type(error).__name__, getattr(error, "param", None)
    if kind == "MissingParameter" and param is not None:
        name, form = _shown(param, ctx)
        return InputError(f"{command} needs {name}", fix=f"add {form}; {listed}")
    if kind == "NoSuchOption":
        return _no_such_option(command, error, listed)
    if kind == "BadOptionUsage":
        return InputError(f"{command}: {_sentence(error)}", fix=listed)
    if param is not None:
        name, _ = _shown(param, ctx)
        return InputError(f"{command}: {name}: {_sentence(error)}", fix=listed)
    return InputError(f"{command}: {_sentence(error)}", fix=listed)


def _no_such_option(command: str, error: Any, listed: str) -> InputError:
    from difflib import get_close_matches

    option = visible(error.option_name)[:40]
    moved = MOVED_OPTIONS.get(command, {}).get(error.option_name)
    if moved is not None:
        return InputError(f"{command} {option} is now {moved[0]}", fix=moved[1])
    known = [name for p in error.ctx.command.params for name in p.opts if name.startswith("--")]
    near = get_close_matches(error.option_name, known, n=2, cutoff=0.7)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return InputError(f"{command} has no option {option}", fix=meant + listed)


def _shown(param: Any, ctx: Any) -> tuple[str, str]:
    """The name of a parameter, and how it is given."""
    metavar = param.make_metavar(ctx).strip("{}[]").removesuffix("...")
    if param.param_type_name == "argument":
        name = (param.metavar or param.name or "").upper()
        return name, name
    return param.opts[0], f"{param.opts[0]} {metavar}"


def _sentence(error: Any) -> str:
    text = visible(error.message).rstrip(".")
    return text[:1].lower() + text[1:]
