"""How the tests share the cores: a file stays on one of them, the documentation goes page by page."""

from __future__ import annotations

import re

from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

__all__ = ["PagesApart"]


class PagesApart(LoadFileScheduling):  # type: ignore[misc]
    """A page is worked through from top to bottom, so it stays together; pages need not."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        page = re.search(r"\[([\w/.-]+\.md)", nodeid)
        return f"{file} {page[1]}" if page and file.startswith("tests/docs/") else file
