"""One public state → all six answers. Serves both stations: everything specific is in the state.

Reads `prepared.station`, `station_log`, `tickets` and `badges`, and nothing else: speech and tool
fields never decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Json = Mapping[str, Any]


class Counted(NamedTuple):
    """A log record that counts, and as what: result, replaced or damage."""

    role: str
    target: str
    stage: str
    value: Any


class Standing(NamedTuple):
    """Where one target stands: its results still in force, oldest first, and open damage."""

    check: Json
    results: Sequence[bool]
    damaged: bool

    @property
    def complete(self) -> bool:
        return bool(self.results) and self.results[-1] and not self.damaged

    @property
    def defective(self) -> bool:
        return self.damaged or (bool(self.results) and not self.results[-1])

    @property
    def failures(self) -> int:
        """Failed results in a row, counted back from the latest."""
        run = 0
        for passed in reversed(self.results):
            if passed:
                break
            run += 1
        return run


def reference(state: Json) -> dict[str, str]:
    """The answers a careful reader of the public rules gives for this state."""
    station: Json = state["prepared"]["station"]
    log = _counted(station, state["station_log"])
    stage: str = log[-1].stage if log else station["stages"][0]
    targets = [_standing(check, station, log) for check in station["checks"]]
    answers = dict.fromkeys(("next_step", "target", "method", "destination"), "none")
    return {**answers, "stage": stage, **_routed(state, station, stage, targets)}


def _routed(state: Json, station: Json, stage: str, targets: Sequence[Standing]) -> dict[str, str]:
    """The route by precedence, with the answers that route uses."""
    if any(t["unit"] == station["unit"] and t["closed"] is None for t in state["tickets"]):
        return {"route": "hold", "destination": station["destinations"]["hold"]}
    for role in station["specialists"]:
        if any(_present(badge, role["role"], station["id"]) for badge in state["badges"]):
            return {"route": "handoff", "destination": role["role"]}
    for found in targets:
        name = found.check["target"]
        for role in station["specialists"]:
            if name in role["covers"] and found.failures >= station["fail_limit"]:
                return {"route": "escalate", "target": name, "destination": role["role"]}
    for found in targets:
        if found.defective:
            method = found.check["if_damaged" if found.damaged else "if_failed"]
            return {"route": "repair", "target": found.check["target"], "method": method}
    for found in targets:
        if not found.results and _before(station, found.check["stage"], stage):
            return {
                "route": "repair",
                "target": found.check["target"],
                "method": "complete_missing",
            }
    open_stages = [t.check["stage"] for t in targets if not t.complete]
    if not open_stages:
        return {"route": "release", "destination": station["destinations"]["release"]}
    if stage not in open_stages:
        return {"route": "advance", "next_step": min(open_stages, key=station["stages"].index)}
    return {"route": "wait"}


def _present(badge: Json, role: str, station_id: str) -> bool:
    here = badge["role"] == role and badge["station"] == station_id
    return here and badge["out"] is None


def _counted(station: Json, log: Sequence[Json]) -> list[Counted]:
    checks = {check["target"]: check for check in station["checks"]}
    found = []
    for record in log:
        check = checks.get(record.get("target"))
        if check is None or record["unit"] != station["unit"]:
            continue
        role = _role(record, check, station["min_confidence"])
        if role is not None:
            found.append(Counted(role, check["target"], check["stage"], record.get("value")))
    return found


def _role(record: Json, check: Json, min_confidence: float) -> str | None:
    """What a record on one of our targets counts as; None if it counts for nothing."""
    kind, value = record["kind"], record.get("value")
    if value == "NO_READ":
        return None
    if kind == "camera" and record["confidence"] < min_confidence:
        return None
    if kind == "replaced":
        return "replaced"
    if kind == "camera" and value == "damaged" and "if_damaged" in check:
        return "damage"
    return "result" if kind == check["by"] else None


def _standing(check: Json, station: Json, log: Sequence[Counted]) -> Standing:
    rechecked = check["stage"] in station["recheck_after_rework"]
    results: list[bool] = []
    damaged = False
    for record in log:
        own = record.target == check["target"]
        if own and record.role == "result":
            results = [*results, _passes(check, record.value)]
        elif own and record.role == "damage":
            damaged = True
        elif own:
            results, damaged = [], False
        elif rechecked and _before(station, record.stage, check["stage"]):
            results = []
    return Standing(check, results, damaged)


def _passes(check: Json, value: Any) -> bool:
    if "expects" in check:
        return bool(value == check["expects"])
    high_enough = "min" not in check or value >= check["min"]
    return high_enough and ("max" not in check or value <= check["max"])


def _before(station: Json, stage: str, other: str) -> bool:
    order: list[str] = station["stages"]
    return order.index(stage) < order.index(other)
