"""The law: the counters are what `sdb logs score` says of the log the meter wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamdecisionbench.meter import DecisionLog, Meter
from tests.cli.command import sdb
from tests.meter.test_counters import drive, ticking


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
