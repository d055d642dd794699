"""How a list of modules becomes commands."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from streamdecisionbench.errors import InputError

__all__ = ["OnceEach", "WholeSummaries", "add_commands", "add_group"]


class OnceEach(TyperCommand):
    """A command that refuses an option given twice where only the last would count."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
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
        return super().parse_args(ctx, args)


class WholeSummaries(TyperGroup):
    """A list of commands whose first sentences are wrapped, not cut."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        named = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        listed = [(name, command) for name, command in named if command and not command.hidden]
        if listed:
            with formatter.section("Commands"):
                formatter.write_dl([(name, _sentence(command.help)) for name, command in listed])


def add_commands(app: typer.Typer, package: str, modules: Iterable[str]) -> None:
    """Every module is named as its command is typed and has `register(app)`.

    Modules import nothing heavy at the top: `sdb --help` reads them all and stays fast.
    """
    for name in modules:
        importlib.import_module(f"{package}.{name}").register(app)
    for command in app.registered_commands:
        command.cls = OnceEach


def add_group(app: typer.Typer, package: str, modules: Iterable[str], *, text: str) -> None:
    """A folder of commands, named as it is typed, with one sentence that fits `sdb --help`."""
    group = typer.Typer(cls=WholeSummaries, help=text, no_args_is_help=True, rich_markup_mode=None)
    add_commands(group, package, modules)
    app.add_typer(group, name=package.rpartition(".")[2])


def _sentence(text: str | None) -> str:
    """The first sentence of a command's help, on one line.

    >>> _sentence("Score recordings.\\n\\nOne gives a screen.")
    'Score recordings.'
    """
    first = " ".join((text or "").strip().split("\n\n")[0].split())
    return first.split(". ")[0].rstrip(".") + "." if first else ""
