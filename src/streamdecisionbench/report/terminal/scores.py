"""What `sdb score` prints for people: one screen per recording, a ranking for several. 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamdecisionbench.analysis.bootstrap import over_scenarios
from streamdecisionbench.analysis.numbers import fixed, percent
from streamdecisionbench.analysis.score_intervals import score_intervals
from streamdecisionbench.report.palette import CLASS_STYLE
from streamdecisionbench.report.terminal.fitting import cut_names
from streamdecisionbench.scoring.score import Level, Score, Shares
from streamdecisionbench.suite.scenario import FAMILIES

__all__ = ["class_bar", "ranking", "screen", "shared_signatures"]


def screen(score: Score, *, by_scenario: bool = False, width: int = 80) -> RenderableType:
    """All that matters about one recording."""
    whole = score.overall
    parts: list[RenderableType] = [Text(score.name, style="bold")]
    parts += [Text(f"! {note}", style="bold yellow") for note in score.notes]
    parts.append(_levels(score, by_scenario=by_scenario))
    parts.append(
        Text(
            f"* integrated over {score.bounds.text()}; seg. at {score.interval:g} s;"
            f" AUC 95\u00a0% {_interval(score)} (bootstrap)",
            style="dim",
        )
    )
    parts.append(Text(f"Time over {score.bounds.text()}, by class (%)"))
    parts.append(class_bar(whole.integrated, width))
    parts.append(_legend(whole.integrated))
    parts.append(Text(f"blame       {_blame(whole)}"))
    parts.append(_facts(score))
    parts.append(Text(score.signature, style="dim", overflow="fold"))
    return Group(*parts)


def ranking(scores: Sequence[Score], width: int = 80) -> RenderableType:
    """Several recordings, best integrated score first.

    How each was made comes before: what stays on a screen that scrolls is the ranking. Where names
    leave no room they are cut, then the shares that explain the score give way.
    """
    first = scores[0]
    ordered = sorted(scores, key=lambda s: (-s.log_auc, s.name))
    marks = [" (sim.)" if s.simulated else "" for s in ordered]
    columns = {"#": [str(place) for place in range(1, len(ordered) + 1)]} | _ranked(ordered)
    names: list[str] = []
    for heading in (*_GIVE_WAY, None):
        room = width - _width(columns) - 2
        cuts = cut_names((s.name for s in ordered), max(room - max(map(len, marks)), _NAME))
        names = [cuts[s.name] + mark for s, mark in zip(ordered, marks, strict=True)]
        if heading is None or max(map(len, names)) <= room:
            break
        del columns[heading]
    columns = {"#": columns.pop("#"), "recording": names, **columns}
    table = Table(
        title=f"In-force accuracy, {first.bounds.text()} (%)",
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    for heading in columns:
        left = heading == "recording"
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    for row in zip(*columns.values(), strict=True):
        table.add_row(*row)
    left_out = [heading.rstrip("*") for heading in _GIVE_WAY if heading not in columns]
    drawn = "scenarios, then blocks of steps" if over_scenarios(first.parts) else "blocks of steps"
    said = f"* integrated over {first.bounds.text()}; 95\u00a0%: bootstrap over {drawn}."
    if "stale*" in columns:
        said += " stale with no decision, judgm. with compound."
    if left_out:
        said += f" A wider screen also shows {', '.join(left_out)}."
    signatures = shared_signatures([(s.name, s.signature) for s in ordered])
    above = [Text(line, style="dim", overflow="fold") for line in signatures]
    return Group(*above, table, Text(said, style="dim"))


_GIVE_WAY = ("judgm.*", "stale*", "oracle*", "p50 s", "untimed")
"""Columns of a ranking that long names may take the place of, first what is missed least."""

_NAME = 24
"""Characters of a name for which columns give way; beyond them it is cut."""


def _ranked(ordered: Sequence[Score]) -> dict[str, list[str]]:
    over = [s.overall.integrated for s in ordered]
    return {
        "AUC*": [percent(s.log_auc) for s in ordered],
        "95 %*": [_interval(s) for s in ordered],
        f"at {ordered[0].interval:g} s": [percent(s.in_force) for s in ordered],
        "untimed": [percent(s.untimed) for s in ordered],
        "oracle*": [percent(o.oracle) for o in over],
        "stale*": [percent(o.stale + o.no_decision) for o in over],
        "judgm.*": [percent(o.judgment + o.compound) for o in over],
        "p50 s": [fixed(s.latency.p50 if s.latency else None, 2) for s in ordered],
    }


def _width(columns: Mapping[str, Sequence[str]]) -> int:
    return sum(max(len(x) for x in (h, *cells)) + 2 for h, cells in columns.items()) - 2


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


def _interval(score: Score) -> str:
    """The 95 % bootstrap interval of the integrated score."""
    found = score_intervals(score).metrics["log_auc"]
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


def _levels(score: Score, *, by_scenario: bool) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False)
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
    return [
        label,
        percent(level.log_auc),
        percent(level.untimed),
        percent(level.in_force),
        percent(level.segment_in_force),
        percent(level.integrated.oracle),
        percent(level.integrated.u_current),
        percent(level.integrated.product),
        fixed(p50, 2) if p50 is not None else "",
    ]


def _legend(shares: Shares) -> Text:
    """Two lines of three classes, so that nothing wraps within a name at 80 columns."""
    values = shares.classes()
    text = Text()
    for index, (name, (label, mark, colour)) in enumerate(CLASS_STYLE.items()):
        text.append(f"{mark} ", style=colour)
        text.append(f"{label} {percent(values[name])}" + ("\n" if index == 2 else "  "))
    return text


def _blame(level: Level) -> str:
    """The larger of the two losses, in words."""
    over = level.integrated
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


def console(*, width: int | None = None, stderr: bool = False) -> Console:
    """A console that never interprets text from recordings as markup."""
    return Console(width=width, stderr=stderr, markup=False, highlight=False, emoji=False)
