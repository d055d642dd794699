"""`sdb run` as a person meets it: what it says while and after, and how it explains failures."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from streamdecisionbench.components.contract import Answer, Fatal, check_answer
from streamdecisionbench.components.redaction import Redactor
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.episode import Tally
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.sharing.bundles import pack
from streamdecisionbench.suite.suite_files import find_suite
from tests.cli.command import sdb

JEV = ("run", "simulated:jev", "--clock", "virtual")

MODULE = """
def value(request):
    return {q: text["criteria"][next(iter(text["criteria"]))].partition(":")[0]
            for q, text in request.questions.items()}

def number(request):
    return 42

class Raises:
    def answer(self, request):
        return {}[request.state["rules"]]
"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scenarios, named one by one and together."""
    out = tmp_path_factory.mktemp("run") / "two"
    done = sdb(*JEV, "--scenarios", "support_a", "--scenarios", "debugging_a", "--out", out)
    assert done.returncode == 0, done.stderr
    out.with_suffix(".txt").write_text(done.stdout)
    return out


def test_it_ends_with_the_score_and_the_next_command(two: Path) -> None:
    lines = two.with_suffix(".txt").read_text().splitlines()
    (entry,) = json.loads(sdb("score", two, "--json").stdout)["recordings"]
    assert list(entry["by_scenario"]) == ["debugging_a", "support_a"]
    assert any(f"score: AUC {100 * entry['overall']['log_auc']:.1f} %" in line for line in lines)
    assert lines[-1] == f"next: sdb score {two}"
    assert all(
        len(line) <= 80 or line.startswith("next:") for line in lines if str(two) not in line
    )


def test_a_pace_that_differs_from_the_mean_is_explained(tmp_path: Path) -> None:
    done = sdb(*JEV, "--scenarios", "support_a", "--interval", "0.2", "--out", tmp_path / "fast")
    said = " ".join(done.stdout.split())
    assert "in force as it ran" in said
    assert "The second is this pace alone; the AUC is the mean over paces" in said


def test_progress_says_how_much_time_is_left(tmp_path: Path) -> None:
    tally = Tally(step=10, steps=60, interval_s=2.0, later_s=120.0)
    assert tally.left_s == 220.0
    assert Tally(step=1, steps=2).left_s is None
    done = sdb(
        "run", "baseline:first-option", "--scenarios", "support_a,support_b", "--limit", "3",
        "--interval", "0.05", "--jsonl", "--out", tmp_path / "out",
    )  # fmt: skip
    events = [json.loads(line) for line in done.stdout.splitlines()]
    left = {e["name"]: e["left_s"] for e in events if e["event"] == "scenario"}
    assert left == {"support_a": pytest.approx(0.15), "support_b": pytest.approx(0.0)}
    assert events[-1]["event"] == "finished"
    assert 0 <= events[-1]["score"]["log_auc"] <= 1


def test_a_smoke_run_is_labelled_and_compared_with_nothing(two: Path, tmp_path: Path) -> None:
    out = tmp_path / "smoke"
    done = sdb(*JEV, "--scenarios", "support_a", "--limit", "5", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "! smoke run: the first 5 steps" in done.stdout
    (entry,) = json.loads(sdb("score", out, "--json").stdout)["recordings"]
    assert entry["notes"][0].startswith("smoke run: the first 5 steps")
    assert " smoke:5-steps " in entry["signature"]
    assert entry["accepted"] <= 5
    assert " smoke:5-steps " in sdb("score", out, "--csv").stdout
    refused = sdb("gate", out, "--baseline", two)
    assert refused.returncode == 2
    suite = find_suite(entry_suite(out), near=out)
    recording = read_recording(out, suite)
    with pytest.raises(InputError, match="smoke run"):
        pack([recording], suite, told={})
    assert sdb(*JEV, "--limit", "0", "--out", tmp_path / "none").returncode == 2
    assert not (tmp_path / "none").exists()
    other = sdb(*JEV, "--scenarios", "support_a", "--limit", "6", "--resume", "--out", out)
    assert other.returncode == 2


def entry_suite(folder: Path) -> str:
    record = json.loads((folder / "run.json").read_text())
    return str(record["dataset_manifest"]["dataset_hash"])


def test_complete_scenarios_of_an_incomplete_recording(two: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn"
    shutil.copytree(two, torn)
    record = json.loads((torn / "run.json").read_text())
    del record["events_sha256"]
    (torn / "run.json").write_text(json.dumps(record | {"status": "incomplete"}))
    log = (torn / "events.jsonl").read_bytes()
    (torn / "events.jsonl").write_bytes(log[: len(log) * 3 // 4])
    refused = sdb("score", torn)
    assert refused.returncode == 2
    assert "--partial" in refused.stderr
    done = sdb("score", torn, "--partial", "--json")
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(done.stdout)["recordings"]
    (whole,) = json.loads(sdb("score", two, "--partial", "--json").stdout)["recordings"]
    assert entry["notes"][0].startswith("partial: 1 of 2 scenarios")
    assert " partial:1/2 " in entry["signature"]
    assert "partial" not in whole["signature"] + "".join(whole["notes"])
    kept = "debugging_a"
    assert entry["by_scenario"] == {kept: whole["by_scenario"][kept]}
    assert "! partial: 1 of 2 scenarios" in sdb("score", torn, "--partial").stdout
    assert " partial:1/2 " in sdb("score", torn, "--partial", "--csv").stdout
    (torn / "events.jsonl").write_bytes(log[:2000])
    none = sdb("score", torn, "--partial")
    assert none.returncode == 2
    assert "no scenario of the recording is complete" in none.stderr


@pytest.mark.parametrize(
    ("attribute", "says"),
    [
        ("value", "not one of its labels"),
        ("number", "returned 42, a value of type int"),
        ("Raises", "my_rules.py:11: python:my_rules:Raises raises"),
    ],
)
def test_a_component_that_is_wrong_is_shown_what_it_did(
    attribute: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "my_rules.py").write_text(MODULE)
    words = ("run", f"python:my_rules:{attribute}", "--clock", "virtual", "--out", "out", "--quiet")
    done = sdb(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    if attribute == "value":
        assert "answer with the label" in done.stderr
    again = sdb(*words, "--debug", cwd=tmp_path)
    assert ("Traceback" in again.stderr) == (attribute == "Raises")
    assert says in again.stderr


def test_an_answer_that_is_a_key_is_hidden_before_it_is_cut() -> None:
    key = "sk-" + "0123456789" * 12
    questions = {"mode": {"criteria": {"K01": "talk: on", "K02": "closed: over"}}}
    for labels in ({"mode": key}, {"mode": "K01", key: "K02"}):
        with pytest.raises(Fatal) as raised:
            check_answer(Answer(labels), questions, Redactor([key]))
        assert "sk-0123" not in str(raised.value)


def test_instructions_that_nobody_would_read_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("Decide at once.")
    (tmp_path / "empty.txt").write_text(" \n")
    for words, says in (
        (("--prompt", "mine.txt"), "--prompt has no meaning for baseline:first-option"),
        (("--order", "state-first"), "--order has no meaning for baseline:first-option"),
        (("--prompt", "empty.txt"), "holds no instructions"),
        (("--prompt", "missing.txt"), "no such file"),
    ):
        done = sdb("run", "baseline:first-option", "--out", "out", *words, cwd=tmp_path)
        assert done.returncode == 2
        assert says in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("run", "baseline:first-option", "--clock", "virtual", "--out", "a", "--out", "b"),
        ("score", "a", "--interval", "1", "--interval=2"),
        ("analyze", "spells", "a", "--theta", "1", "--theta", "2"),
        ("logs", "score", "a.csv", "--interval", "1", "--interval", "2"),
    ],
)
def test_an_option_given_twice_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    done = sdb(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "is given twice" in done.stderr
