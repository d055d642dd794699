"""From payload to one HTML file: styles, scripts and data inline, and nothing else to load."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from pathlib import Path

from streamdecisionbench.errors import InputError
from streamdecisionbench.report.page.inputs import PageInputs
from streamdecisionbench.report.page.payload import embed, payload
from streamdecisionbench.report.palette import PALETTE, PALETTE_ON_DARK

__all__ = ["render_page", "write_page"]

_STYLES = ("style.css", "charts.css", "print.css")
_SCRIPTS = (
    "format.js", "scorer.js", "state.js", "dom.js", "axes.js", "leaderboard.js", "answer.js",
    "curves.js", "lanes.js", "lanes_input.js", "latency.js", "separability.js", "pairs.js",
    "tables.js", "main.js",
)  # fmt: skip
"""In order of use; each adds its part to one object, `sdb`."""


def render_page(inputs: PageInputs) -> str:
    """The whole page as text."""
    style = "\n".join([_lines(), *(_asset(name) for name in _STYLES)])
    script = "(() => {\n'use strict';\nconst sdb = {};\n"
    script += "\n".join(_asset(name) for name in _SCRIPTS)
    script += "\nwindow.sdb = sdb;\n})();\n"
    page = _asset("template.html")
    # The digest lets exactly this script run, so no text of a scenario ever could.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    for mark, text in (
        ("%STYLE%", style),
        ("%DIGEST%", digest),
        ("%SCRIPT%", script),
        ("%DATA%", embed(payload(inputs))),  # last: data may contain anything, marks included
    ):
        page = page.replace(mark, text, 1)
    return page


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


def _lines() -> str:
    """The palette of the figures, for light, dark and paper."""
    light, dark = (
        "".join(f"--line-{k}:{colour};" for k, colour in enumerate(colours))
        for colours in (PALETTE, PALETTE_ON_DARK)
    )
    return (
        f":root{{{light}}}"
        f'@media (prefers-color-scheme:dark){{:root:not([data-theme="light"]){{{dark}}}}}'
        f':root[data-theme="dark"]{{{dark}}}'
        f"@media print{{:root:root:root{{{light}}}}}"
    )


def _asset(name: str) -> str:
    home = resources.files("streamdecisionbench.report.page") / "assets"
    return (home / name).read_text(encoding="utf-8")
