"""What a bundle says of itself: `bundle.json`, schema `sdb-bundle/1`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from streamdecisionbench._version import __version__
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.score import score
from streamdecisionbench.scoring.score_json import score_to_json
from streamdecisionbench.suite.scenario import Suite

__all__ = [
    "CONTENTS",
    "MOST_RECORDINGS",
    "SCHEMA",
    "SUITE_FOLDER",
    "Contents",
    "Entry",
    "conditions",
    "scored",
]

SCHEMA = "sdb-bundle/1"
CONTENTS = "bundle.json"
SUITE_FOLDER = "suite"
MOST_RECORDINGS = 1000


class Entry(msgspec.Struct, frozen=True):
    """One recording: what it is called, what answered, under which conditions, what it scored."""

    name: str
    folder: str
    component: str
    served_models: tuple[str, ...]
    simulated: bool
    virtual_clock: bool
    conditions: dict[str, Any]
    score: dict[str, Any]


class Contents(msgspec.Struct, frozen=True):
    """The whole: a suite, its recordings, the prices that applied, and every file's digest."""

    schema: str
    sdb: str
    suite: str
    suite_name: str
    recordings: tuple[Entry, ...]
    prices: dict[str, Any]
    files: dict[str, str]


def scored(recording: Recording, suite: Suite) -> dict[str, Any]:
    """The score as `sdb score --json` gives it, with its usual interval and bounds."""
    found = score_to_json(score(recording, suite))
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
    return plain


def conditions(recording: Recording, told: Mapping[str, str]) -> dict[str, Any]:
    """When, where and how it was recorded, as the run record has it; `told` is what people add."""
    run, config = recording.run, recording.config
    environment = run.get("environment")
    machine = environment if isinstance(environment, Mapping) else {}
    found: dict[str, Any] = {
        "started_at": run.get("started_at"),
        "ended_at": run.get("ended_at"),
        "interval_s": config.get("interval_s"),
        "max_in_flight": config.get("max_in_flight"),
        "settings": config.get("settings"),
        "host": machine.get("base_url_host"),
        "client": {key: machine.get(key) for key in ("platform", "python", "cpus_usable")},
        "network": run.get("network"),
        **told,
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found))
    return plain


VERSION = __version__
