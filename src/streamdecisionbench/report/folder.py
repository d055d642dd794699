"""The folder a report lives in: fresh, or one that an earlier report made and may make again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from streamdecisionbench.errors import InputError

__all__ = ["MARKER", "fill", "require_usable"]

MARKER = ".sdb-report.json"
"""Lists what the report wrote; only that is ever removed."""


def require_usable(out: Path) -> None:
    """Refuses a folder with content that no report made."""
    if out.exists() and not out.is_dir():
        raise InputError("is a file", where=out, fix="give a folder with --out")
    if out.is_dir() and any(out.iterdir()) and not (out / MARKER).is_file():
        raise InputError(
            "the folder is not empty and holds no earlier report",
            where=out,
            fix="give a fresh folder with --out",
        )


def fill(out: Path, files: Mapping[str, bytes]) -> None:
    """Replaces an earlier report by these files. Files of others stay where they are."""
    require_usable(out)
    try:
        for name in _listed(out):
            if name not in files:
                (out / name).unlink(missing_ok=True)
        for name, content in files.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        marker = {"made_by": "sdb report", "files": sorted(files)}
        (out / MARKER).write_text(json.dumps(marker, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"the report cannot be written ({error.strerror or type(error).__name__})",
            where=out,
            fix="choose another --out folder",
        ) from None


def _listed(out: Path) -> list[str]:
    """What the earlier report wrote; names that lead outside the folder are not ours."""
    try:
        marker = json.loads((out / MARKER).read_text(encoding="utf-8"))
        names = [str(name) for name in marker["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    home = out.resolve()
    return [n for n in names if (out / n).resolve().is_relative_to(home)]
