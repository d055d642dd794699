"""What `sdb logs check` and `sdb logs pace` print for people."""

from __future__ import annotations

from streamdecisionbench.analysis.result_table import Cell, Table, count, number, text
from streamdecisionbench.logs.check import Checked
from streamdecisionbench.logs.pace import SHARES, Pace
from streamdecisionbench.logs.torn_lines import torn_note
from streamdecisionbench.logs.usable import REASONS

__all__ = ["check_lines", "check_tables", "pace_tables"]


def check_lines(found: Checked) -> list[str]:
    """The whole of it in a few sentences."""
    usable = found.rows - found.unusable.rows
    lines = [
        f"{found.source}: {found.rows} rows, {usable} of them usable, in {found.streams} streams.",
        f"{found.answered} states were answered, {found.judged} have a reference.",
    ]
    if found.assumed_end:
        lines.append(
            f"{found.assumed_end} streams have no ended_at: one median gap after the last state is"
            " taken as their end."
        )
    lines += [f"{told}." for told in torn_note(found.torn)]
    if found.scattered:
        number_of, example = found.scattered
        lines.append(
            f"{number_of} streams lie in more than one file, for example {example!r}. If ids start"
            " anew in every file, make them unique with --sql."
        )
    if found.others:
        lines.append(f"To group by: {', '.join(found.others)}.")
    return lines


def check_tables(found: Checked) -> list[Table]:
    """Rows that cannot be used, and columns that are not there."""
    tables = []
    if found.unusable.rows:
        rows: list[tuple[Cell, ...]] = []
        for reason, rows_of, example in found.unusable.ordered():
            at = example.text() + (f", in {example.file}" if example.file else "")
            rows.append((rows_of, f"{REASONS[reason].what}", REASONS[reason].column, example.value))
            rows.append((None, f"for example {at}", "", ""))
            rows.append((None, f"fix: {REASONS[reason].fix}", "", ""))
        tables.append(
            Table(
                "Rows that cannot be used",
                (count("rows"), text("why"), text("column"), text("value")),
                tuple(rows),
            )
        )
    absent = tuple((name, instead) for name, instead in found.missing.items() if instead != "–")
    if absent:
        tables.append(
            Table("Columns that are not there", (text("column"), text("instead")), absent)
        )
    return tables


def pace_tables(found: Pace) -> list[Table]:
    """Quantiles of the seconds between changes, by group."""
    heads = tuple(number(f"p{round(share * 100)}", 3) for share in SHARES)
    rows: list[tuple[Cell, ...]] = []
    for key, group in found.groups:
        name = ", ".join(map(str, key)) or "all"
        for label, sums in (
            ("states", group.states),
            ("references", group.references),
            ("mean interval", group.intervals),
        ):
            values: list[Cell] = (
                list(sums.quantiles(SHARES)) if sums.count else [None] * len(SHARES)
            )
            rows.append((name, label, sums.count, *values))
    low, high = found.bounds
    return [
        Table(
            "Seconds between changes",
            (text(" and ".join(found.by) or "log", "group"), text("of"), count("gaps"), *heads),
            tuple(rows),
            (
                f"Suggested for these streams: --bounds {low:g} {high:g}, from the quick twentieth"
                " of mean intervals to the slow one.",
            ),
        )
    ]
