"""A real Prometheus scrapes the documented service; PromQL says what the service's log says."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from streamdecisionbench.errors import InputError
from streamdecisionbench.meter import CLASSES, Meter
from streamdecisionbench.meter.prometheus import export
from tests.meter import plain, written
from tests.meter.test_counters import FakeClock
from tests.meter.test_policy import cascade

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "production"
SCRAPED_S = float(os.environ.get("SDB_SCRAPED_S", "12"))
"""How long Prometheus watches; CI lets it watch a minute."""
SCRAPE_S = 1.0
RIGHT = 'class=~"current_correct|outdated_correct"'

needs_prometheus = pytest.mark.skipif(
    not (shutil.which("prometheus") and shutil.which("promtool")),
    reason="prometheus is not installed (Debian: apt-get install prometheus)",
)


def test_every_counter_is_shown() -> None:
    clock = FakeClock()
    meter = Meter(
        "recorder", clock=clock, by=("model",), shadows=("candidate",), theta=0.1, costs="default"
    )
    registry = CollectorRegistry()
    export(meter, registry)
    with meter.stream("call", model='a "new" one') as call:
        step = call.publish(reference="wait")
        clock.now = 0.25
        call.answer(step, "wait")
        clock.now = 2.0
        families = {
            family.name: family
            for family in text_string_to_metric_families(generate_latest(registry).decode())
        }
    values = {
        (s.name, s.labels.get("component"), s.labels.get("model"), s.labels.get("class")): s.value
        for family in families.values()
        for s in family.samples
    }
    mine = ("applied", 'a "new" one')
    assert values["sdb_decision_seconds_total", *mine, "current_correct"] == 1.75
    assert values["sdb_decision_seconds_total", *mine, "no_decision"] == 0.25
    assert {
        s.labels["verdict"]: s.value
        for s in families["sdb_judged_seconds"].samples
        if s.labels["component"] == "applied" and s.name.endswith("_total")
    } == {"right": 1.75, "wrong": 0.25}
    assert {
        s.labels["class"]: s.value
        for s in families["sdb_pending_seconds"].samples
        if s.labels["component"] == "applied"
    } == {"unjudged": 0.0, "unattributed": 0.0}
    assert values["sdb_in_force_seconds_total", *mine, None] == 1.75
    assert values["sdb_decision_latency_seconds_sum", *mine, None] == 0.25
    assert values["sdb_decision_latency_seconds_count", *mine, None] == 1
    assert values["sdb_decision_seconds_total", "candidate", 'a "new" one', "no_decision"] == 2.0
    assert values["sdb_wrong_spells_total", *mine, None] == 1
    assert values["sdb_wrong_age_integral_total", *mine, None] == 0.25**2 / 2
    assert values["sdb_wrong_beyond_seconds_total", *mine, None] == pytest.approx(0.15)
    cost = {
        (s.labels["component"], s.labels["kind"]): s.value
        for s in families["sdb_error_cost_seconds"].samples
        if s.name.endswith("_total")
    }
    assert cost == {
        (who, kind): pytest.approx(seconds if kind == "wrong" else 0.0)
        for who, seconds in (("applied", 0.25), ("candidate", 2.0))
        for kind in ("wrong", "age")
    }
    assert {s.labels["class"] for s in families["sdb_decision_seconds"].samples} == set(CLASSES)
    assert {"sdb_open_streams", "sdb_meter_errors", "sdb_log_lost_rows"} <= families.keys()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"by": ("kind",), "costs": "default"}, "the label 'kind' is taken"),
        ({"by": ("le",)}, "the label 'le' is taken"),
        ({"by": ("größe",)}, "is no label of Prometheus"),
        ({"by": ("a-b",)}, "is no label of Prometheus"),
    ],
)
def test_labels_that_would_lose_series_are_refused_at_the_start(
    options: dict[str, Any], says: str
) -> None:
    registry = CollectorRegistry()
    with pytest.raises(InputError, match=says):
        export(Meter("recorder", **options), registry)
    assert not list(registry.collect())


def test_no_two_series_have_the_same_labels() -> None:
    """Whatever splits the counters: a scrape that shows one twice loses it."""
    meter = Meter(
        "recorder", by=("kind", "where", "outcome_of", "cause"), shadows=("candidate", "other")
    )  # fmt: skip
    registry = CollectorRegistry()
    export(meter, registry)
    for k in range(3):
        with meter.stream("call", kind=f"{k}", where="\ud800") as call:
            call.answer(call.publish(reference="wait"), "wait")
    text = generate_latest(registry).decode()
    shown = [line.rpartition(" ")[0] for line in text.splitlines() if line[:1] != "#"]
    assert len(shown) == len(set(shown)) > 400
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            assert sample.labels["meter"] == "recorder"


@needs_prometheus
def test_the_documented_rules_are_valid_and_do_what_they_say() -> None:
    for command in (
        ("check", "config", "prometheus.yml"),
        ("check", "rules", "alerts.yml"),
        ("test", "rules", "alerts_test.yml"),
    ):
        done = subprocess.run(
            ["promtool", *command], cwd=EXAMPLE, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((EXAMPLE / "dashboard.json").read_text())
    return found


def queries() -> list[str]:
    """Every query of the dashboard, with Grafana's variables filled in as Grafana fills them."""
    return [
        target["expr"].replace("$meter", ".*").replace("$__rate_interval", "1m")
        for panel in dashboard()["panels"]
        for target in panel["targets"]
    ]


def test_the_dashboard_is_put_together_as_grafana_wants_it() -> None:
    """Its own schema checker is not at hand; these are the rules that a broken import breaks."""
    found = dashboard()
    assert {"title", "uid", "schemaVersion", "panels", "templating", "time"} <= found.keys()
    assert len({panel["id"] for panel in found["panels"]}) == len(found["panels"])
    cells: set[tuple[int, int]] = set()
    for panel in found["panels"]:
        place = panel["gridPos"]
        assert 0 <= place["x"] <= place["x"] + place["w"] <= 24
        mine = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not mine & cells, f"{panel['title']} lies over another panel"
        cells |= mine
        assert panel["type"] in {"stat", "timeseries"}
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    names = {variable["name"] for variable in found["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(found)))
    assert used - names == {"__rate_interval", "__all"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Watched:
    """The documented service and a Prometheus that scrapes it."""

    def __init__(self, folder: Path) -> None:
        self.port, self.metrics_port, self.prometheus_port = free_port(), free_port(), free_port()
        self.folder = folder
        config = (EXAMPLE / "prometheus.yml").read_text()
        config = config.replace("127.0.0.1:9464", f"127.0.0.1:{self.metrics_port}")
        config = config.replace("scrape_interval: 5s", f"scrape_interval: {SCRAPE_S:g}s")
        (folder / "prometheus.yml").write_text(config)
        shutil.copy(EXAMPLE / "alerts.yml", folder)
        self.service = subprocess.Popen(
            [sys.executable, str(EXAMPLE / "service.py"), str(self.port), str(self.metrics_port)],
            cwd=folder, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.service.stdout is not None
        self.service.stdout.readline()
        self.prometheus = subprocess.Popen(
            ["prometheus", f"--web.listen-address=127.0.0.1:{self.prometheus_port}",
             "--config.file=prometheus.yml", "--storage.tsdb.path=data", "--log.level=error"],
            cwd=folder,
        )  # fmt: skip

    def query(self, expression: str) -> list[dict[str, Any]]:
        address = f"http://127.0.0.1:{self.prometheus_port}/api/v1/query?"
        asked = urllib.parse.urlencode({"query": expression})
        with urllib.request.urlopen(address + asked, timeout=30) as reply:  # noqa: S310
            found: list[dict[str, Any]] = json.load(reply)["data"]["result"]
        return found

    def value(self, expression: str) -> float:
        (found,) = self.query(expression)
        return float(found["value"][1])

    def scraped(self) -> float:
        """When Prometheus last scraped, by its own clock; 0 before the first."""
        try:
            found = self.query("timestamp(sdb_open_streams)")
        except OSError:
            return 0.0
        return float(found[0]["value"][1]) if found else 0.0

    def wait_for_scrapes(self, count: int) -> None:
        seen = {self.scraped()}
        end = time.monotonic() + 120
        while len(seen) <= count and time.monotonic() < end:
            time.sleep(0.2)
            seen.add(self.scraped())
        assert len(seen) > count, "Prometheus does not scrape"

    def close(self) -> None:
        for process in (self.prometheus, self.service):
            process.terminate()
            process.wait(60)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    found = Watched(tmp_path)
    yield found
    found.close()


def talk(port: int, name: str, seconds: float) -> None:
    """One caller: mostly talk, sometimes a card number; what was right is said a little later."""
    draw = random.Random(name)
    words = ("hello", "my card ends in", "the number on the parcel", "yes", "four one one card")
    waiting: list[tuple[int, str]] = []
    end = time.monotonic() + seconds
    with socket.create_connection(("127.0.0.1", port)) as connection:
        lines = connection.makefile("rw", encoding="utf-8")
        lines.write(f"{name}\n")
        while time.monotonic() < end:
            said = draw.choice(words)
            lines.write(f"{said}\n")
            lines.flush()
            step = int(lines.readline().split()[0])
            waiting.append((step, "pause" if "card" in said else "record"))
            time.sleep(0.1 + 0.5 * draw.random())
            if len(waiting) > 3 and draw.random() < 0.9:
                number, reference = waiting.pop(0)
                lines.write(f"judge {number} {reference}\n")
        for number, reference in waiting:
            lines.write(f"judge {number} {reference}\n")
        lines.flush()


def log_says(folder: Path, component: str) -> tuple[dict[str, float], float]:
    """Seconds by class and in-force accuracy, from the log by its plain definition."""
    total = dict.fromkeys(CLASSES, 0.0)
    for states in written.streams(folder).values():
        if states[0]["component"] == component:
            events = written.happened(states)
            for name, value in plain.seconds(events, events[-1].at, closed=True).items():
                total[name] += value
    right = total["current_correct"] + total["outdated_correct"]
    return total, right / (sum(total.values()) - total["unjudged"])


@needs_prometheus
def test_promql_says_what_the_log_says(watched: Watched) -> None:
    watched.wait_for_scrapes(2)
    callers = [
        threading.Thread(target=talk, args=(watched.port, f"call-{k}", SCRAPED_S)) for k in range(4)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    # The last answers arrive, the streams end, and the log's last flush comes within a second.
    while watched.query("sdb_open_streams")[0]["value"][1] != "0":
        time.sleep(0.2)
    watched.wait_for_scrapes(3)
    window = f"[{int(SCRAPED_S) + 60}s]"
    for component in ("applied", "candidate"):
        seconds, in_force = log_says(watched.folder / "decisions", component)
        assert sum(seconds.values()) > 3 * SCRAPED_S
        for name, value in seconds.items():
            found = watched.value(
                f'sdb_decision_seconds_total{{component="{component}",class="{name}"}}'
            )
            assert found == pytest.approx(value, abs=1e-9)
        shares = 'sum({}(sdb_{}_total{{component="{}",{}}}{}))'
        for function, reach, near in (("", "", 1e-9), ("rate", window, SCRAPE_S / SCRAPED_S)):
            for name, right_ones, judged_ones in (
                ("decision_seconds", RIGHT, 'class!="unjudged"'),
                ("judged_seconds", 'verdict="right"', ""),
            ):
                right = shares.format(function, name, component, right_ones, reach)
                judged = shares.format(function, name, component, judged_ones, reach)
                assert watched.value(f"{right} / {judged}") == pytest.approx(in_force, abs=near)
    for expression in queries():
        assert watched.query(expression), f"the dashboard asks for nothing: {expression}"
    assert watched.query("sdb_meter_errors_total > 0") == []
    assert watched.query("sdb_log_lost_rows_total > 0") == []


def test_latency_of_a_cascade_has_a_histogram_by_member(tmp_path: Path) -> None:
    meter = cascade(tmp_path)
    registry = CollectorRegistry()
    export(meter, registry)
    families = text_string_to_metric_families(generate_latest(registry).decode())
    found = {
        (s.name, s.labels.get("member")): s.value for family in families for s in family.samples
    }
    for member, seconds in {"fast": 1.8, "slow": 14.4}.items():
        assert found["sdb_member_latency_seconds_count", member] == 18
        assert found["sdb_member_latency_seconds_sum", member] == pytest.approx(seconds)
