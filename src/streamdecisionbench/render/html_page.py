"""The kit of every page: one frame with header, theme and fonts, the styles and scripts all of them share, and
all of it with the page's own in one HTML text that loads nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import Any

from streamdecisionbench._version import __version__
from streamdecisionbench.kernel.classes import ALL_CLASSES
from streamdecisionbench.render.palette import (
    CLASS_STYLE,
    DASHES,
    PALETTE,
    PALETTE_ON_DARK,
    UNKNOWN_STYLE,
)

Json = dict[str, Any]
_STYLES = ("style.css", "charts.css", "print.css")
_SCRIPTS = ("data.js", "format.js", "dom.js", "theme.js")


def one_file(
    body: str,
    data: Json,
    *,
    title: str,
    skip: str,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
    served: bool = False,
) -> str:
    """The frame with what one page puts into it. Scripts share one object, `sdb`.

    `body` is markup, from the end of the header on; `skip` the part that keyboards skip to. A page that is
    `served` may talk to its own server, any other to nobody.
    """
    script = "(() => {\n'use strict';\nconst sdb = {};\n"
    script += "\n".join([*map(asset, _SCRIPTS), *scripts])
    script += "\nwindow.sdb = sdb;\n})();\n"
    own = (
        "This page talks to this machine alone."
        if served
        else "This file is complete: it loads nothing and sends nothing."
    )
    marks = {
        "%TITLE%": escape(title),
        "%CONNECT%": " connect-src 'self';" if served else "",
        "%SKIP%": skip,
        "%STYLE%": "\n".join([line_colours(), *map(asset, _STYLES), *styles]),
        "%BODY%": body,
        "%FOOT%": f"StreamDecisionBench {__version__}. {own}",
        # The digest lets exactly this script run, so no text of a scenario ever could.
        "%DIGEST%": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "%SCRIPT%": script,
        "%DATA%": embed({"classes": classes(), "dashes": _DASH_STYLES, **data}),
    }
    # In one go: what is put in may contain anything, marks included.
    return re.sub("%[A-Z]+%", lambda mark: marks[mark.group()], asset("frame.html"))


def classes(names: Sequence[str] = ALL_CLASSES) -> list[Json]:
    """Classes of time in the order of keys, each with its column in `ALL_CLASSES`; those not named are never
    drawn."""
    return [
        {"key": key, "label": label, "colour": colour, "column": ALL_CLASSES.index(key)}
        | ({} if key in names else {"never": True})
        for key, (label, _, colour) in {**CLASS_STYLE, **UNKNOWN_STYLE}.items()
    ]


def embed(document: Json) -> str:
    r"""JSON that is safe inside a script element: no `<`, `>`, `&`, and ASCII only.

    >>> embed({"title": "</script><b>&"})
    '{"title":"\\u003c/script\\u003e\\u003cb\\u003e\\u0026"}'
    """
    text = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def asset(name: str, package: str = "render") -> str:
    """A file of a package's assets, as text; those that several pages share belong to `render`."""
    home = resources.files(f"streamdecisionbench.{package}") / "assets"
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


_DASH_STYLES = [" ".join(map(str, dash)) if dash != [1, 0] else "" for dash in DASHES]
"""Dashes of lines as SVG writes them, in step with the palette."""
