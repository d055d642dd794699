"""`sdb score` as a user and as a machine sees it."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections import Counter
from pathlib import Path
from types import FrameType

import pytest

import streamdecisionbench as package
from streamdecisionbench.cli.progress_bar import working
from streamdecisionbench.kernel.classes import CLASSES
from tests.cli.command import sdb
from tests.recording.made import write


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path / "run")


def test_json_has_the_documented_shape(run: Path) -> None:
    done = sdb("score", run, "--json")
    document = json.loads(done.stdout)
    assert document["schema"] == "sdb-score/1"
    (entry,) = document["recordings"]
    assert entry["name"] == "run"
    assert {"signature", "accepted", "discarded", "latency"} <= set(entry)
    levels = [entry["overall"], *entry["by_family"].values(), *entry["by_scenario"].values()]
    assert len(levels) == 3
    for level in levels:
        for key in (
            "log_auc",
            "untimed",
            "in_force",
            "segment_in_force",
            "oracle",
            "u_current",
            "product",
        ):
            assert 0 <= level[key] <= 1
        assert set(level["classes"]) == set(CLASSES)
        assert sum(level["classes"].values()) == pytest.approx(1, abs=1e-12)
        over = level["integrated"]
        assert over["in_force"] == level["log_auc"]
        assert sum(over["classes"].values()) == pytest.approx(1, abs=1e-12)
        assert {name: over[name] for name in CLASSES} == over["classes"]
    assert entry["overall"]["in_force"] == pytest.approx(0.6, abs=1e-12)


def test_api_and_command_say_the_same(run: Path) -> None:
    suite = package.read_suite(run.parent / "suite")
    score = package.score(
        package.read_recording(run, suite), suite, interval=1.5, bounds=(1, 4), weighting="linear"
    )
    done = sdb(
        "score", run, "--json", "--interval", "1.5", "--bounds", "1", "4", "--weighting", "linear"
    )
    (entry,) = json.loads(done.stdout)["recordings"]
    assert entry["overall"]["log_auc"] == score.log_auc
    assert entry["overall"]["in_force"] == score.in_force
    assert entry["signature"] == score.signature
    assert "bounds:1-4 weighting:linear" in score.signature


def test_csv_and_json_agree(run: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(sdb("score", run, "--csv").stdout)))
    (entry,) = json.loads(sdb("score", run, "--json").stdout)["recordings"]
    assert [row["level"] for row in rows] == ["overall", "family", "scenario"]
    assert float(rows[0]["log_auc"]) == entry["overall"]["log_auc"]
    assert float(rows[0]["integrated_stale"]) == entry["overall"]["integrated"]["stale"]


def test_answers_curves_and_mistakes(run: Path) -> None:
    done = sdb("score", run, "--json", "--curves", "--mistakes")
    (entry,) = json.loads(done.stdout)["recordings"]
    for level in (entry["overall"], *entry["by_family"].values(), *entry["by_scenario"].values()):
        assert level["answers"]["exact_match"] == 0.75
        assert level["answers"]["active_question"] == 0.75
        assert level["answers"]["per_question"] == {"recorder": 0.75}
        for metric, curve in level["curves"].items():
            k = max(i for i, low in enumerate(curve["intervals"][:-1]) if low <= 2.0)
            at_two = curve["c0"][k] + curve["c1"][k] / 2.0
            expected = level[metric] if metric in level else level["classes"][metric]
            assert at_two == pytest.approx(expected, abs=1e-12), metric
    (mistake,) = entry["mistakes"]
    assert (mistake["t"], mistake["expected"]) == (3, {"recorder": "record"})
    assert mistake["answered"] == {"recorder": "pause"}
    rows = list(csv.DictReader(io.StringIO(sdb("score", run, "--csv").stdout)))
    assert [float(row["exact_match"]) for row in rows] == [0.75] * 3
    assert "75.0 % of those in use right" in sdb("score", run).stdout


def test_same_bytes_twice(run: Path) -> None:
    for form in ("--json", "--csv", "--mistakes"):
        assert sdb("score", run, form).stdout == sdb("score", run, form).stdout


def test_screen_fits_80_columns(run: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other")
    for arguments in ((run,), (run, "--by", "scenario", "--mistakes"), (run, other)):
        done = sdb("score", *arguments)
        assert done.returncode == 0, done.stderr
        assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert "60.0" in sdb("score", run).stdout


def test_two_recordings_of_one_name_stay_apart(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a" / "run"), write(tmp_path / "b" / "run")
    names = [r["name"] for r in json.loads(sdb("score", one, two, "--json").stdout)["recordings"]]
    assert len(set(names)) == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--interval", "0"),
        ("--interval", "-1"),
        ("--interval", "nan"),
        ("--bounds", "8", "0.5"),
        ("--bounds", "0", "8"),
        ("--weighting", "cubic"),
        ("--clock", "wall"),
        ("--by", "moon"),
        ("--json", "--csv"),
        ("--curves",),
        ("--csv", "--mistakes"),
    ],
)
def test_bad_options(run: Path, options: tuple[str, ...]) -> None:
    done = sdb("score", run, *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_help_names_the_commands() -> None:
    done = sdb("--help", "--all")
    assert done.returncode == 0
    for command in ("score", "validate", "import", "suite"):
        assert command in done.stdout


def test_the_folder_of_several_passes_is_scored_as_passes(tmp_path: Path) -> None:
    done = sdb(
        "run", "simulated:jev", "--clock", "virtual", "--scenarios", "support_a", "--passes", "2",
        "--out", tmp_path / "out", "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = sdb("score", tmp_path / "out")
    assert said.returncode == 0, said.stderr
    assert "2 passes at 2 s" in said.stdout
    assert "mean" in said.stdout
    assert "95 %*" in said.stdout
    assert max(map(len, said.stdout.splitlines())) <= 80


def _words(text: str) -> set[str]:
    return set(text.split())


def test_long_names_break_no_word_and_the_ranking_is_what_stays(tmp_path: Path) -> None:
    ending = "with-a-name-that-is-much-longer-than-any-column-of-a-table"
    runs = [write(tmp_path / f"{who}-{ending}-{k}") for who in ("jev", "astra") for k in range(8)]
    done = sdb("score", *runs)
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    top = next(k for k, line in enumerate(lines) if line.lstrip().startswith("#"))
    assert len(lines) - top < 24  # what a screen of 24 lines still shows
    rows = lines[top + 1 : top + 1 + len(runs)]
    assert [row.split()[0] for row in rows] == [str(k) for k in range(1, len(runs) + 1)]
    names = {row.split()[1] for row in rows}
    assert len(names) == len(runs)
    assert _words(sdb("score", *runs, COLUMNS="200").stdout) >= {"oracle*", "judgm.*"}
    for words in (
        ("analyze", "pace", *runs[:4]),
        ("compose", "--all", *runs[:3]),
        ("compose", "--fast", runs[0], "--slow", runs[1]),
    ):
        narrow, wide = sdb(*words).stdout, sdb(*words, COLUMNS="400").stdout
        assert max(map(len, narrow.splitlines())) <= 80
        told = _words("Names are cut to fit; --csv has them whole, or set COLUMNS=160.")
        new = _words(narrow) - _words(wide) - told
        broken = {word for word in new if "…" not in word}
        assert not broken


def test_one_recording_fits_24_lines_with_its_interval_and_marks(run: Path) -> None:
    lines = sdb("score", run).stdout.splitlines()
    assert len(lines) < 24
    heading = next(line for line in lines if "untimed" in line)
    assert {"AUC*", "oracle*", "U_cur*", "U·O*"} <= set(heading.split())
    assert not {"untimed*", "seg.*"} & set(heading.split())
    (note,) = [line for line in lines if line.startswith("* integrated over log 0.5–8 s")]
    assert "AUC 95\u00a0%" in note
    low, _, high = note.split("%")[1].split()[0].partition("–")
    (entry,) = json.loads(sdb("score", run, "--json").stdout)["recordings"]
    assert float(low) <= 100 * entry["overall"]["log_auc"] <= float(high)


def test_compose_as_csv(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one"), write(tmp_path / "two")
    for words in (("--fast", one, "--slow", two), ("--all", one, two)):
        rows = list(csv.DictReader(io.StringIO(sdb("compose", *words, "--csv").stdout)))
        document = json.loads(sdb("compose", *words, "--json").stdout)
        alone = [row for row in rows if not row["rule"] and row["level"] == "overall"]
        assert [float(r["log_auc"]) for r in alone] == [
            a["overall"]["log_auc"] for a in document["alone"]
        ]
        pairs = [row for row in rows if row["rule"] and row["level"] == "overall"]
        assert [(r["fast"], r["slow"], r["rule"]) for r in pairs] == [
            (p["fast"], p["slow"], p["rule"]) for p in document["pairs"]
        ]
        for row, pair in zip(pairs, document["pairs"], strict=True):
            assert float(row["log_auc"]) == pair["overall"]["log_auc"]
            better = max(
                float(a["log_auc"]) for a in alone if a["fast"] in (row["fast"], row["slow"])
            )
            assert float(row["gain"]) == float(row["log_auc"]) - better
            assert int(row["corrections"]) == pair["corrections"]
    assert sdb("compose", "--all", one, two, "--csv", "--json").returncode == 2


def test_one_spelling_of_rules(run: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other")
    pair = ("compose", "--fast", run, "--slow", other, "--json")
    typed = sdb(*pair, "--rule", "late-override").stdout
    assert typed == sdb(*pair, "--rule", "late_override").stdout
    refused = sdb(*pair, "--rule", "newest")
    assert "freshest, lag-one, late-override" in refused.stderr


def test_long_work_gives_a_sign_of_life(capsys: pytest.CaptureFixture[str]) -> None:
    with working("counting", first_s=0.0, every_s=0.01):
        while "counting" not in capsys.readouterr().err:
            pass
    with working("nothing", first_s=60.0):
        pass
    assert "nothing" not in capsys.readouterr().err


@pytest.mark.parametrize("more", [(), ("--costs", "default"), ("--json", "--curves")], ids=" ".join)
def test_a_recording_is_read_once_and_replayed_once(run: Path, more: tuple[str, ...]) -> None:
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls[frame.f_code.co_name] += 1

    sys.setprofile(count)
    try:
        done = sdb("score", run, *more)
    finally:
        sys.setprofile(None)
    assert done.returncode == 0, done.stderr
    once = ("read_recording", "timelines", "score_timelines", "critical_scale")
    assert {name: calls[name] for name in once} == dict.fromkeys(once, 1)
