"""What `sdb compose` prints for people: a pair beside its parts, a joint recording, a matrix. 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamdecisionbench.analysis.numbers import fixed, percent
from streamdecisionbench.in_force import spelled
from streamdecisionbench.report.terminal.fitting import cut_names
from streamdecisionbench.scoring.pairs.compose import PairScore
from streamdecisionbench.scoring.pairs.live import Contention, LivePair, PartCost
from streamdecisionbench.scoring.pairs.matrix import Best, Matrix
from streamdecisionbench.scoring.score import Score
from streamdecisionbench.suite.scenario import FAMILIES

__all__ = ["contention_screen", "live_screen", "matrix_screen", "pair_screen"]

_MARKS = {"freshest": "f", "lag_one": "l", "late_override": "o"}
_BLOCK = 8
"""Columns of the matrix that fit beside its names."""


def pair_screen(alone: tuple[Score, Score], pairs: Sequence[PairScore]) -> RenderableType:
    """One pair under one or more rules, its parts above it."""
    first = pairs[0]
    better = max(score.log_auc for score in alone)
    title = Text(f"In-force accuracy (%), nominal clock, AUC {first.bounds.text()}")
    table = _table()
    table.add_column("", overflow="fold")
    families = list(first.by_family)
    names_alone = cut_names((score.name for score in alone), _LONGER)
    names = [FAMILIES.get(f, f).split()[0][:9] for f in families]
    for heading in (f"at {first.interval:g} s", "AUC", "gain", *names):
        table.add_column(heading, justify="right")
    for role, score in zip(("fast", "slow"), alone, strict=True):
        table.add_row(
            f"{role}: {names_alone[score.name]}",
            percent(score.in_force),
            percent(score.log_auc),
            "",
            *(percent(score.by_family[f].log_auc) for f in families),
        )
    for pair in pairs:
        table.add_row(
            f"pair, {spelled(pair.rule)}",
            percent(pair.in_force),
            percent(pair.log_auc),
            _signed(pair.log_auc - better),
            *(percent(pair.by_family[f].log_auc) for f in families),
            style="bold",
        )
    parts: list[RenderableType] = [*_notes(pairs), title, table, Text(), _arbitration(pairs)]
    parts += _losses(pairs)
    parts.append(
        _dim("gain: AUC against the better component alone; families: AUC. Replay of recordings.")
    )
    if first.signature:
        # One line for all rules: nothing else in their signatures differs.
        rules = "+".join(pair.rule for pair in pairs)
        parts.append(_dim(first.signature.replace(f"rule:{first.rule}", f"rule:{rules}")))
    return Group(*parts)


def live_screen(live: LivePair) -> RenderableType:
    """A joint recording as it happened, beside its replays at the same pace."""
    title = Text(f"{live.name}: recorded live, {spelled(live.rule)} (%)")
    table = _table()
    for heading in ("", "in force", "oracle", "U_cur", "stale", "judgm."):
        table.add_column(heading, justify="right" if heading else "left", overflow="fold")
    rows = [("as it happened", live.recorded)]
    rows += [(f"replayed, {spelled(rule)}", shares) for rule, shares in live.replayed.items()]
    for k, (name, shares) in enumerate(rows):
        table.add_row(
            name,
            percent(shares.in_force),
            percent(shares.oracle),
            percent(shares.u_current),
            percent(shares.stale + shares.no_decision),
            percent(shares.judgment + shares.compound),
            style="bold" if k == 0 else "",
        )
    counts = live.counts
    facts = (
        f"live: slow in force {percent(live.slow_share)} % of the time, "
        f"{counts.corrections} corrections, {counts.regressions} regressions, "
        f"{counts.refusals} refusals"
    )
    gap = f"live minus replay under the same rule: {_signed(live.gap, 2)} points"
    return Group(title, table, _dim(facts), _dim(gap), Text())


def contention_screen(cost: Contention) -> RenderableType:
    """What running together cost, component by component and for the pair."""
    table = _table()
    for heading in ("", "p50 alone", "p50 joint", "ratio", "AUC alone", "AUC joint"):
        table.add_column(heading, justify="right" if heading else "left", overflow="fold")

    def row(part: PartCost) -> None:
        ratio = part.joint.p50 / part.alone.p50 if part.alone.p50 else None
        table.add_row(
            part.name,
            f"{fixed(part.alone.p50, 3)} s",
            f"{fixed(part.joint.p50, 3)} s",
            fixed(ratio, 2),
            percent(part.alone_auc),
            percent(part.joint_auc),
        )

    row(cost.fast)
    row(cost.slow)
    one, two = cost.pair_alone, cost.pair_joint
    table.add_row(
        f"pair, {spelled(one.rule)}", "", "", "", percent(one.log_auc), percent(two.log_auc)
    )
    said = (
        f"contention cost the pair {_signed(cost.auc_cost, 2)} points of AUC and "
        f"{_signed(cost.in_force_cost, 2)} at {one.interval:g} s"
    )
    return Group(Text("Alone and together"), table, _dim(said), Text())


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
        table = _table()
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
    chosen = _table()
    for heading in ("for", "fast", "slow", "rule", "AUC", "alone", "gain"):
        numeric = heading in ("AUC", "alone", "gain")
        chosen.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    short = cut_names(names, _NAME)
    _add_best(chosen, "overall", found.best, short)
    for family, one in found.by_family.items():
        _add_best(chosen, FAMILIES.get(family, family), one, short)
    for over, one in zip(found.ranges, found.by_range, strict=True):
        _add_best(chosen, f"{over.low:g}–{over.high:g} s", one, short)
    parts.append(chosen)
    parts.append(_dim("alone: the best single component under the same heading."))
    return Group(*parts)


_NAME, _LONGER = 15, 19
"""Characters of a name where two or one stand in a row of 80."""


def _add_best(table: Table, heading: str, best: Best, short: Mapping[str, str]) -> None:
    table.add_row(
        heading,
        short[best.pair.fast],
        short[best.pair.slow],
        spelled(best.pair.rule),
        percent(best.value),
        percent(best.alone_value),
        _signed(best.gain),
    )


def _arbitration(pairs: Sequence[PairScore]) -> RenderableType:
    table = _table()
    headings = (
        "rule",
        "slow %",
        "accepted",
        "corrections",
        "regressions",
        "refusals",
        "stale loss",
    )
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "rule" else "right")
    for pair in pairs:
        counts, loss = pair.counts, pair.longest_stale_loss
        table.add_row(
            spelled(pair.rule),
            percent(pair.slow_share),
            str(counts.slow_accepted),
            str(counts.corrections),
            str(counts.regressions),
            str(counts.refusals),
            f"{fixed(loss.seconds, 3)} s" if loss else "–",
        )
    return Group(Text(f"Arbitration at {pairs[0].interval:g} s"), table)


def _losses(pairs: Sequence[PairScore]) -> list[RenderableType]:
    found: list[RenderableType] = []
    for pair in pairs:
        loss = pair.longest_stale_loss
        if loss is not None:
            found.append(
                _dim(
                    f"{spelled(pair.rule)}: in {loss.episode_id} the slow answer for step "
                    f"{loss.slow_source}, at {fixed(loss.slow_arrival_s, 3)} s, replaced the right "
                    f"fast one for step {loss.fast_source}, in force since "
                    f"{fixed(loss.fast_arrival_s, 3)} s, and was stale until "
                    f"{fixed(loss.end_s, 3)} s"
                )
            )
    return found


def _notes(pairs: Sequence[PairScore]) -> list[RenderableType]:
    notes: list[RenderableType] = []
    if any(pair.simulated for pair in pairs):
        notes.append(
            Text(
                "! simulation: answers and latencies of a component were drawn from a profile",
                style="bold yellow",
            )
        )
    if any(pair.virtual_clock for pair in pairs):
        notes.append(
            Text("! virtual clock: service times measured one by one", style="bold yellow")
        )
    return notes


def _table() -> Table:
    return Table(box=None, pad_edge=False)


def _dim(text: str) -> Text:
    return Text(text, style="dim", overflow="fold")


def _signed(share: float, digits: int = 1) -> str:
    text = percent(share, digits)
    return text if text.startswith("-") or float(text) == 0 else f"+{text}"
