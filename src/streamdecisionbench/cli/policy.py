"""`sdb policy`: what an application does with answers, one module per subcommand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamdecisionbench.cli.options import (
    Block,
    Csv,
    Data,
    FixedInterval,
    IntegrateBounds,
    PlainJson,
    Prices,
    Resamples,
    Runs,
    Seed,
    Weighting,
)
from streamdecisionbench.scoring.bounds import DEFAULT_BOUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamdecisionbench.analysis.candidates import PolicyCandidate
    from streamdecisionbench.analysis.policy_search import PolicySearch
    from streamdecisionbench.cli.loading import Subject
    from streamdecisionbench.rules.policy_file import Policy
    from streamdecisionbench.scoring.policy_answers import Answers


# `sdb policy score`: what a policy keeps in force on recorded answers.


def score(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="A policy file (TOML).")],
    runs: Runs,
    data: Data = None,
    interval: FixedInterval = 2.0,
    bounds: IntegrateBounds = DEFAULT_BOUNDS,
    weighting: Weighting = "log",
    prices: Prices = None,
    costs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Also what being wrong costs: a cost file (TOML), or default."
        ),
    ] = None,
    theta: Annotated[
        float, typer.Option(help="With --costs: seconds from which a wrong spell counts as long.")
    ] = 4.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-policy/1.")] = False,
    as_csv: Csv = False,
) -> None:
    """Replay a policy on recordings: in force, classes, cost, and what became of the answers.

    A cascade takes one recording per component: those with its names, or as many as it has, in its
    order. Any other policy is scored on every recording by itself.
    """
    from contextlib import suppress
    from itertools import zip_longest

    from streamdecisionbench.analysis.policy_search import (
        counts_table,
        levels_table,
        live_lines,
        scores_table,
        wrong_time_tables,
    )
    from streamdecisionbench.analysis.token_cost import request_costs
    from streamdecisionbench.cli.loading import costs_for, load, open_runs, require_one_suite
    from streamdecisionbench.cli.printing import (
        Heading,
        dump,
        print_csv,
        print_tables,
        require_one_form,
    )
    from streamdecisionbench.recording.prices import read_prices
    from streamdecisionbench.rules.policy_file import read_policy
    from streamdecisionbench.scoring.json import policies_to_json
    from streamdecisionbench.scoring.policy_replay import MissingAnswersError
    from streamdecisionbench.scoring.policy_score import (
        PolicyScore,
        live_policy,
        score_policy_recordings,
    )

    require_one_form(as_json, as_csv)
    wanted = read_policy(policy)
    table = read_prices(prices)
    subjects = open_runs(runs, data)
    require_one_suite(subjects)
    rules = None if costs is None else costs_for(costs, subjects)

    def scored(which: Policy, group: Sequence[Subject]) -> PolicyScore:
        held = group[0].recording.episodes
        episodes = [e for e in group[0].suite.scenarios if e in held]
        return score_policy_recordings(
            which,
            [s.recording for s in group],
            group[0].suite,
            interval=interval,
            bounds=bounds,
            weighting=weighting,
            costs=[request_costs(s.recording, table, episodes) for s in group],
            error_costs=rules,
            theta=theta,
        )

    groups = assign(wanted, subjects)
    scores = [scored(wanted, group) for group in groups]
    live = [live_policy(one, suite) for one, suite in load(runs, data) if one.policy is not None]
    if as_json:
        dump(policies_to_json(scores, live))
        return
    plain: list[PolicyScore] = []
    with suppress(MissingAnswersError):  # a live recording may lack what the plain policy asks
        plain = [scored(_plain(wanted), group) for group in groups]
    both = [one for pair in zip_longest(plain, scores) for one in pair if one is not None]
    tables = [scores_table(both, table.currency)]
    if rules is not None:
        tables += wrong_time_tables(both)
    if as_csv:
        print_csv(tables)
        return
    if len(scores) == 1:
        tables[1:1] = [levels_table(scores[0], *plain), counts_table(scores[0])]
    headings = []
    for one, group in zip(scores, groups, strict=True):
        said = [note for s in group for note in _notes(s)]
        notes = tuple(dict.fromkeys((*said, *one.notes)))
        headings.append(Heading(" + ".join(one.components), one.signature, notes))
    print_tables(tables, headings, [line for one in live for line in live_lines(one)])


def assign(policy: Policy, subjects: Sequence[Subject]) -> list[list[Subject]]:
    """Which recordings play which component; one group per score."""
    from streamdecisionbench.errors import InputError

    if policy.cascade is None or policy.count == 1:
        return [[s] for s in subjects]
    names = policy.cascade.components
    named = {s.name: s for s in subjects}
    if all(name in named for name in names):
        return [[named[name] for name in names]]
    misplaced = [
        s.name
        for s, name in zip(subjects, names, strict=False)
        if s.name in names and s.name != name
    ]
    if len(subjects) != len(names) or misplaced:
        raise InputError(
            f"the policy's components are {', '.join(names)}; the recordings are"
            f" {', '.join(named)}",
            where=policy.name,
            fix="give one recording per component, in the policy's order or with its names",
        )
    return [list(subjects)]


def _notes(subject: Subject) -> Sequence[str]:
    """What must be known of a recording; one with gaps has no plain score that could say it."""
    from streamdecisionbench.recording.conditions import remarks, source_notes

    recording = subject.recording
    if any(episode.gaps for episode in recording.episodes.values()):
        sources = source_notes(simulated=recording.simulated, virtual_clock=recording.virtual_clock)
        return [*remarks(recording.config), *sources]
    return subject.heading().notes


def _plain(policy: Policy) -> Policy:
    """What the same components do without a policy: all are asked, the newest answer counts."""
    from dataclasses import replace

    from streamdecisionbench.rules.policy_file import Policy

    if policy.cascade is None:
        return Policy()
    return Policy(cascade=replace(policy.cascade, ask="always", below=0.0, rule="freshest"))


# `sdb policy search`: which policy to use at a pace, chosen on some scenarios, judged on others.


def search(
    runs: Runs,
    interval: Annotated[float, typer.Option(help="Your pace: seconds between states.")],
    budget: Annotated[
        float | None,
        typer.Option(metavar="MONEY", help="At most this per hour of stream at that pace."),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            help="Arbitration: freshest, lag-one, late-override or all; freshest otherwise, and"
            " what is recommended is weighed under all."
        ),
    ] = None,
    thresholds: Annotated[int, typer.Option(min=1, help="Confidence thresholds to try.")] = 20,
    prices: Prices = None,
    data: Data = None,
    block: Block = 10,
    resamples: Resamples = 5000,
    seed: Seed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-policy/1.")] = False,
    as_csv: Csv = False,
) -> None:
    """Search singles, pairs and cascades of three with gates and expiries at your pace.

    Thresholds are chosen on half of the scenarios and reported on the other half, both ways. What
    does not beat the plain policy beyond its interval is not recommended.
    """
    from streamdecisionbench.analysis.bootstrap import Sampling
    from streamdecisionbench.analysis.candidates import everybody, priced_answers
    from streamdecisionbench.analysis.choose import Budget, Terms, decide
    from streamdecisionbench.analysis.policy_search import (
        chosen_line,
        frontier_table,
        search_lines,
        steps_table,
    )
    from streamdecisionbench.analysis.policy_search import search as find
    from streamdecisionbench.analysis.token_cost import known_costs
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import dump, print_csv, print_tables, require_one_form
    from streamdecisionbench.cli.progress import working
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.recording.prices import read_prices
    from streamdecisionbench.scoring.pairs import chosen_rules

    require_one_form(as_json, as_csv)
    if budget is not None and not budget >= 0:
        raise InputError(f"--budget {budget:g} is not an amount of money")
    table = read_prices(prices)
    subjects = open_runs(runs, data)
    require_one_suite(subjects)
    components = [priced_answers(s.recording, s.suite, table) for s in subjects]
    with working(f"trying policies on {len(components)} recordings"):
        found = find(
            components,
            interval,
            budget=budget,
            rule=rule or "freshest",
            thresholds=thresholds,
            currency=table.currency,
            sampling=Sampling(block, resamples, seed),
        )
    costs, _ = known_costs({s.name: s.recording for s in subjects}, table)
    simulated = [s.name for s in subjects if s.recording.simulated]
    field = everybody({s.name: s.parts for s in subjects}, costs, simulated, components)
    terms = Terms(
        Budget(budget), rules=chosen_rules(rule or "all"), sampling=Sampling(block, resamples, seed)
    )
    choice = decide(field, interval, terms)
    lines = [*search_lines(found, simulated=bool(simulated)), chosen_line(choice)]
    if as_json:
        document = _document(found, components, simulated=bool(simulated))
        best = choice.best
        document["search"] |= {
            "choice": {"name": best.name, "components": best.members, "policy": best.policy},
            "words": lines,
        }
        dump(document)
        return
    tables = [
        steps_table(found),
        *([frontier_table(found, every=as_csv)] if found.frontier else []),
    ]
    if as_csv:
        print_csv(tables)
        return
    headings = [s.heading(interval=interval, clock="nominal") for s in subjects]
    print_tables(tables, headings, lines)


def _document(found: PolicySearch, components: list[Answers], *, simulated: bool) -> dict[str, Any]:
    """The scores of what was found in full, then how it was found."""
    from dataclasses import replace

    from streamdecisionbench.cli.printing import plain
    from streamdecisionbench.scoring.json import policies_to_json
    from streamdecisionbench.scoring.policy_score import score_policy

    named = {one.name: one for one in components}
    chosen: dict[str, PolicyCandidate] = {}
    for step in (found.plain, found.together, found.best):
        chosen.setdefault(step.candidate.name, step.candidate)
    scores = [
        replace(
            score_policy(c.policy, [named[m] for m in c.members], interval=found.interval),
            simulated=simulated,
        )
        for c in chosen.values()
    ]

    def brief(c: PolicyCandidate) -> dict[str, Any]:
        return {
            "name": c.name,
            "components": list(c.members),
            "policy": c.policy.to_json(),
            "cost_per_hour": c.per_hour,
        }

    return {
        **policies_to_json(scores),
        "search": {
            "interval": found.interval,
            "budget": found.budget,
            "currency": found.currency,
            "tried": found.tried,
            "within_budget": found.within_budget,
            "halves": [list(half) for half in found.halves],
            "winner": None if found.winner is None else brief(found.winner),
            "steps": {
                name: {
                    **brief(step.candidate),
                    "held_out": plain(step.held_out),
                    "by_half": [brief(c) for c in step.by_half],
                }
                for name, step in (
                    ("plain", found.plain),
                    ("together", found.together),
                    ("best", found.best),
                )
            },
            "gain": plain(found.gain),
            "together_gain": plain(found.together_gain),
            "policy_gain": plain(found.policy_gain),
            "frontier": [
                {**brief(p.candidate), "seen": p.seen, "held_out": p.held_out}
                for p in found.frontier
            ],
            "without_confidence": list(found.without_confidence),
        },
    }


# `sdb policy show`: a policy file in plain words.


def show(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="A policy file (TOML).")],
    as_json: PlainJson = False,
) -> None:
    """Check a policy file and say in plain words what it does."""
    from streamdecisionbench.analysis.candidates import policy_lines
    from streamdecisionbench.cli.printing import dump, print_tables
    from streamdecisionbench.rules.policy_file import read_policy

    found = read_policy(policy)
    if as_json:
        dump({"name": found.name, "policy": found.to_json(), "words": policy_lines(found)})
        return
    lines = policy_lines(found)
    needs = [
        name
        for name, needed in zip(
            found.cascade.components if found.cascade else ("the component",),
            found.confident(),
            strict=True,
        )
        if needed
    ]
    if needs:
        lines.append(f"Needs confidences of {', '.join(needs)}.")
    print_tables([], lines=lines)


HELP = "Policies: gates, expiry, debounce, dispatch, cascades."
COMMANDS = {
    "show": show,
    "score": score,
    "search": search,
}
