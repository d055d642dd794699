"""`anthropic:model` — the Messages API with one forced tool whose input is bound by a strict schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from streamdecisionbench.components.contract import Answer, Options, Request, Usage
from streamdecisionbench.components.providers.address_and_key import Home, refuse
from streamdecisionbench.components.providers.failures import (
    SdkErrors,
    incomplete,
    refusal,
    unstructured,
)
from streamdecisionbench.components.providers.prompt import (
    ORDERS,
    SCHEMA_NAME,
    Wording,
    answer_schema,
    as_count,
    as_parts,
    choice,
    output_limit,
    present,
    read_labels,
    read_usage,
)
from streamdecisionbench.components.providers.remote_provider import RemoteProvider
from streamdecisionbench.errors import InputError

_HOME = Home("Anthropic", "api.anthropic.com", "", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
_MAX_TOKENS = 4096
"""Far above what a dozen labels take; the API wants a limit."""


class AnthropicMessages(RemoteProvider):
    """One call of `messages.create` per state."""

    tiers = ("service_tier", "speed")

    def __init__(self, model: str, options: Options) -> None:
        import anthropic

        known = ("cache_control", "max_output_tokens", "service_tier", "speed")
        refuse(options, "anthropic", allowed=known)
        errors = SdkErrors(
            anthropic.APITimeoutError, anthropic.APIConnectionError, anthropic.APIStatusError
        )
        super().__init__("anthropic", options, _HOME, errors)
        self._model = model
        self._effort = options.effort
        self._limit = output_limit(options, _MAX_TOKENS) or _MAX_TOKENS
        self._cache = choice(options, "cache_control", ("5m", "1h"))
        self._wording = Wording.of(options)
        if self._cache and self._wording.order != ORDERS[0]:
            raise InputError(
                "--option cache_control caches what comes first, and every state is another",
                fix="leave it out, or use --order questions-first",
            )
        self._extra = present(
            {
                "service_tier": choice(options, "service_tier", ("auto", "standard_only")),
                "speed": choice(options, "speed", ("standard", "fast")),
            }
        )
        asked = {"effort": options.effort, "max_output_tokens": self._limit}
        cached = present({"cache_control": self._cache})
        self.info = self.describe(
            model, "anthropic", {**asked, **self._wording.settings, **cached, **self._extra}
        )

    def _connect(self) -> Any:
        from anthropic import AsyncAnthropic

        return AsyncAnthropic(max_retries=0, **self.connection)

    async def _ask(self, request: Request) -> Any:
        """The repeated part is a separate block, to be cached."""
        prefix, rest = as_parts(request, self._wording.order)
        head: dict[str, Any] = {"type": "text", "text": prefix}
        if self._cache is not None:
            head["cache_control"] = {"type": "ephemeral", "ttl": self._cache}
        tool = {
            "name": SCHEMA_NAME,
            "description": "Takes the JSON object of your reply: one label per question.",
            "input_schema": answer_schema(request.questions),
            "strict": True,
        }
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": self._limit,
            "system": self._wording.instruction,
            "messages": [{"role": "user", "content": [head, {"type": "text", "text": rest}]}],
            "tools": [tool],
            "tool_choice": {"type": "tool", "name": SCHEMA_NAME, "disable_parallel_tool_use": True},
            **self._extra,
        }
        if self._effort is not None:
            body["output_config"] = {"effort": self._effort}
        return await self.sdk.messages.with_raw_response.create(**body)

    def _told(self, body: dict[str, Any]) -> Mapping[str, Any]:
        usage = body.get("usage")
        return usage if isinstance(usage, dict) else {}

    def _read(self, body: dict[str, Any], request: Request) -> Answer:
        reason = body.get("stop_reason")
        if reason == "refusal":
            raise refusal(self.service)
        if reason in {"max_tokens", "model_context_window_exceeded"}:
            raise incomplete(self.service, self._limit)
        content = body.get("content")
        calls = [
            block.get("input")
            for block in (content if isinstance(content, list) else [])
            if isinstance(block, dict)
            and block.get("type") == "tool_use"
            and block.get("name") == SCHEMA_NAME
        ]
        if len(calls) != 1 or not isinstance(calls[0], dict):
            what = "the response does not call the tool exactly once"
            raise unstructured(self.service, what)
        return Answer(labels=read_labels(calls[0]))

    def _usage(self, value: Any) -> Usage | None:
        """`input_tokens` of this API leaves out what went through the cache; ours counts all input."""
        found = read_usage(
            value,
            cached="cache_read_input_tokens",
            reasoning="output_tokens_details.thinking_tokens",
        )
        if found is None:
            return None
        written = as_count(value.get("cache_creation_input_tokens"))
        every = found.input_tokens + written + (found.cached_tokens or 0)
        return replace(found, input_tokens=every)
