"""Keeping secrets out of whatever is written or shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

__all__ = ["Redactor", "secrets_at_hand"]

HIDDEN = "[hidden]"

_SECRET_NAME = re.compile(
    r"(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_|$)", re.IGNORECASE
)
_SHORTEST_SECRET = 8
"""Shorter values are settings, not keys, and would blot out ordinary words."""


class Redactor:
    """Replaces every known secret in a text.

    >>> Redactor(["sk-0123456789"])("refused for sk-0123456789")
    'refused for [hidden]'
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = sorted(
            {s for s in secrets if len(s) >= _SHORTEST_SECRET}, key=len, reverse=True
        )

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        return text

    def tree(self, value: Any) -> Any:
        """The same for every text inside JSON data, keys as well."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {self(str(key)): self.tree(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.tree(item) for item in value]
        return value


def secrets_at_hand(
    base_url: str | None = None, environment: Mapping[str, str] | None = None
) -> list[str]:
    """What must never be written: keys in the environment, credentials in a base URL.

    >>> secrets_at_hand("https://me:hunter2hunter2@host/v1?key=abc123def", {"X_API_KEY": "k" * 20})
    ['kkkkkkkkkkkkkkkkkkkk', 'hunter2hunter2', 'abc123def']
    """
    variables = os.environ if environment is None else environment
    found = [value for name, value in variables.items() if _SECRET_NAME.search(name)]
    if base_url:
        parts = urlsplit(base_url)
        if parts.password:
            found += [parts.password, unquote(parts.password)]
        found += [value for _, value in parse_qsl(parts.query)]
    return list(dict.fromkeys(found))
