"""A component that asks a real HTTP server on loopback; used through `python:` and directly."""

from __future__ import annotations

import os
import time

import httpx

from streamdecisionbench.components.contract import (
    Answer,
    ComponentInfo,
    Fatal,
    Request,
    Retryable,
    Usage,
)

KEY_VARIABLE = "LOOPBACK_API_KEY"


class Loopback:
    """Posts {questions, state}; the server's address comes from SDB_TEST_URL."""

    def __init__(self, url: str | None = None) -> None:
        self._url = url or os.environ["SDB_TEST_URL"]
        self._client: httpx.AsyncClient | None = None

    @property
    def info(self) -> ComponentInfo:
        return ComponentInfo(
            provider="loopback",
            model="echo-1",
            settings={"style": "plain"},
            base_url_host="127.0.0.1",
        )

    async def open(self) -> None:
        self._client = httpx.AsyncClient(timeout=20.0)

    async def answer(self, request: Request) -> Answer:
        assert self._client is not None
        key = os.environ.get(KEY_VARIABLE, "no-key")
        try:
            reply = await self._client.post(
                self._url, json=request.payload(), headers={"Authorization": f"Bearer {key}"}
            )
        except httpx.TimeoutException:
            raise Retryable("timeout") from None
        except httpx.TransportError:
            raise Retryable("connection") from None
        received = time.monotonic()
        if reply.status_code == 429:
            wait = reply.headers.get("retry-after")
            raise Retryable(
                "rate_limit", http_status=429, retry_after_s=float(wait) if wait else None
            )
        if reply.status_code == 401:
            # Careless on purpose: the recorder must hide the key all the same.
            raise Fatal("authentication", f"refused {key}", fix=f"renew {key}", http_status=401)
        body = reply.json()
        return Answer(
            labels=body["labels"],
            model=body["model"],
            usage=Usage(input_tokens=10, output_tokens=2),
            probabilities=body.get("probabilities"),
            confidence=body.get("confidence"),
            received_at=received,
        )

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()
