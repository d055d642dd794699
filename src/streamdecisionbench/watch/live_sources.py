"""What can be watched: a decision log or a recording, read again and again while it grows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.lanes import (
    DrawnLane,
    TakenAnswer,
    WatchedStream,
)
from streamdecisionbench.logs.log_files import FORMATS, files_in, format_of
from streamdecisionbench.logs.log_rows import (
    GrowingFile,
    LogFollower,
    is_true,
    read_row,
)
from streamdecisionbench.logs.log_schema import APPLIED
from streamdecisionbench.logs.stream_arrays import (
    MARKS,
    effects_of_row,
)
from streamdecisionbench.logs.unusable_rows import REASONS
from streamdecisionbench.policies.policy_file import policy_of
from streamdecisionbench.recording.event_log import (
    EVENTS_FILE,
    Attempt,
    Cancelled,
    Event,
    Expired,
    Release,
    Response,
    Skipped,
)
from streamdecisionbench.recording.recording import names_simulation
from streamdecisionbench.recording.recording_check import tick_of
from streamdecisionbench.recording.run_file import RUN_FILE
from streamdecisionbench.suite.scenario import Scenario, Suite
from streamdecisionbench.suite.suite_files import find_suite
from streamdecisionbench.text import (
    decision_text,
    printable,
)

_REASONS_TOLD = 5


class Source(ABC):
    """A recording or a log."""

    kind: str
    """`recording` or `log`."""
    pooled: bool
    """Whether every second counts alike, or scenarios and families do."""
    _again = False

    @abstractmethod
    def poll(self) -> list[WatchedStream]:
        """Streams about which something is new since the last call."""

    @abstractmethod
    def facts(self) -> dict[str, object]:
        """`status` (waiting, running, complete, incomplete), `text`, `name`, `simulated`, `virtual`."""

    def forgotten(self) -> bool:
        """Whether what was read before no longer holds, since the last call."""
        again, self._again = self._again, False
        return again


@dataclass(slots=True)
class _Session:
    """Rows of one stream, by component and by when its states were published."""

    id: str
    name: str = ""
    ended: bool = False
    rows: dict[str, dict[float, dict[str, Any]]] = field(default_factory=dict)


class WatchedLog(Source):
    """Follows a decision log, one file or the files of a folder, in any format of `sdb-decisions/1`.

    Rows of a meter complete each other. Rows that cannot be read are counted, with the first reasons.
    """

    kind = "log"
    pooled = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows = LogFollower(path)
        self._marks: set[str] = set()
        self._forget()

    def _forget(self) -> None:
        self._sessions: dict[str, _Session] = {}
        self._unreadable = 0
        self._why: list[str] = []

    def poll(self) -> list[WatchedStream]:
        touched: dict[str, None] = {}
        rows = self._rows.new_rows()
        if rows is None:
            self._again = True
            self._forget()
            rows = self._rows.new_rows() or []
        for where, row in rows:
            try:
                if isinstance(row, ValueError):
                    raise row
                touched[self._take(read_row(row))] = None
            except ValueError as error:
                self._unreadable += 1
                if len(self._why) < _REASONS_TOLD:
                    self._why.append(printable(f"{where}: {error}"))
        return [stream for name in touched for stream in _streams(self._sessions[name])]

    def facts(self) -> dict[str, object]:
        still = any(not session.ended for session in self._sessions.values())
        return {
            "status": "running" if still else "complete" if self._sessions else "waiting",
            "name": self._path.resolve().name,
            "unreadable": self._unreadable,
            "why": tuple(self._why),
            "simulated": "simulated" in self._marks,
            "virtual": "virtual_clock" in self._marks,
        }

    def _take(self, row: dict[str, Any]) -> str:
        """Adds a row to its session; returns the session's key."""
        self._marks |= {mark for mark in MARKS if is_true(row.get(mark))}
        component = str(row.get("component") or APPLIED)
        stream = row["stream"] if isinstance(row["stream"], str) else decision_text(row["stream"])
        key = str(stream).removesuffix(f"~{component}")
        session = self._sessions.setdefault(key, _Session(key))
        session.name = session.name or str(row.get("session") or "")
        session.ended |= "ended_at" in row
        states = session.rows.setdefault(component, {})
        if row["published_at"] in states and not is_true(row.get("partial")):
            raise ValueError(REASONS["duplicate"].what)
        kept = states.setdefault(row["published_at"], {})
        for name, value in row.items():
            kept.setdefault(name, value)
        # `effects` grows from row to row of a state; every other column has one value.
        kept["effects"] = max(kept.get("effects", ()), row.get("effects", ()), key=len)
        return key


def _streams(session: _Session) -> Iterator[WatchedStream]:
    """One stream of all components that saw the same first state; as a rule there is no other."""
    together: dict[float, list[str]] = {}
    for component, rows in session.rows.items():
        together.setdefault(min(rows), []).append(component)
    for place, (first, components) in enumerate(sorted(together.items())):
        rows = session.rows[components[0]]
        at = sorted(rows)
        ends = [row["ended_at"] for row in rows.values() if "ended_at" in row]
        if not ends and len(at) == 1:
            continue
        # As `sdb logs score` ends a stream of which nobody wrote down the end.
        end = max(ends) if ends else at[-1] + median(b - a for a, b in pairwise(at))
        name = session.name or session.id
        yield WatchedStream(
            id=session.id if place == 0 else f"{session.id}~{place}",
            title=name if place == 0 else f"{name} ({', '.join(components)})",
            group="",
            release=[t - first for t in at],
            references=[rows[t].get("reference") for t in at],
            end=end - first,
            lanes=[_lane(component, session.rows[component], at) for component in components],
            open=not ends,
            began=first,
            weight=_weight(rows[first]),
        )


def _lane(component: str, rows: dict[float, dict[str, Any]], at: list[float]) -> DrawnLane:
    found = [(t, rows.get(t, {})) for t in at]
    return DrawnLane(
        component,
        [
            max(row["answered_at"] - _asked(row), 0.0) if "answered_at" in row else math.inf
            for _, row in found
        ],
        [row.get("decision") for _, row in found],
        taken=_taken(rows, at),
    )


def _taken(rows: dict[float, dict[str, Any]], at: list[float]) -> list[TakenAnswer] | None:
    """What a policy let take effect, and what it yielded to unless another came before; None: no policy."""
    told = [(step, t, rows[t]["effects"]) for step, t in enumerate(at) if t in rows]
    if not any(isinstance(effects, str) for _, _, effects in told):
        return None
    found = [
        (place, TakenAnswer(t - at[0] + since, step, decision))
        for step, t, effects in told
        if isinstance(effects, str)
        for place, since, decision in effects_of_row(effects)
    ]
    found.sort(key=lambda one: one[0])
    after = [*(one.at for _, one in found), math.inf][1:]
    return [
        one
        for (place, one), then in zip(found, after, strict=True)
        if place % 2 == 0 or then > one.at
    ]


def _asked(row: Mapping[str, Any]) -> float:
    """When; a meter's `requested_at` is somebody's label."""
    asked = row.get("requested_at") if "partial" not in row else None
    return float(row["published_at"] if asked is None else asked)


def _weight(row: Mapping[str, Any]) -> float:
    try:
        return float(row.get("weight", 1.0)) if "partial" not in row else 1.0
    except ValueError:
        return 1.0


@dataclass(slots=True)
class _Episode:
    releases: dict[int, Release] = field(default_factory=dict)
    responses: dict[str | None, dict[int, Response]] = field(default_factory=dict)
    gaps: dict[str | None, set[int]] = field(default_factory=dict)
    """Steps that a policy did not send, or gave up."""
    expired: list[Expired] = field(default_factory=list)
    last: float = 0.0
    over: bool = False


class WatchedRecording(Source):
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
        if (folder / RUN_FILE).exists():
            self._read_run()
            self._require_suite()

    def poll(self) -> list[WatchedStream]:
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

    def facts(self) -> dict[str, object]:
        models = [
            *(self._run.get("served_models") or []),
            *(
                next(iter(responses.values())).model
                for episode in self._episodes.values()
                for responses in episode.responses.values()
            ),
        ]
        wanted = self._config.get("scenarios")
        return {
            "status": str(self._run.get("status") or "waiting"),
            "name": self._name(),
            "suite": self._suite.name if self._suite else "",
            "scenarios": len(wanted) if isinstance(wanted, list) and wanted else None,
            "simulated": bool(self._config.get("simulated")) or any(map(names_simulation, models)),
            "virtual": self._config.get("clock") == "virtual",
        }

    @property
    def _config(self) -> dict[str, Any]:
        found = self._run.get("config")
        return found if isinstance(found, dict) else {}

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

    def _stream(self, scenario: Scenario, episode: _Episode) -> WatchedStream:
        releases = [episode.releases[t] for t in sorted(episode.releases)]
        stated = self._config.get("interval_s")
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
        right = [_file_text(decision) for decision in scenario.reference()]
        lanes = [
            DrawnLane(
                component or self._component_name(),
                [max(answers[t].latency_s, 0.0) if t in answers else math.inf for t in steps],
                [
                    _file_text(scenario.decision_spec.compose(answers[t].pred))
                    if t in answers
                    else None
                    for t in steps
                ],
                [answers[t].service_s if t in answers else math.inf for t in steps],
            )
            for component, answers in (episode.responses or {None: {}}).items()
        ]
        taken = self._taken(scenario, episode, horizon)
        if taken is not None:
            lanes.insert(0, DrawnLane(APPLIED, (), (), taken=taken))
        return WatchedStream(
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

    def _taken(
        self, scenario: Scenario, episode: _Episode, horizon: float
    ) -> list[TakenAnswer] | None:
        """What the arbiter of a live pair or a policy let take effect; None: simply the newest."""
        policy = self._config.get("policy")
        if not policy and len(episode.responses) < 2:
            return None
        found = [
            (
                rank,
                TakenAnswer(
                    answer.accepted_s or answer.actual_recorded_s,
                    answer.t,
                    _file_text(scenario.decision_spec.compose(answer.pred)),
                ),
            )
            # At equal times the slow one of a pair stays: fast comes before it.
            for rank, name in enumerate(sorted(episode.responses, key=lambda name: name or ""))
            for answer in episode.responses[name].values()
            if answer.accepted
        ]
        if episode.expired:
            # One that was too old when it came expires in that very moment: after it took effect.
            fallback = _fallback(policy, scenario)
            last = len(found)
            found += [(last, TakenAnswer(e.expired_s, e.t, fallback)) for e in episode.expired]
        found.sort(key=lambda one: (one[1].at, one[0]))
        return [taken for _, taken in found if taken.at < horizon]

    def _component_name(self) -> str:
        return str(self._config.get("component") or self._name())

    def _name(self) -> str:
        return str(self._run.get("name") or self._folder.resolve().name)

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


def _fallback(policy: object, scenario: Scenario) -> str | None:
    """What takes over when a decision has expired: none, or the policy's own."""
    if not isinstance(policy, dict):
        return None
    expire = policy_of(policy, name="policy").expire
    found = expire.fallback_for(scenario.task_family, scenario.episode_id)
    return None if found is None else _file_text(found)


def _file_text(decision: Mapping[str, str]) -> str:
    """A composed decision in one line; equal exactly when the decision is."""
    return " · ".join(f"{question}: {value}" for question, value in decision.items())


def open_source(path: Path, data: Path | None = None, *, wait: bool = False) -> Source:
    """A recording's folder, a decision log, or with `wait` a folder that is going to be a recording."""
    fix = f"give the folder of a recording, or a decision log: {', '.join(FORMATS)} or a folder of them"
    if path.is_file():
        if format_of(path.name) is None:
            raise InputError("is no folder and no decision log", where=path, fix=fix)
        return WatchedLog(path)
    if path.is_dir() and not (path / RUN_FILE).exists():
        if files_in(path):
            return WatchedLog(path)
        if any(path.iterdir()):
            raise InputError("holds neither a recording nor a decision log", where=path, fix=fix)
    if not path.parent.is_dir() or not (wait or path.is_dir()):
        raise InputError(
            "no such folder", where=path, fix=f"{fix}, or --wait where it is about to be made"
        )
    return WatchedRecording(path, data)
