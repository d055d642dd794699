"""StreamDecisionBench: how much of the time is the decision in force right?

    >>> import streamdecisionbench as sdb
    >>> sdb.score(sdb.example_recording(), sdb.example_suite()).log_auc > 0.5
    True

Names are imported when first used, so that `import streamdecisionbench` stays cheap.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, whose import would be most of ours
if TYPE_CHECKING:
    from typing import Any

    from streamdecisionbench._version import __version__
    from streamdecisionbench.examples import example_recording, example_suite
    from streamdecisionbench.kernel.shares import Shares
    from streamdecisionbench.logs.log_score import (
        LogScore,
        score_log,
    )
    from streamdecisionbench.recording.reader import read_recording
    from streamdecisionbench.recording.recording import Recording
    from streamdecisionbench.scoring.answer_accuracy import mistakes
    from streamdecisionbench.scoring.pairs import all_pairs, compose_recordings
    from streamdecisionbench.scoring.result import Level, Result
    from streamdecisionbench.scoring.score import score
    from streamdecisionbench.suite.scenario import DecisionSpec, Scenario, Suite
    from streamdecisionbench.suite.suite_files import read_suite, write_suite

__all__ = [
    "DecisionSpec",
    "Level",
    "LogScore",
    "Recording",
    "Result",
    "Scenario",
    "Shares",
    "Suite",
    "__version__",
    "all_pairs",
    "compose_recordings",
    "example_recording",
    "example_suite",
    "mistakes",
    "read_recording",
    "read_suite",
    "score",
    "score_log",
    "write_suite",
]

_HOMES = {
    "_version": ("__version__",),
    "examples": ("example_recording", "example_suite"),
    "logs.log_score": ("LogScore", "score_log"),
    "recording.reader": ("read_recording",),
    "recording.recording": ("Recording",),
    "scoring.answer_accuracy": ("mistakes",),
    "scoring.pairs": ("all_pairs", "compose_recordings"),
    "scoring.result": ("Level", "Result"),
    "scoring.score": ("score",),
    "kernel.shares": ("Shares",),
    "suite.scenario": ("DecisionSpec", "Scenario", "Suite"),
    "suite.suite_files": ("read_suite", "write_suite"),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            import importlib

            return getattr(importlib.import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
