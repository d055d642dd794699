"""Functions that reports offer to the rest of the package: see `features.HOOKS`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamdecisionbench.recording.recording import Recording
    from streamdecisionbench.scoring.score import Score
    from streamdecisionbench.suite.scenario import Suite


def recordings_page(
    suite: Suite, scored: Sequence[tuple[Recording, Score]], notes: Sequence[str]
) -> str:
    """A page with these recordings and these scores, which all have the pace of the first."""
    from streamdecisionbench.report.page import PageInputs, render_page
    from streamdecisionbench.report.report_data import Entry, ReportInput

    first = scored[0][1]
    entries = tuple(Entry(recording, suite, score) for recording, score in scored)
    material = ReportInput(suite, entries, first.interval, first.bounds)
    return render_page(PageInputs(material, notes=list(notes)))
