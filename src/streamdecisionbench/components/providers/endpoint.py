"""Where a provider's requests go and which key goes with them.

A key belongs to the host it was issued for. The provider's own variable (`OPENAI_API_KEY`, …) is
sent to the provider's host and to this machine; every other `--base-url` gets `SDB_API_KEY`. A key
written into the URL (`https://user:key@host`) is taken out of it, since URLs end up in logs, and is
the key for that server.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib import metadata
from urllib.parse import unquote, urlsplit

from streamdecisionbench.components.contract import Options
from streamdecisionbench.errors import InputError

__all__ = ["ANY_HOST_KEY", "Endpoint", "refuse", "resolve", "versions"]

ANY_HOST_KEY = "SDB_API_KEY"

_NO_KEY = "no-key"
"""Local servers want no key, client libraries insist on one."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A resolved address. The key is in no representation."""

    base_url: str | None
    host: str
    key: str = field(repr=False)
    key_variable: str
    home: bool


def resolve(
    options: Options, *, key_variable: str, url_variable: str, home: str, default_path: str
) -> Endpoint:
    """`home` is the provider's domain; `default_path` is what the client library expects after the host."""
    url = options.base_url or os.environ.get(url_variable, "").strip() or None
    own = _key(key_variable)
    if url is None:
        if not own:
            raise InputError(
                f"{key_variable} is not set",
                fix=f"export {key_variable}=…, or write it into a file .env; "
                "a server of your own is named with --base-url",
            )
        return Endpoint(None, home, own, key_variable, True)
    base_url, host, name, inside = _split(url, default_path)
    if inside:
        return Endpoint(base_url, host, inside, "the base URL", False)
    at_home = name == home or name.endswith("." + home.split(".", 1)[1])
    if at_home:
        key, variable = own, key_variable
        if not key:
            raise InputError(f"{key_variable} is not set", fix=f"export {key_variable}=…")
    elif options.base_url is None:
        # The variable that names the address and the one that holds the key were set together.
        key, variable = own or _key(ANY_HOST_KEY) or _NO_KEY, key_variable
    elif name in _LOOPBACK:
        key, variable = _key(ANY_HOST_KEY) or own or _NO_KEY, ANY_HOST_KEY
    else:
        key, variable = _key(ANY_HOST_KEY) or _NO_KEY, ANY_HOST_KEY
    return Endpoint(base_url, host, key, variable, at_home)


def refuse(
    options: Options, provider: str, *names: str, allowed: tuple[str, ...] | None = ()
) -> None:
    """A setting without effect would make the record of the run untrue.

    `names` are options of the command line that mean nothing here, `allowed` the keys of `--option`
    that do (None: any).
    """
    for name in names:
        if getattr(options, name) is not None:
            raise InputError(
                f"--{name.replace('_', '-')} has no meaning for {provider}:", fix="leave it out"
            )
    unknown = [] if allowed is None else sorted(set(options.extra) - set(allowed))
    if unknown:
        known = f"it knows: {', '.join(allowed or ())}" if allowed else "leave it out"
        raise InputError(f"--option {unknown[0]} has no meaning for {provider}:", fix=known)


def versions(*distributions: str) -> dict[str, str]:
    """Installed versions by distribution name."""
    found = {}
    for name in distributions:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _key(variable: str) -> str:
    return _usable(os.environ.get(variable, ""), variable)


def _usable(text: str, variable: str) -> str:
    key = text.strip()
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise InputError(
            f"{variable} holds characters no key has (spaces, line breaks, non-ASCII)",
            fix=f"copy the key into {variable} again",
        )
    return key


def _split(url: str, default_path: str) -> tuple[str, str, str, str]:
    """The URL with the path the client library wants, host with port, host alone, key in the URL."""
    problem = InputError(
        "the base URL is not an http or https address",
        where="--base-url",
        fix="write for example http://127.0.0.1:8080/v1",
    )
    try:
        parts = urlsplit(url.strip())
        name, port = parts.hostname, parts.port
    except ValueError:
        raise problem from None
    if parts.scheme not in {"http", "https"} or not name:
        raise problem
    path = parts.path.rstrip("/")
    if default_path == "":
        path = path.removesuffix("/systemone").removesuffix("/messages").removesuffix("/v1")
    elif not path:
        path = default_path
    shown = f"[{name}]" if ":" in name else name
    host = f"{shown}:{port}" if port else shown
    inside = _usable(unquote(parts.password or parts.username or ""), "the base URL")
    return f"{parts.scheme}://{host}{path}", host, name, inside
