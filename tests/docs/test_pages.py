"""Links lead somewhere, every command is documented, every option that is named exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.markdown import headings, links, name_of, pages, spans
from tests.docs.workbench import helps, options

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_links_lead_somewhere(path: Path) -> None:
    broken = []
    for link in links(path):
        target, _, heading = link.partition("#")
        file = (path.parent / target) if target else path
        if not file.exists() or (heading and heading not in headings(file)):
            broken.append(link)
    assert broken == []


def test_every_command_is_documented() -> None:
    text = " ".join(" ".join(path.read_text(encoding="utf-8").split()) for path in pages())
    missing = [name for name in helps() if not re.search(rf"\b{name}\b", text)]
    assert missing == []


def test_every_option_in_a_sentence_exists() -> None:
    known = set().union(*(options(name) for name in helps()))
    for path in pages():
        for line, span in spans(path):
            found = re.match(r"--[a-z][\w-]*", span)
            assert found is None or found[0] in known, f"{name_of(path)}:{line} {span}"
