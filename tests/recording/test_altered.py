"""A recording that was touched, or that contradicts itself, is not scored: one edit each.

The digest is mended after every edit, so that only the contradiction can give it away.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.components.contract import Answer, Request, Retryable, Usage
from streamdecisionbench.errors import InputError
from streamdecisionbench.examples import example_suite
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.event_log import EVENTS_FILE
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import record
from streamdecisionbench.recording.run_file import RUN_FILE
from tests.recording import made
from tests.recording.made import edit_lines
from tests.recording.recorder_kit import InProcess, alone, right, settings, small_suite

SUITE = small_suite("one_a", "two_b", tick=0.5)


async def _once_refused(request: Request, call: int) -> Answer:
    """The first attempt of step 2 fails; answers carry tokens and take 0.3 s."""
    if request.state["clock"] == 2 and call == 1:
        raise Retryable("connection")
    return right(request, model="m-1", usage=Usage(10, 0, 2, 0), service_s=0.3)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded") / "run"
    record(SUITE, alone(InProcess(_once_refused)), settings(SUITE, clock="virtual"), folder)
    read_recording(folder, SUITE)
    return folder


@pytest.fixture(scope="module")
def paired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paired") / "run"

    async def slow(request: Request, call: int) -> Answer:
        return right(request, service_s=0.7)

    lanes = [Member(InProcess(_once_refused), "fast"), Member(InProcess(slow), "slow")]
    chosen = settings(
        SUITE, names={"fast": "a:b", "slow": "c:d"}, rule="late_override", clock="virtual"
    )
    record(SUITE, lanes, chosen, folder)
    read_recording(folder, SUITE)
    return folder


def copy(folder: Path, to: Path) -> Path:
    to.mkdir()
    for path in folder.iterdir():
        (to / path.name).write_bytes(path.read_bytes())
    return to


def edit_run(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    run = json.loads((folder / RUN_FILE).read_text())
    edit(run)
    (folder / RUN_FILE).write_text(json.dumps(run))


def refusal(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_recording(folder, SUITE)
    assert "fix:" in str(caught.value)
    return str(caught.value)


Line = dict[str, Any]


def where(kind: str, t: int, change: Callable[[Line], Any], **also: Any) -> Callable[[Line], Line]:
    def edit(line: Line) -> Line:
        same = all(line.get(key) == value for key, value in also.items())
        if line["kind"] == kind and line["t"] == t and same:
            change(line)
        return line

    return edit


def every(kind: str, change: Callable[[Line], Any]) -> Callable[[Line], Line]:
    def edit(line: Line) -> Line:
        if line["kind"] == kind:
            change(line)
        return line

    return edit


def _set(**values: Any) -> Callable[[Line], Any]:
    return lambda line: line.update(values)


def _tenfold(line: Line) -> None:
    line["planned_s"] *= 10


ALTERED: dict[str, tuple[Callable[[Line], Line], str]] = {
    "planned_s times ten": (every("release", _tenfold), "but t·interval is"),
    "one planned_s": (where("release", 3, _set(planned_s=1.4)), "planned_s is 1.400000"),
    "another request in one response": (
        where("response", 1, _set(request_hash="0" * 64)),
        "sent another request than the response answers",
    ),
    "another request in response and attempt": (
        lambda line: line | ({"request_hash": "0" * 64} if line["t"] == 1 else {}),
        "answers another request than this step's",
    ),
    "other requests throughout": (
        lambda line: line | ({"request_hash": "f" * 64} if line["kind"] != "release" else {}),
        "answers another request than this step's",
    ),
    "the successful attempt started later": (
        where("response", 0, lambda r: r["attempts"][0].update(started_s=0.25)),
        "started_s of the successful attempt is 0.000000, the response says 0.250000",
    ),
    "completed earlier than the attempt says": (
        where("response", 0, _set(received_s=0.1, completed_s=0.1, actual_recorded_s=0.1)),
        "received_s of the successful attempt is 0.300000",
    ),
    "a failed attempt left out of the response": (
        where("response", 2, lambda r: r["attempts"].pop(0)),
        "lists 1 attempt, the log has 2",
    ),
    "a failed attempt made a success": (
        where("attempt", 2, _set(ok=True), attempt=1),
        "ok is not what the response's list says",
    ),
    "no attempt succeeded": (where("attempt", 1, _set(ok=False)), "no attempt in the log succeeded"),
    "no attempt of the list succeeded": (
        where("response", 1, lambda r: r["attempts"][0].update(ok=False)),
        "none of its attempts succeeded",
    ),
    "another error": (
        where("attempt", 2, _set(error_type="timeout"), attempt=1),
        "error_type is not what the response's list says",
    ),
    "an attempt for no step": (where("attempt", 5, _set(t=17)), "a step that has no response"),
    "negative tokens": (
        where("response", 4, lambda r: r["usage"].update(output_tokens=-5)),
        "usage.output_tokens is -5, below zero",
    ),
    "accepted with a reason to discard": (
        where("response", 3, _set(discard_reason="older_than_active")),
        "is accepted and has discard_reason",
    ),
    "discarded for a horizon that was not reached": (
        where("response", 0, _set(accepted=False, accepted_s=None, discard_reason="after_horizon")),
        "before the horizon",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ALTERED)
def test_an_altered_log_is_refused(recorded: Path, tmp_path: Path, name: str) -> None:
    edit, words = ALTERED[name]
    folder = copy(recorded, tmp_path / "run")
    edit_lines(folder, edit)
    assert words in refusal(folder)


def test_a_pairs_flags_follow_its_rule(paired: Path, tmp_path: Path) -> None:
    """Every accepted flag, turned over one by one, and another rule."""
    lines = (paired / "events.jsonl").read_text().splitlines()
    places = [
        (r["episode_id"], r["t"], r["component"])
        for r in map(json.loads, lines)
        if r["kind"] == "response"
    ]
    assert len(places) == 24
    for number, place in enumerate(places):

        def turn(line: Line, place: tuple[str, int, str] = place) -> Line:
            here = (line["episode_id"], line["t"], line.get("component"))
            if line["kind"] == "response" and here == place:
                accepted = not line["accepted"]
                reason = None if accepted else "older_than_active"
                at = line["actual_recorded_s"] if accepted else None
                line |= {"accepted": accepted, "discard_reason": reason, "accepted_s": at}
            return line

        folder = copy(paired, tmp_path / str(number))
        edit_lines(folder, turn)
        refusal(folder)
    folder = copy(paired, tmp_path / "rule")
    edit_run(folder, lambda run: run["config"].update(rule="freshest"))
    assert "was accepted but" in refusal(folder)


def test_half_a_pair_is_no_pair(paired: Path, tmp_path: Path) -> None:
    folder = copy(paired, tmp_path / "run")
    edit_lines(folder, lambda line: None if line.get("component") == "slow" else line)
    assert "(slow): 6 of 6 steps have no response" in refusal(folder)


def test_a_manifest_that_is_cut_does_not_name_the_same_suite(
    recorded: Path, tmp_path: Path
) -> None:
    folder = copy(recorded, tmp_path / "run")
    edit_lines(folder, lambda line: line if line["episode_id"] == "one_a" else None)

    def cut(run: dict[str, Any]) -> None:
        del run["dataset_manifest"]["episodes"][1], run["config"]["scenarios"]

    edit_run(folder, cut)
    assert "name different scenarios" in refusal(folder)
    edit_run(folder, lambda run: run["dataset_manifest"]["hashes"].pop("two_b"))
    assert "not the digest of its hashes" in refusal(folder)


@pytest.mark.parametrize("steps", [2_147_483_648, 10**15, 5, 0, -1, "6", 6.5, None, [6]])
def test_step_counts_come_from_the_suite(recorded: Path, tmp_path: Path, steps: Any) -> None:
    """A count in a file is compared, never built from; absent it is not missed."""
    folder = copy(recorded, tmp_path / "run")
    edit_run(folder, lambda run: run["dataset_manifest"]["episodes"][0].update(steps=steps))
    if isinstance(steps, int | float):
        assert f"gives one_a {steps} steps, the suite 6" in refusal(folder)
    else:
        read_recording(folder, SUITE)
    with pytest.raises(InputError, match=r"step"):
        read_recording(folder)


@pytest.mark.parametrize("hide", [{"simulated": False}, {"simulated": None}])
def test_what_was_served_says_that_it_was_simulated(
    recorded: Path, tmp_path: Path, hide: dict[str, Any]
) -> None:
    folder = copy(recorded, tmp_path / "run")
    edit_run(folder, lambda run: run["config"].update(hide))
    assert not read_recording(folder, SUITE).simulated
    edit_lines(folder, every("response", _set(model="simulated:jev")))
    assert read_recording(folder, SUITE).simulated


def test_a_clock_to_the_nanosecond_is_virtual_whatever_the_record_says(
    recorded: Path, tmp_path: Path
) -> None:
    folder = copy(recorded, tmp_path / "run")
    assert read_recording(folder, SUITE).virtual_clock
    edit_run(folder, lambda run: run["config"].update(clock="real"))
    assert read_recording(folder, SUITE).virtual_clock
    # A published table may carry round times; that is no proof of anything.
    rounded = made.write(tmp_path / "rounded", config={"clock": "real"})
    assert not read_recording(rounded, example_suite()).virtual_clock


ODD = [None, True, 7, "x", [], [1], {}, {"a": [None]}]


@pytest.mark.parametrize("key", ["status", "config", "dataset_manifest", "events_sha256"])
@pytest.mark.parametrize("odd", ODD, ids=map(repr, ODD))
def test_a_run_record_of_the_wrong_shape_is_one_message(
    recorded: Path, tmp_path: Path, key: str, odd: Any
) -> None:
    folder = copy(recorded, tmp_path / "run")
    edit_run(folder, lambda run: run.update({key: odd}))
    try:
        read_recording(folder, SUITE)
    except InputError as error:
        assert "fix:" in str(error)  # noqa: PT017 - not every odd value is wrong everywhere
    else:
        assert key == "config"


@pytest.mark.parametrize("odd", ODD, ids=map(repr, ODD))
def test_keys_nobody_needs_may_be_odd(recorded: Path, tmp_path: Path, odd: Any) -> None:
    folder = copy(recorded, tmp_path / "run")
    wanted = {"status", "config", "dataset_manifest", "events_sha256", "environment"}

    def edit(run: dict[str, Any]) -> None:
        for key in set(run) - wanted:
            run[key] = odd
        run["config"] = {
            k: odd
            for k in run["config"]
            if k not in ("interval_s", "tick_seconds", "rule", "scenarios")
        }
        run["config"]["scenarios"] = ["elsewhere"]

    edit_run(folder, edit)
    recording = read_recording(folder, SUITE)
    assert isinstance(recording.name, str)
    assert recording.simulated is (odd is True)
    assert recording.virtual_clock  # the times of its events say so


def test_an_odd_confidence_in_an_older_log_is_read_over(recorded: Path, tmp_path: Path) -> None:
    folder = copy(recorded, tmp_path / "run")
    odd = {"confidence": {"route": None}, "probabilities": {"route": {"K01": None}}, "model": 7}
    edit_lines(folder, where("response", 0, _set(**odd)))
    first = read_recording(folder, SUITE).episodes["one_a"].responses[0]
    assert (first.confidence, first.probabilities, first.model) == ({}, None, None)


def test_releases_at_or_after_the_horizon_are_refused(recorded: Path, tmp_path: Path) -> None:
    folder = copy(recorded, tmp_path / "run")

    def late(line: Line) -> Line:
        if line["t"] == 5:
            for part in (line, *line.get("attempts", ())):
                for name in list(part):
                    if name.endswith("_s") and name != "planned_s" and part[name] is not None:
                        part[name] += 0.5
        return line

    edit_lines(folder, late)
    assert "at or after the horizon (3.000 s): the client stood still" in refusal(folder)


def test_published_before_it_was_planned(recorded: Path, tmp_path: Path) -> None:
    """Without a stated interval the plan itself must fit what happened."""
    folder = copy(recorded, tmp_path / "run")
    edit_run(folder, lambda run: run["config"].update(interval_s=None, tick_seconds=None))
    read_recording(folder, SUITE)
    edit_lines(folder, every("release", _tenfold))
    assert "is before planned_s" in refusal(folder)


def test_hashes_of_another_making_are_tolerated_from_others(tmp_path: Path) -> None:
    """The paper does not say how a request is hashed; our own recorder does."""
    folder = made.write(tmp_path / "run")
    edit_lines(
        folder,
        lambda line: (
            line | ({"request_hash": f"r{line['t']}"} if line["kind"] != "release" else {})
        ),
    )
    assert len(read_recording(folder, example_suite()).episodes) == 1


@pytest.mark.parametrize("listed", [True, False])
def test_a_failure_after_the_answer_is_noticed(
    recorded: Path, tmp_path: Path, listed: bool
) -> None:
    """Also where the response does not list its attempts, as others' recordings need not."""
    folder = copy(recorded, tmp_path / "run")
    path = folder / EVENTS_FILE
    lines = [json.loads(line) for line in path.read_text().splitlines()]

    def at(kind: str) -> int:
        return next(
            k
            for k, line in enumerate(lines)
            if (line["kind"], line["episode_id"], line["t"]) == (kind, "one_a", 4)
        )

    failed = {"attempt": 2, "ok": False, "error_type": "connection"}
    lines.insert(at("attempt") + 1, lines[at("attempt")] | failed)
    answer = lines[at("response")]
    answer["attempts"] = [*answer["attempts"], answer["attempts"][0] | failed] if listed else []
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    edit_lines(folder, lambda line: line)
    assert "one_a t=4: an attempt failed after the one that was answered" in refusal(folder)


def test_a_component_beside_the_pair_is_noticed(paired: Path, tmp_path: Path) -> None:
    folder = copy(paired, tmp_path / "run")
    path = folder / EVENTS_FILE
    lines = path.read_text().splitlines()
    answer = next(json.loads(line) for line in lines if '"kind":"response"' in line)
    path.write_text("\n".join([*lines, json.dumps(answer | {"component": "third"}), ""]))
    edit_lines(folder, lambda line: line)
    assert "(third): is of a component that the pair does not name" in refusal(folder)


def test_a_duplicate_among_many_is_found_at_once(tmp_path: Path) -> None:
    from streamdecisionbench.recording.event_log import Release, Response
    from streamdecisionbench.recording.recording_check import check_completeness

    steps = 100_000
    releases = [Release("a", t, t, t) for t in range(steps)]
    responses = [
        Response("a", t, t, "", True, True, t, t, {}, t, t) for t in (*range(steps), 77_777)
    ]
    (problem,) = check_completeness("a", steps, releases, responses)
    assert str(problem) == "a t=77777: has more than one response"
