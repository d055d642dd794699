"""Tables: every form shows the same numbers, and no name can break a form."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

import pytest

from streamdecisionbench.render.formats import (
    to_csv,
    to_latex,
    to_markdown,
)
from streamdecisionbench.render.table import (
    Column,
    Table,
    by_quantity,
    number,
    text,
)
from streamdecisionbench.report.report_data import find
from streamdecisionbench.report.report_tables import make_tables
from tests.report import kit

pytestmark = pytest.mark.slow

NASTY = r"a|b <script>x</script> _50%_ & $y$ {z} \w"

PAPER = {
    "benchmark", "specifications", "main", "reliability", "latency", "tokens", "family",
    "sensitivity", "decomposition", "integrated_decomposition", "pace", "paired", "scenario",
    "regime", "transitions", "composition", "served_latency",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _in_haste() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        kit.in_haste(patch)
        yield


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    material = kit.material(3)
    return make_tables(material, find(material))


def test_all_tables_of_the_paper(tables: list[Table]) -> None:
    assert {t.name for t in tables} >= PAPER


def test_every_row_is_as_wide_as_its_heading(tables: list[Table]) -> None:
    for table in tables:
        for row in table.rows:
            assert len(row) == len(table.columns), table.name


def test_three_forms_agree(tables: list[Table]) -> None:
    for table in tables:
        read = list(csv.reader(io.StringIO(to_csv(table))))
        assert len(read) == len(table.rows) + 1
        latex = [line for line in to_latex(table).splitlines() if line.endswith(r"\\")]
        body = [line for line in latex if not line.startswith("%") and "multicolumn" not in line]
        assert len(body) == len(table.rows)
        for row, texts, line in zip(table.rows, table.texts(), body, strict=True):
            numbers = [t for c, t in zip(row, texts, strict=True) if isinstance(c, int | float)]
            assert [n for n in numbers if n in line] == numbers
            assert all(n in to_markdown(table) for n in numbers)
            assert len(texts) == line.count("&") - line.count(r"\&") + 1


def test_csv_keeps_full_precision() -> None:
    table = Table("T", (text("a"), number("b", 1)), (("x", 100 / 3),))
    assert to_csv(table).splitlines()[1] == "x,33.3333333333"
    assert table.texts() == [["x", "33.3"]]


def test_names_are_never_markup() -> None:
    columns = (text("a"), number("b", 1))
    table = Table(NASTY, columns, ((NASTY, 1.0),), (NASTY,), "t", sections={0: NASTY})
    lines = to_markdown(table).splitlines()
    assert "<script>" not in to_markdown(table).replace(r"\<script\>", "")
    assert len(re.findall(r"(?<!\\)\|", lines[3])) == 3
    assert next(csv.reader(io.StringIO(to_csv(table).split("\n", 1)[1])))[1] == NASTY
    row = to_latex(table).splitlines()[-2]
    assert r"\_50\%\_ \& \$y\$ \{z\} \textbackslash{}w" in row
    assert len(re.findall(r"(?<!\\)&", row)) == 1


def test_many_settings_become_rows() -> None:
    def table(names: list[str]) -> Table:
        lines = [("part", Column("x", "number"), lambda value: value)]
        return by_quantity("T", {name: k for k, name in enumerate(names)}, lines)

    few = table(["s0", "s1"])
    assert [c.name for c in few.columns] == ["", "s0", "s1"]
    assert few.row("x") == ["x", "0.0", "1.0"]
    many = table([f"s{k}" for k in range(30)])
    assert [c.name for c in many.columns] == ["Setting", "part: x"]
    assert many.row("s7") == ["s7", "7.0"]


def test_thirty_recordings_fit_a_page() -> None:
    material = kit.material(30)
    for table in make_tables(material, find(material, pairs=False)):
        assert len(table.columns) <= 16, table.name


def test_simulations_are_labelled_everywhere() -> None:
    material = kit.material(2, simulated=True)
    about_the_suite = {"benchmark", "specifications", "baselines"}
    for table in make_tables(material, find(material)):
        if table.name in about_the_suite:
            continue
        assert "(sim.)" in to_markdown(table), table.name
        assert any(note.startswith("Simulation") for note in table.notes), table.name


def test_one_recording_without_tokens() -> None:
    material = kit.material(1, tokens=False)
    findings = find(material)
    tables = {t.name: t for t in make_tables(material, findings)}
    assert "composition" not in tables
    assert tables["latency"].row("setting-01")[1] == "–"
    assert any("token counts" in remark for remark in findings.remarks)
