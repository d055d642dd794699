"""The meter through OpenTelemetry: metrics, and an evaluation event for every judged answer.

Metrics are observed when the reader collects. An answer whose worth is known is told as an event
`gen_ai.evaluation.result` of the GenAI conventions, in the trace context of whoever made it known.
Needs the extra `otel`, or any provider of the OpenTelemetry API.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from opentelemetry import metrics
from opentelemetry._logs import LoggerProvider, SeverityNumber, get_logger
from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

from streamdecisionbench.meter.counts import LATENCY_BUCKETS_S, Reading
from streamdecisionbench.meter.meter import Meter
from streamdecisionbench.meter.stream import Notice

EVALUATION = "gen_ai.evaluation.result"
_SCOPE = "streamdecisionbench.meter"

Callback = Callable[[CallbackOptions], Iterable[Observation]]


def export(
    meter: Meter,
    *,
    meter_provider: MeterProvider | None = None,
    logger_provider: LoggerProvider | None = None,
    texts: bool = False,
) -> None:
    """Shows the meter to OpenTelemetry; without providers, to the global ones.

    `texts` adds decision and reference to the events. They may hold what users said.
    """
    instruments = metrics.get_meter(_SCOPE, meter_provider=meter_provider)
    _observe(meter, instruments)
    latency = instruments.create_histogram(
        "sdb.decision.latency",
        unit="s",
        description="From a state's publication to the arrival of its answer.",
        explicit_bucket_boundaries_advisory=LATENCY_BUCKETS_S,
    )
    member_latency = instruments.create_histogram(
        "sdb.member.latency",
        unit="s",
        description="From a state's publication to the answer of one member of a cascade.",
        explicit_bucket_boundaries_advisory=LATENCY_BUCKETS_S,
    )
    logger = get_logger(_SCOPE, logger_provider=logger_provider)

    def tell(event: Notice) -> None:
        if event.kind == "answered":
            took = event.at - event.published_at
            whose = {
                "sdb.meter": meter.name,
                "sdb.component": event.component,
                **{name: str(event.stream.labels.get(name, "")) for name in meter.by},
            }
            latency.record(took, whose)
            if event.member is not None:
                member_latency.record(took, {**whose, "sdb.member": event.member})
        if event.correct is not None:
            logger.emit(
                event_name=EVALUATION,
                severity_number=SeverityNumber.INFO,
                attributes=_evaluation(meter, event, texts=texts),
            )

    meter.add_sink(tell)


def _evaluation(meter: Meter, event: Notice, *, texts: bool) -> dict[str, Any]:
    said = {
        "gen_ai.evaluation.name": "decision",
        "gen_ai.evaluation.score.value": float(bool(event.correct)),
        "gen_ai.evaluation.score.label": "correct" if event.correct else "incorrect",
        "gen_ai.conversation.id": event.stream.name,
        "sdb.meter": meter.name,
        "sdb.component": event.component,
        "sdb.stream": event.stream.id,
        "sdb.step": event.step,
    }
    if texts:
        said["sdb.decision" if event.kind == "answered" else "sdb.reference"] = event.value
    return said


def _observe(meter: Meter, instruments: metrics.Meter) -> None:
    def labels(reading: Reading) -> dict[str, str]:
        return {
            "sdb.meter": meter.name, "sdb.component": reading.component, **dict(reading.labels)
        }  # fmt: skip

    def field(name: str, label: str = "") -> Callback:
        def observe(_: CallbackOptions) -> Iterable[Observation]:
            for reading in meter.readings():
                found = getattr(reading, name)
                for key, value in found.items() if label else [("", found)]:
                    said = {f"sdb.{label}": key} if label else {}
                    yield Observation(value, {**labels(reading), **said})

        return observe

    def errors(_: CallbackOptions) -> Iterable[Observation]:
        for where, count in sorted({"log": 0, **meter.errors}.items()):
            yield Observation(count, {"sdb.meter": meter.name, "sdb.where": where})

    def own(name: str) -> Callback:
        def observe(_: CallbackOptions) -> Iterable[Observation]:
            yield Observation(getattr(meter, name), {"sdb.meter": meter.name})

        return observe

    counter, gauge = instruments.create_observable_counter, instruments.create_observable_gauge
    for one in meter.counters():
        callback = field(one.field, one.label)
        counter(one.opentelemetry, [callback], unit=one.unit, description=one.meaning)
    gauge(
        "sdb.pending", [field("waiting", "class")], unit="s",
        description="Observed seconds in no class yet: what was right now, or for their source, is not known.",
    )  # fmt: skip
    gauge("sdb.open_streams", [own("open_streams")], description="Streams that run.")
    counter("sdb.meter.errors", [errors], description="What went wrong inside the meter.")
    counter(
        "sdb.log.lost_rows", [own("lost_rows")],
        description="Rows the decision log could not write.",
    )  # fmt: skip
