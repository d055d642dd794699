"""Keys from a file `.env`: known names only, never over what is exported.

A folder may come from anywhere, and so may its `.env`. It can hold the keys of the providers here,
and nothing that sends an exported key elsewhere: an address counts only together with the key of
the same file, and proxies, certificates and everything else are left alone.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.disk import read_text

__all__ = ["ADDRESSES", "KEYS", "load", "parse"]

ADDRESSES: Mapping[str, str] = {
    "OPENAI_BASE_URL": "OPENAI_API_KEY",
    "TYPESAFE_BASE_URL": "TYPESAFE_API_KEY",
    "ANTHROPIC_BASE_URL": "ANTHROPIC_API_KEY",
}
"""Which key goes to which address."""

KEYS = (*ADDRESSES.values(), "SDB_API_KEY")


def load(
    path: str | Path = ".env", environment: MutableMapping[str, str] | None = None
) -> list[str]:
    """Sets the known variables of the file that are not set yet; their names. No file sets none."""
    target = os.environ if environment is None else environment
    file = Path(path)
    if not file.is_file():
        return []
    found = parse(read_text(file, fix="save it as UTF-8"), where=file)
    taken = {name: value for name, value in found.items() if name in KEYS and name not in target}
    for name, key in ADDRESSES.items():
        # An exported key never follows an address that a file brings along.
        if name in found and name not in target and taken.get(key):
            taken[name] = found[name]
    target.update(taken)
    return list(taken)


def parse(text: str, *, where: str | Path = ".env") -> dict[str, str]:
    r"""KEY=VALUE lines as `python-dotenv` reads them, without expanding variables.

    A message names the line, never its content.

    >>> parse("export A=1  # one\nB='x # y'\n\nC=\"two words\"")
    {'A': '1', 'B': 'x # y', 'C': 'two words'}
    """
    from dotenv.parser import parse_stream

    found = {}
    for binding in parse_stream(io.StringIO(text)):
        line = binding.original.line
        if binding.error or (binding.key and binding.value is None):
            raise InputError(
                "the line is not KEY=VALUE",
                where=f"{where}:{line}",
                fix="write KEY=VALUE, KEY='VALUE' or # and a comment",
            )
        if binding.key is None or binding.value is None:
            continue
        if "\0" in binding.key + binding.value:
            raise InputError(
                "the line holds a NUL character",
                where=f"{where}:{line}",
                fix="write the line again in a plain text editor",
            )
        found[binding.key] = binding.value
    return found
