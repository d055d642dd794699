"""The page of a log: everything on it is the score's, all text of the log is inert, nothing is replaced."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import streamdecisionbench as sdb_api
from tests.cli.command import sdb
from tests.logs.made_logs import rows_of
from tests.logs.test_score_log import drawn

HOSTILE = "<script>alert(1)</script>"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)


def _log(path: Path) -> Path:
    base = datetime(2026, 3, 1, tzinfo=UTC)
    rows = []
    for row in rows_of(drawn(24, 6)):
        k = int(row["stream"][1:])
        moved = {
            name: None
            if value is None
            else base + timedelta(days=k % 3, microseconds=round(value * 1e6))
            for name, value in row.items()
            if name.endswith("_at")
        }
        rows.append({**row, **moved, "model": HOSTILE if k % 2 else "v1"})
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_the_page_shows_the_score_and_nothing_runs(tmp_path: Path) -> None:
    log = _log(tmp_path / "log.parquet")
    done = sdb("logs", "score", log, "--by", "model", "--page", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.html").read_text()
    tags = Tags()
    tags.feed(text)
    assert "script" not in tags.found
    assert tags.found.count("svg") == 2
    assert "Day by day" in text
    for group in sdb_api.score_log(log, by="model").groups:
        assert f"{(group.in_force or 0) * 100:.1f}" in text
    for day in sdb_api.score_log(log, by=("model", "day")).groups:
        assert f"{escape(day.name)}: {(day.in_force or 0) * 100:.1f} %" in text
    again = sdb("logs", "score", log, "--by", "model", "--page", tmp_path / "page.html")
    assert again.returncode == 2
    assert (tmp_path / "page.html").read_text() == text


def test_seconds_have_no_days(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows_of(drawn(4, 5))), tmp_path / "log.parquet")
    done = sdb("logs", "score", tmp_path / "log.parquet", "--page", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert "Day by day" not in (tmp_path / "page.html").read_text()
