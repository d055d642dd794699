"""Rows of a leaderboard: one per setting and suite, several passes of a setting taken together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.analysis.bootstrap import Sampling, bootstrap, over_scenarios, same_states
from streamdecisionbench.analysis.bundles.contents import Entry
from streamdecisionbench.analysis.bundles.verify import Verified
from streamdecisionbench.analysis.cost_of_error import disagreement
from streamdecisionbench.analysis.steps import shares_by_step_over
from streamdecisionbench.cost_file.read import default_costs
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.costs.charge import cost_at
from streamdecisionbench.scoring.score import Score, score
from streamdecisionbench.scoring.timeline import Flat
from streamdecisionbench.scoring.trajectory import trajectory_at
from streamdecisionbench.suite.scenario import Suite

__all__ = ["Pass", "Row", "SuiteRows", "suite_rows"]


@dataclass(frozen=True, slots=True)
class Pass:
    """One verified recording and where its report will lie."""

    bundle: str
    entry: Entry
    recording: Recording
    score: Score


@dataclass(frozen=True, slots=True)
class Row:
    """One setting. Shares are fractions; `lowest` and `highest` are over its passes."""

    name: str
    component: str
    models: tuple[str, ...]
    settings: str
    passes: tuple[Pass, ...]
    auc: float
    lowest: float
    highest: float
    interval: tuple[float, float]
    """95 %, over passes taken together and over scenarios or stretches of them."""
    at_interval: float
    untimed: float
    stale: float
    judgment: float
    p50_s: float
    cost: float
    """What being wrong costs a second at the interval, under the shipped costs."""
    simulated: bool
    virtual: bool
    scenarios: int
    days: str
    places: str
    hosts: str
    terms: str


@dataclass(frozen=True, slots=True)
class SuiteRows:
    """All rows of one suite, best first. Scores of different suites never share a table."""

    suite: Suite
    rows: tuple[Row, ...]
    resampled: str

    @property
    def by_cost(self) -> tuple[Row, ...]:
        """Cheapest first."""
        return tuple(sorted(self.rows, key=lambda row: (row.cost, row.name)))

    @property
    def words(self) -> tuple[str, ...]:
        """Where ranking by cost differs from ranking by time, both at the interval.

        Of several rows of one name, the best stands for them.
        """
        found: dict[str, tuple[float, float]] = {}
        for row in self.rows:
            found.setdefault(row.name, (row.at_interval, row.cost))
        return disagreement(found)


def suite_rows(bundles: Sequence[tuple[str, Verified]]) -> list[SuiteRows]:
    """Groups the recordings of all bundles, by suite and by setting; `bundles` have short names."""
    suites: dict[str, Suite] = {}
    settings: dict[str, dict[str, list[Pass]]] = {}
    for name, bundle in bundles:
        key = bundle.suite.dataset_hash
        suites.setdefault(key, bundle.suite)
        for entry, recording in zip(bundle.contents.recordings, bundle.recordings, strict=True):
            for half in recording.halves.values() or (recording,):
                found = Pass(name, entry, half, score(half, bundle.suite))
                settings.setdefault(key, {}).setdefault(_setting(found), []).append(found)
    made = []
    for key, groups in settings.items():
        rows = [_row(passes) for passes in groups.values()]
        rows.sort(key=lambda row: (-row.auc, row.name))
        parts = rows[0].passes[0].score.parts
        drawn = "scenarios, then blocks of steps" if over_scenarios(parts) else "blocks of steps"
        made.append(SuiteRows(suites[key], tuple(rows), drawn))
    made.sort(key=lambda one: (-len(one.rows), one.suite.dataset_hash))
    return made


def _setting(found: Pass) -> str:
    """What makes two recordings passes of one setting. Models and scenarios are part of it."""
    config = found.recording.config
    settings = config.get("settings")
    chosen = (
        {k: v for k, v in settings.items() if k != "seed"} if isinstance(settings, dict) else {}
    )
    return json.dumps(
        [
            str(config.get("component", found.entry.component)), chosen,
            config.get("interval_s"), list(found.recording.served_models),
            found.recording.simulated, found.recording.virtual_clock,
            sorted(found.recording.episodes), found.recording.name if found.recording.halves else "",
        ],
        sort_keys=True, default=str,
    )  # fmt: skip


def _row(passes: list[Pass]) -> Row:
    first = passes[0]
    scores = [p.score for p in passes]
    aucs = [s.log_auc for s in scores]
    same_states({str(k): s.parts for k, s in enumerate(scores)})
    together = np.mean([shares_by_step_over(Flat(s.parts), Bounds()) for s in scores], axis=0)
    (estimate,) = bootstrap(first.score.parts, together[:, None], Sampling(resamples=2000))
    told = [p.entry.conditions for p in passes]
    config = first.recording.config
    chosen = config.get("settings")
    settings = ", ".join(
        f"{key}={value}"
        for key, value in (chosen.items() if isinstance(chosen, dict) else ())
        if value is not None and (key != "seed" or len(passes) == 1)
    )
    return Row(
        name=first.entry.name
        if len(passes) == 1
        else str(config.get("component", first.entry.name)),
        component=str(config.get("component", "")),
        models=first.recording.served_models,
        settings=settings,
        passes=tuple(passes),
        auc=float(np.mean(aucs)),
        lowest=min(aucs),
        highest=max(aucs),
        interval=(estimate.low, estimate.high),
        at_interval=_mean([s.in_force for s in scores]),
        untimed=_mean([s.untimed for s in scores]),
        stale=_mean([s.overall.integrated.stale for s in scores]),
        judgment=_mean([s.overall.integrated.judgment for s in scores]),
        p50_s=_mean([s.latency.p50 for s in scores if s.latency is not None]),
        cost=_mean([_cost(s) for s in scores]),
        simulated=any(s.simulated for s in scores),
        virtual=any(s.virtual_clock for s in scores),
        scenarios=len(first.score.parts),
        days=_joined(str(c.get("started_at") or "")[:10] for c in told),
        places=_joined(str(c.get("place") or "") for c in told),
        hosts=_joined(str(c.get("host") or "") for c in told),
        terms=_joined(str(c.get("terms") or "") for c in told),
    )


def _cost(found: Score) -> float:
    path = trajectory_at(Flat(found.parts), found.interval)
    return cost_at(path, [part.family for part in found.parts], default_costs()).total


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


def _joined(texts: object) -> str:
    return ", ".join(dict.fromkeys(t for t in texts if t))  # type: ignore[attr-defined]
