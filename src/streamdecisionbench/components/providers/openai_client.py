"""The `openai` package behind three providers: one client, its errors, its own retries off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamdecisionbench.components.contract import Options
from streamdecisionbench.components.providers.endpoint import resolve, versions
from streamdecisionbench.components.providers.http_errors import SdkErrors, Service
from streamdecisionbench.components.providers.prompt import as_count
from streamdecisionbench.components.usage import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["OpenAIClient", "read_usage"]


class OpenAIClient:
    """Resolves address and key at once, so that a missing key is told before anything runs."""

    def __init__(self, options: Options) -> None:
        import openai

        self.endpoint = resolve(
            options,
            key_variable="OPENAI_API_KEY",
            url_variable="OPENAI_BASE_URL",
            home="api.openai.com",
            default_path="/v1",
        )
        self.timeout_s = options.timeout_s
        self.versions = versions("openai")
        self.errors = SdkErrors(
            openai.APITimeoutError, openai.APIConnectionError, openai.APIStatusError
        )
        self.service = Service(
            "OpenAI" if self.endpoint.home else f"the server at {self.endpoint.host}",
            self.endpoint.host,
            self.endpoint.key_variable,
        )
        self._sdk: AsyncOpenAI | None = None

    @property
    def sdk(self) -> AsyncOpenAI:
        """The client; made on first use, because it belongs to the running event loop."""
        self.open()
        assert self._sdk is not None  # noqa: S101 - `open` has just set it
        return self._sdk

    def open(self) -> None:
        if self._sdk is None:
            from openai import AsyncOpenAI

            self._sdk = AsyncOpenAI(
                api_key=self.endpoint.key,
                base_url=self.endpoint.base_url,
                timeout=self.timeout_s,
                max_retries=0,
            )
            # The library imports its resources on first use; that must not fall into a pass.
            _ = (
                self._sdk.responses.with_raw_response,
                self._sdk.decisions,
                self._sdk.chat.completions,
            )

    async def close(self) -> None:
        if self._sdk is not None:
            sdk, self._sdk = self._sdk, None
            await sdk.close()


def read_usage(value: Any) -> Usage | None:
    """Usage as the Responses and the Decisions API report it; None when absent.

    >>> read_usage({"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}})
    Usage(input_tokens=9, cached_tokens=4, output_tokens=2, reasoning_tokens=0)
    """
    if not isinstance(value, dict):
        return None
    inputs, outputs = value.get("input_tokens_details"), value.get("output_tokens_details")
    return Usage(
        input_tokens=as_count(value.get("input_tokens")),
        cached_tokens=as_count(inputs.get("cached_tokens")) if isinstance(inputs, dict) else 0,
        output_tokens=as_count(value.get("output_tokens")),
        reasoning_tokens=(
            as_count(outputs.get("reasoning_tokens")) if isinstance(outputs, dict) else 0
        ),
    )
