"""`sdb gate` and `sdb diff`: exit codes, forms, and what they refuse."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamdecisionbench.cli import main as command_line
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.cli.command import sdb

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Simulations on the virtual clock: twice one setting, and a worse one."""
    home = tmp_path_factory.mktemp("gate")
    for name, profile, seed in (("one", "jev", 1), ("two", "jev", 2), ("slow", "astra-low", 1)):
        done = sdb(
            "run", f"simulated:{profile}", "--clock", "virtual", "--quiet", "--seed", str(seed),
            "--out", home / name,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return {name: home / name for name in ("one", "two", "slow")}


def test_exit_codes(runs: dict[str, Path]) -> None:
    easy = sdb("gate", runs["two"], "--baseline", runs["one"], "--max-drop", "20", "--strict")
    assert (easy.returncode, easy.stdout.splitlines()[0][:5]) == (0, "PASS:")
    unsure = ("gate", runs["two"], "--baseline", runs["one"])
    found, strict, document = (sdb(*unsure, *more) for more in ((), ("--strict",), ("--json",)))
    assert found.stdout.startswith("CANNOT TELL:")
    assert found.returncode == document.returncode == json.loads(document.stdout)["exit_code"] == 0
    assert found.stdout.splitlines()[-1].startswith("exit code 0, although this is not a pass")
    assert "exit code 0, although this is not a pass" in document.stderr
    assert strict.returncode == 3
    assert "exit code" not in strict.stdout + easy.stdout
    worse = sdb("gate", runs["one"], "--baseline", runs["one"], "--min", "99")
    assert (worse.returncode, worse.stdout[:5]) == (1, "FAIL:")
    other = sdb("gate", runs["slow"], "--baseline", runs["one"], "--max-drop", "100")
    assert other.returncode == 1
    assert "another model was served" in other.stdout
    allowed = ("--max-drop", "100", "--allow-model-change")
    assert sdb("gate", runs["slow"], "--baseline", runs["one"], *allowed).returncode == 0
    assert sdb("gate", runs["one"], "--baseline", runs["one"], "--max-drop", "-1").returncode == 2
    missing = sdb("gate", runs["one"] / "nothing", "--baseline", runs["one"])
    assert missing.returncode == 2
    assert "does not exist" in missing.stderr


def test_lines_fit_80_columns_and_simulation_is_said(runs: dict[str, Path]) -> None:
    done = sdb("gate", runs["two"], "--baseline", runs["one"])
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "! new and baseline: simulation" in done.stdout


def test_json_holds_what_the_scores_are(runs: dict[str, Path]) -> None:
    done = sdb("gate", runs["two"], "--baseline", runs["one"], "--interval", "1.2", "--json")
    found = json.loads(done.stdout)
    assert found["schema"] == "sdb-gate/1"
    suite = read_suite(builtin_suite_path())
    for role, run in (("new", "two"), ("baseline", "one")):
        exact = score(runs[run], suite, interval=1.2).in_force
        assert found[role]["value"] == pytest.approx(exact, abs=1e-12)
        low, high = found[role]["interval_95"]
        assert low < exact < high
    assert found["drop"]["value"] == pytest.approx(
        found["baseline"]["value"] - found["new"]["value"], abs=1e-12
    )
    assert found["detectable"] > found["max_drop"] == 0.01


def test_saved_scores_are_gated_by_scenario(runs: dict[str, Path], tmp_path: Path) -> None:
    for name in ("one", "two"):
        saved = sdb("score", runs[name], "--json")
        (tmp_path / f"{name}.json").write_text(saved.stdout)
    ask = ("gate", tmp_path / "two.json", "--baseline", tmp_path / "one.json", "--json")
    found = json.loads(sdb(*ask).stdout)
    whole = json.loads(sdb("gate", runs["two"], "--baseline", runs["one"], "--json").stdout)
    assert found["paired_by"] == "scenario"
    assert found["drop"]["value"] == pytest.approx(whole["drop"]["value"], abs=1e-12)
    assert found["served_models"] == whole["served_models"]
    other_pace = sdb(*ask, "--interval", "1")
    assert other_pace.returncode == 2
    assert "was scored at 2 s, not at 1 s" in other_pace.stderr
    mixed = sdb("gate", runs["two"], "--baseline", tmp_path / "one.json")
    assert mixed.returncode == 2
    assert "is a recording, but" in mixed.stderr
    (tmp_path / "no.json").write_text("{}")
    assert "is no saved score" in sdb(*ask[:1], tmp_path / "no.json", *ask[2:]).stderr


def made_rows(wrong: float, streams: int = 60, steps: int = 30) -> list[dict[str, object]]:
    rng = np.random.default_rng(5)
    return [
        {
            "stream": f"call-{k}", "published_at": float(t), "answered_at": t + 0.1,
            "decision": "x" if rng.random() < wrong else f"d{t // 4}", "reference": f"d{t // 4}",
            "ended_at": float(steps),
        }
        for k in range(streams)
        for t in range(steps)
    ]  # fmt: skip


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def made_log(path: Path, wrong: float, streams: int = 60, steps: int = 30) -> Path:
    return written(path, made_rows(wrong, streams, steps))


def test_logs_are_gated_by_stream(tmp_path: Path) -> None:
    old, worse = made_log(tmp_path / "old.parquet", 0.1), made_log(tmp_path / "new.parquet", 0.3)
    found = json.loads(sdb("gate", worse, "--baseline", old, "--json").stdout)
    assert (found["verdict"], found["paired_by"]) == ("fail", "stream")
    for role, path in (("new", worse), ("baseline", old)):
        exact = json.loads(sdb("logs", "score", path, "--json").stdout)["groups"][0]
        assert found[role]["value"] == pytest.approx(exact["in_force"], abs=1e-12)
    assert sdb("gate", worse, "--baseline", old).returncode == 1
    better = sdb("gate", old, "--baseline", worse)
    assert (better.returncode, better.stdout[:5]) == (0, "PASS:")
    one = made_log(tmp_path / "one.parquet", 0.1, streams=1)
    assert "too little to say" in sdb("gate", one, "--baseline", old).stderr


def test_what_only_one_log_has_cannot_hide_a_drop(tmp_path: Path) -> None:
    """The same bad release: whole it fails, and no way of leaving things out makes it pass."""
    old, bad = made_rows(0.1), made_rows(0.25)
    baseline = written(tmp_path / "old.parquet", old)
    whole = written(tmp_path / "whole.parquet", bad)
    assert sdb("gate", whole, "--baseline", baseline).returncode == 1
    wrong = [row["decision"] != row["reference"] for row in bad]
    errors = Counter(row["stream"] for row, is_wrong in zip(bad, wrong, strict=True) if is_wrong)
    hard = {stream for stream, _ in errors.most_common(30)}
    left_out = {
        "streams": [row for row in bad if row["stream"] not in hard],
        "references": [
            {**row, "reference": None if is_wrong else row["reference"]}
            for row, is_wrong in zip(bad, wrong, strict=True)
        ],
        "states": [row for row, is_wrong in zip(bad, wrong, strict=True) if not is_wrong],
        "names": [{**row, "stream": f"new-{row['stream']}"} for row in bad],
    }
    for what, rows in left_out.items():
        log = written(tmp_path / f"{what}.parquet", rows)
        done = sdb("gate", log, "--baseline", baseline, "--strict", "--json")
        found = json.loads(done.stdout)
        assert (done.returncode, found["verdict"]) == (3, "cannot tell"), what
        low, high = found["drop"]["interval_95"]
        assert low <= 0.01 < high
        assert found["new"]["streams"] == len({row["stream"] for row in rows})
        assert found["new"]["states"] == len(rows)
        assert 0 < found["new"]["judged_share"] <= 1
    assert any("0 of 120 streams are in both" in reason for reason in found["reasons"])
    shown = sdb("gate", tmp_path / "references.parquet", "--baseline", baseline)
    assert "60 streams, 1800 states, 100.0 % of time judged" in shown.stdout
    assert "judged on one side only" in shown.stdout


def test_logs_of_different_streams_are_not_called_paired(tmp_path: Path) -> None:
    old = made_log(tmp_path / "old.parquet", 0.1)
    for name, wrong, verdict in (("worse", 0.3, "fail"), ("better", 0.02, "pass")):
        rows = [{**row, "stream": f"new-{row['stream']}"} for row in made_rows(wrong)]
        log = written(tmp_path / f"{name}.parquet", rows)
        unsaid = json.loads(sdb("gate", log, "--baseline", old, "--json").stdout)
        assert unsaid["verdict"] == "cannot tell"
        ask = ("gate", log, "--baseline", old, "--unpaired")
        found = json.loads(sdb(*ask, "--json").stdout)
        assert (found["verdict"], found["paired_by"]) == (verdict, "nothing")
        assert "not paired; resampled" in sdb(*ask).stdout
    hidden = [
        {**row, "reference": None if row["decision"] != row["reference"] else row["reference"]}
        for row in made_rows(0.3)
    ]
    log = written(tmp_path / "hidden.parquet", hidden)
    assert sdb("gate", log, "--baseline", old, "--unpaired", "--strict").returncode == 3


def test_what_was_not_measured_anew_does_not_pass(runs: dict[str, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(runs["one"], copy)
    log = made_log(tmp_path / "log.parquet", 0.1)
    same_log = Path(shutil.copy(log, tmp_path / "same.parquet"))
    saved = tmp_path / "one.json"
    saved.write_text(sdb("score", runs["one"], "--json").stdout)
    pairs = [(runs["one"], runs["one"]), (copy, runs["one"]), (log, same_log), (saved, saved)]
    for new, baseline in pairs:
        done = sdb("gate", new, "--baseline", baseline)
        assert done.returncode == 0
        assert done.stdout.startswith("CANNOT TELL:")
        assert "nothing was measured anew" in done.stdout
        assert sdb("gate", new, "--baseline", baseline, "--strict").returncode == 3
    refused = sdb("gate", copy, "--baseline", runs["one"], "--unpaired")
    assert (refused.returncode, "leave --unpaired out" in refused.stderr) == (2, True)


def test_nothing_to_lose_is_no_pass(runs: dict[str, Path]) -> None:
    done = sdb("gate", runs["two"], "--baseline", runs["one"], "--interval", "0.001", "--strict")
    assert done.returncode == 3
    assert "the baseline is right 0.0 % of the time" in done.stdout


def test_sides_with_other_labels_are_not_compared(runs: dict[str, Path], tmp_path: Path) -> None:
    """A measured baseline against a simulation, in what a saved score says of itself."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(sdb("score", runs[name], "--json").stdout)
    measured = json.loads((tmp_path / "one.json").read_text())
    entry = measured["recordings"][0]
    entry["signature"] = entry["signature"].replace("simulated:yes", "simulated:no")
    entry["notes"], entry["simulated"] = entry["notes"][1:], False
    (tmp_path / "one.json").write_text(json.dumps(measured))
    ask = ("gate", tmp_path / "two.json", "--baseline", tmp_path / "one.json", "--max-drop", "50")
    done = sdb(*ask, "--strict")
    assert done.returncode == 3
    assert "only the new one is a simulation" in done.stdout
    assert "! new: simulation" in done.stdout
    assert "! new and baseline: virtual clock" in done.stdout


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ({"log_auc": 59.7}, "<= 1"),
        ({"log_auc": -0.5}, ">= -1e-09"),
        ({"log_auc": "0.6"}, "Expected `float`"),
        ({"log_auc": None}, "Expected `float`"),
        ({"family": 3}, "Expected `str`"),
    ],
)
def test_a_saved_score_must_be_one(
    runs: dict[str, Path], tmp_path: Path, spoil: dict[str, object], says: str
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(sdb("score", runs["one"], "--json").stdout)
    document = json.loads(good.read_text())
    document["recordings"][0]["by_scenario"]["support_a"] |= spoil
    bad.write_text(json.dumps(document))
    done = sdb("gate", bad, "--baseline", good)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is no score that can be compared" in done.stderr
    assert says in done.stderr


@pytest.mark.parametrize(
    ("level", "field", "value", "says"),
    [
        ("overall", "log_auc", 0.9, "overall.log_auc is 0.9, its scenarios come to 0."),
        ("overall", "in_force", 0.0, "overall.in_force is 0, "),
        ("by_family/support_call_assist", "log_auc", 0.9, "by_family.support_call_assist.log_auc is 0.9"),
        ("by_scenario/support_a", "family", "presenter_voice_control", "overall.log_auc is 0."),
        ("by_scenario/support_a", "in_force", 1.0, "overall.in_force is 0."),
        ("", "simulated", False, "simulated says no, its signature simulated:yes"),
        ("", "virtual_clock", False, "virtual_clock says real, its signature time:virtual"),
        ("", "interval", 3.0, "interval says 3, its signature interval:2"),
        ("", "bounds", [0.5, 9.0], "bounds says 0.5-9, its signature bounds:0.5-8"),
        ("", "weighting", "linear", "weighting says linear, its signature weighting:log"),
    ],
)  # fmt: skip
def test_a_saved_score_that_contradicts_itself_is_refused(
    runs: dict[str, Path], tmp_path: Path, level: str, field: str, value: object, says: str
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(sdb("score", runs["one"], "--json").stdout)
    document = json.loads(good.read_text())
    place = document["recordings"][0]
    for key in filter(None, level.split("/")):
        place = place[key]
    assert field in place
    place[field] = value
    bad.write_text(json.dumps(document))
    for sides in ((bad, good), (good, bad)):
        done = sdb("gate", sides[0], "--baseline", sides[1])
        assert (done.returncode, done.stdout) == (2, "")
        assert f"bad.json: contradicts itself: {says}" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    "key", ["by_scenario", "overall", "signature", "bounds", "interval", "accepted"]
)
@pytest.mark.parametrize("value", [None, [], [1, "a"], {"a": 1}])
def test_a_malformed_saved_score_is_bad_input(tmp_path: Path, key: str, value: object) -> None:
    entry = {
        "name": "n", "signature": "suite:1", "interval": 2.0, "bounds": [0.5, 8.0],
        "weighting": "log", "accepted": 9,
        "discarded": {"after_horizon": 0, "older_than_active": 0},
        "overall": {"log_auc": 0.5, "in_force": 0.5},
        "by_scenario": {k: {"family": "f", "log_auc": 0.5, "in_force": 0.5} for k in "ab"},
    }  # fmt: skip
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps({"schema": "sdb-score/1", "recordings": [entry]}))
    bad.write_text(json.dumps({"schema": "sdb-score/1", "recordings": [{**entry, key: value}]}))
    for new, baseline in ((bad, good), (good, bad)):
        done = sdb("gate", new, "--baseline", baseline)
        assert done.returncode == 2, done.stdout
        assert done.stderr.startswith("error: ")


def test_a_reader_who_stops_early_changes_no_verdict(
    runs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    ask = ["sdb", "gate", str(runs["two"]), "--baseline", str(runs["one"])]
    for more, code in (
        (["--max-drop", "20"], 0), (["--min", "99"], 1), (["--strict"], 3),
        (["--min", "99", "--json"], 1), (["--max-drop", "20", "--json", "--github"], 0),
    ):  # fmt: skip
        with contextlib.redirect_stdout(Gone()):
            monkeypatch.setattr("sys.argv", [*ask, *more])
            with pytest.raises(SystemExit) as end:
                command_line.main()
        assert end.value.code == code, more


def test_a_pipe_that_closes_at_the_end_changes_no_verdict(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    """Output that fits the buffer fails at the last flush, after the verdict."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(sdb("score", runs[name], "--json").stdout)
    ask = (sys.executable, "-m", "streamdecisionbench.cli.main", "gate", tmp_path / "two.json")
    for more, code in ((("--max-drop", "20"), 0), (("--min", "99", "--json"), 1)):
        read, write = os.pipe()
        os.close(read)
        with os.fdopen(write, "w") as gone:
            done = subprocess.run(
                [*ask, "--baseline", tmp_path / "one.json", *more],
                stdout=gone, stderr=subprocess.PIPE, check=False, timeout=120,
                env={**os.environ, "PYTHONUNBUFFERED": ""},
            )  # fmt: skip
        assert done.returncode == code
        assert b"Traceback" not in done.stderr


def test_short_scenarios_leave_doubt(tmp_path: Path) -> None:
    """One step of every scenario: the same component with another seed is not told apart."""
    for seed in range(4):
        sdb(
            "run", "simulated:jev", "--clock", "virtual", "--quiet", "--seed", str(seed),
            "--limit", "1", "--out", tmp_path / str(seed),
        )  # fmt: skip
    for seed in range(1, 4):
        done = sdb("gate", tmp_path / str(seed), "--baseline", tmp_path / "0", "--json")
        found = json.loads(done.stdout)
        assert found["verdict"] == "cannot tell"
        low, high = found["drop"]["interval_95"]
        assert high - low > 0.5
        assert found["new"]["states"] == found["new"]["scenarios"] == 8
        assert any(note.startswith("smoke run") for note in found["new"]["notes"])


@pytest.mark.parametrize("few", ["-1", "2", "39"])
def test_too_few_resamples_give_no_interval(runs: dict[str, Path], few: str) -> None:
    for ask in (
        ("gate", runs["two"], "--baseline", runs["one"]),
        ("choose", runs["one"], runs["two"], "--interval", "2"),
        ("choose", "--frontier", runs["one"], runs["two"], "--interval", "2"),
        ("analyze", "intervals", runs["one"]),
        ("analyze", "network", runs["one"]),
        ("logs", "score", runs["one"]),
    ):
        done = sdb(*ask, "--resamples", few)
        assert done.returncode == 2, ask
        assert "40<=x<=1000000" in done.stderr


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64])
def test_a_seed_is_a_number_of_63_bits(runs: dict[str, Path], seed: int) -> None:
    for ask in (
        ("gate", runs["two"], "--baseline", runs["one"]),
        ("choose", runs["one"], runs["two"], "--interval", "2"),
        ("choose", "--frontier", runs["one"], runs["two"], "--interval", "2"),
        ("analyze", "intervals", runs["one"]),
        ("analyze", "schedules", runs["one"]),
        ("logs", "score", runs["one"]),
    ):
        done = sdb(*ask, "--seed", str(seed))
        assert done.returncode == 2, ask
        assert "0<=x<=9223372036854775807" in done.stderr


def test_junit_and_github(runs: dict[str, Path], tmp_path: Path) -> None:
    junit, summary = tmp_path / "deep" / "gate.xml", tmp_path / "summary.md"
    done = sdb(
        "gate", runs["two"], "--baseline", runs["one"], "--min", "99", "--junit", junit,
        "--github", GITHUB_STEP_SUMMARY=str(summary),
    )  # fmt: skip
    assert done.returncode == 1
    root = ET.parse(junit).getroot()  # noqa: S314
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("1", "1", "0")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message", "").startswith("FAIL:")
    commands = [line for line in done.stdout.splitlines() if line.startswith("::")]
    assert re.fullmatch(r"::error title=sdb gate::FAIL:[^\r\n]*%0A[^\r\n]*", commands[0])
    assert all(re.match(r"::(warning|notice|error) title=[^:,]+::\S", line) for line in commands)
    text = summary.read_text()
    assert text.startswith("## FAIL:")
    for form in (text, junit.read_text(), commands[0]):
        assert "new and baseline: simulation: answers and latencies were drawn" in form
        assert "new and baseline: virtual clock: service times" in form
    assert "8 scenarios, 480 states" in text
    labels = [label.get("value", "") for label in suite.iterfind("testcase/properties/property")]
    assert [label.split(":")[1] for label in labels] == [" simulation", " virtual clock"]
    assert "| state | what | reference | before | now | evidence |" in text


def test_diff_lists_every_state_that_differs(runs: dict[str, Path]) -> None:
    found = json.loads(sdb("diff", runs["one"], runs["two"], "--json").stdout)
    paired = json.loads(sdb("analyze", "paired", runs["one"], runs["two"], "--json").stdout)
    counts = paired["result"][0]["counts"][-1]
    assert found["counts"]["lost"] == counts["only_first"]
    assert found["counts"]["won"] == counts["only_second"]
    assert len(found["flips"]) == sum(found["counts"].values())
    assert all(flip["first"] != flip["second"] for flip in found["flips"])
    assert all(flip["evidence"] for flip in found["flips"])
    assert [side["states"] for side in found["sides"].values()] == [found["states"]] * 2
    assert all("simulation" in side["notes"][0] for side in found["sides"].values())
    lost = sdb("diff", runs["one"], runs["two"], "--only", "lost")
    assert f"scenarios, {found['states']} states" in lost.stdout
    assert lost.stdout.count(": simulation: answers") == 2
    assert lost.stdout.count("right before, wrong now") == 1 + counts["only_first"]
    assert max(map(len, lost.stdout.splitlines())) <= 80
    nothing = sdb("diff", runs["one"], runs["two"], "--only", "x")
    assert (nothing.returncode, "lost, won, changed" in nothing.stderr) == (2, True)


CAUSE = r"(drop|gain) \d+\.\d points: latency [−+]?\d+\.\d, judgment [−+]?\d+\.\d(, both [−+]\d+\.\d)?; p50 \d+\.\d\d → \d+\.\d\d s"


def test_every_form_says_the_same_causes(runs: dict[str, Path], tmp_path: Path) -> None:
    """Terminal, JSON, JUnit, annotation, job summary, diff, report table and page: one sentence."""
    junit, summary = tmp_path / "gate.xml", tmp_path / "summary.md"
    ask = ("gate", runs["slow"], "--baseline", runs["one"], "--allow-model-change")
    done = sdb(*ask, "--junit", junit, "--github", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 1
    said = re.search(CAUSE, done.stdout)
    assert said is not None
    sentence = said.group()
    assert "p50 0.25 → 2.68 s" in sentence
    failure = ET.parse(junit).getroot().find("testsuite/testcase/failure")  # noqa: S314
    assert failure is not None
    assert failure.get("message", "").endswith(sentence)
    assert f"**{sentence}**" in summary.read_text()
    annotation = next(line for line in done.stdout.splitlines() if line.startswith("::error"))
    assert sentence in annotation
    differs = sdb("diff", runs["one"], runs["slow"]).stdout
    assert sentence in " ".join(differs.split())
    report = sdb(
        "report", runs["one"], runs["slow"], "--out", tmp_path / "report", "--no-pairs",
        "--formats", "svg", "--quiet",
    )  # fmt: skip
    assert report.returncode == 0, report.stderr
    assert sentence in (tmp_path / "report" / "report.md").read_text()
    page = (tmp_path / "report" / "index.html").read_text()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert data is not None
    shown = json.loads(data.group(1))["differences"]
    assert shown["causes"] == sentence
    found = json.loads(sdb(*ask, "--json").stdout)
    assert sum(found["causes"].values()) == pytest.approx(-found["drop"]["value"], abs=1e-12)
    for losses in found["losses"].values():
        total = sum(loss["drop"] for loss in losses)
        assert total == pytest.approx(found["drop"]["value"], abs=1e-12)
    worst = found["losses"]["scenarios"][0]
    line = f"{worst['scenario']}: right {100 * worst['before']:.1f} → {100 * worst['now']:.1f} %"
    for form in (done.stdout, differs, "\n".join(shown["lost"])):
        assert line in form
        assert form.index("Lost most time") < form.index("Changes after which most was lost")
    # Of saved scores the same, as far as they know.
    for name in ("one", "slow"):
        (tmp_path / f"{name}.json").write_text(sdb("score", runs[name], "--json").stdout)
    saved = sdb("gate", tmp_path / "slow.json", "--baseline", tmp_path / "one.json")
    assert sentence in saved.stdout
    assert line in saved.stdout
    document = json.loads((tmp_path / "one.json").read_text())
    document["recordings"][0]["by_scenario"]["support_a"]["integrated"]["classes"]["stale"] += 0.1
    (tmp_path / "odd.json").write_text(json.dumps(document))
    odd = sdb("gate", tmp_path / "slow.json", "--baseline", tmp_path / "odd.json")
    assert (odd.returncode, "do not add up to its score" in odd.stderr) == (2, True)


def later(rows: list[dict[str, object]], seconds: float) -> list[dict[str, object]]:
    return [{**row, "answered_at": float(str(row["answered_at"])) + seconds} for row in rows]


def test_a_purely_slower_log_fails_and_says_latency(tmp_path: Path) -> None:
    old = written(tmp_path / "old.parquet", made_rows(0.0))
    new = written(tmp_path / "new.parquet", later(made_rows(0.0), 0.5))
    done = sdb("gate", new, "--baseline", old)
    assert done.returncode == 1
    # Seven changes in 30 s, and the beginning: eight times half a second.
    assert "drop 13.3 points: latency −13.3, judgment 0.0; p50 0.10 → 0.60 s" in done.stdout
    assert re.search(r"call-\d+: right 97.3 → 84.0 %, −0.2 points \(latency −0.2\)", done.stdout)


def test_a_log_is_gated_with_what_logs_score_takes(tmp_path: Path) -> None:
    """A mapping, references in another table, a reference function; two groups of one log."""
    rows = [
        {**row, "release": name, "seen_at": row["published_at"]}
        for name, given in (("1.9", made_rows(0.02)), ("2.0", later(made_rows(0.3), 0.3)))
        for row in given
    ]
    for row in rows:
        del row["published_at"]
    whole = written(tmp_path / "all.parquet", rows)
    query = tmp_path / "mapping.sql"
    query.write_text("SELECT *, seen_at AS published_at FROM source\n")
    ask = ("gate", whole, "--by", "release", "--baseline", "1.9", "--sql", query)
    done = sdb(*ask, "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert (found["verdict"], found["paired_by"]) == ("fail", "stream")
    assert (found["new"]["name"], found["baseline"]["name"]) == ("release 2.0", "release 1.9")
    scored = sdb("logs", "score", whole, "--by", "release", "--sql", query, "--json")
    (difference,) = json.loads(scored.stdout)["differences"]
    assert found["drop"]["value"] == pytest.approx(-difference["in_force"]["value"], abs=1e-12)
    for cause, change in difference["causes"].items():
        assert found["causes"][cause] == pytest.approx(change["value"], abs=1e-12)
    # The other way round it is a gain; groups that are not there are named.
    back = sdb("gate", whole, "--by", "release", "--baseline", "2.0", "--sql", query)
    assert back.returncode == 0
    assert "gain " in back.stdout
    missing = sdb(*ask[:5], "3.0", "--sql", query)
    assert missing.returncode == 2
    assert "has no group '3.0' by release" in missing.stderr
    unknown = sdb(*ask, "--group", "2.1")
    assert (unknown.returncode, "has no group '2.1' by release" in unknown.stderr) == (2, True)
    assert "1.9, 2.0" in unknown.stderr
    # Two logs without references of their own.
    logs = []
    for name in ("1.9", "2.0"):
        own = [{**row, "published_at": row["seen_at"]} for row in rows if row["release"] == name]
        for row in own:
            del row["reference"]
        logs.append(written(tmp_path / f"{name}.parquet", own))
    right = [
        {"stream": row["stream"], "published_at": row["seen_at"], "reference": row["reference"]}
        for row in rows
        if row["release"] == "1.9"
    ]
    table = written(tmp_path / "right.parquet", right)
    by_table = sdb("gate", logs[1], "--baseline", logs[0], "--references", table, "--json")
    assert json.loads(by_table.stdout)["drop"]["value"] == pytest.approx(
        found["drop"]["value"], abs=1e-12
    )
    assert sdb("gate", logs[1], "--baseline", logs[0]).returncode == 2


def test_options_of_logs_are_refused_elsewhere(runs: dict[str, Path], tmp_path: Path) -> None:
    done = sdb("gate", runs["two"], "--baseline", runs["one"], "--reference", "python:a:b")
    assert (done.returncode, "leave --reference out" in done.stderr) == (2, True)
    log = made_log(tmp_path / "log.parquet", 0.1)
    alone = sdb("gate", log, "--baseline", log, "--group", "x")
    assert (alone.returncode, "add --by COLUMN" in alone.stderr) == (2, True)


DECIDER = """\
import os, sys
from pathlib import Path

class Decider:
    def answer(self, request):
        {sabotage}
        return {{name: sorted(q["criteria"])[{which}] for name, q in request.questions.items()}}
"""


def code(home: Path, name: str, which: int = 0, sabotage: str = "pass") -> Path:
    folder = home / name
    folder.mkdir()
    (folder / "decider.py").write_text(DECIDER.format(which=which, sabotage=sabotage))
    return folder


def test_both_sides_are_recorded_from_their_code(tmp_path: Path) -> None:
    """Two folders with a module of one name; the names of sides are those folders."""
    old, new = code(tmp_path, "old"), code(tmp_path, "new", -1)
    ask = ("gate", new, "--baseline", old, "--record", "python:decider:Decider", "--min", "0")
    done = sdb(*ask, "--latency", "0.4", "--json")
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)
    assert (found["new"]["name"], found["baseline"]["name"]) == (str(new), str(old))
    assert found["p50_s"] == pytest.approx({"baseline": 0.4, "new": 0.4})
    assert len(found["flips"]) > 400
    assert any(note.startswith("declared latency: 0.4,") for note in found["new"]["notes"])
    same = sdb("gate", old, *ask[2:], "--latency", "0.4", "--strict")
    assert same.returncode == 0, same.stdout + same.stderr
    broken = code(tmp_path, "broken", sabotage="raise RuntimeError")
    refused = sdb("gate", broken, *ask[2:])
    assert refused.returncode == 2
    assert f"{broken}: python:decider:Decider could not be recorded" in refused.stderr
    assert "decider.py:6" in refused.stderr
    assert sdb("gate", new, "--baseline", old, "--latency", "0.4").returncode == 2
    assert "is no folder of code" in sdb("gate", tmp_path / "no", *ask[2:]).stderr
    assert sdb(*ask, "--unpaired").returncode == 2


def test_the_code_under_test_cannot_touch_its_yardstick(tmp_path: Path) -> None:
    """It runs last, in a process of its own, and finds no baseline that is still to be read."""
    spoil = (
        "[(p.chmod(0o700), p.write_text('')) for p in Path(os.environ['TMPDIR']).rglob('*')"
        " if p.is_file() and '/baseline/' in str(p)]"
    )
    old, new = code(tmp_path, "old"), code(tmp_path, "new", sabotage=spoil)
    (new / "streamdecisionbench").mkdir()
    (new / "streamdecisionbench" / "__init__.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "tmp").mkdir()
    ask = ("gate", new, "--baseline", old, "--record", "python:decider:Decider", "--min", "0")
    done = subprocess.run(
        [sys.executable, "-m", "streamdecisionbench.cli.main", *ask, "--latency", "0.4", "--json"],
        capture_output=True, text=True, check=False, timeout=120,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["baseline"]["states"] == 480
    assert found["flips"] == []
