"""A recording while it is made: scenarios as streams, from `run.json` and `events.jsonl`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.policy_file import policy_of
from streamdecisionbench.recording.check_times import tick_of
from streamdecisionbench.recording.events import (
    Attempt,
    Cancelled,
    Event,
    Expired,
    Release,
    Response,
    Skipped,
)
from streamdecisionbench.recording.writer import EVENTS_FILE, RUN_FILE
from streamdecisionbench.report.watch.growing_file import GrowingFile
from streamdecisionbench.report.watch.lanes import Lane, Stream, Taken
from streamdecisionbench.suite.find_suite import find_suite
from streamdecisionbench.suite.scenario import Scenario, Suite

__all__ = ["APPLIED", "WatchedRecording"]

APPLIED = "applied"
"""The lane of what took effect, where several components answer; the meter's word for it."""


@dataclass(slots=True)
class _Episode:
    releases: dict[int, Release] = field(default_factory=dict)
    responses: dict[str | None, dict[int, Response]] = field(default_factory=dict)
    gaps: dict[str | None, set[int]] = field(default_factory=dict)
    """Steps that a policy did not send, or gave up."""
    expired: list[Expired] = field(default_factory=list)
    last: float = 0.0
    over: bool = False


class WatchedRecording:
    """Follows a recording's folder, also before it exists and after the recorder has gone."""

    kind = "recording"
    pooled = False

    def __init__(self, folder: Path, data: Path | None = None) -> None:
        self._folder = folder
        self._data = data
        self._log = GrowingFile(folder / EVENTS_FILE)
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Event)
        self._run: dict[str, Any] = {}
        self._run_read: tuple[int, int] | None = None
        self._suite: Suite | None = None
        self._episodes: dict[str, _Episode] = {}
        self._again = False
        if (folder / RUN_FILE).exists():
            self._read_run()
            self._require_suite()

    def poll(self) -> list[Stream]:
        status = self._run.get("status")
        self._read_run()
        lines, again = self._log.new_lines()
        if again:
            self._episodes.clear()
            self._again = True
        touched: dict[str, None] = {}
        for line in lines:
            try:
                event = self._decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue  # of another kind, or by another version: `sdb score` says what it is
            touched |= self._take(event)
        if self._run.get("status") != status:
            touched |= dict.fromkeys(self._episodes)
        suite = self._require_suite() if touched else None
        if suite is None:
            return []
        known = [name for name in touched if name in suite.scenarios]
        return [self._stream(suite.scenarios[name], self._episodes[name]) for name in known]

    def forgotten(self) -> bool:
        again, self._again = self._again, False
        return again

    def facts(self) -> dict[str, object]:
        config = self._run.get("config") or {}
        models = self._run.get("served_models") or []
        served = {
            r.model
            for episode in self._episodes.values()
            for responses in episode.responses.values()
            for r in list(responses.values())[:1]
        }
        simulated = bool(config.get("simulated")) or any(
            str(model).startswith("simulated:") for model in (*models, *served)
        )
        wanted = config.get("scenarios")
        return {
            "status": str(self._run.get("status") or "waiting"),
            "name": str(self._run.get("name") or self._folder.resolve().name),
            "suite": self._suite.name if self._suite else "",
            "scenarios": len(wanted) if isinstance(wanted, list) and wanted else None,
            "simulated": simulated,
            "virtual": config.get("clock") == "virtual",
        }

    def _take(self, event: Event) -> dict[str, None]:
        """Puts one event where it belongs; the streams it changes."""
        touched: dict[str, None] = {event.episode_id: None}
        episode = self._episodes.get(event.episode_id)
        if episode is None:
            # Scenarios follow one another: where one begins, those before it are over.
            for name, other in self._episodes.items():
                if not other.over:
                    other.over = True
                    touched[name] = None
            episode = self._episodes[event.episode_id] = _Episode()
        if isinstance(event, Release):
            episode.releases[event.t] = event
            episode.last = max(episode.last, event.release_s)
        elif isinstance(event, Response):
            episode.responses.setdefault(event.component, {})[event.t] = event
            episode.last = max(episode.last, event.actual_recorded_s)
        elif isinstance(event, Cancelled | Skipped):
            episode.gaps.setdefault(event.component, set()).add(event.t)
        elif isinstance(event, Expired):
            episode.expired.append(event)
        elif isinstance(event, Attempt) and event.completed_s is not None:
            episode.last = max(episode.last, event.completed_s)
        return touched

    def _stream(self, scenario: Scenario, episode: _Episode) -> Stream:
        releases = [episode.releases[t] for t in sorted(episode.releases)]
        config = self._run.get("config")
        stated = config.get("interval_s") if isinstance(config, dict) else None
        tick = tick_of(releases, scenario, stated if isinstance(stated, int | float) else None)
        horizon = scenario.n * tick
        complete = len(releases) == scenario.n and all(
            len(responses) + len(episode.gaps.get(component, ())) == scenario.n
            for component, responses in episode.responses.items()
        )
        over = complete and (
            episode.over or self._run.get("status") == "complete" or episode.last >= horizon
        )
        steps = [release.t for release in releases]
        right = [_text(decision) for decision in scenario.reference()]
        lanes = [
            Lane(
                component or self._component_name(),
                [max(answers[t].latency_s, 0.0) if t in answers else math.inf for t in steps],
                [
                    _text(scenario.decision_spec.compose(answers[t].pred)) if t in answers else None
                    for t in steps
                ],
                [answers[t].service_s if t in answers else math.inf for t in steps],
            )
            for component, answers in (episode.responses or {None: {}}).items()
        ]
        taken = self._taken(scenario, episode, horizon)
        if taken is not None:
            lanes.insert(0, Lane(APPLIED, (), (), taken=taken))
        return Stream(
            id=scenario.episode_id,
            title=scenario.title,
            group=scenario.task_family,
            release=[release.release_s for release in releases],
            references=[right[t] for t in steps],
            end=horizon if over else min(episode.last, horizon),
            lanes=lanes,
            open=not over and self._run.get("status") == "running",
            began=float(list(self._episodes).index(scenario.episode_id)),
        )

    def _taken(self, scenario: Scenario, episode: _Episode, horizon: float) -> list[Taken] | None:
        """What the arbiter of a live pair or a policy let take effect; None: simply the newest."""
        config = self._run.get("config") or {}
        policy = config.get("policy")
        if not policy and len(episode.responses) < 2:
            return None
        found = [
            (
                response.accepted_s or response.actual_recorded_s,
                rank,
                Taken(
                    response.accepted_s or response.actual_recorded_s,
                    response.t,
                    _text(scenario.decision_spec.compose(response.pred)),
                ),
            )
            for rank, name in enumerate(sorted(episode.responses, key=_rank))
            for response in episode.responses[name].values()
            if response.accepted
        ]
        if episode.expired:
            # One that was too old when it came expires in that very moment: after it took effect.
            fallback = _fallback(policy, scenario)
            found += [
                (e.expired_s, len(found), Taken(e.expired_s, e.t, fallback))
                for e in episode.expired
            ]
        return [one for at, _, one in sorted(found, key=lambda x: x[:2]) if at < horizon]

    def _component_name(self) -> str:
        config = self._run.get("config") or {}
        return str(config.get("component") or self._run.get("name") or self._folder.resolve().name)

    def _read_run(self) -> None:
        path = self._folder / RUN_FILE
        try:
            found = path.stat()
            if (found.st_mtime_ns, found.st_ino) == self._run_read:
                return
            run = msgspec.json.decode(path.read_bytes())
        except FileNotFoundError:
            return
        except msgspec.DecodeError as error:
            raise InputError(f"is not valid JSON: {error}", where=path) from None
        if isinstance(run, dict):
            self._run, self._run_read = run, (found.st_mtime_ns, found.st_ino)

    def _require_suite(self) -> Suite | None:
        if self._suite is None and self._run:
            manifest = self._run.get("dataset_manifest") or {}
            key = str(manifest.get("dataset_hash", ""))
            self._suite = find_suite(key, data=self._data, near=self._folder)
        return self._suite


def _rank(component: str | None) -> str:
    """At equal times the slow one of a pair stays: fast comes before it."""
    return component or ""


def _fallback(policy: object, scenario: Scenario) -> str | None:
    """What takes over when a decision has expired: none, or the policy's own."""
    if not isinstance(policy, dict):
        return None
    expire = policy_of(policy, name="policy").expire
    found = expire.fallback_for(scenario.task_family, scenario.episode_id)
    return None if found is None else _text(found)


def _text(decision: Mapping[str, str]) -> str:
    """A composed decision in one line; equal exactly when the decision is."""
    return " · ".join(f"{question}: {value}" for question, value in decision.items())
