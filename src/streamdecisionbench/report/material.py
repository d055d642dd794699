"""What a report is made of: recordings with their scores, and the analyses beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.score import Score
from streamdecisionbench.suite.scenario import FAMILIES, Scenario, Suite

__all__ = ["Entry", "Material", "family_name", "scenario_name"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One recording and what it scored."""

    recording: Recording
    score: Score

    @property
    def name(self) -> str:
        return self.score.name

    @property
    def label(self) -> str:
        """The name with what every reader must know beside it."""
        if self.score.simulated:
            return f"{self.name} (sim.)"
        return f"{self.name} (virt.)" if self.score.virtual_clock else self.name


@dataclass(frozen=True, slots=True)
class Material:
    """Recordings of one suite, scored alike, in the order they were given."""

    suite: Suite
    entries: tuple[Entry, ...]
    interval: float
    bounds: Bounds

    @property
    def scores(self) -> list[Score]:
        return [entry.score for entry in self.entries]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(entry.label for entry in self.entries)

    @property
    def families(self) -> list[str]:
        """Families that any of the recordings covers, in reporting order."""
        used = {family for entry in self.entries for family in entry.score.by_family}
        return [family for family in self.suite.families() if family in used]

    @property
    def scenarios(self) -> list[Scenario]:
        """Scenarios that any of the recordings covers, in reporting order."""
        used = {name for entry in self.entries for name in entry.score.by_scenario}
        ordered = [s for group in self.suite.families().values() for s in group]
        return [s for s in ordered if s.episode_id in used]

    @property
    def ranked(self) -> list[Entry]:
        """Best integrated score first."""
        return sorted(self.entries, key=lambda e: (-e.score.log_auc, e.name))

    def notes(self, *more: str) -> tuple[str, ...]:
        """What stands below every table: first what is no whole recording or simulated."""
        found = [
            f"{remark[0].upper()}{remark[1:]}: {e.name}."
            for e in self.entries
            for remark in e.score.remarks
        ]
        simulated = [e.name for e in self.entries if e.score.simulated]
        virtual = [e.name for e in self.entries if e.score.virtual_clock]
        if simulated:
            found.append(
                f"Simulation, not a measurement of a model (sim.): {_listed(simulated)};"
                " answers and latencies were drawn from declared profiles."
            )
        if virtual:
            found.append(
                f"Virtual clock (virt., and sim. where so recorded): {_listed(virtual)}; service"
                " times were taken one by one, queueing was simulated."
            )
        for entry in self.entries:
            on_time = entry.score.punctuality
            if on_time is not None and not on_time.punctual:
                found.append(f"{entry.name}: {on_time.words}; re-paced from the plan.")
        return (*more, *found)


def family_name(family: str) -> str:
    return FAMILIES.get(family, family)


def scenario_name(suite: Suite, scenario: Scenario) -> str:
    """ "Support call A": the family and a letter in suite order; the id where a family has one only.

    >>> from streamdecisionbench.examples import example_suite
    >>> suite = example_suite()
    >>> scenario_name(suite, suite.scenarios["tiny"])
    'Support call'
    """
    group = suite.families()[scenario.task_family]
    name = family_name(scenario.task_family)
    return f"{name} {letter(group, scenario)}" if len(group) > 1 else name


def letter(group: Sequence[Scenario], scenario: Scenario) -> str:
    """A, B, … by place in the family; 27 and more are numbered."""
    place = [s.episode_id for s in group].index(scenario.episode_id)
    return chr(ord("A") + place) if place < 26 else str(place + 1)


def _listed(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
