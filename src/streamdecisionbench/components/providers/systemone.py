"""`systemone:model` — the System One API, at TypeSafe or at any other server that speaks it.

`POST /v1/systemone` takes {model, state, questions} and returns, for every question, a choice, a
confidence and a distribution over the labels. All three are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamdecisionbench.components.contract import Fatal, Options, Request, Usage
from streamdecisionbench.components.providers.address_and_key import Home, refuse
from streamdecisionbench.components.providers.failures import SdkErrors
from streamdecisionbench.components.providers.prompt import SYSTEM_ONE, as_json, read_usage
from streamdecisionbench.components.providers.remote_provider import DecisionApi

_HOME = Home("TypeSafe", "api.typesafe.ai", "", "TYPESAFE_API_KEY", "TYPESAFE_BASE_URL")


class SystemOne(DecisionApi):
    """One call of `system_one` per state, through TypeSafe's own client wherever it points."""

    limits = SYSTEM_ONE
    distributions = True
    tiers = ()

    def __init__(self, model: str, options: Options) -> None:
        import typesafe_sdk as sdk

        refuse(options, "systemone", "effort")
        errors = SdkErrors(
            sdk.TypeSafeAPITimeoutError, sdk.TypeSafeAPIConnectionError, sdk.TypeSafeAPIError
        )
        super().__init__("systemone", options, _HOME, errors)
        self._model = model
        self._raw_reply = _raw_reply()
        self.info = self.describe(model, "typesafe-sdk", {})

    def _connect(self) -> Any:
        from typesafe_sdk import AsyncTypeSafeClient, RetryPolicy

        return AsyncTypeSafeClient(
            retry=RetryPolicy(max_retries=0),
            # Only TypeSafe is known to accept compressed requests.
            compression=None if self.service.home else False,
            **self.connection,
        )

    async def _ask(self, request: Request) -> Any:
        return await self.sdk.system_one(
            state=dict(request.state),
            questions=request.questions,
            model=self._model,
            response_model=self._raw_reply,
        )

    def _countable(self, request: Request) -> dict[str, Any] | None:
        """How a server words a request is its own; the state and one question are in every prompt."""
        questions = [Request(request.state, {q: each}) for q, each in request.questions.items()]
        return {"prompt": max(map(as_json, questions), key=len)}

    def _content(self, reply: Any) -> bytes:
        found: bytes = reply.content
        return found

    def _listed(self, body: dict[str, Any], names: list[str]) -> list[tuple[str, Any]]:
        answers = body.get("answers")
        if not isinstance(answers, dict):
            raise self._no_answers()
        return list(answers.items())

    def _usage(self, value: Any) -> Usage | None:
        if isinstance(value, dict) and value.get("truncated") is True:
            raise Fatal(
                "truncated_input",
                f"{self.service.name} cut the state to fit the model's context",
                fix="serve the model with a longer context; requests are never cut",
            )
        return read_usage(value, cached="cached_tokens", reasoning="")

    def _diagnostics(self, body: dict[str, Any]) -> Mapping[str, Any] | None:
        """Also counts that go beyond the API's usage, such as `state_tokens`."""
        used = body.get("usage")
        known = ("input_tokens", "output_tokens", "cached_tokens")
        more = {k: v for k, v in (used if isinstance(used, dict) else {}).items() if k not in known}
        return {**more, **(super()._diagnostics(body) or {})} or None


def _raw_reply() -> Any:
    """A response model that takes a reply as it came, to be read like everybody else's.

    The library's own rejects a whole response for one field that is absent, and names neither the
    question nor the rule; its JSON reader believes the last of two answers to one question.
    """
    from pydantic import BaseModel

    class RawReply(BaseModel):
        content: bytes

        @classmethod
        def model_validate_json(cls, json_data: Any, **how: Any) -> RawReply:
            return cls(content=bytes(json_data))

    return RawReply
