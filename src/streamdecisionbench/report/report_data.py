"""What a report is made of: recordings with their scores, and the analyses beside them."""

from __future__ import annotations

import math
import multiprocessing
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, groupby
from typing import Any, TypeVar

import numpy as np

from streamdecisionbench.analysis.analyses import EACH, all_analyses
from streamdecisionbench.analysis.bootstrap import ScoreIntervals, score_intervals
from streamdecisionbench.analysis.calibration import Calibration, calibration
from streamdecisionbench.analysis.candidates import (
    CASCADES,
    PAIRED,
    TRIPLES,
    CandidatePool,
    priced_answers,
)
from streamdecisionbench.analysis.choose import Choice, Terms, decide
from streamdecisionbench.analysis.flips import Causes, Flips, causes_between, flipped_states
from streamdecisionbench.analysis.network import NO_TEXT, NetworkEstimate, has_decode
from streamdecisionbench.analysis.paper_analyses import (
    Baselines,
    Pace,
    Paired,
    Projection,
    Sensitivity,
    Transitions,
    Window,
    baselines,
    choose_window,
    paired_counts,
)
from streamdecisionbench.analysis.repacing import Repacing, at_own_pace, repacing, sweeps
from streamdecisionbench.analysis.token_cost import Cost, find_line, hourly_rates, known_costs
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    ANOTHER_SESSION,
    Timeline,
)
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.pair_trajectory import pair_trajectory
from streamdecisionbench.kernel.rule import RULES
from streamdecisionbench.policies.cost_file import default_costs
from streamdecisionbench.recording.prices import PriceTable, read_prices
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.sentences import (
    marked,
    planned_pace,
    resampled,
    simulation_note,
    virtual_clock_note,
)
from streamdecisionbench.render.table import Table
from streamdecisionbench.scoring.change_delays import Survival
from streamdecisionbench.scoring.error_costs import (
    THETA_S,
    ChangeMeasures,
    CostRates,
    CostScore,
    PathMeasures,
    SpellMeasures,
    change_measures,
    charge,
    cost_at,
    path_measures,
    spell_measures,
)
from streamdecisionbench.scoring.error_tables import disagreement
from streamdecisionbench.scoring.pairs import composed
from streamdecisionbench.scoring.policy_answers import answers_of
from streamdecisionbench.scoring.score import Score
from streamdecisionbench.suite.scenario import FAMILIES, Scenario, Suite
from streamdecisionbench.text import plural

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """One recording and what it scored."""

    recording: Recording
    suite: Suite
    score: Score

    @property
    def name(self) -> str:
        return self.score.name

    @property
    def parts(self) -> Sequence[Timeline]:
        return self.score.parts

    @property
    def label(self) -> str:
        """The name with what every reader must know beside it."""
        if self.score.simulated:
            return marked(self.name, simulated=True)
        return f"{self.name} (virt.)" if self.score.virtual_clock else self.name


@dataclass(frozen=True, slots=True)
class ReportInput:
    """Recordings of one suite, scored alike, in the order they were given."""

    suite: Suite
    entries: tuple[Entry, ...]
    interval: float
    bounds: Bounds

    @property
    def scores(self) -> list[Score]:
        return [entry.score for entry in self.entries]

    @property
    def by_label(self) -> dict[str, Entry]:
        return {entry.label: entry for entry in self.entries}

    def labelled(self, found: Mapping[str, T]) -> dict[str, T]:
        """What was found, in the order of recordings and by the names that people read."""
        return {e.label: found[e.name] for e in self.entries if e.name in found}

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
        """Best integrated score first; of what holds for its own pace alone, as given."""
        if self.fixed_pace:
            return list(self.entries)
        return sorted(self.entries, key=lambda e: (-e.score.log_auc, e.name))

    @property
    def fixed_pace(self) -> bool:
        """Whether it was lived through in a world, and holds for its own pace alone."""
        return self.bounds.fixed_pace

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
            found.append(simulation_note(_listed(simulated)))
        if virtual:
            found.append(virtual_clock_note(_listed(virtual)))
        for entry in self.entries:
            on_time = entry.score.punctuality
            if on_time is not None and not on_time.punctual:
                found.append(f"{entry.name}: {planned_pace(on_time.words)}.")
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


def numbered(name: str, items: Iterable[T]) -> list[tuple[str, T]]:
    """The first under the name itself, the others numbered.

    >>> numbered("repacing", ["a", "b"])
    [('repacing', 'a'), ('repacing_2', 'b')]
    """
    return [(name if k == 1 else f"{name}_{k}", item) for k, item in enumerate(items, start=1)]


def _listed(names: Sequence[str], most: int = 6) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


# What being wrong costs, for a report: every recording's course under the dated default costs.


@dataclass(frozen=True, slots=True)
class ErrorCosts:
    """By recording name, at the report's interval."""

    courses: Mapping[str, PathMeasures] = field(default_factory=dict)
    spells: Mapping[str, SpellMeasures] = field(default_factory=dict)
    changes: Mapping[str, ChangeMeasures] = field(default_factory=dict)
    waits: Mapping[str, Survival] = field(default_factory=dict)
    scores: Mapping[str, CostScore] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    """Where ranking by cost differs from ranking by time."""


def error_costs(material: ReportInput, choice: Choice | None = None) -> ErrorCosts:
    """Spells, delays and costs of all recordings; the words also weigh a pair that is recommended."""
    courses = {
        e.name: path_measures(e.score.parts, material.interval, material.bounds)
        for e in material.entries
    }
    scores = {name: charge(course, default_costs()) for name, course in courses.items()}
    right = {e.name: e.score.in_force for e in material.entries}
    found = {n: (right[n], s.overall.at_interval.total) for n, s in scores.items()}
    if choice is not None and choice.best.rule is not None and choice.best.policy is None:
        fast, slow = choice.best.members
        cost = pair_cost(material, fast, slow, choice.best.rule)
        found[choice.best.name] = (choice.best.in_force.value, cost.total)
    return ErrorCosts(
        courses=courses,
        spells={name: spell_measures(c, THETA_S).overall for name, c in courses.items()},
        changes={name: change_measures(c).overall for name, c in courses.items()},
        waits={name: c.at.waits.delays().survival() for name, c in courses.items()},
        scores=scores,
        words=disagreement(found),
    )


def pair_cost(material: ReportInput, fast: str, slow: str, rule: str) -> CostRates:
    """What being wrong costs a pair at the report's interval, in replay."""
    parts = {e.name: e.score.parts for e in material.entries if e.name in (fast, slow)}
    path = pair_trajectory(parts[fast], parts[slow], rule, material.interval)
    return cost_at(path, [part.family for part in parts[fast]], default_costs())


# What to choose at every interval a report offers, by the function that decides elsewhere too.
#
# The page does not weigh anything itself: it shows the words made here for the nearest of these
# intervals, and the words name the interval they are for.


_MOST = 160
_FEWEST = 9
_WORK = 4e6
"""Steps times contenders times intervals: long streams are weighed at fewer intervals."""
_TEAMS = 400
"""Components, pairs and triples times intervals, where policies of them are weighed."""


def choices(
    entries: Sequence[Entry],
    suite: Suite,
    costs: Mapping[str, Cost],
    prices: PriceTable,
    bounds: tuple[float, float],
    interval: float,
    terms: Terms,
) -> list[Choice]:
    """The choice at every pace within the bounds and at the interval, shortest first."""
    simulated = [e.name for e in entries if e.score.simulated]
    field = CandidatePool(
        {e.name: e.score.parts for e in entries},
        costs,
        simulated,
        [priced_answers(e.recording, suite, prices) for e in entries],
        hourly=hourly_rates({e.name: e.recording for e in entries})
        if prices.currency == "USD"
        else {},
    )
    singles = len(field.singles(interval))
    pairs = len(field.pairs(interval, terms.rules)) if terms.pairs else 0
    steps = sum(part.n for part in field.parts)
    most = min(_MOST, max(_FEWEST, _WORK / (steps * (singles + pairs))))
    real = min(singles - len(simulated), 2 * PAIRED)  # policies of simulations are not weighed
    if terms.policies and real > 0:
        couples = min(CASCADES, real * (real - 1) // 2) if terms.pairs else 0
        triples = min(TRIPLES, math.comb(real, 3)) if terms.pairs else 0
        most = min(most, max(_FEWEST, _TEAMS / (real + couples + triples)))
    intervals = paces(*bounds, interval, int(most))
    field.trials.look_ahead(intervals)
    return [decide(field, d, terms) for d in intervals]


def paces(low: float, high: float, interval: float, most: int = _MOST) -> list[float]:
    """The bounds, the interval asked for, and numbers of two digits between, about `most` of them.

    >>> paces(0.97, 1.3, 1.25)
    [0.97, 0.98, 0.99, 1.0, 1.1, 1.2, 1.25, 1.3]
    >>> len(paces(0.5, 8.0, 2.0)), len(paces(0.5, 8.0, 2.0, 20))
    (121, 21)
    """
    first, last = math.floor(math.log10(low)), math.floor(math.log10(high))
    round_ones = [
        value
        for power in range(first, last + 1)
        for tens in range(10, 100)
        if low < (value := float(f"{tens}e{power - 1}")) < high
    ]
    if len(round_ones) > most - 2:
        even = [low * (high / low) ** (k / (most - 1)) for k in range(1, most - 1)]
        round_ones = [min(round_ones, key=lambda x: abs(math.log(x / e))) for e in even]
    return sorted({low, high, *round_ones, interval})


# The analyses a report shows, each run once; what could not be done carries its reason.


Say = Callable[[str], None]

DRAWS = 300
"""Latency resamples of every projected schedule."""

_EACH = 4
"""Twice as many recordings are paired with each other; of more, the best are so many by score and by judgment."""

_COMPARED = 6
"""Pairs of settings compared state by state, where no corrector says which."""

_SERIAL = 4
"""Up to so many recordings, starting processes costs more than it saves."""

_WINDOW_STEPS = 10
_WINDOW_LANES = 8


@dataclass(frozen=True, slots=True)
class ReportResults:
    """What the analyses gave, by recording name. What is missing is explained in `remarks`."""

    sure: Mapping[str, ScoreIntervals] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Of the integrated score, of recordings that cover the same states."""
    ranges_method: str = ""
    pairs: Sequence[Score] = ()
    pairs_note: str = ""
    corrector: str = ""
    """The slow component whose pairs are drawn, every one of them; empty where the best were asked for."""
    choices: Sequence[Choice] = ()
    """What is recommended at every interval the report offers, shortest first."""
    choice: Choice | None = None
    """What is recommended at the report's own interval."""
    networks: Mapping[str, NetworkEstimate] = field(default_factory=dict)
    costs: Mapping[str, Cost] = field(default_factory=dict)
    paces: Mapping[str, Sequence[Pace]] = field(default_factory=dict)
    sensitivities: Mapping[str, Sensitivity] = field(default_factory=dict)
    schedules: Mapping[str, Sequence[Projection]] = field(default_factory=dict)
    transitions: Mapping[str, Transitions] = field(default_factory=dict)
    paired: Sequence[Paired] = ()
    flips: Flips | None = None
    """Where two recordings decide differently, in a report about two of the same scenarios."""
    causes: Causes | None = None
    """What the difference between those two is made of."""
    window: Window | None = None
    shown: Sequence[Entry] = ()
    """The recordings the window was chosen for."""
    baselines: Baselines | None = None
    errors: ErrorCosts = field(default_factory=ErrorCosts)
    """What being wrong costs."""
    repacings: Mapping[str, Repacing] = field(default_factory=dict)
    """Does one pace predict the others? By setting, where one was recorded under several conditions."""
    calibrations: Mapping[str, Calibration] = field(default_factory=dict)
    """How far confidence can be trusted, where answers carry any."""
    outcomes: Mapping[str, Table] = field(default_factory=dict)
    """What became of sessions in a world."""
    remarks: Sequence[str] = ()

    @property
    def recommended(self) -> list[tuple[float, float, str]]:
        """From which interval to which the same is recommended."""
        found = []
        for name, alike in groupby(self.choices, key=lambda choice: choice.best.name):
            at = [choice.interval for choice in alike]
            found.append((at[0], at[-1], name))
        return found


def find(
    material: ReportInput,
    say: Say = lambda _: None,
    *,
    pairs: bool = True,
    corrector: str | None = None,
    best_pairs: bool = False,
    window: str | None = None,
    prices: PriceTable | None = None,
    remarks: Sequence[str] = (),
    allowed: Collection[str] = (),
) -> ReportResults:
    """All analyses of one report; `remarks` go before those made here, `allowed` as for `outcomes`."""
    remarks = list(remarks)
    if window is not None and window not in {s.episode_id for s in material.scenarios}:
        names = ", ".join(s.episode_id for s in material.scenarios)
        raise InputError(f"--window {window!r} is not recorded", fix=f"choose one of: {names}")
    if material.fixed_pace:
        return _at_own_pace(material, say, window, prices or read_prices(), remarks, allowed)
    alike = same_states(material)
    slow = _corrector(alike, corrector, best_pairs)
    covered = {e.name for e in alike}
    if len(alike) < len(material.entries):
        names = ", ".join(e.name for e in material.entries if e.name not in covered)
        remarks.append(f"Not compared state by state, since they cover other scenarios: {names}.")
    say("bootstrap intervals")
    sure = {e.name: score_intervals(e.score) for e in material.entries}
    pairings: Sequence[Score] = ()
    note = ""
    prices = prices or read_prices()
    costs, unknown = known_costs({e.name: e.recording for e in material.entries}, prices)
    remarks += unknown
    say("what to choose at every pace")
    own, measured = at_own_pace([e.recording for e in alike], material.interval)
    remarks += measured
    chosen = choices(
        [alike[place] for place in own], material.suite, costs, prices, (material.bounds.low, material.bounds.high),
        material.interval, Terms(pairs=pairs, currency=prices.currency),
    )  # fmt: skip
    if pairs and len(alike) > 1:
        say("pairs")
        pairings, note = _pairs(material, alike, chosen, slow)
    shown = [e for e in material.ranked if e.name in covered][:_WINDOW_LANES]
    each = _each(material, prices, say)
    networks = {name: own["network"] for name, own in each.items() if own["network"] is not None}
    without = [name for name in each if name not in networks]
    if without:
        remarks.append(
            "No estimate of network delay, since not every response carries token counts:"
            f" {', '.join(without)}."
        )
    choice = next(c for c in chosen if c.interval == material.interval)
    return ReportResults(
        sure=sure,
        ranges={
            name: (sure[name].metrics["log_auc"].low, sure[name].metrics["log_auc"].high)
            for name in covered
        },
        ranges_method=_method(sure[alike[0].name]),
        pairs=pairings,
        pairs_note=note,
        corrector=slow,
        choices=[c for c in chosen if material.bounds.low <= c.interval <= material.bounds.high],
        choice=choice,
        networks=networks,
        costs=costs,
        paces={name: own["pace"] for name, own in each.items()},
        sensitivities={name: own["sensitivity"] for name, own in each.items()},
        schedules={name: own["schedules"] for name, own in each.items()},
        transitions={name: own["transitions"] for name, own in each.items()},
        paired=_paired(alike, pairings, slow),
        **_between(material),
        window=_window(material, shown, window, remarks),
        shown=shown,
        baselines=baselines(material.suite),
        errors=error_costs(material, choice if pairs else None),
        repacings=_repacings(material, remarks),
        calibrations=_calibrations(material, remarks),
        remarks=remarks,
    )


def _at_own_pace(
    material: ReportInput,
    say: Say,
    window: str | None,
    prices: PriceTable,
    remarks: list[str],
    allowed: Collection[str],
) -> ReportResults:
    """What can be said of sessions in a world: nothing that another pace or component is asked for."""
    remarks.append(
        f"Lived through in a world at {material.interval:g} s a step. {ANOTHER_SESSION.capitalize()}, and so"
        " it would have been without network delay, on another schedule or with another component: no"
        " curves, no integrated score, no pairs and no recommendation."
    )
    say("bootstrap intervals")
    sure = {e.name: score_intervals(e.score) for e in material.entries}
    costs, unknown = known_costs({e.name: e.recording for e in material.entries}, prices)
    say("outcomes")
    found: dict[str, Table] = {}
    compare = all_analyses().get("outcomes")
    for entry in material.entries:
        if compare is None:
            break
        shown = replace(entry, score=replace(entry.score, name=entry.label))
        try:
            (found[entry.name],) = compare.run([shown], allow_import=allowed).tables
        except InputError as error:
            todo = f" ({error.fix})" if error.fix else ""
            remarks.append(f"{entry.name}: outcomes not compared with twins: {error.what}{todo}.")
            say(remarks[-1])
    at = {name: one.metrics["in_force"] for name, one in sure.items()}
    return ReportResults(
        sure=sure,
        ranges={name: (metric.low, metric.high) for name, metric in at.items()},
        ranges_method=_method(next(iter(sure.values()))),
        costs=costs,
        transitions={e.name: EACH["transitions"].compute(e) for e in material.entries},
        window=_window(material, material.entries, window, remarks),
        shown=material.entries,
        errors=error_costs(material),
        calibrations=_calibrations(material, remarks),
        outcomes=found,
        remarks=[*remarks, *unknown],
    )


def _repacings(material: ReportInput, remarks: list[str]) -> dict[str, Repacing]:
    found: dict[str, Repacing] = {}
    recordings = [e.recording for e in material.entries]
    for places in sweeps(recordings):
        first = next(iter(places))
        name = str(recordings[first].config.get("component") or material.entries[first].name)
        name = name if name not in found else f"{name} ({len(found) + 1})"
        try:
            found[name] = repacing([(recordings[place], material.suite) for place in places])
        except InputError as error:
            remarks.append(f"Paces not compared: {error.what}.")
            continue
        remarks.append(f"{name}: {found[name].sentence}")
    return found


def same_states(material: ReportInput) -> list[Entry]:
    """The largest group of recordings that cover the same scenarios; the first of equals."""
    groups: dict[tuple[str, ...], list[Entry]] = {}
    for entry in material.entries:
        groups.setdefault(tuple(entry.score.by_scenario), []).append(entry)
    return max(groups.values(), key=len)


def _latency(entry: Entry) -> float:
    return float(np.median(np.concatenate([p.latency for p in entry.score.parts])))


def _corrector(alike: Sequence[Entry], named: str | None, best: bool) -> str:
    """Whom the others are paired with: the one named, or the slowest, which no outcome decides."""
    if named is not None and best:
        raise InputError("--corrector and --best-pairs exclude each other", fix="choose one")
    if best:
        return ""
    names = [e.name for e in alike]
    if named is not None and named not in names:
        raise InputError(
            f"--corrector {named!r} is none of these recordings",
            fix=f"choose one of: {', '.join(names)}",
        )
    return named or max(alike, key=_latency).name


def _pairs(
    material: ReportInput, alike: Sequence[Entry], recommended: Sequence[Choice], corrector: str
) -> tuple[list[Score], str]:
    """Every two recordings, the corrector and else the slower one as the slow one.

    Of many every one with the corrector, or where that was asked for the best, and what is
    recommended somewhere.
    """
    order = sorted(alike, key=lambda e: (e.name == corrector, _latency(e)))
    every = list(combinations(order, 2))
    note = ""
    if len(alike) > 2 * _EACH:
        by_score = sorted(alike, key=lambda e: (-e.score.log_auc, e.name))[:_EACH]
        by_judgment = sorted(alike, key=lambda e: (-e.score.untimed, e.name))[:_EACH]
        best = {e.name for e in (*by_score, *by_judgment)}
        partners = {frozenset(c.best.members) for c in recommended if len(c.best.members) == 2}
        every = [
            (f, s)
            for f, s in every
            if (s.name == corrector if corrector else {f.name, s.name} <= best)
            or frozenset((f.name, s.name)) in partners
        ]
        which = (
            f"every one is paired with {corrector}"
            if corrector
            else f"the {_EACH} best by integrated score and the {_EACH} best by untimed accuracy are"
            " paired, as asked for"
        )
        note = (
            f"Of {plural(len(alike), 'recording')}, {which}, and whatever pair is recommended somewhere;"
            " `sdb compose --all` composes every pair."
        )
    place = {e.name: k for k, e in enumerate(order)}
    found = composed(
        [e.recording for e in order],
        material.suite,
        RULES,
        material.interval,
        material.bounds,
        ordered=[(place[f.name], place[s.name]) for f, s in every],
    )
    given = {e.name: i for i, e in enumerate(material.entries)}
    return sorted(found, key=lambda p: (place[p.fast], given[p.slow])), note


def _method(sure: ScoreIntervals) -> str:
    s = sure.sampling
    how = resampled(sure.drawn, s.block, s.resamples, s.seed)
    return f"{100 * s.level:g} % bootstrap intervals: {how}"


def _each(material: ReportInput, prices: PriceTable, say: Say) -> dict[str, dict[str, Any]]:
    """Recordings do not depend on each other: with many of them, all processors work."""
    work = partial(_own, prices=prices, interval=material.interval)
    entries = material.entries
    many = (
        len(entries) > _SERIAL
        and "fork" in multiprocessing.get_all_start_methods()
        and threading.active_count() == 1
    )
    found = {}
    with ExitStack() as stack:
        done: Iterator[dict[str, Any]] = map(work, entries)
        if many:
            fork = multiprocessing.get_context("fork")
            done = stack.enter_context(ProcessPoolExecutor(mp_context=fork)).map(work, entries)
        for place, entry in enumerate(entries):
            say(f"latency, pace, schedules {place + 1}/{len(entries)}")
            found[entry.name] = next(done)
    return found


def _own(entry: Entry, *, prices: PriceTable, interval: float) -> dict[str, Any]:
    """What is found about one recording by itself, by the analysis that finds it."""
    line = find_line(prices, entry.recording)
    # A model sold as a decision model decodes no text.
    decode = has_decode(entry.recording) and not (line and line.provider in NO_TEXT)
    options: dict[str, dict[str, Any]] = {
        "network": {"decode": decode, "interval": interval},
        "pace": {"own": interval},
        "sensitivity": {"interval": interval},
        "schedules": {"draws": DRAWS, "interval": interval},
        "transitions": {},
    }
    found = {}
    for name, given in options.items():
        try:
            found[name] = EACH[name].compute(entry, **given)
        except InputError:
            if name != "network":
                raise
            found[name] = None  # not every response carries token counts
    return found


def _between(material: ReportInput) -> dict[str, Any]:
    """Of two recordings of the same scenarios: the states that differ, and where time was lost."""
    if len(material.entries) != 2:
        return {}
    first, second = material.entries
    if set(first.recording.episodes) != set(second.recording.episodes):
        return {}
    names = (first.label, second.label)
    return {
        "flips": flipped_states(first.recording, second.recording, material.suite, names),
        "causes": causes_between(first.score, second.score, material.bounds),
    }


def _calibrations(material: ReportInput, remarks: list[str]) -> dict[str, Calibration]:
    """Of recordings whose answers carry confidences; nothing is made up for the others."""
    found: dict[str, Calibration] = {}
    silent = []
    for entry in material.entries:
        if entry.recording.policy_applied:
            remarks.append(
                f"{entry.name}: no calibration: not its answers alone decide what is in force."
            )
            continue
        answers = answers_of(entry.recording, material.suite)
        if answers.confidence is None:
            silent.append(entry.name)
            continue
        try:
            found[entry.name] = calibration(answers, material.interval)
        except InputError as error:
            remarks.append(f"{entry.name}: no calibration: {error.what}.")
    if silent and len(silent) == len(material.entries):
        remarks.append(
            "No recording carries confidences, so nothing is said about calibration, and no gate and"
            " no asking when unsure could be weighed."
        )
    elif silent:
        remarks.append(f"No confidences, so no calibration: {', '.join(silent)}.")
    return found


def _paired(alike: Sequence[Entry], pairings: Sequence[Score], corrector: str) -> list[Paired]:
    """Everybody with the corrector; of pairs asked for by outcome the best; without pairs the first given."""
    parts = {e.name: e.score.parts for e in alike}
    fresh = [p for p in pairings if p.rule == "freshest"]
    if not fresh:
        names = list(combinations(parts, 2))[:_COMPARED]
    elif corrector:
        names = [(p.fast, p.slow) for p in fresh if p.slow == corrector]
    else:
        best = sorted(fresh, key=lambda p: (-p.log_auc, p.fast, p.slow))[:_COMPARED]
        names = [(p.fast, p.slow) for p in best]
    return [paired_counts(parts[a], parts[b], (a, b)) for a, b in names]


def _window(
    material: ReportInput, shown: Sequence[Entry], scenario: str | None, remarks: list[str]
) -> Window | None:
    """Ten steps (or a whole short scenario) where they represent the settings best."""
    steps = min(_WINDOW_STEPS, *(part.n for entry in shown for part in entry.score.parts))
    try:
        return choose_window(
            {e.name: e.score.parts for e in shown},
            scenario=scenario,
            seconds=steps * material.interval,
            interval=material.interval,
        )
    except InputError as error:
        remarks.append(f"No trajectory: {error.what}.")
        return None
