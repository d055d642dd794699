"""Which of the known APIs a server answers on: asked once, when it does not know the one we tried."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import httpx2

__all__ = ["PATHS", "Surveyed", "survey_server"]

PATHS = {
    "openai": "/v1/responses",
    "chat": "/v1/chat/completions",
    "systemone": "/v1/systemone",
    "openai-decisions": "/v1/decisions",
    "anthropic": "/v1/messages",
}
"""Provider → the path it posts to."""

_ABSENT = {404, 405, 410, 501}
_UNKNOWN = {401, 403, 407, 429, 502, 503, 504}
_LIMIT_S = 4.0
_MOST_MODELS = 6


@dataclass(frozen=True, slots=True)
class Surveyed:
    """Providers whose path the server knows, and models it lists; empty where it does not say."""

    answering: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    def advice(self, provider: str, model: str, *, quoting: bool = True) -> str:
        """What to write instead."""
        if provider in self.answering:
            if quoting and self.models and model not in self.models:
                return f"it knows the API but not this model; it lists: {', '.join(self.models)}"
            return "it knows the API: check the model's name"
        if not self.answering:
            return "check --base-url: no API known here answers at that address"
        named = " or ".join(f"{name}:{model}" for name in self.answering)
        return f"this server answers on other APIs: try {named}"


async def survey_server(client: httpx2.AsyncClient, root: str, key: str) -> Surveyed:
    """Posts an empty object to every known path: a server that knows it complains about the content."""
    headers = {"Authorization": f"Bearer {key}", "x-api-key": key}

    async def ask(method: str, path: str) -> httpx2.Response | None:
        body: dict[str, Any] | None = {} if method == "POST" else None
        try:
            return await client.request(
                method, root + path, json=body, headers=headers, timeout=_LIMIT_S
            )
        except (httpx2.HTTPError, httpx2.InvalidURL):
            return None

    try:
        async with asyncio.timeout(_LIMIT_S):
            *replies, listing = await asyncio.gather(
                *(ask("POST", path) for path in PATHS.values()), ask("GET", "/v1/models")
            )
    except TimeoutError:
        return Surveyed()
    known = tuple(name for name, reply in zip(PATHS, replies, strict=True) if _knows(reply))
    return Surveyed(known, _models(listing))


def _knows(reply: httpx2.Response | None) -> bool:
    if reply is None or 300 <= reply.status_code < 400:
        return False
    return reply.status_code not in _ABSENT | _UNKNOWN


def _models(reply: httpx2.Response | None) -> tuple[str, ...]:
    """Names a listing holds, in the words of either protocol."""
    if reply is None or reply.status_code != 200:
        return ()
    try:
        listing: Any = reply.json()
    except (ValueError, RecursionError):
        return ()
    rows = (listing.get("data") or listing.get("models")) if isinstance(listing, dict) else None
    names = [
        row.get("id") or row.get("name")
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    ]
    usable = [n for n in names if isinstance(n, str) and n.isprintable() and len(n) <= 80]
    return tuple(usable[:_MOST_MODELS])
