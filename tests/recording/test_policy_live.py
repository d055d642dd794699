"""`sdb run --policy`: what is sent, given up and let lapse is written down, and replays as it was."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import pytest

from streamdecisionbench.components.simulated.profiles import find_profile
from streamdecisionbench.components.simulated.simulator import SimulatedComponent, Simulator
from streamdecisionbench.errors import InputError
from streamdecisionbench.policies.policy_file import (
    Policy,
    parse_policy,
)
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.event_log import Cancelled, Expired, Skipped
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import RunConfig, record
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.scoring.policy_score import live_policy, score_policy_recordings
from streamdecisionbench.scoring.policy_tables import live_lines
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.cli.command import sdb
from tests.recording.made import edit_lines

SCENARIOS = ("support_a", "presenter_b")
PROFILES = {"fast": "jev", "middle": "kev-4b", "slow": "djev"}
KINDS = {
    "gate": "[gate]\nconfidence = 0.6",
    "product": "[gate]\nconfidence = 0.3\ncompose = 'product'",
    "expire": "[expire]\nafter_s = 2.5",
    "lapse": "[expire]\nafter_s = 0.45",
    "debounce": "[debounce]\nagree = 2",
    "one at a time": "[dispatch]\nmode = 'one-at-a-time'",
    "latest": "[dispatch]\nmode = 'latest'\nlimit = 1",
    "changed": "[dispatch]\nmode = 'changed'\nfields = ['transcript']",
    "always": "[cascade]\ncomponents = ['fast', 'slow']",
    "late override": "[cascade]\ncomponents = ['fast', 'slow']\nrule = 'late-override'",
    "when unsure": "[cascade]\ncomponents = ['fast', 'slow']\nask = 'when-unsure'\nbelow = 0.6",
    "three": (
        "[gate]\nconfidence = 0.4\n[expire]\nafter_s = 4\n[debounce]\nagree = 2\n"
        "[cascade]\ncomponents = ['fast', 'middle', 'slow']\nask = 'when-unsure'\nbelow = 0.7"
    ),
    "queued cascade": (
        "[dispatch]\nmode = 'one-at-a-time'\n"
        "[cascade]\ncomponents = ['fast', 'slow']\nask = 'when-unsure'\nbelow = 0.6"
    ),
}
INTERVAL = 0.2
"""Below the usual latency of all three, so that everything queues."""


@pytest.fixture(scope="module")
def suite() -> Suite:
    return simulator().suite


@cache
def simulator() -> Simulator:
    """What `simulated:NAME` has, made once."""
    return Simulator(read_suite(builtin_suite_path()), 0)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, suite: Suite) -> dict[str, Recording]:
    """Every state answered by every component."""
    folder = tmp_path_factory.mktemp("plain")
    return {
        name: recorded(folder / name, suite, {None: profile}, None)
        for name, profile in PROFILES.items()
    }


def recorded(
    out: Path, suite: Suite, profiles: dict[str | None, str], policy: Policy | None
) -> Recording:
    lanes = [
        Member(SimulatedComponent(simulator(), find_profile(profile), virtual=True), name)
        for name, profile in profiles.items()
    ]
    names = {lane: f"simulated:{profile}" for lane, profile in profiles.items()}
    settings = RunConfig(
        RunOptions.of(names, clock="virtual", policy=policy), SCENARIOS, interval_s=INTERVAL
    )
    record(suite, lanes, settings, out)
    return read_recording(out, suite)


@pytest.mark.parametrize("kind", KINDS)
def test_live_is_the_replay_of_the_plain_recordings(
    kind: str, tmp_path: Path, suite: Suite, plain: dict[str, Recording]
) -> None:
    """On the virtual clock the same answers take the same time, so live and replay agree exactly."""
    policy = parse_policy(KINDS[kind], name=kind)
    names = policy.cascade.components if policy.cascade else (None,)
    players = {name: PROFILES[name or "fast"] for name in names}
    live = live_policy(recorded(tmp_path / "live", suite, players, policy), suite)
    members = [plain[name or "fast"] for name in names]
    replayed = score_policy_recordings(policy, members, suite, interval=INTERVAL)
    for name, shares in live.by_scenario.items():
        for what, share in replayed.by_scenario[name].at_interval.classes().items():
            assert getattr(shares.at_interval, what) == pytest.approx(share, abs=1e-9)
    assert live.gap == pytest.approx(0, abs=1e-9)
    assert live.why_not == ""
    assert live.counts.expiries == replayed.counts.expiries
    assert live.counts.expiries > 0 or kind != "lapse"
    assert live.expiry_differences == ()


def test_what_lapsed_is_read_from_the_log_and_held_to_the_policy(
    tmp_path: Path, suite: Suite
) -> None:
    policy = parse_policy(KINDS["lapse"])
    recording = recorded(tmp_path / "out", suite, {None: "jev"}, policy)
    true, episode = live_policy(recording, suite), recording.episodes["support_a"]
    taken = [r.actual_recorded_s for r in episode.responses if r.accepted]
    horizon = 60 * INTERVAL

    def lasts(lapse: Expired) -> float:
        after = (when for when in taken if when > lapse.expired_s)
        return min(after, default=horizon) - lapse.expired_s

    first, second, *others = sorted(episode.expired, key=lasts, reverse=True)
    first, second = sorted((first, second), key=lambda lapse: lapse.t)
    later = msgspec.structs.replace(second, expired_s=second.expired_s + 0.05)
    stray = msgspec.structs.replace(first, t=59, expired_s=0.1)
    told = replace(
        recording,
        episodes=recording.episodes
        | {"support_a": replace(episode, expired=(later, *others, stray))},
    )
    found = live_policy(told, suite)
    assert found.counts.expiries == true.counts.expiries
    assert found.expiry_differences == (
        f"support_a t={first.t}: lapsed never by the log, at {first.expired_s:.6f} s by the policy",
        f"support_a t={second.t}: lapsed at {later.expired_s:.6f} s by the log,"
        f" at {second.expired_s:.6f} s by the policy",
        "support_a t=59: lapsed at 0.100000 s by the log, never by the policy",
    )
    assert live_lines(found)[-1] == (
        f"3 lapses in its log are not what the policy says; the first: {found.expiry_differences[0]}."
    )
    # What is scored is what the log says: less time without a decision, in that scenario alone.
    kept = (lasts(first) + 0.05) / horizon
    without = [one.by_scenario["support_a"].at_interval.no_decision for one in (true, found)]
    assert without[0] - without[1] == pytest.approx(kept, abs=1e-9)
    assert found.by_scenario["presenter_b"] == true.by_scenario["presenter_b"]


def test_every_state_has_an_outcome(tmp_path: Path, suite: Suite) -> None:
    policy = parse_policy(KINDS["latest"])
    recording = recorded(tmp_path / "latest", suite, {None: "jev"}, policy)
    for episode in recording.episodes.values():
        answered = {r.t for r in episode.responses}
        gaps = {g.t for g in episode.gaps}
        assert answered | gaps == set(range(60))
        assert not answered & gaps
        assert all(
            isinstance(g, Cancelled) and 0 < g.waited_s <= INTERVAL + 1e-6 for g in episode.gaps
        )
    queued = recorded(
        tmp_path / "queued", suite, {None: "jev"}, parse_policy(KINDS["one at a time"])
    )
    reasons = {g.reason for e in queued.episodes.values() for g in e.gaps if isinstance(g, Skipped)}
    assert "superseded" in reasons


def test_what_a_recording_lacks_is_named(tmp_path: Path, suite: Suite) -> None:
    policy = parse_policy(KINDS["one at a time"])
    recording = recorded(tmp_path / "out", suite, {None: "jev"}, policy)
    with pytest.raises(InputError, match=r"support_a t=6: at 0.2 s this policy sends the state"):
        score_policy_recordings(Policy(), [recording], suite, interval=INTERVAL)
    found = score_policy_recordings(policy, [recording], suite, interval=INTERVAL)
    assert math.isnan(found.log_auc)
    assert any(note.startswith("no integral: ") for note in found.notes)
    lapsing = replace(policy, expire=parse_policy(KINDS["lapse"]).expire)
    stricter = score_policy_recordings(lapsing, [recording], suite, interval=INTERVAL)
    assert stricter.counts.expiries > 0
    assert stricter.in_force < found.in_force


def test_altered_acceptance_is_noticed(tmp_path: Path, suite: Suite) -> None:
    out = tmp_path / "out"
    recorded(out, suite, {None: "jev"}, parse_policy(KINDS["gate"]))
    log = out / "events.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if '"withheld"' in line)
    event = json.loads(lines[first])
    event |= {"accepted": True, "accepted_s": event["actual_recorded_s"], "discard_reason": None}
    lines[first] = json.dumps(event) + "\n"
    log.write_text("".join(lines))
    run = json.loads((out / "run.json").read_text())
    import hashlib

    run["events_sha256"] = hashlib.sha256(log.read_bytes()).hexdigest()
    (out / "run.json").write_text(json.dumps(run))
    with pytest.raises(InputError, match="under the recorded policy it is withheld"):
        read_recording(out, suite)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"component": "x"}, "is of a component that the policy does not name"),
        ({"pred": {}, "decision": {}}, "pred leaves"),
        ({"pred": {"route": "no such"}, "decision": {}}, "pred leaves"),
    ],
)
def test_a_response_that_no_policy_could_judge_is_named(
    change: dict[str, object], words: str, tmp_path: Path, suite: Suite
) -> None:
    out = tmp_path / "out"
    recorded(out, suite, {None: "jev"}, parse_policy(KINDS["gate"]))

    def edit(line: dict[str, object]) -> dict[str, object]:
        accepted = line["kind"] == "response" and line["accepted"]
        return line | change if accepted and line["episode_id"] == "support_a" else line

    edit_lines(out, edit)
    with pytest.raises(InputError, match=words):
        read_recording(out, suite)


@pytest.mark.parametrize("kind", ["expire", "three"])
def test_what_lapsed_is_what_the_policy_says(kind: str, tmp_path: Path, suite: Suite) -> None:
    """The recorder's `expired` events against a plain walk over what was accepted."""
    policy = parse_policy(KINDS[kind].replace("after_s = 4", "after_s = 1").replace("2.5", "0.3"))
    names = policy.cascade.components if policy.cascade else (None,)
    out = tmp_path / "out"
    live = recorded(out, suite, {name: PROFILES[name or "fast"] for name in names}, policy)
    assert sum(len(e.expired) for e in live.episodes.values()) > 2
    events = (out / "events.jsonl").read_text()
    first = next(e.expired[0] for e in live.episodes.values() if e.expired)

    def lapse(line: dict[str, object]) -> bool:
        return line["kind"] == "expired" and line["t"] == first.t

    for change, words in (
        (lambda line: None if lapse(line) else line, "no event says so"),
        (
            lambda line: line | ({"expired_s": line["expired_s"] + 0.01} if lapse(line) else {}),
            "is said to lapse at",
        ),
        (lambda line: line | ({"component": "nobody"} if lapse(line) else {}), "nothing of it"),
    ):
        edit_lines(out, change)
        with pytest.raises(InputError, match=words):
            read_recording(out, suite)
        (out / "events.jsonl").write_text(events)
    again = next(line for line in events.splitlines() if '"expired"' in line)
    (out / "events.jsonl").write_text(f"{events}{again}\n")
    edit_lines(out, lambda line: line)
    with pytest.raises(InputError, match="is said to lapse twice"):
        read_recording(out, suite)


def test_a_run_goes_on_where_it_stopped(tmp_path: Path, suite: Suite) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(KINDS["one at a time"])
    command = (
        "run", "simulated:jev", "--policy", policy, "--clock", "virtual", "--quiet",
        "--interval", "0.2", "--scenarios", "support_a,presenter_b", "--out", tmp_path / "out",
    )  # fmt: skip
    assert sdb(*command).returncode == 0
    log, run = tmp_path / "out" / "events.jsonl", tmp_path / "out" / "run.json"
    whole = log.read_text()
    kept = [line for line in whole.splitlines(keepends=True) if '"support_a"' in line]
    log.write_text("".join(kept[:-3]))
    run.write_text(json.dumps({**json.loads(run.read_text()), "status": "running"}))
    other = tmp_path / "other.toml"
    other.write_text(KINDS["latest"])
    refused = sdb(*command[:3], other, *command[4:], "--resume")
    assert refused.returncode == 2
    assert "policy was" in refused.stderr
    assert sdb(*command, "--resume").returncode == 0
    assert log.read_text() == whole


def test_who_plays_what(tmp_path: Path) -> None:
    policy = tmp_path / "three.toml"
    policy.write_text(KINDS["three"])
    base = ("run", "--policy", policy, "--clock", "virtual", "--quiet", "--scenarios", "support_a")
    three = [f"{name}=simulated:{profile}" for name, profile in PROFILES.items()]
    members = [word for text in three for word in ("--member", text)]
    done = sdb(*base, *members, "--out", tmp_path / "three")
    assert done.returncode == 0, done.stderr
    run = json.loads((tmp_path / "three" / "run.json").read_text())
    assert set(run["config"]["members"]) == set(PROFILES)
    shown = sdb("policy", "score", policy, tmp_path / "three")
    assert "was recorded under" in shown.stdout

    pair = tmp_path / "pair.toml"
    pair.write_text(KINDS["always"])
    roles = ("--member", "fast=simulated:jev", "--member", "slow=simulated:kev-4b")
    pairs = ("run", "--policy", pair, *base[3:])
    assert sdb(*pairs, *roles, "--out", tmp_path / "pair").returncode == 0
    for words, said in (
        ((*base, "--out", tmp_path / "a"), "no component is given for fast"),
        (
            (*base, *members, "--member", "x=simulated:jev", "--out", tmp_path / "a"),
            "no component 'x'",
        ),
        ((*pairs, *roles, "--rule", "freshest", "--out", tmp_path / "a"), "exclude each other"),
        (
            ("run", "simulated:jev", "--member", "a=b", "--out", tmp_path / "a"),
            "name one component, or members",
        ),
        ((*pairs[:1], "simulated:jev", *pairs[1:], "--out", tmp_path / "a"), "has 2 components"),
        (("run", "--policy", tmp_path / "none.toml", "--out", tmp_path / "a"), "no such file"),
    ):
        refused = sdb(*words)
        assert refused.returncode == 2
        assert said in refused.stderr
        assert not (tmp_path / "a").exists()


def test_a_fallback_for_nobody_is_refused_before_anything_is_recorded(tmp_path: Path) -> None:
    """Misspelt, it would never apply, and the recording would say that it did."""
    policy = tmp_path / "expire.toml"
    policy.write_text("[expire]\nafter_s = 3\nfallback.suport_call_assist = { route = 'closed' }\n")
    command = ("run", "simulated:jev", "--policy", policy, "--clock", "virtual", "--quiet")
    done = sdb(*command, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "expire.fallback names 'suport_call_assist'" in done.stderr
    assert "write support_call_assist" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_component_without_confidences_stops_a_policy_that_needs_them(tmp_path: Path) -> None:
    policy = tmp_path / "gate.toml"
    policy.write_text(KINDS["gate"])
    done = sdb(
        "run", "simulated:astra-low", "--policy", policy, "--clock", "virtual", "--quiet",
        "--scenarios", "support_a", "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == 2
    assert "its answers carry none" in done.stderr
