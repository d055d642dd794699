"""A policy recorded live: what really was in force, beside the replay of its own answers.

The log says which answers took effect and when; a decision lapses at its release plus `after_s`, as
it did live. The replay of the same policy at the recorded pace is a check of the replay, as far as
the recording holds the answers it needs: what the policy never sent or gave up nobody knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.policy_file import Policy
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.policies.acceptance import Taken
from streamdecisionbench.scoring.policies.read_answers import answers_of, setting_of
from streamdecisionbench.scoring.policies.scene import Answers, Scene, scenes
from streamdecisionbench.scoring.policies.score_policy import score_policy
from streamdecisionbench.scoring.policies.shares import shares_of
from streamdecisionbench.scoring.score import Shares, level_weights, macro_shares
from streamdecisionbench.scoring.timeline import timelines
from streamdecisionbench.suite.scenario import Suite

__all__ = ["LivePolicyScore", "live_policy"]


@dataclass(frozen=True, slots=True)
class LivePolicyScore:
    """A live recording as it happened, at its own pace, and its replay where there can be one."""

    name: str
    policy: Policy
    components: tuple[str, ...]
    interval: float
    recorded: Shares
    by_family: Mapping[str, Shares]
    by_scenario: Mapping[str, Shares]
    replayed: float | None
    """In-force accuracy of the same policy replayed on the recording's own answers."""
    why_not: str = ""
    """What keeps it from being replayed."""

    @property
    def gap(self) -> float | None:
        """As it happened minus its replay."""
        return None if self.replayed is None else self.recorded.in_force - self.replayed


def live_policy(recording: Recording, suite: Suite) -> LivePolicyScore:
    """Scores a recording made with `sdb run --policy` as it happened."""
    policy = recording.policy
    if policy is None:
        raise InputError(
            "was not recorded under a policy",
            where=recording.path or recording.name,
            fix="give a recording made by `sdb run --policy`",
        )
    halves = list(recording.halves.values()) or [recording]
    components = [answers_of(half, suite) for half in halves]
    as_lived = [
        Answers(one.name, timelines(half, suite, clock="published", gaps=True), one.confidence)
        for one, half in zip(components, halves, strict=True)
    ]
    parts = as_lived[0].parts
    setting = setting_of(policy, suite, [p.episode_id for p in parts])
    table = np.zeros((len(parts), 7))
    found = scenes(policy, as_lived, changed=setting.changed, fallback=setting.fallback)
    for scene in found:
        # At the pace of the recording one second of its clock is one second.
        rows = scene.rows(1.0)
        rows = type(rows)(rows.scenario, rows.variant, np.ones(len(rows)))
        table[scene.index] = shares_of(scene, rows, _taken(scene, halves))
    untimed = np.zeros(len(parts))
    interval = float(parts[0].tick)
    replayed, why_not = None, ""
    try:
        again = score_policy(policy, components, interval=interval, setting=setting)
        replayed = again.in_force
    except InputError as error:
        why_not = error.what

    def shares(level: str) -> Shares:
        return macro_shares(table, untimed, level_weights(parts, level))

    return LivePolicyScore(
        name=recording.name,
        policy=policy,
        components=tuple(one.name for one in components),
        interval=interval,
        recorded=shares("overall"),
        by_family={f: shares(f) for f in dict.fromkeys(p.family for p in parts)},
        by_scenario={p.episode_id: shares(p.episode_id) for p in parts},
        replayed=replayed,
        why_not=why_not,
    )


def _taken(scene: Scene, halves: list[Recording]) -> Taken:
    """What took effect, when it did; at equal times in the order of the protocol."""
    lines: list[tuple[int, float, int, int]] = []
    for s, name in enumerate(scene.names):
        for k, half in enumerate(halves):
            for response in half.episodes[name].responses:
                when = response.accepted_s
                when = response.actual_recorded_s if when is None else when
                if response.accepted and when < scene.horizon[s]:
                    lines.append((s, when, response.t, k))
    lines.sort(key=lambda line: (line[0], line[1], -line[2], -line[3]))
    row, source, component = (
        np.array([line[column] for line in lines], dtype=np.int64) for column in (0, 2, 3)
    )
    begin = np.array([line[1] for line in lines], dtype=np.float64)
    nothing = np.zeros(scene.count, dtype=np.int64)
    return Taken(row, component, source, begin, np.zeros(len(begin)), begin, nothing)
