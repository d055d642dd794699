"""`sdb policy score`: what a policy keeps in force on recorded answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.cli.options import (
    DEFAULT_BOUNDS,
    Csv,
    Data,
    FixedInterval,
    IntegrateBounds,
    Prices,
    Runs,
    Weighting,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamdecisionbench.cli.loading import Subject
    from streamdecisionbench.policy_file import Policy


def register(app: typer.Typer) -> None:
    app.command("score")(score)


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

    from streamdecisionbench.analysis.policy_tables import (
        counts_table,
        levels_table,
        live_lines,
        scores_table,
        wrong_time_tables,
    )
    from streamdecisionbench.analysis.token_cost import request_costs
    from streamdecisionbench.cli.courses import costs_for
    from streamdecisionbench.cli.loading import load, open_runs, require_one_suite
    from streamdecisionbench.cli.printing import (
        Heading,
        dump,
        print_csv,
        print_tables,
        require_one_form,
    )
    from streamdecisionbench.policy_file import read_policy
    from streamdecisionbench.recording.prices import read_prices
    from streamdecisionbench.scoring.policies.live import live_policy
    from streamdecisionbench.scoring.policies.policy_json import policies_to_json
    from streamdecisionbench.scoring.policies.requests import MissingAnswersError
    from streamdecisionbench.scoring.policies.score_policy import (
        PolicyScore,
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

    from streamdecisionbench.policy_file import Policy

    if policy.cascade is None:
        return Policy()
    return Policy(cascade=replace(policy.cascade, ask="always", below=0.0, rule="freshest"))
