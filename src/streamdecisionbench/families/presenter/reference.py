"""The executable reference: one public state of the presenter desk → the answer to every question.

It replays final commands for whatever is lasting (mode, slide, clip), then reads current text and
onsets for whatever may be taken back. Phrases, deck and caption order come from the state itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

__all__ = ["reference"]

Entry = dict[str, Any]


@dataclass
class _Stage:
    """What final commands have made of the stage so far."""

    mode: str
    slide: str
    clip: str
    opened: int


def reference(state: dict[str, Any]) -> dict[str, str]:
    """Answers to all six questions; a question the mode does not use is answered `none`."""
    prepared: dict[str, Any] = state["prepared"]
    transcript: list[Entry] = state["transcript"]
    stage = _replay(prepared, transcript)
    commands = prepared["commands"]
    answers = {
        "mode": stage.mode,
        "slide": stage.slide,
        "captions": _captions(transcript, prepared["caption_order"]),
        "clip_state": "none",
        "question_card": "none",
        "host_cue": "none",
    }
    if stage.mode == "clip":
        pausing = _pausing_early(transcript, commands["presenter"]["pause"])
        answers["clip_state"] = "pause" if pausing else stage.clip
    if stage.mode == "questions":
        answers["question_card"] = _card(transcript, stage.opened, commands["restate"])
    if stage.mode in ("talk", "questions"):
        answers["host_cue"] = _cue(transcript, commands["presenter"]["hand_over"])
    return answers


def _replay(prepared: dict[str, Any], transcript: list[Entry]) -> _Stage:
    """Apply the commands in final text in the order in which they became final."""
    start = prepared["start"]
    stage = _Stage(start["mode"], start["slide"], "none", start["tick"])
    finals = [entry for entry in transcript if entry["final_at"] is not None]
    for entry in sorted(finals, key=lambda final: final["final_at"]):  # stable: ties keep listing
        for sentence in _sentences(entry):
            if stage.mode == "closed":
                return stage
            if entry["channel"] == "host":
                _obey_host(stage, prepared, sentence, entry["final_at"])
            if entry["channel"] == "presenter":
                _obey_presenter(stage, prepared, sentence)
    return stage


def _obey_host(stage: _Stage, prepared: dict[str, Any], sentence: str, tick: int) -> None:
    commands = prepared["commands"]["host"]
    if sentence == commands["close"]:
        stage.mode = "closed"
    if sentence == commands["open"] and stage.mode == "talk":
        stage.mode, stage.opened = "questions", tick


def _obey_presenter(stage: _Stage, prepared: dict[str, Any], sentence: str) -> None:
    commands = prepared["commands"]["presenter"]
    target = _target(prepared, stage.slide, sentence)
    if target is not None:
        stage.slide = target
        if stage.mode == "clip":
            stage.mode = "talk"
    if sentence == commands["back"]:
        stage.mode = "talk"
    if sentence == commands["pause"]:
        stage.clip = "pause"  # outside clip this is lost: entering clip sets play
    if sentence == commands["play"]:
        on_slide = stage.slide == prepared["clip"]["slide"]
        if stage.mode == "clip" or (stage.mode == "talk" and on_slide):
            stage.mode, stage.clip = "clip", "play"


def _target(prepared: dict[str, Any], slide: str, sentence: str) -> str | None:
    """The slide a sentence asks for, or None if it is no slide command or cannot move."""
    commands = prepared["commands"]["presenter"]
    deck = [page["id"] for page in prepared["deck"]]
    if sentence == commands["next"]:
        return dict(pairwise(deck)).get(slide)
    if sentence == commands["previous"]:
        return dict(pairwise(deck[::-1])).get(slide)
    asked = {
        commands["jump"].replace("<number>", page["said"]): page["id"] for page in prepared["deck"]
    }
    return asked.get(sentence)


def _captions(transcript: list[Entry], order: list[str]) -> str:
    latest = max(entry["onset"] for entry in transcript)
    starting = {entry["channel"] for entry in transcript if entry["onset"] == latest}
    return next(channel for channel in order if channel in starting)


def _pausing_early(transcript: list[Entry], phrase: str) -> bool:
    return any(
        entry["final_at"] is None and entry["text"] == phrase
        for entry in _on(transcript, "presenter")
    )


def _card(transcript: list[Entry], opened: int, restate: str) -> str:
    asked = [entry for entry in _on(transcript, "audience") if entry["onset"] >= opened]
    if not asked:
        return "waiting"
    question = asked[-1]
    if question["final_at"] is None:
        return "listening"
    later = [
        entry
        for entry in _on(transcript, "presenter")
        if entry["final_at"] is not None and entry["final_at"] > question["final_at"]
    ]
    spoken = [sentence for entry in later for sentence in _sentences(entry)]
    if any(re.match(rf"{re.escape(restate)}\b", sentence) for sentence in spoken):
        return "answer"
    return "repeat"


def _cue(transcript: list[Entry], hand_over: str) -> str:
    spoken = _on(transcript, "presenter")
    if not spoken or hand_over not in _sentences(spoken[-1]):
        return "listen"
    taken = any(entry["onset"] >= spoken[-1]["onset"] for entry in _on(transcript, "host"))
    return "listen" if taken else "stand_by"


def _on(transcript: list[Entry], channel: str) -> list[Entry]:
    return [entry for entry in transcript if entry["channel"] == channel]


def _sentences(entry: Entry) -> list[str]:
    """Sentences in lower case. Provisional text holds no marks, so it stays whole."""
    return [" ".join(piece.split()) for piece in re.split(r"[.?!]", entry["text"].lower())]
