"""Generated sessions as people would read them, and as docs/explanation/generated-sessions.md prints them.

`python -m tests.docs.test_stories` writes the printed ones anew.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.suite.authoring import Event
from streamdecisionbench.worlds.generate import open_seeds

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "generated-sessions.md"
PRINTED = re.compile(
    r"(?<=```text\n)(support|presenter), seed (\d+), (listed|free) wording\n.*?(?=```\n)", re.DOTALL
)
VOICES = {"p": "presenter", "h": "chair", "a": "audience", "c": "clip"}


def told(family: str, seed: int, wording: str) -> str:
    """What is said and logged at every tick, and behind an arrow the decision where it changes."""
    (world,) = open_seeds(family, (seed,), wording)
    world.play_right()
    found, before = [f"{family}, seed {seed}, {wording} wording"], ""
    for step, decision in zip(world.right.steps, world.right.reference(), strict=True):
        own = [event for event in world.simulator.events if event.at == step.t]
        found += [f"{step.t:4}  {line}" for event in own if (line := _line(event))]
        now = ", ".join(decision.values())
        found += [f"      → {now}"] if now != before else []
        before = now
    return "\n".join(found) + "\n"


def _line(event: Event) -> str:
    data: Any = event.data
    if event.kind == "say":
        voice = data.get("speaker") or VOICES[data["id"][0]]
        return f"{voice}{'' if data['final'] else ' (live)'}: {data['text']}"
    if event.kind == "phone":
        return f"[telephone: {data['status']}]"
    if event.kind == "feed":
        return f"[{data['list']}: {', '.join(map(str, data['entry'].values()))}]"
    return f"[{data['text']}]" if "text" in data else ""


@pytest.mark.parametrize("family", ["support", "presenter"])
def test_two_sessions_are_printed_as_they_are_generated(family: str) -> None:
    printed = [found for found in PRINTED.finditer(PAGE.read_text()) if found[1] == family]
    assert len(printed) == 2
    for found in printed:
        assert found[0] == told(family, int(found[2]), found[3]), (
            "python -m tests.docs.test_stories"
        )


if __name__ == "__main__":
    PAGE.write_text(
        PRINTED.sub(lambda found: told(found[1], int(found[2]), found[3]), PAGE.read_text())
    )
