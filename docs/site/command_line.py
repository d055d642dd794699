"""Write docs/reference/command-line.md from the commands themselves.

    python docs/site/command_line.py

`tests/docs/test_command_line.py` fails while the page differs from the commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "reference" / "command-line.md"
INTRO = """# Command line

`docs/site/command_line.py` generates this page from the commands. `sdb COMMAND --help` prints the same text.

## Conventions

- Recordings, logs and suites are given as paths. Without `--data`, a command uses the suite of the recording or the built-in one.
- `--json` prints one JSON document at full precision; [formats](formats.md#json-output) lists the keys. `--csv` prints raw values.
- Results go to standard output. Progress, notes and errors go to standard error.
- An error is printed as `error: …` followed by `fix: …`.

| exit code | meaning |
|---|---|
| 0 | success; for the gate also pass, and inconclusive without `--strict` |
| 1 | a check failed: the gate, an audit's answer sheet, the learned probe |
| 2 | bad input, or a run that stopped |
| 3 | the gate is inconclusive, with `--strict` |
| 130 | interrupted with Ctrl-C |
"""


def command_line() -> str:
    """The whole page.

    >>> "## sdb score" in command_line()
    True
    """
    return INTRO + "".join(_entry(path, command) for path, command in _commands("sdb", _root()))


def _root() -> Any:
    import typer

    from streamdecisionbench.cli.main import app

    return typer.main.get_command(app)


def _commands(path: str, group: Any) -> Iterator[tuple[str, Any]]:
    """Every command below a group, in the order of its help, the group before its commands."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if command is None or command.hidden:
            continue
        yield f"{path} {name}", command
        if hasattr(command, "list_commands"):
            yield from _commands(f"{path} {name}", command)


def _entry(path: str, command: Any) -> str:
    level = "#" * min(path.count(" ") + 1, 3)
    lines = [f"\n{level} {path}\n", _text(command.help)]
    if not hasattr(command, "list_commands"):
        arguments = [param for param in command.params if param.param_type_name == "argument"]
        options = [
            param
            for param in command.params
            if param.param_type_name == "option" and "--help" not in param.opts
        ]
        lines += _rows("argument", [(_argument(each), each) for each in arguments])
        lines += _rows("option", [(_option(each), each) for each in options])
    return "\n".join(lines) + "\n"


def _rows(kind: str, params: list[tuple[str, Any]]) -> list[str]:
    if not params:
        return []
    rows = [f"| `{name}` | {_cell(param)} |" for name, param in params]
    return ["", f"| {kind} | |", "|---|---|", *rows]


def _argument(param: Any) -> str:
    name = param.metavar or param.name.upper()
    return f"{name} …" if param.nargs == -1 else name


def _option(param: Any) -> str:
    names = sorted((*param.opts, *param.secondary_opts), key=lambda name: not name.startswith("--"))
    if param.is_flag:
        return ", ".join(names)
    choices = getattr(param.type, "choices", None)
    value = param.metavar or ("/".join(map(str, choices)) if choices else param.type.name.upper())
    return f"{', '.join(names)} {value}"


def _cell(param: Any) -> str:
    text = _text(getattr(param, "help", None)).replace("\n", " ").replace("|", "\\|")
    default = param.default
    if param.is_flag if hasattr(param, "is_flag") else False:
        default = None
    shown = default is not None and not callable(default) and default not in ("", (), [])
    if not shown:
        return text
    value = " ".join(map(str, default)) if isinstance(default, tuple | list) else str(default)
    return f"{text} Default: {value}."


def _text(text: str | None) -> str:
    """Help as Markdown: commands in bold, because the tests of the documentation run code spans."""
    paragraphs = (text or "").replace("\b", "").strip().split("\n\n")
    joined = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    return re.sub(r"`((?:sdb|make|pip|python)\b[^`]*)`", r"**\1**", joined).replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(command_line(), encoding="utf-8")
