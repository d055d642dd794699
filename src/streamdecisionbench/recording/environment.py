"""Where a pass was recorded, as far as it matters for latency."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable
from importlib import metadata
from typing import Any

from streamdecisionbench.components.contract import ComponentInfo

__all__ = ["describe_environment"]


def describe_environment(infos: Iterable[ComponentInfo], event_loop: str) -> dict[str, Any]:
    """Versions and host facts that matter for latency. No host name, no user, no paths."""
    clock = time.get_clock_info("monotonic")
    infos = list(infos)
    versions: dict[str, str] = {"streamdecisionbench": _version("streamdecisionbench")}
    for info in infos:
        versions.update(info.versions)
    hosts = sorted({info.base_url_host for info in infos if info.base_url_host})
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "versions": versions,
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu_count": os.cpu_count(),
        "cpus_usable": _usable_cpus(),
        "clock": {"name": clock.implementation, "resolution_s": clock.resolution},
        "event_loop": event_loop,
        "base_url_host": hosts[0] if len(hosts) == 1 else (hosts or None),
    }


def _usable_cpus() -> int | None:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
