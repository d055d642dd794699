"""`sdb choose`: which setting, pair or policy to use at your own pace; what `sdb policy search` shares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamdecisionbench.cli.options import Block, Data, Json, Prices, Resamples, Runs, Seed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamdecisionbench.analysis.candidates import Field
    from streamdecisionbench.analysis.choose import ByCost, Candidate, Choice, Terms
    from streamdecisionbench.analysis.table import Table
    from streamdecisionbench.cli.loading import Subject
    from streamdecisionbench.cli.printing import Heading
    from streamdecisionbench.recording.prices import PriceTable
    from streamdecisionbench.rules.costs import Costs
    from streamdecisionbench.scoring.policy_answers import Answers

Pace = Annotated[
    float, typer.Option("--interval", help="Your pace: seconds between states.", show_default=False)
]
PerHour = Annotated[
    float | None,
    typer.Option(metavar="MONEY", help="At most this per hour of stream at that pace."),
]
Per1000 = Annotated[
    float | None, typer.Option(metavar="MONEY", help="At most this per 1000 decisions.")
]
WithPairs = Annotated[
    bool, typer.Option("--pairs/--no-pairs", help="Consider fast and slow pairs as well.")
]
MinGain = Annotated[
    float,
    typer.Option(metavar="POINTS", help="What a dearer or less simple one must gain at the least."),
]
Thresholds = Annotated[int, typer.Option(min=1, help="Confidence thresholds to try.")]
CostsGiven = Annotated[
    str | None,
    typer.Option(
        "--costs",
        metavar="FILE",
        help="Also what being wrong costs: a cost file (TOML), or default.",
    ),
]
Top = Annotated[int, typer.Option(help="How many candidates the table shows.")]
All = Annotated[
    bool, typer.Option("--all", help="Also list what could not be recommended, and all of it.")
]
Write = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write what was chosen as a new policy file, for sdb run --policy and sdb policy score.",
    ),
]


@dataclass(frozen=True, slots=True)
class Weighing:
    """What is to be weighed, and on which terms."""

    subjects: Sequence[Subject]
    field: Field
    terms: Terms
    interval: float
    prices: PriceTable
    measured: Sequence[str]
    """What people should know of recordings under several conditions."""
    remarks: Sequence[str]
    write: Path | None

    def headings(self) -> list[Heading]:
        return [s.heading(interval=self.interval, clock="nominal") for s in self.subjects]

    def words(self, choice: Choice, said: Sequence[str] = ()) -> list[str]:
        """The recommendation, over which paces it holds, and what else is said of it."""
        from streamdecisionbench.analysis.choose import choice_lines, holds, holds_line

        lines = [*self.measured, *choice_lines(choice)]
        if len(choice.candidates) > 1:
            lines.append(holds_line(choice, holds(self.field, choice)))
        return [*lines, *said]

    def by_cost(self, candidates: Sequence[Candidate], costs: Costs) -> list[ByCost]:
        from streamdecisionbench.analysis.choose import by_cost

        parts = {s.name: s.parts for s in self.subjects}
        return by_cost(candidates, self.interval, parts, costs, self.field.trials.answers)

    def tables(
        self, choice: Choice, costs: str | None, top: int, *, every: bool, by_money: bool = False
    ) -> list[Table]:
        """What could be recommended, and with a cost file the same by what being wrong costs."""
        from streamdecisionbench.analysis.choose import by_cost_table, choice_table
        from streamdecisionbench.cli.loading import costs_for

        found = [choice_table(choice, top, every=every, by_money=by_money)]
        if costs is not None:
            rules = costs_for(costs, self.subjects)
            named = {row[1] for row in found[0].rows}
            charged = self.by_cost([c for c in choice.candidates if c.name in named], rules)
            found.append(by_cost_table(charged, rules, choice.best.name))
        return found

    def written(self, choice: Choice) -> Mapping[str, Any] | None:
        """The file, if one was asked for, and what `sdb policy score` gives for it."""
        from streamdecisionbench.analysis.candidates import priced_answers
        from streamdecisionbench.analysis.choose import choice_lines
        from streamdecisionbench.errors import InputError
        from streamdecisionbench.safe_text import visible
        from streamdecisionbench.scoring.policy_score import score_policy

        if self.write is None:
            return None
        policy = choice.best.to_use()
        said = "".join(f"# {visible(line)}\n" for line in choice_lines(choice)[:2])
        require_new(self.write)
        try:
            with self.write.open("x", encoding="utf-8") as file:
                file.write(f"{said}\n{policy.to_toml()}")
        except (OSError, UnicodeEncodeError) as error:
            raise InputError(
                f"cannot be written ({type(error).__name__})",
                where=self.write,
                fix="name a file in a folder you can write to",
            ) from None
        named = {s.name: s for s in self.subjects}
        played: list[Answers] = [
            priced_answers(named[name].recording, named[name].suite, self.prices)
            for name in choice.best.members
        ]
        scored = score_policy(policy, played, interval=self.interval)
        return {"path": str(self.write), "in_force": scored.in_force}


def weighing(
    runs: list[Path],
    data: Path | None,
    interval: float,
    prices: Path | None,
    budget: tuple[float | None, float | None],
    write: Path | None,
    *,
    thresholds: int,
    **terms: Any,
) -> Weighing:
    """Reads what both commands weigh: recordings, of sweeps what fits the pace, prices, answers."""
    from streamdecisionbench.analysis.candidates import Field, priced_answers
    from streamdecisionbench.analysis.choose import Budget, Terms
    from streamdecisionbench.analysis.repacing import at_own_pace
    from streamdecisionbench.analysis.token_cost import known_costs
    from streamdecisionbench.cli.loading import open_runs, require_one_suite, with_sweeps
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.recording.prices import read_prices

    for name, limit in zip(("--budget", "--budget-per-1000"), budget, strict=True):
        if limit is not None and not limit >= 0:
            raise InputError(f"{name} {limit:g} is not an amount of money")
    if write is not None:
        require_new(write)
    table = read_prices(prices)
    asked = Terms(Budget(*budget), currency=table.currency, **terms)
    subjects = open_runs(with_sweeps(runs), data)
    require_one_suite(subjects)
    kept, measured = at_own_pace([s.recording for s in subjects], interval)
    subjects = [subjects[place] for place in kept]
    costs, remarks = known_costs({s.name: s.recording for s in subjects}, table)
    answers = [priced_answers(s.recording, s.suite, table) for s in subjects if asked.policies]
    field = Field(
        {s.name: s.parts for s in subjects},
        costs,
        [s.name for s in subjects if s.recording.simulated],
        answers,
        thresholds,
    )
    return Weighing(subjects, field, asked, interval, table, measured, remarks, write)


def require_new(path: Path) -> None:
    from streamdecisionbench.errors import InputError

    if path.exists() or path.is_symlink():
        raise InputError("exists already", where=path, fix="name a new file with --write")


def written_line(written: Mapping[str, Any] | None, choice: Choice) -> list[str]:
    from streamdecisionbench.analysis.table import percent

    if written is None:
        return []
    path, where = written["path"], ", over the scenarios its numbers were chosen on"
    return [
        f"Written to {path}: sdb policy score {path} RUN… --interval {choice.interval:g} gives"
        f" {percent(written['in_force'])} %{where if choice.best.chosen else ''}."
    ]


def choose(
    runs: Runs,
    interval: Pace,
    budget: PerHour = None,
    budget_per_1000: Per1000 = None,
    prices: Prices = None,
    data: Data = None,
    pairs: WithPairs = True,
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
    min_gain: MinGain = 1.0,
    thresholds: Thresholds = 20,
    error_costs: CostsGiven = None,
    block: Block = 10,
    resamples: Resamples = 5000,
    seed: Seed = 0,
    top: Top = 10,
    every: All = False,
    write: Write = None,
    as_json: Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print every candidate.")] = False,
) -> None:
    """Say which setting, pair or policy to use at your pace.

    Of those as good as the one that is right longest, the cheapest, then the simplest; with how sure
    that is, what it costs, and whether judgment or latency limits it.
    """
    from streamdecisionbench.analysis.bootstrap import Sampling
    from streamdecisionbench.analysis.choose import choice_table, decide
    from streamdecisionbench.cli import printing
    from streamdecisionbench.cli.loading import costs_for
    from streamdecisionbench.cli.progress import working
    from streamdecisionbench.scoring.pairs import chosen_rules

    printing.require_one_form(as_json, as_csv)
    asked = weighing(
        runs, data, interval, prices, (budget, budget_per_1000), write,
        thresholds=thresholds, min_gain=min_gain / 100, rules=chosen_rules(rule), pairs=pairs,
        policies=policies, sampling=Sampling(block, resamples, seed),
    )  # fmt: skip
    rules = costs_for(error_costs, asked.subjects)
    with working(f"weighing {len(asked.subjects)} recordings and their pairs"):
        choice = decide(asked.field, interval, asked.terms, listed=True)
    written = asked.written(choice)
    if as_csv:
        printing.print_csv([choice_table(choice)])
        return
    lines = asked.words(choice, written_line(written, choice))
    if not as_json:
        tables = asked.tables(choice, error_costs, top, every=every)
        printing.print_tables(tables, asked.headings(), [*lines, *asked.remarks])
        return
    options = {"interval": interval, "rule": rule, "pairs": pairs, "policies": policies}
    options["min_gain"] = min_gain
    best, other, level = choice.best, choice.runner_up, choice.terms.sampling.level
    listed = list(choice.candidates[: max(top, 1)])
    listed += [best] if best not in listed else []
    result = {
        **printing.plain(choice),
        "interval_95": [best.in_force.low, best.in_force.high],
        "detectable": None if other is None else other.behind_leader.detectable(level),
        "words": lines,
        "by_cost": asked.by_cost(listed, rules),
        "costs": {"name": rules.name, "dated": rules.dated, "given": error_costs is not None},
        **({} if written is None else {"written": written}),
    }
    printing.print_json("choose", result, asked.headings(), options)


COMMANDS = {
    "choose": choose,
}
