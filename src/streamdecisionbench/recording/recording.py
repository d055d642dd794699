"""A recording in memory: one pass of a component over a suite."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamdecisionbench.components.providers.prompt import SIMULATED
from streamdecisionbench.policies.policy_file import (
    Policy,
    policy_of,
)
from streamdecisionbench.recording.event_log import (
    Attempt,
    Cancelled,
    Expired,
    Release,
    Response,
    Skipped,
)
from streamdecisionbench.text import visible


def names_simulation(name: object) -> bool:
    """Whether this is a simulated model's name; case, width, accents and invisible signs change nothing.

    >>> names_simulation("Simu\u200blated:jev"), names_simulation("simulated-annealing")
    (True, False)
    """
    plain = unicodedata.normalize("NFKD", str(name)).casefold()
    seen = (
        c for c in plain if c.isprintable() and not c.isspace() and not unicodedata.combining(c)
    )
    return "".join(seen).startswith(SIMULATED)


@dataclass(frozen=True, slots=True)
class Episode:
    """All events of one scenario, responses and releases in step order."""

    episode_id: str
    releases: tuple[Release, ...]
    attempts: tuple[Attempt, ...]
    responses: tuple[Response, ...]
    gaps: tuple[Cancelled | Skipped, ...] = ()
    """Steps without a response, under a policy that did not send them or gave them up."""
    expired: tuple[Expired, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """A complete, checked pass. Everything after it is a pure function of suite and recording."""

    name: str
    run: Mapping[str, Any]
    episodes: Mapping[str, Episode]
    path: Path | None = None
    events_sha256: str = ""
    halves: Mapping[str, Recording] = field(default_factory=dict)
    """Of a live pair or cascade: every component's own recording, by role or name, in order."""

    def __post_init__(self) -> None:
        # A folder may be called anything; from here on its name is text and nothing else.
        object.__setattr__(self, "name", visible(self.name))

    @property
    def dataset_hash(self) -> str:
        manifest = self.run.get("dataset_manifest") or {}
        return str(manifest.get("dataset_hash", ""))

    @property
    def config(self) -> Mapping[str, Any]:
        config: Mapping[str, Any] = self.run.get("config") or {}
        return config

    @property
    def closed_loop_interval_s(self) -> float | None:
        """Seconds a step, where it was lived through in a world and holds for that pace alone."""
        return float(self.config["interval_s"]) if self.config.get("world") is not None else None

    @property
    def policy_applied(self) -> bool:
        """Whether it is, in a world, what a pair's rule or a policy let take effect: it has no answers
        that could be told apart from that, since each alone would have been another session."""
        ruled = bool(self.halves) or self.policy is not None
        return ruled and self.closed_loop_interval_s is not None

    @property
    def parts(self) -> tuple[Recording, ...]:
        """What is scored of it: itself, or of a live pair its components, which in a world have none alone."""
        return (self,) if self.policy_applied or not self.halves else tuple(self.halves.values())

    def answers(self, episode_id: str) -> dict[int, Response]:
        """What was said in the end of each state that was asked about: of several components, by the last."""
        members = self.halves.values() or (self,)
        return {r.t: r for one in members for r in one.episodes[episode_id].responses}

    @property
    def simulated(self) -> bool:
        """Whether any number made from this recording must be labelled a simulation.

        What was served counts as much as what the run record says of it.
        """
        provider = f"{self.config.get('provider')}:"
        named = (provider, self.config.get("component"), *self.served_models)
        return self.config.get("simulated") is True or any(map(names_simulation, named))

    @property
    def policy(self) -> Policy | None:
        """The policy it was recorded under; None: every state was sent, the newest answer counted."""
        raw = self.config.get("policy")
        if not isinstance(raw, Mapping):
            return None
        return policy_of(raw, name=str(self.config.get("policy_name") or "policy"))

    @property
    def ours(self) -> bool:
        """Whether the run record names the sdb that recorded it."""
        environment = self.run.get("environment")
        versions = environment.get("versions") if isinstance(environment, Mapping) else None
        return isinstance(versions, Mapping) and "streamdecisionbench" in versions

    @property
    def virtual_clock(self) -> bool:
        """Whether queueing was simulated; no real clock publishes to the nanosecond.

        Of what others recorded or a table holds, without a word on its clock, nothing is known.
        """
        clock = self.config.get("clock")
        told = clock is not None or self.ours
        return clock in ("virtual", "paused") or (told and self._to_the_nanosecond())

    def _to_the_nanosecond(self) -> bool:
        """Every release exactly on time, every answer recorded in no time, on a clock that fine."""
        responses = [r for e in self.episodes.values() for r in e.responses]
        releases = [r for e in self.episodes.values() for r in e.releases]
        return (
            all(r.release_s == r.planned_s for r in releases)
            and all(r.actual_recorded_s == r.completed_s for r in responses)
            and any(round(r.completed_s, 6) != r.completed_s for r in responses)
        )

    @property
    def consumed_only(self) -> bool:
        """Whether answers outside the composed decision are unknown (imported tables)."""
        return self.config.get("answers") == "consumed_only"

    @property
    def failures(self) -> frozenset[str]:
        """The kinds of error that attempts failed with before their request was answered."""
        return frozenset(
            str(attempt["error_type"])
            for episode in self.episodes.values()
            for response in episode.responses
            for attempt in response.attempts
            if isinstance(attempt, Mapping) and attempt.get("error_type")
        )

    @property
    def served_models(self) -> tuple[str, ...]:
        found = {visible(r.model) for e in self.episodes.values() for r in e.responses if r.model}
        return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a recording: where, what, and what to do about it."""

    where: str
    what: str
    fix: str = field(default="")

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f" (fix: {self.fix})" if self.fix else "")
