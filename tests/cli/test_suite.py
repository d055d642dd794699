"""`sdb suite`: look, build, export, check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from streamdecisionbench import example_suite
from streamdecisionbench.suite.suite_files import builtin_suite_path, make_suite, write_suite
from tests.cli.command import sdb

pytestmark = pytest.mark.slow


def test_list_and_stats_fit_80_columns() -> None:
    for command in (("list",), ("stats",), ("show", "support_a")):
        done = sdb("suite", *command)
        assert done.returncode == 0, done.stderr
        assert max(map(len, done.stdout.splitlines())) <= 80
    assert "177 changes" in sdb("suite", "stats").stdout
    assert len(json.loads(sdb("suite", "stats", "--json").stdout)["scenarios"]) == 8


def test_show_one_step_says_what_changed_and_why() -> None:
    done = sdb("suite", "show", "support_a", "--step", "33")
    text = " ".join(done.stdout.split())
    assert "hold_action=return_customer" in text
    assert "clock.now: 32 → 33" in text
    assert "change:" in text
    assert "hold_check_ticks" in text
    assert "A06_hold" not in text
    assert "A06_hold" in sdb("suite", "show", "support_a", "--step", "33", "--rules").stdout


def test_show_refuses_what_is_not_there() -> None:
    for words, says in (
        (("nothing",), "no scenario is called 'nothing'"),
        (("support_a", "--step", "60"), "step 60 is outside 0–59"),
        (("support_a", "--data", "nowhere"), "nowhere/manifest.json: no such file"),
    ):
        done = sdb("suite", "show", *words)
        assert done.returncode == 2
        assert says in done.stderr


def test_build_and_export_give_the_shipped_bytes(tmp_path: Path) -> None:
    assert sdb("suite", "build", "--out", tmp_path / "built").returncode == 0
    assert sdb("suite", "export", "--out", tmp_path / "exported").returncode == 0
    for path in builtin_suite_path().iterdir():
        assert (tmp_path / "built" / path.name).read_bytes() == path.read_bytes()
        assert (tmp_path / "exported" / path.name).read_bytes() == path.read_bytes()
    again = sdb("suite", "export", "--out", tmp_path / "exported")
    assert again.returncode == 2
    assert "exported: is not empty" in again.stderr


def test_coverage_of_a_suite_of_ones_own_claims_nothing_about_rules(tmp_path: Path) -> None:
    """Rules are not known there, also where the suite uses the name of a family."""
    for family in ("support_call_assist", "my_own"):
        (scenario,) = example_suite()
        own = make_suite([replace(scenario, task_family=family)], name="own")
        write_suite(own, tmp_path / family)
        done = sdb("suite", "coverage", "--data", tmp_path / family)
        assert done.returncode == 0, done.stderr
        assert "1 scenario, 4 states" in done.stdout
        assert "rules: not known for these scenarios" in done.stdout
        assert "every option answers a state" in done.stdout
        for claim in ("every rule", "misread", "decides:"):
            assert claim not in done.stdout
        told = sdb("suite", "coverage", "--data", tmp_path / family, "--json").stdout
        part = json.loads(told)["families"][family]
        assert (part["rules_known"], part["rules"], part["misreadings"]) == (False, {}, [])


def test_check() -> None:
    done = sdb("suite", "check")
    assert done.returncode == 0
    assert "all 480 stored states" in done.stdout


def test_build_leaves_foreign_folders_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("keep")
    done = sdb("suite", "build", "--out", tmp_path)
    assert done.returncode == 2
    assert "holds files that are no suite" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


DRAFT = """
from streamdecisionbench.suite.authoring import Change, Draft, Event, QuestionDraft
from streamdecisionbench.suite.scenario import DecisionSpec

def project(events, now):
    return {"now": now, "bell": [e.at for e in events]}

def reference(state):
    return {"route": "over" if state["bell"] else "on"}

def mistaken(state):
    return {"route": "on"}

def broken(state):
    return state["nothing"]

draft = Draft("bell", "support_call_assist", "A bell", {"route": QuestionDraft("?", {"on": "on", "over": "over"})},
    DecisionSpec("route", (), {"on": (), "over": ()}), (Event(2, "bell"),),
    (Change(2, ("route",), "it rang"),), project, reference, steps=4)
from dataclasses import replace
late = replace(draft, changes=(Change("2", ("route",), "it rang"),))
"""


def test_a_suite_of_ones_own_is_built_and_checked(tmp_path: Path) -> None:
    (tmp_path / "bells.py").write_text(DRAFT)
    words = ("suite", "build", "--out", "mine", "--name", "bells")
    late = sdb(*words, "python:bells:late", cwd=tmp_path)
    assert late.returncode == 2
    assert "at tick '2', which is no whole number" in late.stderr
    assert "Traceback" not in late.stderr
    assert not (tmp_path / "mine").exists()
    done = sdb(*words, "python:bells:draft", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    check = ("suite", "check", "--data", "mine")
    unknown = sdb(*check, cwd=tmp_path)
    assert unknown.returncode == 2
    assert "--reference python:module:function" in unknown.stderr
    good = sdb(*check, "--reference", "python:bells:reference", cwd=tmp_path)
    assert good.returncode == 0, good.stderr
    assert "all 4 stored states" in good.stdout
    for name, says in (
        ("mistaken", "bell tick 2: stored route = over, the reference says on"),
        ("broken", "bells.py:15: bell tick 0: python:bells:broken raises KeyError"),
        ("draft", "names no function"),
        ("missing", "has no attribute"),
    ):
        wrong = sdb(*check, "--reference", f"python:bells:{name}", cwd=tmp_path)
        assert wrong.returncode == 2
        assert says in wrong.stderr
        assert "Traceback" not in wrong.stderr
