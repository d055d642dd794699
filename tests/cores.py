"""How the tests share the cores: a file stays on one of them, the dearest begin first."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

__all__ = ["PagesApart", "dearest_first"]

_DEAREST = (
    "components/test_gguf.py",
    "logs/engines/test_spark.py",
    "report/test_page_browser.py",
    "report/test_figures.py",
    "report/test_tables.py",
    "kernel/test_exact.py",
    "families/test_generated.py",
    "recording/test_kill.py",
    "docs/test_commands.py",
)
"""What would keep one core busy while the others have nothing left to do."""


def dearest_first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    def turn(item: pytest.Item) -> int:
        file = item.nodeid.partition("::")[0].removeprefix("tests/")
        return _DEAREST.index(file) if file in _DEAREST else len(_DEAREST)

    return sorted(items, key=turn)


class PagesApart(LoadFileScheduling):  # type: ignore[misc]
    """A page is worked through from top to bottom, so it stays together; pages need not."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        page = re.search(r"\[([\w/.-]+\.md)", nodeid)
        return f"{file} {page[1]}" if page and file.startswith("tests/docs/") else file
