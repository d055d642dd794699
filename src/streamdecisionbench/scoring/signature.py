"""How a score was made, in one line that can be pasted beside the number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamdecisionbench._version import __version__
from streamdecisionbench.recording.conditions import conditions
from streamdecisionbench.recording.punctuality import Punctuality
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.suite.scenario import Suite

if TYPE_CHECKING:
    from streamdecisionbench.scoring.score import Score

__all__ = ["signature_of"]


def signature_of(recording: Recording, suite: Suite, base: Score, on_time: Punctuality) -> str:
    """How this score was made, in one line that can be pasted beside the number."""
    parts = {
        "suite": suite.dataset_hash[:12],
        "events": recording.events_sha256[:12],
        "scenarios": f"{len(base.parts)}/{len(suite.scenarios)}",
        "protocol": "step-anchored",
        "interval": f"{base.interval:g}",
        "bounds": f"{base.bounds.low:g}-{base.bounds.high:g}",
        "weighting": base.bounds.weighting,
        "clock": base.clock,
        "time": "virtual" if recording.virtual_clock else "real",
        "simulated": "yes" if recording.simulated else "no",
        **({} if on_time.punctual else {"lag": on_time.lag}),
        **conditions(recording.config),
        "sdb": __version__,
    }
    return " ".join(f"{key}:{value}" for key, value in parts.items())
