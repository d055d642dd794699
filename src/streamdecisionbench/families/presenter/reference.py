"""The executable reference: one public state of the presenter desk → the answer to every question.

It replays final commands for whatever is lasting (mode, slide, clip), then reads current text and
onsets for whatever may be taken back. Phrases or intents, deck and caption order come from the state.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from streamdecisionbench.families.presenter.bank import NOTHING, meaning
from streamdecisionbench.suite.sentence_bank import Meant

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
    answers = {
        "mode": stage.mode,
        "slide": stage.slide,
        "captions": _captions(transcript, prepared["caption_order"]),
        "clip_state": "none",
        "question_card": "none",
        "host_cue": "none",
    }
    if stage.mode == "clip":
        answers["clip_state"] = "pause" if _pausing_early(prepared, transcript) else stage.clip
    if stage.mode == "questions":
        answers["question_card"] = _card(prepared, transcript, stage.opened)
    if stage.mode in ("talk", "questions"):
        answers["host_cue"] = _cue(prepared, transcript)
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
                meant = _meant(prepared, entry, sentence, "host")
                _obey_host(stage, meant, entry["final_at"])
            if entry["channel"] == "presenter":
                _obey_presenter(stage, prepared, _meant(prepared, entry, sentence, "presenter"))
    return stage


def _obey_host(stage: _Stage, meant: Meant, tick: int) -> None:
    if meant.intent == "close":
        stage.mode = "closed"
    if meant.intent == "open" and stage.mode == "talk":
        stage.mode, stage.opened = "questions", tick


def _obey_presenter(stage: _Stage, prepared: dict[str, Any], meant: Meant) -> None:
    target = _target(prepared, stage.slide, meant)
    if target is not None:
        stage.slide = target
        if stage.mode == "clip":
            stage.mode = "talk"
    if meant.intent == "back":
        stage.mode = "talk"
    if meant.intent == "pause":
        stage.clip = "pause"  # outside clip this is lost: entering clip sets play
    if meant.intent == "play":
        on_slide = stage.slide == prepared["clip"]["slide"]
        if stage.mode == "clip" or (stage.mode == "talk" and on_slide):
            stage.mode, stage.clip = "clip", "play"


def _target(prepared: dict[str, Any], slide: str, meant: Meant) -> str | None:
    """The slide a sentence asks for, or None if it is no slide command or cannot move."""
    deck = [page["id"] for page in prepared["deck"]]
    if meant.intent == "next":
        return dict(pairwise(deck)).get(slide)
    if meant.intent == "previous":
        return dict(pairwise(deck[::-1])).get(slide)
    return meant.item or None


def _captions(transcript: list[Entry], order: list[str]) -> str:
    latest = max(entry["onset"] for entry in transcript)
    starting = {entry["channel"] for entry in transcript if entry["onset"] == latest}
    return next(channel for channel in order if channel in starting)


def _pausing_early(prepared: dict[str, Any], transcript: list[Entry]) -> bool:
    return any(
        entry["final_at"] is None
        and _meant(prepared, entry, entry["text"], "presenter").intent == "pause"
        for entry in _on(transcript, "presenter")
    )


def _card(prepared: dict[str, Any], transcript: list[Entry], opened: int) -> str:
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
    if any(_restates(prepared, entry, s) for entry in later for s in _sentences(entry)):
        return "answer"
    return "repeat"


def _restates(prepared: dict[str, Any], entry: Entry, sentence: str) -> bool:
    """Listed words have to begin the sentence; an intent is the sentence's."""
    if "intents" in prepared:
        return _meant(prepared, entry, sentence, "presenter").intent == "restate"
    restate = re.escape(prepared["commands"]["restate"])
    return re.match(rf"{restate}\b", sentence) is not None


def _cue(prepared: dict[str, Any], transcript: list[Entry]) -> str:
    spoken = _on(transcript, "presenter")
    if not spoken:
        return "listen"
    newest = spoken[-1]
    meant = [_meant(prepared, newest, s, "presenter").intent for s in _sentences(newest)]
    taken = any(entry["onset"] >= newest["onset"] for entry in _on(transcript, "host"))
    return "stand_by" if "hand_over" in meant and not taken else "listen"


def _meant(prepared: dict[str, Any], entry: Entry, sentence: str, speaker: str) -> Meant:
    """What a sentence of the entry means, read as words of `speaker`."""
    if "intents" in prepared:
        pages = tuple((page["id"], page["said"]) for page in prepared["deck"])
        own = entry["channel"] == speaker  # same: in answers; what is refused has its own test
        return meaning(sentence, speaker, pages, must=own and entry["final_at"] is not None)
    return _listed(prepared, speaker).get(sentence, NOTHING)


def _listed(prepared: dict[str, Any], speaker: str) -> dict[str, Meant]:
    """Every phrase that commands on this channel."""
    return {
        phrase.replace("<number>", page["said"]): Meant(
            name, page["id"] if "<number>" in phrase else "", "plain"
        )
        for name, phrase in prepared["commands"][speaker].items()
        for page in prepared["deck"]
    }


def _on(transcript: list[Entry], channel: str) -> list[Entry]:
    return [entry for entry in transcript if entry["channel"] == channel]


def _sentences(entry: Entry) -> list[str]:
    """Sentences in lower case. Provisional text holds no marks, so it stays whole."""
    pieces = [" ".join(piece.split()) for piece in re.split(r"[.?!]", entry["text"].lower())]
    return [piece for piece in pieces if piece]
