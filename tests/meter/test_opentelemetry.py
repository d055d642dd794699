"""The OpenTelemetry export, through the official exporter to a real OTLP receiver on loopback."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality, Metric
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.trace import TracerProvider

from streamdecisionbench.meter import CLASSES, Meter
from streamdecisionbench.meter.opentelemetry import export
from tests.meter.test_counters import FakeClock, drive, ticking

pytestmark = pytest.mark.slow

Value = str | bool | int | float


class Receiver:
    """Understands what a collector's OTLP/HTTP receiver understands, with the official types."""

    def __init__(self) -> None:
        self.metrics: list[ExportMetricsServiceRequest] = []
        self.logs: list[ExportLogsServiceRequest] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                if self.path == "/v1/metrics":
                    outer.metrics.append(ExportMetricsServiceRequest.FromString(body))
                    reply = ExportMetricsServiceResponse().SerializeToString()
                else:
                    assert self.path == "/v1/logs"
                    outer.logs.append(ExportLogsServiceRequest.FromString(body))
                    reply = ExportLogsServiceResponse().SerializeToString()
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def last_metrics(self) -> dict[str, Metric]:
        return {
            metric.name: metric
            for resource in self.metrics[-1].resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def records(self) -> list[tuple[str, dict[str, Value], bytes]]:
        return [
            (record.event_name, attributes(record.attributes), record.span_id)
            for request in self.logs
            for resource in request.resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


def attributes(pairs: Iterator[KeyValue]) -> dict[str, Value]:
    return {p.key: getattr(p.value, p.value.WhichOneof("value")) for p in pairs}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    yield found
    found.close()


@pytest.fixture
def providers(receiver: Receiver) -> Iterator[tuple[MeterProvider, LoggerProvider]]:
    reader = PeriodicExportingMetricReader(
        OTLPMetricExporter(endpoint=f"{receiver.url}/v1/metrics"), export_interval_millis=3600_000
    )
    meters = MeterProvider(metric_readers=[reader])
    loggers = LoggerProvider()
    loggers.add_log_record_processor(
        BatchLogRecordProcessor(OTLPLogExporter(endpoint=f"{receiver.url}/v1/logs"))
    )
    yield meters, loggers
    meters.shutdown()
    loggers.shutdown()


def test_metrics_arrive_as_they_are_counted(
    receiver: Receiver, providers: tuple[MeterProvider, LoggerProvider]
) -> None:
    meters, loggers = providers
    meter = Meter("recorder", clock=ticking(), shadows=("candidate",), costs="default")
    export(meter, meter_provider=meters, logger_provider=loggers)
    for k in range(5):
        drive(meter, f"call-{k}", k, 30)
    meter.close()
    assert meters.force_flush()
    found = receiver.last_metrics()
    seconds = found["sdb.decision.seconds"]
    assert seconds.unit == "s"
    assert seconds.sum.is_monotonic
    assert (
        seconds.sum.aggregation_temporality
        == AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
    )
    said = {
        (a["sdb.component"], a["sdb.class"]): point.as_double
        for point in seconds.sum.data_points
        for a in [attributes(point.attributes)]
    }
    for component in ("applied", "candidate"):
        wanted = meter.seconds(component)
        assert {name: said[component, name] for name in CLASSES} == pytest.approx(wanted, abs=1e-9)
    answers = {
        (a["sdb.component"], a["sdb.outcome"]): point.as_int
        for point in found["sdb.answers"].sum.data_points
        for a in [attributes(point.attributes)]
    }
    applied = meter.readings()[0]
    assert {o: answers["applied", o] for o in applied.answers} == applied.answers
    latency = {
        attributes(point.attributes)["sdb.component"]: point
        for point in found["sdb.decision.latency"].histogram.data_points
    }
    assert latency["applied"].count == sum(applied.latency_buckets)
    assert list(latency["applied"].bucket_counts) == list(applied.latency_buckets)
    cost = {
        a["sdb.kind"]: point.as_double
        for point in found["sdb.error.cost"].sum.data_points
        for a in [attributes(point.attributes)]
        if a["sdb.component"] == "applied"
    }
    assert cost == pytest.approx(applied.cost_s)
    spells = {
        attributes(point.attributes)["sdb.component"]: point.as_int
        for point in found["sdb.wrong.spells"].sum.data_points
    }
    assert spells["applied"] == applied.spells > 0
    assert {"sdb.wrong.age_integral", "sdb.wrong.beyond"} <= found.keys()
    assert {"sdb.open_streams", "sdb.meter.errors", "sdb.log.lost_rows"} <= found.keys()


def test_an_evaluation_for_every_answer_of_known_worth(
    receiver: Receiver, providers: tuple[MeterProvider, LoggerProvider]
) -> None:
    meters, loggers = providers
    clock = FakeClock()
    meter = Meter("recorder", clock=clock)
    export(meter, meter_provider=meters, logger_provider=loggers, texts=True)
    with meter.stream("call-7") as call:
        first = call.publish()
        call.answer(first, "wait")
        second = call.publish(reference="hold")
        call.answer(second, "hold")
        call.publish(reference="hold")
        with TracerProvider().get_tracer("test").start_as_current_span("reviewed") as span:
            call.judge(first, "hold")
            reviewed = span.get_span_context().span_id
    assert loggers.force_flush()
    one, two = receiver.records()
    assert one[0] == two[0] == "gen_ai.evaluation.result"
    assert one[1] == {
        "gen_ai.evaluation.name": "decision",
        "gen_ai.evaluation.score.value": 1.0,
        "gen_ai.evaluation.score.label": "correct",
        "gen_ai.conversation.id": "call-7",
        "sdb.meter": "recorder",
        "sdb.component": "applied",
        "sdb.stream": call.id,
        "sdb.step": 1,
        "sdb.decision": "hold",
    }
    assert two[1]["gen_ai.evaluation.score.label"] == "incorrect"
    assert two[1]["sdb.step"] == 0
    assert two[1]["sdb.reference"] == "hold"
    assert int.from_bytes(two[2]) == reviewed


def test_texts_stay_here_unless_asked_for(
    receiver: Receiver, providers: tuple[MeterProvider, LoggerProvider]
) -> None:
    meters, loggers = providers
    meter = Meter("recorder")
    export(meter, meter_provider=meters, logger_provider=loggers)
    with meter.stream("call-7") as call:
        call.answer(call.publish(reference="the secret"), "the secret")
    loggers.force_flush()
    ((_, said, _),) = receiver.records()
    assert "the secret" not in said.values()


def test_an_exporter_that_is_shut_down_or_nobody_listens_to(receiver: Receiver) -> None:
    meters, loggers = MeterProvider(), LoggerProvider()
    receiver.close()
    loggers.add_log_record_processor(
        SimpleLogRecordProcessor(OTLPLogExporter(endpoint=f"{receiver.url}/v1/logs", timeout=0.1))
    )
    clock = FakeClock()
    meter = Meter("recorder", clock=clock)
    export(meter, meter_provider=meters, logger_provider=loggers)
    with meter.stream("call") as call:
        step = call.publish(reference="wait")
        assert call.answer(step, "wait") is True
        meters.shutdown()
        loggers.shutdown()
        step = call.publish(reference="hold")
        assert call.answer(step, "hold") is True
        assert call.decision == "hold"
        clock.now = 3.0
    assert meter.seconds()["current_correct"] == 3.0
