"""A recorder in a world: what was in force decides what comes next, and the recording brings its suite."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.families.registry import reference_of
from streamdecisionbench.recording.event_log import Expired, Release, Response, scan
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.recording_folder import RunEnd
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
    under_policy,
)
from streamdecisionbench.report.write_report import write_report
from streamdecisionbench.scoring.pair_live import live_pair
from streamdecisionbench.scoring.policy_score import live_policy
from streamdecisionbench.scoring.score import score
from streamdecisionbench.sharing.bundles import (
    open_bundle,
    write_bundle,
)
from streamdecisionbench.suite.suite_files import read_suite
from streamdecisionbench.worlds.generate import open_seeds
from streamdecisionbench.worlds.live_sessions import open_world
from streamdecisionbench.worlds.outcomes import outcomes, outcomes_table
from tests.cli.command import sdb
from tests.recording.recorder_kit import loopback_server
from tests.report.browser import CHROMIUM, NO_BROWSER, Browser

SDB = Path(sys.executable).with_name("sdb")
RIGHT = "python:right_in_worlds:Right"

COMPONENTS = '''
from streamdecisionbench.families.registry import reference_of



class Right:
    """Answers what the rules say, of any family that finds its own state."""

    def answer(self, request):
        return right(request)


class Breaks(Right):
    """Fails once, in the middle of a session."""

    def __init__(self):
        self.asked = 0

    def answer(self, request):
        self.asked += 1
        if self.asked == 31:
            raise RuntimeError("in mid-session")
        return right(request)


def right(request):
    gold = reference_of("live_debugging")(request.state)
    labels = {}
    for name, question in request.questions.items():
        labels[name] = next(
            label for label, text in question["criteria"].items()
            if text == gold[name] or text.startswith(gold[name] + ": ")
        )
    return labels
'''


@pytest.fixture(autouse=True)
def components(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "right_in_worlds.py").write_text(COMPONENTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "right_in_worlds", raising=False)


def opened(folder: Path) -> Recording:
    return read_recording(folder, read_suite(folder / "suite"))


def run(component: str | dict[str | None, str], out: Path, **options: Any) -> RunEnd:
    members = {None: component} if isinstance(component, str) else component
    named = {k: options.pop(k) for k in ("name", "seeds", "steps", "frames") if k in options}
    world = open_world(**{"name": "debugging", **named})
    given: dict[str, Any] = {"world": world, "clock": "virtual"} | options
    (outcome,) = launch(RunOptions.of(members, out, **given), lambda estimates: True)
    return outcome


@pytest.mark.parametrize("clock", ["paused", "virtual"])
def test_who_is_right_at_once_lives_through_the_generated_sessions(
    clock: str, tmp_path: Path
) -> None:
    outcome = run(RIGHT, tmp_path / "run", clock=clock, seeds=(1, 2))
    assert outcome.status == "complete"
    twins = open_seeds("debugging", (1, 2))
    lived = read_suite(tmp_path / "run" / "suite")
    for twin in twins:
        name = twin.right.episode_id
        assert lived.scenarios[name] == twin.right
        twin.play_right()
        if clock == "paused":
            assert outcome.summary["outcomes"][name] == twin.outcomes()
    if clock == "paused":
        assert score(tmp_path / "run").in_force == 1.0


def test_what_is_in_force_decides_what_comes_next(tmp_path: Path) -> None:
    run("baseline:constant", tmp_path / "run")
    (twin,) = open_seeds("debugging", (1,))
    (lived,) = read_suite(tmp_path / "run" / "suite")
    assert lived.steps[0] == twin.right.steps[0]
    assert lived.steps != twin.right.steps
    found = read_recording(tmp_path / "run", read_suite(tmp_path / "run" / "suite"))
    assert found.closed_loop_interval_s == 2.0


def test_another_pace_is_refused_in_words(tmp_path: Path) -> None:
    run("simulated:jev", tmp_path / "run")
    scored = score(tmp_path / "run")
    assert scored.log_auc != scored.log_auc  # there is no mean over paces
    assert any("another session" in note for note in scored.notes)
    with pytest.raises(InputError, match="at another pace it would have been another session"):
        score(tmp_path / "run", interval=1.0)
    with pytest.raises(InputError, match="another session"):
        scored.curve()


def test_it_is_bundled_and_verified_with_its_suite(tmp_path: Path) -> None:
    run("simulated:jev", tmp_path / "run", interval_s=1.0)
    suite = read_suite(tmp_path / "run" / "suite")
    write_bundle([read_recording(tmp_path / "run", suite)], suite, tmp_path / "b.zip")
    assert len(open_bundle(tmp_path / "b.zip").recordings) == 1
    run({"fast": "baseline:constant", "slow": "simulated:jev"}, tmp_path / "pair")
    done = sdb("share", "bundle", tmp_path / "pair", "--out", tmp_path / "pair.zip")
    assert done.returncode == 0, done.stderr
    done = sdb("share", "board", tmp_path / "pair.zip", "--out", tmp_path / "board")
    assert done.returncode == 0, done.stderr
    assert "1 row(s)" in done.stdout  # a pair that lived through a session is one thing


def test_a_pair_and_a_policy_live_in_a_world(tmp_path: Path) -> None:
    pair = {"fast": "simulated:jev", "slow": "simulated:luna-low"}
    assert run(pair, tmp_path / "pair").status == "complete"
    (tmp_path / "p.toml").write_text('[dispatch]\nmode = "changed"\n[expire]\nafter_s = 3.0\n')
    given: dict[str, Any] = {"world": open_world("presenter"), "clock": "virtual"}
    request = RunOptions.of({None: "simulated:luna-low"}, tmp_path / "policy", **given)
    (outcome,) = launch(under_policy(request, tmp_path / "p.toml", ({}, {}, {})), lambda _: True)
    assert outcome.status == "complete"
    assert outcome.summary["policy"]["expired"] > 0


def test_a_session_that_broke_off_is_taken_up_at_the_last_whole_tick(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="raises RuntimeError"):
        run("python:right_in_worlds:Breaks", tmp_path / "run", clock="paused", warmup=0)
    before = scan(tmp_path / "run" / "events.jsonl").events
    again = {"clock": "paused", "warmup": 0, "resume": True}
    outcome = run("python:right_in_worlds:Breaks", tmp_path / "run", **again)
    assert outcome.status == "complete"
    after = scan(tmp_path / "run" / "events.jsonl").events
    taken_up = json.loads((tmp_path / "run" / "run.json").read_text())["interruptions"][0]
    ((name, stay),) = taken_up["taken_up_after"].items()
    assert 50 < stay <= len(before)
    assert after[:stay] == before[:stay]
    (twin,) = open_seeds("debugging", (1,))
    assert read_suite(tmp_path / "run" / "suite").scenarios[name] == twin.right


POLICIES = {
    "expires": "[expire]\nafter_s = 0.8\n[debounce]\nagree = 2\n",
    "changed": '[dispatch]\nmode = "changed"\nfields = ["telephony", "transcript"]\n',
    "latest": '[dispatch]\nmode = "latest"\nlimit = 1\n[gate]\nconfidence = 0.6\n',
    "cascade": '[cascade]\ncomponents = ["simulated:jev", "simulated:kev-4b"]\nask = "when-unsure"\n'
    "below = 0.9\n",
}


def lived(how: str, folder: Path, **more: Any) -> None:
    """A call of a fast simulation: alone, with a slower one as a pair, or under a policy."""
    members: dict[str | None, str] = {None: "simulated:jev"}
    if how == "pair":
        members = {"fast": "simulated:jev", "slow": "simulated:kev-4b"}
    elif how == "cascade":
        members = {}
    pace_s = 1.0 if how == "expires" else 0.3
    given: dict[str, Any] = {"world": open_world("support", (2,)), "clock": "virtual"}
    request = RunOptions.of(members, folder, interval_s=pace_s, **given, **more)
    if how in POLICIES:
        file = folder.with_name("policy.toml")
        file.write_text(POLICIES[how])
        request = under_policy(request, file, ({}, {}, {}))
    launch(request, lambda _: True)


@pytest.mark.parametrize("how", ["alone", "pair", *POLICIES])
def test_what_is_scored_is_what_was_in_force(how: str, tmp_path: Path) -> None:
    """By the log alone: every second between what took effect or lapsed, beside what was right then."""
    lived(how, tmp_path / "run")
    recording = opened(tmp_path / "run")
    (scenario,) = suite = read_suite(tmp_path / "run" / "suite")
    pace_s, right = recording.closed_loop_interval_s or 0.0, scenario.reference()
    changes: list[tuple[float, Any]] = [(0.0, None)]
    for event in scan(tmp_path / "run" / "events.jsonl").events:
        if isinstance(event, Response) and event.accepted:
            changes.append((event.actual_recorded_s, event.decision))
        elif isinstance(event, Expired):
            changes.append((event.expired_s, None))
    ends = [*(at for at, _ in changes[1:]), scenario.n * pace_s]
    seconds = sum(
        max(min(end, (t + 1) * pace_s) - max(begin, t * pace_s), 0.0)
        for (begin, decision), end in zip(changes, ends, strict=True)
        for t in range(scenario.n)
        if decision == right[t]
    )
    scored = score(recording, suite, interval=pace_s)
    assert scored.in_force == pytest.approx(seconds / (scenario.n * pace_s), abs=1e-9)
    physical = scored.overall.physical
    assert physical is not None
    assert physical.in_force == pytest.approx(scored.in_force, abs=1e-12)
    if how == "pair":
        recorded = live_pair(recording, suite, interval=pace_s).recorded
    elif how in POLICIES:
        recorded = live_policy(recording, suite).recorded
    else:
        return
    assert scored.overall.at_interval.classes() == pytest.approx(recorded.classes(), abs=1e-9)
    assert any(" let take effect, as it happened" in note for note in scored.notes)
    assert f"{'rule' if how == 'pair' else 'policy'}:" in scored.signature


@pytest.mark.parametrize("how", ["alone", "pair", *POLICIES])
def test_broken_off_after_any_event_and_taken_up_it_is_the_same_session(
    how: str, tmp_path: Path
) -> None:
    """On the virtual clock of a simulation nothing depends on when it was recorded: not one event differs."""
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    lived(how, whole)
    lines = (whole / "events.jsonl").read_bytes().splitlines(keepends=True)
    half = json.loads((whole / "run.json").read_text())
    half |= {"status": "running", "ended_at": None, "events_sha256": None}
    taken_up = []
    for place in range(3, len(lines), len(lines) // 9):
        cut.mkdir()
        (cut / "run.json").write_text(json.dumps(half))
        (cut / "events.jsonl").write_bytes(b"".join(lines[:place]) + lines[place][:9])
        lived(how, cut, resume=True)
        assert (cut / "events.jsonl").read_bytes() == b"".join(lines)
        ended = json.loads((cut / "run.json").read_text())
        assert ended["summary"]["outcomes"] == half["summary"]["outcomes"]
        taken_up += [x for x in ended["interruptions"] if "taken_up_after" in x]
        shutil.rmtree(cut)
    assert len(taken_up) > 4, "most are taken up in the middle"


def test_the_parts_of_a_loss_add_up(tmp_path: Path) -> None:
    """Latency, judgment and their interaction, for every outcome, also of a live pair."""
    common: dict[str, Any] = {"seeds": (1, 3, 7), "interval_s": 1.0}
    run("simulated:luna-low", tmp_path / "run", **common)
    run("simulated:luna-low", tmp_path / "slow", clock="paused", **common)
    run({"fast": "baseline:constant", "slow": "simulated:luna-low"}, tmp_path / "pair", **common)
    live, slow, pair = (opened(tmp_path / name) for name in ("run", "slow", "pair"))
    found = outcomes(live, slow)
    assert found
    for name, one in found.items():
        parts = (one.latency, one.judgment, one.interaction)
        assert sum(p for p in parts if p is not None) == pytest.approx(
            one.run - one.oracle, abs=1e-9
        )
        counted = live.run["summary"]["outcomes"].values()
        assert one.run == pytest.approx(sum(of[name] for of in counted), abs=1e-9)
    assert any(one.run != one.oracle for one in outcomes(pair).values())
    assert all(one.judgment is None for one in outcomes(pair).values())
    with pytest.raises(InputError, match="not recorded unhurried"):
        outcomes(live, live)


def test_the_late_oracle_without_latencies_is_the_oracle(tmp_path: Path) -> None:
    run("baseline:random", tmp_path / "run", clock="paused", seeds=(1, 2))
    for one in outcomes(opened(tmp_path / "run")).values():
        assert one.late_oracle == one.oracle


@pytest.mark.parametrize("clock", ["paused", "real"])
def test_a_served_component_lives_in_a_world(
    clock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over a real connection; the first attempt at some states is refused, and a world that waits does so."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "recording"))

    def reply(payload: dict[str, Any], times: int) -> Any:
        if payload["state"]["clock"]["now"] % 20 == 5 and times == 1:
            return 429, {"retry-after": "0"}, {}
        gold = reference_of("live_debugging")(payload["state"])
        labels = {
            name: next(k for k, text in q["criteria"].items() if text.split(": ")[0] == gold[name])
            for name, q in payload["questions"].items()
        }
        return 200, {}, {"labels": labels, "model": "served"}

    with loopback_server(reply) as url:
        monkeypatch.setenv("SDB_TEST_URL", url)
        pace = {"interval_s": 0.1} if clock == "real" else {}
        done = run("python:loopback_component:Loopback", tmp_path / "run", clock=clock, **pace)
    assert done.status == "complete"
    # A machine that stands still has the session recorded anew, and the server refuses nothing twice.
    anew = json.loads((tmp_path / "run" / "run.json").read_text())["interruptions"]
    assert done.summary["failed_attempts"] == (0 if anew else 3)
    if clock == "paused":
        (twin,) = open_seeds("debugging", (1,))
        assert list(read_suite(tmp_path / "run" / "suite")) == [twin.right]
        assert score(tmp_path / "run").in_force == 1.0


@pytest.mark.realtime
def test_a_kill_in_mid_session_on_the_real_clock(tmp_path: Path) -> None:
    command = [
        str(SDB), "world", "run", "support", "baseline:constant", "--seeds", "3",
        "--interval", "0.05", "--quiet", "--out", str(tmp_path / "run"),
    ]  # fmt: skip
    log = tmp_path / "run" / "events.jsonl"
    process = subprocess.Popen(command)
    while not log.exists() or sum(isinstance(e, Release) for e in scan(log).events) < 20:
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = scan(log).events
    subprocess.run([*command, "--resume"], check=True)
    run_file = json.loads((tmp_path / "run" / "run.json").read_text())
    (stay,) = run_file["interruptions"][0]["taken_up_after"].values()
    assert scan(log).events[:stay] == before[:stay]
    suite = read_suite(tmp_path / "run" / "suite")
    assert read_recording(tmp_path / "run", suite).closed_loop_interval_s == 0.05
    subprocess.run([*command, "--resume"], check=True)  # nothing is left to do


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"data": Path("x")}, "makes its own"),
        ({"name": "weather"}, "no world 'weather'"),
        ({"frames": 2}, "belong to an environment of Gymnasium"),
        ({"seeds": (1, 1)}, "names one twice"),
        ({"steps": 0}, "--steps is 0"),
        ({"world": None, "clock": "paused"}, "only a world can wait"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        run("baseline:constant", tmp_path / "run", **options)


def test_it_is_reported_at_its_own_pace_alone(tmp_path: Path) -> None:
    """Tables, lanes, costs and outcomes; nothing that another pace or component would be asked for."""
    run("simulated:jev", tmp_path / "run", interval_s=1.0, seeds=(1, 2))
    recording = opened(tmp_path / "run")
    suite = read_suite(tmp_path / "run" / "suite")
    written = write_report([(recording, suite)], tmp_path / "report", formats=("svg",))
    tables = {path.stem for path in (tmp_path / "report" / "tables").glob("*.csv")}
    assert {"main", "decomposition", "scenario", "costs_of_error", "outcomes"} <= tables
    assert not tables & {"pace", "sensitivity", "regime", "composition", "integrated_decomposition"}
    table = outcomes_table("run (sim.)", outcomes(recording))
    assert written.findings.outcomes["run"] == table
    assert not written.findings.choices
    figures = {path.stem for path in (tmp_path / "report" / "figures").glob("*.svg")}
    assert {"trajectory", "wrong_spells"} <= figures
    assert not figures & {"pace_curves", "latency_map"}
    text = (tmp_path / "report" / "report.md").read_text()
    assert "At another pace it would have been another session" in text
    page = (tmp_path / "report" / "index.html").read_text()
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    told = json.loads(data, parse_constant=pytest.fail)
    assert told["alone"] is True
    assert told["interval"] == 1.0
    json.loads(
        (tmp_path / "report" / "scores.json").read_text(),
        parse_constant=pytest.fail,
    )
    with pytest.raises(InputError, match="another session"):
        write_report([(recording, suite)], tmp_path / "other", interval=2.0, formats=())


@pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)
def test_its_page_says_why_the_interval_cannot_be_moved(tmp_path: Path) -> None:
    run("simulated:jev", tmp_path / "run")
    found = opened(tmp_path / "run"), read_suite(tmp_path / "run" / "suite")
    write_report([found], tmp_path / "report", formats=())
    with Browser() as browser:
        browser.open(tmp_path / "report" / "index.html")
        assert browser.run("document.documentElement.dataset.ready") == "yes"
        assert browser.run("document.getElementById('interval-slider')") is None
        assert "another session" in browser.run("document.getElementById('pace').textContent")
        assert browser.run("document.getElementById('curves')") is None
        assert "wasted_runs" in browser.run("document.getElementById('outcomes').textContent")
        browser.settle()
        assert browser.seen.errors == []


@pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)
def test_the_page_shows_what_a_rule_or_a_policy_let_take_effect(tmp_path: Path) -> None:
    with Browser() as browser:
        for how in ("pair", *POLICIES):
            lived(how, tmp_path / how)
            found = opened(tmp_path / how), read_suite(tmp_path / how / "suite")
            written = write_report([found], tmp_path / f"{how}-report", formats=())
            at = written.material.scores[0].overall.at_interval
            browser.open(tmp_path / f"{how}-report" / "index.html")
            assert browser.run("document.documentElement.dataset.ready") == "yes"
            shown = browser.run(
                "sdb.recordings.map(r => sdb.levels(r, sdb.state.interval).overall)"
                ".map(x => [...x.classes, x.segment])[0]"
            )
            expected = [at.current_correct, at.judgment, at.stale, at.compound, at.outdated_correct]
            expected += [at.no_decision, at.segment_in_force]
            assert shown == pytest.approx(expected, abs=1e-9)
        browser.settle()
        assert browser.seen.errors == []


def test_an_analysis_that_replays_otherwise_is_refused(tmp_path: Path) -> None:
    run("simulated:jev", tmp_path / "run")
    for name in ("network", "pace", "clocks", "sensitivity", "schedules"):
        done = sdb("analyze", name, tmp_path / "run")
        assert done.returncode == 2
        assert "it would have been another session" in " ".join(done.stderr.split())


def test_another_policy_or_a_pair_would_have_been_another_session(tmp_path: Path) -> None:
    run("simulated:jev", tmp_path / "run")
    (tmp_path / "p.toml").write_text("[expire]\nafter_s = 3.0\n")
    both = ("--fast", tmp_path / "run", "--slow", tmp_path / "run")
    for command in (
        ("policy", "score", tmp_path / "p.toml", tmp_path / "run"),
        ("compose", *both),
    ):
        done = sdb(*command)
        assert done.returncode == 2
        assert "would have been another session" in " ".join(done.stderr.split())
    lived = sdb(
        "world", "run", "debugging", "simulated:jev", "--clock", "virtual",
        "--policy", tmp_path / "p.toml", "--quiet", "--out", tmp_path / "under",
    )  # fmt: skip
    assert lived.returncode == 0, lived.stderr
    done = sdb("policy", "score", tmp_path / "p.toml", tmp_path / "under")
    assert done.returncode == 0, done.stderr
    assert "plain" not in done.stdout
