"""The leaderboard: only verified bundles, passes taken together, inert texts, no request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest
from huggingface_hub import parse_eval_result_entries
from ruamel.yaml import YAML

from streamdecisionbench.analysis.bundles import write_bundle
from streamdecisionbench.report.board.board import SuiteRows, write_board
from streamdecisionbench.rules.cost_file import default_costs
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.cli.command import record_simulated, sdb
from tests.report.browser import CHROMIUM, NO_BROWSER, Browser

HOSTILE = "<img src=x onerror=alert(1)> \"'&"
SETTINGS = ("jev", "terra-none", "luna-low")
PASSES = 10


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Thirty bundles of one recording: three settings, ten passes each; one place is hostile."""
    from streamdecisionbench.recording.reader import read_recording

    home = tmp_path_factory.mktemp("bundles")
    suite = read_suite(builtin_suite_path())
    made = []
    for profile in SETTINGS:
        record_simulated(
            profile, home / profile, "--scenarios", "support_a,presenter_b", "--passes", str(PASSES)
        )
        for seed in range(PASSES):
            run = read_recording(home / profile / f"pass-{seed + 1}", suite)
            path = home / f"{profile}-{seed}.zip"
            named = replace(run, name=f"{path.stem} {HOSTILE}")
            write_bundle([named], suite, path, told={"place": HOSTILE})
            made.append(path)
    done = sdb(
        "run", "baseline:random", "--clock", "virtual", "--quiet", "--scenarios", "support_a",
        "--out", home / "random",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = sdb("bundle", home / "random", "--out", home / "random.zip")
    assert done.returncode == 0, done.stderr
    return [*made, home / "random.zip"]


@pytest.fixture(scope="module")
def board(bundles: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("board") / "site"
    done = sdb("board", *bundles, "--out", out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def written(
    bundles: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[SuiteRows]]:
    """The same once more, without the command."""
    out = tmp_path_factory.mktemp("written") / "site"
    return out, write_board(bundles, out)


def test_passes_of_a_setting_are_one_row(written: tuple[Path, list[SuiteRows]]) -> None:
    site, (found,) = written
    assert len(found.rows) == len(SETTINGS) + 1
    for row in found.rows:
        aucs = [p.score.log_auc for p in row.passes]
        assert (min(aucs), max(aucs)) == (row.lowest, row.highest)
        assert row.auc == pytest.approx(sum(aucs) / len(aucs), abs=1e-12)
        assert row.interval[0] <= row.auc <= row.interval[1]
        costs = [score(p.recording, found.suite, costs=default_costs()).cost for p in row.passes]
        totals = [c.overall.at_interval.total for c in costs if c is not None]
        assert row.cost == pytest.approx(sum(totals) / len(row.passes), rel=1e-12)
    page = (site / "index.html").read_text()
    assert '"place by that cost"' in page
    assert found.words
    assert escape(found.words[0]) in page
    places = [row.cost for row in found.by_cost]
    assert places == sorted(places)
    by_hand = [row for row in found.rows if not row.simulated]
    assert [row.component for row in by_hand] == ["baseline:random"]


def test_the_same_bytes_twice(board: Path, written: tuple[Path, list[SuiteRows]]) -> None:
    for path in sorted(p for p in board.rglob("*") if p.is_file()):
        assert (written[0] / path.relative_to(board)).read_bytes() == path.read_bytes()


def test_a_bundle_that_does_not_verify_stops_it(bundles: list[Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.zip"
    bad.write_bytes(bundles[0].read_bytes()[:-200])
    done = sdb("board", bundles[1], bad, "--out", tmp_path / "site")
    assert done.returncode == 2
    assert not (tmp_path / "site").exists()


def test_entries_for_a_hub_are_read_by_its_own_library(board: Path) -> None:
    (path,) = (board / ".eval_results").rglob("*.yaml")
    (entry,) = parse_eval_result_entries(YAML(typ="safe").load(path.read_text()))
    assert (entry.dataset_id, entry.task_id) == ("streamdecisionbench/sdb-v1", "log_auc")
    assert 0 <= float(entry.value) <= 100
    assert "virtual clock" in str(entry.notes)


@pytest.fixture
def page(board: Path) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    with Browser() as browser:
        browser.open(board / "index.html")
        yield browser
        browser.settle()
        assert browser.seen.errors == []
        assert browser.seen.dialogs == []
        assert browser.seen.requests == [(board / "index.html").resolve().as_uri()]


def rows(page: Browser, column: int) -> list[str]:
    found: list[str] = json.loads(
        page.run(
            "JSON.stringify([...document.querySelectorAll('tbody tr')]"
            f".map((row) => row.cells[{column}].dataset.v))"
        )
    )
    return found


def test_it_sorts_and_keeps_texts_inert(page: Browser, board: Path) -> None:
    assert rows(page, 0) == ["1", "2", "3", "4"]
    page.run("document.querySelectorAll('thead button')[9].click()")
    latencies = [float(v) for v in rows(page, 9)]
    assert latencies == sorted(latencies, reverse=True)
    page.run("document.querySelectorAll('thead button')[9].click()")
    assert [float(v) for v in rows(page, 9)] == sorted(latencies)
    assert page.run("document.querySelectorAll('tbody img').length") == 0
    assert HOSTILE in page.run("document.body.innerText")
    badges = page.run("[...document.querySelectorAll('.badge')].map((b) => b.textContent).join()")
    assert badges.count("simulation") == len(SETTINGS)
    links = json.loads(
        page.run(
            "JSON.stringify([...document.querySelectorAll('tbody a')]"
            ".map((a) => a.getAttribute('href')))"
        )
    )
    assert len(links) == len(SETTINGS) * PASSES + 1
    assert all((board / link).is_file() for link in links)


@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_every_width(page: Browser, width: int) -> None:
    page.resize(width, 800)
    assert page.run("document.documentElement.scrollWidth") <= width
