"""A sweep in a report: the table, the figure and the sentence say the same."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.cli.command import sdb
from tests.recording.recorder_kit import suite_folder


def test_a_report_of_a_sweep_has_its_table_and_figure(tmp_path: Path) -> None:
    data = suite_folder(tmp_path / "suite", "one_a", "two_b", "three_a", "four_b", steps=12)
    out, report = tmp_path / "sweep", tmp_path / "report"
    done = sdb("sweep", "simulated:jev", "--clock", "virtual", "--workers", 1, "--data", data,
               "--intervals", "2,0.5", "--streams", "1,4", "--out", out, "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = sdb("report", out, "--data", data, "--out", report, "--formats", "svg", "--no-pairs",
               "--quiet")  # fmt: skip
    assert done.returncode == 0, done.stderr
    shown = sdb("analyze", "repacing", out, "--data", data, "--json")
    result = json.loads(shown.stdout)["result"]
    assert result["fails_from_rate"] == 8.0
    text = (report / "report.md").read_text()
    assert result["sentence"] in text
    assert "](figures/repacing.svg)" in text
    with (report / "tables" / "repacing.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["Prediction"] for row in rows] == ["base", "holds", "holds", "fails"]
    with (report / "figures" / "repacing.csv").open() as file:
        drawn = list(csv.DictReader(file))
    assert [float(row["rate"]) for row in drawn] == [0.5, 2.0, 2.0, 8.0]
    assert [row["predicted_percent"] == "" for row in drawn] == [True, False, False, False]
    picture = (report / "figures" / "repacing.svg").read_text()
    assert result["sentence"].split(":")[0] in picture
    assert "simulation" in (report / "index.html").read_text().lower()
