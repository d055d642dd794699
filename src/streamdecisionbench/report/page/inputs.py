"""What the page shows: scores with their recordings, and whatever analyses were made beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamdecisionbench.analysis.choose import Choice
from streamdecisionbench.analysis.flipped_states import Flips
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.costs.charge import CostRates, CostScore
from streamdecisionbench.scoring.pairs.compose import PairLevel
from streamdecisionbench.scoring.score import Score
from streamdecisionbench.suite.scenario import Suite

__all__ = ["CostView", "PageInputs", "PairView", "check"]


@dataclass(frozen=True, slots=True)
class CostView:
    """What one pass used and what that costs at list prices of a stated day."""

    requests: int
    input_tokens: int
    cached_tokens: int | None
    output_tokens: int
    amount: float | None
    """Of the whole pass, in `currency`; None where no price is known."""
    currency: str = "USD"
    as_of: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class PairView:
    """A fast and a slow component under one rule, replayed or recorded live.

    Both are recordings of the page, which replays them together itself. `facts` are further columns
    of the table, already formatted, in order.
    """

    fast: str
    slow: str
    rule: str
    overall: PairLevel
    by_family: Mapping[str, PairLevel] = field(default_factory=dict)
    by_scenario: Mapping[str, PairLevel] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    simulated: bool = False
    virtual_clock: bool = False


@dataclass(frozen=True, slots=True)
class PageInputs:
    """Everything on one page. All scores share suite, bounds, weighting and clock."""

    suite: Suite
    scores: Sequence[Score]
    recordings: Mapping[str, Recording]
    """By the scores' names."""
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Interval of the integrated score by recording name, as shares in [0, 1]."""
    ranges_method: str = ""
    """How those intervals were made, in a few words."""
    costs: Mapping[str, CostView] = field(default_factory=dict)
    error_costs: Mapping[str, CostScore] = field(default_factory=dict)
    """What being wrong costs, by the scores' names."""
    pair_costs: Mapping[tuple[str, str, str], CostRates] = field(default_factory=dict)
    """The same of pairs at the report's interval, by fast and slow component and rule."""
    error_words: Sequence[str] = ()
    """Where ranking by cost differs from ranking by time, in words."""
    pairs: Sequence[PairView] = ()
    choices: Sequence[Choice] = ()
    """What is recommended, at every interval the slider stops at; shortest first."""
    flips: Flips | None = None
    """Where the two recordings of a page decide differently."""
    notes: Sequence[str] = ()
    """Further remarks for "How it was made"."""


def check(inputs: PageInputs) -> None:
    """Refuses what one page cannot compare."""
    if not inputs.scores:
        raise InputError("there is nothing to report", fix="give at least one recording")
    first = inputs.scores[0]
    seen: set[str] = set()
    for score in inputs.scores:
        if score.name in seen:
            raise InputError(f"two recordings are called {score.name!r}", fix="rename one")
        seen.add(score.name)
        for what in ("bounds", "interval"):
            if getattr(score, what) != getattr(first, what):
                raise InputError(
                    f"{score.name!r} and {first.name!r} were scored with different {what}",
                    fix="score all recordings of one page alike",
                )
        recording = inputs.recordings.get(score.name)
        if recording is None:
            raise InputError(f"the recording of score {score.name!r} is missing")
        if recording.dataset_hash not in ("", inputs.suite.dataset_hash):
            raise InputError(
                f"{score.name!r} was recorded on another suite than {inputs.suite.name}",
                where=recording.path,
                fix="make one report per suite",
            )
        for part in score.parts:
            episode = recording.episodes.get(part.episode_id)
            if episode is None or len(episode.responses) != part.n:
                raise InputError(
                    f"{score.name!r} does not hold one answer per step of {part.episode_id}",
                    where=recording.path,
                    fix="show a live pair by its halves and as a PairView",
                )
    known = {(pair.fast, pair.slow, pair.rule) for pair in inputs.pairs}
    for pair in inputs.pairs:
        for member in (pair.fast, pair.slow):
            if member not in seen:
                raise InputError(f"the recording {member!r} of a pair is missing")
    for choice in inputs.choices:
        best = choice.best
        if best.rule is not None and (*best.members, best.rule) not in known:
            raise InputError(f"the recommended pair {best.name!r} is not on the page")
