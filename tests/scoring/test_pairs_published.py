"""The published pair, at the printed precision."""

from __future__ import annotations

from typing import Any

import pytest

from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.table import (
    fixed,
    percent,
)
from streamdecisionbench.scoring.pairs import compose_recordings, matrix
from streamdecisionbench.scoring.score import score
from streamdecisionbench.suite.scenario import Suite

Published = tuple[Suite, dict[str, Recording]]

PRINTED = {"freshest": "Freshest", "lag_one": "LagOne", "late_override": "Arrival"}


@pytest.mark.parametrize("rule", PRINTED)
def test_jev_with_astra_low_prints_the_published_row(
    rule: str, published: Published, figures: dict[str, Any]
) -> None:
    suite, runs = published
    row = [
        percent(compose_recordings(
            runs["jev"], runs["astra-low"], suite, rule=rule, interval=interval
        )[0].in_force)
        for interval in (1.0, 2.0)
    ]  # fmt: skip
    pair = compose_recordings(runs["jev"], runs["astra-low"], suite, rule=rule)[0]
    row.append(percent(pair.log_auc))
    name = PRINTED[rule]
    assert row == [fixed(figures[f"TrajAstra{name}{column}"]) for column in ("One", "Two", "Auc")]


def test_the_nominal_clock_moves_a_component_alone_by_no_more_than_published(
    published: Published, figures: dict[str, Any]
) -> None:
    suite, runs = published
    for run in runs.values():
        own, nominal = (score(run, suite, clock=clock) for clock in ("recorded", "nominal"))
        gap = 100 * abs(own.in_force - nominal.in_force)
        assert gap <= float(figures["TrajNominalGap"]) + 5e-7


def test_jev_alone_on_the_nominal_clock_prints_the_published_reference_line(
    published: Published, figures: dict[str, Any]
) -> None:
    suite, runs = published
    alone = score(runs["jev"], suite, clock="nominal")
    assert percent(alone.in_force) == fixed(figures["TrajJevTwo"])
    assert percent(alone.log_auc) == fixed(figures["TrajJevAuc"])


def test_counts_of_the_published_pair_fit_together(published: Published) -> None:
    """`late_override` turns nothing away, and no rule delivers more than the slow component did."""
    suite, runs = published
    by_rule = {p.rule: p for p in compose_recordings(runs["jev"], runs["astra-low"], suite)}
    delivered = {p.counts.slow_accepted + p.counts.refusals for p in by_rule.values()}
    assert len(delivered) == 1
    assert by_rule["late_override"].counts.refusals == 0
    assert by_rule["freshest"].counts.regressions == 0
    loss = by_rule["late_override"].longest_stale_loss
    assert loss is not None
    assert loss.slow_source < loss.fast_source
    assert loss.fast_arrival_s < loss.slow_arrival_s <= loss.begin_s < loss.end_s


def test_every_ordered_pair_and_the_best_of_them(published: Published) -> None:
    suite, runs = published
    found = matrix(list(runs.values()), suite)
    assert len(found.pairs) == 2 * 3
    assert (found.best.pair.fast, found.best.pair.slow) == ("jev", "astra-low")
    assert found.best.pair.rule == "freshest"
    assert found.best.value == max(p.log_auc for p in found.pairs)
    assert found.best.alone == "jev"
    rules = [p for p in found.pairs if (p.fast, p.slow) == ("jev", "astra-low")]
    assert max(rules, key=lambda p: p.log_auc) is found.best.pair
    assert [(b.low, b.high) for b in found.ranges] == [(0.5, 1), (1, 2), (2, 4), (4, 8)]
    one = compose_recordings(runs["jev"], runs["astra-low"], suite, bounds=(2.0, 4.0))
    assert found.by_range[2].value == pytest.approx(max(p.log_auc for p in one), abs=1e-12)
