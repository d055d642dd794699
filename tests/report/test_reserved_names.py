"""Fields, values, scenarios and recordings that are called like what every JavaScript object has."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from streamdecisionbench.examples import example_suite
from streamdecisionbench.report.figures.figure import _OBJECT_KEYS, can_draw
from streamdecisionbench.suite.scenario import DecisionSpec, Question
from streamdecisionbench.suite.suite_files import make_suite, write_suite
from tests.cli.command import record_simulated, sdb
from tests.report.browser import CHROMIUM, NO_BROWSER, Browser

FIELDS = ("constructor", "__proto__", "toString", "hasOwnProperty", "valueOf")
VALUES = ("constructor", "__proto__")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("reserved")
    (tiny,) = example_suite()
    asked = Question("choice", "Which?", {f"K0{k}": f"{v}: so" for k, v in enumerate(VALUES, 1)})
    meant = {f"K0{k}": value for k, value in enumerate(VALUES, 1)}
    scenario = msgspec.structs.replace(
        tiny,
        episode_id="constructor",
        scenario_id="constructor",
        task_family="toString",
        questions=dict.fromkeys(FIELDS, asked),
        option_semantics=dict.fromkeys(FIELDS, meant),
        decision_spec=DecisionSpec(FIELDS[0], FIELDS[1:], dict.fromkeys(VALUES, ())),
        steps=tuple(
            msgspec.structs.replace(
                step, gold={field: VALUES[(t + k) % 2] for k, field in enumerate(FIELDS)}
            )
            for t, step in enumerate(tiny.steps)
        ),
    )
    write_suite(make_suite([scenario], name="valueOf"), home / "suite")
    on = ("--data", home / "suite")
    runs = [record_simulated("jev", home / name, *on) for name in ("toString", "__proto__")]
    done = sdb("report", *runs, *on, "--out", home / "report", "--formats", "svg", "--quiet")
    assert done.returncode == 0, done.stderr
    return home / "report"


@pytest.mark.skipif(not can_draw(), reason="needs the extra `report`")
def test_figures_show_them(report: Path) -> None:
    drawn = (report / "figures" / "trajectory.svg").read_text()
    for field in FIELDS:
        assert re.search(rf">\s*{field.replace('_', ' ').strip()}", drawn), field


@pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)
def test_the_page_shows_them(report: Path) -> None:
    with Browser() as browser:
        browser.open(report / "index.html")
        assert browser.run("document.documentElement.dataset.ready") == "yes"
        browser.settle()
        assert browser.seen.errors == []
        text = browser.run("document.body.textContent")
        for name in (*FIELDS[:3], "valueOf"):
            assert name in text
        known = browser.run("Object.getOwnPropertyNames(Object.prototype)")
        assert set(known) <= _OBJECT_KEYS
