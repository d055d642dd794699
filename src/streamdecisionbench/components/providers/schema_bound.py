"""What the two OpenAI APIs that bind a reply to a JSON schema have in common: one call, one reading."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from streamdecisionbench.components.contract import Answer, ComponentInfo, Fatal, Request
from streamdecisionbench.components.providers.http_errors import NOT_JSON_FIX, unstructured
from streamdecisionbench.components.providers.openai_client import OpenAIClient
from streamdecisionbench.components.providers.prompt import read_labels, read_object
from streamdecisionbench.components.providers.served import served_model
from streamdecisionbench.components.usage import Usage

__all__ = ["SchemaBound"]


class SchemaBound(ABC):
    """One call per state; the labels are the JSON object that the reply's text holds."""

    def __init__(self, client: OpenAIClient, info: ComponentInfo) -> None:
        self._client = client
        self.info = info
        self.observed = client.observed
        self.secrets = client.endpoint.secrets

    async def open(self) -> None:
        self._client.open()

    async def answer(self, request: Request) -> Answer:
        raw, received_at = await self._client.call(lambda: self._ask(request))
        found = read_object(
            raw.http_response.content,
            what=f"the response of {self._client.service.name}",
            fix=NOT_JSON_FIX,
        )
        self.observed.serve("service_tier", found.get("service_tier"))
        return Answer(
            labels=read_labels(self._reply(found)),
            model=served_model(found),
            usage=self._usage(found.get("usage")),
            received_at=received_at,
        )

    async def close(self) -> None:
        await self._client.close()

    def _reply(self, found: dict[str, Any]) -> dict[str, Any]:
        text = self._text(found)
        try:
            return read_object(text, what="the model's reply")
        except Fatal as error:
            what, kind = str(error).partition("\n")[0], error.error_type
        raise unstructured(self._client.service, what, kind)

    @abstractmethod
    async def _ask(self, request: Request) -> Any:
        """The raw response to one state."""

    @abstractmethod
    def _text(self, found: dict[str, Any]) -> str:
        """The reply's text; a refusal, a failure or a cut reply is raised."""

    @abstractmethod
    def _usage(self, value: Any) -> Usage | None:
        """Tokens, as this API names them; None where it reports none."""
