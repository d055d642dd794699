"""What the station display asks, and how the answers make one decision.

The instructions point to the rules; options say what they mean at the bench, never when to choose
them. A and B share the six questions and the routes and differ in everything the station publishes.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamdecisionbench.suite.authoring import QuestionDraft
from streamdecisionbench.suite.scenario import DecisionSpec

__all__ = ["QUESTIONS_A", "QUESTIONS_B", "SPEC"]

SPEC = DecisionSpec(
    route_question="route",
    always=("stage",),
    branches={
        "wait": (),
        "advance": ("next_step",),
        "repair": ("target", "method"),
        "escalate": ("target", "destination"),
        "handoff": ("destination",),
        "hold": ("destination",),
        "release": ("destination",),
    },
)

_ROUTES = {
    "wait": "leave the operator to go on with the stage that is under way",
    "advance": "tell the operator to begin work on a further stage",
    "repair": "show a correction to make on one target of this unit",
    "escalate": "call in the specialist who covers a target",
    "handoff": "leave the guidance to the specialist at the station",
    "hold": "stop all work on the unit for quality",
    "release": "send the unit on, out of the station",
}

_INSTRUCTIONS = {
    "route": (
        "Which card does the display show for the unit named in station.unit? Answer with the"
        " first of the seven lines of the route rule that applies."
    ),
    "stage": (
        "Which stage of the procedure does the display name as current? Follow the rule on the current"
        " stage; it is shown with every card."
    ),
    "next_step": (
        "On an advance card, which stage is the operator sent to? Follow the rule on advance; on any"
        " other card, none."
    ),
    "target": (
        "Which target of station.checks does a repair or escalate card name? Follow the rules on repair"
        " and on repeated tool failure; on any other card, none."
    ),
    "method": (
        "Which correction does a repair card show for its target? Follow the rule on repair; on any other"
        " card, none."
    ),
    "destination": (
        "Where does an escalate, handoff, hold or release card point? Follow the rules on tickets,"
        " specialists, repeated tool failure and release; on any other card, none."
    ),
}


def _questions(options: Mapping[str, Mapping[str, str]]) -> dict[str, QuestionDraft]:
    return {
        name: QuestionDraft(text, options[name] if name != "route" else _ROUTES)
        for name, text in _INSTRUCTIONS.items()
    }


QUESTIONS_A = _questions(
    {
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
            "complete_missing": "make up the record that was left out",
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
)

QUESTIONS_B = _questions(
    {
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
            "trace_connection": "follow the conductor and find the bad connection",
            "replace_cable": "fit a new cable",
            "replace_label": "peel the label off and print the right one",
            "adjust_kit": "bring the kit to the right number of pieces",
            "complete_missing": "make up the record that was left out",
            "none": "the card shows no correction",
        },
        "destination": {
            "harness_specialist": "the specialist for crimped terminals",
            "test_engineer": "the engineer for the electrical tests",
            "quarantine_cage": "the quality quarantine cage",
            "burn_in_rack": "the burn-in rack",
            "none": "the card points nowhere",
        },
    }
)
