"""`sdb policy`: what an application does with answers, one module per subcommand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamdecisionbench.cli import (
    choose_command as choose,
)
from streamdecisionbench.cli import (
    options,
)
from streamdecisionbench.cli.options import Csv, Data, Prices, Runs
from streamdecisionbench.kernel.paces import DEFAULT_BOUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamdecisionbench.cli.loading import Subject
    from streamdecisionbench.policies.policy_file import Policy


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

    from streamdecisionbench.analysis.token_cost import request_costs
    from streamdecisionbench.cli import printing
    from streamdecisionbench.cli.loading import (
        costs_for,
        load,
        open_runs,
        require_one_suite,
        require_open_loop,
    )
    from streamdecisionbench.policies.policy_file import read_policy
    from streamdecisionbench.recording.prices import read_prices
    from streamdecisionbench.scoring import policy_tables
    from streamdecisionbench.scoring.policy_replay import MissingAnswersError
    from streamdecisionbench.scoring.policy_score import (
        live_policy,
        score_policy_recordings,
    )
    from streamdecisionbench.scoring.score import Score
    from streamdecisionbench.scoring.score_json import policies_to_json

    printing.require_one_form(as_json, as_csv)
    wanted = read_policy(policy)
    table = read_prices(prices)
    subjects = open_runs(runs, data)
    lived = [s.recording for s in subjects if s.recording.closed_loop_interval_s is not None]
    other = [r for r in lived if r.policy is None or replace(r.policy, name=wanted.name) != wanted]
    require_open_loop(other, "under another policy", "--policy FILE")
    require_one_suite(subjects)
    rules = None if costs is None else costs_for(costs, subjects)

    def scored(which: Policy, group: Sequence[Subject]) -> Score:
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
    plain: list[Score] = []
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
        headings.append(printing.Heading(" + ".join(one.members), one.signature, notes))
    lines = [line for one in live for line in policy_tables.live_lines(one)]
    for one in scores:
        if changed := one.would_help():
            whose = f"{policy_tables.row_name(one)}: " if len(scores) > 1 else ""
            lines.append(f"{whose}At {interval:g} s. {policy_tables.would_help_line(changed)}")
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
    from streamdecisionbench.recording.provenance_notes import (
        remarks,
        source_notes,
        stall_remarks,
    )

    recording = subject.recording
    if any(episode.gaps for episode in recording.episodes.values()):
        sources = source_notes(simulated=recording.simulated, virtual_clock=recording.virtual_clock)
        return [*remarks(recording.config), *stall_remarks(recording), *sources]
    return subject.heading().notes


def _plain(policy: Policy) -> Policy:
    """What the same components do without a policy: all are asked, the newest answer counts."""
    from dataclasses import replace

    from streamdecisionbench.policies.policy_file import Policy

    if policy.cascade is None:
        return Policy()
    return Policy(cascade=replace(policy.cascade, ask="always", below=0.0, rule="freshest"))


# `sdb policy show`: a policy file in plain words.


def show(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="A policy file (TOML).")],
    as_json: options.PlainJson = False,
) -> None:
    """Check a policy file and say in plain words what it does."""
    from streamdecisionbench.cli.printing import dump, print_tables
    from streamdecisionbench.policies.policy_file import read_policy
    from streamdecisionbench.scoring.policy_tables import policy_lines

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
}
