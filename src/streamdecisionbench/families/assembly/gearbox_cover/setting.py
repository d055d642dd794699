"""What the gearbox bench publishes beside the rules, with the options its questions offer.

The order of `stages` and `checks` is part of the rules: it decides which target or stage is first.
"""

from __future__ import annotations

from typing import Any

STATION: dict[str, Any] = {
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

OPTIONS: dict[str, dict[str, str]] = {
    "stage": {
        "intake": "the housing is taken in and identified",
        "seal": "the rim gasket is pressed into its groove",
        "cover": "the cover is put on and identified",
        "fasten": "joints J1 and J2 are run down",
        "inspection": "the finished cover is inspected",
    },
    "next_step": {
        "seal": "go to the rim gasket",
        "cover": "go to the cover",
        "fasten": "go to joints J1 and J2",
        "inspection": "go to the final inspection",
        "none": "the card sends nobody to another stage",
    },
    "target": {
        "housing": "the gearbox housing in the nest",
        "gasket": "the rim gasket between housing and cover",
        "cover": "the gearbox cover",
        "J1": "joint J1, the small screw",
        "J2": "joint J2, the large screw",
        "inspection": "the final inspection itself",
        "none": "the card names no target",
    },
    "method": {
        "replace_part": "take the part off and fit the right one",
        "fit_gasket": "press a gasket into the groove",
        "retorque": "run the same screw down again",
        "replace_fastener": "take the screw out and put in a new one",
        "reinspect": "carry out the inspection again",
        "complete_missing": "take the result that is not there, or not there any more",
        "none": "the card shows no correction",
    },
    "destination": {
        "joining_specialist": "the specialist for screwed joints",
        "sealing_specialist": "the specialist for gaskets",
        "containment_desk": "the quality containment desk",
        "dispatch_conveyor": "the conveyor to dispatch",
        "none": "the card points nowhere",
    },
}
