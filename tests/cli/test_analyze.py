"""`sdb analyze` and `sdb choose`, on recordings the recorder made."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path

import pytest

from streamdecisionbench.components.simulated.profiles import builtin_profiles
from streamdecisionbench.components.simulated.simulator import SimulatedComponent, Simulator
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.recorder import RunConfig, record
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.cli.command import sdb

pytestmark = pytest.mark.slow

ANALYSES = (
    "network", "transitions", "paired", "pace", "clocks", "sensitivity", "schedules", "separability", "cost",
    "intervals", "window", "spells", "changes", "actions", "cost-of-error",
)  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two simulated settings over the suite in the package, on the virtual clock."""
    suite = read_suite(builtin_suite_path())
    folder = tmp_path_factory.mktemp("runs")
    for name in ("jev", "terra-none"):
        component = SimulatedComponent(Simulator(suite, 0), builtin_profiles()[name], virtual=True)
        settings = RunConfig(
            RunOptions.of({None: component.info.name}, clock="virtual"), tuple(suite.scenarios)
        )
        record(suite, [Member(component)], settings, folder / name)
    return [str(folder / "jev"), str(folder / "terra-none")]


def _sdb(*arguments: str) -> subprocess.CompletedProcess[str]:
    return sdb(*arguments, NO_COLOR="1")


def _ok(*arguments: str) -> str:
    done = _sdb(*arguments)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("analysis", ANALYSES)
def test_every_analysis_prints_a_table_json_and_csv(runs: list[str], analysis: str) -> None:
    screen = _ok("analyze", analysis, *runs)
    assert "! simulation" in screen.splitlines()[0]
    assert "jev" in screen
    assert max(map(len, screen.splitlines())) <= 80
    document = json.loads(_ok("analyze", analysis, *runs, "--json"))
    assert (document["schema"], document["analysis"]) == ("sdb-analysis/1", analysis)
    assert [r["name"] for r in document["recordings"]] == ["jev", "terra-none"]
    assert all("simulation" in r["notes"][0] for r in document["recordings"])
    assert document["result"]
    blocks = _ok("analyze", analysis, *runs, "--csv").split("\n\n")
    for block in blocks:
        rows = list(csv.reader(io.StringIO(block)))
        assert len(rows) > 1
        assert len(set(rows[0])) == len(rows[0]), "column names repeat"
        assert {len(row) for row in rows} == {len(rows[0])}


def test_baselines_need_only_a_suite() -> None:
    assert "best constant" in _ok("analyze", "baselines")
    found = json.loads(_ok("analyze", "baselines", "--json"))["result"]
    assert len(found["by_scenario"]) == 8
    assert found["first_option"] <= 0.01


def test_choose_says_what_to_use(runs: list[str]) -> None:
    screen = _ok("choose", *runs, "--interval", "1.2", "--resamples", "500")
    words = " ".join(screen.split())
    for part in (
        "! simulation",
        "use jev: it keeps",
        "What limits it:",
        "an hour",
        "prove nothing",
    ):
        assert part in words
    assert max(map(len, screen.splitlines())) <= 80
    found = json.loads(_ok("choose", *runs, "--interval", "1.2", "--resamples", "500", "--json"))
    result = found["result"]
    assert result["best"]["name"] == "jev"
    assert result["words"][0].startswith("At 1.2 s between states, use jev")
    assert len([one for one in result["candidates"] if one["policy"] is None]) == 5
    low, high = result["interval_95"]
    assert low < result["best"]["in_force"]["value"] < high
    assert 0 < result["detectable"] < 1
    alone = ("--no-pairs", "--no-policies")
    printed = _ok("choose", *runs, "--interval", "9", *alone, "--csv")
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert [row["candidate"] for row in rows] == ["terra-none", "jev"]


def test_a_live_pair_is_two_recordings(tmp_path: Path) -> None:
    out = str(tmp_path / "joint")
    _ok(
        "run", "--member", "fast=simulated:jev", "--member", "slow=simulated:terra-none", "--clock", "virtual",
        "--scenarios", "presenter_a,support_a", "--out", out, "--yes",
    )  # fmt: skip
    found = json.loads(_ok("choose", out, "--interval", "2", "--resamples", "300", "--json"))
    names = {c["name"] for c in found["result"]["candidates"] if c["policy"] is None}
    pair = "joint fast + joint slow"
    assert names == {
        "joint fast", "joint slow", f"{pair} (freshest)", f"{pair} (lag-one)",
        f"{pair} (late-override)",
    }  # fmt: skip
    # Each half is priced as the component it is.
    costs = json.loads(_ok("analyze", "cost", out, "--json"))["result"]
    prices = [costs[half]["price"]["input"] for half in ("joint fast", "joint slow")]
    assert prices == [0.042, 2.0]


def test_what_reports_no_tokens_has_no_cost(tmp_path: Path) -> None:
    out = str(tmp_path / "random")
    _ok("run", "baseline:random", "--clock", "virtual", "--scenarios", "support_a", "--out", out)
    for analysis in ("cost", "network"):
        done = _sdb("analyze", analysis, out)
        assert done.returncode == 2
        assert "token counts" in done.stderr
    assert "Cost: not known" in _ok("choose", out, "--interval", "2")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["analyze", "pace", "/nowhere"], "no such folder"),
        (["analyze", "paired", "{0}"], "two recordings"),
        (["analyze", "repeats", "{0}"], "no range"),
        (["analyze", "cost", "{0}", "--prices", "/nowhere.json"], "nowhere.json"),
        (["analyze", "intervals", "{0}", "--block", "0"], "block 0"),
        (["analyze", "intervals", "{0}", "--json", "--csv"], "exclude each other"),
        (["analyze", "network", "{0}", "--quantile", "2"], "quantile 2"),
        (["analyze", "window", "{0}", "--scenario", "x"], "not in these recordings"),
        (["analyze", "schedules", "{0}", "--draws", "0"], "0 resamples"),
        (["analyze", "schedules", "{0}", "--interval", "0"], "interval 0"),
        (["analyze", "pace", "{0}", "--at", "0"], "above 0"),
        (["analyze", "separability", "{0}", "--bounds", "2", "1"], "bounds 2 1"),
        (["choose", "{0}", "--interval", "-1"], "interval -1"),
        (["choose", "{0}", "--interval", "1", "--budget", "-1"], "--budget -1"),
        (["choose", "{0}", "--interval", "1", "--budget", "0"], "within the budget"),
        (["choose", "{0}", "{1}", "--interval", "1", "--rule", "newest"], "newest"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(
    runs: list[str], arguments: list[str], message: str
) -> None:
    done = _sdb(*(a.format(*runs) for a in arguments))
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_what_all_passes_cost_is_the_sum(runs: list[str]) -> None:
    document = json.loads(_ok("analyze", "cost", *runs, "--json"))
    each = [found["total"] for found in document["result"].values()]
    assert document["together"]["total"] == pytest.approx(sum(each), abs=1e-12)
    assert document["together"]["passes"] == document["together"]["priced"] == len(runs)
    assert f"together cost {sum(each):.3f} USD" in _ok("analyze", "cost", *runs)
