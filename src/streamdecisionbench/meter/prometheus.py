"""The meter's counters for Prometheus, through its official client (extra `prometheus`).

Counters are read when Prometheus scrapes; between two scrapes nothing is computed. In-force accuracy
over five minutes is

    sum(rate(sdb_judged_seconds_total{verdict="right"}[5m])) / sum(rate(sdb_judged_seconds_total[5m]))
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from streamdecisionbench.errors import InputError
from streamdecisionbench.meter.counts import LATENCY_BUCKETS_S
from streamdecisionbench.meter.meter import Meter


def export(meter: Meter, registry: CollectorRegistry = REGISTRY) -> MeterCollector:
    """Shows the meter in a registry of the client; `prometheus_client.start_http_server` serves it.

    Labels of streams that Prometheus would not keep apart from the meter's own are refused.
    """
    taken = {"meter", "component", "le", "member", *(one.label for one in meter.counters())}
    for name in meter.by:
        if not re.fullmatch("[a-zA-Z_][a-zA-Z0-9_]*", name):
            raise InputError(f"{name!r} is no label of Prometheus", fix="letters, digits and _")
        if name in taken:
            raise InputError(f"the label {name!r} is taken", fix="call it otherwise in Meter(by=…)")
    collector = MeterCollector(meter)
    registry.register(collector)
    return collector


class MeterCollector(Collector):
    """Everything one meter counts, as metric families."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def collect(self) -> Iterator[Metric]:
        meter = self._meter
        names = ["meter", "component", *meter.by]
        labelled = [
            ([meter.name, reading.component, *(value for _, value in reading.labels)], reading)
            for reading in meter.readings()
        ]

        for one in meter.counters():
            keys = [one.label] if one.label else []
            counter = CounterMetricFamily(one.prometheus, one.meaning, labels=[*names, *keys])
            for labels, reading in labelled:
                found = getattr(reading, one.field)
                if one.label:
                    for key, value in found.items():
                        counter.add_metric([*labels, key], value)
                else:
                    counter.add_metric(labels, found)
            yield counter
        pending = GaugeMetricFamily(
            "sdb_pending_seconds",
            "Observed seconds in no class yet: what was right now, or for their source, is not known.",
            labels=[*names, "class"],
        )
        latency = HistogramMetricFamily(
            "sdb_decision_latency_seconds",
            "From a state's publication to the arrival of an answer; of a cascade, of every member's.",
            labels=names,
        )
        members = HistogramMetricFamily(
            "sdb_member_latency_seconds",
            "From a state's publication to the arrival of the answer of one member of a cascade.",
            labels=[*names, "member"],
        )
        for labels, reading in labelled:
            for kind, value in reading.waiting.items():
                pending.add_metric([*labels, kind], value)
            latency.add_metric(
                labels, list(_cumulative(reading.latency_buckets)), reading.latency_sum_s
            )
            for member, took in reading.member_latency.items():
                members.add_metric([*labels, member], list(_cumulative(took.buckets)), took.sum_s)
        yield pending
        yield latency
        if members.samples:
            yield members
        yield from self._of_the_meter()

    def _of_the_meter(self) -> Iterator[Metric]:
        meter = self._meter
        opened = GaugeMetricFamily("sdb_open_streams", "Streams that run.", labels=["meter"])
        opened.add_metric([meter.name], meter.open_streams)
        yield opened
        errors = CounterMetricFamily(
            "sdb_meter_errors",
            "What went wrong inside the meter; none of it reached the application.",
            labels=["meter", "where"],
        )
        for where, count in sorted({"log": 0, **meter.errors}.items()):
            errors.add_metric([meter.name, where], count)
        yield errors
        lost = CounterMetricFamily(
            "sdb_log_lost_rows", "Rows the decision log could not write.", labels=["meter"]
        )
        lost.add_metric([meter.name], meter.lost_rows)
        yield lost


def _cumulative(buckets: Sequence[int]) -> Iterator[tuple[str, float]]:
    total = 0
    for end, count in zip((*LATENCY_BUCKETS_S, "+Inf"), buckets, strict=True):
        total += count
        yield str(end), total
