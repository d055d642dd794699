"""`systemone:model` — the System One API, at TypeSafe or at any other server that speaks it.

`POST /v1/systemone` takes {model, state, questions} and returns, for every question, a choice, a
confidence and a distribution over the labels. All three are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from streamdecisionbench.components.contract import (
    Answer,
    ComponentInfo,
    Fatal,
    Options,
    Request,
    Usage,
)
from streamdecisionbench.components.providers.address import refuse, versions
from streamdecisionbench.components.providers.failures import NOT_JSON_FIX, SdkErrors, refusal
from streamdecisionbench.components.providers.hosted import Hosted
from streamdecisionbench.components.providers.prompt import (
    SYSTEM_ONE,
    RequestLimits,
    as_count,
    read_distribution,
    reported_count,
    served_model,
)

if TYPE_CHECKING:
    from typesafe_sdk import AsyncTypeSafeClient


class SystemOne:
    """One call of `system_one` per state, through TypeSafe's own client wherever it points."""

    def __init__(self, model: str, options: Options) -> None:
        import typesafe_sdk as sdk

        refuse(options, "systemone", "effort")
        self._hosted = Hosted(
            "systemone",
            model,
            options,
            SdkErrors(
                sdk.TypeSafeAPITimeoutError, sdk.TypeSafeAPIConnectionError, sdk.TypeSafeAPIError
            ),
            title="TypeSafe",
            key_variable="TYPESAFE_API_KEY",
            url_variable="TYPESAFE_BASE_URL",
            home="api.typesafe.ai",
            default_path="",
        )
        self.observed = self._hosted.observed
        self.secrets = self._hosted.endpoint.secrets
        self.limits: RequestLimits = SYSTEM_ONE
        self._model = model
        self._client: AsyncTypeSafeClient | None = None
        self._raw: Any = _raw_reply()
        self.info = ComponentInfo(
            provider="systemone",
            model=model,
            settings=self._hosted.settings,
            base_url_host=self._hosted.endpoint.host,
            versions=versions("typesafe-sdk", "httpx2"),
        )

    async def open(self) -> None:
        self._open()

    async def answer(self, request: Request) -> Answer:
        client = self._open()
        reply, received_at = await self._hosted.call(
            lambda: client.system_one(
                state=dict(request.state),
                questions=cast("Any", request.questions),
                model=self._model,
                response_model=self._raw,
            )
        )
        return self._read(reply, request.questions, received_at)

    async def close(self) -> None:
        self._client = None
        await self._hosted.close()

    def _open(self) -> AsyncTypeSafeClient:
        if self._client is None:
            from typesafe_sdk import AsyncTypeSafeClient, RetryPolicy

            endpoint = self._hosted.endpoint
            self._client = AsyncTypeSafeClient(
                api_key=endpoint.key,
                # Named even at home: the library would otherwise look into the environment itself.
                base_url=endpoint.base_url or "https://api.typesafe.ai",
                timeout=self._hosted.timeout_s,
                retry=RetryPolicy(max_retries=0),
                http_client=self._hosted.client,
                # Only TypeSafe is known to accept compressed requests.
                compression=None if endpoint.home else False,
            )
        return self._client

    def _read(self, reply: Any, questions: Mapping[str, Any], received_at: float) -> Answer:
        response: dict[str, Any] = reply.root
        service = self._hosted.service
        answers = response.get("answers")
        if not isinstance(answers, dict):
            raise Fatal(
                "not_json", f"the response of {service.name} has no answers", fix=NOT_JSON_FIX
            )
        labels: dict[str, str] = {}
        probabilities: dict[str, dict[str, float]] = {}
        confidence: dict[str, float] = {}
        for name, answer in answers.items():
            if isinstance(answer, dict) and answer.get("type") == "refusal":
                raise refusal(service)
            if name not in questions:
                labels[name] = ""  # whatever it says: the contract names it as one too many
                continue
            if not isinstance(answer, dict) or not isinstance(answer.get("choice"), str):
                raise Fatal(
                    "unknown_label",
                    f"an answer of {service.name} is not a choice",
                    fix="check that the server follows the System One API",
                )
            labels[name] = answer["choice"]
            if isinstance(answer.get("probabilities"), dict):
                pairs = list(answer["probabilities"].items())
                known = name if name in questions else "an answer"
                probabilities[name] = read_distribution(known, pairs)
            if isinstance(answer.get("confidence"), int | float):
                confidence[name] = float(answer["confidence"])
        return Answer(
            labels=labels,
            model=served_model(response),
            usage=_usage(response.get("usage")),
            probabilities=probabilities or None,
            confidence=confidence or None,
            received_at=received_at,
        )


def create(model: str, options: Options) -> SystemOne:
    return SystemOne(model, options)


def _raw_reply() -> Any:
    """A response model that takes any JSON object: what is in it, we judge ourselves.

    The library's own model rejects a whole response for one field that is absent, and names neither
    the question nor the rule.
    """
    from pydantic import RootModel

    return RootModel[dict[str, Any]]


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    return Usage(
        input_tokens=as_count(value.get("input_tokens")),
        cached_tokens=reported_count(value, "cached_tokens"),
        output_tokens=as_count(value.get("output_tokens")),
    )
