"""How numbers are printed. One place, so that a table, a page and a test round the same way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from streamdecisionbench.suite.scenario import FAMILIES


def fixed(value: float | None, digits: int = 1) -> str:
    """Rounds half up on the decimal value, as tables do: 63.75 is 63.8 even when a double is a hair below.

    >>> fixed(63.74999999999999), fixed(2.675, 2), fixed(None)
    ('63.8', '2.68', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    exact = Decimal(repr(round(float(value), 10)))
    rounded = exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
    return f"{rounded:.{digits}f}" if rounded else f"{Decimal(0):.{digits}f}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in [0, 1] as a percentage without its sign.

    >>> percent(0.59627)
    '59.6'
    """
    return fixed(None if share is None else 100.0 * share, digits)


# A result as a table: columns that know how they are printed, rows of raw values, notes.
#
# Analyses make tables; the terminal, CSV, Markdown and LaTeX only render them.


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


def percentage(name: str, key: str = "", digits: int = 1) -> Column:
    return Column(name, "percent", digits, key)


def number(name: str, digits: int = 2, key: str = "") -> Column:
    return Column(name, "number", digits, key)


def readable(levels: Mapping[str, object] | Iterable[str]) -> dict[str, str]:
    """Level ids with the names people read.

    >>> readable(["overall", "live_debugging"])
    {'overall': 'overall', 'live_debugging': 'IDE debugging'}
    """
    return {level: FAMILIES.get(level, level) for level in levels}
