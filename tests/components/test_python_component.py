"""`python:` with real modules in a real folder."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamdecisionbench.components.contract import Answer, Component, Fatal, Options, Retryable
from streamdecisionbench.components.registry import create
from streamdecisionbench.errors import InputError, SdbError
from tests.components.protocols import REQUEST, RIGHT

MODULE = """
    import asyncio, json, threading
    from streamdecisionbench.components.contract import Answer, Fatal, Retryable

    RIGHT = {"mode": "K01", "captions": "K02"}

    class Sync:
        def answer(self, request):
            assert threading.current_thread() is not threading.main_thread()
            assert request.state["tick"] == 7
            request.state["tick"] = 99
            request.questions.clear()
            return RIGHT

    class Async:
        log = []
        async def open(self):
            self.log.append("open")
        async def answer(self, request):
            await asyncio.sleep(0)
            return Answer(RIGHT, model="mine", probabilities=None)
        def close(self):
            self.log.append("close")

    class Configured:
        def __init__(self, options):
            self.effort = options.effort
        async def __call__(self, request):
            return {**RIGHT, "mode": self.effort}

    def function(request):
        return RIGHT

    async def coroutine(request):
        return RIGHT

    wrapped = lambda request: coroutine(request)

    def broken(request):
        return json.loads(str(request.state))

    def lookup(request):
        return request.state[str(request.state)]

    def nothing(request): pass
    def numbers(request): return {"mode": 1}
    def listed(request): return ["K01", "K02"]
    def later(request): raise Retryable("connection")
    def never(request): raise Fatal("licence", "no licence", fix="buy one")

    class Picky:
        def __init__(self, path): pass

    CONSTANT = 3
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "my_rules.py").write_text(textwrap.dedent(MODULE))
    (tmp_path / "typo.py").write_text("def answer(request)\n    return {}\n")
    (tmp_path / "raises.py").write_text("value = 1\nraise RuntimeError('secret text')\n")
    (tmp_path / "needs.py").write_text("import no_such_package_anywhere\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    yield tmp_path
    for name in ("my_rules", "typo", "raises", "needs"):
        sys.modules.pop(name, None)


def ask(attribute: str, options: Options | None = None) -> Answer:
    async def attempt(component: Component) -> Answer:
        await component.open()
        try:
            return await component.answer(REQUEST)
        finally:
            await component.close()

    return asyncio.run(attempt(create(f"python:my_rules:{attribute}", options)))


@pytest.mark.parametrize("attribute", ["Sync", "Async", "function", "coroutine", "wrapped"])
def test_every_kind_of_callable(attribute: str) -> None:
    assert ask(attribute).labels == RIGHT
    assert REQUEST.state["tick"] == 7  # what the user's code did to its copy stays there
    assert REQUEST.questions


def test_open_and_close_are_called_where_they_exist() -> None:
    answer = ask("Async")
    assert answer.model == "mine"
    assert sys.modules["my_rules"].Async.log == ["open", "close"]


def test_a_class_may_ask_for_the_options() -> None:
    assert ask("Configured", Options(effort="low")).labels["mode"] == "low"


@pytest.mark.parametrize(
    ("attribute", "error", "line"),
    [
        ("broken", "JSONDecodeError", "return json.loads"),
        ("lookup", "KeyError", "return request.s"),
    ],
)
def test_an_error_names_file_and_line_and_quotes_nothing(
    attribute: str, error: str, line: str
) -> None:
    with pytest.raises(Fatal) as raised:
        ask(attribute)
    lines = Path("my_rules.py").read_text().splitlines()
    number = next(n for n, text in enumerate(lines, 1) if text.strip().startswith(line))
    assert f"my_rules.py:{number}: python:my_rules:{attribute} raises {error}" in str(raised.value)
    assert "Any questions?" not in str(raised.value)
    assert raised.value.__context__ is None


@pytest.mark.parametrize(
    ("attribute", "says"),
    [("nothing", "returned nothing"), ("numbers", "{'mode': 1}"), ("listed", "['K01', 'K02']")],
)
def test_a_bad_result_is_shown_with_what_may_be(attribute: str, says: str) -> None:
    with pytest.raises(Fatal) as raised:
        ask(attribute)
    assert raised.value.error_type == "bad_answer"
    assert says in str(raised.value)
    assert "the labels of mode are K03, K01, K02" in str(raised.value)


@pytest.mark.parametrize(
    "name", ["python:my_rules:lookup", "python:raises:f", "python:my_rules:Picky"]
)
def test_the_traceback_is_kept_for_whoever_asks(name: str) -> None:
    with pytest.raises(SdbError) as raised:
        ask(name.removeprefix("python:my_rules:")) if "my_rules" in name else create(name)
    trace = raised.value.trace
    assert trace.startswith("Traceback (most recent call last):")
    assert "streamdecisionbench/" not in trace
    assert trace.splitlines()[-1].startswith(("KeyError", "RuntimeError: secret text", "TypeError"))


def test_the_users_own_verdict_passes_through() -> None:
    with pytest.raises(Retryable):
        ask("later")
    with pytest.raises(Fatal, match="no licence"):
        ask("never")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("python:my_rules", "no attribute"),
        ("python:my_rules:Missing", "has no attribute 'Missing'"),
        ("python:absent_module:f", "no module 'absent_module'"),
        ("python:needs:f", "needs the module 'no_such_package_anywhere'"),
        ("python:typo:answer", "typo.py:1: the file is not valid Python"),
        ("python:raises:f", "raises.py:2: importing raises raises RuntimeError"),
        ("python:my_rules:CONSTANT", "can neither be called"),
        ("python:my_rules:Picky", "raises TypeError"),
    ],
)
def test_what_cannot_be_loaded(name: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as raised:
        create(name)
    assert "secret text" not in str(raised.value)


def test_thirty_two_plain_functions_run_at_once(folder: Path) -> None:
    (folder / "my_rules.py").write_text(
        "import threading\n"
        "gate = threading.Barrier(32, timeout=60)\n"
        "def meet(request):\n"
        "    gate.wait()\n"
        '    return {"mode": "K01", "captions": "K02"}\n'
    )

    async def attempt() -> list[Answer]:
        component = create("python:my_rules:meet")
        await component.open()
        try:
            return await asyncio.gather(*(component.answer(REQUEST) for _ in range(32)))
        finally:
            await component.close()

    assert all(answer.labels == RIGHT for answer in asyncio.run(attempt()))


def test_a_file_here_does_not_stand_in_for_an_installed_module(tmp_path: Path) -> None:
    """The current folder is searched last: `./uvloop.py` and `./msgspec.py` must not run."""
    for name in ("uvloop", "msgspec", "streamdecisionbench"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted code ran')\n")
    (tmp_path / "own_rules.py").write_text(
        "def decide(request):\n"
        "    return {n: next(iter(q['criteria'])) for n, q in request.questions.items()}\n"
    )
    sdb = Path(sys.executable).with_name("sdb")
    command = (
        [str(sdb)] if sdb.exists() else [sys.executable, "-P", "-m", "streamdecisionbench.cli.main"]
    )
    done = subprocess.run(
        [*command, "run", "python:own_rules:decide", "--clock", "virtual", "--out", "out",
         "--scenarios", "support_a"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "planted" not in done.stdout + done.stderr


def test_a_name_taken_by_an_installed_module_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "statistics.py").write_text("def decide(request): ...\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="rename the file"):
        create("python:statistics:decide")
