"""Names on a screen of 80 columns: cut where they must be, distinct always, never broken."""

from __future__ import annotations

import ast
import io
from collections.abc import Iterator
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import streamdecisionbench
from streamdecisionbench.render.table import (
    Table,
    number,
    text,
)
from streamdecisionbench.render.terminal import cut_names, cut_words, fit_widths, fitted
from tests.cli.command import record_simulated, sdb

HOME = Path(streamdecisionbench.__file__).parent

NAMES = st.lists(st.text("ab-/_.", min_size=1, max_size=60), min_size=1, max_size=12, unique=True)


@given(NAMES, st.integers(8, 40))
def test_cut_names_fit_and_stay_distinct(names: list[str], width: int) -> None:
    cuts = cut_names(names, width)
    assert list(cuts) == names
    assert all(len(text) <= width for text in cuts.values())
    assert len(set(cuts.values())) == len(names)
    if all(len(name) <= width for name in names):
        assert cuts == {name: name for name in names}


@given(st.lists(st.lists(st.text("ab", max_size=40), min_size=1), min_size=1, max_size=6))
def test_columns_fit_or_are_as_narrow_as_may_be(columns: list[list[str]]) -> None:
    widths = fit_widths(columns, 80)
    fits = sum(widths) + 2 * (len(widths) - 1) <= 80
    assert fits or max(widths) <= 8
    natural = [max(map(len, texts)) for texts in columns]
    assert all(w <= n for w, n in zip(widths, natural, strict=True))
    if sum(natural) + 2 * (len(natural) - 1) <= 80:
        assert widths == natural


def test_only_long_words_are_cut() -> None:
    assert cut_words("jev + a-long-name", {"a-long-name": "…name"}) == "jev + …name"


def test_headings_of_numbers_wrap_before_names_are_cut() -> None:
    names = [f"keep_the_customer_on_hold_{k}" for k in range(3)]
    columns = (text("in force"), text("right"), *(number(f"seconds of {k}") for k in range(4)))
    table = Table("x", columns, tuple((name, name, 1.0, 2.0, 3.0, 4.0) for name in names))
    for width, whole in ((60, False), (100, True)):
        console = Console(width=width, file=io.StringIO(), record=True)
        shown, complete = fitted(table, width)
        console.print(shown)
        printed = console.export_text()
        assert max(map(len, printed.splitlines())) <= width
        assert complete == whole
        assert all((name in printed) == whole for name in names)


def test_a_pair_s_names_are_whole_on_a_wide_screen(tmp_path: Path) -> None:
    runs = [
        record_simulated(profile, tmp_path / f"a-recording-with-a-rather-long-name-{profile}")
        for profile in ("jev", "terra-low")
    ]
    for command in (("--all", *runs), ("--fast", runs[0], "--slow", runs[1])):
        narrow = sdb("compose", *command, COLUMNS="80").stdout
        wide = sdb("compose", *command, COLUMNS="160").stdout
        assert max(map(len, narrow.splitlines())) <= 80
        assert "…jev" in narrow
        assert "…" not in wide
        assert all(run.name in wide for run in runs)


def _prints_tables() -> Iterator[tuple[str, bool, bool]]:
    """Every command that prints tables: whether it has --csv, and whether it names another option."""
    for path in sorted([*(HOME / "cli").glob("*.py"), *HOME.glob("*/commands.py")]):
        for command in ast.parse(path.read_text()).body:
            if not isinstance(command, ast.FunctionDef) or path.name == "printing.py":
                continue
            arguments = {
                argument.arg for argument in (*command.args.args, *command.args.kwonlyargs)
            }
            for node in ast.walk(command):
                if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("print_tables"):
                    given = {k.arg for k in node.keywords}
                    no_table = bool(node.args) and ast.unparse(node.args[0]) == "[]"
                    names_other = "whole_in" in given or no_table
                    has_csv = bool(
                        arguments & {"as_csv", "shown"}
                    )  # `Shown` holds --json and --csv
                    yield f"{path.parent.name}.{command.name}", has_csv, names_other


def test_a_command_points_only_to_options_it_has() -> None:
    found = list(_prints_tables())
    assert {("cli.show", False, True), ("labels.estimate", False, True)} <= set(found)
    assert [name for name, has_csv, names_other in found if has_csv == names_other] == []
