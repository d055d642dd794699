"""A result as a table: columns that know how they are printed, rows of raw values, notes.

Analyses make tables; terminal, CSV, Markdown, LaTeX and page only render them. Numbers are rounded here
and nowhere else, so that a table, a page and a test round the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from itertools import takewhile
from typing import Literal, TypeVar

from streamdecisionbench.suite.scenario import FAMILIES

_PLAIN = 1e15
"""Numbers from here on are shown by their magnitude: all their digits are more than anybody measured."""


def fixed(value: float | None, digits: int = 1) -> str:
    """Rounds half up on the decimal value, as tables do: 63.75 is 63.8 even when a double is a hair below.

    >>> fixed(63.74999999999999), fixed(2.675, 2), fixed(None), fixed(1e300)
    ('63.8', '2.68', '–', '1e+300')
    """
    if value is None or math.isnan(value):
        return "–"
    if abs(value) >= _PLAIN:
        return f"{value:g}"
    exact = Decimal(repr(round(float(value), 10)))
    rounded = exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
    return f"{rounded:.{digits}f}" if rounded else f"{Decimal(0):.{digits}f}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in [0, 1] as a percentage without its sign.

    >>> percent(0.59627)
    '59.6'
    """
    return fixed(None if share is None else 100.0 * share, digits)


def share_range(interval: tuple[float, float] | None) -> str:
    """An interval of shares, in percent.

    >>> share_range((0.31, 0.448)), share_range(None)
    ('31.0–44.8', '–')
    """
    return "–" if interval is None else f"{percent(interval[0])}–{percent(interval[1])}"


def signed(value: float, digits: int = 1) -> str:
    """A difference of shares in points, with its sign.

    >>> signed(0.012), signed(-0.0004)
    ('+1.2', '0.0')
    """
    shown = percent(value, digits)
    return shown if shown[0] in "-–" or float(shown) == 0 else f"+{shown}"


Cell = str | int | float | None
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Column:
    """`percent` holds shares in [0, 1] and is printed times 100; None is printed as a dash."""

    name: str
    kind: Literal["text", "count", "percent", "number"] = "text"
    digits: int = 1
    key: str = ""
    """What raw CSV calls it, where headings repeat or abbreviate."""
    title: str = ""
    """What a report calls it, which has more room than a terminal."""
    align: Literal["", "left", "right"] = ""
    """Words to the left and numbers to the right, unless said otherwise."""

    @property
    def heading(self) -> str:
        return self.title or self.name

    @property
    def right(self) -> bool:
        return self.align == "right" or (self.kind != "text" and not self.align)

    def shown(self, cell: Cell) -> str:
        """The cell as people read it; a text stays a text in every column."""
        if cell is None or isinstance(cell, str) or self.kind == "text":
            return "–" if cell is None else str(cell)
        return percent(cell, self.digits) if self.kind == "percent" else fixed(cell, self.digits)


def text(name: str, key: str = "", title: str = "") -> Column:
    return Column(name, key=key, title=title)


def count(name: str, key: str = "", title: str = "") -> Column:
    return Column(name, "count", 0, key, title)


def percentage(name: str, key: str = "", digits: int = 1, title: str = "") -> Column:
    return Column(name, "percent", digits, key, title)


def number(name: str, digits: int = 2, key: str = "", title: str = "") -> Column:
    return Column(name, "number", digits, key, title)


def words(name: str) -> Column:
    """Words that stand among numbers, such as "0.31–0.44", and line up with them."""
    return Column(name, align="right")


@dataclass(frozen=True, slots=True)
class Table:
    """One table of an analysis or of a report."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    """How to read it, and what is simulated."""
    name: str = ""
    """Of its files in a report."""
    sections: Mapping[int, str] = field(default_factory=dict)
    """Headings by the row they stand above, each until the next."""
    rules: frozenset[int] = frozenset()
    """Rows with a line above them."""
    forms: tuple[Column, ...] = ()
    """By row, how its numbers are printed, where that is not said by columns."""

    def form(self, row: int, place: int) -> Column:
        return self.forms[row] if self.forms and place else self.columns[place]

    def texts(self) -> list[list[str]]:
        """The printed cells.

        >>> Table("T", (text("a"), number("b", 1)), (("x", 0.25),)).texts()
        [['x', '0.3']]
        """
        return [
            [self.form(k, place).shown(cell) for place, cell in enumerate(row)]
            for k, row in enumerate(self.rows)
        ]

    def row(self, *starts: str) -> list[str]:
        """The printed cells of the row that begins with these words."""
        for cells in self.texts():
            if cells[: len(starts)] == list(starts):
                return cells
        raise KeyError(" / ".join(starts))

    def section_of(self, row: int) -> str:
        """The heading a row stands under, empty where there is none."""
        above = [k for k in self.sections if k <= row]
        return self.sections[max(above)] if above else ""


def by_setting(
    title: str,
    items: Mapping[str, T],
    columns: Sequence[tuple[Column, Callable[[T], Cell]]],
    notes: tuple[str, ...] = (),
) -> Table:
    """Settings as rows, by name: every column with what it shows of a setting."""
    return Table(
        title,
        (text("Setting"), *(column for column, _ in columns)),
        tuple((name, *(get(item) for _, get in columns)) for name, item in items.items()),
        notes,
    )


def by_quantity(
    title: str,
    items: Mapping[str, T],
    lines: Sequence[tuple[str, Column, Callable[[T], Cell]]],
    notes: tuple[str, ...] = (),
) -> Table:
    """Quantities as rows, each under its section, settings as columns while there are few of them."""
    sections = {
        k: section
        for k, (section, _, _) in enumerate(lines)
        if section and (k == 0 or section != lines[k - 1][0])
    }
    table = Table(
        title,
        (text(""), *(Column(name, "number") for name in items)),
        tuple((column.name, *(get(x) for x in items.values())) for _, column, get in lines),
        notes,
        sections=sections,
        rules=frozenset(sections),
        forms=tuple(column for _, column, _ in lines),
    )
    return turned(table)


def turned(table: Table, limit: int = 8) -> Table:
    """Settings, columns until now, as rows once there are more of them than fit on a page.

    A section's rows keep their heading in front: "Tokens per request: Input".
    """
    first = len(list(takewhile(lambda column: not column.right, table.columns)))
    if len(table.columns) - first <= limit:
        return table
    texts = table.texts()
    columns = [text("Setting")]
    for k, cells in enumerate(texts):
        heading = " ".join(cell for cell in cells[:first] if cell)
        section = table.section_of(k)
        name = f"{section}: {heading}" if section else heading
        columns.append(replace(table.form(k, first), name=name, title=""))
    rows = tuple(
        (column.heading, *(row[place] for row in table.rows))
        for place, column in enumerate(table.columns[first:], start=first)
    )
    return Table(table.title, tuple(columns), rows, table.notes, table.name)


def readable(levels: Mapping[str, object] | Iterable[str]) -> dict[str, str]:
    """Level ids with the names people read.

    >>> readable(["overall", "live_debugging"])
    {'overall': 'overall', 'live_debugging': 'IDE debugging'}
    """
    return {level: FAMILIES.get(level, level) for level in levels}
