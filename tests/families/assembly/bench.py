"""The vocabulary of the hand-written assembly cases: a small bench, and the card it must show.

A bench is written as log lines `(kind, target, value)`; `card` fills in the answers a route does
not use, so every case pins all six questions.
"""

from __future__ import annotations

import copy
from typing import Any

from streamdecisionbench.families.assembly.cable_module.setting import STATION as STATION_B
from streamdecisionbench.families.assembly.gearbox_cover.setting import STATION as STATION_A
from tests.families.cases import Case

JOINING, SEALING = "joining_specialist", "sealing_specialist"
HARNESS, TESTER = "harness_specialist", "test_engineer"

Line = dict[str, Any]


def line(kind: str, target: str, value: Any = None, *, unit: str = "", **more: Any) -> Line:
    """A log line; `unit` is filled in with the station's own unless given."""
    made = {"unit": unit, "kind": kind, "target": target, **more}
    return made if value is None else {**made, "value": value}


def cam(target: str, value: str, confidence: float = 0.95, *, unit: str = "") -> Line:
    return line("camera", target, value, unit=unit, confidence=confidence)


def badge(role: str, station: str, out: int | None = None) -> dict[str, Any]:
    return {"holder": "N. N.", "role": role, "station": station, "in": 1, "out": out}


def ticket(unit: str, closed: int | None = None, name: str = "T-1") -> dict[str, Any]:
    return {"ticket": name, "unit": unit, "subject": "check", "opened": 1, "closed": closed}


def bench(
    station: dict[str, Any],
    *lines: Line,
    tickets: tuple[dict[str, Any], ...] = (),
    badges: tuple[dict[str, Any], ...] = (),
    speech: tuple[dict[str, Any], ...] = (),
    tools: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A public state with only what the case is about."""
    log = [
        {"tick": t, **entry, **({} if entry.get("unit", "-") else {"unit": station["unit"]})}
        for t, entry in enumerate(lines)
    ]
    return {
        "prepared": {"rules": [], "station": copy.deepcopy(station)},
        "clock": {"now": max(len(log), 2)},
        "station_log": log,
        "tickets": list(tickets),
        "badges": list(badges),
        "speech": list(speech),
        "tools": tools or {},
    }


def card(route: str, stage: str, **used: str) -> dict[str, str]:
    idle = dict.fromkeys(("next_step", "target", "method", "destination"), "none")
    return {**idle, "route": route, "stage": stage, **used}


# Station A, built up in order.
HOUSING = line("scan", "housing", "GH-4410-B")
GASKET = cam("gasket", "present")
COVER = line("scan", "cover", "CV-2207-R")
J1 = line("rundown", "J1", 10.0)
J2 = line("rundown", "J2", 24.0)
PASS = line("inspection", "inspection", "PASS")
FAIL = line("inspection", "inspection", "FAIL")
BUILT = (HOUSING, GASKET, COVER)
JOINED = (*BUILT, J1, J2)
DONE = (*JOINED, PASS)
LOW, HIGH = line("rundown", "J2", 21.9), line("rundown", "J2", 26.1)
THRICE = (*BUILT, J1, LOW, HIGH, LOW)

# Station B.
MODULE = line("scan", "module", "CMX-22-A3")
KEY_UP = cam("orientation", "key_up")
P1, P2 = line("crimp_height", "P1", 1.45), line("crimp_height", "P2", 1.2)
OHM, MEG = line("resistance", "continuity", 0.3), line("resistance", "insulation", 50.0)
LABEL, KIT = line("scan", "label", "LB-2291-07"), line("kit_count", "accessory", 4)
CRIMPED = (MODULE, KEY_UP, P1, P2)
TESTED = (*CRIMPED, OHM, MEG)
PACKED = (*TESTED, LABEL, KIT)

FIT = card("repair", "seal", target="gasket", method="fit_gasket")
TO_INSPECT = card("advance", "fasten", next_step="inspection")
RETORQUE = card("repair", "fasten", target="J2", method="retorque")
SENT = card("release", "inspection", destination="dispatch_conveyor")
CALLED = card("escalate", "fasten", target="J2", destination=JOINING)
WITH_JOINING = card("handoff", "fasten", destination=JOINING)
HELD = card("hold", "fasten", destination="containment_desk")
RACKED = card("release", "label", destination="burn_in_rack")
TO_TESTS = card("advance", "terminate", next_step="electrical")


def a(name: str, rules: str, expected: dict[str, str], *lines: Line, **more: Any) -> Case:
    return Case(f"A: {name}", bench(STATION_A, *lines, **more), expected, tuple(rules.split()))


def b(name: str, rules: str, expected: dict[str, str], *lines: Line, **more: Any) -> Case:
    return Case(f"B: {name}", bench(STATION_B, *lines, **more), expected, tuple(rules.split()))
