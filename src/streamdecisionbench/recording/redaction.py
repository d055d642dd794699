"""Keeping secrets out of whatever is written or shown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

HIDDEN = "[hidden]"

_SECRET_NAME = re.compile(
    r"(^|[_-])(API_?KEY|APIKEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTH|AUTHORIZATION)([_-]|$)",
    re.IGNORECASE,
)
_NO_SECRET = frozenset({"prompt_cache_key"})
"""Names that only sound like one."""

_SHORTEST_SECRET = 8
"""Shorter values are mostly settings and would blot out ordinary words."""


class Redactor:
    """Replaces every known secret in a text.

    `sent` are those that really go over the wire. They are hidden whatever their length; a short
    one only where it stands as a word of its own.

    >>> Redactor(["sk-0123456789"])("refused for sk-0123456789")
    'refused for [hidden]'
    >>> Redactor([], sent=["k3y"])("k3y, but not k3yboard")
    '[hidden], but not k3yboard'
    """

    def __init__(self, secrets: Iterable[str], sent: Iterable[str] = ()) -> None:
        every = {*secrets, *sent} - {""}
        self._secrets = sorted(
            {s for s in every if len(s) >= _SHORTEST_SECRET}, key=len, reverse=True
        )
        short = sorted({s for s in sent if 0 < len(s) < _SHORTEST_SECRET}, key=len, reverse=True)
        words = "|".join(map(re.escape, short))
        self._words = re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])") if words else None

    def __call__(self, text: str) -> str:
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, HIDDEN)
        return self._words.sub(HIDDEN, text) if self._words else text

    def tree(self, value: Any) -> Any:
        """The same for every text inside JSON data, keys as well; and for settings named like keys."""
        if isinstance(value, str):
            return self(value)
        if isinstance(value, Mapping):
            return {
                self(str(key)): HIDDEN
                if isinstance(item, str) and names_a_secret(str(key))
                else self.tree(item)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.tree(item) for item in value]
        return value


def names_a_secret(name: str) -> bool:
    """Whether a variable or a setting of this name holds a key.

    >>> [names_a_secret(n) for n in ("OPENAI_API_KEY", "api_key", "prompt_cache_key", "keyboard")]
    [True, True, False, False]
    """
    return name not in _NO_SECRET and _SECRET_NAME.search(name) is not None


def secrets_at_hand(
    base_url: str | None = None, environment: Mapping[str, str] | None = None
) -> list[str]:
    """What must never be written: keys in the environment, credentials in a base URL.

    >>> secrets_at_hand("https://me:hunter2hunter2@host/v1?key=abc123def", {"X_API_KEY": "k" * 20})
    ['kkkkkkkkkkkkkkkkkkkk', 'hunter2hunter2', 'abc123def']
    """
    variables = os.environ if environment is None else environment
    found = [value for name, value in variables.items() if names_a_secret(name)]
    if base_url:
        try:
            parts = urlsplit(base_url)
        except ValueError:
            return found
        if parts.password:
            found += [parts.password, unquote(parts.password)]
        found += [value for _, value in parse_qsl(parts.query)]
    return list(dict.fromkeys(found))
