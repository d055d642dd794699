"""The published recordings give the paper's rows: every cell, at the printed precision."""

from __future__ import annotations

from typing import Any

import pytest

from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.table import (
    Table,
    fixed,
)
from streamdecisionbench.report.report_data import find
from streamdecisionbench.report.report_tables import make_tables
from streamdecisionbench.report.write_report import make_material
from streamdecisionbench.suite.scenario import Suite

Tables = dict[str, Table]
SETTINGS = {"Astra": "astra-low", "Jev": "jev"}
FAMILIES = {
    "Debug": "IDE debugging",
    "Assembly": "Assembly station",
    "Support": "Support call",
    "Presenter": "Presenter control",
}


@pytest.fixture(scope="module")
def tables(published: tuple[Suite, dict[str, Recording]]) -> Tables:
    suite, recordings = published
    material = make_material([(recordings[name], suite) for name in SETTINGS.values()])
    return {table.name: table for table in make_tables(material, find(material))}


@pytest.fixture
def paper(figures: dict[str, Any]) -> Any:
    """Figures as the paper prints them."""

    def printed(key: str, digits: int = 1) -> str:
        return fixed(float(figures[key]), digits)

    return printed


def test_main(tables: Tables, paper: Any) -> None:
    for key, name in SETTINGS.items():
        expected = [paper(f"{key}{f}Auc") for f in FAMILIES] + [
            paper(f"{key}Auc"),
            paper(f"{key}Untimed"),
        ]
        assert tables["main"].row(name)[1:-1] == expected


def test_sensitivity(tables: Tables, paper: Any) -> None:
    ends = ("Auc", "AucLinear", "AucNarrow", "AucHalfFour", "AucOneEight", "AucTenthFour", "AucTenthEight", "CommonTwo")  # fmt: skip
    for key, name in SETTINGS.items():
        assert tables["sensitivity"].row(name)[1:] == [paper(key + end) for end in ends]


def test_integrated_decomposition(tables: Tables, paper: Any) -> None:
    ends = ("AucOracle", "AucUCurrent", "AucLucky", "AucProduct", "Auc")
    for key, name in SETTINGS.items():
        assert tables["integrated_decomposition"].row(name)[1:] == [paper(key + e) for e in ends]


def test_decomposition(tables: Tables, paper: Any) -> None:
    rows = {
        "Judgment": "ErrJudgmentPct", "Stale": "ErrStalePct", "Compound": "ErrCompoundPct",
        "No decision": "ErrNoDecisionPct", "Lucky": "LuckyPct", "Untimed U": "Untimed",
        "Current U_cur": "UCurrent", "Oracle O": "TimingCeiling", "U O": "Product",
        "In force A": "InForce",
    }  # fmt: skip
    for label, end in rows.items():
        assert tables["decomposition"].row(label)[1:] == [paper(key + end) for key in SETTINGS]


def test_pace(tables: Tables, paper: Any) -> None:
    rows = {
        ("×0.5", "4.00"): "InForceDelayHalf", ("×2/3", "3.00"): "InForceDelayTwoThirds",
        ("×1", "2.00"): "InForce", ("×1.5", "1.33"): "InForceDelayThreeHalves",
        ("×2", "1.00"): "InForceDelayDouble",
    }  # fmt: skip
    for label, end in rows.items():
        assert tables["pace"].row(*label)[2:] == [paper(key + end) for key in SETTINGS]


def test_scenarios(tables: Tables, paper: Any) -> None:
    texts = tables["scenario"].texts()
    found = {}
    scenario = ""
    for cells in texts:
        scenario = cells[0] or scenario
        found[scenario, cells[1]] = cells[2:]
    ends = ("Untimed", "Auc", "InForce", "InForceSeg", "ErrNoDecisionSec", "ErrStaleSec", "ErrJudgmentSec", "ErrCompoundSec")  # fmt: skip
    for part, family in FAMILIES.items():
        for letter in "AB":
            for key, name in SETTINGS.items():
                prefix = f"{key}{part}{letter}"
                expected = [paper(prefix + end) for end in ends]
                expected.append(paper(f"{prefix}LatencyMedian", 2))
                assert found[f"{family} {letter}", name] == expected
    assert len(found) == 16


def test_families_with_the_remainder_removed(tables: Tables, paper: Any) -> None:
    table = tables["family"]
    rows = enumerate(table.texts())
    for part, family in FAMILIES.items():
        for key, name in SETTINGS.items():
            place, cells = next(rows)
            low, high = (paper(f"{key}{part}NetRemoved{end}") for end in ("Low", "High"))
            assert table.section_of(place) == family
            assert cells == [
                name, *(paper(f"{key}{part}{e}") for e in ("Untimed", "InForce", "NetRemoved")),
                f"({low}–{high})",
            ]  # fmt: skip


def test_latency(tables: Tables, paper: Any) -> None:
    for key, name in SETTINGS.items():
        decode = "–" if key == "Jev" else paper(f"{key}DecodeMsPerTok")
        assert tables["latency"].row(name)[1:] == [
            paper(f"{key}NetSec", 2),
            f"({paper(f'{key}NetSecLow', 2)}–{paper(f'{key}NetSecHigh', 2)})",
            paper(f"{key}PrefillMsPerKTok"),
            decode,
            paper(f"{key}LatencyMedian", 2),
            paper(f"{key}LatencyPNinetyFive", 2),
        ]


def test_tokens_and_cost(tables: Tables, paper: Any) -> None:
    ends = (
        ("InputTokMedian", 0), ("OutputTokMedian", 0), ("ReasoningTokMedian", 0),
        ("InputTokTotal", 0), (None, 0), ("OutputTokTotal", 0), ("LatencyMean", 2),
        ("LatencyMax", 2), ("PriceInput", 3), ("PriceOutput", 3), ("CostInputUSD", 3),
        ("CostOutputUSD", 3), ("CostUSD", 3),
    )  # fmt: skip
    for cells, (end, digits) in zip(tables["tokens"].texts(), ends, strict=True):
        if end is not None:
            assert cells[1:] == [paper(key + end, digits) for key in SETTINGS]


def test_reliability(tables: Tables, paper: Any) -> None:
    rows = {
        "Valid responses": ("ValidResponses", 0), "Attempts": ("Attempts", 0),
        "Failed attempts": ("FailedAttempts", 0), "Retried requests": ("RetriedRequests", 0),
        "Accepted updates": ("AcceptedUpdates", 0),
        "Discarded: after horizon": ("DiscardedAfterHorizon", 0),
        "Discarded: superseded": ("DiscardedOlder", 0),
        "Dispatch wait, total (s)": ("ExcludedDispatchSec", 2),
        "In force: recorded replay": ("InForceRecorded", 1),
        "In force: physical": ("InForcePhysical", 1),
    }  # fmt: skip
    for label, (end, digits) in rows.items():
        assert tables["reliability"].row(label)[1:] == [paper(k + end, digits) for k in SETTINGS]


def test_transitions(tables: Tables, paper: Any) -> None:
    for key, name in SETTINGS.items():
        row = tables["transitions"].row(name)
        assert [row[1], row[4]] == [paper(f"Traj{key}NearError"), paper(f"Traj{key}FarError")]
        assert [row[3], row[6]] == [paper("TrajLunaNearStates", 0), paper("TrajLunaFarStates", 0)]


def test_the_pair(tables: Tables, paper: Any) -> None:
    rules = {"freshest": "Freshest", "lag-one": "LagOne", "late-override": "Arrival"}
    for rule, part in rules.items():
        expected = [paper(f"TrajAstra{part}{end}") for end in ("One", "Two", "Auc")]
        assert tables["composition"].row("jev", "astra-low", rule)[3:] == expected


def test_changes_of_the_reference(tables: Tables, paper: Any) -> None:
    row = tables["benchmark"].row("All")
    assert row[-1] == paper("TransitionsTotal", 0)


def test_projected_schedules(tables: Tables, figures: dict[str, Any]) -> None:
    """Other draws of the latencies: within 0.3 points and the rounding of both."""
    names = {
        "the suite's own": "Lite", "sparse": "Sparse", "medium": "Medium", "uniform": "Uniform",
        "dense": "Dense", "bursty": "Bursty", "long-tail dwell": "LongTail",
        "recurrent A-B-A": "Recurrent",
    }  # fmt: skip
    for label, part in names.items():
        row = tables["regime"].row(label)
        for key, cell in zip(SETTINGS, row[2:], strict=True):
            assert float(cell) == pytest.approx(float(figures[f"Regime{part}{key}"]), abs=0.4)
