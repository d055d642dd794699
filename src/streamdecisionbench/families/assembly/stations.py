"""What each station publishes beside the rules: stages, checks, limits, people, destinations.

The order of `stages` and `checks` is part of the rules: it decides which target or stage is first.
"""

from __future__ import annotations

from typing import Any

__all__ = ["STATION_A", "STATION_B"]

STATION_A: dict[str, Any] = {
    "id": "S6",
    "line": "Gearbox covers, side bench",
    "unit": "GX-0417",
    "stages": ["intake", "seal", "cover", "fasten", "inspection"],
    "checks": [
        {
            "target": "housing",
            "stage": "intake",
            "by": "scan",
            "expects": "GH-4410-B",
            "if_failed": "replace_part",
        },
        {
            "target": "gasket",
            "stage": "seal",
            "by": "camera",
            "expects": "present",
            "if_failed": "fit_gasket",
            "remark": "rim gasket, reached from outside with the cover on",
        },
        {
            "target": "cover",
            "stage": "cover",
            "by": "scan",
            "expects": "CV-2207-R",
            "if_failed": "replace_part",
        },
        {
            "target": "J1",
            "stage": "fasten",
            "by": "rundown",
            "min": 9.2,
            "max": 10.8,
            "measure": "N m",
            "if_failed": "retorque",
            "if_damaged": "replace_fastener",
        },
        {
            "target": "J2",
            "stage": "fasten",
            "by": "rundown",
            "min": 22.0,
            "max": 26.0,
            "measure": "N m",
            "if_failed": "retorque",
            "if_damaged": "replace_fastener",
        },
        {
            "target": "inspection",
            "stage": "inspection",
            "by": "inspection",
            "expects": "PASS",
            "if_failed": "reinspect",
        },
    ],
    "recheck_after_rework": ["inspection"],
    "min_confidence": 0.8,
    "fail_limit": 3,
    "specialists": [
        {"role": "joining_specialist", "covers": ["J1", "J2"]},
        {"role": "sealing_specialist", "covers": ["gasket"]},
    ],
    "destinations": {"hold": "containment_desk", "release": "dispatch_conveyor"},
}

STATION_B: dict[str, Any] = {
    "id": "K3",
    "line": "Cable modules, crimp and test cell",
    "unit": "CM-2291",
    "stages": ["intake", "mount", "terminate", "electrical", "label"],
    "checks": [
        {
            "target": "module",
            "stage": "intake",
            "by": "scan",
            "expects": "CMX-22-A3",
            "if_failed": "swap_module",
        },
        {
            "target": "orientation",
            "stage": "mount",
            "by": "camera",
            "expects": "key_up",
            "if_failed": "reseat",
        },
        {
            "target": "P1",
            "stage": "terminate",
            "by": "crimp_height",
            "min": 1.42,
            "max": 1.5,
            "measure": "mm",
            "if_failed": "recrimp",
            "if_damaged": "replace_cable",
        },
        {
            "target": "P2",
            "stage": "terminate",
            "by": "crimp_height",
            "min": 1.18,
            "max": 1.26,
            "measure": "mm",
            "if_failed": "recrimp",
            "if_damaged": "replace_cable",
        },
        {
            "target": "continuity",
            "stage": "electrical",
            "by": "resistance",
            "max": 0.4,
            "measure": "ohm",
            "if_failed": "trace_connection",
        },
        {
            "target": "insulation",
            "stage": "electrical",
            "by": "resistance",
            "min": 20.0,
            "measure": "megohm",
            "if_failed": "replace_cable",
        },
        {
            "target": "label",
            "stage": "label",
            "by": "scan",
            "expects": "LB-2291-07",
            "if_failed": "replace_label",
        },
        {
            "target": "accessory",
            "stage": "label",
            "by": "kit_count",
            "expects": 4,
            "measure": "pieces",
            "if_failed": "adjust_kit",
        },
    ],
    "recheck_after_rework": ["electrical", "label"],
    "min_confidence": 0.85,
    "fail_limit": 2,
    "specialists": [
        {"role": "harness_specialist", "covers": ["P1", "P2"]},
        {"role": "test_engineer", "covers": ["continuity", "insulation"]},
    ],
    "destinations": {"hold": "quarantine_cage", "release": "burn_in_rack"},
}
