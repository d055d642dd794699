"""Logged sessions become a suite, keep their times, and are worth what the log says."""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.suite_of_log import asked_by_decisions, worded
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.authoring import label_questions
from streamdecisionbench.suite.suite_check import validate_scenario
from streamdecisionbench.suite.suite_files import read_suite, scenario_to_json
from tests.cli.command import sdb
from tests.logs.test_export import law

SHOWING = ["record", "pause", "stop"]

AGAIN = """
import json, pathlib
from streamdecisionbench.components.contract import Answer

SAID = json.loads(pathlib.Path("said.json").read_text())

class Again:
    '''Answers what the log answered, after as long.'''

    def answer(self, request):
        said, waited = SAID[f"{request.state['call']}/{request.state['k']}"]
        labels = {}
        for name, question in request.questions.items():
            value = said.get(name, "none")
            labels[name] = next(k for k, v in question["criteria"].items() if v.split(":")[0] == value)
        return Answer(labels=labels, service_s=waited)

class Late(Again):
    def answer(self, request):
        given = super().answer(request)
        right = dict(request.state["right"])
        labels = {
            name: next(
                k for k, v in question["criteria"].items() if v.split(":")[0] == right.get(name, "none")
            )
            for name, question in request.questions.items()
        }
        return Answer(labels=labels, service_s=2 * given.service_s + 0.3)

def reference(state):
    return state["right"]
"""


def decision(rng: random.Random) -> dict[str, Any]:
    """Two fields, and a third that counts while the recorder records."""
    found = {"recorder": rng.choice(SHOWING), "loud": rng.random() < 0.5, "room": "b4"}
    if found["recorder"] == "record":
        found["rate"] = rng.choice([8, 16])
    return found


def text(found: dict[str, Any]) -> dict[str, str]:
    return {k: v if isinstance(v, str) else json.dumps(v) for k, v in found.items() if k != "room"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of ten calls with irregular times, its suite, and two recordings on it."""
    folder = tmp_path_factory.mktemp("sessions")
    rng = random.Random(4)
    rows, said = [], {}
    for call in range(10):
        at = begun = 1_790_000_000_000_000 + 10**9 * call
        ended = begun + rng.randrange(20_000_000, 50_000_000)
        right = decision(rng)
        k = 0
        while at < ended:
            right = decision(rng) if rng.random() < 0.4 else right
            answered = right if rng.random() < 0.8 else decision(rng)
            waited = int(1e6 * rng.lognormvariate(0, 0.7))
            said[f"{call}/{k}"] = (text(answered), waited / 1e6)
            rows.append(
                {
                    "stream": f"call {call}" if call % 2 else f"call-{call}",
                    "published_at": at,
                    "answered_at": at + waited,
                    "decision": json.dumps(answered),
                    "reference": None if call == 9 and k == 3 else json.dumps(right),
                    "ended_at": ended,
                    "state": json.dumps({"call": call, "k": k, "right": text(right)}),
                    "route": "north" if call % 3 else "south",
                }
            )
            at += rng.randrange(50_000, 5_000_000)
            k += 1
    table = pa.Table.from_pylist(rows)
    for name in ("published_at", "answered_at", "ended_at"):
        index = table.schema.get_field_index(name)
        table = table.set_column(index, name, table[name].cast(pa.timestamp("us", "UTC")))
    pq.write_table(table, folder / "log.parquet")
    (folder / "said.json").write_text(json.dumps(said))
    (folder / "again.py").write_text(AGAIN)
    sys.modules.pop("again", None)
    done = sdb("logs", "suite", "log.parquet", "--reference", "column", "--by", "route",
               "--out", "suite", cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (folder / "told.txt").write_text(done.stdout)
    for name in ("Again", "Late"):
        done = sdb("run", f"python:again:{name}", "--clock", "virtual", "--workers", "1000",
                   "--max-in-flight", "1000", "--data", "suite", "--out", name, "--quiet",
                   cwd=folder)  # fmt: skip
        assert done.returncode == 0, done.stderr
    return folder


def test_what_was_taken_is_told(place: Path) -> None:
    told = (place / "told.txt").read_text()
    assert "10 of 10 sessions" in told
    assert (
        "of 1 session only the parts that have references, 11 scenarios in all: 1 state has" in told
    )
    assert "asks recorder: pause, record, stop" in told
    assert "does not ask room: it is always b4" in told
    suite = read_suite(place / "suite")
    assert set(suite.families()) == {"north", "south"}
    whole = {f"call {k}" if k % 2 else f"call-{k}" for k in range(9)}
    assert {s.title for s in suite} == {*whole, "call 9.1", "call 9.2"}
    one = next(s for s in suite if s.title == "call-0")
    assert one.episode_id == "call-0"
    assert one.decision_spec.branches == {"pause": (), "record": ("rate",), "stop": ()}
    assert sdb("validate", place / "suite").returncode == 0


def test_the_logs_own_answers_are_worth_the_same_in_the_suite(place: Path) -> None:
    """Answered as the log did, after as long: by session, at any pace and integrated. Of a session
    with a state that nobody judged, the two parts around it, each as a session of its own."""
    rows = pq.read_table(place / "log.parquet").to_pylist()
    torn = [row for row in rows if row["stream"] == "call 9"]
    for k, row in enumerate(torn):
        row["stream"] = f"call 9.{1 if k < 3 else 2}"
        row["ended_at"] = torn[3]["published_at"] if k < 3 else row["ended_at"]
    table = pa.Table.from_pylist([row for row in rows if row is not torn[3]])
    pq.write_table(table, place / "cut.parquet")
    suite = read_suite(place / "suite")
    recording = read_recording(place / "Again", suite)
    for interval in (0.4, 2.0):
        document = json.loads(
            sdb("logs", "score", place / "cut.parquet", "--by", "stream", "--interval", str(interval),
                "--bounds", "0.5", "8", "--json").stdout
        )  # fmt: skip
        groups = {group["by"]["stream"]: group for group in document["groups"]}
        found = score(recording, suite, interval=interval)
        for scenario in suite:
            level, group = found.by_scenario[scenario.episode_id], groups[scenario.title]
            assert level.in_force == pytest.approx(group["in_force"], abs=1e-8)
            assert level.log_auc == pytest.approx(group["log_auc"], abs=1e-8)
            for name, share in level.at_interval.classes().items():
                assert share == pytest.approx(group["classes"][name], abs=1e-8)


def test_states_are_published_when_they_came(place: Path) -> None:
    suite = read_suite(place / "suite")
    recording = read_recording(place / "Again", suite)
    for scenario in suite:
        releases = recording.episodes[scenario.episode_id].releases
        assert scenario.published_s is not None
        assert [r.planned_s for r in releases] == list(scenario.published_s)
        assert [r.release_s for r in releases] == list(scenario.published_s)


def test_exported_again_it_is_worth_what_the_score_says(place: Path, tmp_path: Path) -> None:
    suite = read_suite(place / "suite")
    runs = [place / "Again", place / "Late"]
    done = sdb(
        "logs", "export", *runs, "--data", place / "suite", "--out", tmp_path / "log.parquet"
    )
    assert done.returncode == 0, done.stderr
    law([(read_recording(run, suite), suite) for run in runs], tmp_path / "log.parquet")


def test_another_pace_keeps_the_rhythm(place: Path, tmp_path: Path) -> None:
    done = sdb("run", "python:again:Late", "--clock", "virtual", "--data", "suite", "--interval", "1",
               "--out", tmp_path / "fast", "--quiet", cwd=place)  # fmt: skip
    assert done.returncode == 0, done.stderr
    suite = read_suite(place / "suite")
    recording = read_recording(tmp_path / "fast", suite)
    for scenario in suite:
        releases = recording.episodes[scenario.episode_id].releases
        want = [at / scenario.tick_seconds for at in scenario.published_s or ()]
        assert [r.planned_s for r in releases] == pytest.approx(want, abs=1e-9)
    found = score(recording, suite, interval=1.0)
    assert {part.tick for part in found.parts} == {1.0}


@pytest.mark.realtime
def test_real_time_publishes_at_those_times(place: Path, tmp_path: Path) -> None:
    done = sdb("run", "python:again:Again", "--data", "suite", "--interval", "0.05", "--scenarios",
               "call-0", "--out", tmp_path / "real", "--quiet", cwd=place)  # fmt: skip
    assert done.returncode == 0, done.stderr
    suite = read_suite(place / "suite")
    recording = read_recording(tmp_path / "real", suite)
    scenario = suite.scenarios["call-0"]
    releases = recording.episodes["call-0"].releases
    assert [r.planned_s for r in releases] == pytest.approx(scenario.planned(0.05), abs=1e-9)
    assert all(r.release_s >= r.planned_s for r in releases)


def test_everything_downstream_takes_it(place: Path, tmp_path: Path) -> None:
    both = (place / "Again", place / "Late", "--data", place / "suite")
    for command in (
        ("score", *both, "--json"),
        ("compose", *both, "--all"),
        ("analyze", "spells", *both),
        ("analyze", "changes", *both),
        ("analyze", "window", *both, "--seconds", "8"),
        ("analyze", "pace", *both, "--at", "1", "--at", "2"),
        ("gate", place / "Late", "--baseline", place / "Again", "--data", place / "suite"),
        ("validate", place / "Again", "--data", place / "suite"),
        ("watch", "--help"),
    ):
        done = sdb(*command)
        assert done.returncode in (0, 1) and not done.stderr, (command, done.stderr)  # noqa: PT018


def test_times_are_part_of_the_digest_and_absent_where_they_are_regular(place: Path) -> None:
    from streamdecisionbench.suite.suite_files import builtin_suite_path

    assert all("published_s" not in scenario_to_json(s) for s in read_suite(builtin_suite_path()))
    file = place / "suite" / "call-0.json"
    whole = json.loads(file.read_text())
    kept = file.read_text()
    whole["published_s"][1] += 0.001
    try:
        file.write_text(json.dumps(whole))
        with pytest.raises(InputError, match="digest mismatch"):
            read_suite(place / "suite")
    finally:
        file.write_text(kept)


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ([0.0], "times for"),
        ("soon", "must be a list of seconds"),
        ([0.0, float("nan")], "must be a list of seconds"),
        ([1.0, 2.0], "the first step is published at 0"),
        ([0.0, 0.0], "after the step before"),
        ([0.0, 1e9], "at or after the end"),
    ],
)
def test_times_that_cannot_be(place: Path, times: Any, told: str) -> None:
    episode = json.loads((place / "suite" / "call-0.json").read_text())
    episode["steps"] = episode["steps"][:2]
    episode["published_s"] = times
    assert told in " ".join(map(str, validate_scenario(episode, "call-0.json")))


def test_a_function_judges_what_the_column_does_not(place: Path, tmp_path: Path) -> None:
    done = sdb("logs", "suite", "log.parquet", "--reference", "python:again:reference", "--streams",
               "4", "--out", tmp_path / "judged", cwd=place)  # fmt: skip
    assert done.returncode == 2, done.stdout
    assert "part of some decisions only" in done.stderr  # the function says nothing of rooms
    (tmp_path / "map.sql").write_text(
        "SELECT * EXCLUDE (decision, answered_at, reference) FROM source"
    )
    for _ in range(2):
        out = tmp_path / f"judged-{_}"
        done = sdb("logs", "suite", "log.parquet", "--reference", "python:again:reference",
                   "--streams", "4", "--sql", tmp_path / "map.sql", "--out", out,
                   cwd=place)  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert "left out: 6 sessions not drawn" in done.stdout
    one, two = (
        {
            p.name: p.read_bytes()
            for p in (tmp_path / f"judged-{k}").iterdir()
            if p.stem != "manifest"
        }
        for k in range(2)
    )
    assert one == two
    assert len(one) == 4


def test_a_file_of_questions(place: Path, tmp_path: Path) -> None:
    asked = {
        "questions": {
            "recorder": {
                "instructions": "What should the recorder do?",
                "options": {"record": "keep the sound", "pause": "keep nothing", "stop": "end it"},
            },
            "loud": {"instructions": "Is it loud?", "options": {"true": "yes", "false": "no"}},
            "rate": {"instructions": "How many kHz?", "options": {"8": "speech", "16": "music"}},
            "room": {"instructions": "Where?", "options": {"b4": "room 4", "b5": "room 5"}},
        },
        "decision_spec": {
            "route_question": "recorder",
            "always": ["loud", "room"],
            "branches": {"record": ["rate"], "pause": [], "stop": []},
        },
    }
    (tmp_path / "questions.json").write_text(json.dumps(asked))
    done = sdb("logs", "suite", place / "log.parquet", "--questions", tmp_path / "questions.json",
               "--out", tmp_path / "suite")  # fmt: skip
    assert done.returncode == 0, done.stderr
    scenario = next(iter(read_suite(tmp_path / "suite")))
    assert "pause: keep nothing" in scenario.questions["recorder"].criteria.values()
    del asked["questions"]["room"]
    asked["decision_spec"]["always"] = ["loud"]
    (tmp_path / "questions.json").write_text(json.dumps(asked))
    done = sdb("logs", "suite", place / "log.parquet", "--questions", tmp_path / "questions.json",
               "--out", tmp_path / "other")  # fmt: skip
    assert done.returncode == 2
    assert "nothing asks for its field 'room'" in done.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("SELECT * EXCLUDE (state) FROM source", "has no column 'state'"),
        ("SELECT * EXCLUDE (reference) FROM source", "has no column 'reference'"),
        ("SELECT * REPLACE (NULL AS reference) FROM source", "holds no session"),
        ("SELECT * REPLACE ('{' AS state) FROM source", "is no JSON, for example '{'"),
        ("SELECT * REPLACE ('hold' AS decision) FROM source", "decisions are text, for example"),
        ("SELECT * REPLACE (published_at::VARCHAR AS reference) FROM source", "are text"),
        ("SELECT * REPLACE (published_at::VARCHAR AS reference, published_at::VARCHAR AS decision)"
         " FROM source", "more than the 100 a question may offer"),
        ("SELECT * REPLACE ('go' AS reference, 'go' AS decision) FROM source", "nothing to decide"),
    ],
)  # fmt: skip
def test_what_cannot_become_a_suite(place: Path, tmp_path: Path, change: str, told: str) -> None:
    (tmp_path / "map.sql").write_text(change)
    done = sdb("logs", "suite", place / "log.parquet", "--sql", tmp_path / "map.sql", "--out",
               tmp_path / "suite")  # fmt: skip
    assert done.returncode == 2, done.stdout
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "suite").exists()


def test_a_folder_that_holds_something_stays_as_it_is(place: Path, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    done = sdb("logs", "suite", place / "log.parquet", "--out", tmp_path)
    assert done.returncode == 2
    assert "is not empty" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["note.txt"]


def test_decisions_that_differ_stay_apart_as_options() -> None:
    with pytest.raises(InputError, match="differ only in what is text"):
        asked_by_decisions(['{"a":"true"}', '{"a":true}'])


def test_fields_that_come_and_go_need_a_route() -> None:
    with pytest.raises(InputError, match="no other field says of which"):
        asked_by_decisions(['{"a":"x"}', '{"a":"x","b":"1"}', '{"a":"y"}'])


def test_options_keep_their_words_and_states_are_their_own_evidence(
    place: Path, tmp_path: Path
) -> None:
    """`smalltalk`, not `K05`: where all options of a question are short and plain."""
    suite = read_suite(place / "suite")
    one = next(iter(suite))
    assert set(one.questions["recorder"].criteria) == {"record", "pause", "stop"}
    assert one.option_semantics["rate"] == {"8": "8", "16": "16", "none": "none"}
    odd = asked_by_decisions(["smalltalk", "hand off"])
    questions, _ = worded(*label_questions(odd.questions, "s"))
    assert questions["decision"].criteria.keys() == {"K01", "K02"}
    assert one.evidence(0)[1] == "k: 0"
    shown = sdb("diff", place / "Again", place / "Late", cwd=place)
    assert shown.returncode == 0, shown.stderr
    assert "    evidence   right: {" in shown.stdout
    wrong = sdb("score", place / "Again", "--mistakes", cwd=place)
    assert "  evidence k: " in wrong.stdout


def test_a_recording_remembers_where_its_suite_lies(place: Path, tmp_path: Path) -> None:
    """By a path that holds while both move together, and by the digest; --data only after that."""
    home = tmp_path / "home"
    shutil.copytree(place / "suite", home / "suites" / "calls")
    shutil.copy(place / "again.py", home / "again.py")
    shutil.copy(place / "said.json", home / "said.json")
    run = [
        "run",
        "python:again:Again",
        "--clock",
        "virtual",
        "--interval",
        "2",
        "--quiet",
        "--scenarios",
    ]
    for part, name in (("call-0", "one"), ("call-2", "two")):
        done = sdb(*run, part, "--data", "suites/calls", "--out", f"runs/{name}", cwd=home)
        assert done.returncode == 0, done.stderr
    record = json.loads((home / "runs" / "one" / "run.json").read_text())
    assert record["suite_at"] == "../../suites/calls"
    moved = home.rename(tmp_path / "moved")
    merged = sdb("merge", "runs/one", "runs/two", "--out", "deep/er/both", cwd=moved)
    assert merged.returncode == 0, merged.stderr
    for name in ("runs/one", "deep/er/both"):
        for command in (["score", name], ["score", moved / name], ["validate", name]):
            done = sdb(*command, cwd=moved)
            assert done.returncode == 0, done.stderr
    (moved / "suites").rename(moved / "elsewhere")
    lost = sdb("score", "runs/one", cwd=moved)
    assert lost.returncode == 2
    assert "is no longer at ../../suites/calls" in lost.stderr
    assert "--data" in lost.stderr
    assert sdb("score", "runs/one", "--data", "elsewhere/calls", cwd=moved).returncode == 0
    for place_of in ("/etc", "\\\\host\\share", 7, "\0"):
        record["suite_at"] = place_of
        (moved / "runs" / "one" / "run.json").write_text(json.dumps(record))
        odd = sdb("score", "runs/one", cwd=moved)
        assert (odd.returncode, "no longer" in odd.stderr) == (2, False)


def test_score_and_gate_use_the_logs_own_pace_and_range(place: Path) -> None:
    suite = read_suite(place / "suite")
    own = sum(s.horizon_s for s in suite) / sum(s.n for s in suite)
    done = sdb("score", place / "Again", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["recordings"]
    assert found["interval"] == pytest.approx(own, rel=1e-3)
    low, high = found["bounds"]
    ticks = sorted(s.tick_seconds for s in suite)
    assert low <= ticks[1]
    assert ticks[-2] <= high
    plain = sdb(
        "score", place / "Again", "--interval", "2", "--bounds", "0.5", "8", "--json", cwd=place
    )
    assert json.loads(plain.stdout)["recordings"][0]["bounds"] == [0.5, 8.0]
    gate = sdb("gate", place / "Late", "--baseline", place / "Again", "--json", cwd=place)
    document = json.loads(gate.stdout)
    assert document["measure"] == f"in force over log {low:g}–{high:g} s"
    assert document["baseline"]["in_force_at_own_pace"] == pytest.approx(
        found["overall"]["in_force"]
    )
    shown = sdb("gate", place / "Late", "--baseline", place / "Again", cwd=place)
    assert f"in force at its own pace of {own:.3g} s" in " ".join(shown.stdout.split())
