"""Finding providers: ours, those of other installed packages, and what is missing."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamdecisionbench.components.registry import PROVIDERS, create, find_factory, survey
from streamdecisionbench.errors import InputError
from tests.cli import command
from tests.components.protocols import REQUEST

KEY = "sk-planted-0123456789abcdef"


def sdb(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.endswith(("_API_KEY", "_BASE_URL")):
                patch.delenv(name)
        return command.sdb(*arguments, cwd=cwd, **variables)


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed distribution with entry points, as pip would leave it."""
    info = tmp_path / "other_provider-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-provider\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[streamdecisionbench.providers]\n"
        "other = other_provider:create\n"
        "broken = other_provider:missing\n"
    )
    (tmp_path / "other_provider.py").write_text(
        "from streamdecisionbench.components.contract import Answer, ComponentInfo\n"
        "class Other:\n"
        "    def __init__(self, model):\n"
        "        self.info = ComponentInfo('other', model)\n"
        "    async def open(self): ...\n"
        "    async def answer(self, request):\n"
        "        return Answer({q: min(s['criteria']) for q, s in request.questions.items()})\n"
        "    async def close(self): ...\n"
        "def create(model, options):\n"
        "    return Other(model)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_every_provider_of_ours_can_be_loaded() -> None:
    for name in PROVIDERS:
        assert callable(find_factory(name))


def test_a_provider_of_another_package(other_package: Path) -> None:
    component = create("other:m1")
    assert component.info.name == "other:m1"
    answer = asyncio.run(component.answer(REQUEST))
    assert answer.labels == {"mode": "K01", "captions": "K01"}
    (status,) = [s for s in survey() if s.provider == "other"]
    assert status.source == "other-provider"
    with pytest.raises(InputError, match="cannot be loaded"):
        create("broken:m1")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("openai", "does not name a component"),
        ("openai:", "does not name a component"),
        ("gpt:five", "no provider is called 'gpt'.*"),
    ],
)
def test_bad_names(name: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        create(name)


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    # None in sys.modules is how Python itself marks a module that cannot be imported.
    monkeypatch.setitem(sys.modules, "anthropic", None)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with pytest.raises(InputError, match=r"pip install 'streamdecisionbench\[anthropic\]'"):
        create("anthropic:m")


def test_no_client_library_is_imported_before_it_is_used() -> None:
    code = (
        "import sys; from streamdecisionbench.components.registry import create, find_factory, PROVIDERS\n"
        "[find_factory(n) for n in PROVIDERS]\n"
        "create('baseline:constant')\n"
        "print([m for m in ('openai','anthropic','typesafe_sdk','xllamacpp','httpx2') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_command_lists_names_never_values(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"TYPESAFE_API_KEY={KEY}\nOPENAI_API_KEY=from-file\n")
    done = sdb("providers", "--json", cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert done.returncode == 0, done.stderr
    listed = {status["provider"]: status for status in json.loads(done.stdout)}
    assert set(PROVIDERS) <= set(listed)
    assert listed["openai"]["installed"]
    assert listed["openai"]["versions"]["openai"]
    assert listed["openai"]["environment"]["OPENAI_API_KEY"] is True
    assert listed["systemone"]["environment"]["TYPESAFE_API_KEY"] is True
    assert listed["anthropic"]["environment"]["ANTHROPIC_API_KEY"] is False
    text = sdb("providers", cwd=tmp_path, OPENAI_API_KEY=KEY)
    assert "OPENAI_API_KEY set" in text.stdout
    assert "ANTHROPIC_API_KEY not set" in text.stdout
    for output in (done.stdout, done.stderr, text.stdout, text.stderr):
        assert KEY not in output
        assert "from-file" not in output


def test_the_command_tells_a_bad_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY '{KEY}'\n")
    done = sdb("providers", cwd=tmp_path)
    assert done.returncode == 2
    assert ".env:1" in done.stderr
    assert KEY not in done.stdout + done.stderr


def test_ready_means_that_it_could_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "SDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    by_name = {status.provider: status for status in survey()}
    assert by_name["baseline"].ready
    assert by_name["openai"].installed
    assert not by_name["openai"].ready
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert next(s for s in survey() if s.provider == "openai").ready
