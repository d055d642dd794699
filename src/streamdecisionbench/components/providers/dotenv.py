"""Reading a file `.env`: names and values for the environment, never over what is exported."""

from __future__ import annotations

import os
import re
from collections.abc import MutableMapping
from pathlib import Path

from streamdecisionbench.errors import InputError

__all__ = ["load", "parse"]

_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", '"': '"'}


def load(
    path: str | Path = ".env", environment: MutableMapping[str, str] | None = None
) -> list[str]:
    """Sets the variables of the file that are not set yet; their names. A missing file sets none."""
    target = os.environ if environment is None else environment
    file = Path(path)
    if not file.is_file():
        return []
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise InputError(
            "cannot be read as text", where=file, fix="save it as UTF-8, readable"
        ) from None
    fresh = {name: value for name, value in parse(text, where=file).items() if name not in target}
    target.update(fresh)
    return list(fresh)


def parse(text: str, *, where: str | Path = ".env") -> dict[str, str]:
    r"""KEY=VALUE lines; `export` in front, quotes around and comments are understood.

    Single quotes keep everything as it is; double quotes know \n, \r, \t, \\ and \". Without quotes
    a `#` after a space starts a comment. A message names the line, never its content.

    >>> parse("export A=1  # one\nB='x # y'\n\nC=\"two words\"")
    {'A': '1', 'B': 'x # y', 'C': 'two words'}
    """
    found = {}
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        match = _LINE.fullmatch(stripped)
        value = _value(match[2]) if match else None
        if match is None or value is None:
            raise InputError(
                "the line is not KEY=VALUE",
                where=f"{where}:{number}",
                fix="write KEY=VALUE, KEY='VALUE' or # and a comment",
            )
        found[match[1]] = value
    return found


def _value(raw: str) -> str | None:
    """The value without quotes and comment; None when a quote does not end."""
    if raw[:1] not in {"'", '"'}:
        return re.split(r"(?:^|\s)#", raw, maxsplit=1)[0].strip()
    quote = raw[0]
    body = r"(?:[^\"\\]|\\.)*" if quote == '"' else r"[^']*"
    match = re.fullmatch(rf"{quote}({body}){quote}\s*(?:#.*)?", raw)
    if match is None:
        return None
    if quote == "'":
        return match[1]
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[0]), match[1])
