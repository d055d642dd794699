"""One strict reader for the TOML files people write: a refusal names the key and what to write instead."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

from streamdecisionbench.errors import InputError

INFINITE = "inf"
"""TOML has infinity, JSON has none."""

_LONGEST = 60


def read_toml_text(path: Path, fix: str) -> str:
    """UTF-8 text, with or without the mark that some editors put in front."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError("no such file", where=path, fix=fix) from None
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 text (byte {error.start})"
        raise InputError(what, where=path, fix="save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", where=path, fix=fix) from None


def parse_toml(text: str, where: str | Path | None, fix: str) -> TomlTable:
    """The table at the top of a file."""
    try:
        return TomlTable(tomllib.loads(text), "", where)
    except (ValueError, RecursionError) as error:  # ValueError: also numbers of thousands of digits
        raise InputError(f"is not TOML: {error}", where=where, fix=fix) from None


class TomlTable:
    """One table, read key by key. `path` is its name in the file, empty at the top."""

    def __init__(self, raw: Any, path: str, where: str | Path | None) -> None:
        self.path, self.where = path, where
        if not isinstance(raw, Mapping):
            raise InputError(f"{path} is not a table", where=where, fix=f"write [{path}]")
        self.raw: Mapping[str, Any] = raw

    def name(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def known(self, *allowed: str) -> None:
        """Refuses every key but these."""
        for key in self.raw:
            if key not in allowed:
                self.fail(f"there is no key {self.name(key)}", instead(key, allowed))

    def table(self, key: str) -> TomlTable:
        """An empty one where it is missing."""
        return TomlTable(self.raw.get(key, {}), self.name(key), self.where)

    def tables(self, key: str) -> list[TomlTable]:
        """An array of tables, numbered from 1 in messages."""
        value, name = self.raw.get(key, []), self.name(key)
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            self.refuse(key, f"write [[{name}]]")
        return [TomlTable(v, f"{name} #{k}", self.where) for k, v in enumerate(value, start=1)]

    def text(self, key: str) -> str:
        value = self.raw.get(key)
        if not isinstance(value, str) or not value:
            self.refuse(key, f'write {key} = "…"')
        return value

    def number(
        self, key: str, fix: str, default: float | None = None, *, endless: bool = False
    ) -> float:
        """From 0 on; `endless`: also infinity."""
        value = self.raw.get(key, default)
        value = math.inf if endless and value == INFINITE else value
        fits = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        try:
            number = float(value) if fits and value is not None else math.nan
        except OverflowError:  # whole numbers have no end, floats do
            number = math.nan
        if math.isnan(number) or (math.isinf(number) and not endless):
            self.refuse(key, fix)
        return number

    def whole(self, key: str, fix: str) -> int:
        value = self.raw.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self.refuse(key, fix)
        return int(value)

    def choice(
        self,
        key: str,
        allowed: Collection[str],
        default: str,
        spelled: Callable[[str], str] = str,
    ) -> str:
        value = self.raw.get(key, default)
        if not isinstance(value, str) or spelled(value) not in allowed:
            self.refuse(key, "allowed: " + ", ".join(f'"{name}"' for name in allowed))
        return spelled(value)

    def names(self, key: str, default: tuple[str, ...] | None = ()) -> tuple[str, ...]:
        value = self.raw.get(key, default)
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) and v for v in value):
            self.refuse(key, 'allowed: a list of names, for example ["fast", "slow"]')
        return tuple(value)

    def refuse(self, key: str, fix: str) -> NoReturn:
        """The value of the key cannot be used, or is missing."""
        shown = repr(self.raw.get(key))
        shown = shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"
        what = f"= {shown} is not allowed" if key in self.raw else "is missing"
        self.fail(f"{self.name(key)} {what}", fix)

    def fail(self, what: str, fix: str) -> NoReturn:
        raise InputError(what, where=self.where, fix=fix)


def instead(name: str, known: Collection[str]) -> str:
    """The nearest known name, or all of them."""
    near = difflib.get_close_matches(name, list(known), n=1)
    if near:
        return f"write {near[0]}"
    shown = list(known)[:12]
    more = ", …" if len(known) > len(shown) else ""
    return f"use one of: {', '.join(shown)}{more}"
