"""What the station display asks, and how the answers make one decision.

The instructions point to the rules; options say what they mean at the bench, never when to choose
them. A and B share the six questions and the routes and differ in everything the station publishes.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamdecisionbench.suite.authoring import QuestionDraft
from streamdecisionbench.suite.scenario import DecisionSpec

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
    "wait": "leave the operator to go on with the stage in hand",
    "advance": "send the operator to a stage that is still to be done",
    "repair": "show a correction to make on one target of this unit",
    "escalate": "call in the specialist who covers a target",
    "handoff": "leave the guidance to the specialist at the station",
    "hold": "stop all work on the unit for quality",
    "release": "send the unit on, out of the station",
}

_INSTRUCTIONS = {
    "route": (
        "Which card does the display show for this unit? Take the first of the seven lines of the route"
        " rule that applies."
    ),
    "stage": (
        "Which stage does the display name as current, with every card? Follow the rule on the current"
        " stage."
    ),
    "next_step": (
        "On an advance card, which stage is the operator sent to? Follow the rule on advance; on any"
        " other card, none."
    ),
    "target": (
        "Which target of station.checks does a repair or escalate card name? Follow the rules on repair"
        " and on repeated failure; on any other card, none."
    ),
    "method": (
        "Which correction does a repair card show for its target? Follow the rule on repair; on any other"
        " card, none."
    ),
    "destination": (
        "Where does an escalate, handoff, hold or release card point? Follow the rules on tickets,"
        " specialists, repeated failure and release; on any other card, none."
    ),
}


def questions(options: Mapping[str, Mapping[str, str]]) -> dict[str, QuestionDraft]:
    """The six questions with a station's own stages, targets, methods and destinations."""
    return {
        name: QuestionDraft(text, options[name] if name != "route" else _ROUTES)
        for name, text in _INSTRUCTIONS.items()
    }
