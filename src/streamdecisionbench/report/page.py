"""What the page shows: scores with their recordings, and whatever analyses were made beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from streamdecisionbench._version import __version__
from streamdecisionbench.analysis.choose import METHOD, Candidate, Choice, choice_lines
from streamdecisionbench.analysis.flips import (
    KINDS,
    Causes,
    Flips,
    cause_line,
    decision_words,
    flip_summary,
    loss_lines,
)
from streamdecisionbench.analysis.token_cost import Cost
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    NOTHING,
    Timeline,
)
from streamdecisionbench.kernel.classes import CLASSES
from streamdecisionbench.kernel.rule import (
    REACH,
    spelled,
)
from streamdecisionbench.kernel.shares import Shares
from streamdecisionbench.recording.event_log import AFTER_HORIZON
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.html_page import (
    Json,
    asset,
    classes,
    one_file,
)
from streamdecisionbench.render.table import percent
from streamdecisionbench.report.report_data import Entry, ReportInput, ReportResults, family_name
from streamdecisionbench.scoring.error_costs import (
    CostRates,
    CostScore,
)
from streamdecisionbench.scoring.result import Level
from streamdecisionbench.scoring.score import Score
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.suite_files import other_suite_error


@dataclass(frozen=True, slots=True)
class PageInputs:
    """Everything on one page: scored recordings, and whatever was found beside them."""

    material: ReportInput
    findings: ReportResults = field(default_factory=ReportResults)
    pairs: Sequence[Score] = ()
    """Those shown. Both components are recordings of the page, which replays them together itself."""
    pair_costs: Mapping[tuple[str, str, str], CostRates] = field(default_factory=dict)
    """What being wrong costs a pair at the report's interval, by fast and slow component and rule."""
    notes: Sequence[str] = ()
    """Further remarks for "How it was made"."""


def check(inputs: PageInputs) -> None:
    """Refuses what one page cannot compare."""
    suite = inputs.material.suite
    if not inputs.material.entries:
        raise InputError("there is nothing to report", fix="give at least one recording")
    seen: set[str] = set()
    for entry in inputs.material.entries:
        recording = entry.recording
        if entry.name in seen:
            raise InputError(f"two recordings are called {entry.name!r}", fix="rename one")
        seen.add(entry.name)
        if recording.dataset_hash not in ("", suite.dataset_hash):
            raise other_suite_error(
                recording.dataset_hash,
                suite.dataset_hash,
                where=recording.path or entry.name,
                fix="make one report per suite",
            )
        for part in entry.parts:
            episode = recording.episodes.get(part.episode_id)
            whole = episode is not None and len(episode.responses) == part.n
            if not whole and part.effects is None:
                raise InputError(
                    f"{entry.name!r} does not hold one answer per step of {part.episode_id}",
                    where=recording.path,
                    fix="show a live pair by its halves and as a pair",
                )
    known = {(pair.fast, pair.slow, pair.rule) for pair in inputs.pairs}
    for pair in inputs.pairs:
        for member in (pair.fast, pair.slow):
            if member not in seen:
                raise InputError(f"the recording {member!r} of a pair is missing")
    for choice in inputs.findings.choices:
        best = choice.best
        if best.rule is not None and (*best.members, best.rule) not in known:
            raise InputError(f"the recommended pair {best.name!r} is not on the page")


# The page's payload: arrays the page re-scores itself, and the figures that do not move with Δ.
#
# Instead of curves the page gets what the scorer gets: releases, latencies and decision ids, four
# numbers a step. Its own scorer (assets/scorer.js) is the same O(n) replay, so every number follows
# the interval exactly, and thirty recordings stay well under a megabyte.


SCHEMA = "sdb-page/1"

_DECIMALS = 12
"""Times are written to a picosecond: far below what a printed digit can see."""


def payload(inputs: PageInputs) -> Json:
    """Everything the page needs, as plain JSON."""
    check(inputs)
    material, findings = inputs.material, inputs.findings
    suite, families = material.suite, material.families
    used = {name for entry in material.entries for name in entry.score.by_scenario}
    scenarios = [s for s in suite if s.episode_id in used]
    tables = {s.episode_id: _Decisions(s) for s in scenarios}
    recordings = [_recording(entry, findings, tables) for entry in material.entries]
    return {
        "schema": SCHEMA,
        "sdb": __version__,
        "suite": {
            "name": suite.name,
            "hash": suite.dataset_hash,
            "scenarios": len(suite.scenarios),
        },
        "interval": material.interval,
        "bounds": [material.bounds.low, material.bounds.high],
        "weighting": material.bounds.weighting,
        "alone": material.fixed_pace,
        "outcomes": [
            {
                "title": table.title,
                "columns": [c.heading for c in table.columns],
                "rows": table.texts(),
                "notes": list(table.notes),
            }
            for table in material.labelled(findings.outcomes).values()
        ],
        # A recording whose states were published late is re-paced from its plan, and says so itself.
        "clock": "+".join(dict.fromkeys(score.clock for score in material.scores)),
        "classes": [one for one in classes(CLASSES) if "never" not in one],
        "families": [{"id": f, "name": family_name(f)} for f in families],
        "scenarios": [_scenario(s, tables[s.episode_id], families) for s in scenarios],
        "recordings": recordings,
        "rangesMethod": findings.ranges_method,
        "costFile": _cost_file(findings.errors.scores),
        "costWords": list(findings.errors.words),
        "pairs": [
            {
                **_pair(pair),
                "price": _rates(inputs.pair_costs.get((pair.fast, pair.slow, pair.rule))),
            }
            for pair in inputs.pairs
        ],
        "answers": [_answer(choice) for choice in findings.choices],
        "answersMethod": METHOD,
        "differences": _differences(findings.flips, findings.causes),
        "notes": list(inputs.notes),
    }


class _Decisions:
    """Composed decisions of one scenario by id: those of the reference first, then as they appear."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.ids: dict[tuple[tuple[str, str], ...], int] = {}
        self.reference = [self.id(decision) for decision in scenario.reference()]

    def id(self, decision: Mapping[str, str]) -> int:
        return self.ids.setdefault(tuple(decision.items()), len(self.ids))

    def listed(self) -> list[list[list[str]]]:
        return [[list(pair) for pair in decision] for decision in self.ids]


def _scenario(scenario: Scenario, table: _Decisions, families: list[str]) -> Json:
    return {
        "id": scenario.episode_id,
        "title": scenario.title,
        "family": families.index(scenario.task_family),
        "tick": scenario.tick_seconds,
        # Only of scenarios with times of their own: when each step is published, in ticks.
        **({"rhythm": _times(scenario.planned(1.0))} if scenario.published_s else {}),
        "reference": table.reference,
        "decisions": table.listed(),
        "evidence": [list(step.evidence) for step in scenario.steps],
    }


def _recording(entry: Entry, findings: ReportResults, tables: dict[str, _Decisions]) -> Json:
    recording, score = entry.recording, entry.score
    ci = findings.ranges.get(entry.name)
    cost = findings.costs.get(entry.name)
    price = findings.errors.scores.get(entry.name)
    return {
        "name": score.name,
        "signature": score.signature,
        "notes": list(score.notes),
        "simulated": score.simulated,
        "virtual": score.virtual_clock,
        "models": list(recording.served_models),
        "overall": _level(score.overall),
        "families": {name: _level(level) for name, level in score.by_family.items()},
        "levels": {name: _level(level) for name, level in score.by_scenario.items()},
        "range": list(ci) if ci else None,
        "parts": [_part(part, recording, tables[part.episode_id]) for part in score.parts],
        "latency": _latency(recording, score),
        "reliability": asdict(score.reliability) if score.reliability else None,
        "physical": _number(score.overall.physical.in_force) if score.overall.physical else None,
        "cost": _cost(cost) if cost else None,
        "price": _rates(price.overall.at_interval if price else None),
    }


def _rates(rates: CostRates | None) -> Json | None:
    """What being wrong costs a second at the report's interval."""
    return None if rates is None else {**asdict(rates), "total": rates.total}


def _differences(flips: Flips | None, causes: Causes | None) -> Json | None:
    """States the two recordings decide differently, in words."""
    if flips is None:
        return None
    return {
        "first": flips.first,
        "second": flips.second,
        "summary": flip_summary(flips),
        "causes": cause_line(causes) if causes else "",
        "lost": list(loss_lines(causes)) if causes else [],
        "rows": [
            [
                f"{flip.scenario} {flip.step}", KINDS[flip.kind], decision_words(flip.reference),
                decision_words(flip.first), decision_words(flip.second), "; ".join(flip.evidence),
            ]
            for flip in flips.found
        ],
    }  # fmt: skip


def _cost_file(found: Mapping[str, CostScore]) -> Json | None:
    first = next(iter(found.values()), None)
    return {"name": first.costs, "dated": first.dated} if first else None


def _level(level: Level) -> Json:
    """What does not move with the interval."""
    return {
        "auc": _number(level.log_auc),
        "untimed": level.untimed,
        "integrated": _shares(level.integrated),
    }


def _shares(shares: Shares) -> Json:
    return {
        "classes": [getattr(shares, name) for name in CLASSES],
        "segment": shares.segment_in_force,
        "product": shares.product,
    }


def _part(part: Timeline, recording: Recording, table: _Decisions) -> Json:
    compose, answers = table.scenario.decision_spec.compose, recording.answers(part.episode_id)
    said = {t: table.id(compose(r.pred)) for t, r in answers.items()}
    return {
        "scenario": part.episode_id,
        "tick": part.tick,
        "release": _times(part.release.tolist()),
        # What nobody was asked about never arrives.
        "latency": _times(
            [
                latency if t in said else part.horizon
                for t, latency in enumerate(part.latency.tolist())
            ]
        ),
        "predicted": [said.get(t, NOTHING) for t in range(part.n)],
        **_effects(part, recording, table),
    }


def _effects(part: Timeline, recording: Recording, table: _Decisions) -> Json:
    """What a rule or a policy let take effect, and how many answers did, did not, and came too late."""
    if part.effects is None:
        return {}
    step, decision, begin = (values.tolist() for values in part.effects)
    responses = recording.episodes[part.episode_id].responses
    accepted = sum(r.accepted for r in responses)
    late = sum(r.discard_reason == AFTER_HORIZON for r in responses)
    found = {
        "step": step,
        "decision": [NOTHING if d < 0 else table.id(part.values[d]) for d in decision],
        "from": _times(begin),
        "counts": [accepted, len(responses) - accepted - late, late],
    }
    return {"effects": found}


def _times(values: list[float]) -> list[float]:
    return [round(value, _DECIMALS) for value in values]


def _latency(recording: Recording, score: Score) -> Json | None:
    """Published quantiles, and the quarters the strip draws between them."""
    if score.latency is None:
        return None
    values = [r.service_s for p in score.parts for r in recording.episodes[p.episode_id].responses]
    p5, p25, p75 = (float(v) for v in np.percentile(values, [5, 25, 75]))
    return {**asdict(score.latency), "p5": p5, "p25": p25, "p75": p75}


def _cost(cost: Cost) -> Json:
    used = cost.tokens
    return {
        "requests": used.requests,
        "input_tokens": used.input_total,
        "cached_tokens": used.cached_total,
        "output_tokens": used.output_total,
        "amount": _number(cost.total),
        "currency": cost.currency,
        "as_of": cost.as_of,
        "note": "",
    }


def _pair(pair: Score) -> Json:
    return {
        "fast": pair.fast,
        "slow": pair.slow,
        "rule": spelled(pair.rule),
        "reach": REACH[pair.rule],
        "simulated": pair.simulated,
        "virtual": pair.virtual_clock,
        "overall": _pair_level(pair.overall),
        "families": {name: _pair_level(level) for name, level in pair.by_family.items()},
        "levels": {name: _pair_level(level) for name, level in pair.by_scenario.items()},
        "facts": [
            ["slow share (%)", percent(pair.slow_share)],
            ["corrections", str(pair.counts.corrections)],
            ["regressions", str(pair.counts.regressions)],
        ],
    }


def _pair_level(level: Level) -> Json:
    """A pair has no untimed answer of its own."""
    return {"auc": level.log_auc, "untimed": None, "integrated": _shares(level.integrated)}


def _answer(choice: Choice) -> Json:
    """The words as they are said elsewhere, and what the page needs to point at their subject."""
    best = choice.best
    return {
        "d": choice.interval,
        "best": best.name,
        "members": list(best.members),
        "rule": spelled(best.rule) if best.rule else None,
        "policy": best.policy,
        "plain": _plain(best),
        "value": best.in_force.value,
        "lines": choice_lines(choice),
    }


def _plain(best: Candidate) -> str:
    """What the page draws for it: the same components without a policy."""
    if best.policy is None:
        return best.name
    rule = best.policy.get("cascade", {}).get("rule")
    return " + ".join(best.members) + (f" ({spelled(rule)})" if rule else "")


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


# From payload to one HTML file: styles, scripts and data inline, and nothing else to load.


_SCRIPTS = (
    "scorer.js", "state.js", "axes.js", "tracks.js", "strips.js",
    "leaderboard.js", "answer.js", "curves.js", "costs.js", "lanes.js", "lanes_input.js",
    "latency.js", "separability.js", "pairs.js", "tables.js", "main.js",
)  # fmt: skip
"""In order of use; each adds its part to one object, `sdb`."""
_DRAWING = ("axes.js", "tracks.js", "strips.js")
"""Scripts that other pages share."""


def render_page(inputs: PageInputs) -> str:
    """The whole page as text; the same inputs leave the same bytes."""
    return one_file(
        asset("report.html", "report"),
        payload(inputs),
        title="StreamDecisionBench report",
        skip="leaderboard",
        scripts=[asset(name, "render" if name in _DRAWING else "report") for name in _SCRIPTS],
    )
