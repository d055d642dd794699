"""The `openai` package behind three providers: one client, its errors, its own retries off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamdecisionbench.components.contract import Options
from streamdecisionbench.components.providers.endpoint import versions
from streamdecisionbench.components.providers.hosted import Hosted
from streamdecisionbench.components.providers.http_errors import SdkErrors
from streamdecisionbench.components.providers.prompt import as_count, reported_count
from streamdecisionbench.components.usage import Usage

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["TIERS", "OpenAIClient", "read_usage"]

TIERS = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")


class OpenAIClient(Hosted):
    """The client library on our HTTP client."""

    def __init__(self, provider: str, model: str, options: Options) -> None:
        import openai

        super().__init__(
            provider,
            model,
            options,
            SdkErrors(openai.APITimeoutError, openai.APIConnectionError, openai.APIStatusError),
            title="OpenAI",
            key_variable="OPENAI_API_KEY",
            url_variable="OPENAI_BASE_URL",
            home="api.openai.com",
            default_path="/v1",
        )
        self.versions = versions("openai", "httpx2")
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
                # Named even at home: the library would otherwise look into the environment itself.
                base_url=self.endpoint.base_url or "https://api.openai.com/v1",
                timeout=self.timeout_s,
                max_retries=0,
                http_client=self.client,
            )
            # The library imports its resources on first use; that must not fall into a pass.
            _ = (
                self._sdk.responses.with_raw_response,
                self._sdk.decisions,
                self._sdk.chat.completions,
            )

    async def close(self) -> None:
        self._sdk = None
        await super().close()


def read_usage(value: Any) -> Usage | None:
    """Usage as the Responses and the Decisions API report it; None when absent.

    >>> read_usage({"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}})
    Usage(input_tokens=9, cached_tokens=4, output_tokens=2, reasoning_tokens=0)
    """
    if not isinstance(value, dict):
        return None
    outputs = value.get("output_tokens_details")
    return Usage(
        input_tokens=as_count(value.get("input_tokens")),
        cached_tokens=reported_count(value.get("input_tokens_details"), "cached_tokens"),
        output_tokens=as_count(value.get("output_tokens")),
        reasoning_tokens=(
            as_count(outputs.get("reasoning_tokens")) if isinstance(outputs, dict) else 0
        ),
    )
