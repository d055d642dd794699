"""Is re-pacing true? One setting recorded under several conditions: what one predicts for the others.

A condition is a pace and a load. What was measured at one's own pace needs no re-pacing, so it is
preferred to what another pace predicts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from streamdecisionbench.components.providers.address_and_key import same_place
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.shares import Shares
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.recording_check import (
    MATTERS,
    punctuality,
)
from streamdecisionbench.render.table import (
    Cell,
    Table,
    count,
    number,
    percentage,
    text,
)
from streamdecisionbench.scoring.intervals import student_quantile
from streamdecisionbench.scoring.latency import latency
from streamdecisionbench.scoring.score import (
    Score,
    score,
    score_timelines,
)
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.text import plural

_CONDITION = frozenset({
    "interval_s", "tick_seconds", "streams", "replica", "seed", "workers", "max_in_flight_in_all",
    "scenarios", "clock",
})  # fmt: skip
"""What of a config may differ between the conditions of one setting."""

_SAME = 1e-9


def condition_of(recording: Recording) -> tuple[float, int] | None:
    """Its interval and its streams; None where scenarios have intervals of their own."""
    interval, streams = recording.config.get("interval_s"), recording.config.get("streams", 1)
    if not isinstance(interval, int | float) or not isinstance(streams, int):
        return None
    return float(interval), streams


def sweeps(recordings: Sequence[Recording]) -> list[dict[int, tuple[float, int]]]:
    """Places of recordings of one setting made under two or more conditions, with their conditions."""
    groups: dict[bytes, dict[int, tuple[float, int]]] = {}
    for place, recording in enumerate(recordings):
        condition = condition_of(recording)
        if condition is not None:
            groups.setdefault(_setting(recording), {})[place] = condition
    return [places for places in groups.values() if len(set(places.values())) > 1]


def at_own_pace(recordings: Sequence[Recording], interval: float) -> tuple[list[int], list[str]]:
    """Whom to weigh at an interval, by place, and what people should know about it.

    Of a setting under several conditions: those recorded at the interval itself, at the lowest load;
    otherwise at the nearest interval, re-paced. A condition that the client did not hold is passed
    over where another was.
    """

    def apart(pace: float) -> float:
        return 0.0 if abs(pace - interval) <= _SAME * interval else abs(math.log(pace / interval))

    dropped: set[int] = set()
    words: list[str] = []
    for places in sweeps(recordings):
        held = [p for p in places if punctuality(recordings[p].episodes).held] or [*places]
        best = min((places[p] for p in held), key=lambda c: (apart(c[0]), c[1]))
        kept = [p for p in held if places[p] == best]
        dropped |= {*places} - {*kept}
        name = recordings[kept[0]].name
        load = f" with {plural(best[1], 'stream')}" if best[1] > 1 else ""
        if not apart(best[0]):
            words.append(f"{name}: measured at {interval:g} s{load} itself, not re-paced.")
        else:
            words.append(
                f"{name}: not measured at {interval:g} s; re-paced from {best[0]:g} s{load},"
                " the nearest of its conditions."
            )
    return [place for place in range(len(recordings)) if place not in dropped], words


def _setting(recording: Recording) -> bytes:
    return msgspec.json.encode(
        [recording.dataset_hash, _plain(recording.config, leave=_CONDITION)], order="deterministic"
    )


def _plain(config: Mapping[str, Any], leave: frozenset[str]) -> dict[str, Any]:
    """Without what differs between conditions, seeds of simulations and ports of this machine."""
    found: dict[str, Any] = {}
    for key, value in config.items():
        if key in leave:
            continue
        if key == "base_url_host":
            value = same_place(value)
        elif isinstance(value, Mapping):
            value = _plain(value, leave=frozenset({"seed"}))
        found[key] = value
    return found


# Is re-pacing true? What one condition predicts for the others, against what was measured there.
#
# A score re-paces recorded latencies and so assumes that a service answers as fast at four times the
# rate. With recordings of one setting at several intervals and loads this can be checked: from the
# recording made at (Δ_j, S_j) the in-force accuracy at Δ_i is predicted, whatever the load, and the
# recording made at (Δ_i, S_i) has measured it as it ran. The rate is S/Δ requests a second. The
# difference is taken scenario by scenario, replicas averaged; its interval is Student's over scenarios,
# at 95 % for all predictions of one source together (Bonferroni). Below one point a difference does not
# make a prediction wrong, however sure it is.


@dataclass(frozen=True, slots=True)
class Condition:
    """What was measured at one pace and load."""

    name: str
    interval: float
    streams: int
    recordings: int
    """More than one: replicas or passes, averaged."""
    in_force: float
    """As it ran, with every wait that it really had."""
    oracle: float
    latency_p50_s: float
    latency_p95_s: float
    latency_p99_s: float
    held: bool
    """Whether the client itself kept the pace; one that did not is left out of conclusions."""
    remark: str

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.streams / self.interval


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the condition `source` predicts for `target`, and what was measured there."""

    source: float
    source_streams: int
    target: float
    target_streams: int
    predicted: float
    measured: float
    low: float
    high: float
    """95 % interval of measured − predicted, simultaneous over the predictions of this source."""
    fails: bool

    @property
    def difference(self) -> float:
        return self.measured - self.predicted

    @property
    def rate(self) -> float:
        """Requests a second at the target."""
        return self.target_streams / self.target


@dataclass(frozen=True, slots=True)
class Repacing:
    """Every prediction between the conditions, and what follows from the lowest rate's."""

    conditions: tuple[Condition, ...]
    """From the lowest rate to the highest."""
    predictions: tuple[Prediction, ...]
    fails_from: float | None
    """The interval of the lowest rate at which the prediction fails; None: nowhere."""
    fails_from_streams: int | None
    fails_from_rate: float | None
    """Requests a second."""
    holds_to_rate: float | None
    """The highest measured rate below it; the break lies between the two."""
    sentence: str

    @property
    def base(self) -> Condition | None:
        """What conclusions are drawn from: the lowest rate that was held."""
        return next((c for c in self.conditions if c.held), None)

    @property
    def from_base(self) -> tuple[Prediction, ...]:
        base = self.base
        return tuple(
            p
            for p in self.predictions
            if base and (p.source, p.source_streams) == (base.interval, base.streams)
        )


def repacing(recordings: Sequence[tuple[Recording, Suite]]) -> Repacing:
    """Compares recordings of one setting at several intervals and loads."""
    groups: dict[tuple[float, int], list[_Run]] = {}
    for recording, suite in recordings:
        own = _own(recording, suite)
        streams = recording.config.get("streams")
        load = streams if isinstance(streams, int) and streams > 0 else 1
        groups.setdefault((own.interval, load), []).append(_Run(recording, own))
    ordered = sorted(groups, key=lambda key: (key[1] / key[0], key[1]))
    _require_comparable([groups[key] for key in ordered])
    conditions = tuple(_condition(key, groups[key]) for key in ordered)
    held = [key for key, c in zip(ordered, conditions, strict=True) if c.held]
    predictions = tuple(
        _predict((a, groups[a]), (b, groups[b]), len(held) - 1)
        for a in held
        for b in held
        if a != b
    )
    found = Repacing(conditions, predictions, None, None, None, None, "")
    broken = [p for p in found.from_base if p.fails]
    first = min(broken, key=lambda p: p.rate, default=None)
    kept = [c.rate for c in conditions if c.held and (first is None or c.rate < first.rate)]
    return Repacing(
        conditions,
        predictions,
        first.target if first else None,
        first.target_streams if first else None,
        first.rate if first else None,
        max(kept, default=None),
        _sentence(found, first),
    )


def repacing_tables(result: Repacing) -> list[Table]:
    """The conditions, and every prediction between those that were held."""
    loads = any(c.streams > 1 for c in result.conditions)
    return [
        Table(
            "Measured at each pace and load",
            (number("interval (s)", 3, "interval_s"), number("streams", 0), number("req./s", 2, "rate"),
             percentage("in force", "in_force"), percentage("oracle"),
             number("p50 (s)", 3, "latency_p50_s"), number("p95 (s)", 3, "latency_p95_s"),
             text("pace", "held")),
            tuple(
                (c.interval, c.streams, c.rate, c.in_force, c.oracle, c.latency_p50_s,
                 c.latency_p95_s, "held" if c.held else "not held")
                for c in result.conditions
            ),
            tuple(
                f"at {_repacing_place(c.interval, c.streams, loads)}: {c.remark}"
                for c in result.conditions
                if c.remark
            ),
        ),
        Table(
            "Predicted from one, measured at another (in force; points)",
            (number("from (s)", 2, "source_s"), number("str.", 0, "source_streams"),
             number("at (s)", 2, "target_s"), number("str.", 0, "target_streams"),
             percentage("pred.", "predicted"), percentage("meas.", "measured"),
             number("diff.", 1, "difference_points"), number("low", 1, "low_points"),
             number("high", 1, "high_points"), text("", "verdict")),
            tuple(
                (p.source, p.source_streams, p.target, p.target_streams, p.predicted, p.measured,
                 100 * p.difference, 100 * p.low, 100 * p.high, "fails" if p.fails else "holds")
                for p in result.predictions
            ),
            (result.sentence,),
        ),
    ]  # fmt: skip


def predicted_table(result: Repacing) -> Table:
    """Every condition beside what the lowest rate predicts for it, from that rate to the highest."""
    predicted = {(p.target, p.target_streams): p for p in result.from_base}
    rows: list[tuple[Cell, ...]] = []
    for c in result.conditions:
        p = predicted.get((c.interval, c.streams))
        verdict = "base" if p is None else "fails" if p.fails else "holds"
        points = (p.predicted, 100 * p.low, 100 * p.high) if p else (None, None, None)
        rows.append(
            (verdict if c.held else "left out", c.interval, c.streams, c.rate, c.in_force, *points,
             c.oracle, c.latency_p50_s, c.latency_p95_s, c.latency_p99_s)
        )  # fmt: skip
    return Table(
        "Measured at each pace and load, and predicted from the lowest rate",
        (text("Prediction"), number("Interval s"), count("Streams"), number("Requests/s"),
         percentage("In force %"), percentage("Predicted %"), number("Low", 1), number("High", 1),
         percentage("Oracle %"), number("p50 s", 3), number("p95 s", 3), number("p99 s", 3)),
        tuple(rows),
        (
            result.sentence,
            "In force as it ran. Low and high: 95 % interval of measured minus predicted, in points,"
            " simultaneous. A prediction fails when that excludes zero and is off by more than a point.",
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Run:
    recording: Recording
    score: Score


def _own(recording: Recording, suite: Suite) -> Score:
    """The score at the pace it was recorded at."""
    first = score(recording, suite)
    ticks = {part.tick for part in first.parts}
    if len(ticks) > 1:
        raise InputError(
            "its scenarios were recorded at different intervals",
            where=recording.name,
            fix="record with --interval",
        )
    return score(recording, suite, interval=ticks.pop())


def _require_comparable(groups: Sequence[Sequence[_Run]]) -> None:
    if len(groups) < 2:
        raise InputError(
            "re-pacing is checked between paces and loads, and there is only one",
            fix="give recordings of one setting under two or more conditions:"
            " `sdb sweep … --intervals … --streams …`",
        )
    first = groups[0][0].score
    for one in (run.score for group in groups for run in group):
        if set(one.by_scenario) != set(first.by_scenario):
            raise InputError(
                f"does not cover the same scenarios as {first.name}",
                where=one.name,
                fix="record the same scenarios under every condition",
            )


def _as_it_ran(own: Score, scenario: str | None = None) -> Shares:
    level = own.overall if scenario is None else own.by_scenario[scenario]
    return level.physical or level.at_interval


def _condition(key: tuple[float, int], runs: Sequence[_Run]) -> Condition:
    episodes = {
        (k, name): episode
        for k, run in enumerate(runs)
        for name, episode in run.recording.episodes.items()
        if name in run.score.by_scenario
    }
    found = latency(list(episodes.values()))
    on_time = punctuality({str(k): episode for k, episode in episodes.items()})
    return Condition(
        name=runs[0].score.name,
        interval=key[0],
        streams=key[1],
        recordings=len(runs),
        in_force=_mean([_as_it_ran(run.score).in_force for run in runs]),
        oracle=_mean([_as_it_ran(run.score).oracle for run in runs]),
        latency_p50_s=found.p50,
        latency_p95_s=found.p95,
        latency_p99_s=found.p99,
        held=on_time.held,
        remark=on_time.words,
    )


def _predict(
    source: tuple[tuple[float, int], Sequence[_Run]],
    target: tuple[tuple[float, int], Sequence[_Run]],
    predictions: int,
) -> Prediction:
    (source_s, source_streams), sources = source
    (target_s, target_streams), targets = target
    predicted = [score_timelines(run.score.parts, interval=target_s) for run in sources]
    names = list(targets[0].score.by_scenario)
    differences = np.array(
        [
            _mean([_as_it_ran(run.score, e).in_force for run in targets])
            - _mean([one.by_scenario[e].in_force for one in predicted])
            for e in names
        ]
    )
    measured = _mean([_as_it_ran(run.score).in_force for run in targets])
    expected = _mean([one.in_force for one in predicted])
    half = math.inf
    if len(names) > 1:
        t = student_quantile(1 - 0.025 / max(predictions, 1), len(names) - 1)
        half = float(t * differences.std(ddof=1) / math.sqrt(len(names)))
    low, high = measured - expected - half, measured - expected + half
    return Prediction(
        source=source_s,
        source_streams=source_streams,
        target=target_s,
        target_streams=target_streams,
        predicted=expected,
        measured=measured,
        low=low,
        high=high,
        fails=abs(measured - expected) > MATTERS and not low <= 0 <= high,
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _repacing_place(interval: float, streams: int, loads: bool) -> str:
    many = "streams" if streams > 1 else "stream"
    return f"{interval:g} s with {streams} {many}" if loads else f"{interval:g} s"


def _sentence(found: Repacing, first: Prediction | None) -> str:
    held = [c for c in found.conditions if c.held]
    loads = any(c.streams > 1 for c in found.conditions)
    left_out = [
        _repacing_place(c.interval, c.streams, loads) for c in found.conditions if not c.held
    ]
    also = f" Left out, the client could not keep the pace: {', '.join(left_out)}." * bool(left_out)
    if len(held) < 2:
        return f"Fewer than two conditions were held, so nothing can be said.{also}"
    base = _repacing_place(held[0].interval, held[0].streams, loads)
    if first is None:
        last = held[-1]
        what = "pace and load, up to" if loads else "pace down to"
        rate = f" ({last.rate:.3g} requests a second)" if loads else ""
        return (
            f"What was recorded at {base} predicts every measured {what}"
            f" {_repacing_place(last.interval, last.streams, loads)}{rate}.{also}"
        )
    below = max(c.rate for c in held if c.rate < first.rate or c is held[0])
    return (
        f"What was recorded at {base} fails to predict from"
        f" {_repacing_place(first.target, first.target_streams, loads)}"
        f" ({first.rate:.3g} requests a second) on: predicted {100 * first.predicted:.1f},"
        f" measured {100 * first.measured:.1f}. Up to {below:.3g} a second it holds.{also}"
    )
