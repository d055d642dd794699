"""Where a pass was recorded, as far as it matters for latency."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from streamdecisionbench.components.contract import ComponentInfo

__all__ = ["ClientUsage", "describe_environment"]


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
        "cpu_model": _line("/proc/cpuinfo", "model name"),
        "cpu_quota": _line("/sys/fs/cgroup/cpu.max"),
        "load_average": _load(),
        "open_files": _open_files(),
        "tcp_congestion_control": _line("/proc/sys/net/ipv4/tcp_congestion_control"),
        "utc_offset": time.strftime("%z"),
        "clock": {"name": clock.implementation, "resolution_s": clock.resolution},
        "event_loop": event_loop,
        "base_url_host": hosts[0] if len(hosts) == 1 else (hosts or None),
    }


class ClientUsage:
    """What this process needed of the machine, from when it is made: a busy client measures itself."""

    def __init__(self) -> None:
        self._begun_s, self._cpu_s = time.monotonic(), time.process_time()
        self._switches = _switches()

    def so_far(self) -> dict[str, Any]:
        """Its share of one processor, how often it was pushed off one, and the machine's load."""
        lasted_s = max(time.monotonic() - self._begun_s, 1e-9)
        switches = _switches()
        return {
            "cpu_share": round((time.process_time() - self._cpu_s) / lasted_s, 4),
            "involuntary_switches": None if switches is None else switches - (self._switches or 0),
            "load_average": _load(),
        }


def _switches() -> int | None:
    if find_spec("resource") is None:  # not on Windows
        return None
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


def _load() -> float | None:
    """Of the last minute."""
    ask = getattr(os, "getloadavg", None)
    return round(ask()[0], 2) if ask else None


def _open_files() -> int | None:
    if find_spec("resource") is None:
        return None
    import resource

    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def _line(path: str, name: str = "") -> str | None:
    """The first line of a system file, or what stands after a name and a colon in it."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip() if name else line.strip()
    return None


def _usable_cpus() -> int | None:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"
