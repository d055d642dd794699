"""From payload to one HTML file: styles, scripts and data inline, and nothing else to load."""

from __future__ import annotations

from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.report.page.inputs import PageInputs
from streamdecisionbench.report.page.one_file import asset, line_colours, one_file
from streamdecisionbench.report.page.payload import embed, payload

__all__ = ["render_page", "write_page"]

_STYLES = ("style.css", "charts.css", "print.css")
_SCRIPTS = (
    "format.js", "scorer.js", "state.js", "dom.js", "theme.js", "axes.js", "tracks.js", "strips.js",
    "leaderboard.js", "answer.js", "curves.js", "costs.js", "lanes.js", "lanes_input.js",
    "latency.js", "separability.js", "pairs.js", "tables.js", "main.js",
)  # fmt: skip
"""In order of use; each adds its part to one object, `sdb`."""


def render_page(inputs: PageInputs) -> str:
    """The whole page as text."""
    return one_file(
        asset("template.html"),
        [line_colours(), *(asset(name) for name in _STYLES)],
        [asset(name) for name in _SCRIPTS],
        embed(payload(inputs)),
    )


def write_page(inputs: PageInputs, path: Path) -> None:
    """Writes the page, with the folder it lives in."""
    page = render_page(inputs)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(
            f"the page cannot be written: {error.strerror}",
            where=path,
            fix="choose another --out folder",
        ) from None
