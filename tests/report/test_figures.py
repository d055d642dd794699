"""Figures: one definition for every format, readable with 1 and with 30 settings, same bytes twice but in PDF."""

from __future__ import annotations

import itertools
import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import replace

import pytest

from streamdecisionbench.analysis.paper_analyses import (
    Window,
    choose_window,
)
from streamdecisionbench.components.simulated.profiles import builtin_profiles
from streamdecisionbench.components.simulated.simulator import SimulatedComponent, Simulator
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.episode import Member
from streamdecisionbench.recording.reader import read_recording
from streamdecisionbench.recording.recorder import RunConfig, record
from streamdecisionbench.recording.run_options import RunOptions
from streamdecisionbench.render.palette import SHOWN
from streamdecisionbench.report.figures.figure import (
    FORMATS,
    Figure,
    drawn,
    from_svg,
    parse_formats,
    render,
    to_csv,
)
from streamdecisionbench.report.figures.latency_figures import (
    oracle_slope,
    place_labels,
)
from streamdecisionbench.report.figures.style import spaced
from streamdecisionbench.report.figures.trajectory_figures import (
    spans,
    trajectory,
)
from streamdecisionbench.report.report_data import ReportInput, ReportResults, find
from streamdecisionbench.report.report_tables import make_tables
from streamdecisionbench.report.write_report import make_figures, make_material
from streamdecisionbench.scoring.score import score_timelines
from streamdecisionbench.suite.scenario import Suite
from tests.report import kit

pytestmark = pytest.mark.slow

EIGHT = [
    "trajectory", "error_time", "pace_curves", "latency_map", "latency_decomposition",
    "separability", "arbitration", "pair_curves",
]  # fmt: skip


def _figures(material: ReportInput) -> dict[str, Figure]:
    return _made(material, find(material))


def _made(material: ReportInput, findings: ReportResults) -> dict[str, Figure]:
    return {figure.name: figure for figure in make_figures(material, findings)}


@pytest.fixture(scope="module", autouse=True)
def _in_haste() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        kit.in_haste(patch)
        yield


@pytest.fixture(scope="module")
def few() -> ReportInput:
    return kit.material(3)


@pytest.fixture(scope="module")
def found(few: ReportInput) -> ReportResults:
    return find(few)


@pytest.fixture(scope="module")
def figures(few: ReportInput, found: ReportResults) -> dict[str, Figure]:
    return _made(few, found)


@pytest.fixture(scope="module")
def rendered(figures: dict[str, Figure]) -> dict[str, dict[str, bytes]]:
    """Every figure in every format."""
    return {name: render(figure) for name, figure in figures.items()}


def test_the_papers_eight_drawn_figures(figures: dict[str, Figure]) -> None:
    ours = ["wrong_spells", "delays_after_changes"]
    assert [name for name in figures if name not in ours] == EIGHT
    assert set(ours) < set(figures)


def test_every_figure_says_in_words_what_it_shows(
    figures: dict[str, Figure], rendered: dict[str, dict[str, bytes]]
) -> None:
    for name, figure in figures.items():
        assert len(figure.alt) > 60
        assert figure.spec["description"] == figure.alt
        root = ET.fromstring(rendered[name]["svg"])  # noqa: S314
        assert root.find("{*}title") is not None
        described = root.find("{*}desc")
        assert described is not None
        assert described.text == figure.alt


def test_same_bytes_every_time(
    figures: dict[str, Figure], rendered: dict[str, dict[str, bytes]]
) -> None:
    for name, figure in figures.items():
        first = rendered[name]
        assert set(first) == {"svg", "png", "pdf"}
        svg = drawn(figure)
        assert svg.encode() == first["svg"]
        again = from_svg(svg, FORMATS)
        assert again["png"] == first["png"]
        # The converter puts a PDF's objects into an order of their own every time.
        assert len(again["pdf"]) == pytest.approx(len(first["pdf"]), rel=0.01)


def test_a_figure_made_again_is_the_same(few: ReportInput, figures: dict[str, Figure]) -> None:
    again = _figures(few)
    for name, figure in figures.items():
        assert again[name].spec == figure.spec
        assert to_csv(again[name]) == to_csv(figure)


def test_png_is_as_large_as_the_svg_at_192_dpi(rendered: dict[str, dict[str, bytes]]) -> None:
    made = rendered["error_time"]
    found = re.search(rb'width="(\d+)" height="(\d+)"', made["svg"])
    assert found
    width, height = struct.unpack(">II", made["png"][16:24])
    assert (width, height) == (2 * int(found[1]), 2 * int(found[2]))


def test_curves_are_the_scorers(few: ReportInput, figures: dict[str, Figure]) -> None:
    entry = few.entries[1]
    rows = [
        row for row in figures["pace_curves"].data if row[0] == "overall" and row[1] == entry.name
    ]
    assert (rows[0][3], rows[-1][3]) == (0.5, 8.0)
    for _, _, _, interval, value in rows[::24]:
        exact = score_timelines(entry.score.parts, interval=interval).in_force
        assert value == pytest.approx(100 * exact, abs=1e-9)


def test_error_time_adds_up(figures: dict[str, Figure]) -> None:
    shares: dict[str, float] = {}
    for setting, _, _, share in figures["error_time"].data:
        shares[setting] = shares.get(setting, 0.0) + share
    assert all(total == pytest.approx(100, abs=1e-9) for total in shares.values())


@pytest.mark.parametrize("interval", [0.5, 2.0, 8.0])
def test_lanes_add_up_to_the_score(few: ReportInput, interval: float) -> None:
    for entry in few.entries:
        scored = score_timelines(entry.score.parts, interval=interval)
        for part in entry.score.parts:
            found = spans(part, interval)
            whole = (part.horizon - part.release[0]) * interval / part.tick
            shares = scored.by_scenario[part.episode_id].at_interval.classes()
            for name, share in shares.items():
                lasted = sum(s.end - s.begin for s in found if s.kind == name)
                assert lasted / whole == pytest.approx(share, abs=1e-9)


@pytest.fixture(scope="module")
def talk(sdb_v1: Suite, tmp_path_factory: pytest.TempPathFactory) -> tuple[ReportInput, Window]:
    """Presenter A, simulated twice, and its most representative window."""
    folder = tmp_path_factory.mktemp("talk")
    for name in ("jev", "terra-low"):
        component = SimulatedComponent(Simulator(sdb_v1, 0), builtin_profiles()[name], virtual=True)
        settings = RunConfig(
            RunOptions.of({None: component.info.name}, clock="virtual"), ("presenter_a",)
        )
        record(sdb_v1, [Member(component)], settings, folder / name)
    runs = [(read_recording(folder / name, sdb_v1), sdb_v1) for name in ("jev", "terra-low")]
    material = make_material(runs)
    return material, choose_window({e.name: e.parts for e in material.entries})


def test_every_transcript_change_is_marked_and_quoted(talk: tuple[ReportInput, Window]) -> None:
    """Compared state by state with the published transcript: a partial is open, a final filled."""
    material, window = talk
    figure = trajectory(material, window, material.entries)
    steps = material.suite.scenarios["presenter_a"].steps
    expected = []
    for before, step in itertools.pairwise(steps):
        if window.start_s <= 2.0 * step.t < window.end_s:
            was = before.state["transcript"]
            expected += [
                (2.0 * step.t, u["final_at"] is not None, u["text"])
                for u in step.state["transcript"]
                if u not in was
                and (u["text"], u["final_at"]) not in
                [(w["text"], w["final_at"]) for w in was if w["id"] == u["id"]]
            ]  # fmt: skip
    rows = [row for row in figure.data if str(row[4]).startswith(("partial: ", "final: "))]
    assert [(r[2], r[4].startswith("final"), r[4].partition(": ")[2]) for r in rows] == expected
    assert len(expected) > 4
    panels = figure.drawing["vconcat"]
    marks = [row["fill"] for row in panels[2]["data"]["values"]]
    assert [fill != "white" for fill in marks] == [final for _, final, _ in expected]
    quotes = " ".join(row["text"].strip() for row in panels[3]["data"]["values"])
    changes = material.suite.scenarios["presenter_a"].changes()
    for at, _, text in expected:
        if at / 2.0 in changes:
            assert text in quotes


def test_shares_that_are_not_the_scorers_are_not_drawn(talk: tuple[ReportInput, Window]) -> None:
    material, window = talk
    wrong = replace(window, shares={name: share + 1e-6 for name, share in window.shares.items()})
    with pytest.raises(RuntimeError, match="is drawn as right in the window"):
        trajectory(material, wrong, material.entries)


def test_fits_start_at_zero_tokens_and_lie_below_nine_tenths(
    few: ReportInput, found: ReportResults, figures: dict[str, Figure]
) -> None:
    rows = figures["latency_decomposition"].data
    for entry in few.entries:
        fit = found.networks[entry.name].fit
        line = [row[3:] for row in rows if row[0] == entry.name and row[2] == "fit"]
        seen = [row[3:] for row in rows if row[0] == entry.name and row[2] == "observed"]
        assert line[0] == (0.0, fit.remainder_s)
        assert len(seen) == sum(part.n for part in entry.parts)
        assert line[1][0] == min(x for x, _ in seen)
        slope = fit.decode_s_per_tok
        below = sum(y < fit.remainder_s + slope * x - 1e-9 for x, y in seen)
        assert below / len(seen) <= 0.1
    svg = render(figures["latency_decomposition"], ("svg",))["svg"].decode()
    assert 'stroke-dasharray="4,3"' in svg


def test_pairs_are_drawn_by_their_corrector_and_never_by_outcome() -> None:
    material = kit.material(10)
    slowest = max(material.entries, key=lambda e: e.score.latency.p50 if e.score.latency else 0)
    for named in (None, material.entries[3].name):
        findings = find(material, corrector=named)
        figures = _made(material, findings)
        corrector = named or slowest.name
        others = {e.name for e in material.entries} - {corrector}
        for name in ("pair_curves", "arbitration"):
            assert {row[0] for row in figures[name].data if row[1] == corrector} == others
            assert {row[1] for row in figures[name].data} <= {corrector, ""}
        alone = [row[4] for row in figures["pair_curves"].data if row[:2] == (corrector, "")]
        entry = next(e for e in material.entries if e.name == corrector)
        assert alone[-1] == pytest.approx(
            100 * score_timelines(entry.parts, interval=8.0).in_force, abs=1e-9
        )
        assert {p.second for p in findings.paired} == {corrector}
        assert f"Every pair with {corrector}" in figures["pair_curves"].caption
    asked = _made(material, find(material, best_pairs=True))
    assert "as asked for" in asked["pair_curves"].caption
    for given, words in (
        ({"corrector": "nobody"}, "'nobody' is none of"),
        ({"corrector": slowest.name, "best_pairs": True}, "exclude each other"),
        ({"window": "nowhere"}, "'nowhere' is not recorded"),
    ):
        with pytest.raises(InputError, match=words):
            find(material, **given)  # type: ignore[arg-type]


def test_thirty_settings_stay_readable() -> None:
    material = kit.material(30)
    figures = _figures(material)
    ours = ["wrong_spells", "delays_after_changes"]
    assert [name for name in figures if name not in ours] == EIGHT
    assert set(ours) < set(figures)
    svg = render(figures["pace_curves"], ("svg",))["svg"].decode()
    named = {e.name for e in material.entries if f">{e.name}<" in svg}
    assert len(named) == SHOWN
    assert "22 more are grey" in figures["pace_curves"].caption
    assert len({row[1] for row in figures["pace_curves"].data}) == 30
    bars = render(figures["error_time"], ("svg",))["svg"].decode()
    assert all(f">{e.name}<" in bars for e in material.entries)


def test_one_setting_without_tokens() -> None:
    figures = _figures(kit.material(1, tokens=False))
    assert list(figures) == [
        "trajectory",
        "error_time",
        "wrong_spells",
        "delays_after_changes",
        "pace_curves",
        "latency_map",
        "separability",
    ]
    for figure in figures.values():
        assert render(figure, ("png",))["png"].startswith(b"\x89PNG")


def test_calibration_is_drawn_of_recordings_with_confidences_alone() -> None:
    source = kit.suite()
    passes = [
        kit.recording(source, "sure", 1, sure=True, simulated=True),
        kit.recording(source, "doubtful", 2, sure=True),
        kit.recording(source, "mute", 3),
    ]
    material = make_material([(one, source) for one in passes])
    findings = find(material, pairs=False)
    (figure,) = (f for f in make_figures(material, findings) if f.name == "calibration_in_force")
    assert {row[0] for row in figure.data} == {"sure", "doubtful"}
    svg = render(figure, ("svg",))["svg"].decode()
    assert ">sure (sim.)<" in svg
    assert ">doubtful<" in svg
    assert "mute" not in svg
    assert "Simulation" in figure.caption
    (table,) = (t for t in make_tables(material, findings) if t.name == "calibration")
    assert [row[0] for row in table.texts()] == ["sure (sim.)", "doubtful"]
    assert "No confidences: mute." in table.notes
    assert "No confidences, so no calibration: mute." in findings.remarks
    found = findings.calibrations["doubtful"]
    assert table.row("doubtful")[1] == f"{100 * found.brier:.1f}"


def test_without_confidences_that_is_said_plainly(
    few: ReportInput, found: ReportResults, figures: dict[str, Figure]
) -> None:
    assert any("No recording carries confidences" in line for line in found.remarks)
    assert "calibration_in_force" not in figures
    assert "calibration" not in {t.name for t in make_tables(few, found)}


def test_simulations_are_labelled_in_every_figure() -> None:
    for figure in _figures(kit.material(2, simulated=True)).values():
        svg = render(figure, ("svg",))["svg"].decode()
        drawn = re.sub(r"<(title|desc)>.*?</\1>", "", svg, flags=re.DOTALL)
        assert "(sim.)" in drawn, figure.name
        assert "Simulation" in figure.caption, figure.name


def test_text_of_recordings_is_text() -> None:
    source = kit.suite()
    name = "<script>alert(1)</script> & co"
    material = make_material([(kit.recording(source, name, 1), source)])
    for figure in _figures(material).values():
        svg = render(figure, ("svg",))["svg"]
        assert b"<script" not in svg
        ET.fromstring(svg)  # noqa: S314


def test_labels_do_not_overlap() -> None:
    places = sorted(spaced([50.0] * 8 + [51, 99, 100], 5.0, 0.0, 100.0))
    assert all(b - a >= 5 - 1e-6 for a, b in itertools.pairwise(places))
    assert places[0] >= 0
    assert places[-1] <= 100
    points = [(100.0 + k, 100.0, "some name") for k in range(6)]
    boxes = place_labels(points, width=400, height=300)
    for i, (x, y) in enumerate(boxes):
        for a, b in boxes[i + 1 :]:
            assert abs(y - b) >= 12 or abs(x - a) >= 6 * len("some name")


def test_the_oracle_line_is_the_score_of_a_constant_delay() -> None:
    """O = 1 − K·L/H for L shorter than every segment, to the last digit."""
    import numpy as np

    from streamdecisionbench.scoring.timelines import timelines
    from tests.report.kit import recording, suite

    source = suite()
    material = make_material([(recording(source, "a", 1), source)])
    slope, valid = oracle_slope(material)
    delay = 0.7 * valid
    parts = [
        type(p)(
            p.episode_id, p.family, p.tick, p.release, np.full(p.n, delay), p.reference, p.reference
        )
        for p in timelines(material.entries[0].recording, source)
    ]
    assert score_timelines(parts).in_force == pytest.approx(1 - slope * delay, abs=1e-12)


def test_unknown_formats_are_refused() -> None:
    with pytest.raises(InputError, match="gif"):
        parse_formats("svg,gif")
    assert parse_formats("pdf, svg") == ("svg", "pdf")
    assert parse_formats("") == ()
