"""The page in a real browser: its numbers are the scorer's, it is usable by hand, it asks nobody."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from streamdecisionbench.analysis.candidates import CandidatePool, priced_answers
from streamdecisionbench.analysis.choose import choice_lines, decide, money
from streamdecisionbench.analysis.token_cost import Cost, Tokens
from streamdecisionbench.examples import example_recording, example_suite
from streamdecisionbench.kernel.arrays import JoinedTimelines
from streamdecisionbench.kernel.classes import CLASSES
from streamdecisionbench.kernel.paces import AtPace
from streamdecisionbench.kernel.pair_trajectory import pair_trajectory
from streamdecisionbench.kernel.rule import spelled
from streamdecisionbench.kernel.trajectory import trajectory_at
from streamdecisionbench.recording.event_log import Response
from streamdecisionbench.recording.prices import Price, read_prices
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.palette import CLASS_STYLE
from streamdecisionbench.render.table import (
    fixed,
    percent,
)
from streamdecisionbench.report.page import (
    PageInputs,
    render_page,
)
from streamdecisionbench.scoring.error_costs import Figures
from streamdecisionbench.scoring.pairs import compose
from streamdecisionbench.scoring.score import Score, score_timelines
from streamdecisionbench.suite.scenario import Suite
from tests.report.browser import CHROMIUM, NO_BROWSER, Browser
from tests.report.page_kit import HOSTILE, kit_inputs, kit_recording, kit_recordings, kit_suite

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)]

INTERVALS = (0.5, 1.0, 1.37, 2.0, 5.0, 8.0)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as one:
        yield one


@pytest.fixture(scope="module")
def inputs() -> PageInputs:
    suite = kit_suite()
    return kit_inputs(suite, kit_recordings(suite))


@pytest.fixture(scope="module")
def file(inputs: PageInputs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, written once; every test opens it afresh."""
    return _written(inputs, tmp_path_factory.mktemp("page"))


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Browser]:
    yield from _visited(browser, file)


def _written(inputs: PageInputs, folder: Path) -> Path:
    file = folder / "index.html"
    file.write_text(render_page(inputs), encoding="utf-8", newline="\n")
    return file


def _opened(browser: Browser, inputs: PageInputs, folder: Path) -> Iterator[Browser]:
    yield from _visited(browser, _written(inputs, folder))


def _visited(browser: Browser, file: Path) -> Iterator[Browser]:
    """The page, and afterwards: no error, no dialog, and no request but the one for the file."""
    browser.resize(1280, 900)
    browser.seen.errors.clear()
    browser.seen.requests.clear()
    browser.seen.dialogs.clear()
    browser.open(file)
    assert browser.run("document.documentElement.dataset.ready") == "yes"
    yield browser
    browser.settle()
    assert browser.seen.errors == []
    assert browser.seen.dialogs == []
    assert browser.seen.requests == [file.resolve().as_uri()]


def _type_interval(page: Browser, text: str) -> None:
    page.run("document.getElementById('interval-number').select()")
    page.call("Input.insertText", text=text)
    page.press("Tab")


def _interval(page: Browser) -> float:
    return float(page.run("document.getElementById('interval-number').value"))


def _at(score: Score, interval: float) -> Score:
    return score_timelines(
        score.parts, name=score.name, interval=interval, bounds=score.bounds, clock=score.clock
    )


def _cells(page: Browser) -> dict[str, dict[str, str]]:
    """The leaderboard as shown: recording → column → text."""
    found: dict[str, dict[str, str]] = page.run(
        "Object.fromEntries([...document.querySelectorAll('.board tbody tr')].map(tr => ["
        " tr.dataset.recording, Object.fromEntries([...tr.querySelectorAll('[data-cell]')].map(td =>"
        " [td.dataset.cell, td.firstChild.textContent]))]))"
    )
    return found


def _tables(page: Browser) -> dict[str, dict[str, list[str]]]:
    """Open data tables by caption: first cell → further cells."""
    page.run("document.querySelectorAll('details').forEach(d => { d.open = true; d.refresh(); })")
    found: list[list[Any]] = page.run(
        "[...document.querySelectorAll('table')].map(t => [t.caption.textContent,"
        " [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent))])"
    )
    return {caption: {row[0]: row[1:] for row in rows} for caption, rows in found}


def _check_board(page: Browser, scores: list[Score], interval: float) -> None:
    cells = _cells(page)
    assert sorted(cells) == sorted(s.name for s in scores)
    for score in scores:
        here = _at(score, interval).overall
        shown = cells[score.name]
        assert shown["auc"] == percent(score.log_auc)
        assert shown["untimed"] == percent(score.untimed)
        assert shown["inForce"] == percent(here.in_force)
        assert shown["oracle"] == percent(here.at_interval.oracle)
        assert shown["uCurrent"] == percent(here.at_interval.u_current)
        assert score.latency is not None
        assert shown["p50"] == fixed(score.latency.p50, 2)


def _composed(inputs: PageInputs, pair: Score, interval: float) -> Score:
    parts = {score.name: score.parts for score in inputs.material.scores}
    return compose(parts[pair.fast], parts[pair.slow], pair.rule, interval)


def _mark_pair(pair: Score) -> str:
    return (" (simulation)" if pair.simulated else "") + (
        " (virtual clock)" if pair.virtual_clock else ""
    )


def _mark(score: Score) -> str:
    return (" (simulation)" if score.simulated else "") + (
        " (virtual clock)" if score.virtual_clock else ""
    )


def test_every_number_follows_the_interval(page: Browser, inputs: PageInputs) -> None:
    for interval in INTERVALS:
        _type_interval(page, f"{interval:g}")
        _check_board(page, list(inputs.material.scores), interval)
        tables = _tables(page)
        for score in inputs.material.scores:
            here = _at(score, interval)
            label = score.name + _mark(score)
            shares = here.overall.at_interval
            classes = tables[f"Shares of time by class at {interval:g} s, %"][label]
            assert classes == [
                *(percent(shares.classes()[key]) for key in CLASS_STYLE),
                percent(shares.in_force),
                percent(shares.segment_in_force),
                percent(shares.product),
            ]
            assert tables["In-force accuracy by family, %"][label] == [
                text
                for level in here.by_family.values()
                for text in (percent(level.log_auc), percent(level.in_force))
            ]
            lane = tables[f"Classes of time in Scenario one_a at {interval:g} s, %"][label]
            level = here.by_scenario["one_a"]
            assert lane[:3] == [
                percent(level.in_force),
                percent(level.untimed),
                percent(level.oracle),
            ]
            counts = next(
                cells
                for name, cells in tables["Reliability"].items()
                if name.startswith(score.name)
            )
            steps = sum(p.n for p in score.parts)
            assert counts[4:7] == [
                f"{value}/{steps}"
                for value in (here.accepted, here.discarded_older, here.discarded_after_horizon)
            ]
        shown = tables["In-force accuracy of pairs, %"]
        at = sorted({0.5, 1.0, 2.0, 4.0, 8.0, interval}).index(interval)
        for pair in inputs.pairs:
            label = f"{pair.fast} + {pair.slow} ({spelled(pair.rule)}){_mark_pair(pair)}"
            here = _composed(inputs, pair, interval)
            assert shown[label][at] == percent(here.in_force)


def test_scenarios_families_and_whole_agree_far_below_the_printed_digit(
    page: Browser, inputs: PageInputs
) -> None:
    rng = random.Random(3)
    intervals = [round(rng.uniform(0.5, 8.0), 3) for _ in range(40)]
    shown = page.run(
        f"{json.dumps(intervals)}.map(d => sdb.recordings.map(rec => {{"
        " const l = sdb.levels(rec, d);"
        " return [l.overall, ...[...l.scenarios.values()]].map(x =>"
        " [...x.classes, x.segment, x.product]); }))"
    )
    for interval, recordings in zip(intervals, shown, strict=True):
        for score, levels in zip(inputs.material.scores, recordings, strict=True):
            here = _at(score, interval)
            for values, level in zip(
                levels, [here.overall, *here.by_scenario.values()], strict=True
            ):
                at = level.at_interval
                expected = [
                    at.current_correct, at.judgment, at.stale, at.compound, at.outdated_correct,
                    at.no_decision, at.segment_in_force, at.product,
                ]  # fmt: skip
                np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_pairs_are_replayed_as_the_scorer_replays_them(page: Browser, inputs: PageInputs) -> None:
    rng = random.Random(7)
    intervals = [round(rng.uniform(0.5, 8.0), 3) for _ in range(12)]
    shown = page.run(
        f"{json.dumps(intervals)}.map(d => sdb.pairs.map(pair => {{"
        " const l = sdb.levels(pair, d);"
        " return [l.overall, ...[...l.scenarios.values()]].map(x =>"
        " [...x.classes, x.segment, x.product]); }))"
    )
    assert {pair.rule for pair in inputs.pairs} == {"freshest", "lag_one", "late_override"}
    for interval, pairs in zip(intervals, shown, strict=True):
        for pair, levels in zip(inputs.pairs, pairs, strict=True):
            here = _composed(inputs, pair, interval)
            for values, level in zip(
                levels, [here.overall, *here.by_scenario.values()], strict=True
            ):
                at = level.at_interval
                expected = [
                    at.current_correct, at.judgment, at.stale, at.compound, at.outdated_correct,
                    at.no_decision, at.segment_in_force, at.product,
                ]  # fmt: skip
                np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_ties_are_decided_as_the_scorer_decides_them(browser: Browser, tmp_path: Path) -> None:
    """Answers at the same time, and at the very end: of two the newer one counts, at H none."""
    suite = kit_suite()
    recordings = [
        kit_recording(suite, f"tied-{k}", latency=0.7 + k, wrong=0.3, seed=k, tied=True)
        for k in range(3)
    ]
    inputs = kit_inputs(suite, recordings)
    intervals = [0.5, 1.0, 2.0, 4.0, 8.0]
    met = ended = 0
    for flat in (JoinedTimelines(score.parts) for score in inputs.material.scores):
        for interval in intervals:
            arrivals = flat.r + flat.tick[flat.scenario] / interval * flat.L
            met += len(arrivals) - len(
                set(zip(flat.scenario.tolist(), arrivals.tolist(), strict=True))
            )
            ended += int((arrivals == flat.H[flat.scenario]).sum())
    assert met > 50
    assert ended > 5
    script = (
        f"{json.dumps(intervals)}.map(d => sdb.SOURCE.map(one => {{"
        " const l = sdb.levels(one, d);"
        " return [...l.scenarios.values()].map(x => [...x.classes, x.segment]); }))"
    )
    for page in _opened(browser, inputs, tmp_path):
        counts = page.run(
            f"{json.dumps(intervals)}.map(d => sdb.recordings.map(rec => {{"
            " const all = rec.lines.map(line => sdb.spans(line, d));"
            " return ['accepted', 'superseded', 'late'].map(key =>"
            " all.reduce((sum, one) => sum + one[key], 0)); }))"
        )
        shown = {key: page.run(script.replace("SOURCE", key)) for key in ("recordings", "pairs")}
    for k, interval in enumerate(intervals):
        alone = [_at(score, interval) for score in inputs.material.scores]
        assert counts[k] == [
            [here.accepted, here.discarded_older, here.discarded_after_horizon] for here in alone
        ]
        composed = [_composed(inputs, pair, interval) for pair in inputs.pairs]
        for scores, found in ((alone, shown["recordings"][k]), (composed, shown["pairs"][k])):
            for here, levels in zip(scores, found, strict=True):
                for values, level in zip(levels, here.by_scenario.values(), strict=True):
                    at = level.at_interval
                    expected = [*(at.classes()[name] for name in CLASSES), at.segment_in_force]
                    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def weighed() -> tuple[PageInputs, CandidatePool]:
    """Measured recordings of which the best one changes with the pace, a pair among them."""
    suite = kit_suite(steps=60)
    recordings = [
        kit_recording(suite, "quick", latency=0.1, wrong=0.25, seed=1),
        kit_recording(suite, "careful", latency=1.6, wrong=0.0, seed=2),
        kit_recording(suite, "middling", latency=0.6, wrong=0.15, seed=3),
    ]
    tokens = Tokens(100, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    costs = {
        name: Cost(tokens, Price("p", "m", 1, 1), "USD", "2026-11-01", amount, 0.0)
        for name, amount in (("quick", 0.1), ("careful", 2.0), ("middling", 0.5))
    }
    inputs = kit_inputs(suite, recordings, costs=costs)
    parts = {score.name: score.parts for score in inputs.material.scores}
    answers = [priced_answers(recording, suite, read_prices()) for recording in recordings]
    found = replace(inputs.findings, costs=costs)
    return replace(inputs, findings=found), CandidatePool(parts, costs, (), answers)


_WORDS = "[...document.querySelectorAll('.answer-words p')].map(p => p.textContent)"


def test_page_and_command_cannot_disagree(
    browser: Browser, tmp_path: Path, weighed: tuple[PageInputs, CandidatePool]
) -> None:
    """At every interval the page has an answer for, and at others, it says what the function says."""
    inputs, field = weighed
    terms = inputs.findings.choices[0].terms
    assert len(inputs.findings.choices) > 50
    assert len({choice.best.name for choice in inputs.findings.choices}) > 2
    made = [choice.interval for choice in inputs.findings.choices]
    rng = random.Random(11)
    others = [round(rng.uniform(0.5, 8.0), 3) for _ in range(8)]
    for page in _opened(browser, inputs, tmp_path):
        for interval in (*made[::5], *others):
            page.run(f"sdb.setInterval({interval})")
            nearest = min(made, key=lambda d: abs(np.log(d / interval)))
            words = page.run(_WORDS)
            lines = choice_lines(decide(field, nearest, terms))
            assert words[: len(lines)] == lines
            assert len(words) == len(lines) + (interval != nearest)
            assert f"At {nearest:g} s" in words[0]


def test_a_policy_is_drawn_as_its_components_without_it(
    browser: Browser, tmp_path: Path, weighed: tuple[PageInputs, CandidatePool]
) -> None:
    inputs, _ = weighed
    gated = {"gate": {"confidence": 0.7, "compose": "min"}}
    rule = {"cascade": {"components": ["quick", "careful"], "ask": "always", "rule": "lag_one"}}
    first, last = inputs.findings.choices[0], inputs.findings.choices[-1]
    single = replace(
        first.best, name="quick, gated", members=("quick",), rule=None, policy=gated,
        policy_words="gate 0.7", chosen=True,
    )  # fmt: skip
    both = replace(
        last.best, name="quick + careful (lag-one), gated", members=("quick", "careful"), rule=None,
        policy={**gated, **rule}, policy_words="always, lag one, gate 0.7", chosen=True,
    )  # fmt: skip
    chosen = [replace(first, best=single), *inputs.findings.choices[1:-1], replace(last, best=both)]
    told = replace(inputs, findings=replace(inputs.findings, choices=chosen))
    for page in _opened(browser, told, tmp_path):
        for choice, plain in ((chosen[0], "quick"), (chosen[-1], "quick + careful (lag-one)")):
            page.run(f"sdb.setInterval({choice.interval})")
            page.settle()
            assert f"use {choice.best.name}: it keeps" in page.run(_WORDS)[0]
            assert choice.best.name in page.run("document.getElementById('pace-best').innerText")
            row = f"document.querySelector('.board tr[data-recording={json.dumps(plain)}]')"
            assert "recommended" in page.run(f"{row}.innerText")


def test_what_is_recommended_can_be_looked_at(
    browser: Browser, tmp_path: Path, weighed: tuple[PageInputs, CandidatePool]
) -> None:
    inputs, _ = weighed
    choice = next(c for c in inputs.findings.choices if c.best.rule)
    name = choice.best.name
    for page in _opened(browser, inputs, tmp_path):
        page.run(f"sdb.setInterval({choice.interval})")
        page.settle()
        cells = _cells(page)[name]
        assert cells["inForce"] == percent(choice.best.in_force.value)
        per_hour = choice.best.per_hour
        assert per_hour is not None
        assert cells["cost"] == money(per_hour)
        row = f"document.querySelector('.board tr[data-recording={json.dumps(name)}]')"
        assert "recommended" in page.run(f"{row}.innerText")
        assert page.run("document.querySelectorAll('.badge.pick:not([hidden])').length") == 1
        legend = "[...document.querySelectorAll('.legend-item:not([hidden])')].map(e => e.dataset.recording)"
        assert name in page.run(legend)
        chart = page.run("document.querySelector('#curves svg[role=img]').ariaLabel")
        assert f"{name} {percent(choice.best.in_force.value)} %" in chart
        page.box("#lane-plot")
        page.settle()
        lanes = page.run(
            "[...document.querySelectorAll('.lane.component .name')].map(e => e.title)"
        )
        assert name in lanes
        cost = page.run(
            "[...document.querySelectorAll('#cost tbody tr')].map(tr => tr.textContent)"
        )
        assert any(name in row and money(per_hour) in row for row in cost)


def test_any_pair_can_be_put_beside_the_recordings(page: Browser) -> None:
    count = "document.querySelectorAll('.board tbody tr').length"
    before = page.run(count)
    page.run("document.querySelector('#pairs tbody input[type=checkbox]').click()")
    assert page.run(count) == before + 1
    page.run("document.querySelector('#pairs tbody input[type=checkbox]').click()")
    assert page.run(count) == before


def test_simulated_pairs_are_never_recommended(page: Browser, inputs: PageInputs) -> None:
    assert any(pair.simulated for pair in inputs.pairs)
    stretches = page.run("[...document.querySelectorAll('.stretch')].map(e => e.title)")
    simulated = {f"{p.fast} + {p.slow}" for p in inputs.pairs if p.simulated}
    assert stretches
    assert not [title for title in stretches if any(pair in title for pair in simulated)]
    assert "prove nothing" in " ".join(page.run(_WORDS))


def test_pairs_with_a_part_that_is_never_right_wait_behind_a_button(
    browser: Browser, tmp_path: Path
) -> None:
    suite = kit_suite()
    recordings = kit_recordings(suite, 2)
    guess = kit_recording(suite, "guess", latency=0.01, wrong=0.0, seed=9)
    never = {
        key: replace(
            episode,
            responses=tuple(
                _answering(r, {"route": _other(r.pred["route"])}) for r in episode.responses
            ),
        )
        for key, episode in guess.episodes.items()
    }
    inputs = kit_inputs(suite, [replace(guess, episodes=never), *recordings])
    rows = "[...document.querySelectorAll('#pairs .pair-table tbody tr:not([hidden])')].map(tr => tr.innerText)"
    for page in _opened(browser, inputs, tmp_path):
        shown = page.run(rows)
        assert shown
        assert not any("guess" in row for row in shown)
        page.run("document.querySelector('#pairs button.plain').click()")
        assert any("guess" in row for row in page.run(rows))
        said = page.run("document.getElementById('pairs').innerText")
        assert "the very same step" in said
        assert "a newer step" in said


def _answering(response: Response, answer: Mapping[str, str]) -> Response:
    return msgspec.structs.replace(response, pred={**response.pred, **answer})


def _other(route: str) -> str:
    return "rerun" if route != "rerun" else "inspect"


def test_the_interval_is_in_the_address(browser: Browser, file: Path) -> None:
    for page in _visited(browser, file):
        page.run("sdb.setInterval(1.2)")
        page.run("new Promise(done => setTimeout(done, 400))")
        assert page.run("location.hash") == "#interval=1.2"
        page.run("document.querySelector('nav a[href=\"#pairs\"]').click()")
        assert page.run("location.hash") == "#pairs&interval=1.2"
        page.run("location.hash = '#lanes&interval=3.4'")
        page.settle()
        assert _interval(page) == 3.4
        top = page.run("document.getElementById('lanes').getBoundingClientRect().top")
        assert 0 <= top < 200


def test_digits_are_rounded_as_in_python(page: Browser) -> None:
    rng = random.Random(1)
    values = [rng.uniform(-3, 120) for _ in range(300)]
    values += [
        63.75,
        63.74999999999999,
        0.05,
        0.049999999999,
        0.0,
        -0.04,
        -0.05,
        100.0,
        99.95,
        1e-12,
    ]
    for digits in (0, 1, 2, 3):
        shown = page.run(f"{json.dumps(values)}.map(v => sdb.fixed(v, {digits}))")
        assert shown == [fixed(v, digits) for v in values]
    assert page.run("[sdb.fixed(null), sdb.percent(undefined), sdb.fixed(NaN)]") == ["–"] * 3


def test_slider_by_mouse_and_keyboard(page: Browser, inputs: PageInputs) -> None:
    box = page.box("#interval-slider")
    y = box["y"] + box["height"] / 2
    page.drag((box["x"] + box["width"] / 2, y), (box["x"] + box["width"] * 0.8, y))
    dragged = _interval(page)
    assert dragged > 2.5
    _check_board(page, list(inputs.material.scores), dragged)
    page.press("ArrowLeft", times=9)
    moved = _interval(page)
    assert moved < dragged
    _check_board(page, list(inputs.material.scores), moved)


def test_dragging_in_a_curve_moves_the_interval(page: Browser, inputs: PageInputs) -> None:
    box = page.box("#curves .chart")
    y = box["y"] + box["height"] / 2
    page.drag((box["x"] + box["width"] * 0.5, y), (box["x"] + box["width"] * 0.2, y))
    moved = _interval(page)
    assert 0.5 < moved < 1.5
    _check_board(page, list(inputs.material.scores), moved)
    read_out = page.run("document.getElementById('tip').textContent")
    for score in inputs.material.scores:
        assert f"{percent(_at(score, moved).in_force)} %" in read_out


def test_out_of_range_intervals_are_brought_back(page: Browser) -> None:
    for text, expected in (("50", 8.0), ("0.01", 0.5), ("", 0.5)):
        _type_interval(page, text)
        if text:
            assert _interval(page) == expected
    assert page.run("sdb.state.interval") == 0.5


def test_integrated_figures(page: Browser, inputs: PageInputs) -> None:
    page.run("document.querySelector('[data-basis=integrated]').click()")
    cells = _cells(page)
    for score in inputs.material.scores:
        over = score.overall.integrated
        assert cells[score.name]["oracle"] == percent(over.oracle)
        assert cells[score.name]["uCurrent"] == percent(over.u_current)


def test_sorting_by_every_column(page: Browser, inputs: PageInputs) -> None:
    order = "[...document.querySelectorAll('.board tbody tr')].map(tr => tr.dataset.recording)"
    ranked = sorted(inputs.material.scores, key=lambda s: -s.log_auc)
    assert page.run(order) == [s.name for s in ranked]
    page.run("document.querySelector('.board th.c-p50 button').click()")
    fastest = sorted(inputs.material.scores, key=lambda s: s.latency.p50 if s.latency else 0.0)
    assert page.run(order) == [s.name for s in fastest]
    assert page.run("document.querySelector('.board th.c-p50').ariaSort") == "ascending"
    page.run("document.querySelector('.board th.c-p50 button').click()")
    assert page.run(order) == [s.name for s in reversed(fastest)]


def test_simulations_say_so_wherever_their_numbers_stand(page: Browser) -> None:
    for place in (".board tr", ".legend-item", ".lane.component", ".strip-row"):
        texts = page.run(
            f"[...document.querySelectorAll({json.dumps(place)})].map(e => e.textContent)"
        )
        simulated = [t for t in texts if "component-01" in t]
        virtual = [t for t in texts if "component-02" in t]
        assert simulated
        assert virtual
        assert all("sim" in t for t in simulated)
        assert all("virtual" in t for t in virtual)


def test_lanes_by_mouse(page: Browser, inputs: PageInputs) -> None:
    page.run(
        "(s => { s.value = 'two_a'; s.dispatchEvent(new Event('change')); })(document.getElementById('scenario'))"
    )
    values = "[...document.querySelectorAll('.lane.component .lane-value')].map(e => e.textContent)"
    shown = page.run(values)
    ranked = sorted(inputs.material.scores, key=lambda s: -s.log_auc)
    assert shown == [percent(s.by_scenario["two_a"].in_force) for s in ranked]
    _type_interval(page, "1.37")
    box = page.box(".lane.component .track")
    page.settle()
    assert page.run(values) == [percent(_at(s, 1.37).by_scenario["two_a"].in_force) for s in ranked]
    y = box["y"] + box["height"] / 2
    page.mouse("mouseMoved", box["x"] + box["width"] * 0.6, y)
    read_out = page.run("document.getElementById('tip').textContent")
    assert ranked[0].name in read_out
    assert "reference" in read_out
    assert any(label in read_out for label, _, _ in CLASS_STYLE.values())
    page.drag((box["x"] + box["width"] * 0.25, y), (box["x"] + box["width"] * 0.5, y))
    ticks = page.run("[...document.querySelectorAll('.axis-tick')].map(e => Number(e.textContent))")
    n = inputs.material.scores[0].parts[-1].n
    assert n * 0.24 < min(ticks)
    assert max(ticks) < n * 0.51
    page.run("document.querySelector('[aria-label=\"Whole scenario\"]').click()")
    ticks = page.run("[...document.querySelectorAll('.axis-tick')].map(e => Number(e.textContent))")
    assert (min(ticks), max(ticks)) == (0, n)


def test_lanes_by_keyboard_read_out_the_evidence(page: Browser, inputs: PageInputs) -> None:
    page.run("document.getElementById('lane-plot').focus()")
    page.press("PageDown", times=2)  # the start, then the first change
    scenario = inputs.material.suite.scenarios["one_a"]
    reference = scenario.reference()
    change = next(i for i in range(1, scenario.n) if reference[i] != reference[i - 1])
    said = page.run("document.getElementById('say').textContent")
    assert f"Step {change}, " in said, "the state the change is in, not the one before"
    assert scenario.steps[change].evidence[0] in said
    first = page.run("document.querySelector('.lane.focused').textContent")
    page.press("ArrowDown")
    assert page.run("document.querySelector('.lane.focused').textContent") != first


def test_a_tap_reads_out(page: Browser) -> None:
    hidden = "document.getElementById('tip').hidden"
    for place in (".lane.component .track", "#curves .chart"):
        box = page.box(place)
        page.settle()  # scrolling there hides what was read out before
        page.run("sdb.hideTip()")
        at = [{"x": box["x"] + box["width"] * 0.4, "y": box["y"] + box["height"] / 2}]
        page.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=at)
        page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        page.settle()
        assert page.run(hidden) is False, place


def test_charts_have_their_keys_and_stay_in_their_cards(page: Browser) -> None:
    colours = page.run("document.querySelectorAll('#separability [aria-label=Colours] li').length")
    assert colours == 3
    page.box("#curves .chart")
    past = page.run(
        "[...document.querySelectorAll('.end-label')].filter(t => t.getBoundingClientRect().right >"
        " t.closest('section').getBoundingClientRect().right).length"
    )
    assert past == 0
    assert page.run("[sdb.seconds(0.00012), sdb.seconds(0.25)]") == ["0.00012", "0.25"]


def test_a_small_screen_begins_with_the_answer(page: Browser) -> None:
    page.resize(360, 740)
    page.settle()
    top = page.run("document.querySelector('.verdict').getBoundingClientRect().top + scrollY")
    assert top < 330
    page.resize(1280, 900)


def test_a_small_screen_shows_every_number_of_a_pair(page: Browser) -> None:
    page.resize(360, 740)
    page.settle()
    wide, room = page.run(
        "(t => [t.scrollWidth, t.clientWidth])(document.querySelector('#pairs .pair-table'))"
    )
    assert wide <= room
    shown = page.run(
        "[...document.querySelectorAll('#pairs tbody tr:not([hidden]) td')].slice(0, 7).map(td =>"
        " getComputedStyle(td, '::before').content)"
    )
    assert {'"gain"', '"corrections"', '"regressions"'} <= set(shown)
    page.resize(1280, 900)


def test_lane_pieces_add_up_to_the_classes(page: Browser, inputs: PageInputs) -> None:
    sums = page.run(
        "sdb.recordings.map(rec => rec.lines.map(line => { const t = [0,0,0,0,0,0];"
        " sdb.pieces(line, 1.37).forEach(p => { t[p.kind] += (p.to - p.from) * line.tick; });"
        " return t.map(v => v / (line.H - line.r[0])); }))"
    )
    for score, scenarios in zip(inputs.material.scores, sums, strict=True):
        levels = _at(score, 1.37).by_scenario.values()
        for values, level in zip(scenarios, levels, strict=True):
            at = level.at_interval
            expected = [
                at.current_correct, at.judgment, at.stale, at.compound, at.outdated_correct,
                at.no_decision,
            ]  # fmt: skip
            np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_choosing_what_charts_show(page: Browser) -> None:
    count = "document.querySelectorAll('.lane.component').length"
    assert page.run(count) == 3
    page.run("document.querySelector('.legend-item').focus()")
    page.press(" ")
    assert page.run(count) == 2
    assert page.run("document.querySelectorAll('.board input:checked').length") == 2
    assert (
        page.run("document.querySelectorAll('#curves .curve.faint').length") == 3
    )  # 1 + 2 families


def test_hostile_text_is_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    suite = kit_suite(hostile=True)
    recordings = kit_recordings(suite, 1)
    for page in _opened(browser, kit_inputs(suite, recordings), tmp_path):
        shown = page.run("document.querySelector('.lane-title').textContent")
        assert HOSTILE in shown
        _tables(page)
        page.run("document.getElementById('lane-plot').focus()")
        page.press("PageDown", times=3)
        page.press("ArrowRight")
        evidence = page.run("document.getElementById('lanes').textContent")
        assert HOSTILE in evidence
        assert page.run("document.querySelectorAll('main img, main script, #tip img').length") == 0
        assert "hacked" not in page.run("document.title")


def test_the_smallest_page(browser: Browser, tmp_path: Path) -> None:
    recording = example_recording()
    inputs = kit_inputs(example_suite(), [recording], extras=False)
    for page in _opened(browser, inputs, tmp_path):
        _check_board(page, list(inputs.material.scores), 2.0)
        assert page.run("document.querySelectorAll('.stretch').length") == 0
        assert "60.0" in page.run("document.querySelector('.verdict').textContent")


@pytest.mark.parametrize("count", [1, 30])
def test_fits_every_width(browser: Browser, tmp_path: Path, count: int) -> None:
    suite = kit_suite()
    file = _written(kit_inputs(suite, kit_recordings(suite, count)), tmp_path)
    for width in (360, 800, 2200):
        for page in _visited(browser, file):
            page.resize(width, 800)
            page.settle()
            assert page.run("document.documentElement.scrollWidth") <= width, width


def test_light_dark_and_paper(page: Browser) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    page.theme("light")
    light = page.run(paper)
    page.theme("dark")
    dark = page.run(paper)
    assert light != dark
    page.run("document.getElementById('theme').click()")  # auto → light
    assert page.run(paper) == light
    page.theme("light")
    page.run("document.getElementById('theme').click()")  # light → dark
    assert page.run(paper) == dark
    page.theme("dark", media="print")
    assert page.run(paper) == "rgb(255, 255, 255)"
    page.theme("light")
    assert len(page.call("Page.printToPDF")["data"]) > 10_000
    assert page.run("document.querySelectorAll('details[open]').length") == 0


def test_everything_interactive_has_a_name(page: Browser) -> None:
    page.call("Accessibility.enable")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    page.call("Accessibility.disable")
    roles = {"button", "slider", "spinbutton", "checkbox", "radio", "combobox", "link", "image"}
    nameless = [
        n
        for n in nodes
        if not n.get("ignored")
        and n["role"]["value"] in roles
        and not n.get("name", {}).get("value", "").strip()
    ]
    assert nameless == []


def test_published_recordings(
    browser: Browser, tmp_path: Path, published: tuple[Suite, dict[str, Recording]]
) -> None:
    suite, recordings = published
    inputs = kit_inputs(suite, list(recordings.values()), extras=False)
    for page in _opened(browser, inputs, tmp_path):
        for interval in INTERVALS:
            _type_interval(page, f"{interval:g}")
            _check_board(page, list(inputs.material.scores), interval)
        cells = _cells(page)
        assert (cells["jev"]["auc"], cells["astra-low"]["auc"]) == ("59.6", "45.2")


def test_wrong_time_is_the_scorer_s(page: Browser, inputs: PageInputs) -> None:
    """Spells of recordings and pairs, in every scenario, at any interval."""
    rng = random.Random(11)
    intervals = [round(rng.uniform(0.5, 8.0), 3) for _ in range(8)]
    shown = page.run(
        f"{json.dumps(intervals)}.map(d => sdb.recordings.map(rec => rec.lines.map(line =>"
        " sdb.wrongSpells(line, d).map(s => s.seconds))))"
    )
    for interval, recordings in zip(intervals, shown, strict=True):
        for score, lines in zip(inputs.material.scores, recordings, strict=True):
            path = trajectory_at(JoinedTimelines(score.parts), interval)
            found = Figures(path, AtPace(path.scale)).spells
            for k, lengths in enumerate(lines):
                want = found.length[found.scenario == k]
                np.testing.assert_allclose(lengths, want, rtol=0, atol=1e-9)
    pairs = page.run(
        f"{json.dumps(intervals[:3])}.map(d => sdb.pairs.slice(0, 3).map(rec => rec.lines.map(line =>"
        " sdb.wrongSpells(line, d).map(s => s.seconds))))"
    )
    parts = {score.name: score.parts for score in inputs.material.scores}
    for interval, drawn in zip(intervals, pairs, strict=False):
        for view, lines in zip(inputs.pairs, drawn, strict=False):
            path = pair_trajectory(parts[view.fast], parts[view.slow], view.rule, interval)
            found = Figures(path, AtPace(path.scale)).spells
            for k, lengths in enumerate(lines):
                want = found.length[found.scenario == k]
                np.testing.assert_allclose(lengths, want, rtol=0, atol=1e-6)
    title = page.run("document.querySelector('#costs h2').textContent")
    assert title == "What being wrong costs"
    rows = page.run("[...document.querySelectorAll('#costs tbody tr')].map(r => r.textContent)")
    assert len(rows) == len(page.run("sdb.shown().map(rec => rec.name)"))
    marks = page.run("document.querySelectorAll('.long-spell').length")
    assert marks > 0
