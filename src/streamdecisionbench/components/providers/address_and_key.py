"""Where requests go and with which key: hosts, a provider's address, keys from a file `.env`.

A host is what a recording keeps of an address: a name or an address, perhaps with a port. A key belongs
to the host it was issued for. The provider's own variable (`OPENAI_API_KEY`, …) is sent to the
provider's host and to this machine; every other `--base-url` gets `SDB_API_KEY`, and an address from a
file `.env` nothing but the key of that file. Credentials are taken out of the URL, since URLs end
up in logs: `https://key@host` is the key for that server, `https://user:password@host` is basic
authentication. No secret goes to a public host unencrypted unless the user asks for it.
"""

from __future__ import annotations

import base64
import io
import ipaddress
import os
import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from streamdecisionbench.components.contract import Options
from streamdecisionbench.components.redaction import Redactor, cut
from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.file_io import read_text

_OWN_SUFFIXES = (".local", ".internal")
_HOST_NAME = re.compile(r"[^\W_][\w.-]*")
"""Letters and digits of any script, dots and hyphens."""


def host_name(host: str) -> str:
    """The host without its port and without brackets; text that is not a host is returned unchanged.

    >>> [host_name(h) for h in ("[::1]:8080", "::1", "127.0.0.1:80", "models.example.org")]
    ['::1', '::1', '127.0.0.1', 'models.example.org']
    >>> host_name("[::1].evil.example")
    '[::1].evil.example'
    """
    host = host.strip().lower()
    found = re.fullmatch(r"\[([^\[\]]*)\](?::\d*)?|([^:]*):\d*", host)
    return host if found is None else found[1] or found[2] or ""


def is_this_machine(host: str | None) -> bool:
    """A loopback name or address; None is a provider's own service.

    >>> [is_this_machine(h) for h in ("[::1]:1", "127.8.0.1", "localhost:80", "10.0.0.1", None)]
    [True, True, True, False, False]
    >>> is_this_machine("127.0.0.1%.evil.example")
    False
    """
    if host is None:
        return False
    name = host_name(host)
    if re.fullmatch(r"([a-z0-9_-]+\.)*localhost\.?", name):
        return True
    address = _address(name)
    return address is not None and (address.is_loopback or address.is_unspecified)


def is_own_network(host: str | None) -> bool:
    """This machine, or a private address: its use has no price.

    >>> [is_own_network(h) for h in ("[::1]:8080", "10.0.0.1:80", "nas.local", "api.openai.com")]
    [True, True, True, False]
    """
    if host is None or is_this_machine(host):
        return host is not None
    name = host_name(host)
    address = _address(name)
    own = _HOST_NAME.fullmatch(name) and name.removesuffix(".").endswith(_OWN_SUFFIXES)
    return bool(own) or (address is not None and address.is_private)


def same_place(host: object) -> object:
    """For comparing two recordings: a server of this machine is the same at another port.

    >>> same_place("127.0.0.1:8080") == same_place("[::1]:9090"), same_place("a.example:80")
    (True, 'a.example:80')
    """
    return "this machine" if isinstance(host, str) and is_this_machine(host) else host


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return None
    if "%" in name and not address.is_link_local:
        return None  # only a link-local address has a zone (fe80::1%eth0)
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped if mapped is not None else address


ANY_HOST_KEY = "SDB_API_KEY"

_NO_KEY = "no-key"
"""Local servers want no key, client libraries insist on one."""

_IN_URL = "the base URL"


@dataclass(frozen=True, slots=True)
class Home:
    """A provider's own service: what people call it, its host, the path its client library expects."""

    title: str
    host: str
    path: str
    key_variable: str
    url_variable: str


@dataclass(frozen=True, slots=True)
class Service:
    """The service, its address and its key. Key and headers are in no representation."""

    provider: str
    name: str
    """In words fit for a message."""
    base_url: str
    host: str
    key: str = field(repr=False)
    key_variable: str
    home: bool
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What goes with every request besides what the client library sends."""

    libraries_own: bool = True
    """Whether what a client library finds in variables of its own (headers, an organisation) may go
    along: to the provider, to this machine, and to the address that was exported beside them."""

    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Everything above that must never be written or shown, in every form a server could echo."""

    clean: Redactor = field(default=Redactor(()), repr=False, compare=False)
    """Hides them, and every other secret known here, in what the server says."""

    @property
    def local(self) -> bool:
        return is_this_machine(self.host)


def resolve(provider: str, options: Options, home: Home) -> Service:
    """The provider's own service, or the server that `--base-url` or the environment names."""
    given = (options.base_url or "").strip()
    from_variable = "" if given else os.environ.get(home.url_variable, "").strip()
    brought = from_variable != "" and _BROUGHT.get(home.url_variable) == from_variable
    url = given or from_variable or f"https://{home.host}{home.path}"
    own = _key(home.key_variable)
    headers = _checked(options.headers)
    if brought and headers:
        raise InputError(
            f"--header would go to the address that .env gives in {home.url_variable}",
            fix=f"name the server with --base-url, or export {home.url_variable}",
        )
    parts = _split(url, "--base-url" if given else home.url_variable)
    base_url, host = _address_of(parts, home.path)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    raw = (parts.username or "", parts.password or "", parts.netloc.rpartition("@")[0])
    name = parts.hostname or ""
    at_home = name == home.host or name.endswith("." + home.host.split(".", 1)[1])
    secrets: tuple[str, ...] = ()
    if user and password:
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        key, variable, at_home = _NO_KEY, _IN_URL, False
        headers = {"Authorization": f"Basic {token}", **headers}
        secrets = (password, token, f"{user}:{password}", *raw[1:])
    elif user or password:
        key, variable, at_home = _usable(user or password, _IN_URL), _IN_URL, False
        secrets = raw
    elif at_home:
        key, variable = own, home.key_variable
        if not key:
            more = ", or write it into a file .env; a server of your own is named with --base-url"
            raise InputError(
                f"{home.key_variable} is not set",
                fix=f"export {home.key_variable}=…{'' if given or from_variable else more}",
            )
    elif from_variable:
        # The variable that names the address and the one that holds the key were set together.
        any_host = "" if brought else _key(ANY_HOST_KEY)
        key, variable = own or any_host or _NO_KEY, home.key_variable
    else:
        mine = own if is_this_machine(name) else ""
        key, variable = _key(ANY_HOST_KEY) or mine or _NO_KEY, ANY_HOST_KEY
    hidden = {*secrets, *headers.values(), *(() if key == _NO_KEY else (key,))} - {""}
    # A name without a dot is one of the own network: of a container, of a machine beside this one.
    public = ("." in name or ":" in name) and not is_own_network(name)
    if hidden and public and parts.scheme == "http" and not options.plain_http:
        raise InputError(
            f"a key or header for {host} would go over the network as it is: http is not encrypted",
            fix="write https://, or add --plain-http to send it all the same",
        )
    return Service(
        provider=provider,
        name=home.title if at_home else f"the server at {host}",
        base_url=base_url,
        host=host,
        key=key,
        key_variable=variable,
        home=at_home,
        headers=headers,
        libraries_own=not brought and (at_home or is_this_machine(name) or from_variable != ""),
        secrets=tuple(sorted(hidden)),
        clean=Redactor.at_hand(url, options.extra, hidden),
    )


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


def usable_cpus() -> int | None:
    """Those this process may run on."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count()


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
                f"the header {cut(name, 40, Redactor.at_hand())!r} has characters no header has",
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
    if not _HOST_NAME.fullmatch(parts.hostname) and _address(parts.hostname) is None:
        raise InputError(
            "the base URL's host has characters no host has",
            where=where,
            fix="write a name or an address, for example http://127.0.0.1:8080/v1",
        )
    if parts.query or parts.fragment:
        raise InputError(
            "the base URL has a query (?…) or a fragment (#…), which no client library sends along",
            where=where,
            fix="leave it out; a key goes before the host (https://key@host) or into --header",
        )
    return parts


def _address_of(parts: SplitResult, expected: str) -> tuple[str, str]:
    """The URL with the path the client library wants, and the host with its port."""
    path = parts.path.rstrip("/")
    if expected == "":
        path = path.removesuffix("/systemone").removesuffix("/messages").removesuffix("/v1")
    elif not path:
        path = expected
    name = parts.hostname or ""
    shown = f"[{name}]" if ":" in name else name
    host = f"{shown}:{parts.port}" if parts.port else shown
    return f"{parts.scheme}://{host}{path}", host


ADDRESSES: Mapping[str, str] = {
    "OPENAI_BASE_URL": "OPENAI_API_KEY",
    "TYPESAFE_BASE_URL": "TYPESAFE_API_KEY",
    "ANTHROPIC_BASE_URL": "ANTHROPIC_API_KEY",
}
"""Which key goes to which address."""

KEYS = (*ADDRESSES.values(), "SDB_API_KEY")

_BROUGHT: dict[str, str] = {}
"""Addresses that a file brought along, by their variable."""


def load(
    path: str | Path = ".env", environment: MutableMapping[str, str] | None = None
) -> list[str]:
    """Sets the known variables of the file that are not set yet; their names. No file sets none.

    A folder may come from anywhere, and so may its `.env`. It can hold the keys of the providers here,
    and nothing that sends an exported key elsewhere: an address counts only together with the key of
    the same file, and proxies, certificates and everything else are left alone.
    """
    target = os.environ if environment is None else environment
    file = Path(path)
    if not file.is_file():
        return []
    found = parse(read_text(file, fix="save it as UTF-8"), where=file)
    taken = {name: value for name, value in found.items() if name in KEYS and name not in target}
    for name, key in ADDRESSES.items():
        # An exported key never follows an address that a file brings along.
        address = found.get(name, "").strip()
        if address and name not in target and taken.get(key, "").strip():
            taken[name] = _BROUGHT[name] = address
    target.update(taken)
    return list(taken)


def parse(text: str, *, where: str | Path = ".env") -> dict[str, str]:
    r"""KEY=VALUE lines as `python-dotenv` reads them, without expanding variables.

    A message names the line, never its content.

    >>> parse("export A=1  # one\nB='x # y'\n\nC=\"two words\"")
    {'A': '1', 'B': 'x # y', 'C': 'two words'}
    """
    from dotenv.parser import parse_stream

    found = {}
    for binding in parse_stream(io.StringIO(text)):
        line = binding.original.line
        if binding.error or (binding.key and binding.value is None):
            raise InputError(
                "the line is not KEY=VALUE",
                where=f"{where}:{line}",
                fix="write KEY=VALUE, KEY='VALUE' or # and a comment",
            )
        if binding.key is None or binding.value is None:
            continue
        if "\0" in binding.key + binding.value:
            raise InputError(
                "the line holds a NUL character",
                where=f"{where}:{line}",
                fix="write the line again in a plain text editor",
            )
        found[binding.key] = binding.value
    return found
