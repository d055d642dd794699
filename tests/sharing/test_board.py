"""The leaderboard: only verified bundles, passes taken together, inert texts, no request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from pathlib import Path

import pytest
from huggingface_hub import parse_eval_result_entries
from ruamel.yaml import YAML

from streamdecisionbench.policies.cost_file import default_costs
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.scoring.score import score
from streamdecisionbench.sharing.board import (
    SuiteRows,
    write_board,
)
from streamdecisionbench.sharing.bundles import write_bundle
from streamdecisionbench.suite.suite_files import (
    builtin_suite_path,
    make_suite,
    read_suite,
    write_suite,
)
from tests.cli.command import record_simulated, sdb
from tests.report.browser import CHROMIUM, NO_BROWSER, Browser

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)> \"'&"
SETTINGS = ("jev", "terra-none", "luna-low")
PASSES = 10


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Thirty bundles of one recording: three settings, ten passes each; one place is hostile.

    Then a baseline, once on one scenario and once on all.
    """
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
    for name, some in (("part", ["--scenarios", "support_a"]), ("whole", [])):
        made.append(bundled("baseline:random", home / name, *some))
    return made


def bundled(component: str, out: Path, *options: str | Path) -> Path:
    done = sdb("run", component, "--clock", "virtual", "--quiet", "--out", out, *options)
    assert done.returncode == 0, done.stderr
    data = options[options.index("--data") :] if "--data" in options else ()
    done = sdb("share", "bundle", out, "--out", out.with_suffix(".zip"), *data)
    assert done.returncode == 0, done.stderr
    return out.with_suffix(".zip")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle on a suite of one's own that is called like the one in the package."""
    home = tmp_path_factory.mktemp("foreign")
    theirs = read_suite(builtin_suite_path())
    easy = make_suite([theirs.scenarios["support_a"]], name=theirs.name)
    write_suite(easy, home / "suite")
    return bundled("baseline:random", home / "easy", "--data", home / "suite")


@pytest.fixture(scope="module")
def board(bundles: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("board") / "site"
    done = sdb("share", "board", *bundles, "--out", out)
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
    site, (whole, found, part) = written
    assert len(found.rows) == len(SETTINGS)
    for row in (*whole.rows, *found.rows, *part.rows):
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
    for own in (whole, part):
        assert [(row.component, row.simulated) for row in own.rows] == [("baseline:random", False)]


def test_scores_of_other_scenarios_never_share_a_table(
    written: tuple[Path, list[SuiteRows]],
) -> None:
    """One scenario of eight ranks nowhere beside eight of eight."""
    site, found = written
    assert [len(own.scenarios) for own in found] == [8, 2, 1]
    page = (site / "index.html").read_text()
    headings = re.findall("<h2>(.*?)</h2>", page)
    assert headings == ["SDB v1", "SDB v1: 2 of 8 scenarios", "SDB v1: 1 of 8 scenarios"]
    assert len(re.findall('<tr><td class="num" data-v="1">1</td>', page)) == 3


def test_a_suite_is_called_by_its_hash(bundles: list[Path], foreign: Path, tmp_path: Path) -> None:
    done = sdb("share", "board", bundles[-1], foreign, "--out", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    assert ".eval_results" in done.stderr
    page = (tmp_path / "site" / "index.html").read_text()
    ours, theirs = re.findall("<h2>(.*?)</h2>", page)
    assert ours == "SDB v1"
    assert re.fullmatch("Suite [0-9a-f]{12}, called “SDB v1”", theirs)
    files = [p.parent.name for p in (tmp_path / "site" / ".eval_results").rglob("*.yaml")]
    assert files == [read_suite(builtin_suite_path()).dataset_hash[:12]]


def test_a_data_set_belongs_to_one_suite(
    bundles: list[Path], foreign: Path, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    done = sdb("share", "board", bundles[-1], foreign, "--out", site, "--dataset", "me/mine")
    assert (done.returncode, "2 suites" in done.stderr) == (2, True)
    done = sdb("share", "board", foreign, "--out", site, "--dataset", "streamdecisionbench/sdb-v1")
    assert (done.returncode, "data set of SDB v1" in done.stderr) == (2, True)
    assert not site.exists()
    done = sdb("share", "board", foreign, "--out", site, "--dataset", "me/mine")
    assert done.returncode == 0, done.stderr
    (path,) = (site / ".eval_results").rglob("*.yaml")
    assert 'id: "me/mine"' in path.read_text()


def test_one_recording_twice_is_one_pass(bundles: list[Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy.zip"
    copy.write_bytes(bundles[0].read_bytes())
    again = tmp_path / "again.zip"
    suite = read_suite(builtin_suite_path())
    run = read_recording(bundles[0].parent / SETTINGS[0] / "pass-1", suite)
    write_bundle([replace(run, name="called otherwise")], suite, again)
    told: list[str] = []
    (found,) = write_board(
        [bundles[0], bundles[0], copy, again, bundles[1]], tmp_path / "site", say=told.append
    )
    (row,) = found.rows
    assert len(row.passes) == 2
    assert len([line for line in told if "counts once" in line]) == 3
    assert (
        "3 recordings given more than once count once"
        in (tmp_path / "site" / "index.html").read_text()
    )
    links = re.findall('href="(reports/.*?)"', (tmp_path / "site" / "index.html").read_text())
    assert all((tmp_path / "site" / link).is_file() for link in links)


def test_the_same_bytes_twice(board: Path, written: tuple[Path, list[SuiteRows]]) -> None:
    for path in sorted(p for p in board.rglob("*") if p.is_file()):
        assert (written[0] / path.relative_to(board)).read_bytes() == path.read_bytes()


def test_a_bundle_that_does_not_verify_stops_it(bundles: list[Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.zip"
    bad.write_bytes(bundles[0].read_bytes()[:-200])
    done = sdb("share", "board", bundles[1], bad, "--out", tmp_path / "site")
    assert done.returncode == 2
    assert "bad.zip" in done.stderr
    assert not (tmp_path / "site").exists()


def test_entries_for_a_hub_are_read_by_its_own_library(board: Path) -> None:
    (path,) = (board / ".eval_results").rglob("*.yaml")
    (entry,) = parse_eval_result_entries(YAML(typ="safe").load(path.read_text()))
    assert (entry.dataset_id, entry.task_id) == ("streamdecisionbench/sdb-v1", "log_auc")
    assert 0 <= float(entry.value) <= 100
    assert path.stem.startswith("whole")
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
            "JSON.stringify([...document.querySelectorAll('table')[1].tBodies[0].rows]"
            f".map((row) => row.cells[{column}].dataset.v))"
        )
    )
    return found


def test_it_sorts_and_keeps_texts_inert(page: Browser, board: Path) -> None:
    assert rows(page, 0) == ["1", "2", "3"]
    page.run("document.querySelectorAll('table')[1].querySelectorAll('button')[9].click()")
    latencies = [float(v) for v in rows(page, 9)]
    assert latencies == sorted(latencies, reverse=True)
    page.run("document.querySelectorAll('table')[1].querySelectorAll('button')[9].click()")
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
    assert len(links) == len(SETTINGS) * PASSES + 2
    assert all((board / link).is_file() for link in links)


@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_every_width(page: Browser, width: int) -> None:
    page.resize(width, 800)
    assert page.run("document.documentElement.scrollWidth") <= width


def test_board_and_report_wear_the_same_kit(board: Path) -> None:
    """Font, header and theme button are the same; what goes on beyond a telephone's edge shows it."""
    if CHROMIUM is None:
        pytest.skip(NO_BROWSER)
    report = next((board / "reports").rglob("index.html"))
    seen = []
    for path in (board / "index.html", report):
        with Browser(width=390, height=800) as browser:
            browser.open(path)
            assert browser.run("document.documentElement.scrollWidth") == 390
            wider = (
                "[...document.querySelectorAll('main *')].filter((e) => e.clientWidth > 0"
                " && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)"
                " && e.scrollWidth > e.clientWidth)"
            )
            assert browser.run(f"{wider}.length") > 0
            assert browser.run(
                f"{wider}.every((e) => getComputedStyle(e).backgroundImage.includes('gradient'))"
            )
            browser.run("document.getElementById('theme').click()")
            assert browser.run("document.documentElement.dataset.theme") == "light"
            seen.append(
                browser.run(
                    "[getComputedStyle(document.body).fontFamily,"
                    " document.querySelector('header.top .brand').textContent,"
                    " document.querySelector('header.top h1').textContent,"
                    " getComputedStyle(document.querySelector('section')).borderRadius]"
                )
            )
    assert seen[0] == seen[1]
