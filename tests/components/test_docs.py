"""The examples of docs/reference/providers.md, run as they are printed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamdecisionbench.components.contract import Answer, Fatal, Options, Retryable
from streamdecisionbench.components.registry import PROVIDERS, create
from tests.components.protocols import RIGHT, asked_once
from tests.components.servers import Reply, scripted

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "providers.md"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's modules in the current folder, its entry point as pip would leave it."""
    text = PAGE.read_text(encoding="utf-8")
    for name, code in re.findall(r"```python\n# (\w+)\.py\n(.*?)```", text, re.DOTALL):
        (tmp_path / f"{name}.py").write_text(code)
    (entry,) = re.findall(r"```toml\n\[project.entry-points.\"(.*?)\"\]\n(.*?)```", text, re.DOTALL)
    info = tmp_path / "my_provider-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-provider\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{entry[0]}]\n{entry[1].replace(chr(34), '')}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in ("my_rules", "my_provider"):
        sys.modules.pop(name, None)


def ask(name: str, options: Options | None = None) -> Answer:
    return asked_once(create(name, options))


def test_your_own_code() -> None:
    assert ask("python:my_rules:Decider").labels == {"mode": "K03", "captions": "K02"}


def test_adding_a_provider() -> None:
    pytest.importorskip("httpx")
    good, limited, bad = (
        Reply(json.dumps({"labels": RIGHT}).encode()), Reply(status=429), Reply(status=400),
    )  # fmt: skip
    with scripted(good, limited, bad) as server:
        options = Options(base_url=server.url)
        assert ask("mine:m1", options).labels == RIGHT
        assert server.received[0].path == "/decide"
        with pytest.raises(Retryable, match="rate_limit"):
            ask("mine:m1", options)
        with pytest.raises(Fatal, match="rejects"):
            ask("mine:m1", options)


def test_the_table_lists_every_provider_and_its_key() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name, provider in PROVIDERS.items():
        (row,) = re.findall(rf"^\| `{name}:` \|.*$", text, re.MULTILINE)
        assert all(f"`{variable}`" in row for variable in provider.environment)
        assert f"`{provider.extra}`" in row or not provider.extra
