"""Where a provider's requests go and which key goes with them.

A key belongs to the host it was issued for. The provider's own variable (`OPENAI_API_KEY`, …) is
sent to the provider's host and to this machine; every other `--base-url` gets `SDB_API_KEY`. What is
written into the URL is taken out of it, since URLs end up in logs: `https://key@host` is the key for
that server, `https://user:password@host` is basic authentication.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from urllib.parse import SplitResult, unquote, urlsplit

from streamdecisionbench.components.contract import Options
from streamdecisionbench.components.providers.hosts import is_this_machine
from streamdecisionbench.errors import InputError

__all__ = ["ANY_HOST_KEY", "Endpoint", "refuse", "resolve", "versions"]

ANY_HOST_KEY = "SDB_API_KEY"

_NO_KEY = "no-key"
"""Local servers want no key, client libraries insist on one."""

_IN_URL = "the base URL"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A resolved address. Key and headers are in no representation."""

    base_url: str | None
    host: str
    key: str = field(repr=False)
    key_variable: str
    home: bool
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What goes with every request besides what the client library sends."""

    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Everything above that must never be written or shown, in every form a server could echo."""

    @property
    def local(self) -> bool:
        return is_this_machine(self.host)


def resolve(
    options: Options, *, key_variable: str, url_variable: str, home: str, default_path: str
) -> Endpoint:
    """`home` is the provider's domain; `default_path` is what the client library expects after the host."""
    from_variable = os.environ.get(url_variable, "").strip()
    url = options.base_url or from_variable or None
    own = _key(key_variable)
    headers = _checked(options.headers)
    if url is None:
        if not own:
            raise InputError(
                f"{key_variable} is not set",
                fix=f"export {key_variable}=…, or write it into a file .env; "
                "a server of your own is named with --base-url",
            )
        return _endpoint(None, home, own, key_variable, home=True, headers=headers)
    parts = _split(url, "--base-url" if options.base_url else url_variable)
    base_url, host = _address(parts, default_path)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    raw = (parts.username or "", parts.password or "", parts.netloc.rpartition("@")[0])
    if user and password:
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        return _endpoint(
            base_url, host, _NO_KEY, _IN_URL,
            headers={"Authorization": f"Basic {token}", **headers},
            secrets=(password, token, f"{user}:{password}", *raw[1:]),
        )  # fmt: skip
    if user or password:
        key = _usable(user or password, _IN_URL)
        return _endpoint(base_url, host, key, _IN_URL, headers=headers, secrets=raw)
    name = parts.hostname or ""
    at_home = name == home or name.endswith("." + home.split(".", 1)[1])
    if at_home:
        key, variable = own, key_variable
        if not key:
            raise InputError(f"{key_variable} is not set", fix=f"export {key_variable}=…")
    elif options.base_url is None:
        # The variable that names the address and the one that holds the key were set together.
        key, variable = own or _key(ANY_HOST_KEY) or _NO_KEY, key_variable
    elif is_this_machine(name):
        key, variable = _key(ANY_HOST_KEY) or own or _NO_KEY, ANY_HOST_KEY
    else:
        key, variable = _key(ANY_HOST_KEY) or _NO_KEY, ANY_HOST_KEY
    return _endpoint(base_url, host, key, variable, home=at_home, headers=headers)


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


def _endpoint(
    base_url: str | None,
    host: str,
    key: str,
    key_variable: str,
    *,
    home: bool = False,
    headers: Mapping[str, str],
    secrets: tuple[str, ...] = (),
) -> Endpoint:
    found = {*secrets, *headers.values(), *(() if key == _NO_KEY else (key,))} - {""}
    return Endpoint(base_url, host, key, key_variable, home, headers, tuple(sorted(found)))


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


def _checked(headers: Mapping[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        token = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
        if not token or not value.isascii() or not value.isprintable():
            raise InputError(
                f"the header {name[:40]!r} has characters no header has",
                where="--header",
                fix="write NAME=VALUE with plain letters, digits and - in the name",
            )
    return dict(headers)


def _split(url: str, where: str) -> SplitResult:
    problem = InputError(
        "the base URL is not an http or https address",
        where=where,
        fix="write for example http://127.0.0.1:8080/v1",
    )
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        raise problem from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise problem
    return parts


def _address(parts: SplitResult, default_path: str) -> tuple[str, str]:
    """The URL with the path the client library wants, and the host with its port."""
    path = parts.path.rstrip("/")
    if default_path == "":
        path = path.removesuffix("/systemone").removesuffix("/messages").removesuffix("/v1")
    elif not path:
        path = default_path
    name = parts.hostname or ""
    shown = f"[{name}]" if ":" in name else name
    host = f"{shown}:{parts.port}" if parts.port else shown
    return f"{parts.scheme}://{host}{path}", host
