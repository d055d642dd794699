"""One recording, one score: what the component was worth, and whether judgment or latency is to blame.

>>> import streamdecisionbench as sdb
>>> example = sdb.example_recording()
>>> s = sdb.score(example, sdb.example_suite(), interval=2.0)
>>> round(s.overall.untimed, 3), round(s.in_force, 3)
(0.75, 0.6)
>>> round(s.oracle * s.overall.u_current + s.overall.outdated_correct, 3)   # A = O·U_cur + λ
0.6

Everything is known of a stream once its own arrays are; so streams are scored some thousand
decisions at a time, in time and memory linear in decisions and in streams, and sums of seconds keep
their last digits however many streams there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from streamdecisionbench._version import __version__
from streamdecisionbench.kernel.arrays import Floats, Ints, Timeline, fixed_pace
from streamdecisionbench.kernel.levels import Levels
from streamdecisionbench.kernel.paces import (
    DEFAULT_BOUNDS,
    Bounds,
    bounds_for,
    check_interval,
)
from streamdecisionbench.kernel.shares import AnswerCounts, level_shares, tables_of
from streamdecisionbench.recording.provenance_notes import (
    remarks,
    stall_remarks,
    unusual_settings,
)
from streamdecisionbench.recording.reader import read_recording, recorded_suite_hash
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.recording.recording_check import punctuality
from streamdecisionbench.scoring.answer_accuracy import answer_score
from streamdecisionbench.scoring.latency import latency, reliability
from streamdecisionbench.scoring.result import COMPONENT, Level, Result
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.suite.scenario import Suite
from streamdecisionbench.suite.suite_files import find_suite, other_suite_error
from streamdecisionbench.text import plural

if TYPE_CHECKING:
    from streamdecisionbench.policies.cost_rules import Costs

Score = Result
"""The public name of a result."""


def took_effect(
    components: Sequence[Recording], episodes: Sequence[str], horizon: Floats
) -> tuple[Ints, Ints, Ints, Floats]:
    """What took effect live: scenario, component, step and when, scenario by scenario in that order.

    At equal times in the order of the protocol: the newer source first, then the later component.
    """
    every = (
        (s, r.actual_recorded_s if r.accepted_s is None else r.accepted_s, -r.t, -k)
        for s, name in enumerate(episodes)
        for k, one in enumerate(components)
        for r in one.episodes[name].responses
        if r.accepted
    )
    found = np.array(sorted(x for x in every if x[1] < horizon[x[0]])).reshape(-1, 4)
    scenario, step, component = (np.abs(found[:, k]).astype(np.int64) for k in (0, 2, 3))
    return scenario, component, step, found[:, 1]


def score(
    recording: Recording | str | Path,
    suite: Suite | None = None,
    *,
    interval: float = 2.0,
    bounds: tuple[float, float] = DEFAULT_BOUNDS,
    weighting: str = "log",
    clock: str = "recorded",
    costs: Costs | None = None,
) -> Result:
    """Scores a complete recording, given itself or its folder.

    Without `suite`, it is the built-in one or the one that lies beside the recording.
    """
    if not isinstance(recording, Recording):
        folder = Path(recording)
        suite = suite or find_suite(recorded_suite_hash(folder), near=folder)
        recording = read_recording(folder, suite)
    suite = suite or suite_of([recording])
    parts = timelines(recording, suite, clock=clock)
    limits = bounds_for(parts, bounds, weighting)
    ticks = {s.episode_id: s.tick_seconds for s in suite}
    on_time = punctuality({p.episode_id: recording.episodes[p.episode_id] for p in parts}, ticks)
    if clock == "recorded" and parts[0].published is not None:
        clock = "nominal"
    if recording.config.get("clock") == "paused":
        clock = "paused"
    episodes = [recording.episodes[p.episode_id] for p in parts]
    base = score_timelines(
        parts, name=recording.name, interval=interval, bounds=limits, clock=clock
    )
    scored = replace(
        base,
        signature=signature_of(
            suite,
            base,
            {"events": recording.events_sha256[:12]},
            {
                "time": "virtual" if recording.virtual_clock else "real",
                "simulated": "yes" if recording.simulated else "no",
                **({} if on_time.punctual else {"lag": on_time.lag}),
                **unusual_settings(recording.config, recording.failures),
            },
            costs,
        ),
        punctuality=on_time,
        simulated=recording.simulated,
        virtual_clock=recording.virtual_clock,
        latency=latency(episodes),
        latency_by_scenario={
            p.episode_id: latency([e]) for p, e in zip(parts, episodes, strict=True)
        },
        reliability=reliability(recording),
        served_models=recording.served_models,
        **_as_it_ran(base, recording),
        answers={
            p.episode_id: answer_score(recording, suite.scenarios[p.episode_id]) for p in parts
        },
    )
    if costs is None:
        return scored
    from streamdecisionbench.scoring.error_costs import (
        charge,
        path_measures,
    )

    return replace(scored, cost=charge(path_measures(parts, interval, limits), costs))


def _as_it_ran(base: Result, recording: Recording) -> dict[str, Any]:
    """What must be said of a recording in which more decided than who is newest, and its counts by the log."""
    said = [*remarks(recording.config), *stall_remarks(recording)]
    if not recording.policy_applied:
        if recording.policy is not None:
            said.append(
                "its answers without the policy it was recorded under, which `sdb policy score` has"
            )
        return {"remarks": tuple(said)}
    counted = reliability(recording)
    late = counted.discarded_after_horizon_live
    silent = sum(p.n - len(recording.answers(p.episode_id)) for p in base.parts)
    said.append(
        f"what its {'policy' if recording.policy else 'rule'} let take effect, as it happened"
        + (
            f"; untimed, {plural(silent, 'state without a request counts', 'states without a request count')} as wrong"
            if silent
            else ""
        )
    )
    older = counted.requests - counted.accepted_live - late
    return {
        "counts": AnswerCounts((counted.accepted_live,), late, older),
        "remarks": tuple(said),
    }


def score_timelines(
    parts: Sequence[Timeline],
    *,
    name: str = "",
    interval: float = 2.0,
    bounds: Bounds | None = None,
    clock: str = "recorded",
) -> Result:
    """Scores arrays: what `score` does once a recording has become timelines."""
    check_interval(interval)
    bounds = bounds or Bounds()
    found = tables_of(parts, interval=interval, bounds=bounds)
    levels = Levels(parts)

    def shares(table: Floats | None, *, fixed_pace: bool = False) -> list[Any]:
        if table is None:
            return [None] * len(levels.names)
        return level_shares(levels, table, found.untimed, fixed_pace=fixed_pace)

    rows = zip(
        levels.names,
        shares(found.at),
        shares(found.over, fixed_pace=fixed_pace(parts)),
        levels.means(found.untimed).tolist(),
        levels.means(found.untimed_segment).tolist(),
        shares(found.physical),
        strict=True,
    )
    accepted, after_horizon = int(found.accepted.sum()), int(found.after_horizon.sum())
    older = sum(p.n for p in parts) - accepted - after_horizon
    return Result(
        *levels.split([Level(*row) for row in rows]),
        kind=COMPONENT,
        name=name,
        members=(name,),
        interval=interval,
        bounds=bounds,
        clock=clock,
        family_of=levels.family_of,
        counts=AnswerCounts((accepted,), after_horizon, older),
        parts=parts,
    )


def suite_of(recordings: Sequence[Recording], suite: Suite | None = None) -> Suite:
    """The suite recordings were made on; refused where one was not.

    Without `suite`, it is the built-in one or the one that lies beside the first.
    """
    first = recordings[0]
    suite = suite or find_suite(first.dataset_hash, near=first.path)
    for one in recordings:
        if one.dataset_hash != suite.dataset_hash:
            raise other_suite_error(
                one.dataset_hash,
                suite.dataset_hash,
                where=one.path or one.name,
                fix="give recordings of the same suite",
            )
    return suite


def signature_of(
    suite: Suite,
    scored: Result,
    who: Mapping[str, str],
    made: Mapping[str, str],
    costs: Costs | None = None,
) -> str:
    """How a score was made, in one line that can be pasted beside the number."""
    parts = {
        "suite": suite.dataset_hash[:12],
        **who,
        "scenarios": f"{len(scored.by_scenario)}/{len(suite.scenarios)}",
        "protocol": "step-anchored",
        "interval": f"{scored.interval:g}",
        **(
            {"bounds": "own-pace"}
            if scored.fixed_pace
            else {
                "bounds": f"{scored.bounds.low:g}-{scored.bounds.high:g}",
                "weighting": scored.bounds.weighting,
            }
        ),
        "clock": scored.clock,
        **made,
        "sdb": __version__,
        **({} if costs is None else {"costs": costs.digest[:12] or costs.name}),
    }
    return " ".join(f"{key}:{value}" for key, value in parts.items())
