"""Data files of the generators: phrases, names and products in TOML, next to the code that uses them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any, TypeVar

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.worlds.generation.draws import Pool

_T = TypeVar("_T")


class DataTable(dict[str, Any]):
    """A table of a data file. Arrays are tuples; a key that is missing is an `InputError`.

    >>> people = DataTable("names.toml", {"people": ["Ada", "Bo"]})
    >>> people["people"]
    ('Ada', 'Bo')
    >>> people["teams"]
    Traceback (most recent call last):
    streamdecisionbench.errors.InputError: names.toml: there is no 'teams'
      fix: add it to the file
    """

    def __init__(self, where: str, content: dict[str, Any]) -> None:
        super().__init__({k: _frozen(f"{where} [{k}]", v) for k, v in content.items()})
        self.where = where

    def __missing__(self, key: str) -> Any:
        raise InputError(f"there is no {key!r}", where=self.where, fix="add it to the file")

    def pool(self, key: str, kind: type[_T]) -> Pool[_T]:
        """An array whose entries take turns between the splits."""
        return Pool(self.typed(key, tuple[kind, ...]))  # type: ignore[valid-type]

    def texts(self, key: str) -> tuple[str, ...]:
        """An array of sentences or names."""
        return self.typed(key, tuple[str, ...])

    def typed(self, key: str, kind: type[_T]) -> _T:
        """The value as this type, a dataclass for instance."""
        try:
            return msgspec.convert(self[key], kind)
        except msgspec.ValidationError as error:
            raise InputError(f"{key}: {error}", where=self.where, fix="correct it") from None


@cache
def read_data(package: str, name: str) -> DataTable:
    """The data file of this name in a package."""
    try:
        return DataTable(name, tomllib.loads((resources.files(package) / name).read_text("utf-8")))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise InputError(str(error), where=f"{package}/{name}", fix="correct the file") from None


def _frozen(where: str, value: Any) -> Any:
    if isinstance(value, dict):
        return DataTable(where, value)
    return tuple(_frozen(where, item) for item in value) if isinstance(value, list) else value
