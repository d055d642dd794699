"""What `sdb score` and `sdb compose` print: a recording, a ranking, a pair, a live pair, a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from streamdecisionbench.kernel.rule import spelled
from streamdecisionbench.kernel.shares import Shares
from streamdecisionbench.recording.provenance_notes import source_notes
from streamdecisionbench.render.palette import CLASS_STYLE
from streamdecisionbench.render.sentences import (
    another_session,
    larger_cause,
    marked,
    pair_counts,
    time_lost,
)
from streamdecisionbench.render.table import fixed, percent, share_range, signed
from streamdecisionbench.render.terminal import cut_names, grid, shared_signatures
from streamdecisionbench.scoring.pair_live import AloneAndJoint
from streamdecisionbench.scoring.pairs import Best, Matrix
from streamdecisionbench.scoring.policy_tables import would_help_line
from streamdecisionbench.scoring.result import Level
from streamdecisionbench.scoring.score import Score
from streamdecisionbench.suite.scenario import FAMILIES

_MARKS = {"freshest": "f", "lag_one": "l", "late_override": "o"}
_BLOCK = 8
"""Columns of the matrix that fit beside its names."""


def pair_screen(
    alone: tuple[Score, Score], pairs: Sequence[Score], width: int = 80
) -> RenderableType:
    """One pair under one or more rules, its parts above it."""
    first = pairs[0]
    better = max(score.log_auc for score in alone)
    families = list(first.by_family)
    short = cut_names((score.name for score in alone), _LONGER + max(width - 80, 0))
    names = [FAMILIES.get(f, f).split()[0][:9] for f in families]

    def row(label: str, one: Score, gain: str) -> list[str]:
        by_family = (percent(one.by_family[f].log_auc) for f in families)
        return [label, percent(one.in_force), percent(one.log_auc), gain, *by_family]

    rows = [
        row(f"{role}: {short[one.name]}", one, "")
        for role, one in zip(("fast", "slow"), alone, strict=True)
    ]
    rows += [row(f"pair, {spelled(p.rule)}", p, signed(p.log_auc - better)) for p in pairs]
    headings = ("", f"at {first.interval:g} s", "AUC", "gain", *names)
    parts: list[RenderableType] = [
        *_notes(pairs),
        Text(f"In-force accuracy (%), nominal clock, AUC {first.bounds.text()}"),
        grid(headings, rows, bold=range(2, len(rows))),
        Text(),
        *_arbitration(pairs),
        *_would_help(max(pairs, key=lambda pair: pair.in_force)),
        _dim("gain: AUC against the better component alone; families: AUC. Replay of recordings."),
    ]
    if first.signature:
        # One line for all rules: nothing else in their signatures differs.
        rules = "+".join(pair.rule for pair in pairs)
        parts.append(_dim(first.signature.replace(f"rule:{first.rule}", f"rule:{rules}")))
    return Group(*parts)


def live_screen(live: Score) -> RenderableType:
    """A joint recording as it happened, beside its replays at the same pace."""
    rows = [("as it happened", live.recorded)]
    rows += [(f"replayed, {spelled(rule)}", shares) for rule, shares in live.replayed.items()]
    cells = (
        (shares.in_force, shares.oracle, shares.u_current, shares.stale + shares.no_decision,
         shares.judgment + shares.compound)
        for _, shares in rows
    )  # fmt: skip
    table = grid(
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
            + pair_counts(counts.corrections, counts.regressions, counts.refusals)
        ),
        _dim(f"live minus replay under the same rule: {signed(live.gap, 2)} points"),
        Text(),
    )


def contention_screen(cost: Mapping[str, AloneAndJoint]) -> RenderableType:
    """What running together cost, component by component and for the pair."""
    one, two = cost["pair"]
    rows = [
        (joint.name, *(f"{fixed(s, 3)} s" for s in p50), fixed(p50[1] / p50[0] if p50[0] else None, 2),
         percent(alone.log_auc), percent(joint.log_auc))
        for alone, joint in (cost["fast"], cost["slow"])
        for p50 in [[x.latency.p50 if x.latency else 0.0 for x in (alone, joint)]]
    ]  # fmt: skip
    rows.append(
        (f"pair, {spelled(one.rule)}", "", "", "", percent(one.log_auc), percent(two.log_auc))
    )
    said = (
        f"contention cost the pair {signed(cost['pair'].auc_cost, 2)} points of AUC and "
        f"{signed(cost['pair'].in_force_cost, 2)} at {one.interval:g} s"
    )
    headings = ("", "p50 alone", "p50 joint", "ratio", "AUC alone", "AUC joint")
    return Group(Text("Alone and together"), grid(headings, rows), _dim(said), Text())


def matrix_screen(found: Matrix, width: int = 80) -> RenderableType:
    """All ordered pairs with their best rules, and the best by family and pace."""
    room = max(width - 80, 0)
    bounds = found.alone[0].bounds
    parts: list[RenderableType] = [*_notes(found.pairs)]
    names = [score.name for score in found.alone]
    best: dict[tuple[str, str], Score] = {}
    for pair in found.pairs:
        key = (pair.fast, pair.slow)
        if key not in best or pair.log_auc > best[key].log_auc:
            best[key] = pair
    shown = cut_names(names, _LONGER + room)
    for start in range(0, len(names), _BLOCK):
        columns = names[start : start + _BLOCK]
        parts.append(Text(f"AUC of the best rule (%), {bounds.text()}: rows fast, columns slow"))
        table = RichTable(box=None, pad_edge=False)
        table.add_column("fast", overflow="ellipsis", no_wrap=True, max_width=22 + room)
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
    short = cut_names(names, _NAME + room // 2)

    def row(heading: str, one: Best) -> list[str]:
        pair = (short[one.pair.fast], short[one.pair.slow], spelled(one.pair.rule))
        values = (percent(one.value), percent(one.alone_value), signed(one.gain))
        return [heading, *pair, *values]

    rows = [row("overall", found.best)]
    rows += [row(FAMILIES.get(family, family), one) for family, one in found.by_family.items()]
    rows += [
        row(f"{over.low:g}–{over.high:g} s", one)
        for over, one in zip(found.ranges, found.by_range, strict=True)
    ]
    parts.append(grid(("for", "fast", "slow", "rule", "AUC", "alone", "gain"), rows, left=range(4)))
    parts.append(_dim("alone: the best single component under the same heading."))
    return Group(*parts, *_would_help(found.best.pair, named=True))


_NAME, _LONGER = 15, 19
"""Characters of a name where two or one stand in a row of 80."""


def _arbitration(pairs: Sequence[Score]) -> list[RenderableType]:
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
    return [Text(f"Arbitration at {pairs[0].interval:g} s"), grid(headings, rows), *losses]


def _would_help(pair: Score, *, named: bool = False) -> list[Text]:
    """What a change to its members would bring, from replays."""
    found = pair.would_help()
    whose = f"{pair.fast} + {pair.slow}, " if named else ""
    where = f"{whose}{spelled(pair.rule)}, at {pair.interval:g} s: "
    return [Text(where + would_help_line(found), overflow="fold")] if found else []


def _notes(pairs: Sequence[Score]) -> list[Text]:
    notes = source_notes(
        simulated=any(pair.simulated for pair in pairs),
        virtual_clock=any(pair.virtual_clock for pair in pairs),
    )
    if any(pair.bounds.fixed_pace for pair in pairs):
        notes.append(another_session("under another rule"))
    return [Text(f"! {note}", style="bold yellow") for note in notes]


def _dim(text: str) -> Text:
    return Text(text, style="dim", overflow="fold")


def screen(
    score: Score, interval_95: tuple[float, float], *, by_scenario: bool = False, width: int = 80
) -> RenderableType:
    """All that matters about one recording; `interval_95` is its integrated score's."""
    over = score.overall.integrated
    paces, what = score.bounds.text(), "at" if score.fixed_pace else "integrated over"
    return Group(
        Text(score.name, style="bold"),
        *(Text(f"! {note}", style="bold yellow") for note in score.notes),
        _levels(score, by_scenario=by_scenario),
        Text(
            f"* {what} {paces}; seg. at {score.interval:g} s;"
            f" {'in force' if score.fixed_pace else 'AUC'} 95\u00a0% {share_range(interval_95)} (bootstrap)",
            style="dim",
        ),
        Text(f"Time {'at' if score.fixed_pace else 'over'} {paces}, by class (%)"),
        class_bar(over, width),
        _legend(over),
        Text(f"blame       {_blame(over)}"),
        _facts(score),
        Text(score.signature, style="dim", overflow="fold"),
    )


def ranking(
    scores: Sequence[Score],
    intervals_95: Sequence[tuple[float, float]],
    drawn: str,
    width: int = 80,
) -> RenderableType:
    """Several recordings with their intervals, best integrated score first; without one, at the interval.

    How each was made comes before: what stays on a screen that scrolls is the ranking. Where names
    leave no room they are cut, then the shares that explain the score give way.
    """
    first = scores[0]
    alone = any(score.fixed_pace for score in scores)
    ranked = sorted(
        zip(scores, intervals_95, strict=True),
        key=lambda s: (-(s[0].in_force if alone else s[0].log_auc), s[0].name),
    )
    ordered = [score for score, _ in ranked]
    marks = [marked("", simulated=s.simulated) for s in ordered]
    over = [s.overall.integrated for s in ordered]
    columns = {
        "#": [str(place) for place in range(1, len(ordered) + 1)],
        "AUC*": [percent(s.log_auc) for s in ordered],
        "95 %*": [share_range(own) for _, own in ranked],
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
    table = grid(columns, zip(*columns.values(), strict=True), left=(1,), wrap=(), title=title)
    left_out = [heading.rstrip("*") for heading in _GIVE_WAY if heading not in columns]
    drawn = "blocks of steps" if drawn == "blocks" else "scenarios, then blocks of steps"
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
    return f"{larger_cause(latency, judgment)}: {time_lost(latency, judgment, over.compound)}"


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
