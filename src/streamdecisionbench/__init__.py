"""StreamDecisionBench: how much of the time is the decision in force right?

    >>> import streamdecisionbench as sdb
    >>> sdb.score(sdb.example_recording(), sdb.example_suite()).log_auc > 0.5
    True

Names are imported when first used, so that `import streamdecisionbench` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from streamdecisionbench._version import __version__

if TYPE_CHECKING:
    from streamdecisionbench.examples import example_recording, example_suite
    from streamdecisionbench.recording.model import Recording
    from streamdecisionbench.recording.reader import read_recording
    from streamdecisionbench.scoring.answers import mistakes
    from streamdecisionbench.scoring.pairs import all_pairs, compose_recordings
    from streamdecisionbench.scoring.score import Level, Score, Shares, score
    from streamdecisionbench.suite.files import read_suite, write_suite
    from streamdecisionbench.suite.model import DecisionSpec, Scenario, Suite

__all__ = [
    "DecisionSpec",
    "Level",
    "Recording",
    "Scenario",
    "Score",
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
    "write_suite",
]

_HOME = {
    "example_recording": "examples",
    "example_suite": "examples",
    "Recording": "recording.model",
    "read_recording": "recording.reader",
    "mistakes": "scoring.answers",
    "all_pairs": "scoring.pairs",
    "compose_recordings": "scoring.pairs",
    "Level": "scoring.score",
    "Score": "scoring.score",
    "Shares": "scoring.score",
    "score": "scoring.score",
    "read_suite": "suite.files",
    "write_suite": "suite.files",
    "DecisionSpec": "suite.model",
    "Scenario": "suite.model",
    "Suite": "suite.model",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
