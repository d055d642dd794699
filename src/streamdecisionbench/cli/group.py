"""How a list of modules becomes commands."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from streamdecisionbench.errors import InputError

__all__ = ["OnceEach", "WholeSummaries", "add_group", "group_of"]


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


class WhenAsked(Mapping[str, Any]):
    """Commands by the name they are typed with; a module is read when its command is asked for.

    Every module is named as its command is typed and has `register(app)`. They import nothing heavy
    at the top: `sdb --help` reads them all and stays fast, and a command reads only its own.
    """

    def __init__(self, package: str, modules: Iterable[str]) -> None:
        self._package = package
        self._modules = {_typed(module): module for module in modules}
        self._read: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._read:
            alone = typer.Typer(rich_markup_mode=None)
            importlib.import_module(f"{self._package}.{self._modules[name]}").register(alone)
            for command in alone.registered_commands:
                command.cls = OnceEach
            self._read[name] = typer.main.get_group(alone).commands[name]
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


def group_of(package: str, modules: Iterable[str]) -> type[WholeSummaries]:
    """What typer is to make of a folder of commands."""

    class Group(WholeSummaries):
        def __init__(self, **how: Any) -> None:
            super().__init__(**how)
            self.commands = cast(Any, WhenAsked(package, modules))  # read, never added to

    return Group


def add_group(app: typer.Typer, package: str, modules: Iterable[str], *, text: str) -> None:
    """A folder of commands, named as it is typed, with one sentence that fits `sdb --help`."""
    commands = group_of(package, modules)
    group = typer.Typer(cls=commands, help=text, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name=package.rpartition(".")[2])


def _typed(module: str) -> str:
    """The word that is typed for a module's command.

    >>> _typed("import_"), _typed("cost_of_error")
    ('import', 'cost-of-error')
    """
    return module.rstrip("_").replace("_", "-")


def _sentence(text: str | None) -> str:
    """The first sentence of a command's help, on one line.

    >>> _sentence("Score recordings.\\n\\nOne gives a screen.")
    'Score recordings.'
    """
    first = " ".join((text or "").strip().split("\n\n")[0].split())
    return first.split(". ")[0].rstrip(".") + "." if first else ""
