"""The self-contained page of `sdb report`: one HTML file that opens from disk without a network.

    write_page(PageInputs(make_material(loaded)), Path("index.html"))

Deterministic: the same inputs leave the same bytes.
"""

from __future__ import annotations

from streamdecisionbench.report.page.payload import PageInputs, render_page, write_page

__all__ = ["PageInputs", "render_page", "write_page"]
