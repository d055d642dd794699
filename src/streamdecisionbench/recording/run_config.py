"""The settings of a pass, as a run record describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from streamdecisionbench.components.contract import ComponentInfo
from streamdecisionbench.errors import InputError
from streamdecisionbench.policy_file import Policy
from streamdecisionbench.recording.ledger import Lane
from streamdecisionbench.recording.realtime import Dispatch
from streamdecisionbench.suite.scenario import Scenario, Suite

__all__ = ["Settings", "config_of", "interval_of", "require_clock", "workers_of"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that must be equal for two recordings to be one setting."""

    names: Mapping[str | None, str]
    """Lane → `provider:model` as it was asked for."""

    scenarios: tuple[str, ...]
    interval_s: float | None = None
    """None: every scenario at its own tick."""

    clock: str = "real"
    workers: int | None = None
    dispatch: Dispatch = field(default_factory=Dispatch)
    seed: int = 0
    effort: str | None = None
    rule: str | None = None
    limit: int | None = None
    """A smoke run: only so many steps of every scenario; the suite is cut already."""
    policy: Policy | None = None
    """What is sent and what may take effect; None: everything, and the newest."""
    streams: int = 1
    """How many scenarios play at once."""
    replica: int | None = None
    """Of several recordings made at once, since there are more streams than scenarios: which."""


def config_of(suite: Suite, settings: Settings, lanes: Sequence[Lane]) -> dict[str, Any]:
    """All that must be equal for a recording to be continued or joined."""
    ticks = {interval_of(suite.scenarios[e], settings) for e in settings.scenarios}
    tick = ticks.pop() if len(ticks) == 1 else None
    parts = {lane.name: _describe(settings.names[lane.name], lane) for lane in lanes}
    config: dict[str, Any] = {
        "interval_s": tick,
        "tick_seconds": tick,
        "max_in_flight": settings.dispatch.max_in_flight,
        "timeout_s": settings.dispatch.timeout_s,
        "retry": settings.dispatch.retry.to_json(),
        "clock": settings.clock,
        "simulated": any(lane.component.info.simulated for lane in lanes),
        "scenarios": list(settings.scenarios),
        "seed": settings.seed,
        "effort": settings.effort,
    }
    if settings.streams > 1:
        config["streams"] = settings.streams
    if settings.replica is not None:
        config["replica"] = settings.replica
    if settings.dispatch.in_all is not None:
        config["max_in_flight_in_all"] = settings.dispatch.in_all
    if any(suite.scenarios[e].published_s is not None for e in settings.scenarios):
        config["irregular"] = True
    if settings.clock == "virtual":
        config["workers"] = workers_of(settings, lanes)
    if settings.limit is not None:
        config["limit"] = settings.limit
    if settings.policy is not None:
        config |= {"policy": settings.policy.to_json(), "policy_name": settings.policy.name}
    if None in parts:
        config |= parts[None]
    elif settings.policy is not None:
        config["members"] = {str(name): part for name, part in parts.items()}
        config["component"] = " + ".join(part["component"] for part in parts.values())
    else:
        config |= {str(name): part for name, part in parts.items()}
        config["rule"] = settings.rule
        config["component"] = " + ".join(part["component"] for part in parts.values())
    return config


def interval_of(scenario: Scenario, settings: Settings) -> float:
    """Seconds per step: the settings', or the scenario's own tick."""
    return scenario.tick_seconds if settings.interval_s is None else settings.interval_s


def workers_of(settings: Settings, lanes: Sequence[Lane]) -> int:
    """Unless declared: one, or no queue at all behind a drawn latency, which includes its own."""
    if settings.workers is not None:
        return settings.workers
    simulated = all(lane.component.info.simulated for lane in lanes)
    return settings.dispatch.max_in_flight * settings.streams if simulated else 1


def require_clock(settings: Settings, infos: Sequence[ComponentInfo]) -> None:
    """The virtual clock measures what runs in this process, and only that."""
    if settings.clock not in ("real", "virtual"):
        raise InputError(
            f"there is no clock {settings.clock!r}", fix="choose --clock real or --clock virtual"
        )
    if settings.clock == "real":
        if settings.workers is not None:
            raise InputError(
                "--workers belongs to the virtual clock",
                fix="add --clock virtual, or leave --workers out",
            )
        return
    remote = [info.name for info in infos if not info.in_process]
    if remote:
        raise InputError(
            f"the virtual clock measures components in this process; {', '.join(remote)} answers"
            " from elsewhere",
            fix="leave out --clock virtual, or use simulated:, baseline:, gguf: or python:",
        )


def _describe(name: str, lane: Lane) -> dict[str, Any]:
    info = lane.component.info
    return {
        "component": name,
        "provider": info.provider,
        "model": info.model,
        "settings": msgspec.to_builtins(dict(info.settings)),
        "simulated": info.simulated,
        "in_process": info.in_process,
        "base_url_host": info.base_url_host,
    }
