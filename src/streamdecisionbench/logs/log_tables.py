"""A log as tables and lines: its check, its pace, its score, its worst streams, groups against each other."""

from __future__ import annotations

from itertools import islice

from streamdecisionbench.kernel.classes import CAUSES, CLASSES, UNKNOWN
from streamdecisionbench.logs.event_rate import SHARES, LogPace
from streamdecisionbench.logs.log_check import Checked
from streamdecisionbench.logs.log_score import LogDifference, LogGroup, LogScore
from streamdecisionbench.logs.unusable_rows import REASONS
from streamdecisionbench.logs.worst_streams import NOTHING_YET, group_name, mix_shown, wrong_shares
from streamdecisionbench.render.sentences import (
    COST_UNIT,
    REPEATED_IDS,
    age_and_long,
    assumed_end,
    group_difference,
)
from streamdecisionbench.render.table import (
    Cell,
    Column,
    Table,
    count,
    number,
    percent,
    percentage,
    share_range,
    text,
)
from streamdecisionbench.scoring.error_tables import COST_COLUMNS, acts_table, disagreement
from streamdecisionbench.text import plural, printable


def check_lines(found: Checked) -> list[str]:
    """The whole of it in a few sentences."""
    usable = found.rows - found.unusable.rows
    lines = [
        f"{found.source}: {plural(found.rows, 'row')}, {usable} of them usable, in {plural(found.streams, 'stream')}.",
        f"{plural(found.answered, 'state was', 'states were')} answered, {found.judged} have a reference.",
    ]
    if found.assumed_end:
        lines.append(f"{assumed_end(plural(found.assumed_end, 'stream has', 'streams have'))}.")
    if found.timed_by:
        lines.append(f"Answers came when they were asked for, plus {found.timed_by}.")
    lines += [f"{told}." for told in found.notes]
    if found.scattered:
        number_of, example = found.scattered
        lines.append(
            f"{plural(number_of, 'stream lies', 'streams lie')} in more than one file, for example {example!r}."
            f" {REPEATED_IDS[0].upper()}{REPEATED_IDS[1:]}."
        )
    lines += [f"{told.rstrip('?')}{'?' if told.endswith('?') else '.'}" for told in found.values]
    if found.others:
        lines.append(f"To group by: {', '.join(found.others)}.")
    return lines


def check_tables(found: Checked) -> list[Table]:
    """Rows that cannot be used, and columns that are not there."""
    tables = []
    if found.unusable.rows:
        rows: list[tuple[Cell, ...]] = []
        for reason, rows_of, example in found.unusable.ordered():
            at = example.text() + (f", in {example.place()}" if example.file else "")
            rows.append((rows_of, f"{REASONS[reason].what}", REASONS[reason].column, example.value))
            rows.append((None, f"for example {at}", "", ""))
            rows.append((None, f"fix: {REASONS[reason].fix}", "", ""))
        tables.append(
            Table(
                "Rows that cannot be used",
                (count("rows"), text("why"), text("column"), text("value")),
                tuple(rows),
            )
        )
    absent = tuple((name, instead) for name, instead in found.missing.items() if instead != "–")
    if absent:
        tables.append(
            Table("Columns that are not there", (text("column"), text("instead")), absent)
        )
    return tables


def pace_tables(found: LogPace) -> list[Table]:
    """Quantiles of the seconds between changes, by group."""
    heads = tuple(number(f"p{round(share * 100)}", 3) for share in SHARES)
    rows: list[tuple[Cell, ...]] = []
    for key, group in found.groups:
        name = ", ".join(map(str, key)) or "all"
        for label, sums in (
            ("states", group.states),
            ("references", group.references),
            ("mean interval", group.intervals),
        ):
            values: list[Cell] = (
                list(sums.quantiles(SHARES)) if sums.count else [None] * len(SHARES)
            )
            rows.append((name, label, sums.count, *values))
    low, high = found.bounds
    quick, slow = (f"{value:.3g}" for value in found.spread)
    why = (
        f"Mean intervals go from {quick} s (p5) to {slow} s (p95)"
        + (" of all streams" if found.by else "")
        + (
            ": less than a factor of four, so twice their middle and half of it are taken, rounded"
            " outwards."
            if found.widened
            else ", rounded outwards."
        )
    )
    return [
        Table(
            "Seconds between changes",
            (text(" and ".join(found.by) or "log", "group"), text("of"), count("gaps"), *heads),
            tuple(rows),
            (f"Suggested for these streams: --bounds {low:g} {high:g}. {why}",),
        )
    ]


def log_tables(score: LogScore) -> list[Table]:
    """What one reads first, then where the time went and how long answers took."""
    by = text(" and ".join(score.settings.by) or "log", "group")
    interval = score.settings.interval
    pace = "as recorded" if interval is None else f"at a state every {interval:g} s"
    what = "In-force accuracy"
    # Of a cascade a row holds the first answer to its state.
    first = " 1st" if any(group.cascade for group in score.groups) else ""
    silver = score.references.silver
    if silver is not None:
        of = dict(zip(score.references.all, score.origins, strict=True))
        only = f"Agreement in force with {silver.source}"
        what = only if of[silver] == sum(of.values()) else f"{what}, in part agreement"
    known = all(group.judged_share > 1 - 1e-12 for group in score.groups)
    heads: list[Column] = [
        by, count("streams"), count("states", "decisions"), number("every s", key="mean_interval_s"),
        percentage("in force", "in_force"), text("95 %", "interval_95"), percentage(f"untimed{first}", "untimed"),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [
            group.name,
            *((group.streams, group.decisions) if known else
              (f"{group.judged_streams}/{group.streams}", f"{group.judged_decisions}/{group.decisions}")),
            group.mean_interval_s, group.in_force, share_range(group.interval_95), group.untimed,
        ]
        for group in score.groups
    ]  # fmt: skip
    notes = () if known else ("Streams and states: how many are judged, of how many.",)
    more = [(score.settings.bounds is not None, percentage("log-AUC", "log_auc")),
            (not known, percentage("judged", "judged_share"))]  # fmt: skip
    for wanted, column in more:
        if wanted:
            heads.append(column)
            for row, group in zip(rows, score.groups, strict=True):
                row.append(getattr(group, column.key))
    unknown = any(group.of_judged("unattributed") for group in score.groups)
    shown = [*CLASSES, *(["unattributed"] if unknown else [])]
    judged = () if known else (percentage("judged", "judged_share"),)
    return [
        Table(f"{what}, {pace} (%)", tuple(heads), tuple(map(tuple, rows)), notes),
        Table(
            f"Where the {'' if known else 'judged '}time went (%), and how long answers took",
            (by, *judged, *(percentage(_SHORT[name], name) for name in shown),
             number(f"p50{first} s", key="latency_p50"), number(f"p95{first} s", key="latency_p95")),
            tuple(
                (group.name, *(group.judged_share for _ in judged),
                 *(group.of_judged(name) for name in shown), group.latency.get("p50"),
                 group.latency.get("p95"))
                for group in score.groups
            ),
            () if known else ("Shares of the judged time; judged: its share of all time.",),
        ),
        causes_table(score, by),
        *([members_table(score, by)] if any(g.member_latency for g in score.groups) else []),
        *log_cost_tables(score),
    ]  # fmt: skip


def causes_table(score: LogScore, by: Column) -> Table:
    """Shares of judged time lost to each cause, with their intervals."""
    partly = any(group.classes["unattributed"] > 0 for group in score.groups)
    unknown = any(group.of_judged("unattributed") for group in score.groups)
    causes = [cause for cause in CAUSES if cause != UNKNOWN or unknown]
    notes = ["latency: stale or no decision; both: a wrong answer to an outdated state."]
    if partly:
        notes.append(
            "Estimated: where the state of a wrong decision has no reference, its time is divided as where"
            " it has one." + " unknown: no such time to compare with." * unknown
        )
    return Table(
        f"Why it was wrong (% of {'judged ' if partly else ''}time)",
        (by, *(column for cause in causes for column in (percentage(cause), text("95 %", f"{cause}_95")))),
        tuple(
            (group.name, *(cell for cause in causes for cell in _share_cells(group, cause)))
            for group in score.groups
        ),
        tuple(notes),
    )  # fmt: skip


def members_table(score: LogScore, by: Column) -> Table:
    """How long each member of a cascade took."""
    return Table(
        "How long answers took, by member of the cascade",
        (by, text("member"), count("answers", "answered"), number("p50 s", key="p50"),
         number("p95 s", key="p95")),
        tuple(
            (group.name, printable(name), took["answered"], took["p50"], took["p95"])
            for group in score.groups
            for name, took in group.member_latency.items()
        ),
        ("1st: of the first answer to each state, which is mostly the fastest member's.",),
    )  # fmt: skip


def lost_words(group: LogGroup) -> str:
    """What wrong time was lost to, in one line; empty where nothing is judged."""
    said = ", ".join(
        f"{cause} {percent(share)} %" + (f" ({share_range(interval)})" if interval else "")
        for cause, (share, interval) in group.causes.items()
        if cause != UNKNOWN or share
    )
    return f"lost to {said}" if said else ""


def _share_cells(group: LogGroup, cause: str) -> tuple[Cell, Cell]:
    share, interval = group.causes.get(cause, (None, None))
    return share, share_range(interval)


def show_lines(score: LogScore) -> list[str]:
    """How wrong time lies in streams."""
    found = wrong_shares(score.shown.wrong)
    judged = sum(score.shown.mixes_of().values())
    lines = [
        f"{found['wrong_s']:.1f} of {judged:.1f} judged s were wrong, in"
        f" {found['streams'] - found['without']:.0f} of {plural(found['streams'], 'stream')}"
        + (f"; half of it in {found['half']:.0f} of them." if found["half"] else ".")
    ]
    for group in score.groups if len(score.groups) <= _GROUPS_BESIDE else ():
        of = f"{group.name}: " if score.settings.by else ""
        lines.append(f"{of}{lost_words(group) or 'nothing is judged'}.")
    asked = score.shown.asked.mix
    if asked is not None:
        seconds = score.shown.mixes_of().get(asked, 0.0)
        lines.append(f"{mix_shown(asked)} for {seconds:.1f} s.")
    return lines


def show_tables(score: LogScore) -> list[Table]:
    """The mix-ups that took the most time, and the streams kept."""
    shown = score.shown
    groups = score.groups if 1 < len(score.groups) <= _GROUPS_BESIDE else ()
    mixes = {mix: s for mix, s in shown.mixes_of().items() if mix[0] != mix[1]}
    each = [shown.mixes_of(tuple(group.by.values())) for group in groups]
    by = " and ".join(score.settings.by)
    tables = [
        Table(
            f"What was in force while something else was right (s{_weighted(score)})",
            (text("in force"), text("right"), number("seconds", 1), percentage("of wrong"),
             *(number(f"{group.name} s", 1) for group in groups)),
            tuple(
                (mix[0] or NOTHING_YET, mix[1], seconds, seconds / sum(mixes.values()),
                 *(one.get(mix, 0.0) for one in each))
                for mix, seconds in islice(mixes.items(), _MIXES)
            ),
            () if len(mixes) <= _MIXES else (f"{len(mixes) - _MIXES} more in --json.",),
        ),
        Table(
            f"Streams, by {'wrong time' if shown.asked.mix is None else 'the time of this mix-up'}",
            (text("stream"), *((text(by),) if by else ()), number("wrong s", 1),
             number("judged s", 1), number("observed s", 1), percentage("in force"), count("states")),
            tuple(
                (one.name, *((group_name(one.group),) if by else ()), one.wrong_s, one.judged_s,
                 float(one.seconds.sum()),
                 None if one.judged_s <= 0 else 1 - one.wrong_s / one.judged_s, len(one.release))
                for one in shown.kept
            ),
        ),
    ]  # fmt: skip
    return [table for table in tables if table.rows]


def _weighted(score: LogScore) -> str:
    return ", times weight" if any(one.weight != 1 for one in score.shown.kept) else ""


_MIXES = 8
_GROUPS_BESIDE = 3
_SHORT = {
    "current_correct": "right",
    "judgment": "judgm.",
    "stale": "stale",
    "compound": "comp.",
    "outdated_correct": "lucky",
    "no_decision": "none",
    "unattributed": "unattr.",
}


_MOST_DIFFERENCES = 5
"""Groups beyond the first that get a sentence each."""


def difference_lines(score: LogScore) -> list[str]:
    """Every further group against the first; of many, how they compare in one sentence."""
    every = score.differences
    if len(every) <= _MOST_DIFFERENCES:
        return [difference_line(one) for one in every]
    sides = {"better": 0, "worse": 0, "not told apart by these streams": 0}
    told = [
        one
        for one in every
        if one.in_force[1] and not one.in_force[1][0] <= 0 <= one.in_force[1][1]
    ]
    sides["better"] = sum(one.in_force[0] > 0 for one in told)
    sides["worse"] = len(told) - sides["better"]
    sides["not told apart by these streams"] = len(every) - len(told)
    counts = ", ".join(f"{n} {side}" for side, n in sides.items() if n)
    furthest = max(told, key=lambda one: abs(one.in_force[0]), default=None)
    example = f" Furthest: {difference_line(furthest)}" if furthest is not None else ""
    return [
        f"{plural(len(every), 'group')} against {every[0].against.name}: {counts}.{example} Group by fewer values"
        " to read them one by one; --json has every difference with its causes."
    ]


def difference_line(difference: LogDifference) -> str:
    """One sentence: how much, how sure, from how many judged streams and states, and because of what.

    Points of in-force accuracy; the causes add up to the whole.
    """
    value, interval = difference.in_force
    one, two = difference.group, difference.against
    counted = (
        f"{one.judged_streams} and {two.judged_streams} judged streams,"
        f" {one.judged_decisions} and {plural(two.judged_decisions, 'state')}"
    )
    causes = {cause: change[0] for cause, change in difference.causes.items()}
    said = group_difference(one.name, two.name, value, interval, causes, counted)
    return f"{said} {_verdict(difference)}"


def _verdict(difference: LogDifference) -> str:
    value, interval = difference.in_force
    if interval is None or interval[0] <= 0 <= interval[1]:
        return "These streams do not tell them apart."
    if abs(difference.causes[UNKNOWN][0]) > 0.2 * abs(value):
        return "Too few states have references to say why."
    cause = max(
        ("latency", "judgment"), key=lambda c: difference.causes[c][0] * (1 if value > 0 else -1)
    )
    share = difference.causes[cause][0] / value
    if share > 0.8:
        return f"It is {cause}."
    return f"It is mostly {cause}." if share > 0.5 else "It is both latency and judgment."


def log_cost_tables(score: LogScore) -> list[Table]:
    """Nothing where neither `--theta` nor `--costs` was given."""
    theta = score.settings.theta
    if theta is None:
        return []
    by = text(" and ".join(score.settings.by) or "log", "group")
    known = {group.name: group.costs for group in score.groups if group.costs is not None}
    tables = [
        Table(
            "Wrong spells, and delays after a change of what is right",
            (by, count("spells", "count"), number("max s", 1, "longest_s"),
             number("age s", 2, "mean_age_s"), percentage(f"> {theta:g} s %", "beyond_share"),
             count("changes"), number("p50 s", 2, "median_delay_s"),
             number("p95 s", 2, "p95_delay_s"), percentage("never %", "never_right_share")),
            tuple(
                (name, x.spells.count, x.spells.longest_s, x.spells.mean_age_s,
                 x.spells.beyond_share, x.changes.changes, x.changes.median_delay_s,
                 x.changes.p95_delay_s, x.changes.never_right_share)
                for name, x in known.items()
            ),
            notes=(f"{age_and_long(theta)}; never: not right before the next change.",),
        )
    ]  # fmt: skip
    if score.settings.costs is not None:
        tables.append(_log_costs(score, by))
        if any(x.acts for x in known.values()):
            tables.append(
                acts_table({name: x.acts for name, x in known.items()}, by, "One-time acts")
            )
    return tables


def _log_costs(score: LogScore, by: Column) -> Table:
    costs = score.settings.costs
    rows: list[tuple[Cell, ...]] = []
    found: dict[str, tuple[float, float]] = {}
    for group in score.groups:
        if group.costs is None or group.costs.cost is None:
            continue
        at, over, sure = group.costs.cost, group.costs.mean_cost, group.costs.interval_95
        if group.in_force is not None:
            found[group.name] = (group.in_force, at.total)
        shown = f"{sure[0]:.3f}–{sure[1]:.3f}" if sure else "–"
        rows.append(
            (group.name, group.in_force, at.wrong, at.age, at.acts, at.total, shown,
             over.total if over else None)
        )  # fmt: skip
    return Table(
        f"What being wrong costs ({costs.name} {costs.dated}".rstrip() + ")" if costs else "",
        (by, *COST_COLUMNS, text("95 %", "interval_95"), number("over", 3, "integrated_cost_per_second")),
        tuple(rows),
        notes=(COST_UNIT + ("; over: on average over the bounds." if score.settings.bounds else "."),
               *disagreement(found)),
    )  # fmt: skip
