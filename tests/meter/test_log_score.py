"""The law: the counters are what `sdb logs score` says of the log the meter wrote, whatever happens to
objects, process, clock and window; and one bad event costs that event alone, counted."""

from __future__ import annotations

import enum
import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamdecisionbench.meter import DecisionLog, Meter
from tests.cli.command import sdb
from tests.meter.test_counters import FakeClock, drive, ticking


def one_file(folder: Path) -> Path:
    """The folder's JSON Lines as one file beside it: a log is a log, in however many files."""
    target = folder.with_suffix(".jsonl")
    target.write_bytes(b"".join(path.read_bytes() for path in sorted(folder.glob("*.jsonl"))))
    return target


def assert_log_says(folder: Path, counted: dict[tuple[str, str], dict[str, float]]) -> None:
    """Seconds by class, by meter and component, are those that were counted."""
    done = sdb("logs", "score", folder, "--by", "meter", "--by", "component", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    groups = {
        (g["by"]["meter"], g["by"]["component"]): g for g in json.loads(done.stdout)["groups"]
    }
    # Whatever lasted for less than the clock can tell from nothing is in no log.
    counted = {key: seconds for key, seconds in counted.items() if sum(seconds.values()) > 1e-6}
    assert groups.keys() >= counted.keys()
    for key, seconds in counted.items():
        observed = sum(seconds.values())
        found = {name: share * observed for name, share in groups[key]["classes"].items()}
        assert found == pytest.approx(seconds, abs=1e-6), key


@pytest.mark.parametrize("parquet", [False, True])
def test_sdb_logs_score_of_the_log_gives_the_counters(parquet: bool, tmp_path: Path) -> None:
    """Late and missing judgments, answers out of order, a shadow, many flushes and files."""
    meter = Meter("test", clock=ticking(), shadows=("candidate",))
    log = DecisionLog(meter, tmp_path / "log", flush_s=3600, max_bytes=20_000, parquet=parquet)
    for k in range(12):
        drive(meter, f"call-{k}", k, 40)
        log.flush()
    meter.close()
    done = sdb("logs", "score", tmp_path / "log", "--by", "component", "--json")
    assert done.returncode == 0, done.stderr
    groups = {g["by"]["component"]: g for g in json.loads(done.stdout)["groups"]}
    assert groups.keys() == {"applied", "candidate"}
    for component, group in groups.items():
        seconds = meter.seconds(component)
        shares = {name: value / sum(seconds.values()) for name, value in seconds.items()}
        assert group["classes"] == pytest.approx(shares, abs=1e-9)
        assert group["in_force"] == pytest.approx(meter.in_force(component), abs=1e-9)
        assert group["streams"] == 12


def left_by_a_kill(folder: Path) -> Meter:
    """A log with open streams, one of them just begun, and half a line at its end."""
    meter = Meter("test", clock=ticking(), shadows=("candidate",))
    log = DecisionLog(meter, folder, flush_s=3600, max_bytes=20_000)
    for k in range(6):
        drive(meter, f"call-{k}", k, 40)
        log.flush()
    stream = meter.stream("open")
    for k in range(5):
        step = stream.publish({"k": k}, reference="a")
        stream.answer(step, "a" if k % 2 else "b")
    meter.stream("just begun").publish({}, reference="a")
    log.flush()
    newest = max(folder.glob("*.jsonl"))
    with newest.open("ab") as file:
        file.write(b'{"stream":"call-5@x.1","published_at":12.5,"partial":tr')
    return meter


def test_a_line_that_was_cut_off_is_counted_and_no_obstacle(tmp_path: Path) -> None:
    left_by_a_kill(tmp_path / "log")
    torn = max((tmp_path / "log").glob("*.jsonl"))
    found = sdb("logs", "score", tmp_path / "log", "--by", "component", "--json", "--quiet")
    assert found.returncode == 0, found.stderr
    assert "1 file ends in a line that was cut off" in " ".join(json.loads(found.stdout)["notes"])
    checked = sdb("logs", "check", tmp_path / "log", "--quiet")
    assert checked.returncode == 0, checked.stderr
    assert "1 file ends in a line that was cut off" in " ".join(checked.stdout.split())
    assert json.loads(sdb("logs", "check", tmp_path / "log", "--json").stdout)["torn_lines"] == 1
    data = torn.read_bytes()
    torn.write_bytes(data[: data.rindex(b"\n") + 1])
    whole = sdb("logs", "score", tmp_path / "log", "--by", "component", "--json", "--quiet")
    one, other = (json.loads(done.stdout) for done in (found, whole))
    assert one["groups"] == other["groups"]
    assert other["notes"] == []


def test_a_broken_line_in_the_middle_is_refused(tmp_path: Path) -> None:
    left_by_a_kill(tmp_path / "log")
    torn = max((tmp_path / "log").glob("*.jsonl"))
    torn.write_bytes(torn.read_bytes() + b"\n" + torn.read_bytes().splitlines()[0] + b"\n")
    done = sdb("logs", "score", tmp_path / "log", "--quiet")
    assert done.returncode == 2
    assert torn.name in done.stderr
    assert "Traceback" not in done.stderr


def test_a_shadow_is_paired_with_what_it_shadows(tmp_path: Path) -> None:
    """One that decides alike differs by nothing, whatever streams are drawn."""
    clock = FakeClock()
    meter = Meter("test", clock=clock, shadows=("candidate",))
    DecisionLog(meter, tmp_path / "log", flush_s=3600)
    for k in range(8):
        with meter.stream(f"call-{k}") as call:
            for right in "abba" * (1 + k):
                step = call.publish({}, reference=right)
                clock.now += 0.5 + k / 10
                call.answer(step, "a")
                call.shadow("candidate", step, "a")
                clock.now += 1.0
    meter.close()
    done = sdb("logs", "score", tmp_path / "log", "--by", "component", "--json")
    (difference,) = json.loads(done.stdout)["differences"]
    low, high = difference["in_force"]["interval_95"]
    assert abs(low) < 1e-12
    assert abs(high) < 1e-12
    low, high = json.loads(done.stdout)["groups"][0]["interval_95"]
    assert low < high


class Colour(enum.Enum):
    RED = "red"


class Unspeakable:
    """Nothing can be asked of it."""

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        raise RuntimeError("do not ask")

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("do not compare")


ODD_DECISIONS: tuple[Any, ...] = (
    "wait", " wait ", "hold", '"wait"', '"\\"wait\\""', '"\\"wait"', '"[wait"', '{"card": 1', "red",
    Colour.RED, {"card": Colour.RED}, '{"card": "red"}', {"card": 1}, {"card": 1.0}, '{"card":1}',
    {9: "a", 10: "b"}, '{"9": "a", "10": "b"}', ["x"], ("x",), 3, 3.0, "3", True, "true", "", " ", "null",
    "\ud800", "wait\udfff", '{"card": "\\ud800"}', {"card": "\ud800"}, {"\ud800": 1}, "a\x00b", "a\x01b",
    "2024-01-01", "12:30", "not JSON: x", math.nan, math.inf, 10**400, {"n": 10**5000}, object(),
    Unspeakable(), "\u2028", "{{", "[]", "{}", "[1, 2]", np.int64(3), b"wait",
)  # fmt: skip
ODD_STEPS: tuple[Any, ...] = (-1, 99, "x", 1.5, None, [], Unspeakable(), 10**30, math.nan)
ODD_NAMES: tuple[Any, ...] = (
    "call", "", 7, None, "\ud800", Unspeakable(), ["call"], "a@b.1", "~", "x" * 500, "2024-01-01", "a\nb",
)  # fmt: skip
ODD_TIMES: tuple[Any, ...] = (
    None,
    math.inf,
    -math.inf,
    math.nan,
    "noon",
    OSError("no clock"),
    -5.0,
)
ODD_LABELS = (
    "", "tick_s", "_until", "Reference", "reference", "filename", "state_id", "silver", "day", "model",
    "Model", "a b", 'a"b', "\ud800", "component", "größe", " model", "Stream", "class", "a\nb",
)  # fmt: skip


class OddClock:
    """Goes on, but now and then says something else."""

    def __init__(self, draw: random.Random, odd: float) -> None:
        self.now, self._draw, self._odd = 1000.0, draw, odd

    def __call__(self) -> Any:
        if self._draw.random() >= self._odd:
            return self.now
        found = self._draw.choice(ODD_TIMES)
        if isinstance(found, Exception):
            raise found
        return found


def live_oddly(meter: Meter, clock: OddClock, draw: random.Random) -> None:
    """A few streams, into which everything is thrown that an application might do by mistake."""
    decisions = ["wait", *draw.choices(ODD_DECISIONS, k=4)]
    for _ in range(draw.randrange(1, 4)):
        labels = {name: draw.choice(ODD_DECISIONS) for name in draw.sample(ODD_LABELS, 3)}
        call = meter.stream(draw.choice(ODD_NAMES), **labels)
        growing: list[Any] = []
        for number in range(draw.randrange(1, 25)):
            clock.now += draw.choice((0.0, draw.random(), 2.0))
            growing.append(draw.choice(ODD_DECISIONS))
            given = {"reference": draw.choice(decisions)} if draw.random() < 0.4 else {}
            state = growing if draw.random() < 0.8 else draw.choice(ODD_DECISIONS)
            assert call.publish(state, **given) == number
            for _ in range(draw.randrange(4)):
                clock.now += draw.choice((0.0, draw.random()))
                step = max(0, number - draw.choice((0, 0, 1, 3, 10, 20)))
                which = draw.choice((step, step, np.int64(step), draw.choice(ODD_STEPS)))
                decision = draw.choice(decisions)
                if draw.random() < 0.5:
                    call.answer(
                        which, decision, confidence=draw.choice((0.5, *ODD_DECISIONS)),
                        cost=draw.choice((0.5, -1.0, *ODD_DECISIONS)),
                    )  # fmt: skip
                elif draw.random() < 0.5:
                    call.judge(which, decision)
                else:
                    call.shadow(draw.choice(("candidate", "applied", "", "late", *ODD_NAMES)), which, decision)  # fmt: skip
        if draw.random() < 0.8:
            clock.now += draw.choice((0.0, 1.0))
            call.end()
        if draw.random() < 0.3:
            call.publish("after its end")
            call.answer(0, "after its end")
            call.judge(0, "wait")


@pytest.mark.parametrize("parquet", [False, True])
def test_whatever_an_application_does_the_log_says_what_was_counted(
    parquet: bool, tmp_path: Path
) -> None:
    counted = {}
    for seed in range(120):
        draw = random.Random(seed)
        clock = OddClock(draw, draw.choice((0.0, 0.05)))
        meter = Meter(
            f"odd-{seed}", clock=clock, window=draw.choice((2, 5, 1000)), shadows=("candidate",),
            late_window=draw.choice((0, 100)),
        )  # fmt: skip
        log = DecisionLog(
            meter, tmp_path / "log", flush_s=3600, states=True, parquet=parquet,
            max_bytes=draw.choice((200, 10**6)),
        )  # fmt: skip
        live_oddly(meter, clock, draw)
        if draw.random() < 0.5:
            log.flush()
        live_oddly(meter, clock, draw)
        clock._odd = 0.0
        meter.close()
        assert meter.lost_rows == 0
        assert "log" not in meter.errors
        for reading in meter.readings():
            counted[meter.name, reading.component] = meter.seconds(reading.component)
    assert_log_says(tmp_path / "log" if parquet else one_file(tmp_path / "log"), counted)


def test_a_log_that_knows_only_some_judgments_says_the_live_figure(tmp_path: Path) -> None:
    """Sixty services with few judgments: read at any moment, the meter says what its log says."""
    said = {}
    for seed in range(60):
        draw = random.Random(seed)
        clock = FakeClock()
        meter = Meter(f"m-{seed}", clock=clock)
        DecisionLog(meter, tmp_path / "log", flush_s=3600)
        call = meter.stream("call")
        known = draw.random()
        for _ in range(40):
            right = draw.choice("ab")
            step = call.publish(reference=right if draw.random() < known else None)
            clock.now += draw.random()
            if draw.random() < 0.6:
                call.answer(step, right if draw.random() < 0.7 else "c")
            clock.now += draw.random()
        said[meter.name] = meter.in_force()
        call.end()
        meter.close()
    log = one_file(tmp_path / "log")
    done = sdb("logs", "score", log, "--by", "meter", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    groups = {g["by"]["meter"]: g["in_force"] for g in json.loads(done.stdout)["groups"]}
    assert groups == pytest.approx(said, abs=1e-9)
