"""How commands open what they are given: recordings with their suites, suites, scenarios.

Every command imports this at its top, so it imports nothing heavy at its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamdecisionbench.cli.printing import Heading
from streamdecisionbench.errors import InputError

if TYPE_CHECKING:
    from streamdecisionbench.kernel.arrays import Timeline
    from streamdecisionbench.policies.cost_rules import Costs
    from streamdecisionbench.recording.recording import Recording
    from streamdecisionbench.scoring.score import Score
    from streamdecisionbench.suite.scenario import Scenario, Suite


@dataclass(frozen=True)
class Subject:
    """A recording with its suite. A live pair's recording is two subjects, one per component."""

    recording: Recording
    suite: Suite

    @property
    def name(self) -> str:
        return self.recording.name

    @cached_property
    def parts(self) -> list[Timeline]:
        from streamdecisionbench.scoring.timelines import timelines

        return timelines(self.recording, self.suite)

    def score(self, **options: Any) -> Score:
        from streamdecisionbench.scoring.score import score

        return score(self.recording, self.suite, **options)

    def heading(self, **options: Any) -> Heading:
        scored = self.score(**options)
        return Heading(self.name, scored.signature, scored.notes)


class LivedSubject(Subject):
    """A recording in a world as a whole, a live pair's too, with what must be known of it."""

    def heading(self, **options: Any) -> Heading:
        from streamdecisionbench.recording.provenance_notes import (
            source_notes,
            unusual_settings,
        )

        one = self.recording
        notes = source_notes(
            simulated=one.simulated,
            virtual_clock=one.virtual_clock and one.config.get("clock") != "paused",
        )
        parts = {
            "suite": one.dataset_hash[:12],
            "events": one.events_sha256[:12],
            "interval": f"{one.config.get('interval_s')}",
            **unusual_settings(one.config),
        }
        return Heading(self.name, " ".join(f"{k}:{v}" for k, v in parts.items()), tuple(notes))


def load(
    runs: list[Path], data: Path | None, *, distinct: bool = True, partial: bool = False
) -> list[tuple[Recording, Suite]]:
    """Recordings with the suites they belong to; each suite is read once. Names are made distinct.

    The same recording twice would count twice where names are keys, so it is refused; `distinct` is
    false where two roles may be played by one. `partial` takes the complete scenarios of recordings
    that are not complete.
    """
    from streamdecisionbench.recording.reader import (
        read_partial,
        read_recording,
        recorded_suite_hash,
    )
    from streamdecisionbench.suite.suite_files import find_suite

    runs = [one for folder in runs for one in passes_in(folder)]
    if distinct:
        _require_distinct(runs)
    read = read_partial if partial else read_recording
    suites: dict[str, Suite] = {}
    loaded = []
    for folder in runs:
        key = recorded_suite_hash(folder)
        suite = suites.get(key) or find_suite(key, data=data, near=folder)
        suites[key] = suite
        loaded.append((read(folder, suite), suite))
    names = [recording.name for recording, _ in loaded]
    if len(set(names)) < len(names):
        loaded = [
            (_renamed(rec, str(folder)) if names.count(rec.name) > 1 else rec, suite)
            for folder, (rec, suite) in zip(runs, loaded, strict=True)
        ]
    return loaded


def passes_in(folder: Path) -> list[Path]:
    """The recording itself, or the passes or replicas in a folder that `sdb run` made of several."""
    from streamdecisionbench.recording.reader import recordings_in

    return recordings_in(folder) or [folder]


def with_sweeps(folders: list[Path]) -> list[Path]:
    """A sweep's folder stands for its conditions."""
    from streamdecisionbench.recording.reader import conditions_in

    return [one for folder in folders for one in conditions_in(folder) or [folder]]


def parts_of(recording: Recording) -> list[Recording]:
    """The recording itself, or of a live pair the two components' own; in a world they have none."""
    halves = {} if recording.policy_applied else recording.halves
    halves = halves or {"": recording}
    return [_own_config(half, role) for role, half in halves.items()]


def open_runs(runs: list[Path], data: Path | None) -> list[Subject]:
    return [
        Subject(part, suite)
        for recording, suite in load(runs, data)
        for part in parts_of(recording)
    ]


def require_one_suite(subjects: Sequence[Subject]) -> None:
    """Step by step comparisons mean something only where the steps are the same states."""
    from streamdecisionbench.suite.suite_files import other_suite_error

    first = subjects[0].suite
    for subject in subjects:
        if subject.suite.dataset_hash != first.dataset_hash:
            raise other_suite_error(
                subject.suite.dataset_hash,
                first.dataset_hash,
                where=subject.name,
                fix="compare recordings of one suite",
            )


def require_open_loop(recordings: Iterable[Recording], what: str, how: str = "") -> None:
    """Nothing can be replayed on sessions that would have gone another way; `how` to record them."""
    from streamdecisionbench.render.sentences import another_session

    for recording in recordings:
        if recording.closed_loop_interval_s is not None:
            raise InputError(
                f"was {another_session(what)}",
                where=recording.path or recording.name,
                fix=f"record it: `sdb world run … {how}`" if how else "give recordings of a suite",
            )


def load_suite(data: Path | None) -> Suite:
    from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite

    return read_suite(data or builtin_suite_path())


def own_pace(suite: Suite) -> tuple[float, tuple[float, float]]:
    """Seconds between states, and the range to integrate over: of sessions from a log their own."""
    from streamdecisionbench.kernel.paces import DEFAULT_BOUNDS

    if not came_from_log(suite):
        return 2.0, DEFAULT_BOUNDS
    import numpy as np

    from streamdecisionbench.logs.event_rate import suggested_bounds
    from streamdecisionbench.scoring.stream_sums import LatencySums

    ticks = LatencySums()
    ticks.add(np.array([scenario.tick_seconds for scenario in suite]))
    mean = sum(s.horizon_s for s in suite) / sum(s.n for s in suite)
    return float(f"{mean:.4g}"), suggested_bounds(ticks)


def came_from_log(suite: Suite) -> bool:
    """Whether `sdb logs suite` made it."""
    return isinstance(suite.manifest.generator, Mapping) and "log" in suite.manifest.generator


def find_scenario(suite: Suite, name: str) -> Scenario:
    if name not in suite.scenarios:
        raise InputError(
            f"no scenario is called {name!r}", fix=f"choose one of: {', '.join(suite.scenarios)}"
        )
    return suite.scenarios[name]


def _require_distinct(runs: list[Path]) -> None:
    seen: set[Path] = set()
    for folder in runs:
        place = folder.resolve()
        if place in seen:
            raise InputError("is given twice", where=folder, fix="name every recording once")
        seen.add(place)


def _renamed(recording: Recording, name: str) -> Recording:
    halves = {role: replace(half, name=f"{name} {role}") for role, half in recording.halves.items()}
    return replace(recording, name=name, halves=halves)


def _own_config(recording: Recording, role: str) -> Recording:
    """The config of one half of a live pair: what the run record says of that component."""
    members = recording.config.get("members")
    listed = members if isinstance(members, Mapping) else recording.config
    own = listed.get(role) if role else None
    if not isinstance(own, Mapping):
        return recording
    shared = {k: v for k, v in recording.config.items() if k not in ("fast", "slow", "members")}
    from streamdecisionbench.recording.recording import names_simulation

    # A server that simulates says so in the names of its models, not in what was asked for.
    simulated = bool(own.get("simulated")) or any(map(names_simulation, recording.served_models))
    config = {**shared, **own, "simulated": simulated}
    return replace(recording, run={**recording.run, "config": config})


def costs_for(costs: str | None, subjects: Sequence[Subject]) -> Costs:
    """The cost file named, held to the suites it is used on; the shipped one otherwise."""
    from streamdecisionbench.policies.cost_file import (
        DEFAULT,
        default_costs,
    )
    from streamdecisionbench.scoring.error_costs import read_costs

    if costs is None or costs == DEFAULT:
        return default_costs()
    suites = {s.suite.dataset_hash: s.suite for s in subjects}
    read = [read_costs(Path(costs), suite) for suite in suites.values()]
    return read[0]
