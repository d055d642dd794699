"""`run.json`, typed: what was recorded, where, with which settings, and how it ended.

Only a status and the suite's digest are needed for reading; every other key may be missing in what
others recorded. A key of ours that holds something else than we write there is read over, a key that
decides what is scored is refused by name.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

from streamdecisionbench.components.contract import ComponentInfo
from streamdecisionbench.components.providers.address_and_key import usable_cpus, versions
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.rule import (
    FAST,
    SLOW,
)
from streamdecisionbench.policies.policy_file import (
    Policy,
    policy_of,
)
from streamdecisionbench.suite.digest import digest
from streamdecisionbench.suite.file_io import (
    make_folder,
    read_json,
    write_text,
)
from streamdecisionbench.suite.scenario import (
    LONGEST_TICK_S,
    SHORTEST_TICK_S,
    Manifest,
    Suite,
)
from streamdecisionbench.text import printable


def describe_environment(infos: Iterable[ComponentInfo], event_loop: str) -> dict[str, Any]:
    """Versions and host facts that matter for latency. No host name, no user, no paths."""
    clock = time.get_clock_info("monotonic")
    infos = list(infos)
    found = {"streamdecisionbench": "unknown", **versions("streamdecisionbench")}
    for info in infos:
        found.update(info.versions)
    hosts = sorted({info.base_url_host for info in infos if info.base_url_host})
    package = Path(__file__).parent.parent
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "versions": found,
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu_count": os.cpu_count(),
        "cpus_usable": usable_cpus(),
        "cpu_model": _line("/proc/cpuinfo", "model name") or platform.processor() or None,
        "gpus": graphics_processors(),
        "cpu_quota": _line("/sys/fs/cgroup/cpu.max"),
        "load_average": _load(),
        "open_files": resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else None,
        "tcp_congestion_control": _line("/proc/sys/net/ipv4/tcp_congestion_control"),
        "utc_offset": time.strftime("%z"),
        "clock": {"name": clock.implementation, "resolution_s": clock.resolution},
        "event_loop": event_loop,
        "base_url_host": hosts[0] if len(hosts) == 1 else (hosts or None),
        "sources_sha256": {
            "runner": sources_sha256(package / "recording", package / "kernel" / "rule.py"),
            "adapters": sources_sha256(package / "components"),
        },
    }


def graphics_processors() -> list[str]:
    """Those of this machine, as the driver names them; none where no driver answers."""
    asked = "--query-gpu=name,memory.total,driver_version"
    if tool := shutil.which("nvidia-smi"):
        try:
            told = subprocess.run(  # noqa: S603 - the driver's own tool
                [tool, asked, "--format=csv,noheader"],
                capture_output=True, text=True, timeout=10, check=True,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return []
        lines = [line.split(",") for line in told.stdout.splitlines() if line.strip()]
        return [
            printable(f"{name.strip()} ({rest[0].strip()})" if rest else name.strip())
            + (f", driver {printable(rest[1].strip())}" if len(rest) > 1 else "")
            for name, *rest in lines
        ]
    named = sorted(Path("/sys/class/drm").glob("card*/device/product_name"))
    return [name for path in named if (name := _line(str(path)))]


def sources_sha256(*places: Path) -> str:
    """Of the program text that measured: the digest of every file's name and content."""
    whole = hashlib.sha256()
    for place in places:
        for file in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            name = file.relative_to(place.parent).as_posix()
            whole.update(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {name}\n".encode())
    return whole.hexdigest()


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
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw if resource else None


def _load() -> float | None:
    """Of the last minute."""
    ask = getattr(os, "getloadavg", None)
    return round(ask()[0], 2) if ask else None


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


RUN_FILE = "run.json"
RUNNING, COMPLETE, INCOMPLETE = "running", "complete", "incomplete"

_RESTORE = f"restore {RUN_FILE} as it was recorded"
_CONFIG: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("answers", "clock", "component", "effort"), str),
    **dict.fromkeys(("imported_from", "model", "provider", "rule"), str),
    **dict.fromkeys(("max_in_flight", "max_in_flight_in_all", "workers", "streams"), int),
    **dict.fromkeys(("limit", "replica", "seed", "warmup"), int),
    **dict.fromkeys(("interval_s", "tick_seconds", "timeout_s"), (int, float)),
    **dict.fromkeys(("in_process", "simulated"), bool),
    **dict.fromkeys(("fast", "retry", "settings", "slow", "stated"), dict),
    "base_url_host": (str, list),
    "scenarios": list,
}
_ALWAYS = (
    "schema_version", "config", "dataset_manifest", "started_at", "ended_at", "served_models",
    "environment", "interruptions",
)  # fmt: skip
"""Keys that are written even when there is nothing to say yet."""


class RecordedEpisode(msgspec.Struct, frozen=True, omit_defaults=True):
    """A scenario as the manifest in a run record lists it. Only the id is needed."""

    episode_id: str
    steps: Any = None
    questions: Any = None
    duration_s: Any = None
    decision_transitions: Any = None
    routes_seen: Any = None
    routes_unseen: Any = None
    public_hash: Any = None


class RecordedManifest(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which suite a recording was made on: the digest names it, the rest is for people."""

    dataset_hash: str = ""
    episodes: list[RecordedEpisode] = []
    hashes: dict[str, str] = {}
    schema_version: Any = None
    name: Any = None
    generator: Any = None


class RunRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One `run.json`."""

    status: str
    config: dict[str, Any] = {}
    dataset_manifest: RecordedManifest = RecordedManifest()
    events_sha256: str | None = None
    name: str | None = None
    schema_version: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    served_models: list[str] = []
    summary: dict[str, Any] = {}
    environment: dict[str, Any] = {}
    preparation: dict[str, Any] = {}
    diagnostics: dict[str, Any] = {}
    observed: dict[str, Any] = {}
    network: list[Any] = []
    interruptions: list[Any] = []
    parts: list[Any] = []
    suite_at: str | None = None
    """Where its suite lay, seen from its own folder; the digest in `dataset_manifest` says which it is."""
    error_type: str | None = None
    error: str | None = None

    @property
    def interval_s(self) -> float | None:
        """Seconds per step as the config states them; None where it does not."""
        for key in ("interval_s", "tick_seconds"):
            if self.config.get(key) is not None:
                return float(self.config[key])
        return None

    @property
    def scenarios(self) -> list[str] | None:
        """The scenarios it set out to cover, where the config names them."""
        named = self.config.get("scenarios")
        return [str(e) for e in named] if named else None

    @property
    def members(self) -> tuple[str, ...]:
        """The components of a live pair or cascade, in order; empty: one component."""
        policy = self.policy
        if policy is not None:
            return policy.cascade.components if policy.cascade and policy.count > 1 else ()
        return (FAST, SLOW) if self.config.get("rule") is not None else ()

    @property
    def policy(self) -> Policy | None:
        """What it was recorded under; None: every state was sent, the newest answer counted."""
        raw = self.config.get("policy")
        if not isinstance(raw, dict):
            return None
        return policy_of(raw, name=str(self.config.get("policy_name") or "policy"), where=RUN_FILE)

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(self)
        for name in _ALWAYS:
            found.setdefault(name, msgspec.to_builtins(getattr(self, name)))
        return found


_OTHER: dict[str, type] = {
    f.name: str if f.default is None else f.default_factory
    for f in msgspec.structs.fields(RunRecord)
    if f.default is None or f.default_factory in (dict, list)
}
"""Keys that are read over where they hold another kind than we write."""


def read_run(folder: Path) -> RunRecord:
    """The run record of a recording folder."""
    if not folder.is_dir():
        raise InputError("no such folder", where=folder, fix="give the folder of a recording")
    path = folder / RUN_FILE
    if not path.exists():
        raise InputError(
            f"has no {RUN_FILE}", where=folder, fix="give the folder that `sdb run --out` made"
        )
    return parse_run(read_json(path), path)


def parse_run(raw: Any, where: Path | None = None) -> RunRecord:
    """A run record from JSON data.

    >>> parse_run({"status": "complete", "config": {"seed": "seven"}}).config
    {}
    >>> parse_run({"status": 7})
    Traceback (most recent call last):
    streamdecisionbench.errors.InputError: status is 7, not running, complete or incomplete
      fix: restore run.json as it was recorded
    """
    if not isinstance(raw, dict):
        raise InputError("is not a JSON object", where=where, fix=_RESTORE)
    raw = _in_our_words(raw)
    status = raw.get("status")
    if status not in (RUNNING, COMPLETE, INCOMPLETE):
        raise InputError(
            f"status is {status!r:.60}, not {RUNNING}, {COMPLETE} or {INCOMPLETE}",
            where=where,
            fix=_RESTORE,
        )
    for key in ("config", "dataset_manifest"):
        if not isinstance(raw.get(key) or {}, dict):
            raise InputError(f"{key} is not an object", where=where, fix=_RESTORE)
    known = {key: value for key, value in raw.items() if _usable(value, _OTHER.get(key))}
    known["config"] = {
        key: value
        for key, value in (raw.get("config") or {}).items()
        if _usable(value, _CONFIG.get(key, object))
    }
    _require_world(known["config"], where)
    known["dataset_manifest"] = raw.get("dataset_manifest") or {}
    known |= {"status": status, "events_sha256": raw.get("events_sha256")}
    known["served_models"] = [m for m in known.get("served_models", ()) if isinstance(m, str)]
    try:
        return msgspec.convert(known, RunRecord)
    except msgspec.ValidationError as error:
        raise InputError(str(error), where=where, fix=_RESTORE) from None


_MOST_FRAMES, _MOST_SEED = 10_000, 2**63 - 1


def _whole(value: Any, low: int, high: float = float("inf")) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


_WORLD: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "name": ("a text", lambda value: isinstance(value, str)),
    "right": (
        "a SHA-256",
        lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None,
    ),
    "steps": ("a number above 0", lambda value: _whole(value, 1)),
    "seeds": (
        "a list of different whole numbers",
        lambda value: (
            isinstance(value, list)
            and all(_whole(seed, 0, _MOST_SEED) for seed in value)
            and 0 < len(set(value)) == len(value)
        ),
    ),
}
_FAMILY_WORLD = {"wording": _WORLD["name"]}
_GYM_WORLD = {
    "reference": _WORLD["name"],
    "frames": (f"from 1 to {_MOST_FRAMES}", lambda value: _whole(value, 1, _MOST_FRAMES)),
}


def _require_world(config: Mapping[str, Any], where: Path | None) -> None:
    """`config.world` says how a session is played again, and that it is scored at its own pace alone."""
    world = config.get("world")
    if world is None:
        return
    if not isinstance(world, dict):
        raise InputError("config.world is not an object", where=where, fix=_RESTORE)
    own = _GYM_WORLD if str(world.get("name")).startswith("gym:") else _FAMILY_WORLD
    for key, (kind, fits) in (_WORLD | own).items():
        if not fits(world.get(key)):
            found = f"is {world[key]!r:.60}" if key in world else "is missing"
            raise InputError(f"config.world.{key} {found}, not {kind}", where=where, fix=_RESTORE)
    interval_s = config.get("interval_s")
    if interval_s is None or not SHORTEST_TICK_S <= interval_s <= LONGEST_TICK_S:
        raise InputError(
            f"config.interval_s is {interval_s!r:.60}, and config.world needs the pace of its sessions",
            where=where,
            fix=_RESTORE,
        )


def place_of_suite(suite: Path | None, folder: Path) -> str | None:
    """The suite's folder as seen from a recording's, so that both can move together."""
    if suite is None:
        return None
    try:
        return Path(os.path.relpath(suite.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return None


_THEIR_WORDS = {
    "started_at_utc": "started_at", "ended_at_utc": "ended_at", "models_returned": "served_models",
}  # fmt: skip
_THEIR_SETTINGS = {"workers": "max_in_flight", "request_timeout_s": "timeout_s"}
_THEIR_RETRIES = ("max_attempts", "retry_delay_s")


def _in_our_words(raw: dict[str, Any]) -> dict[str, Any]:
    """What the paper's own runner calls otherwise, under our names; a record of ours stays as it is.

    >>> theirs = {"started_at_utc": "2026-09-28", "config": {"workers": 32, "request_timeout_s": 20}}
    >>> _in_our_words(theirs)["started_at"], _in_our_words(theirs)["config"]["max_in_flight"]
    ('2026-09-28', 32)
    """
    environment, config = raw.get("environment"), raw.get("config")
    versions = environment.get("versions") if isinstance(environment, dict) else None
    if isinstance(versions, dict) and "streamdecisionbench" in versions:
        return raw
    found = {_THEIR_WORDS.get(key, key): value for key, value in raw.items()}
    if isinstance(found.get("served_models"), dict):  # names with how often each answered
        found["served_models"] = list(found["served_models"])
    if isinstance(config, dict) and any(name in config for name in _THEIR_SETTINGS):
        retry = {name: config[name] for name in _THEIR_RETRIES if name in config}
        kept = {k: v for k, v in config.items() if k not in retry}
        # On the virtual clock, which theirs does not have, workers are workers.
        virtual = config.get("clock") == "virtual"
        words = {} if virtual else _THEIR_SETTINGS
        found["config"] = {words.get(k, k): v for k, v in kept.items()}
        if retry:
            found["config"].setdefault("retry", retry)
    return found


def recorded_manifest(manifest: Manifest) -> RecordedManifest:
    """A suite's manifest as a run record keeps it."""
    return msgspec.convert(msgspec.to_builtins(manifest), RecordedManifest)


def require_manifest(record: RunRecord, suite: Suite | None, where: Path | None) -> dict[str, int]:
    """How many steps each scenario has: from the suite where it is known, else from the record.

    The record must not contradict itself or the suite. Nothing is built from a count it states.
    """
    manifest = record.dataset_manifest
    listed = [e.episode_id for e in manifest.episodes]
    if manifest.hashes and digest(manifest.hashes) != manifest.dataset_hash:
        raise _contradiction("dataset_manifest.dataset_hash is not the digest of its hashes", where)
    if manifest.hashes and set(listed) != set(manifest.hashes):
        raise _contradiction(
            "dataset_manifest.episodes and .hashes name different scenarios", where
        )
    if len(set(listed)) < len(listed):
        raise _contradiction("dataset_manifest.episodes names a scenario twice", where)
    counts = {e.episode_id: e.steps for e in manifest.episodes}
    if suite is None:
        return {name: _count(name, steps, where) for name, steps in counts.items()}
    for name, steps in counts.items():
        if name not in suite.scenarios:
            raise _contradiction(f"dataset_manifest names {name}, the suite does not", where)
        if isinstance(steps, int | float) and steps != suite.scenarios[name].n:
            raise _contradiction(
                f"dataset_manifest gives {name} {steps} steps, the suite {suite.scenarios[name].n}",
                where,
            )
    return {s.episode_id: s.n for s in suite}


def write_run(folder: Path, record: RunRecord | Mapping[str, Any]) -> None:
    """Replaces `run.json` in one step: a reader sees the old record or the new one, never half."""
    plain = record.to_json() if isinstance(record, RunRecord) else dict(record)
    text = json.dumps(plain, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    make_folder(folder)
    write_text(folder / RUN_FILE, text)


def _usable(value: Any, kind: type | tuple[type, ...] | None) -> bool:
    if kind is None:
        return False
    if isinstance(value, bool):  # is an int to Python, not to us
        return kind in (bool, object)
    return value is not None and isinstance(value, kind)


def _count(name: str, steps: Any, where: Path | None) -> int:
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
        raise InputError(
            f"dataset_manifest gives {name} {steps!r:.60} steps",
            where=where,
            fix="give the suite with --data, or restore the file",
        )
    return steps


def _contradiction(what: str, where: Path | None) -> InputError:
    return InputError(what, where=where, fix=_RESTORE)
