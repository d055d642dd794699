"""The law: the counters are what `sdb logs score` says of the log the meter wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamdecisionbench.meter import DecisionLog, Meter
from tests.cli.command import sdb
from tests.meter.test_counters import FakeClock, drive, ticking


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
