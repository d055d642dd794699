"""Where two recordings decide differently: every such state, with what each answered and the evidence.

Latency is ignored for what differs, and shown beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.suite.scenario import Suite

KINDS = {
    "lost": "right before, wrong now",
    "won": "wrong before, right now",
    "changed": "wrong in both, differently",
}


@dataclass(frozen=True, slots=True)
class Flip:
    """One state decided differently. `first` is the baseline, `second` the new one."""

    scenario: str
    step: int
    kind: str
    reference: Mapping[str, str]
    first: Mapping[str, str]
    second: Mapping[str, str]
    first_latency_s: float
    second_latency_s: float
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flips:
    """All of them in suite order, and how many states were compared."""

    first: str
    second: str
    states: int
    found: tuple[Flip, ...]

    def count(self, kind: str) -> int:
        return sum(flip.kind == kind for flip in self.found)

    def by_scenario(self) -> dict[str, list[Flip]]:
        groups: dict[str, list[Flip]] = {}
        for flip in self.found:
            groups.setdefault(flip.scenario, []).append(flip)
        return groups


def flipped_states(
    first: Recording, second: Recording, suite: Suite, names: Sequence[str] | None = None
) -> Flips:
    """Compares the composed decisions of two recordings of one suite, state by state."""
    if set(first.episodes) != set(second.episodes):
        odd = sorted(set(first.episodes) ^ set(second.episodes))
        raise InputError(
            f"only one of the two holds {', '.join(odd[:4])}",
            where=second.name,
            fix="compare recordings of the same scenarios",
        )
    found = []
    states = 0
    for scenario in suite.scenarios.values():
        if scenario.episode_id not in first.episodes:
            continue
        spec = scenario.decision_spec
        answers = (r.episodes[scenario.episode_id].responses for r in (first, second))
        for step, a, b in zip(scenario.steps, *answers, strict=True):
            states += 1
            reference = spec.compose(step.gold)
            before, now = spec.compose(a.pred), spec.compose(b.pred)
            if before == now:
                continue
            kind = "lost" if before == reference else "won" if now == reference else "changed"
            found.append(
                Flip(
                    scenario.episode_id, step.t, kind, reference, before, now,
                    a.service_s, b.service_s, scenario.evidence(step.t),
                )
            )  # fmt: skip
    labels = tuple(names or (first.name, second.name))
    return Flips(labels[0], labels[1], states, tuple(found))


def decision_words(decision: Mapping[str, str]) -> str:
    """A composed decision in one line.

    >>> decision_words({"route": "rerun", "scope": "module"})
    'route=rerun, scope=module'
    """
    return ", ".join(f"{question}={value}" for question, value in decision.items())


def flip_summary(flips: Flips) -> str:
    """One line: how many states are decided differently, and how."""
    counts = ", ".join(f"{flips.count(kind)} {words}" for kind, words in KINDS.items())
    return f"{len(flips.found)} of {flips.states} states decided differently: {counts}"
