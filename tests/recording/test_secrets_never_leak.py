"""No part of a key longer than seven characters reaches disk or screen, wherever a server puts it."""

from __future__ import annotations

import ast
import html
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import streamdecisionbench
from streamdecisionbench.components.redaction import Redactor, cut
from streamdecisionbench.errors import SdbError
from streamdecisionbench.recording.run_options import RetryPolicy, RunOptions
from streamdecisionbench.recording.run_request import (
    launch,
)
from tests.cli.command import sdb
from tests.components.servers import Reply, ScriptedServer, scripted
from tests.components.test_http_policy import _VARIABLES
from tests.recording.recorder_kit import suite_folder

ALPHABET = "abcdefghijkMNOPQRSTU0123456789+/=-_"
SECRETS = st.text(ALPHABET, min_size=12, max_size=76)
SECRET = "sk-proj-Zx81+qL/0vTneH6u_Yb5=Wd2RkAo9"
FORMS = {
    "as it is": lambda s: s,
    "for a URL": lambda s: quote(s, safe=""),
    "for JSON": lambda s: json.dumps(s)[1:-1].replace("/", "\\/"),
    "for HTML": html.escape,
    "its first half": lambda s: s[: len(s) // 2 + 4],
    "its second half": lambda s: s[len(s) // 2 - 4 :],
    "masked": lambda s: f"{s[:9]}****{s[-9:]}",
}


def parts_of(secret: str, text: str) -> list[str]:
    """Parts of a secret longer than seven characters that a text shows."""
    return [secret[k : k + 8] for k in range(len(secret) - 7) if secret[k : k + 8] in text]


@given(
    secret=SECRETS,
    form=st.sampled_from(sorted(FORMS)),
    before=st.text("xyz ", max_size=50),
    longest=st.integers(0, 120),
)
def test_what_is_cut_holds_no_part_of_a_secret(
    secret: str, form: str, before: str, longest: int
) -> None:
    clean = Redactor([], sent=[secret])
    text = f"{before}{FORMS[form](secret)} and more"
    assert not parts_of(secret, cut(text, longest, clean))
    tree = clean.tree({text: [text, {"deep": text}]})
    assert not parts_of(secret, json.dumps(tree))


@given(st.lists(SECRETS, min_size=1, max_size=4), st.data())
def test_secrets_that_overlap_leave_nothing_of_each_other(
    secrets: list[str], data: st.DataObject
) -> None:
    """Also those that were not sent: every whole occurrence is hidden, also one inside another."""
    joined = secrets[0]
    for secret in secrets[1:]:
        shared = data.draw(st.integers(0, len(joined)))
        joined = joined[:shared] + secret
    clean = Redactor(secrets)
    shown = clean(f"<{joined}>")
    assert all(secret not in shown for secret in secrets)
    plain = f"<{joined}>"
    hidden = {
        at + k
        for secret in secrets
        for at in range(len(plain))
        if plain.startswith(secret, at)
        for k in range(len(secret))
    }
    kept = "".join(c for k, c in enumerate(plain) if k not in hidden)
    assert shown.replace("[hidden]", "") == kept


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return suite_folder(tmp_path_factory.mktemp("suite"), steps=1, tick=0.1)


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with scripted(Reply()) as running:
        yield running


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in _VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("SDB_API_KEY", SECRET)


PLACES = (
    "model", "path of the model", "service_tier", "timings key", "timings value", "label", "question",
    "error text", "error message", "error key", "error list", "not json", "redirect", "retry-after", "header",
)  # fmt: skip


def reply(place: str, text: str) -> Reply:
    """An answer of an OpenAI-like server with this text in one place of it."""
    labels = {"route": "K01", "speed": "K03"}
    body: dict[str, object] = {"model": "m", "choices": [], "usage": {}}
    if place == "label":
        labels["route"] = text
    if place == "question":
        labels[text] = "K01"
    message = {"role": "assistant", "content": json.dumps(labels)}
    body["choices"] = [{"index": 0, "finish_reason": "stop", "message": message}]
    if place == "model":
        body["model"] = text
    if place == "path of the model":
        body["model"] = f"/models/{text}"
    if place == "service_tier":
        body["service_tier"] = text
    if place == "timings key":
        body["timings"] = {text: 1.0}
    if place == "timings value":
        body["timings"] = {"build": [text, {"x": text}]}
    errors: dict[str, object] = {
        "error message": {"error": {"message": text}},
        "error key": {"error": {text: text, "message": "no"}},
        "error list": {"detail": [{"msg": text}, {text: "x"}]},
        "error text": text,
    }
    if place in errors:
        return Reply(json.dumps(errors[place]).encode(), 400)
    if place == "not json":
        return Reply(text.encode(), 400, content_type="text/plain")
    plain = "".join(c for c in text if c.isprintable())
    if place == "redirect":
        return Reply(b"{}", 302, {"Location": f"http://{plain.replace('/', '.')}.example/{plain}"})
    if place == "retry-after":
        return Reply(b"{}", 503, {"Retry-After": plain[-2000:]})
    headers = {"X-Request-Id": plain[-2000:]} if place == "header" else {}
    return Reply(json.dumps(body).encode(), 200, headers)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    place=st.sampled_from(PLACES),
    form=st.sampled_from(sorted(FORMS)),
    edge=st.sampled_from([0, 40, 60, 80, 200, 300, 1000, 100_000]),
    inside=st.integers(0, len(SECRET)),
)
def test_no_part_of_a_key_reaches_disk_or_screen(
    place: str,
    form: str,
    edge: int,
    inside: int,
    data: Path,
    server: ScriptedServer,
    tmp_path: Path,
    environment: None,
) -> None:
    """The key lies over every length that anything is cut at."""
    text = "x" * max(0, edge - inside) + " " + FORMS[form](SECRET) + " end"
    server._replies[:] = [reply(place, text)]
    out = tmp_path / "out"
    shutil.rmtree(out, ignore_errors=True)
    request = RunOptions.of(
        {None: "chat:m"},
        out,
        data=data,
        base_urls={None: server.url},
        retry=RetryPolicy.of(1),
        warmup=0,
    )
    seen = ""
    try:
        seen += repr(launch(request, lambda estimates: True))
    except SdbError as error:
        seen += str(error) + error.trace
    seen += "".join(file.read_text() for file in out.rglob("*") if file.is_file())
    assert not parts_of(SECRET, seen)
    if place in ("model", "service_tier", "timings key", "timings value", "header"):
        assert '"complete"' in seen


@pytest.mark.parametrize("room", [60, 75, 90, 105])
def test_a_key_given_as_an_option_is_not_shown_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, data: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"careless{room}.py").write_text(
        "class Own:\n    def __init__(self, options):\n        self.key = options.extra['api_key']\n"
        f"    def answer(self, request):\n        return ['x' * {room} + self.key]\n"
    )
    result = sdb(
        "run", f"python:careless{room}:Own", "--data", data, "--out", "out", "--option",
        f"api_key={SECRET}",
    )  # fmt: skip
    assert result.returncode == 2
    written = "".join(f.read_text() for f in (tmp_path / "out").rglob("*") if f.is_file())
    assert not parts_of(SECRET, result.stdout + result.stderr + written)


def test_text_of_others_is_shortened_by_one_function_alone() -> None:
    """`text[:40]` before a secret is hidden shows half of it: `cut` hides first."""
    home = Path(streamdecisionbench.__file__).parent
    files = [
        *(home / "components" / "providers").glob("*.py"),
        home / "components" / "contract.py",
        home / "components" / "local" / "python_class.py",
        home / "recording" / "episode.py",
        home / "recording" / "realtime.py",
    ]
    cutting = []
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            upper = (
                node.slice.upper
                if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
                else None
            )
            number = (
                isinstance(upper, ast.Constant) and isinstance(upper.value, int) and upper.value > 7
            )
            named = isinstance(upper, ast.Name) and upper.id.startswith("_LONGEST")
            if number or named:
                cutting.append(f"{file.name}:{node.lineno}")
    assert not cutting
