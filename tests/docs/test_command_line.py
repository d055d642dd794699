"""The page of the command line is what the commands say."""

from __future__ import annotations

import importlib.util

from tests.docs.markdown import ROOT
from tests.docs.workbench import helps, options


def _generated() -> str:
    path = ROOT / "docs" / "site" / "command_line.py"
    spec = importlib.util.spec_from_file_location("command_line", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text: str = module.command_line()
    return text


def test_the_page_is_up_to_date() -> None:
    page = ROOT / "docs" / "reference" / "command-line.md"
    assert page.read_text(encoding="utf-8") == _generated(), "run docs/site/command_line.py"


def test_every_command_has_its_options() -> None:
    sections = dict(
        part.partition("\n")[::2] for part in _generated().replace("\n### ", "\n## ").split("\n## ")
    )
    for name in helps():
        if name != "sdb":
            missing = [
                one for one in options(name) - {"--help", "--all"} if one not in sections[name]
            ]
            assert missing == [], name
