"""The page of a log: everything on it is the score's, all text of the log is inert, nothing is replaced."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamdecisionbench as sdb_api
from streamdecisionbench.logs import log_page
from streamdecisionbench.logs.log_score import causes_json
from tests.cli.command import sdb
from tests.logs.made_logs import rows_of, table_of
from tests.logs.test_score_log import drawn
from tests.report.browser import CHROMIUM, NO_BROWSER, Browser

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)


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
        rows.append(
            {
                **row,
                **moved,
                "model": HOSTILE if k % 2 else "v1",
                "decision": HOSTILE if row["decision"] == "d" else row["decision"],
                "state": json.dumps({"said": HOSTILE}),
            }
        )
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def _data(page: Path) -> Any:
    """What the page is given."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text())
    assert found is not None
    return json.loads(found.group(1))


def _page(log: Path, *arguments: object) -> Path:
    page = log.with_suffix(".html")
    done = sdb("logs", "score", log, "--page", page, *arguments)
    assert done.returncode == 0, done.stderr
    return page


def test_the_page_has_the_score_s_figures(tmp_path: Path) -> None:
    log = _log(tmp_path / "log.parquet")
    page = _page(log, "--by", "model")
    data = _data(page)
    score = sdb_api.score_log(log, by="model")
    assert [g["inForce"] for g in data["groups"]] == [g.in_force for g in score.groups]
    for shown, group in zip(data["groups"], score.groups, strict=True):
        assert 0 < group.judged_share < 1
        assert sum(shown["classes"]) == pytest.approx(1, abs=1e-12)
        for name, share in zip(group.classes, shown["classes"], strict=True):
            assert share == (0 if name == "unjudged" else group.of_judged(name))
    assert [g["causes"] for g in data["groups"]] == [causes_json(g.causes) for g in score.groups]
    assert all(g["lost"].startswith("lost to latency") for g in data["groups"])
    days = sdb_api.score_log(log, by=("model", "day")).groups
    assert [(d["day"], d["inForce"]) for d in data["days"]] == [
        (d.by["day"], d.in_force) for d in days
    ]
    for k, group in enumerate(score.groups):
        judged_s = group.seconds * group.judged_share
        wrong_s = judged_s * (1 - (group.in_force or 0))
        mixes = data["mixes"][k]
        assert sum(s for _, _, s in mixes) == pytest.approx(judged_s, abs=1e-9)
        assert sum(s for p, y, s in mixes if p != y) == pytest.approx(wrong_s, abs=1e-9)
        mine = [one["wrong"] for one in data["streams"] if one["group"] == k]
        assert len(mine) == group.streams
        assert sum(mine) == pytest.approx(wrong_s, abs=1e-9)
    wrong = [one["wrong"] for one in data["streams"]]
    assert wrong == sorted(wrong, reverse=True)
    assert not data["states"]
    assert all("said" not in one for one in data["streams"])
    before = page.read_text()
    again = sdb("logs", "score", log, "--by", "model", "--page", page)
    assert again.returncode == 2
    assert page.read_text() == before
    alone = sdb("logs", "score", log, "--states")
    assert alone.returncode == 2
    assert "--states belongs to --page" in alone.stderr


def test_seconds_have_no_days(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist(rows_of(drawn(4, 5))), tmp_path / "log.parquet")
    assert _data(_page(tmp_path / "log.parquet"))["days"] == []


def test_thousands_of_streams_stay_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is embedded is bounded: the worst streams, of those the worst with lanes."""
    monkeypatch.setattr(log_page, "MOST_STREAMS", 50)
    monkeypatch.setattr(log_page, "_MOST_STATES", 100)
    score = sdb_api.score_log(
        table_of(rows_of(drawn(300, 5))),
        show=log_page.streams_on_page(states=False),
        resamples=0,
    )
    page = tmp_path / "page.html"
    page.write_text(log_page.log_page(score))
    data = _data(page)
    assert data["wrong"]["streams"] == 300
    assert len(data["streams"]) == 50
    assert ["pieces" in one for one in data["streams"]] == [True] * 20 + [False] * 30
    assert data["streams"][0]["wrong"] == max(one["wrong"] for one in data["streams"])


@needs_browser
def test_the_page_works_and_nothing_of_the_log_runs(tmp_path: Path) -> None:
    log = _log(tmp_path / "log.parquet")
    page = _page(log, "--by", "model", "--states", "--theta", "2")
    data = _data(page)
    with Browser(width=390, height=900) as browser:
        browser.open(page)
        assert browser.run("document.documentElement.dataset.ready") == "yes"
        assert browser.run("document.querySelectorAll('#main img, #main script').length") == 0
        # Nothing is wider than a telephone but what says so.
        assert browser.run("document.documentElement.scrollWidth") == 390
        assert (
            browser.run("[...document.querySelectorAll('.big')].map((e) => e.textContent).length")
            == 2
        )
        rows = "[...document.querySelectorAll('#stream-rows .stream-row')]"
        assert browser.run(f"{rows}.length") == 24
        shown = browser.run(f"{rows}.map((e) => e.querySelector('.lane-value').textContent)")
        assert shown == [f"{one['wrong']:.1f}" for one in data["streams"]]
        # A stream by its name, with the state at its worst moment as text.
        name = data["streams"][5]["id"]
        browser.run(
            "(() => { const s = document.getElementById('search');"
            f" s.value = '{name}'; s.dispatchEvent(new Event('input')); }})()"
        )
        names = browser.run(f"{rows}.map((e) => e.querySelector('.head').textContent)")
        assert name in names
        assert all(name in one for one in names)
        browser.run(
            f"{rows}.find((e) => e.querySelector('.head').textContent === '{name}').click()"
        )
        assert browser.run("document.querySelector('.lane-title bdi').textContent") == name
        assert HOSTILE in browser.run("document.querySelector('.state-box pre').textContent")
        assert browser.run("document.querySelectorAll('#lane-plot .piece').length") > 0
        # A mix-up puts the streams that hold most of it first.
        browser.run("document.querySelector('#search').value = ''")
        browser.run("document.querySelector('#search').dispatchEvent(new Event('input'))")
        browser.run("document.querySelector('.mix-row').click()")
        some = browser.run(f"{rows}.map((e) => Number(e.querySelector('.lane-value').textContent))")
        assert some == sorted(some, reverse=True)
        assert sum(some) == pytest.approx(
            max(
                sum(s for m in data["mixes"] for p, y, s in m if (p, y) == pair)
                for pair in {(p, y) for m in data["mixes"] for p, y, _ in m if p != y}
            ),
            abs=0.05 * len(some),
        )
        browser.run("document.getElementById('theme').click()")
        browser.run("document.getElementById('theme').click()")
        assert browser.run("document.documentElement.dataset.theme") == "dark"
        assert browser.seen.errors == []
        assert browser.seen.dialogs == []
        assert [u for u in browser.seen.requests if not u.startswith(("file:", "data:"))] == []
