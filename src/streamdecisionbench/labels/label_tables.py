"""A sample and an estimate from labels, as tables and lines."""

from __future__ import annotations

from streamdecisionbench.kernel.classes import ALL_CLASSES
from streamdecisionbench.labels.estimate import GroupDifference, GroupEstimate, LogEstimate
from streamdecisionbench.labels.sample import AuditSample
from streamdecisionbench.render.sentences import group_difference
from streamdecisionbench.render.table import (
    Column,
    Table,
    count,
    percent,
    percentage,
    share_range,
    text,
)
from streamdecisionbench.text import plural


def sample_lines(sample: AuditSample) -> list[str]:
    """What was drawn from what, and what it asks of people."""
    if sample.census:
        lines = [f"all time of the log: {plural(sample.items, 'state')} to answer for"]
    else:
        lines = [
            f"{plural(len(sample.moments), 'moment')}, {plural(sample.items, 'state')} to answer for"
        ]
    for k, group in enumerate(sample.groups):
        name = ", ".join(f"{n} {v}" for n, v in group.by.items()) or "the log"
        strata = "; ".join(
            f"{_KNOWN[one.says]} {percent(one.share)} % of the time, {plural(one.moments, 'moment')}"
            for one in sample.strata
            if one.group == k
        )
        lines.append(f"{name}, {plural(group.streams, 'stream')}: {strata}")
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
    people = plural(found.people, "person", "people")
    lines = [_headline(group, found) for group in found.groups]
    lines += [_estimated_difference(one) for one in found.differences]
    lines.append(
        f"{found.answered} of {plural(found.items, 'item')} are answered: {plural(found.answers, 'answer')} of {people}."
    )
    for group in found.groups:
        helped = group.silver
        if helped is not None and helped.agreement is not None:
            of = "" if len(found.groups) == 1 else f"{group.name}: "
            line = f"{of}silver says what people say {percent(helped.agreement)} % of the time"
            if helped.moments_without is not None:
                line += f"; without it as narrow an interval takes {plural(helped.moments_without, 'moment')}"
            lines.append(f"{line}.")
        if group.unclear and group.bounds is not None:
            of = "" if len(found.groups) == 1 else f" of {group.name}"
            lines.append(
                f"{plural(group.unclear, f'moment{of} hangs', f'moments{of} hang')} on {plural(len(found.disputes), 'dispute')} and"
                f" {plural(found.cannot_tell, 'item')} that nobody can tell: {percent(group.bounds[0])} % in"
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
            f" {plural(found.agreement.items, 'item')}; {alpha}."
        )
    return lines


def _headline(group: GroupEstimate, found: LogEstimate) -> str:
    of = "" if len(found.groups) == 1 else f"{group.name}: "
    accuracy = group.in_force
    if accuracy.interval_95 is None:
        return f"{of}{percent(accuracy.value)} % in force, from {plural(group.answered, 'moment')}."
    if found.census:
        return f"{of}{percent(accuracy.value)} % in force, from all of the log's time."
    points = f"±{100 * found.within:g} points"
    more = f"{points} would take {group.more} more" if group.more else f"{points} are reached"
    return (
        f"{of}{percent(accuracy.value)} % in force (95 %: {share_range(accuracy.interval_95)}), from"
        f" {plural(group.answered, 'moment')}; {more}."
    )


def _estimated_difference(one: GroupDifference) -> str:
    value, sure = one.in_force.value, one.in_force.interval_95
    if value is None or sure is None:
        return f"{one.group.name} against {one.against.name}: not known yet."
    causes = {cause: x.value for cause, x in one.causes.items() if x.value is not None}
    clear = "" if sure[0] > 0 or sure[1] < 0 else " It may be no difference at all."
    return group_difference(one.group.name, one.against.name, value, sure, causes) + clear


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
             share_range(g.in_force.interval_95), share_range(g.in_force.interval_95_streams))
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
                        f"{percent(g.classes[name].value)} ({share_range(g.classes[name].interval_95)})"
                        for g in found.groups[k : k + 3]
                    ),
                )
                for name in ALL_CLASSES
            ),
        )
        for k in range(0, len(found.groups), 3)
    ]
    return [groups, *classes]
