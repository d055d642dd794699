"""How results are printed: tables for people, CSV and JSON for other programs.

Every command imports this at its top, so it imports nothing heavy at its own.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from streamdecisionbench.errors import InputError
from streamdecisionbench.text import inert_cell

if TYPE_CHECKING:
    from rich.console import Console

    from streamdecisionbench.analysis.analyses import Found
    from streamdecisionbench.render.table import (
        Cell,
        Table,
    )

SCHEMA = "sdb-analysis/1"


@dataclasses.dataclass(frozen=True, slots=True)
class Heading:
    """What every reader must be told about a recording before its numbers."""

    name: str
    signature: str
    notes: tuple[str, ...]


class HasHeading(Protocol):
    """A recording that can be shown with what every reader must know about it."""

    def heading(self, **options: Any) -> Heading: ...


def show(
    analysis: str,
    found: Found,
    subjects: Sequence[HasHeading],
    options: Mapping[str, Any],
    *,
    as_json: bool,
    as_csv: bool,
) -> None:
    """An analysis in the form wanted, with what must be known of every recording."""
    require_one_form(as_json, as_csv)
    if as_csv:
        print_csv(found.tables)
        return
    scoring = {k: v for k, v in options.items() if k in ("interval", "bounds", "weighting")}
    headings = [s.heading(**scoring) for s in subjects]
    headings = [
        dataclasses.replace(h, notes=(*h.notes, found.notes[h.name]))
        if h.name in found.notes
        else h
        for h in headings
    ]
    if as_json:
        print_json(analysis, found.result, headings, options, found.together)
    else:
        print_tables(found.tables, headings)


def require_one_form(as_json: bool, as_csv: bool) -> None:
    if as_json and as_csv:
        raise InputError("--json and --csv exclude each other", fix="choose one")


def print_tables(
    tables: Sequence[Table],
    headings: Sequence[Heading] = (),
    lines: Sequence[str] = (),
    *,
    whole_in: str = "--csv",
) -> None:
    """Notes that must be read first, lines in plain words, tables, signatures.

    `whole_in` is the command's option that prints names whole.
    """
    from rich.text import Text

    from streamdecisionbench.render.terminal import console, fitted, shared_signatures

    out = console()
    for note, names in _grouped(headings).items():
        out.print(Text(f"! {note} ({', '.join(names)})", style="bold yellow"))
    for line in lines:
        out.print(Text(line))
    if lines:
        out.print()
    for k, table in enumerate(tables):
        if k:
            out.print()
        out.print(Text(table.title, style="italic"))
        shown, whole = fitted(table, out.width)
        out.print(shown)
        if not whole:
            out.print(
                Text(
                    f"Names are cut to fit; {whole_in} has them whole, or set COLUMNS=160.",
                    style="dim",
                )
            )
        for note in table.notes:
            out.print(Text(note, style="dim"))
    for line in shared_signatures([(h.name, h.signature) for h in headings]):
        out.print(Text(line, style="dim", overflow="fold"))


def print_grid(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1
) -> Console:
    """Cells as they are, so many columns from the left as words; where to print what is said of them."""
    from rich.table import Table as RichTable

    from streamdecisionbench.render.terminal import console

    grid = RichTable(title=title, title_justify="left", box=None, pad_edge=False)
    for k, heading in enumerate(headings):
        grid.add_column(heading, justify="left" if k < left else "right", no_wrap=True)
    for row in rows:
        grid.add_row(*row)
    out = console()
    out.print(grid)
    return out


def print_csv(tables: Sequence[Table]) -> None:
    """Raw values, shares as fractions; an empty line between tables."""
    writer = csv_writer()
    for k, table in enumerate(tables):
        if k:
            sys.stdout.write("\n")
        writer.writerow([column.key or column.name for column in table.columns])
        above: Sequence[Cell] = ()
        for row in table.rows:
            # A blank first cell repeats the one above: a reader of CSV gets it spelled out.
            filled = (above[0], *row[1:]) if row[0] == "" and above else row
            writer.writerow(["" if cell is None else cell for cell in filled])
            above = filled


def print_json(
    analysis: str,
    result: Any,
    headings: Sequence[Heading],
    options: Mapping[str, Any],
    together: Any = None,
) -> None:
    """Schema `sdb-analysis/1`: full precision, shares as fractions."""
    told = {"schema": SCHEMA, "analysis": analysis, "options": options}
    whole = {} if together is None else {"together": together}
    dump({**told, "recordings": headings, "result": result, **whole})


def dump(document: Any) -> None:
    """A JSON document on standard output, escaped where its encoding lacks a sign.

    JSON has no NaN and no infinity: what is not a number is null, in every document.
    """
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    print(json.dumps(plain(document), indent=2, ensure_ascii=encoding != "utf8", allow_nan=False))


def csv_writer() -> Any:
    """Rows for programs: UTF-8 whatever the terminal speaks, cells no spreadsheet would run."""
    inner = getattr(sys.stdout, "inner", sys.stdout)
    if isinstance(inner, io.TextIOWrapper):
        inner.reconfigure(encoding="utf-8")
    return _Inert(csv.writer(sys.stdout, lineterminator="\n"))


class _Inert:
    """A CSV writer whose texts are only texts."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def writerow(self, row: Iterable[Any]) -> None:
        self._writer.writerow([inert_cell(x) if isinstance(x, str) else x for x in row])

    def writerows(self, rows: Iterable[Iterable[Any]]) -> None:
        for row in rows:
            self.writerow(row)


def decision_text(decision: Mapping[str, str]) -> str:
    """A composed decision on one line.

    >>> decision_text({"route": "hold", "hold_action": "wait"})
    'route=hold, hold_action=wait'
    """
    return ", ".join(f"{q}={value}" for q, value in decision.items())


def plain(value: Any) -> Any:
    """Results as JSON: dataclasses with their properties, mappings, sequences, numbers.

    Fields with `repr=False` are left out.

    >>> from streamdecisionbench.analysis.paper_analyses import ErrorCount
    >>> plain(ErrorCount(4, 1))
    {'states': 4, 'errors': 1, 'rate': 0.25}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value) if f.repr]
        names += [
            name
            for name, member in vars(type(value)).items()
            if isinstance(member, property) and not name.startswith("_")
        ]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return value
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value
    if hasattr(value, "__struct_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _grouped(headings: Sequence[Heading]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for heading in headings:
        for note in heading.notes:
            found.setdefault(note, []).append(heading.name)
    return found
