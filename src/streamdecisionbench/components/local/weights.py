"""The digest of a model's files, so that a recording names its weights exactly, whatever their size.

Reading forty gigabytes takes a minute: a digest is kept in the user's cache folder, under the file's path,
size and time of change, and believed while these stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

from streamdecisionbench.suite.file_io import (
    make_folder,
    write_text,
)


def file_sha256(path: Path) -> str:
    """The digest of one file, from the cache if the file has not changed."""
    stat, whole = path.stat(), path.resolve()
    key = f"{whole}|{stat.st_size}|{stat.st_mtime_ns}"
    store = _cache()
    known = _read(store)
    if key in known:
        return known[key]
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    kept = {name: value for name, value in known.items() if name.split("|")[0] != str(whole)}
    with contextlib.suppress(OSError, ValueError):  # a cache that cannot be written is none
        make_folder(store.parent)
        write_text(store, json.dumps({**kept, key: found}, indent=0))
    return found


def folder_sha256(folder: Path, names: Sequence[str]) -> str:
    """The digest of several files below a folder, from their names and digests."""
    lines = "".join(f"{file_sha256(folder / name)}  {name}\n" for name in sorted(names))
    return hashlib.sha256(lines.encode()).hexdigest()


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "streamdecisionbench" / "weights.json"


def _read(store: Path) -> dict[str, str]:
    try:
        found = json.loads(store.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    pairs = found.items() if isinstance(found, dict) else ()
    return {k: v for k, v in pairs if isinstance(v, str) and len(v) == 64}
