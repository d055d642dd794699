"""The seven questions of the card and how its decision is composed."""

from __future__ import annotations

from collections.abc import Mapping

from streamdecisionbench.suite.authoring import QuestionDraft
from streamdecisionbench.suite.scenario import DecisionSpec

SPEC = DecisionSpec(
    route_question="route",
    always=("process", "target_result"),
    branches={
        "wait": (),
        "rerun": ("rerun_scope",),
        "inspect": ("inspect_file",),
        "control": ("control_action",),
        "delegate": ("owner",),
        "ready": (),
    },
)


def questions(files: Mapping[str, str], teams: Mapping[str, str]) -> dict[str, QuestionDraft]:
    """The questions with a scenario's own files and teams as options of inspect_file and owner."""
    return {
        "route": QuestionDraft(
            "Which card does the panel show now? Apply order with the cases it numbers, runs, ticks.",
            {
                "wait": "Leave the developer in peace for the moment",
                "rerun": "Offer another run of the tests",
                "inspect": "Open a source file in the editor",
                "control": "Continue or stop the run",
                "delegate": "Hand the selected failure to the team that owns it",
                "ready": "Say that the change can go to review",
            },
        ),
        "process": QuestionDraft(
            "What does the process badge show? Apply process, runs, silence, ticks.",
            {
                "idle": "No run in progress",
                "running": "A run in progress with a recent sign of life",
                "paused": "The active run stands at a pause",
                "stalled": "The active run is silent and not at a pause",
            },
        ),
        "target_result": QuestionDraft(
            "What does the badge of the pinned test show? Apply target_result, runs.",
            {
                "original_error": "The pinned test failed with session.original_error",
                "different_error": "The pinned test failed otherwise",
                "passed": "The pinned test succeeded",
                "not_run": "The last run did not execute it",
            },
        ),
        "rerun_scope": QuestionDraft(
            "How much does a rerun card cover? Apply order, runs, changed, watched, patterns, "
            "not_executed, coverage, unused.",
            {
                "target": "Just the test file that holds the pinned test",
                "module": "Every test of the module around it",
                "full": "Everything the repository has",
                "none": "No rerun card",
            },
        ),
        "inspect_file": QuestionDraft(
            "Which file does an inspect card open? Apply order, runs, compiler, selection, frame, "
            "patterns, owner, unused.",
            {**files, "none": "No inspect card"},
        ),
        "control_action": QuestionDraft(
            "What does a control card do with the run? Apply order, runs, control, process, "
            "silence, pause_age, unused.",
            {
                "continue": "Let the run go on from where it stands",
                "stop": "End the active run",
            },
        ),
        "owner": QuestionDraft(
            "Which team does a delegate card name? Apply order, runs, selection, frame, patterns, "
            "owner, commitment, unused.",
            {**teams, "none": "No delegate card"},
        ),
    }
