"""Wrong spells as tables: how long the application stays wrong, and how often."""

from __future__ import annotations

from collections.abc import Mapping

from streamdecisionbench.analysis.numbers import percent as as_percent
from streamdecisionbench.analysis.result_table import (
    Cell,
    Table,
    count,
    number,
    percent,
    readable,
    text,
)
from streamdecisionbench.scoring.bounds import Bounds
from streamdecisionbench.scoring.costs.course import ByLevel
from streamdecisionbench.scoring.costs.measures import SpellMeasures

__all__ = ["long_or_many", "spell_tables"]


def spell_tables(
    results: Mapping[str, ByLevel[SpellMeasures]], theta: float, interval: float, bounds: Bounds
) -> list[Table]:
    """Every level at the interval, and the whole over the bounds."""
    rows: list[tuple[Cell, ...]] = []
    for name, result in results.items():
        levels: dict[str, SpellMeasures] = {"overall": result.overall, **result.by_family}
        for level, label in readable(levels).items():
            found = levels[level]
            rows.append(
                (name if level == "overall" else "", label, found.wrong_share, found.count,
                 found.mean_length_s, found.longest_s, found.mean_age_s, found.beyond_share)
            )  # fmt: skip
    columns = (
        text("", "recording"), text("level"), percent("wrong %", "wrong_share"),
        count("spells", "count"), number("mean s", 2, "mean_length_s"),
        number("max s", 1, "longest_s"), number("age s", 2, "mean_age_s"),
        percent(f"> {theta:g} s %", "beyond_share"),
    )  # fmt: skip
    first = Table(
        f"Wrong spells at {interval:g} s a tick",
        columns,
        tuple(rows),
        notes=(
            f"age: mean over time of how long it has been wrong; > {theta:g} s: share of time wrong"
            " for longer than that, and what makes a spell long.",
            *long_or_many(results),
        ),
    )
    over = Table(
        f"The same, on average over {bounds.text()}",
        (text("", "recording"), number("spells", 1, "integrated_count"),
         number("max s", 1, "integrated_longest_s"),
         number("age s", 2, "integrated_mean_age_s"),
         percent(f"> {theta:g} s %", "integrated_beyond_share")),
        tuple(
            (name, x.count, x.longest_s, x.mean_age_s, x.beyond_share)
            for name, x in ((name, r.overall.integrated) for name, r in results.items())
            if x is not None
        ),
    )  # fmt: skip
    return [first, over]


def long_or_many(results: Mapping[str, ByLevel[SpellMeasures]]) -> tuple[str, ...]:
    """Of two and more recordings, which loses to long spells and which to many short ones."""
    if len(results) < 2:
        return ()
    found = {name: result.overall for name, result in results.items()}
    most_long = max(found, key=lambda name: found[name].long_share)
    most_short = max(found, key=lambda name: found[name].short_share)

    def lost(name: str) -> str:
        mine = found[name]
        return (
            f"{as_percent(mine.long_share)} % of time in long spells,"
            f" {as_percent(mine.short_share)} % in short ones"
        )

    if most_long == most_short:
        return (f"{most_long} loses most to long spells and to short ones: {lost(most_long)}.",)
    return (
        f"{most_long} loses more to long spells ({lost(most_long)}), {most_short} more to many short"
        f" ones ({lost(most_short)}).",
    )
