"""Keeping secrets out of whatever is written or shown.

Text from a server is shortened by `cut` alone, which hides secrets first: half a key would not be recognised.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

HIDDEN = "[hidden]"

_SECRET_NAME = re.compile(
    r"(^|[_-])(API_?KEY|APIKEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTH|AUTHORIZATION)([_-]|$)",
    re.IGNORECASE,
)
_NO_SECRET = frozenset({"prompt_cache_key"})
"""Names that only sound like one."""

_SHORTEST_SECRET = 8
"""Shorter values are mostly settings and would blot out ordinary words."""


def cut(text: str, longest: int, hide: Callable[[str], str], more: str = "") -> str:
    """The text without secrets, then at most `longest` characters of it, and `more` if some are missing.

    >>> cut("refused for sk-0123456789", 16, Redactor(["sk-0123456789"]), "…")
    'refused for [hid…'
    """
    text = hide(text)
    return text if len(text) <= longest else text[:longest] + more


class Redactor:
    """Replaces every known secret in a text, also where it is escaped for a URL, JSON or HTML.

    `sent` are those that really go over the wire, so a server knows them. They are hidden at any
    length: a short one only as a separate word, a long one also in parts, since a server may cut or
    mask a key.

    >>> Redactor(["sk-0123456789"])("refused for sk-0123456789")
    'refused for [hidden]'
    >>> Redactor([], sent=["k3y"])("k3y, but not k3yboard")
    '[hidden], but not k3yboard'
    >>> Redactor([], sent=["sk-0123456789abcdef"])("no such key: sk-01234*******9abcdef")
    'no such key: [hidden]*******9abcdef'
    """

    def __init__(self, secrets: Iterable[str], sent: Iterable[str] = ()) -> None:
        sent = set(sent) - {""}
        every = {
            form for s in {*secrets, *sent} if len(s) >= _SHORTEST_SECRET for form in _forms(s)
        }
        self._secrets = sorted(every, key=len, reverse=True)
        short = sorted({s for s in sent if len(s) < _SHORTEST_SECRET}, key=len, reverse=True)
        words = "|".join(map(re.escape, short))
        self._words = re.compile(rf"(?<![A-Za-z0-9])(?:{words})(?![A-Za-z0-9])") if words else None
        self._parts = {
            form[k : k + _SHORTEST_SECRET]
            for s in sent
            for form in _forms(s)
            for k in range(len(form) - _SHORTEST_SECRET + 1)
        }

    @classmethod
    def at_hand(
        cls,
        base_url: str | None = None,
        options: Mapping[str, str] | None = None,
        sent: Iterable[str] = (),
    ) -> Redactor:
        """Hides every known secret: the environment, a base URL, `--option`, and what is sent."""
        named = [value for name, value in (options or {}).items() if names_a_secret(name)]
        return cls(secrets_at_hand(base_url), [*named, *sent])

    def __call__(self, text: str) -> str:
        shown: list[str] = []
        end = 0
        for begin, finish in sorted(self._found(text)):
            if begin > end or (begin == end and not shown):
                shown.append(text[end:begin] + HIDDEN)
            end = max(end, finish)
        return "".join(shown) + text[end:] if shown else text

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        """Where secrets lie in a text, perhaps over each other."""
        for secret in self._secrets:
            at = text.find(secret)
            while at >= 0:
                yield at, at + len(secret)
                at = text.find(secret, at + 1)
        if self._words:
            yield from (match.span() for match in self._words.finditer(text))
        if self._parts:
            size = _SHORTEST_SECRET
            for k in range(len(text) - size + 1):
                if text[k : k + size] in self._parts:
                    yield k, k + size

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


def _forms(secret: str) -> set[str]:
    """A secret as it is, and as URLs, JSON and HTML write it."""
    quoted = json.dumps(secret)[1:-1]
    escaped = {quote(secret), quote(secret, safe=""), quote_plus(secret), unquote(secret)}
    lower = {re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), form) for form in escaped}
    return {secret, quoted, quoted.replace("/", "\\/"), html.escape(secret), *escaped, *lower} - {
        ""
    }


def names_a_secret(name: str) -> bool:
    """Whether a variable or a setting of this name holds a key.

    >>> [names_a_secret(n) for n in ("OPENAI_API_KEY", "api_key", "prompt_cache_key", "keyboard")]
    [True, True, False, False]
    """
    return name not in _NO_SECRET and _SECRET_NAME.search(name) is not None


def secrets_at_hand(
    base_url: str | None = None, environment: Mapping[str, str] | None = None
) -> list[str]:
    """Text that must never be written: keys in the environment, credentials in a base URL.

    >>> secrets_at_hand("https://me:hunter2hunter2@host/v1?key=abc123def", {"X_API_KEY": "k" * 20})
    ['kkkkkkkkkkkkkkkkkkkk', 'hunter2hunter2', 'abc123def']
    """
    variables = os.environ if environment is None else environment
    found = [value for name, value in variables.items() if names_a_secret(name)]
    proxies = [value for name, value in variables.items() if name.lower().endswith("_proxy")]
    for url in filter(None, (base_url, *(p for p in proxies if "@" in p))):
        try:
            parts = urlsplit(url)
        except ValueError:
            continue
        if parts.password:
            found += [parts.password, unquote(parts.password)]
        found += [value for _, value in parse_qsl(parts.query)]
    return list(dict.fromkeys(found))
