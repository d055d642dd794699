"""Styles, scripts and data put into one HTML text that loads nothing else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources

from streamdecisionbench.report.palette import DASHES, PALETTE, PALETTE_ON_DARK

DASH_STYLES = [" ".join(map(str, dash)) if dash != [1, 0] else "" for dash in DASHES]
"""Dashes of lines as SVG writes them, in step with the palette."""


def one_file(template: str, styles: Sequence[str], scripts: Sequence[str], data: str) -> str:
    """The template with its marks filled in. Scripts share one object, `sdb`.

    `data` is JSON that is safe inside a script element, as `payload.embed` makes it.
    """
    script = "(() => {\n'use strict';\nconst sdb = {};\n"
    script += "\n".join(scripts)
    script += "\nwindow.sdb = sdb;\n})();\n"
    # The digest lets exactly this script run, so no text of a scenario ever could.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = template
    for mark, text in (
        ("%STYLE%", "\n".join(styles)),
        ("%DIGEST%", digest),
        ("%SCRIPT%", script),
        ("%DATA%", data),  # last: data may contain anything, marks included
    ):
        page = page.replace(mark, text, 1)
    return page


def asset(name: str, room: str = "page") -> str:
    """A file of the report's assets, as text."""
    home = resources.files(f"streamdecisionbench.report.{room}") / "assets"
    return (home / name).read_text(encoding="utf-8")


def line_colours() -> str:
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
