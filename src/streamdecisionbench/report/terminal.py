"""What the terminal shows: tables that fit it, scores, pairs, logs, what a suite tests.

A name too long for its column is cut, names stay distinct, no word is broken. Nothing is computed here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from streamdecisionbench.analysis.bootstrap import ScoreIntervals
from streamdecisionbench.analysis.table import (
    Cell,
    Column,
    Table,
    count,
    fixed,
    number,
    percent,
    percentage,
    text,
)
from streamdecisionbench.in_force import ALL_CLASSES, CLASSES, spelled
from streamdecisionbench.logs.show import NOTHING_YET, group_name, mix_shown, wrong_shares
from streamdecisionbench.report.palette import CLASS_STYLE
from streamdecisionbench.scoring.score import Level, Score, Shares
from streamdecisionbench.suite.scenario import FAMILIES, Suite

if TYPE_CHECKING:
    from streamdecisionbench.families.coverage import FamilyCoverage
    from streamdecisionbench.logs.check import Checked
    from streamdecisionbench.logs.estimate import GroupDifference, GroupEstimate, LogEstimate
    from streamdecisionbench.logs.pace import LogPace
    from streamdecisionbench.logs.sample import AuditSample
    from streamdecisionbench.logs.score import LogDifference, LogScore
    from streamdecisionbench.scoring.pair_live import Contention, LivePair
    from streamdecisionbench.scoring.pairs import Best, Matrix, PairScore


def console(*, width: int | None = None, stderr: bool = False) -> Console:
    """A console that never interprets text from recordings as markup."""
    return Console(width=width, stderr=stderr, markup=False, highlight=False, emoji=False)


def fitted(table: Table, width: int) -> tuple[RichTable, bool]:
    """The table for this width, and whether every name is whole."""
    texts = table.texts()
    cells = [[column.name, *(row[k] for row in texts)] for k, column in enumerate(table.columns)]
    widths = fit_widths(cells, width)
    long = {
        word: size
        for column, size in zip(cells, widths, strict=True)
        for cell in column
        for word in cell.split(" ")
        if len(word) > size
    }
    cuts = cut_names(long, min(long.values(), default=width))
    shown = [[cut_words(cell, cuts) for cell in column] for column in cells]
    out = RichTable(box=None, pad_edge=False)
    for how, column, size in zip(table.columns, shown, widths, strict=True):
        side: JustifyMethod = "left" if how.kind == "text" else "right"
        out.add_column(Text(column[0]), justify=side, max_width=size, overflow="fold")
    for k, row in enumerate(table.rows, start=1):
        style = "bold" if row[0] == "overall" else None
        out.add_row(*(Text(column[k]) for column in shown), style=style)
    return out, shown == cells


def _grid(
    headings: Iterable[str],
    rows: Iterable[Sequence[str]],
    *,
    left: Collection[int] = (0,),
    wrap: Collection[int] | None = None,
    bold: Collection[int] = (),
    title: str | None = None,
) -> RichTable:
    """Cells as they are: `left` columns as words, the others as numbers; all may wrap, or some."""
    out = RichTable(title=title, title_justify="left", box=None, pad_edge=False)
    for k, heading in enumerate(headings):
        wraps = wrap is None or k in wrap
        out.add_column(
            heading,
            justify="left" if k in left else "right",
            no_wrap=not wraps,
            overflow="fold" if wraps else "ellipsis",
        )
    for k, row in enumerate(rows):
        out.add_row(*row, style="bold" if k in bold else None)
    return out


_CUT = "…"
_NARROWEST = 8
"""Of a name that is cut: both ends can still be told apart."""


def cut(name: str, width: int) -> str:
    """The name within `width` characters; its end, where names differ most, keeps more.

    >>> cut("recordings/candidate-3", 12)
    'rec…didate-3'
    """
    if len(name) <= width:
        return name
    head = max((width - 1) // 3, 1)
    return f"{name[:head]}{_CUT}{name[len(name) - (width - 1 - head) :]}"


def cut_names(names: Iterable[str], width: int) -> dict[str, str]:
    """Each name within `width`, and still another than its neighbours: what all share goes first.

    >>> list(cut_names(["runs/2026/jev-low-1", "runs/2026/astra-low-1"], 10).values())
    ['…jev…', '…astra…']
    """
    every = list(dict.fromkeys(names))
    if all(len(name) <= width for name in every):
        return {name: name for name in every}
    before = _shared(every)
    after = _shared([name[:before:-1] for name in every])
    texts = {}
    for name in every:
        core = name[before : len(name) - after] if len(every) > 1 else name
        marks = (_CUT if len(core) < len(name) and before else "", _CUT if after else "")
        inner = cut(core, width - len(marks[0]) - len(marks[1]))
        whole = len(name) <= width
        texts[name] = name if whole else f"{marks[0]}{inner}{marks[1]}"
    return _numbered(texts, width)


def cut_words(text: str, cuts: Mapping[str, str]) -> str:
    """A text with its long words replaced; what stands between words may wrap."""
    return " ".join(cuts.get(word, word) for word in text.split(" "))


def fit_widths(columns: Sequence[Sequence[str]], available: int, gap: int = 2) -> list[int]:
    """Widths of columns given by their texts: as they are where they fit, else the widest give way.

    >>> fit_widths([["a", "a-name-of-nineteen."], ["12.5"]], 16)
    [10, 4]
    """
    widths = [max((len(text) for text in texts), default=0) for texts in columns]
    room = available - gap * (len(widths) - 1)
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda k: widths[k])
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    return widths


def _shared(names: Sequence[str]) -> int:
    """How many characters all names begin with, up to the last border between words."""
    first, last = min(names), max(names)
    common = first if len(names) > 1 else ""
    while not last.startswith(common):
        common = common[:-1]
    borders = [found.end() for found in re.finditer(r"[-_/. ]", common)]
    return borders[-1] if borders else 0


def _numbered(texts: Mapping[str, str], width: int) -> dict[str, str]:
    count = Counter(texts.values())
    seen: Counter[str] = Counter()
    found = {}
    for name, shown in texts.items():
        seen[shown] += 1
        mark = f"~{seen[shown]}"
        found[name] = shown if count[shown] == 1 else cut(shown, width - len(mark)) + mark
    return found


def print_coverage(suite: Suite, found: Mapping[str, FamilyCoverage]) -> None:
    """Per family: rules with their misreadings, options, and what is missing."""
    out = console()
    out.print(f"{suite.name} ({suite.dataset_hash[:12]})")
    for family, part in found.items():
        out.print()
        title = f"{FAMILIES.get(family, family)}: {part.scenarios} scenarios, {part.states} states"
        out.print(title, style="bold")
        if part.rules:
            out.print(_rules(part))
        else:
            out.print("rules: not known here, so only options are counted")
        out.print(_options(part))
        for line in _missing(part):
            out.print(line)
    out.print()
    out.print(
        "decides: states whose decision changes when the rule is misread in one of these ways.\n"
        "changes: states whose decision this one misreading changes."
    )


def _rules(part: FamilyCoverage) -> RichTable:
    rows = []
    for rule, decided in part.rules.items():
        misread = [m for m in part.misreadings if m.rule == rule]
        for place, m in enumerate(misread):
            first = (rule, str(decided)) if place == 0 else ("", "")
            rows.append((*first, m.what, f"({m.answers})" if m.answers_only else str(m.decisions)))
        if not misread:
            rows.append((rule, "–", "", "–"))
    headings = ("rule", "decides", "misread by somebody who", "changes")
    return _grid(headings, rows, left=(0, 2), wrap=(2,))


def _options(part: FamilyCoverage) -> RichTable:
    rows = []
    for question, values in part.options.items():
        counts = sorted(values.values())
        missing = sum(n == 0 for n in counts)
        rows.append((question, str(len(counts)), f"{counts[0]}, {counts[-1]}", str(missing)))
    headings = ("question", "options", "states answered: fewest, most", "unanswered")
    return _grid(headings, rows, left=(0, 2), wrap=())


def _missing(part: FamilyCoverage) -> list[str]:
    lines = [f"rule {rule} decides no state" for rule in part.undecided()]
    lines += [f"option {q} = {value} answers no state" for q, value in part.unanswered()]
    lines += [
        f"nothing would notice somebody who {m.what} (rule {m.rule})" for m in part.unnoticed()
    ]
    return lines or ["every rule decides, every option answers, every misreading shows"]


def check_lines(found: Checked) -> list[str]:
    """The whole of it in a few sentences."""
    from streamdecisionbench.logs.sources import torn_note

    usable = found.rows - found.unusable.rows
    lines = [
        f"{found.source}: {found.rows} rows, {usable} of them usable, in {found.streams} streams.",
        f"{found.answered} states were answered, {found.judged} have a reference.",
    ]
    if found.assumed_end:
        lines.append(
            f"{found.assumed_end} streams have no ended_at: one median gap after the last state is"
            " taken as their end."
        )
    if found.timed_by:
        lines.append(f"Answers came when they were asked for, plus {found.timed_by}.")
    lines += [f"{told}." for told in torn_note(found.torn)]
    if found.scattered:
        number_of, example = found.scattered
        lines.append(
            f"{number_of} streams lie in more than one file, for example {example!r}. If ids start"
            " anew in every file, make them unique with --sql."
        )
    lines += [f"{told.rstrip('?')}{'?' if told.endswith('?') else '.'}" for told in found.values]
    if found.others:
        lines.append(f"To group by: {', '.join(found.others)}.")
    return lines


def check_tables(found: Checked) -> list[Table]:
    """Rows that cannot be used, and columns that are not there."""
    from streamdecisionbench.logs.unusable import REASONS

    tables = []
    if found.unusable.rows:
        rows: list[tuple[Cell, ...]] = []
        for reason, rows_of, example in found.unusable.ordered():
            at = example.text() + (f", in {example.file}" if example.file else "")
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
    from streamdecisionbench.logs.pace import SHARES

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
    from streamdecisionbench.analysis.wrong_time import log_cost_tables

    by = text(" and ".join(score.settings.by) or "log", "group")
    interval = score.settings.interval
    pace = "as recorded" if interval is None else f"at a state every {interval:g} s"
    what = "In-force accuracy"
    silver = score.references.silver
    if silver is not None:
        of = dict(zip(score.references.all, score.origins, strict=True))
        only = f"Agreement in force with {silver.source}"
        what = only if of[silver] == sum(of.values()) else f"{what}, in part agreement"
    known = all(group.judged_share > 1 - 1e-12 for group in score.groups)
    heads: list[Column] = [
        by, count("streams"), count("states", "decisions"), number("every s", key="mean_interval_s"),
        percentage("in force", "in_force"), text("95 %", "interval_95"), percentage("untimed"),
    ]  # fmt: skip
    rows: list[list[Cell]] = [
        [
            group.name,
            *((group.streams, group.decisions) if known else
              (f"{group.judged_streams}/{group.streams}", f"{group.judged_decisions}/{group.decisions}")),
            group.mean_interval_s, group.in_force, _range(group.interval_95), group.untimed,
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
    shown = [name for name in ALL_CLASSES if name in CLASSES or (not known and name != "unjudged")]
    judged = () if known else (percentage("judged", "judged_share"),)
    return [
        Table(f"{what}, {pace} (%)", tuple(heads), tuple(map(tuple, rows)), notes),
        Table(
            f"Where the {'' if known else 'judged '}time went (%), and how long answers took",
            (by, *judged, *(percentage(_SHORT[name], name) for name in shown),
             number("p50 s", key="latency_p50"), number("p95 s", key="latency_p95")),
            tuple(
                (group.name, *(group.judged_share for _ in judged),
                 *(group.of_judged(name) for name in shown), group.latency.get("p50"),
                 group.latency.get("p95"))
                for group in score.groups
            ),
            () if known else ("Shares of the judged time; judged: its share of all time.",),
        ),
        *log_cost_tables(score),
    ]  # fmt: skip


def show_lines(score: LogScore) -> list[str]:
    """How wrong time lies in streams."""
    found = wrong_shares(score.shown.wrong)
    judged = sum(score.shown.mixes_of().values())
    lines = [
        f"{found['wrong_s']:.1f} of {judged:.1f} judged s were wrong, in"
        f" {found['streams'] - found['without']:.0f} of {found['streams']:.0f} streams"
        + (f"; half of it in {found['half']:.0f} of them." if found["half"] else ".")
    ]
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
        f"{len(every)} groups against {every[0].against.name}: {counts}.{example} Group by fewer values"
        " to read them one by one; --json has every difference with its causes."
    ]


def difference_line(difference: LogDifference) -> str:
    """One sentence: how much, how sure, from how many judged streams and states, and because of what.

    Points of in-force accuracy; the causes add up to the whole.
    """
    value, interval = difference.in_force
    sure = ""
    if interval:
        one, two = difference.group, difference.against
        sure = (
            f" (95 %: {_signed(interval[0])} to {_signed(interval[1])}; {one.judged_streams} and"
            f" {two.judged_streams} judged streams, {one.judged_decisions} and {two.judged_decisions}"
            " states)"
        )
    because = ", ".join(
        f"{cause} {_signed(change[0])}" for cause, change in difference.causes.items()
    )
    return (
        f"{difference.group.name} against {difference.against.name}: {_signed(value)} points in"
        f" force{sure}; {because}. {_verdict(difference)}"
    )


def _verdict(difference: LogDifference) -> str:
    value, interval = difference.in_force
    if interval is None or interval[0] <= 0 <= interval[1]:
        return "These streams do not tell them apart."
    cause = max(
        ("latency", "judgment"), key=lambda c: difference.causes[c][0] * (1 if value > 0 else -1)
    )
    share = difference.causes[cause][0] / value
    if share > 0.8:
        return f"It is {cause}."
    return f"It is mostly {cause}." if share > 0.5 else "It is both latency and judgment."


def _range(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{interval[0] * 100:.1f}–{interval[1] * 100:.1f}"


def _signed(value: float) -> str:
    """
    >>> _signed(0.012), _signed(-0.0004)
    ('+1.2', '0.0')
    """
    shown = f"{value * 100:+.1f}"
    return "0.0" if shown in ("-0.0", "+0.0") else shown


def sample_lines(sample: AuditSample) -> list[str]:
    """What was drawn from what, and what it asks of people."""
    if sample.census:
        lines = [f"all time of the log: {sample.items} states to answer for"]
    else:
        lines = [f"{len(sample.moments)} moments, {sample.items} states to answer for"]
    for k, group in enumerate(sample.groups):
        name = ", ".join(f"{n} {v}" for n, v in group.by.items()) or "the log"
        strata = "; ".join(
            f"{_KNOWN[one.says]} {percent(one.share)} % of the time, {one.moments} moments"
            for one in sample.strata
            if one.group == k
        )
        lines.append(f"{name}, {group.streams} streams: {strata}")
    return lines


_KNOWN = {
    "right": "silver says right",
    "wrong": "silver says wrong",
    "unknown": "silver does not know",
    "decided": "decided",
    "none": "no decision",
}


def estimate_lines(found: LogEstimate) -> list[str]:
    """In plain words: the figure, how sure it is, what would make it surer, what it hangs on."""
    people = "1 person" if found.people == 1 else f"{found.people} people"
    lines = [_headline(group, found) for group in found.groups]
    lines += [_estimated_difference(one) for one in found.differences]
    lines.append(
        f"{found.answered} of {found.items} items are answered: {found.answers} answers of {people}."
    )
    for group in found.groups:
        helped = group.silver
        if helped is not None and helped.agreement is not None:
            of = "" if len(found.groups) == 1 else f"{group.name}: "
            line = f"{of}silver says what people say {percent(helped.agreement)} % of the time"
            if helped.moments_without is not None:
                line += f"; without it as narrow an interval takes {helped.moments_without} moments"
            lines.append(f"{line}.")
        if group.unclear and group.bounds is not None:
            of = "" if len(found.groups) == 1 else f" of {group.name}"
            lines.append(
                f"{group.unclear} moments{of} hang on {len(found.disputes)} disputes and"
                f" {found.cannot_tell} items that nobody can tell: {percent(group.bounds[0])} % in"
                f" force if all went against it, {percent(group.bounds[1])} % if for it."
            )
    if found.agreement.share is not None:
        sure = found.agreement.interval_95
        alpha = (
            found.agreement.reason
            if found.agreement.alpha is None or sure is None
            else f"α {found.agreement.alpha:.2f} ({sure[0]:.2f}–{sure[1]:.2f})"
        )
        lines.append(
            f"People agree in {percent(found.agreement.share)} % of pairs of answers to"
            f" {found.agreement.items} items; {alpha}."
        )
    return lines


def _headline(group: GroupEstimate, found: LogEstimate) -> str:
    of = "" if len(found.groups) == 1 else f"{group.name}: "
    accuracy = group.in_force
    if accuracy.interval_95 is None:
        return f"{of}{percent(accuracy.value)} % in force, from {group.answered} moments."
    if found.census:
        return f"{of}{percent(accuracy.value)} % in force, from all of the log's time."
    points = f"±{100 * found.within:g} points"
    more = f"{points} would take {group.more} more" if group.more else f"{points} are reached"
    return (
        f"{of}{percent(accuracy.value)} % in force (95 %: {_range(accuracy.interval_95)}), from"
        f" {group.answered} moments; {more}."
    )


def _estimated_difference(one: GroupDifference) -> str:
    value, sure = one.in_force.value, one.in_force.interval_95
    if value is None or sure is None:
        return f"{one.group.name} against {one.against.name}: not known yet."
    because = ", ".join(
        f"{cause} {_signed(change.value)}"
        for cause, change in one.causes.items()
        if change.value is not None
    )
    clear = "" if sure[0] > 0 or sure[1] < 0 else " It may be no difference at all."
    return (
        f"{one.group.name} against {one.against.name}: {_signed(value)} points in force (95 %:"
        f" {_signed(sure[0])} to {_signed(sure[1])}); {because}.{clear}"
    )


def estimate_tables(found: LogEstimate) -> list[Table]:
    """Groups side by side, then every class with its interval."""
    by = text(" and ".join(found.by) or "log", "group")
    groups = Table(
        "In-force accuracy, from what people say is right (%)",
        (by, count("moments"), count("labels"), count("streams", "streams_drawn"),
         percentage("in force", "in_force"), text("95 %", "interval_95"),
         text("sessions like these", "interval_95_streams")),
        tuple(
            (g.name, g.answered, g.labels, g.streams_drawn, g.in_force.value,
             _range(g.in_force.interval_95), _range(g.in_force.interval_95_streams))
            for g in found.groups
        ),
        tuple(dict.fromkeys(g.streams_reason for g in found.groups if g.streams_reason)),
    )  # fmt: skip
    classes = [
        Table(
            "Where the time went (%)",
            (text("class"), *(Column(g.name, align="right") for g in found.groups[k : k + 3])),
            tuple(
                (
                    name.replace("_", " "),
                    *(
                        f"{percent(g.classes[name].value)} ({_range(g.classes[name].interval_95)})"
                        for g in found.groups[k : k + 3]
                    ),
                )
                for name in ALL_CLASSES
            ),
        )
        for k in range(0, len(found.groups), 3)
    ]
    return [groups, *classes]


# What `sdb compose` prints for people: a pair beside its parts, a joint recording, a matrix. 80 columns.


_MARKS = {"freshest": "f", "lag_one": "l", "late_override": "o"}
_BLOCK = 8
"""Columns of the matrix that fit beside its names."""


def pair_screen(alone: tuple[Score, Score], pairs: Sequence[PairScore]) -> RenderableType:
    """One pair under one or more rules, its parts above it."""
    first = pairs[0]
    better = max(score.log_auc for score in alone)
    families = list(first.by_family)
    short = cut_names((score.name for score in alone), _LONGER)
    names = [FAMILIES.get(f, f).split()[0][:9] for f in families]

    def row(label: str, one: Score | PairScore, gain: str) -> list[str]:
        by_family = (percent(one.by_family[f].log_auc) for f in families)
        return [label, percent(one.in_force), percent(one.log_auc), gain, *by_family]

    rows = [
        row(f"{role}: {short[one.name]}", one, "")
        for role, one in zip(("fast", "slow"), alone, strict=True)
    ]
    rows += [row(f"pair, {spelled(p.rule)}", p, _signed_points(p.log_auc - better)) for p in pairs]
    headings = ("", f"at {first.interval:g} s", "AUC", "gain", *names)
    parts: list[RenderableType] = [
        *_notes(pairs),
        Text(f"In-force accuracy (%), nominal clock, AUC {first.bounds.text()}"),
        _grid(headings, rows, bold=range(2, len(rows))),
        Text(),
        *_arbitration(pairs),
        _dim("gain: AUC against the better component alone; families: AUC. Replay of recordings."),
    ]
    if first.signature:
        # One line for all rules: nothing else in their signatures differs.
        rules = "+".join(pair.rule for pair in pairs)
        parts.append(_dim(first.signature.replace(f"rule:{first.rule}", f"rule:{rules}")))
    return Group(*parts)


def live_screen(live: LivePair) -> RenderableType:
    """A joint recording as it happened, beside its replays at the same pace."""
    rows = [("as it happened", live.recorded)]
    rows += [(f"replayed, {spelled(rule)}", shares) for rule, shares in live.replayed.items()]
    cells = (
        (shares.in_force, shares.oracle, shares.u_current, shares.stale + shares.no_decision,
         shares.judgment + shares.compound)
        for _, shares in rows
    )  # fmt: skip
    table = _grid(
        ("", "in force", "oracle", "U_cur", "stale", "judgm."),
        [(name, *map(percent, own)) for (name, _), own in zip(rows, cells, strict=True)],
        bold=(0,),
    )
    counts = live.counts
    return Group(
        Text(f"{live.name}: recorded live, {spelled(live.rule)} (%)"),
        table,
        _dim(
            f"live: slow in force {percent(live.slow_share)} % of the time, "
            f"{counts.corrections} corrections, {counts.regressions} regressions, "
            f"{counts.refusals} refusals"
        ),
        _dim(f"live minus replay under the same rule: {_signed_points(live.gap, 2)} points"),
        Text(),
    )


def contention_screen(cost: Contention) -> RenderableType:
    """What running together cost, component by component and for the pair."""
    one, two = cost.pair_alone, cost.pair_joint
    rows = [
        (part.name, f"{fixed(part.alone.p50, 3)} s", f"{fixed(part.joint.p50, 3)} s",
         fixed(part.joint.p50 / part.alone.p50 if part.alone.p50 else None, 2),
         percent(part.alone_auc), percent(part.joint_auc))
        for part in (cost.fast, cost.slow)
    ]  # fmt: skip
    rows.append(
        (f"pair, {spelled(one.rule)}", "", "", "", percent(one.log_auc), percent(two.log_auc))
    )
    said = (
        f"contention cost the pair {_signed_points(cost.auc_cost, 2)} points of AUC and "
        f"{_signed_points(cost.in_force_cost, 2)} at {one.interval:g} s"
    )
    headings = ("", "p50 alone", "p50 joint", "ratio", "AUC alone", "AUC joint")
    return Group(Text("Alone and together"), _grid(headings, rows), _dim(said), Text())


def matrix_screen(found: Matrix) -> RenderableType:
    """All ordered pairs with their best rules, and the best by family and pace."""
    bounds = found.alone[0].bounds
    parts: list[RenderableType] = [*_notes(found.pairs)]
    names = [score.name for score in found.alone]
    best: dict[tuple[str, str], PairScore] = {}
    for pair in found.pairs:
        key = (pair.fast, pair.slow)
        if key not in best or pair.log_auc > best[key].log_auc:
            best[key] = pair
    shown = cut_names(names, _LONGER)
    for start in range(0, len(names), _BLOCK):
        columns = names[start : start + _BLOCK]
        parts.append(Text(f"AUC of the best rule (%), {bounds.text()}: rows fast, columns slow"))
        table = RichTable(box=None, pad_edge=False)
        table.add_column("fast", overflow="ellipsis", no_wrap=True, max_width=22)
        for k in range(start, start + len(columns)):
            table.add_column(str(k + 1), justify="right", no_wrap=True)
        for k, fast in enumerate(names):
            table.add_row(
                f"{k + 1} {shown[fast]}",
                *(
                    f"({percent(found.alone[k].log_auc)})"
                    if fast == slow
                    else f"{percent(best[fast, slow].log_auc)} {_MARKS[best[fast, slow].rule]}"
                    for slow in columns
                ),
            )
        parts += [table, Text()]
    parts += [_dim("f freshest, l lag-one, o late-override; (alone)"), Text()]
    parts.append(Text(f"Best pair (AUC, {bounds.text()} unless a range is named)"))
    short = cut_names(names, _NAME)

    def row(heading: str, one: Best) -> list[str]:
        pair = (short[one.pair.fast], short[one.pair.slow], spelled(one.pair.rule))
        values = (percent(one.value), percent(one.alone_value), _signed_points(one.gain))
        return [heading, *pair, *values]

    rows = [row("overall", found.best)]
    rows += [row(FAMILIES.get(family, family), one) for family, one in found.by_family.items()]
    rows += [
        row(f"{over.low:g}–{over.high:g} s", one)
        for over, one in zip(found.ranges, found.by_range, strict=True)
    ]
    parts.append(
        _grid(("for", "fast", "slow", "rule", "AUC", "alone", "gain"), rows, left=range(4))
    )
    parts.append(_dim("alone: the best single component under the same heading."))
    return Group(*parts)


_NAME, _LONGER = 15, 19
"""Characters of a name where two or one stand in a row of 80."""


def _arbitration(pairs: Sequence[PairScore]) -> list[RenderableType]:
    rows, losses = [], []
    for pair in pairs:
        counts, loss = pair.counts, pair.longest_stale_loss
        done = (counts.slow_accepted, counts.corrections, counts.regressions, counts.refusals)
        rows.append(
            (spelled(pair.rule), percent(pair.slow_share), *map(str, done),
             f"{fixed(loss.seconds, 3)} s" if loss else "–")
        )  # fmt: skip
        if loss is not None:
            losses.append(
                _dim(
                    f"{spelled(pair.rule)}: in {loss.episode_id} the slow answer for step "
                    f"{loss.slow_source}, at {fixed(loss.slow_arrival_s, 3)} s, replaced the right "
                    f"fast one for step {loss.fast_source}, in force since "
                    f"{fixed(loss.fast_arrival_s, 3)} s, and was stale until "
                    f"{fixed(loss.end_s, 3)} s"
                )
            )
    counted = ("accepted", "corrections", "regressions", "refusals")
    headings = ("rule", "slow %", *counted, "stale loss")
    return [Text(f"Arbitration at {pairs[0].interval:g} s"), _grid(headings, rows), *losses]


def _notes(pairs: Sequence[PairScore]) -> list[Text]:
    notes = []
    if any(pair.simulated for pair in pairs):
        notes.append("! simulation: answers and latencies of a component were drawn from a profile")
    if any(pair.virtual_clock for pair in pairs):
        notes.append("! virtual clock: service times measured one by one or declared")
    if any(pair.bounds.alone for pair in pairs):
        notes.append(
            "! lived through in a world: under another rule it would have been another session"
        )
    return [Text(note, style="bold yellow") for note in notes]


def _dim(text: str) -> Text:
    return Text(text, style="dim", overflow="fold")


def _signed_points(share: float, digits: int = 1) -> str:
    text = percent(share, digits)
    return text if text[0] in "-–" or float(text) == 0 else f"+{text}"


def screen(
    score: Score, sure: ScoreIntervals, *, by_scenario: bool = False, width: int = 80
) -> RenderableType:
    """All that matters about one recording."""
    over = score.overall.integrated
    paces, what = score.bounds.text(), "at" if score.alone else "integrated over"
    return Group(
        Text(score.name, style="bold"),
        *(Text(f"! {note}", style="bold yellow") for note in score.notes),
        _levels(score, by_scenario=by_scenario),
        Text(
            f"* {what} {paces}; seg. at {score.interval:g} s;"
            f" {'in force' if score.alone else 'AUC'} 95\u00a0% {_interval(sure)} (bootstrap)",
            style="dim",
        ),
        Text(f"Time {'at' if score.alone else 'over'} {paces}, by class (%)"),
        class_bar(over, width),
        _legend(over),
        Text(f"blame       {_blame(over)}"),
        _facts(score),
        Text(score.signature, style="dim", overflow="fold"),
    )


def ranking(
    scores: Sequence[Score], sure: Sequence[ScoreIntervals], width: int = 80
) -> RenderableType:
    """Several recordings with their intervals, best integrated score first; without one, at the interval.

    How each was made comes before: what stays on a screen that scrolls is the ranking. Where names
    leave no room they are cut, then the shares that explain the score give way.
    """
    first = scores[0]
    alone = any(score.alone for score in scores)
    ranked = sorted(
        zip(scores, sure, strict=True),
        key=lambda s: (-(s[0].in_force if alone else s[0].log_auc), s[0].name),
    )
    ordered = [score for score, _ in ranked]
    marks = [" (sim.)" if s.simulated else "" for s in ordered]
    over = [s.overall.integrated for s in ordered]
    columns = {
        "#": [str(place) for place in range(1, len(ordered) + 1)],
        "AUC*": [percent(s.log_auc) for s in ordered],
        "95 %*": [_interval(own) for _, own in ranked],
        f"at {first.interval:g} s": [percent(s.in_force) for s in ordered],
        "untimed": [percent(s.untimed) for s in ordered],
        "oracle*": [percent(o.oracle) for o in over],
        "stale*": [percent(o.stale + o.no_decision) for o in over],
        "judgm.*": [percent(o.judgment + o.compound) for o in over],
        "p50 s": [fixed(s.latency.p50 if s.latency else None, 2) for s in ordered],
    }
    names: list[str] = []
    for heading in (*_GIVE_WAY, None):
        taken = sum(max(map(len, (head, *cells))) + 2 for head, cells in columns.items())
        room = width - taken
        cuts = cut_names((s.name for s in ordered), max(room - max(map(len, marks)), _NAME_WIDTH))
        names = [cuts[s.name] + mark for s, mark in zip(ordered, marks, strict=True)]
        if heading is None or max(map(len, names)) <= room:
            break
        del columns[heading]
    columns = {"#": columns.pop("#"), "recording": names, **columns}
    title = f"In-force accuracy, {first.bounds.text()} (%)"
    table = _grid(columns, zip(*columns.values(), strict=True), left=(1,), wrap=(), title=title)
    left_out = [heading.rstrip("*") for heading in _GIVE_WAY if heading not in columns]
    drawn = "blocks of steps" if sure[0].drawn == "blocks" else "scenarios, then blocks of steps"
    said = f"* integrated over {first.bounds.text()}; 95\u00a0%: bootstrap over {drawn}."
    if "stale*" in columns:
        said += " stale with no decision, judgm. with compound."
    if left_out:
        said += f" A wider screen also shows {', '.join(left_out)}."
    above = [_dim(line) for line in shared_signatures([(s.name, s.signature) for s in ordered])]
    return Group(*above, table, Text(said, style="dim"))


_GIVE_WAY = ("judgm.*", "stale*", "oracle*", "p50 s", "untimed")
"""Columns of a ranking that long names may take the place of, first what is missed least."""

_NAME_WIDTH = 24
"""Characters of a name for which columns give way; beyond them it is cut."""


def shared_signatures(named: Sequence[tuple[str, str]]) -> list[str]:
    """What all signatures share once, and what is each recording's own."""
    every = [signature.split() for _, signature in named]
    if len(every) < 2:
        return [f"{name}  {signature}" for name, signature in named]
    shared = [word for word in every[0] if all(word in words for words in every)]
    own = [
        f"{name}  {' '.join(rest)}"
        for (name, _), words in zip(named, every, strict=True)
        if (rest := [word for word in words if word not in shared])
    ]
    return [" ".join(shared), *own]


def _interval(sure: ScoreIntervals) -> str:
    """The 95 % bootstrap interval of the integrated score."""
    found = sure.metrics["log_auc"]
    return f"{percent(found.low)}–{percent(found.high)}"


def class_bar(shares: Shares, width: int) -> Text:
    """The six classes as one bar of `width` cells; every class above zero keeps at least one cell."""
    values = shares.classes()
    cells = {name: values[name] * width for name in CLASS_STYLE}
    whole = {name: max(int(c), 1 if values[name] >= 0.0005 else 0) for name, c in cells.items()}
    rest = sorted(CLASS_STYLE, key=lambda name: cells[name] - int(cells[name]), reverse=True)
    for name in rest:
        if sum(whole.values()) < width and values[name] > 0:
            whole[name] += 1
    while sum(whole.values()) > width:
        whole[max(whole, key=lambda name: whole[name])] -= 1
    bar = Text()
    for name, (_, mark, colour) in CLASS_STYLE.items():
        bar.append(mark * whole[name], style=colour)
    return bar


def _levels(score: Score, *, by_scenario: bool) -> RichTable:
    table = RichTable(box=None, pad_edge=False, show_edge=False)
    table.add_column("", overflow="fold")
    for heading in (
        "AUC*", "untimed", f"{score.interval:g} s", "seg.", "oracle*", "U_cur*", "U·O*", "p50 s",
    ):  # fmt: skip
        table.add_column(heading, justify="right")
    table.add_row(
        *_row("overall", score.overall, score.latency.p50 if score.latency else None), style="bold"
    )
    for family, level in score.by_family.items():
        table.add_row(*_row(FAMILIES.get(family, family), level, None))
        if by_scenario:
            for name, inner in score.by_scenario.items():
                if score.family_of[name] == family:
                    known = (score.latency_by_scenario or {}).get(name)
                    table.add_row(
                        *_row(f"  {name}", inner, known.p50 if known else None), style="dim"
                    )
    return table


def _row(label: str, level: Level, p50: float | None) -> list[str]:
    over = level.integrated
    shares = (level.log_auc, level.untimed, level.in_force, level.segment_in_force, over.oracle,
              over.u_current, over.product)  # fmt: skip
    return [label, *map(percent, shares), fixed(p50, 2) if p50 is not None else ""]


def _legend(shares: Shares) -> Text:
    """Two lines of three classes, so that nothing wraps within a name at 80 columns."""
    values = shares.classes()
    text = Text()
    for index, (name, (label, mark, colour)) in enumerate(CLASS_STYLE.items()):
        text.append(f"{mark} ", style=colour)
        text.append(f"{label} {percent(values[name])}" + ("\n" if index == 2 else "  "))
    return text


def _blame(over: Shares) -> str:
    """The larger of the two losses, in words."""
    latency, judgment = over.stale + over.no_decision, over.judgment
    if over.in_force > 0.995:
        return "next to nothing is lost"
    cause = "latency" if latency > judgment else "judgment"
    return (
        f"{cause}: latency costs {percent(latency)} % of time, judgment {percent(judgment)} %,"
        f" both {percent(over.compound)} %"
    )


def _facts(score: Score) -> Text:
    lines = []
    if score.latency:
        lat = score.latency
        lines.append(
            f"latency s   p50 {fixed(lat.p50, 2)}  p95 {fixed(lat.p95, 2)}  p99 {fixed(lat.p99, 2)}"
            f"  max {fixed(lat.max, 2)}  mean {fixed(lat.mean, 2)}"
        )
    lines.append(
        f"at {score.interval:g} s      accepted {score.accepted}, superseded {score.discarded_older},"
        f" after the horizon {score.discarded_after_horizon}"
    )
    if score.reliability:
        rel = score.reliability
        physical = score.overall.physical
        lines.append(
            f"reliability {rel.valid_responses}/{rel.requests} valid, failed attempts"
            f" {rel.failed_attempts}/{rel.attempts}, retried {rel.retried_requests}/{rel.requests}"
        )
        lines.append(
            f"as it ran   in force {percent(physical.in_force if physical else None)} %, dispatch wait"
            f" {fixed(rel.dispatch_wait_s, 2)} s in all"
        )
    answers = score.answers_at()
    if answers:
        line = f"answers     {percent(answers.active_question)} % of those in use right"
        if answers.exact_match is not None:
            line += (
                f", all at once {percent(answers.exact_match)} %;"
                f" unused wrong: {answers.inactive_only_errors}"
            )
        lines.append(line)
    return Text("\n".join(lines))
