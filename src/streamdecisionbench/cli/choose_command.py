"""`sdb choose`: which setting, pair or policy to use at your own pace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamdecisionbench.cli.options import (
    Block,
    Data,
    Prices,
    Reference,
    ReferencesSql,
    ReferenceTables,
    Resamples,
    Seed,
    Sql,
)
from streamdecisionbench.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from streamdecisionbench.analysis.candidates import CandidatePool, Trial
    from streamdecisionbench.analysis.choose import ByCost, Candidate, Choice, Terms
    from streamdecisionbench.analysis.policy_search import PolicySearch
    from streamdecisionbench.cli.loading import Subject
    from streamdecisionbench.cli.printing import Heading
    from streamdecisionbench.policies.cost_rules import Costs
    from streamdecisionbench.recording.prices import PriceTable
    from streamdecisionbench.render.table import Table
    from streamdecisionbench.scoring.policy_answers import Answers

_BUDGET, _CANDIDATES, _OUTPUT = "Budget", "Candidates", "Output"

PerHour = Annotated[
    float | None,
    typer.Option(
        metavar="MONEY",
        help="At most this per hour of stream at that pace.",
        rich_help_panel=_BUDGET,
    ),
]
Per1000 = Annotated[
    float | None,
    typer.Option(metavar="MONEY", help="At most this per 1000 decisions.", rich_help_panel=_BUDGET),
]
WithPairs = Annotated[
    bool,
    typer.Option(
        "--pairs/--no-pairs",
        help="Consider fast and slow pairs as well.",
        rich_help_panel=_CANDIDATES,
    ),
]
MinGain = Annotated[
    float,
    typer.Option(
        metavar="POINTS",
        help="Least gain for which a more expensive or less simple candidate is recommended.",
        rich_help_panel=_CANDIDATES,
    ),
]
Thresholds = Annotated[
    int, typer.Option(min=1, help="Confidence thresholds to try.", rich_help_panel=_CANDIDATES)
]
CostsGiven = Annotated[
    str | None,
    typer.Option(
        "--costs",
        metavar="FILE",
        help="Also what being wrong costs: a cost file (TOML), or default.",
    ),
]
Top = Annotated[
    int, typer.Option(help="Number of candidates in the table.", rich_help_panel=_OUTPUT)
]
All = Annotated[
    bool,
    typer.Option(
        "--all",
        help="List all candidates, also those that cannot be recommended.",
        rich_help_panel=_OUTPUT,
    ),
]
Write = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the choice as a new policy file, for sdb run --policy and sdb policy score.",
        rich_help_panel=_OUTPUT,
    ),
]


@dataclass(frozen=True, slots=True)
class Weighing:
    """What is to be weighed, and on which terms."""

    subjects: Sequence[Subject]
    field: CandidatePool
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
        from streamdecisionbench.scoring.policy_score import score_policy
        from streamdecisionbench.text import visible

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
    from streamdecisionbench.analysis.candidates import CandidatePool, priced_answers
    from streamdecisionbench.analysis.choose import Budget, Terms
    from streamdecisionbench.analysis.repacing import at_own_pace
    from streamdecisionbench.analysis.token_cost import hourly_rates, known_costs
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
    recordings = {s.name: s.recording for s in subjects}
    costs, remarks = known_costs(recordings, table)
    hourly = hourly_rates(recordings)
    if hourly and table.currency != "USD":
        named = ", ".join(hourly)
        remarks.append(f"{named}: hourly_usd is left out, because prices are in {table.currency}.")
        hourly = {}
    answers = [priced_answers(s.recording, s.suite, table) for s in subjects if asked.policies]
    field = CandidatePool(
        {s.name: s.parts for s in subjects},
        costs,
        [s.name for s in subjects if s.recording.simulated],
        answers,
        thresholds,
        hourly,
    )
    return Weighing(subjects, field, asked, interval, table, measured, remarks, write)


def require_new(path: Path) -> None:
    from streamdecisionbench.errors import InputError

    if path.exists() or path.is_symlink():
        raise InputError("exists already", where=path, fix="name a new file with --write")


def written_line(written: Mapping[str, Any] | None, choice: Choice) -> list[str]:
    from streamdecisionbench.render.table import percent

    if written is None:
        return []
    path, where = written["path"], ", over the scenarios its numbers were chosen on"
    return [
        f"Written to {path}: sdb policy score {path} RUN… --interval {choice.interval:g} gives"
        f" {percent(written['in_force'])} %{where if choice.best.chosen else ''}."
    ]


@dataclass(frozen=True, slots=True)
class Shown:
    """What `choose` prints, and in which form."""

    costs: str | None
    top: int
    every: bool
    as_json: bool
    as_csv: bool


def _print_frontier(asked: Weighing, rule: str | None, shown: Shown) -> None:
    """The Pareto frontier of accuracy and cost: every policy tried, thresholds chosen on held-out halves."""
    from streamdecisionbench.analysis.policy_search import (
        frontier_table,
        search,
        steps_table,
        tried_lines,
    )
    from streamdecisionbench.cli.printing import dump, print_csv, print_tables
    from streamdecisionbench.cli.progress_bar import working
    from streamdecisionbench.scoring.pairs import chosen_rules

    with working(f"trying policies on {plural(len(asked.subjects), 'recording')}"):
        found = search(asked.field, asked.interval, asked.terms, chosen_rules(rule or "freshest"))
    written = asked.written(found.choice)
    tried = [steps_table(found, every=shown.as_csv)]
    tried += [frontier_table(found, every=shown.as_csv)] if found.frontier else []
    if shown.as_csv:
        print_csv(tried)
        return
    said = [*tried_lines(found), *written_line(written, found.choice)]
    lines = asked.words(found.choice, said)
    if shown.as_json:
        document = _frontier_document(found, asked)
        document["search"] |= {"words": lines} | ({} if written is None else {"written": written})
        dump(document)
        return
    tables = asked.tables(found.choice, shown.costs, shown.top, every=shown.every, by_money=True)
    tables += tried if shown.every else []
    print_tables(tables, asked.headings(), [*lines, *asked.remarks])


def _frontier_document(found: PolicySearch, asked: Weighing) -> dict[str, Any]:
    """The full scores of the policies found, then how they were found."""
    from dataclasses import replace

    from streamdecisionbench.analysis.candidates import priced_answers
    from streamdecisionbench.cli.printing import plain
    from streamdecisionbench.scoring.policy_score import score_policy
    from streamdecisionbench.scoring.score_json import policies_to_json

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

    def brief(one: Trial) -> dict[str, Any]:
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


@dataclass(frozen=True, slots=True)
class LogAsked:
    """A decision log and how it is grouped."""

    sources: Sequence[Path]
    by: Sequence[str]
    interval: float | None
    sql: Path | None
    references: Sequence[str] | None
    references_sql: Path | None
    reference: str | None
    allow_unusable: str
    seed: int


def _choose_group(asked: LogAsked, *, as_json: bool, as_csv: bool) -> None:
    """Which group of a decision log to use."""
    from streamdecisionbench.analysis.log_choice import (
        choose_group,
        log_choice_lines,
        log_choice_table,
    )
    from streamdecisionbench.cli import printing
    from streamdecisionbench.cli.progress_bar import working
    from streamdecisionbench.logs.log_score import score_log
    from streamdecisionbench.logs.log_tables import difference_line

    with working("scoring the log"):
        score = score_log(
            [str(path) for path in asked.sources],
            by=tuple(asked.by),
            interval=asked.interval,
            references=asked.references,
            references_sql=asked.references_sql,
            reference=asked.reference,
            sql=asked.sql,
            allow_unusable=asked.allow_unusable,
            seed=asked.seed,
        )
    choice = choose_group(score)
    if as_json:
        printing.dump(choice.to_json())
        return
    if as_csv:
        printing.print_csv([log_choice_table(choice)])
        return
    lines = log_choice_lines(choice)
    lines += [difference_line(one) for one in choice.leads[:_LEADS]]
    heading = printing.Heading(score.source, score.signature, score.notes)
    printing.print_tables([log_choice_table(choice)], [heading], lines)


_LEADS = 3
"""Groups next to the leader whose difference gets a sentence with its causes."""


def choose(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", help="Recording folders; with --by a decision log."),
    ],
    interval: Annotated[
        float | None,
        typer.Option(
            help="Your pace: seconds between states. A log is scored as recorded without it.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", metavar="COLUMN", help="Choose between groups of a decision log. Repeat it."
        ),
    ] = None,
    sql: Sql = None,
    references: ReferenceTables = None,
    references_sql: ReferencesSql = None,
    reference: Reference = None,
    allow_unusable: Annotated[
        str,
        typer.Option(metavar="N|%", help="With --by: rows that may be left out: 12, or 1%."),
    ] = "0",
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
            rich_help_panel=_CANDIDATES,
        ),
    ] = True,
    rule: Annotated[
        str | None,
        typer.Option(
            help="Arbitration of pairs: freshest, lag-one, late-override or all (default).",
            rich_help_panel=_CANDIDATES,
        ),
    ] = None,
    min_gain: MinGain = 1.0,
    thresholds: Thresholds = 20,
    error_costs: CostsGiven = None,
    block: Block = 10,
    resamples: Resamples = 5000,
    seed: Seed = 0,
    frontier: Annotated[
        bool,
        typer.Option(
            "--frontier",
            help="Search singles, pairs and cascades of three, and show the Pareto frontier of"
            " accuracy and cost; pairs under freshest unless --rule names another.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    top: Top = 10,
    every: All = False,
    write: Write = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print schema sdb-analysis/1; with --frontier sdb-policy/1.",
            rich_help_panel=_OUTPUT,
        ),
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print every candidate.", rich_help_panel=_OUTPUT)
    ] = False,
) -> None:
    """Recommend a setting, pair or policy for your pace.

    Among candidates that are about as accurate as the best one, it recommends the cheapest, then the
    simplest. It prints how certain that is, the cost, and whether judgment or latency is the limit.
    With --by it recommends a group of a decision log, for example a release.
    """
    from streamdecisionbench.analysis.bootstrap import Sampling
    from streamdecisionbench.cli import printing
    from streamdecisionbench.errors import InputError
    from streamdecisionbench.scoring.pairs import chosen_rules

    printing.require_one_form(as_json, as_csv)
    if by:
        _require_left_out(
            {
                "--budget": budget, "--budget-per-1000": budget_per_1000, "--prices": prices,
                "--data": data, "--costs": error_costs, "--write": write, "--frontier": frontier or None,
            },
            "is about recordings, --by about a decision log",
            "leave {} out",
        )  # fmt: skip
        logs = LogAsked(
            runs, by, interval, sql, references, references_sql, reference, allow_unusable, seed
        )
        _choose_group(logs, as_json=as_json, as_csv=as_csv)
        return
    _require_left_out(
        {
            "--sql": sql, "--references": references, "--references-sql": references_sql,
            "--reference": reference, "--allow-unusable": None if allow_unusable == "0" else "",
        },
        "is about a decision log, whose groups are compared with --by",
        "add --by COLUMN, or leave it out for recordings",
    )  # fmt: skip
    if table := next((path for path in runs if path.is_file()), None):
        raise InputError(
            "is a file, not the folder of a recording",
            where=table,
            fix="for a decision log name the column to choose by: --by COLUMN",
        )
    if interval is None:
        raise InputError(
            "--interval is missing",
            fix="give your pace in seconds between states; for a decision log name --by COLUMN",
        )
    if frontier and not policies:
        raise InputError("--frontier is about policies", fix="leave out --no-policies")
    asked = weighing(
        runs, data, interval, prices, (budget, budget_per_1000), write,
        thresholds=thresholds, min_gain=min_gain / 100, rules=chosen_rules(rule or "all"),
        pairs=pairs, policies=policies, sampling=Sampling(block, resamples, seed),
    )  # fmt: skip
    shown = Shown(error_costs, top, every, as_json, as_csv)
    if frontier:
        _print_frontier(asked, rule, shown)
        return
    options = {
        "interval": interval, "rule": rule or "all", "pairs": pairs, "policies": policies,
        "min_gain": min_gain,
    }  # fmt: skip
    _print_choice(asked, options, shown)


def _require_left_out(given: Mapping[str, Any], what: str, fix: str) -> None:
    from streamdecisionbench.errors import InputError

    odd = [name for name, value in given.items() if value is not None]
    if odd:
        raise InputError(what, where=odd[0], fix=fix.format(" and ".join(odd)))


def _print_choice(asked: Weighing, options: Mapping[str, Any], shown: Shown) -> None:
    from streamdecisionbench.analysis.choose import choice_table, decide
    from streamdecisionbench.cli import printing
    from streamdecisionbench.cli.loading import costs_for
    from streamdecisionbench.cli.progress_bar import working

    rules = costs_for(shown.costs, asked.subjects)
    with working(f"weighing {plural(len(asked.subjects), 'recording')} and their pairs"):
        choice = decide(asked.field, asked.interval, asked.terms, listed=True)
    written = asked.written(choice)
    if shown.as_csv:
        printing.print_csv([choice_table(choice)])
        return
    lines = asked.words(choice, written_line(written, choice))
    if not shown.as_json:
        tables = asked.tables(choice, shown.costs, shown.top, every=shown.every)
        printing.print_tables(tables, asked.headings(), [*lines, *asked.remarks])
        return
    best, other, level = choice.best, choice.runner_up, choice.terms.sampling.level
    listed = list(choice.candidates[: max(shown.top, 1)])
    listed += [best] if best not in listed else []
    result = {
        **printing.plain(choice),
        "interval_95": [best.in_force.low, best.in_force.high],
        "detectable": None if other is None else other.behind_leader.detectable(level),
        "words": lines,
        "by_cost": asked.by_cost(listed, rules),
        "costs": {"name": rules.name, "dated": rules.dated, "given": shown.costs is not None},
        **({} if written is None else {"written": written}),
    }
    printing.print_json("choose", result, asked.headings(), options)


COMMANDS = {
    "choose": choose,
}
