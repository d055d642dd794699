"""`sdb policy search`: which policy to use at a pace, chosen on some scenarios, judged on others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamdecisionbench.cli.options import Block, Csv, Data, Prices, Resamples, Runs, Seed

if TYPE_CHECKING:
    from streamdecisionbench.analysis.policy_candidates import Candidate
    from streamdecisionbench.analysis.policy_search import PolicySearch
    from streamdecisionbench.scoring.policies.scene import Answers


def register(app: typer.Typer) -> None:
    app.command("search")(search)


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
    from streamdecisionbench.analysis.choose import Budget, Terms, decide
    from streamdecisionbench.analysis.policy_advice import (
        chosen_line,
        frontier_table,
        search_lines,
        steps_table,
    )
    from streamdecisionbench.analysis.policy_contenders import everybody, priced_answers
    from streamdecisionbench.analysis.policy_search import search as find
    from streamdecisionbench.analysis.token_cost import known_costs
    from streamdecisionbench.cli.loading import open_runs, require_one_suite
    from streamdecisionbench.cli.printing import (
        dump,
        print_csv,
        print_tables,
        require_one_form,
    )
    from streamdecisionbench.cli.working import working
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.recording.prices import read_prices
    from streamdecisionbench.scoring.pairs.compose import chosen_rules

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
    from streamdecisionbench.scoring.policies.policy_json import policies_to_json
    from streamdecisionbench.scoring.policies.score_policy import score_policy

    named = {one.name: one for one in components}
    chosen: dict[str, Candidate] = {}
    for step in (found.plain, found.together, found.best):
        chosen.setdefault(step.candidate.name, step.candidate)
    scores = [
        replace(
            score_policy(c.policy, [named[m] for m in c.members], interval=found.interval),
            simulated=simulated,
        )
        for c in chosen.values()
    ]

    def brief(c: Candidate) -> dict[str, Any]:
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
