"""The five rows of docs/reference/formats.md, scored by hand; and the schema that says what a row is."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv
import pytest
from jsonschema import Draft202012Validator

import streamdecisionbench
from streamdecisionbench.logs.log_schema import (
    COLUMNS,
    LATENCIES,
    SCHEMA,
)
from tests.cli.command import sdb

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "decisions.csv"
SCHEMA_FILE = Path(streamdecisionbench.__file__).parent / "data" / "sdb-decisions-1.schema.json"


def test_the_five_rows_are_worth_what_the_page_says() -> None:
    document = json.loads(sdb("logs", "score", EXAMPLE, "--json").stdout)
    (group,) = document["groups"]
    assert (group["streams"], group["decisions"]) == (1, 5)
    assert group["classes"] == pytest.approx(
        {
            "current_correct": 0.15,
            "judgment": 0.0,
            "stale": 0.05,
            "compound": 0.0,
            "outdated_correct": 0.0,
            "no_decision": 0.1,
            "unjudged": 0.4,
            "unattributed": 0.3,
        },
        abs=1e-15,
    )
    assert group["in_force"] == pytest.approx(0.25)
    assert group["judged_share"] == pytest.approx(0.6)
    assert group["latency"]["p50"] == pytest.approx(0.75)
    assert group["mean_interval_s"] == 2.0


def test_the_page_shows_these_rows() -> None:
    page = (ROOT / "docs" / "reference" / "formats.md").read_text()
    for line in EXAMPLE.read_text().splitlines()[1:]:
        cells = [c.removesuffix(".0") for c in line.split(",")]
        assert "| " + " | ".join(cells).replace("|  |", "| |").replace("|  |", "| |") + " |" in page


def test_the_schema_names_the_columns_and_fits_the_rows() -> None:
    schema = json.loads(SCHEMA_FILE.read_text())
    assert schema["title"] == SCHEMA
    assert list(schema["properties"]) == [*COLUMNS, *LATENCIES]
    assert schema["required"] == [n for n, c in COLUMNS.items() if c.required]
    Draft202012Validator.check_schema(schema)
    check = Draft202012Validator(schema)
    for row in pyarrow.csv.read_csv(EXAMPLE).to_pylist():
        check.validate(row)
    for wrong in ({"stream": "a"}, {"stream": "a", "published_at": 0, "weight": 0}, {"stream": "a", "published_at": 0, "decision": "x"}):  # fmt: skip
        assert not check.is_valid(wrong)
