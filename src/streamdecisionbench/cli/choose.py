"""`sdb choose`: which setting, pair or policy to use at your own pace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamdecisionbench.cli.options import (
    Block,
    CostFile,
    Data,
    Json,
    Prices,
    Resamples,
    Runs,
    Seed,
)

if TYPE_CHECKING:
    from streamdecisionbench.analysis.choose import Choice


def choose(
    runs: Runs,
    interval: Annotated[float, typer.Option(help="Your pace: seconds between states.")],
    budget: Annotated[
        float | None,
        typer.Option(metavar="MONEY", help="At most this per hour of stream at that pace."),
    ] = None,
    budget_per_1000: Annotated[
        float | None, typer.Option(metavar="MONEY", help="At most this per 1000 decisions.")
    ] = None,
    prices: Prices = None,
    data: Data = None,
    pairs: Annotated[
        bool, typer.Option("--pairs/--no-pairs", help="Consider fast and slow pairs as well.")
    ] = True,
    policies: Annotated[
        bool,
        typer.Option(
            "--policies/--no-policies",
            help="Consider gates, expiry, debounce, queues and asking when unsure as well.",
        ),
    ] = True,
    rule: Annotated[
        str, typer.Option(help="Arbitration of pairs: freshest, lag-one, late-override or all.")
    ] = "all",
    min_gain: Annotated[
        float,
        typer.Option(
            metavar="POINTS", help="What a dearer or less simple one must gain at the least."
        ),
    ] = 1.0,
    error_costs: CostFile = None,
    block: Block = 10,
    resamples: Resamples = 5000,
    seed: Seed = 0,
    top: Annotated[int, typer.Option(help="How many candidates the table shows.")] = 10,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print every candidate.")] = False,
) -> None:
    """Say which setting, pair or policy to use at your pace.

    Of those as good as the one that is right longest, the cheapest, then the simplest; with how sure
    that is, what it costs, and whether judgment or latency limits it.
    """
    from streamdecisionbench.analysis.bootstrap import Sampling
    from streamdecisionbench.analysis.candidates import everybody, priced_answers
    from streamdecisionbench.analysis.choose import (
        Budget,
        Terms,
        by_cost,
        by_cost_table,
        choice_lines,
        choice_table,
        decide,
        holds,
        holds_line,
    )
    from streamdecisionbench.analysis.repacing import at_own_pace
    from streamdecisionbench.analysis.token_cost import known_costs
    from streamdecisionbench.cli.loading import costs_for, open_runs, require_one_suite, with_sweeps
    from streamdecisionbench.cli.printing import (
        plain,
        print_csv,
        print_json,
        print_tables,
        require_one_form,
    )
    from streamdecisionbench.cli.progress import working
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.recording.prices import read_prices
    from streamdecisionbench.scoring.pairs import chosen_rules

    require_one_form(as_json, as_csv)
    for name, limit in (("--budget", budget), ("--budget-per-1000", budget_per_1000)):
        if limit is not None and not limit >= 0:
            raise InputError(f"{name} {limit:g} is not an amount of money")
    table = read_prices(prices)
    terms = Terms(
        Budget(budget, budget_per_1000), min_gain / 100, chosen_rules(rule), pairs, policies,
        Sampling(block, resamples, seed), table.currency,
    )  # fmt: skip
    subjects = open_runs(with_sweeps(runs), data)
    require_one_suite(subjects)
    kept, measured = at_own_pace([s.recording for s in subjects], interval)
    subjects = [subjects[place] for place in kept]
    costs, remarks = known_costs({s.name: s.recording for s in subjects}, table)
    field = everybody(
        {s.name: s.parts for s in subjects},
        costs,
        [s.name for s in subjects if s.recording.simulated],
        [priced_answers(s.recording, s.suite, table) for s in subjects] if policies else (),
    )
    rules = costs_for(error_costs, subjects)
    with working(f"weighing {len(subjects)} recordings and their pairs"):
        choice = decide(field, interval, terms, listed=True)
    if as_csv:
        print_csv([choice_table(choice)])
        return
    headings = [s.heading(interval=interval, clock="nominal") for s in subjects]
    lines = [*measured, *choice_lines(choice)]
    if len(choice.candidates) > 1:
        lines.append(holds_line(choice, holds(field, choice)))
    by_price = by_cost(choice, {s.name: s.parts for s in subjects}, rules, top, field.answers)
    if as_json:
        options = {
            "interval": interval,
            "rule": rule,
            "pairs": pairs,
            "policies": policies,
            "min_gain": min_gain,
        }
        print_json(
            "choose",
            {**plain(choice), **_sure(choice), "words": lines, "by_cost": plain(by_price)},
            headings,
            options,
        )
        return
    tables = [choice_table(choice, top)]
    if len(by_price) > 1:
        tables.append(by_cost_table(by_price, rules))
    print_tables(tables, headings, [*lines, *remarks])


def _sure(choice: Choice) -> dict[str, Any]:
    """How sure the recommended one's share is, and the smallest lead this could have shown."""
    best, other = choice.best, choice.runner_up
    level = choice.terms.sampling.level
    return {
        "interval_95": [best.in_force.low, best.in_force.high],
        "detectable": None if other is None else other.behind_leader.detectable(level),
    }


COMMANDS = {
    "choose": choose,
}
