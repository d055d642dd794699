"""`sdb policy`: what an application does with answers, one module per subcommand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamdecisionbench.cli import choose, options
from streamdecisionbench.cli.options import Csv, Data, Prices, Runs
from streamdecisionbench.scoring.pace_bounds import DEFAULT_BOUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamdecisionbench.analysis.candidates import Tried
    from streamdecisionbench.analysis.policy_search import PolicySearch
    from streamdecisionbench.cli.loading import Subject
    from streamdecisionbench.rules.policy_file import Policy


# `sdb policy score`: what a policy keeps in force on recorded answers.


def score(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="A policy file (TOML).")],
    runs: Runs,
    data: Data = None,
    interval: options.FixedInterval = 2.0,
    bounds: options.IntegrateBounds = DEFAULT_BOUNDS,
    weighting: options.Weighting = "log",
    prices: Prices = None,
    costs: choose.CostsGiven = None,
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
    from dataclasses import replace
    from itertools import zip_longest

    from streamdecisionbench.analysis import policy_tables
    from streamdecisionbench.analysis.token_cost import request_costs
    from streamdecisionbench.cli import printing
    from streamdecisionbench.cli.loading import (
        costs_for,
        load,
        open_runs,
        require_one_suite,
        require_open_loop,
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

    printing.require_one_form(as_json, as_csv)
    wanted = read_policy(policy)
    table = read_prices(prices)
    subjects = open_runs(runs, data)
    lived = [s.recording for s in subjects if s.recording.lived_at_s is not None]
    other = [r for r in lived if r.policy is None or replace(r.policy, name=wanted.name) != wanted]
    require_open_loop(other, "under another policy", "--policy FILE")
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
        printing.dump(policies_to_json(scores, live))
        return
    plain: list[PolicyScore] = []
    with suppress(MissingAnswersError):  # a live recording may lack what the plain policy asks
        plain = [] if lived else [scored(_plain(wanted), group) for group in groups]
    both = [one for pair in zip_longest(plain, scores) for one in pair if one is not None]
    tables = [policy_tables.scores_table(both, table.currency)]
    if rules is not None:
        tables += policy_tables.wrong_time_tables(both)
    if as_csv:
        printing.print_csv(tables)
        return
    if len(scores) == 1:
        levels = policy_tables.levels_table(scores[0], *plain)
        tables[1:1] = [levels, policy_tables.counts_table(scores[0])]
    headings = []
    for one, group in zip(scores, groups, strict=True):
        said = [note for s in group for note in _notes(s)]
        notes = tuple(dict.fromkeys((*said, *one.notes)))
        headings.append(printing.Heading(" + ".join(one.components), one.signature, notes))
    lines = [line for one in live for line in policy_tables.live_lines(one)]
    printing.print_tables(tables, headings, lines)


def assign(policy: Policy, subjects: Sequence[Subject]) -> list[list[Subject]]:
    """Which recordings play which component; one group per score."""
    from streamdecisionbench.errors import InputError

    names = () if policy.cascade is None else policy.cascade.components
    named = {s.name: s for s in subjects}
    if names and all(name in named for name in names):
        return [[named[name] for name in names]]
    if policy.count == 1:
        return [[s] for s in subjects]
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
    from streamdecisionbench.recording.notes import remarks, source_notes

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


# `sdb policy search`: the choice from the side of money and numbers, with all that was tried.


def search(
    runs: Runs,
    interval: choose.Pace,
    budget: choose.PerHour = None,
    budget_per_1000: choose.Per1000 = None,
    pairs: choose.WithPairs = True,
    rule: Annotated[
        str | None,
        typer.Option(
            help="Arbitration: freshest, lag-one, late-override or all; freshest otherwise, and"
            " what is recommended is weighed under all."
        ),
    ] = None,
    min_gain: choose.MinGain = 1.0,
    thresholds: choose.Thresholds = 20,
    prices: Prices = None,
    data: Data = None,
    error_costs: choose.CostsGiven = None,
    block: options.Block = 10,
    resamples: options.Resamples = 5000,
    seed: options.Seed = 0,
    top: choose.Top = 10,
    every: choose.All = False,
    write: choose.Write = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print schema sdb-policy/1.")] = False,
    as_csv: Csv = False,
) -> None:
    """Search singles, pairs and cascades of three with gates and expiries at your pace.

    Recommends what sdb choose recommends. Thresholds are chosen on half of the scenarios and judged
    on the other half, both ways.
    """
    from streamdecisionbench.analysis.bootstrap import Sampling
    from streamdecisionbench.analysis.policy_search import frontier_table, steps_table, tried_lines
    from streamdecisionbench.analysis.policy_search import search as find
    from streamdecisionbench.cli.printing import dump, print_csv, print_tables, require_one_form
    from streamdecisionbench.cli.progress import working
    from streamdecisionbench.scoring.pairs import chosen_rules

    require_one_form(as_json, as_csv)
    asked = choose.weighing(
        runs, data, interval, prices, (budget, budget_per_1000), write,
        thresholds=thresholds, min_gain=min_gain / 100, rules=chosen_rules(rule or "all"),
        pairs=pairs, sampling=Sampling(block, resamples, seed),
    )  # fmt: skip
    with working(f"trying policies on {len(asked.subjects)} recordings"):
        found = find(asked.field, interval, asked.terms, chosen_rules(rule or "freshest"))
    written = asked.written(found.choice)
    tried = [steps_table(found, every=as_csv)]
    tried += [frontier_table(found, every=as_csv)] if found.frontier else []
    if as_csv:
        print_csv(tried)
        return
    said = [*tried_lines(found), *choose.written_line(written, found.choice)]
    lines = asked.words(found.choice, said)
    if as_json:
        document = _document(found, asked)
        document["search"] |= {"words": lines} | ({} if written is None else {"written": written})
        dump(document)
        return
    tables = asked.tables(found.choice, error_costs, top, every=every, by_money=True)
    tables += tried if every else []
    print_tables(tables, asked.headings(), [*lines, *asked.remarks])


def _document(found: PolicySearch, asked: choose.Weighing) -> dict[str, Any]:
    """The scores of what was found in full, then how it was found."""
    from dataclasses import replace

    from streamdecisionbench.analysis.candidates import priced_answers
    from streamdecisionbench.cli.printing import plain
    from streamdecisionbench.scoring.json import policies_to_json
    from streamdecisionbench.scoring.policy_score import score_policy

    chosen = {step.candidate.name: step.candidate for step in found.steps.values()}
    played = {
        s.name: priced_answers(s.recording, s.suite, asked.prices)
        for s in asked.subjects
        if any(s.name in c.members for c in chosen.values())
    }
    scores = [
        replace(
            score_policy(c.policy, [played[m] for m in c.members], interval=asked.interval),
            simulated=any(s.recording.simulated for s in asked.subjects),
        )
        for c in chosen.values()
    ]

    def brief(one: Tried) -> dict[str, Any]:
        return {
            "name": one.name,
            "components": list(one.members),
            "policy": one.policy.to_json(),
            "cost_per_hour": one.per_hour,
        }

    best = found.choice.best
    choice = {
        "name": best.name,
        "components": list(best.members),
        "policy": best.policy,
        "cost_per_hour": best.per_hour,
        "in_force": plain(best.in_force),
    }
    return {
        **policies_to_json(scores),
        "search": {
            "interval": asked.interval,
            "budget": asked.terms.budget.per_hour,
            "currency": asked.terms.currency,
            "tried": found.tried,
            "within_budget": found.within_budget,
            "halves": [list(half) for half in found.halves],
            "winner": None if found.winner is None else choice,
            "steps": {
                name: {
                    **brief(step.candidate),
                    "held_out": plain(step.held_out),
                    "by_half": [brief(c) for c in step.by_half],
                }
                for name, step in found.steps.items()
            },
            **{name: plain(found.gains[name]) for name in ("gain", "together_gain", "policy_gain")},
            "frontier": [
                {**brief(p.candidate), "seen": p.seen, "held_out": p.held_out}
                for p in found.frontier
            ],
            "without_confidence": list(found.without_confidence),
            "choice": choice,
        },
    }


# `sdb policy show`: a policy file in plain words.


def show(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="A policy file (TOML).")],
    as_json: options.PlainJson = False,
) -> None:
    """Check a policy file and say in plain words what it does."""
    from streamdecisionbench.analysis.policy_tables import policy_lines
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
