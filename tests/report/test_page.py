"""The page as a file: what is in it, what it refuses, and that it is the same bytes every time."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from streamdecisionbench.errors import InputError
from streamdecisionbench.report.page import (
    PageInputs,
    payload,
    render_page,
)
from streamdecisionbench.report.report_data import Entry
from tests.report.page_kit import HOSTILE, kit_inputs, kit_recordings, kit_suite

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def inputs() -> PageInputs:
    suite = kit_suite()
    return kit_inputs(suite, kit_recordings(suite))


def test_same_inputs_leave_same_bytes(inputs: PageInputs) -> None:
    suite = kit_suite()
    assert render_page(inputs) == render_page(kit_inputs(suite, kit_recordings(suite)))


def test_the_page_refers_to_nothing_outside_itself(inputs: PageInputs) -> None:
    page = render_page(inputs)
    # The SVG namespace is a name, not an address anything is loaded from.
    assert set(re.findall(r"https?://[^\s'\"]+", page)) == {"http://www.w3.org/2000/svg"}
    assert re.findall(r"<(?:script|img|iframe|object|embed)[^>]*\bsrc=", page) == []
    assert re.findall(r"<link[^>]*href=\"([^\"]*)\"", page) == ["data:,"]
    assert "@import" not in page
    assert "default-src 'none'" in page
    assert "innerHTML" not in page


def test_no_mark_of_the_template_is_left(inputs: PageInputs) -> None:
    assert re.findall(r"%(?:STYLE|SCRIPT|DIGEST|DATA)%", render_page(inputs)) == []


def test_hostile_text_stays_data() -> None:
    suite = kit_suite(hostile=True)
    page = render_page(kit_inputs(suite, kit_recordings(suite, 1)))
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert "<img" not in page
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found is not None
    text = found.group(1)
    assert text.isascii()
    assert not set("<>&") & set(text)
    titles = [s["title"] for s in json.loads(text)["scenarios"]]
    assert titles[0].endswith(HOSTILE)


def test_payload_holds_what_the_scorer_read(inputs: PageInputs) -> None:
    document = payload(inputs)
    for entry, score in zip(document["recordings"], inputs.material.scores, strict=True):
        assert entry["overall"]["auc"] == score.log_auc
        for part, timeline in zip(entry["parts"], score.parts, strict=True):
            reference = next(
                s["reference"] for s in document["scenarios"] if s["id"] == part["scenario"]
            )
            same = [a == b for a, b in zip(reference, part["predicted"], strict=True)]
            assert same == timeline.right.tolist()
            assert part["latency"] == pytest.approx(timeline.latency.tolist(), abs=1e-12)


def test_a_recording_of_some_scenarios_only() -> None:
    suite = kit_suite()
    whole, *_ = kit_recordings(suite)
    part = replace(whole, name="part", episodes={"two_a": whole.episodes["two_a"]})
    document = payload(kit_inputs(suite, [part], extras=False))
    assert [s["id"] for s in document["scenarios"]] == ["two_a"]
    assert [f["id"] for f in document["families"]] == ["support_call_assist"]
    assert document["suite"]["scenarios"] == 3


def test_thirty_recordings_stay_small() -> None:
    suite = kit_suite(steps=160)  # 480 steps in all, as the published suites have
    page = render_page(kit_inputs(suite, kit_recordings(suite, 30)))
    assert len(page.encode()) < 5_000_000


def test_refusals(inputs: PageInputs) -> None:
    def of(entries: tuple[Entry, ...]) -> PageInputs:
        return replace(inputs, material=replace(inputs.material, entries=entries))

    first, *_ = inputs.material.entries
    with pytest.raises(InputError, match="nothing to report"):
        payload(of(()))
    with pytest.raises(InputError, match="two recordings are called"):
        payload(of((first, first)))
    with pytest.raises(InputError, match="was recorded on suite"):
        payload(replace(inputs, material=replace(inputs.material, suite=kit_suite(seed=5))))
    doubled = {
        name: replace(episode, responses=episode.responses * 2)
        for name, episode in first.recording.episodes.items()
    }
    live = replace(first, recording=replace(first.recording, episodes=doubled))
    with pytest.raises(InputError, match="one answer per step"):
        payload(of((live,)))


def test_the_figures_colours_are_on_the_page() -> None:
    """The palette is written into the style: nothing else gives lines their colours."""
    from streamdecisionbench.render.html_page import line_colours
    from streamdecisionbench.render.palette import (
        PALETTE,
        PALETTE_ON_DARK,
    )

    suite = kit_suite()
    page = render_page(kit_inputs(suite, kit_recordings(suite), extras=False))
    assert line_colours() in page
    assert all(colour in page for colour in (*PALETTE, *PALETTE_ON_DARK))
