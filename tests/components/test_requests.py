"""What each hosted provider sends, as a real server receives it, and what it reads back."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from typing import Any

import pytest

from streamdecisionbench.components.contract import Answer, Options, Usage, check_answer
from streamdecisionbench.components.providers.prompt import INSTRUCTION
from streamdecisionbench.components.registry import create
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.provenance_notes import unusual_settings
from tests.components.protocols import (
    ANTHROPIC,
    CHAT,
    DECISIONS,
    EVEN,
    OPENAI,
    PROTOCOLS,
    REQUEST,
    RIGHT,
    SYSTEMONE,
    Protocol,
)
from tests.components.servers import Received, Reply, scripted

KEY = "sk-planted-0123456789abcdef"

SCHEMA = {
    "type": "object",
    "properties": {
        "mode": {"type": "string", "enum": ["K01", "K02", "K03"]},
        "captions": {"type": "string", "enum": ["K01", "K02"]},
    },
    "required": ["mode", "captions"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (
        "OPENAI_API_KEY", "TYPESAFE_API_KEY", "ANTHROPIC_API_KEY", "SDB_API_KEY",
        "OPENAI_BASE_URL", "TYPESAFE_BASE_URL", "ANTHROPIC_BASE_URL",
    ):  # fmt: skip
        monkeypatch.delenv(variable, raising=False)


def exchange(
    protocol: Protocol,
    *,
    effort: str | None = None,
    path: str = "",
    prompt: str | None = None,
    order: str | None = None,
    **extra: str,
) -> tuple[Received, Answer]:
    """One valid exchange: what arrived, and what was read."""

    async def attempt(url: str) -> Answer:
        options = Options(
            effort=effort, base_url=url + path, extra=extra, prompt=prompt, order=order
        )
        component = create(f"{protocol.provider}:test-model", options)
        assert component.info.base_url_host == url.removeprefix("http://")
        assert component.info.versions
        await component.open()
        try:
            return await component.answer(REQUEST)
        finally:
            await component.close()

    with scripted(Reply(protocol.body(RIGHT))) as server:
        answer = asyncio.run(attempt(server.url))
        assert len(server.received) == 1
        return server.received[0], answer


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_reading(protocol: Protocol) -> None:
    received, answer = exchange(protocol)
    check_answer(answer, REQUEST.questions)
    assert received.path == protocol.path
    assert received.json["model"] == "test-model"
    assert answer.labels == RIGHT
    assert answer.model == "served-model"
    reasoning = 0 if protocol is SYSTEMONE else 64
    assert answer.usage == Usage(2500, 1024, 90, reasoning)
    assert answer.received_at is not None
    if protocol.distributions:
        assert answer.probabilities == EVEN
        assert answer.confidence == {"mode": 0.8, "captions": 0.8}


def sent_text_is_questions_before_state(text: str) -> None:
    parsed = json.loads(text)
    assert list(parsed) == ["questions", "state"]
    assert parsed == {"questions": REQUEST.questions, "state": REQUEST.state}
    assert "é" in text  # not escaped: a model should read what a person reads


@pytest.mark.parametrize("effort", [None, "low"])
def test_openai_request(effort: str | None) -> None:
    body = exchange(OPENAI, effort=effort)[0].json
    sent_text_is_questions_before_state(body.pop("input"))
    expected: dict[str, Any] = {
        "model": "test-model",
        "instructions": INSTRUCTION,
        "store": False,
        "max_output_tokens": 1024,
        "text": {
            "format": {"type": "json_schema", "name": "answers", "strict": True, "schema": SCHEMA}
        },
    }
    if effort:
        expected["reasoning"] = {"effort": "low"}
    assert body == expected


def test_chat_request() -> None:
    body = exchange(CHAT, effort="none", temperature="0")[0].json
    system, user = body.pop("messages")
    assert system == {"role": "system", "content": INSTRUCTION}
    assert user["role"] == "user"
    sent_text_is_questions_before_state(user["content"])
    assert body == {
        "model": "test-model",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answers", "strict": True, "schema": SCHEMA},
        },
        "reasoning_effort": "none",
        "temperature": 0,
        "max_tokens": 1024,
    }
    assert set(exchange(CHAT)[0].json) == {"model", "messages", "response_format", "max_tokens"}


def test_anthropic_request() -> None:
    body = exchange(ANTHROPIC, effort="low")[0].json
    (user,) = body.pop("messages")
    assert user["role"] == "user"
    prefix, rest = user["content"]
    assert prefix["type"] == rest["type"] == "text"
    assert rest["text"].startswith('"state":')
    sent_text_is_questions_before_state(prefix["text"] + rest["text"])
    (tool,) = body.pop("tools")
    assert tool.pop("description")
    assert tool == {"name": "answers", "input_schema": SCHEMA, "strict": True}
    assert body == {
        "model": "test-model",
        "max_tokens": 4096,
        "system": INSTRUCTION,
        "tool_choice": {"type": "tool", "name": "answers", "disable_parallel_tool_use": True},
        "output_config": {"effort": "low"},
    }


@pytest.mark.parametrize("protocol", [OPENAI, CHAT, ANTHROPIC], ids=lambda p: p.provider)
def test_instructions_and_order_of_ones_own(protocol: Protocol) -> None:
    options = {"prompt": "Decide at once.", "order": "state-first"}
    body = exchange(protocol, **options)[0].json
    if protocol is OPENAI:
        told, text = body["instructions"], body["input"]
    elif protocol is CHAT:
        told, text = (m["content"] for m in body["messages"])
    else:
        told = body["system"]
        text = "".join(block["text"] for block in body["messages"][0]["content"])
    assert told == "Decide at once."
    assert list(json.loads(text)) == ["state", "questions"]
    made = create(f"{protocol.provider}:m", Options(base_url="http://127.0.0.1:9", **options))
    assert made.info.settings["prompt"] == "Decide at once."
    words = unusual_settings({"settings": dict(made.info.settings)})
    assert words["order"] == "state-first"
    assert made.info.settings["prompt_sha256"].startswith(words["prompt"])
    usual = create(f"{protocol.provider}:m", Options(base_url="http://127.0.0.1:9"))
    assert usual.info.settings["order"] == "questions-first"
    assert not unusual_settings({"settings": dict(usual.info.settings)})
    with pytest.raises(InputError, match="--order"):
        create(f"{protocol.provider}:m", Options(base_url="http://127.0.0.1:9", order="random"))


def test_a_cache_of_what_never_repeats_is_refused() -> None:
    options = Options(
        base_url="http://127.0.0.1:9", order="state-first", extra={"cache_control": "5m"}
    )
    with pytest.raises(InputError, match="cache_control"):
        create("anthropic:m", options)


def test_decisions_request() -> None:
    body = exchange(DECISIONS)[0].json
    assert body == {
        "model": "test-model",
        "input": [
            {"role": "user", "content": [{"type": "input_json", "data": dict(REQUEST.state)}]}
        ],
        "questions": [
            {
                "type": "choice",
                "name": "mode",
                "instructions": "Which mode is on?",
                "choices": [
                    {"value": "K03", "description": "talk: the talk"},
                    {"value": "K01", "description": "questions: open floor"},
                    {"value": "K02", "description": "closed: end"},
                ],
            },
            {
                "type": "choice",
                "name": "captions",
                "instructions": "Are captions shown?",
                "choices": [
                    {"value": "K02", "description": "on: shown"},
                    {"value": "K01", "description": "off: hidden"},
                ],
            },
        ],
    }


def test_decisions_with_the_state_as_text() -> None:
    body = exchange(DECISIONS, input="text")[0].json
    (message,) = body["input"]
    (part,) = message["content"]
    assert part["type"] == "input_text"
    assert json.loads(part["text"]) == REQUEST.state
    with pytest.raises(InputError, match="choose one of: json, text"):
        exchange(DECISIONS, input="yaml")


@pytest.mark.parametrize(
    ("protocol", "options", "sent"),
    [
        (OPENAI, {"max_output_tokens": "0", "prompt_cache_key": "k"}, {"prompt_cache_key": "k"}),
        (CHAT, {"service_tier": "flex"}, {"service_tier": "flex", "max_tokens": 1024}),
        (ANTHROPIC, {"speed": "fast", "service_tier": "standard_only", "max_output_tokens": "99"},
         {"speed": "fast", "service_tier": "standard_only", "max_tokens": 99}),
        (DECISIONS, {"prompt_cache_key": "k"}, {"prompt_cache_key": "k"}),
    ],
)  # fmt: skip
def test_settings_by_option(
    protocol: Protocol, options: dict[str, str], sent: dict[str, Any]
) -> None:
    body = exchange(protocol, **options)[0].json
    assert {name: body.get(name) for name in sent} == sent
    assert ("max_output_tokens" in body) == ("max_output_tokens" in sent)


def test_the_part_that_repeats_is_cached_when_asked() -> None:
    (user,) = exchange(ANTHROPIC, cache_control="1h")[0].json["messages"]
    prefix, rest = user["content"]
    assert prefix["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert "cache_control" not in rest


def test_decisions_without_names_come_in_question_order() -> None:
    body = json.loads(DECISIONS.body(RIGHT))
    for answer in body["answers"]:
        del answer["name"]

    async def attempt(url: str) -> Answer:
        return await create("openai-decisions:m", Options(base_url=url)).answer(REQUEST)

    with scripted(Reply(json.dumps(body).encode())) as server:
        assert asyncio.run(attempt(server.url)).labels == RIGHT


def test_systemone_request() -> None:
    body = exchange(SYSTEMONE)[0].json
    assert body == {
        "model": "test-model",
        "state": REQUEST.state,
        "questions": REQUEST.questions,
    }


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
@pytest.mark.parametrize("path", ["/v1", "/v1/"])
def test_base_url_with_its_version(protocol: Protocol, path: str) -> None:
    assert exchange(protocol, path=path)[0].path == protocol.path


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_keys_go_where_they_belong(protocol: Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    def sent() -> str:
        headers = {k.lower(): v for k, v in exchange(protocol)[0].headers.items()}
        return headers["authorization"]

    assert "no-key" in sent()
    monkeypatch.setenv(protocol.key_variable, KEY)
    assert KEY in sent()  # this machine may see it
    monkeypatch.setenv("SDB_API_KEY", "sk-for-any-host")
    assert "sk-for-any-host" in sent()


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_another_host_never_gets_the_providers_key(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    from streamdecisionbench.components.providers.address_and_key import Home, resolve

    monkeypatch.setenv(protocol.key_variable, KEY)
    home = Home("OpenAI", "api.openai.com", "/v1", protocol.key_variable, "OPENAI_BASE_URL")
    elsewhere = Options(base_url="https://models.example.org:8443/v1")
    endpoint = resolve(protocol.provider, elsewhere, home)
    assert endpoint.key == "no-key"
    assert endpoint.host == "models.example.org:8443"
    assert KEY not in repr(endpoint)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_a_key_in_the_url_is_sent_but_never_shown(
    protocol: Protocol, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    async def attempt(url: str) -> None:
        component = create(f"{protocol.provider}:m", Options(base_url=url))
        assert KEY not in repr(component.info)
        await component.answer(REQUEST)
        await component.close()

    with scripted(Reply(protocol.body(RIGHT))) as server:
        asyncio.run(attempt(server.url.replace("http://", f"http://{KEY}@")))
        asyncio.run(attempt(server.url.replace("http://", f"http://:{KEY}@")))
        asyncio.run(attempt(server.url.replace("http://", f"http://me:{KEY}@")))
        sent = [
            {k.lower(): v for k, v in r.headers.items()}["authorization"] for r in server.received
        ]
    basic = base64.b64encode(f"me:{KEY}".encode()).decode()
    assert sent == [f"Bearer {KEY}", f"Bearer {KEY}", f"Basic {basic}"]
    assert KEY not in caplog.text
    assert basic not in caplog.text


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_missing_key_is_told_before_anything_runs(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=protocol.key_variable):
        create(f"{protocol.provider}:m")
    monkeypatch.setenv(protocol.key_variable, f"{KEY}\nX-Evil: 1")
    with pytest.raises(InputError, match="characters no key has") as raised:
        create(f"{protocol.provider}:m")
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
@pytest.mark.parametrize(
    ("host", "home"),
    [
        ("{api}", True),
        ("eu.{domain}", True),
        ("evil{domain}", False),
        ("evil-{domain}", False),
        ("{api}.evil.example", False),
        ("{domain}.evil.example", False),
        ("evil.example/{api}", False),
        ("{domain}", False),
    ],
)
def test_only_the_providers_own_hosts_get_its_key(
    protocol: Protocol, host: str, home: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`evilopenai.com` ends like OpenAI's own hosts and belongs to anybody."""
    api = {"systemone": "api.typesafe.ai", "anthropic": "api.anthropic.com"}.get(
        protocol.provider, "api.openai.com"
    )
    monkeypatch.setenv(protocol.key_variable, KEY)
    name = host.format(api=api, domain=api.partition(".")[2])
    component = create(f"{protocol.provider}:m", Options(base_url=f"https://{name}/v1"))
    assert (KEY in component.secrets) is home
    assert component.service.home is home


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
@pytest.mark.parametrize(
    ("url", "variable", "fine"),
    [
        ("http://models.example.org/v1", "SDB_API_KEY", False),
        ("http://8.8.8.8:8000/v1", "SDB_API_KEY", False),
        ("http://[2606:4700::1111]/v1", "SDB_API_KEY", False),
        ("http://key@models.example.org/v1", "", False),
        ("http://me:password@models.example.org/v1", "", False),
        ("http://api.openai.com/v1", "OPENAI_API_KEY", False),
        ("http://eu.anthropic.com/v1", "ANTHROPIC_API_KEY", False),
        ("http://models.example.org/v1", "", True),
        ("https://models.example.org/v1", "SDB_API_KEY", True),
        ("http://127.0.0.1:8000/v1", "SDB_API_KEY", True),
        ("http://192.168.0.7/v1", "SDB_API_KEY", True),
        ("http://nas.local/v1", "SDB_API_KEY", True),
        ("http://litellm:4000/v1", "SDB_API_KEY", True),
    ],
)
def test_a_key_goes_to_a_public_host_encrypted_or_not_at_all(
    protocol: Protocol, url: str, variable: str, fine: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable not in ("", "SDB_API_KEY", protocol.key_variable):
        return
    monkeypatch.setenv(variable or "SDB_API_KEY", KEY if variable else "")
    component = f"{protocol.provider}:m"
    if not fine:
        with pytest.raises(InputError, match="not encrypted") as raised:
            create(component, Options(base_url=url))
        assert KEY not in str(raised.value)
        assert "password" not in str(raised.value)
    create(component, Options(base_url=url, plain_http=not fine))


def test_a_header_goes_to_a_public_host_encrypted_or_not_at_all() -> None:
    there = {"base_url": "http://models.example.org", "headers": {"X-Team": "blue"}}
    with pytest.raises(InputError, match="not encrypted"):
        create("openai:m", Options(**there))
    assert create("openai:m", Options(**there, plain_http=True)).secrets == ("blue",)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
@pytest.mark.parametrize("end", ["?api-version=2026-09-01", "?key=secret-in-url", "#part"])
def test_what_no_library_would_send_of_an_address_is_refused(protocol: Protocol, end: str) -> None:
    with pytest.raises(InputError, match="query") as raised:
        create(f"{protocol.provider}:m", Options(base_url=f"http://127.0.0.1:1/v1{end}"))
    assert "secret-in-url" not in str(raised.value)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_what_a_library_reads_for_itself_stays_at_home(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway's key in `OPENAI_CUSTOM_HEADERS` is for the exported address, not for any other."""
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_CUSTOM_HEADERS", "X-Gateway: exported-header")
    monkeypatch.setenv("OPENAI_ORG_ID", "exported-org")
    monkeypatch.setenv(protocol.key_variable, KEY)

    def sent(url: str | None) -> str:
        sdk = create(f"{protocol.provider}:m", Options(base_url=url)).sdk
        return repr(dict(getattr(sdk, "default_headers", {})))

    assert "exported" not in sent("https://models.example.org")
    reads = protocol.provider != "systemone"
    assert ("exported" in sent(None)) is reads
    assert ("exported" in sent("http://127.0.0.1:4000")) is reads


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://host/v1", "http://", "http://h:port/"])
def test_bad_base_url(url: str) -> None:
    with pytest.raises(InputError, match="http or https"):
        create("openai:m", Options(base_url=url))


@pytest.mark.parametrize("name", ["systemone:m", "openai-decisions:m", "baseline:random"])
def test_effort_without_meaning_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="--effort"):
        create(name, Options(effort="low", base_url=None))


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.provider)
def test_options_nobody_knows_are_refused(protocol: Protocol) -> None:
    options = Options(base_url="http://127.0.0.1:1", extra={"temprature": "0"})
    with pytest.raises(InputError, match="temprature"):
        create(f"{protocol.provider}:m", options)


def test_thirty_two_at_once() -> None:
    async def attempt(url: str) -> list[Answer]:
        component = create("systemone:m", Options(base_url=url))
        await component.open()
        try:
            return await asyncio.gather(*(component.answer(REQUEST) for _ in range(32)))
        finally:
            await component.close()

    with scripted(Reply(SYSTEMONE.body(RIGHT))) as server:
        answers = asyncio.run(attempt(server.url))
        assert len(server.received) == 32
    assert all(answer.labels == RIGHT for answer in answers)
