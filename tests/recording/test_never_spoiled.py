"""Whatever a component, a server, a user or the machine does, a recording stays readable and honest."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.components.contract import Answer, Fatal, Request, Usage
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording import clock as standstill
from streamdecisionbench.recording.event_log import EVENTS_FILE, EventLog
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import record
from streamdecisionbench.recording.run_file import RUN_FILE, read_run
from tests.cli.command import sdb
from tests.recording.recorder_kit import (
    InProcess,
    alone,
    loopback_server,
    ok,
    right,
    settings,
    small_suite,
    suite_folder,
)
from tests.recording.warm_process import start

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
SUITE = small_suite("one_a")
NAN, INF = float("nan"), float("inf")


def recorded(folder: Path, answer: Callable[[Request], Answer], **more: Any) -> Any:
    async def behave(request: Request, call: int) -> Answer:
        return answer(request)

    chosen = settings(SUITE, clock="virtual")
    record(SUITE, alone(InProcess(behave)), chosen, folder, **more)
    return read_recording(folder, SUITE).episodes["one_a"].responses[0]


ODD_EXTRAS: dict[str, dict[str, Any]] = {
    "NaN confidence": {"confidence": {"route": NAN, "speed": 0.5}},
    "infinite confidence": {"confidence": {"route": INF, "speed": 0.5}},
    "text for confidence": {"confidence": {"route": "high", "speed": 0.5}},
    "confidence in nothing": {"confidence": {"mood": 0.5, "speed": 0.5}},
    "confidence that is a list": {"confidence": [0.5]},
    "lone surrogate in the model": {"model": "m\ud800"},
    "escape sequence in the model": {"model": "m\x1b[2J"},
    "model that is a number": {"model": 7},
    "negative tokens": {"usage": Usage(-1, 0, 5, 0)},
    "tokens that are text": {"usage": Usage("many", 0, 5, 0)},  # type: ignore[arg-type]
    "usage that is none": {"usage": {"input": 5}},
    "receipt at no time": {"received_at": NAN},
    "distribution over nothing": {"probabilities": {"mood": {"x": NAN}}},
}


@pytest.mark.parametrize("name", ODD_EXTRAS)
def test_odd_extras_are_dropped(tmp_path: Path, name: str) -> None:
    response = recorded(tmp_path, lambda request: right(request, **ODD_EXTRAS[name]))
    if isinstance(ODD_EXTRAS[name].get("confidence"), dict):
        assert response.confidence == {"speed": 0.5}
    if isinstance(ODD_EXTRAS[name].get("model"), str):
        assert response.model.startswith("m\ufffd")
        assert response.model.isprintable()
    if isinstance(ODD_EXTRAS[name].get("usage"), Usage):
        assert (response.usage.input_tokens, response.usage.output_tokens) == (0, 5)
    assert response.probabilities is None


ODD_ANSWERS: dict[str, tuple[Callable[[Request], Any], str]] = {
    "nothing": (lambda request: None, "type NoneType"),
    "a mapping": (lambda request: {"route": "K01"}, "type dict"),
    "labels that are a list": (lambda request: Answer(labels=["K01"]), "not {question: label}"),  # type: ignore[arg-type]
    "a label that is a number": (lambda request: Answer(labels={"route": 1, "speed": "K03"}), "not {question: label}"),  # type: ignore[dict-item]
    "NaN in a distribution": (lambda request: right(request, probabilities={"route": {"K01": NAN, "K02": 1.0}}), "finite number"),
    "a distribution that is a list": (lambda request: right(request, probabilities={"route": [0.5, 0.5]}), "finite number"),
    "infinite service": (lambda request: right(request, service_s=INF), "service time of inf"),
    "service of no time": (lambda request: right(request, service_s=NAN), "service time of nan"),
    "negative service": (lambda request: right(request, service_s=-1.0), "service time of -1.0"),
}  # fmt: skip


@pytest.mark.parametrize("clock", ["real", "virtual"])
@pytest.mark.parametrize("name", ODD_ANSWERS)
def test_odd_answers_are_refused_by_name_and_spoil_nothing(
    tmp_path: Path, name: str, clock: str
) -> None:
    """The first scenario is complete; the second breaks off and is recorded anew later."""
    suite = small_suite("one_a", "two_b")
    answer, words = ODD_ANSWERS[name]

    async def behave(request: Request, call: int) -> Answer:
        second = request.state["scenario"] == "two_b" and request.state["clock"] == 3
        found: Answer = answer(request) if second else right(request)
        return found

    chosen = settings(suite, clock=clock)
    with pytest.raises(Fatal, match="fix:") as caught:
        record(suite, alone(InProcess(behave)), chosen, tmp_path)
    assert words in str(caught.value)
    component = InProcess()
    record(suite, alone(component), chosen, tmp_path, resume=True)
    assert {scenario for scenario, _ in component.calls} == {"two_b"}
    assert len(read_recording(tmp_path, suite).episodes) == 2


def test_no_line_is_written_that_cannot_be_read(tmp_path: Path) -> None:
    from streamdecisionbench.recording.event_log import Attempt

    with EventLog(tmp_path) as log:
        for odd in (
            Attempt("a", 0, "", 1, NAN),
            Attempt("a", 0, "", 1, 0.0, received_s=NAN),
            Attempt("a", 0, "\ud800", 1, 0.0),
            Attempt("a", 0, "", 1, 0.0, error_type=b"x"),  # type: ignore[arg-type]
        ):
            with pytest.raises(Fatal, match="cannot be written"):
                log.append(odd)
        log.append(Attempt("a", 0, "", 1, 0.0))
    assert (tmp_path / EVENTS_FILE).read_bytes().count(b"\n") == 1


def test_nan_from_a_real_server_is_dropped(tmp_path: Path) -> None:
    def reply(payload: dict[str, Any], asked: int) -> tuple[int, dict[str, str], Any]:
        status, headers, body = ok(payload)
        return status, headers, {**body, "confidence": {"route": NAN}, "model": "served\ud800"}

    data = suite_folder(tmp_path / "suite")
    with loopback_server(reply) as url:
        done = sdb(
            "run", "python:loopback_component:Loopback", "--data", data, "--out", tmp_path / "out",
            "--quiet", cwd=HERE, SDB_TEST_URL=url,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sdb("score", tmp_path / "out", "--data", data).returncode == 0


@pytest.mark.parametrize("clock", ["real", "virtual"])
@pytest.mark.parametrize(
    "raised", [asyncio.CancelledError, KeyboardInterrupt, SystemExit, StopAsyncIteration]
)
def test_a_component_that_gives_up_by_itself_is_not_complete(
    tmp_path: Path, clock: str, raised: type[BaseException]
) -> None:
    async def behave(request: Request, call: int) -> Answer:
        if request.state["clock"] == 4:
            raise raised
        return right(request)

    with pytest.raises(Fatal, match=raised.__name__):
        record(SUITE, alone(InProcess(behave)), settings(SUITE, clock=clock), tmp_path)
    assert read_run(tmp_path).status == "incomplete"
    record(SUITE, alone(InProcess()), settings(SUITE, clock=clock), tmp_path, resume=True)
    read_recording(tmp_path, SUITE)


@pytest.mark.parametrize("clock", ["real", "virtual"])
def test_a_function_that_raises_stop_iteration_ends_the_run(tmp_path: Path, clock: str) -> None:
    (tmp_path / "stops.py").write_text("def answer(request):\n    return next(iter([]))\n")
    done = sdb(
        "run", "python:stops:answer", "--clock", clock, "--quiet",
        "--data", suite_folder(tmp_path / "suite"), "--out", "out", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2
    assert "stops.py:2: python:stops:answer raises StopIteration" in done.stderr


def _replacing(folder: Path, spoil: Callable[[], None]) -> InProcess:
    async def behave(request: Request, call: int) -> Answer:
        if request.state["clock"] == 3:
            spoil()
        return right(request)

    return InProcess(behave)


def test_a_folder_that_became_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def replaced() -> None:
        out.rename(tmp_path / "moved")
        record(SUITE, alone(InProcess(provider="other")), settings(SUITE, clock="virtual"), out)

    def in_a_thread() -> None:
        import threading

        worker = threading.Thread(target=replaced)
        worker.start()
        worker.join()

    with pytest.raises(InputError, match="moved, deleted or replaced"):
        record(SUITE, alone(_replacing(out, in_a_thread)), settings(SUITE), out)
    assert read_run(out).config["provider"] == "other"
    read_recording(out, SUITE)
    assert read_run(tmp_path / "moved").status == "running"


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (shutil.rmtree, "moved, deleted or replaced"),
        (lambda out: (out / EVENTS_FILE).unlink(), "moved, deleted or replaced"),
        (lambda out: (out / EVENTS_FILE).open("a").write("{}\n"), "by somebody else"),
        (lambda out: os.truncate(out / EVENTS_FILE, 10), "by somebody else"),
    ],
)
def test_a_log_that_is_not_ours_any_more_is_not_called_complete(
    tmp_path: Path, spoil: Callable[[Path], Any], words: str
) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match=words):
        record(SUITE, alone(_replacing(out, lambda: spoil(out))), settings(SUITE), out)
    assert not (out / RUN_FILE).exists() or read_run(out).status == "running"


def test_an_altered_recording_is_not_complete_for_resume_either(tmp_path: Path) -> None:
    chosen = settings(SUITE, clock="virtual")
    record(SUITE, alone(InProcess()), chosen, tmp_path)
    assert record(SUITE, alone(InProcess()), chosen, tmp_path, resume=True).status == "complete"
    log = tmp_path / EVENTS_FILE
    log.write_bytes(log.read_bytes().replace(b'"go"', b'"wait"', 1))
    before = (tmp_path / RUN_FILE).read_bytes()
    with pytest.raises(InputError, match="not the one that was recorded"):
        record(SUITE, alone(InProcess()), chosen, tmp_path, resume=True)
    assert (tmp_path / RUN_FILE).read_bytes() == before


def test_resume_compares_the_record_that_is_there_once_the_folder_is_held(tmp_path: Path) -> None:
    """Another process may have begun something else between the first look and the lock."""
    suite = small_suite("one_a", "two_b")
    chosen = settings(suite, clock="virtual")

    async def break_off(request: Request, call: int) -> Answer:
        if request.state["scenario"] == "two_b":
            raise Fatal("rejected", "refused")
        return right(request)

    for name in ("mine", "theirs"):
        broken = alone(InProcess(break_off, model=name))
        with pytest.raises(Fatal):
            record(suite, broken, chosen, tmp_path / name)

    class Slow(InProcess):
        async def open(self) -> None:
            for file in (RUN_FILE, EVENTS_FILE):
                shutil.copy(tmp_path / "theirs" / file, tmp_path / "mine" / file)

    theirs = (tmp_path / "theirs" / EVENTS_FILE).read_bytes()
    with pytest.raises(InputError, match='model was "theirs", now "mine"'):
        record(suite, alone(Slow(model="mine")), chosen, tmp_path / "mine", resume=True)
    assert read_run(tmp_path / "mine").config["model"] == "theirs"
    assert (tmp_path / "mine" / EVENTS_FILE).read_bytes() == theirs


def test_a_first_call_that_fails_leaves_a_folder_for_the_corrected_command(tmp_path: Path) -> None:
    async def refuse(request: Request, call: int) -> Answer:
        raise Fatal("authentication", "no such key", fix="set it")

    chosen = settings(SUITE, clock="virtual")
    for resume in (False, True):
        out = tmp_path / str(resume)
        with pytest.raises(Fatal):
            record(SUITE, alone(InProcess(refuse, model="wrong")), chosen, out)
        corrected = InProcess(model="right")
        assert record(SUITE, alone(corrected), chosen, out, resume=resume).status == "complete"
        assert read_run(out).config["model"] == "right"
        assert sorted(p.name for p in out.iterdir()) == [EVENTS_FILE, RUN_FILE]
        read_recording(out, SUITE)


def test_overwrite_gives_up_ones_own_unfinished_recording_and_nothing_else(tmp_path: Path) -> None:
    async def break_off(request: Request, call: int) -> Answer:
        if request.state["clock"] == 4:
            raise Fatal("rejected", "refused")
        return right(request)

    chosen, out = settings(SUITE, clock="virtual"), tmp_path / "out"
    with pytest.raises(Fatal):
        record(SUITE, alone(InProcess(break_off, model="old")), chosen, out)
    with pytest.raises(InputError, match="--overwrite"):
        record(SUITE, alone(InProcess(model="new")), chosen, out)
    (out / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="not a fresh folder"):
        record(SUITE, alone(InProcess(model="new")), chosen, out, overwrite=True)
    (out / "notes.txt").unlink()
    record(SUITE, alone(InProcess(model="new")), chosen, out, overwrite=True)
    assert read_run(out).config["model"] == "new"
    before = (out / EVENTS_FILE).read_bytes()
    with pytest.raises(InputError, match="not a fresh folder"):
        record(SUITE, alone(InProcess(model="newer")), chosen, out, overwrite=True)
    assert (out / EVENTS_FILE).read_bytes() == before


@pytest.mark.parametrize("when", ["at import", "in answer"])
def test_a_relative_out_survives_a_component_that_changes_the_folder(
    tmp_path: Path, when: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    go = f"os.chdir({str(elsewhere)!r})"
    (tmp_path / "wanders.py").write_text(
        "import os\n"
        + (f"{go}\n" if when == "at import" else "")
        + "def answer(request):\n"
        + (f"    {go}\n" if when == "in answer" else "")
        + "    return dict(request.state['hint'])\n"
    )
    done = sdb(
        "run", "python:wanders:answer", "--data", suite_folder(tmp_path / "suite"), "--out", "out",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("out: complete")
    assert list(elsewhere.iterdir()) == []
    read_recording(tmp_path / "out", SUITE)


def test_a_machine_that_slept_has_its_scenario_recorded_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = small_suite("one_a", "two_b")
    slept = [0.0]
    monkeypatch.setattr(standstill, "asleep_s", lambda: slept[0])

    async def behave(request: Request, call: int) -> Answer:
        if (request.state["scenario"], request.state["clock"], call) == ("two_b", 3, 1):
            slept[0] = 7200.0
        return right(request)

    outcome = record(suite, alone(InProcess(behave)), settings(suite), tmp_path)
    assert outcome.status == "complete"
    assert len(read_recording(tmp_path, suite).episodes) == 2
    notes = [n for n in read_run(tmp_path).interruptions if n["reason"] == "slept"]
    assert [(n["scenario"], n["seconds"]) for n in notes] == [("two_b", 7200.0)]
    aside = (tmp_path / notes[0]["partial_file"]).read_text()
    assert '"two_b"' in aside


def test_connections_that_break_because_the_machine_slept_are_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept = [0.0]
    monkeypatch.setattr(standstill, "asleep_s", lambda: slept[0])

    async def behave(request: Request, call: int) -> Answer:
        if request.state["clock"] == 3 and not slept[0]:
            slept[0] = 60.0
            raise Fatal("authentication", "the token ran out meanwhile")
        return right(request)

    assert record(SUITE, alone(InProcess(behave)), settings(SUITE), tmp_path).status == "complete"


def test_a_machine_that_always_sleeps_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(10**6))
    monkeypatch.setattr(standstill, "asleep_s", lambda: float(next(clock)))
    with pytest.raises(Fatal, match=r"begun \d+ times: the machine slept"):
        record(SUITE, alone(InProcess()), settings(SUITE), tmp_path)
    assert read_run(tmp_path).status == "incomplete"


def test_this_machines_clocks_say_how_long_it_slept() -> None:
    first = standstill.asleep_s()
    assert first >= 0
    assert abs(standstill.asleep_s() - first) < 0.05


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
def test_a_process_that_was_stopped_records_the_scenario_anew(tmp_path: Path) -> None:
    """Stopped for longer than the scenario takes: most of its states would come after the horizon."""
    (tmp_path / "plain.py").write_text(
        "def answer(request):\n    return dict(request.state['hint'])\n"
    )
    data, out = suite_folder(tmp_path / "suite", steps=10, tick=0.1), tmp_path / "out"
    process = start(
        "run", "python:plain:answer", "--data", data, "--out", out, "--quiet", cwd=tmp_path
    )
    try:
        deadline = time.monotonic() + 120
        log = out / EVENTS_FILE
        while (not log.exists() or log.read_bytes().count(b"\n") < 9) and (
            time.monotonic() < deadline
        ):
            time.sleep(0.005)
        os.kill(process.pid or 0, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(process.pid or 0, signal.SIGCONT)
        process.join(120)
        assert process.exitcode == 0
    finally:
        process.kill()
    recording = read_recording(out)
    assert max(r.release_s for r in recording.episodes["one_a"].releases) < 1.0
    notes = json.loads((out / RUN_FILE).read_text())["interruptions"]
    assert notes
    assert {note["reason"] for note in notes} <= {"too_late", "stopped"}
