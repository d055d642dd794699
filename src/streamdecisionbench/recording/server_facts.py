"""Facts about a server that only its operator can state, read from one TOML file.

`sdb` cannot inspect remote hardware, so the run record keeps these facts as stated (`config.stated`).
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from streamdecisionbench.errors import InputError

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Every fact is optional."""

    hardware: str | None = None
    """The machine the model runs on, for example `1 x L40S (48 GB)`."""
    revision: str | None = None
    """The revision of the served model."""
    weights_sha256: str | None = None
    """The SHA-256 of the served weights, as 64 hexadecimal digits."""
    hourly_usd: float | None = None
    """The price of one hour of your own hardware, in USD."""

    def __bool__(self) -> bool:
        return bool(self.to_json())

    def to_json(self) -> dict[str, Any]:
        """The stated facts, as the run record keeps them.

        >>> ServerFacts(hardware="1 x L40S (48 GB)").to_json()
        {'hardware': '1 x L40S (48 GB)'}
        """
        return {name: value for name, value in asdict(self).items() if value is not None}

    def check(self, where: Path | None = None) -> None:
        """Refuses values that cannot be such a fact."""
        for name, value in self.to_json().items():
            what, fix = _wrong(name, value)
            if what:
                raise InputError(f"{name} {what}", where=where, fix=fix)


def _wrong(name: str, value: Any) -> tuple[str, str]:
    if name == "hourly_usd":
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "is not a number", "give USD for one hour, for example 1.86"
        if not 0 < value < float("inf"):
            return f"is {value:g}", "give a number above 0"
    elif not isinstance(value, str):
        return "is not text", "put the value in quotes"
    elif name == "weights_sha256":
        if not re.fullmatch(r"[0-9a-f]{64}", value):
            return "is not a SHA-256", "give its 64 hexadecimal digits"
    elif not value.strip() or not value.isprintable() or len(value) > _LONGEST:
        return (
            "is not a short plain text",
            f"write at most {_LONGEST} printable characters",
        )
    return "", ""


def read_server_facts(path: Path) -> ServerFacts:
    """Reads a server file: TOML with any of the keys of `ServerFacts`."""
    import tomllib

    from streamdecisionbench.suite.file_io import read_text

    try:
        found = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"is not TOML: {error}", where=path, fix='write lines such as hardware = "1 x L40S"'
        ) from None
    known = [each.name for each in fields(ServerFacts)]
    unknown = [key for key in found if key not in known]
    if unknown:
        raise InputError(
            f"has an unknown key {unknown[0]!r:.60}",
            where=path,
            fix=f"use only these keys: {', '.join(known)}",
        )
    digest = found.get("weights_sha256")
    if isinstance(digest, str):
        found["weights_sha256"] = digest.strip().lower()
    hourly = found.get("hourly_usd")
    if isinstance(hourly, int) and not isinstance(hourly, bool):
        found["hourly_usd"] = float(hourly)
    facts = ServerFacts(**found)
    facts.check(path)
    return facts
