"""The package as people install it, and what it depends on, without this repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def built(kind: str, out: Path) -> Path:
    """The `wheel` or the `sdist`."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", out],
        cwd=ROOT, check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    return next(out.glob("*.whl" if kind == "wheel" else "*.tar.gz"))


def third_party(folder: Path) -> Path:
    """What is installed here beside the package itself, as a folder of links."""
    folder.mkdir()
    for path in Path(pytest.__file__).parents[1].iterdir():
        if "streamdecisionbench" not in path.name and path.suffix != ".pth":
            (folder / path.name).symlink_to(path)
    return folder
