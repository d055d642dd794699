"""The result of scoring: levels and figures, for a component, a pair, a policy, live or in a world.

>>> import streamdecisionbench as sdb
>>> found = sdb.score(sdb.example_recording(), sdb.example_suite(), interval=2.0)
>>> found.kind, found.members, round(found.in_force, 3), round(found.overall.integrated.stale, 3)
('component', ('example',), 0.6, 0.235)

Fields that do not apply to a kind are empty. `trajectory` returns what is in force, for every kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    ANOTHER_SESSION,
    Floats,
    Timeline,
    fixed_pace,
    joined_timelines,
)
from streamdecisionbench.kernel.classes import CORRECT
from streamdecisionbench.kernel.curves import Curve, curves
from streamdecisionbench.kernel.levels import ByLevel, Levels, level_weights
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.shares import AnswerCounts, Shares, level_shares, shares_over
from streamdecisionbench.kernel.trajectory import Trajectory, trajectory_at, trajectory_over
from streamdecisionbench.policies.policy_file import Policy
from streamdecisionbench.recording.provenance_notes import source_notes
from streamdecisionbench.render.sentences import planned_pace
from streamdecisionbench.scoring.answer_accuracy import AnswerScore, mean_answers

if TYPE_CHECKING:
    from streamdecisionbench.kernel.pair_trajectory import StaleLoss
    from streamdecisionbench.recording.recording_check import Punctuality
    from streamdecisionbench.scoring.counterfactual import Counterfactual
    from streamdecisionbench.scoring.error_costs import CostScore, WrongTime
    from streamdecisionbench.scoring.latency import Latency, Reliability

COMPONENT, PAIR, POLICY = "component", "pair", "policy"
LIVE_PAIR, LIVE_POLICY = "live pair", "live policy"

_NOT_KNOWN = float("nan")


@dataclass(frozen=True, slots=True)
class Level:
    """A scenario, a family (mean of scenarios) or the whole (mean of families).

    A = C·U_cur + λ, with C the share of time whose source is current and O what the reference answers
    would get. C = O unless a policy looks at the answers: a debounce, or a fallback decision.
    """

    name: str
    at_interval: Shares
    integrated: Shares
    """Over the bounds; a copy of `at_interval` where the trajectory holds for one pace only."""
    untimed: float = _NOT_KNOWN
    """U of a component. A pair and a policy have no untimed answer."""
    untimed_segment: float = _NOT_KNOWN
    physical: Shares | None = None
    """Wall-clock shares of a component at the recorded pace."""
    by_range: tuple[float, ...] = ()
    """In-force accuracy over each of the ranges asked for."""
    reference_in_force: tuple[float, float] | None = None
    """In-force accuracy of reference answers under a policy, at the interval and over the bounds, where
    it is not the share of time with a current source."""

    @property
    def in_force(self) -> float:
        """A at the interval."""
        return self.at_interval.in_force

    @property
    def log_auc(self) -> float:
        """S: in-force accuracy integrated over the bounds (log-weighted unless asked otherwise).

        Not a number where the trajectory holds for one pace only.
        """
        return _NOT_KNOWN if self.integrated.fixed_pace else self.integrated.in_force

    @property
    def segment_in_force(self) -> float:
        return self.at_interval.segment_in_force

    @property
    def oracle(self) -> float:
        """O: what the reference answers would get."""
        return self.current if self.reference_in_force is None else self.reference_in_force[0]

    @property
    def oracle_integrated(self) -> float:
        known = self.reference_in_force
        return self.integrated.oracle if known is None else known[1]

    @property
    def current(self) -> float:
        """C: the share of time with a decision whose source is current."""
        return self.at_interval.oracle

    @property
    def u_current(self) -> float:
        value = self.at_interval.u_current
        return _NOT_KNOWN if value is None else value

    @property
    def outdated_correct(self) -> float:
        """λ, the paper's "lucky" share."""
        return self.at_interval.outdated_correct

    @property
    def product(self) -> float:
        return self.at_interval.product

    @property
    def slow_share(self) -> float:
        """The share of observed time with a slow answer in force, at the interval."""
        return self.at_interval.later_component

    @property
    def slow_share_integrated(self) -> float:
        return self.integrated.later_component


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(ByLevel[Level]):
    """Levels at an interval and over bounds, and how they were made."""

    kind: str
    name: str
    members: tuple[str, ...]
    """The components, in the order of the policy's cascade."""
    policy: Policy = field(default_factory=Policy)
    """What is done with the answers: a component is the plain policy, a pair is a cascade of two."""
    interval: float
    bounds: Bounds
    clock: str
    family_of: Mapping[str, str]
    parts: Sequence[Timeline]
    """Timelines of the first component."""
    counts: AnswerCounts
    replay: Callable[[float | Bounds], Trajectory] | None = field(
        default=None, repr=False, compare=False
    )
    """The trajectory at an interval or over bounds; None: that of `parts`, newest source first."""
    signature: str = ""
    simulated: bool = False
    virtual_clock: bool = False
    remarks: tuple[str, ...] = ()
    """Why this is not the score of a whole recording, or which figures are missing."""
    punctuality: Punctuality | None = None
    """How late states were published; None where only arrays were scored."""
    latency: Latency | None = None
    latency_by_scenario: Mapping[str, Latency] = field(default_factory=dict)
    reliability: Reliability | None = None
    answers: Mapping[str, AnswerScore] | None = None
    served_models: tuple[str, ...] = ()
    cost: CostScore | None = None
    """What being wrong costs, where a cost file was given."""
    wrong_time: WrongTime | None = None
    """The same of a policy, with wrong spells and delays."""
    cost_per_hour: float | None = None
    """Money for requests, where prices are known."""
    longest_stale_loss: StaleLoss | None = None
    would_help: Callable[[], list[Counterfactual]] = field(default=list, repr=False, compare=False)
    """What it would reach at the interval with a changed member; computed when called."""
    replayed: Mapping[str, Shares] = field(default_factory=dict)
    """A live recording's own answers replayed at its pace: by rule, or by the name of its policy."""
    replays: Sequence[Result] = ()
    """The same at the interval and bounds asked for."""
    why_not: str = ""
    """Why a live recording cannot be replayed, or a policy has no mean over paces."""
    expiry_differences: tuple[str, ...] = ()
    """Where the log of a live recording and its policy do not agree on a lapse."""

    def __repr__(self) -> str:
        """One line, as a failed assertion shows it; `result_to_json` has all figures."""
        return f"<Result {self.name}: {100 * self.in_force:.1f} % in force at {self.interval:g} s>"

    @property
    def in_force(self) -> float:
        return self.overall.in_force

    @property
    def log_auc(self) -> float:
        return self.overall.log_auc

    @property
    def untimed(self) -> float:
        return self.overall.untimed

    @property
    def oracle(self) -> float:
        return self.overall.oracle

    @property
    def slow_share(self) -> float:
        return self.overall.slow_share

    @property
    def recorded(self) -> Shares:
        """A live recording as it happened."""
        return self.overall.at_interval

    @property
    def fast(self) -> str:
        return self.members[0]

    @property
    def slow(self) -> str:
        return self.members[-1]

    @property
    def rule(self) -> str:
        return self.policy.rule

    @property
    def accepted(self) -> int:
        return sum(self.counts.taken)

    @property
    def discarded_after_horizon(self) -> int:
        return self.counts.after_horizon

    @property
    def discarded_older(self) -> int:
        return self.counts.superseded

    @property
    def fixed_pace(self) -> bool:
        """Whether it was recorded in a closed loop, so that it holds for one pace only."""
        return fixed_pace(self.parts)

    @property
    def gap(self) -> float:
        """In-force accuracy as it happened minus its replay; not a number without a replay."""
        own = self.rule if self.kind == LIVE_PAIR else self.policy.name
        return self.in_force - self.replayed[own].in_force if self.replayed else _NOT_KNOWN

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks, and for a component how it was recorded."""
        if self.kind != COMPONENT:
            return self.remarks
        paused = self.clock == "paused"
        virtual = self.virtual_clock and not paused
        found = [*self.remarks, *source_notes(simulated=self.simulated, virtual_clock=virtual)]
        if self.fixed_pace:
            waited = ", which waited for every answer" if paused else ""
            found.append(
                f"lived through in a world{waited}: no other pace and no mean over paces, since"
                f" {ANOTHER_SESSION}"
            )
        if self.punctuality is not None and not self.punctuality.punctual:
            found.append(planned_pace(self.punctuality.words))
        return tuple(found)

    def answers_at(self, level: str = "overall") -> AnswerScore | None:
        """Single answers of the whole, a family or a scenario; None where only arrays were scored."""
        if self.answers is None:
            return None
        if level in self.answers and level not in self.by_family:
            return self.answers[level]
        weights = level_weights(self.parts, level).tolist()
        parts = zip(weights, self.parts, strict=True)
        return mean_answers([(w, self.answers[p.episode_id]) for w, p in parts if w > 0])

    def trajectory(self, over: float | Bounds) -> Trajectory:
        """The decisions in force, at an interval or at every interval within bounds."""
        if self.replay is not None:
            return self.replay(over)
        flat = joined_timelines(self.parts)
        return (
            trajectory_over(flat, over) if isinstance(over, Bounds) else trajectory_at(flat, over)
        )

    def in_force_at(self, interval: float) -> float:
        """A at another interval."""
        if interval == self.interval:
            return self.in_force
        path = self.trajectory(interval)
        shares = shares_over(path, [path.weights(self.bounds)], segments=False)[0]
        return float(level_weights(self.parts, "overall") @ shares[:, CORRECT].sum(axis=1))

    def curve(
        self,
        level: str = "overall",
        metrics: tuple[str, ...] = ("in_force",),
        bounds: Bounds | None = None,
    ) -> dict[str, Curve]:
        """Exact curves c0 + c1/Δ of the whole, a family or a scenario over the bounds, jumps included.

        Names are those of `METRICS`, of a pair those of `PAIR_METRICS`.
        """
        bounds = bounds or self.bounds
        found = self.trajectory(bounds)
        if found.fixed_pace:
            raise InputError(f"there is no curve over paces: {ANOTHER_SESSION}")
        return curves(found, level_weights(self.parts, level), bounds, metrics)


def live_levels(
    levels: Levels, table: Floats, untimed: Floats
) -> tuple[Level, dict[str, Level], dict[str, Level]]:
    """Levels of a live recording as it happened, which holds for its own pace only."""
    shares = level_shares(levels, table, untimed)
    every = zip(levels.names, shares, strict=True)
    return levels.split([Level(name, one, replace(one, fixed_pace=True)) for name, one in every])


def as_it_happened(found: Trajectory, over: float | Bounds) -> Trajectory:
    """The trajectory of a live recording, which holds for its own pace only."""
    pace = float(found.references.tick[0])
    if isinstance(over, Bounds) or abs(over - pace) <= 1e-9 * pace:
        return found
    raise InputError(
        f"was recorded live at {pace:g} s a step and cannot be scored as it happened at {over:g} s",
        fix=f"give the interval {pace:g}, or score its replay",
    )
