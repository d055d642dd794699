"""Ranking by cost beside ranking by time: recordings, pairs, the page, the tables, the board."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamdecisionbench.analysis.bootstrap import Sampling
from streamdecisionbench.analysis.candidates import CandidatePool
from streamdecisionbench.analysis.choose import Terms, by_cost, decide
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.pair_trajectory import (
    pair_trajectory,
    pair_trajectory_over,
)
from streamdecisionbench.policies.cost_file import default_costs
from streamdecisionbench.render.formats import to_markdown
from streamdecisionbench.report.page import payload
from streamdecisionbench.report.report_data import ReportInput, error_costs, pair_cost
from streamdecisionbench.report.report_tables import costs_of_error
from streamdecisionbench.report.write_report import make_material
from streamdecisionbench.scoring.error_costs import (
    charge,
    path_measures,
    path_measures_along,
)
from tests.report import kit
from tests.report.page_kit import kit_inputs


@pytest.fixture(scope="module")
def material() -> ReportInput:
    suite = kit.suite()
    return make_material([(kit.recording(suite, name, k), suite) for k, name in enumerate("abc")])


def test_a_pair_costs_what_its_course_costs(material: ReportInput) -> None:
    parts = {e.name: e.score.parts for e in material.entries}
    for rule in ("freshest", "lag_one", "late_override"):
        duo = (parts["a"], parts["b"], rule)
        path, sweep = pair_trajectory(*duo, material.interval), pair_trajectory_over(*duo, Bounds())
        course = path_measures_along(path, sweep, parts["a"], Bounds())
        want = charge(course, default_costs()).overall.at_interval
        found = pair_cost(material, "a", "b", rule)
        assert (found.wrong, found.age, found.acts) == pytest.approx(
            (want.wrong, want.age, want.acts), rel=1e-12, abs=1e-12
        )


def test_the_choice_lists_pairs_and_recordings_by_cost(material: ReportInput) -> None:
    parts = {e.name: e.score.parts for e in material.entries}
    terms = Terms(pairs=True, sampling=Sampling(resamples=50))
    choice = decide(CandidatePool(parts, {}, []), 2.0, terms, listed=True)
    found = by_cost(choice.candidates[:20], 2.0, parts, default_costs())
    assert any(" + " in one.name for one in found)
    assert [one.place_by_cost for one in found] == list(range(1, len(found) + 1))
    assert sorted(one.place_by_time for one in found) == list(range(1, len(found) + 1))
    costs = [one.rates.total for one in found]
    assert costs == sorted(costs)


def test_the_page_has_the_cost_of_every_pair(material: ReportInput) -> None:
    suite = material.suite
    inputs = kit_inputs(suite, [e.recording for e in material.entries])
    found = error_costs(material)
    inputs = replace(
        inputs,
        findings=replace(inputs.findings, errors=found),
        pair_costs={
            (p.fast, p.slow, p.rule): pair_cost(material, p.fast, p.slow, p.rule)
            for p in inputs.pairs
        },
    )
    document = payload(inputs)
    assert len(document["pairs"]) > 0
    for pair, view in zip(document["pairs"], inputs.pairs, strict=True):
        want = pair_cost(material, view.fast, view.slow, view.rule)
        assert pair["price"]["total"] == want.total
    assert document["costWords"] == list(found.words)
    assert all(rec["price"]["total"] > 0 for rec in document["recordings"])


def test_the_table_gives_both_places(material: ReportInput) -> None:
    found = error_costs(material)
    table = costs_of_error(material, found)
    names = [e.name for e in material.entries]
    cost = {n: found.scores[n].overall.at_interval.total for n in names}
    want = sorted(names, key=lambda n: cost[n])
    for entry, row in zip(material.entries, table.rows, strict=True):
        assert row[2] == want.index(entry.name) + 1
        course = path_measures(entry.score.parts, material.interval, material.bounds)
        assert cost[entry.name] == charge(course, default_costs()).overall.at_interval.total
    assert found.words
    assert found.words[0] in to_markdown(table).replace("\\", "")
