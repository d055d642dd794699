"""What the cable cell publishes beside the rules, with the options its questions offer.

The order of `stages` and `checks` is part of the rules: it decides which target or stage is first.
"""

from __future__ import annotations

from typing import Any

STATION: dict[str, Any] = {
    "id": "K3",
    "line": "Cable modules, test cell",
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
            "if_failed": "trace_connection",
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

OPTIONS: dict[str, dict[str, str]] = {
    "stage": {
        "intake": "the bare module is taken in and identified",
        "mount": "the connector is seated on the module",
        "terminate": "terminals P1 and P2 are crimped",
        "electrical": "continuity and insulation are tested",
        "label": "the label goes on and the accessory kit is counted",
    },
    "next_step": {
        "mount": "go to seating the connector",
        "terminate": "go to crimping the terminals",
        "electrical": "go to the continuity and insulation tests",
        "label": "go to the label and the accessory kit",
        "none": "the card sends nobody to another stage",
    },
    "target": {
        "module": "the bare cable module",
        "orientation": "which way round the connector sits",
        "P1": "terminal P1, the supply side",
        "P2": "terminal P2, the signal side",
        "continuity": "the continuity test",
        "insulation": "the insulation test",
        "label": "the label on the sleeve",
        "accessory": "the accessory kit",
        "none": "the card names no target",
    },
    "method": {
        "swap_module": "take another module from the bin",
        "reseat": "pull the connector and seat it the right way round",
        "recrimp": "crimp the terminal again",
        "trace_connection": "follow the conductor and find the fault",
        "replace_cable": "fit a new lead with a new terminal at that end",
        "replace_label": "peel the label off and print the right one",
        "adjust_kit": "bring the kit to the right number of pieces",
        "complete_missing": "take the result that is not there, or not there any more",
        "none": "the card shows no correction",
    },
    "destination": {
        "harness_specialist": "the specialist for crimped terminals",
        "test_engineer": "the engineer for the electrical tests",
        "quarantine_cage": "the locked cage for suspect units",
        "burn_in_rack": "the burn-in rack",
        "none": "the card points nowhere",
    },
}
