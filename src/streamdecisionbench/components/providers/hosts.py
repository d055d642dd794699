"""Which machine a host's name means: this one, one of the user's own, or somebody else's.

A host is what a recording keeps of an address: a name or an address, perhaps with a port.
"""

from __future__ import annotations

import ipaddress

__all__ = ["host_name", "is_own_network", "is_this_machine", "same_place"]

_OWN_SUFFIXES = (".local", ".internal")


def host_name(host: str) -> str:
    """The host without its port and without brackets.

    >>> [host_name(h) for h in ("[::1]:8080", "::1", "127.0.0.1:80", "models.example.org")]
    ['::1', '::1', '127.0.0.1', 'models.example.org']
    """
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.rpartition(":")[0] if host.count(":") == 1 else host


def is_this_machine(host: str | None) -> bool:
    """A loopback name or address; None is a provider's own service.

    >>> [is_this_machine(h) for h in ("[::1]:1", "127.8.0.1", "localhost:80", "10.0.0.1", None)]
    [True, True, True, False, False]
    """
    if host is None:
        return False
    name = host_name(host).rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = _address(name)
    return address is not None and (address.is_loopback or address.is_unspecified)


def is_own_network(host: str | None) -> bool:
    """This machine, or a private address: nobody sends a bill for it.

    >>> [is_own_network(h) for h in ("[::1]:8080", "10.0.0.1:80", "nas.local", "api.openai.com")]
    [True, True, True, False]
    """
    if host is None or is_this_machine(host):
        return host is not None
    name = host_name(host).rstrip(".")
    address = _address(name)
    return name.endswith(_OWN_SUFFIXES) or (address is not None and address.is_private)


def same_place(host: object) -> object:
    """For comparing two recordings: a server of this machine is the same at another port.

    >>> same_place("127.0.0.1:8080") == same_place("[::1]:9090"), same_place("a.example:80")
    (True, 'a.example:80')
    """
    return "this machine" if isinstance(host, str) and is_this_machine(host) else host


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped if mapped is not None else address
