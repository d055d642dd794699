"""A log's score in the terminal: groups side by side, their classes, and how they differ."""

from __future__ import annotations

from streamdecisionbench.analysis.log_costs import log_cost_tables
from streamdecisionbench.analysis.result_table import Cell, Table, count, number, percent, text
from streamdecisionbench.logs.log_score import Change, Difference, LogScore
from streamdecisionbench.scoring.classes import ALL_CLASSES, CLASSES

__all__ = ["difference_line", "log_tables"]


def log_tables(score: LogScore) -> list[Table]:
    """What one reads first, then where the time went and how long answers took."""
    by = text(" and ".join(score.settings.by) or "log", "group")
    interval = score.settings.interval
    pace = "as recorded" if interval is None else f"at a state every {interval:g} s"
    known = all(group.judged_share > 1 - 1e-12 for group in score.groups)
    heads = [
        by,
        count("streams"),
        count("states", "decisions"),
        number("every s", key="mean_interval_s"),
    ]
    heads += [percent("in force", "in_force"), text("95 %", "interval_95"), percent("untimed")]
    rows: list[list[Cell]] = [
        [
            group.name, group.streams, group.decisions, group.mean_interval_s, group.in_force,
            _range(group.interval_95), group.untimed,
        ]
        for group in score.groups
    ]  # fmt: skip
    if score.settings.bounds is not None:
        heads.append(percent("log-AUC", "log_auc"))
        for row, group in zip(rows, score.groups, strict=True):
            row.append(group.log_auc)
    if not known:
        heads.append(percent("judged", "judged_share"))
        for row, group in zip(rows, score.groups, strict=True):
            row.append(group.judged_share)
    shown = [name for name in ALL_CLASSES if not known or name in CLASSES]
    tables = [
        Table(f"In-force accuracy, {pace} (%)", tuple(heads), tuple(map(tuple, rows))),
        Table(
            "Where the time went (%), and how long answers took",
            (
                by,
                *(percent(_SHORT[name], name) for name in shown),
                number("p50 s", key="latency_p50"),
                number("p95 s", key="latency_p95"),
            ),
            tuple(
                (
                    group.name,
                    *(group.classes[name] for name in shown),
                    group.latency.get("p50"),
                    group.latency.get("p95"),
                )
                for group in score.groups
            ),
        ),
    ]
    return tables + log_cost_tables(score)


_SHORT = {
    "current_correct": "right",
    "judgment": "judgm.",
    "stale": "stale",
    "compound": "comp.",
    "outdated_correct": "lucky",
    "no_decision": "none",
    "unjudged": "unjud.",
    "unattributed": "unattr.",
}


def difference_line(difference: Difference) -> str:
    """One sentence: how much, how sure, and because of what.

    Points of in-force accuracy; the causes add up to the whole.
    """
    value, interval = difference.in_force
    sure = f" (95 %: {_signed(interval[0])} to {_signed(interval[1])})" if interval else ""
    because = ", ".join(
        f"{cause} {_signed(change[0])}" for cause, change in difference.causes.items()
    )
    return (
        f"{difference.group.name} against {difference.against.name}: {_signed(value)} points in"
        f" force{sure}; {because}. {_verdict(difference)}"
    )


def _verdict(difference: Difference) -> str:
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
    return f"{value * 100:+.1f}"


def shown_change(change: Change) -> str:
    """A change with its interval, in points."""
    value, interval = change
    return _signed(value) + (
        f" ({_signed(interval[0])} to {_signed(interval[1])})" if interval else ""
    )
