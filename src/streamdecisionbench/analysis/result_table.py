"""A result as a table: columns that know how they are printed, rows of raw values, notes.

Analyses make tables; the terminal, CSV, Markdown and LaTeX only render them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from streamdecisionbench.suite.scenario import FAMILIES

__all__ = ["Cell", "Column", "Table", "count", "number", "percent", "readable", "text"]

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """`percent` holds shares in [0, 1] and is printed times 100; None is printed as a dash."""

    name: str
    kind: Literal["text", "count", "percent", "number"] = "text"
    digits: int = 1
    key: str = ""
    """What CSV calls it, where headings repeat or abbreviate."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table of an analysis."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


def text(name: str, key: str = "") -> Column:
    return Column(name, key=key)


def count(name: str, key: str = "") -> Column:
    return Column(name, "count", 0, key)


def percent(name: str, key: str = "", digits: int = 1) -> Column:
    return Column(name, "percent", digits, key)


def number(name: str, digits: int = 2, key: str = "") -> Column:
    return Column(name, "number", digits, key)


def readable(levels: Mapping[str, object] | Iterable[str]) -> dict[str, str]:
    """Level ids with the names people read.

    >>> readable(["overall", "live_debugging"])
    {'overall': 'overall', 'live_debugging': 'IDE debugging'}
    """
    return {level: FAMILIES.get(level, level) for level in levels}
