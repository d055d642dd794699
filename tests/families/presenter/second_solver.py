"""The second solver of the presenter family: written from the published rules alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Entry = dict[str, Any]
# What a sentence on a channel means: every key it has, with the slide it names or -1.
Reading = Callable[[str, str], dict[str, int]]


@dataclass
class Stage:
    """What the commands in final text have made of the stage so far."""

    mode: str
    slide: int
    clip_state: str
    opened_at: int


@dataclass(frozen=True)
class Command:
    """One command said in final text: its key, the slide it names and its tick."""

    key: str
    target: int
    tick: int


def plain(text: str) -> str:
    """Rule whole_sentence, "capitals aside"; blanks at the edges and runs of blanks are one."""
    return " ".join(text.split()).casefold()


def sentences(entry: Entry) -> list[str]:
    """Rule whole_sentence: final text is cut at . ? !, provisional text is one sentence."""
    text = str(entry["text"])
    parts = [text] if entry["final_at"] is None else re.split(r"[.?!]", text)
    return [sentence for sentence in map(plain, parts) if sentence]


def on_channel(state: dict[str, Any], channel: str) -> list[Entry]:
    """The transcript entries of one channel in listing order."""
    return [entry for entry in state["transcript"] if entry["channel"] == channel]


def phrases(prepared: dict[str, Any], channel: str) -> dict[str, tuple[str, int]]:
    """Rule authority: every phrase that commands on this channel, with its key and slide."""
    found: dict[str, tuple[str, int]] = {}
    if channel not in ("presenter", "host"):
        return found
    for key, phrase in prepared["commands"][channel].items():
        if "<number>" not in phrase:
            found[plain(phrase)] = (key, -1)
            continue
        for index, slide in enumerate(prepared["deck"]):
            found[plain(phrase.replace("<number>", slide["said"]))] = (key, index)
    return found


def restates(sentence: str, restate: str) -> bool:
    """Rule card: the sentence begins with the words of restate, as whole words."""
    return re.match(re.escape(plain(restate)) + r"(?![\w'\u2019-])", sentence) is not None


def listed_reading(prepared: dict[str, Any]) -> Reading:
    """Rules whole_sentence, authority and card: the keys a sentence has by the listed phrases."""
    known = {channel: phrases(prepared, channel) for channel in ("presenter", "host")}
    restate = str(prepared["commands"]["restate"])

    def read(channel: str, sentence: str) -> dict[str, int]:
        found = known.get(channel, {}).get(sentence)
        meant: dict[str, int] = {} if found is None else {found[0]: found[1]}
        if channel == "presenter" and restates(sentence, restate):
            meant["restate"] = -1
        return meant

    return read


def has(entry: Entry, key: str, read: Reading) -> bool:
    """Whether some sentence of the entry's current text has this key."""
    return any(key in read(str(entry["channel"]), sentence) for sentence in sentences(entry))


def commands_in_order(state: dict[str, Any], read: Reading) -> list[Command]:
    """Rule order: the commands in final text by final_at, by listing, by place in the text."""
    final = [entry for entry in state["transcript"] if entry["final_at"] is not None]
    ordered: list[Command] = []
    for entry in sorted(final, key=lambda entry: int(entry["final_at"])):
        for sentence in sentences(entry):
            for key, target in read(str(entry["channel"]), sentence).items():
                ordered.append(Command(key, target, int(entry["final_at"])))
    return ordered


def slide_command(stage: Stage, command: Command, last: int) -> None:
    """Rule slide: one step or a jump; in clip the clip is put away too."""
    target = command.target
    if command.key != "jump":
        target = stage.slide + (1 if command.key == "next" else -1)
    if not 0 <= target <= last:
        return
    stage.slide = target
    if stage.mode == "clip":
        stage.mode = "talk"


def play_command(stage: Stage, clip_slide: int) -> None:
    """Rules mode and clip: play enters the clip from talk on its slide, or plays on in clip."""
    if stage.mode == "talk" and stage.slide == clip_slide:
        stage.mode = "clip"
    if stage.mode == "clip":
        stage.clip_state = "play"


def mode_command(stage: Stage, command: Command) -> None:
    """Rules mode and clip: pause, back, open and close; what the mode forbids is lost."""
    if command.key == "pause" and stage.mode == "clip":
        stage.clip_state = "pause"
    elif command.key == "back" and stage.mode in ("clip", "questions"):
        stage.mode = "talk"
    elif command.key == "open" and stage.mode == "talk":
        stage.mode = "questions"
        stage.opened_at = command.tick
    elif command.key == "close":
        stage.mode = "closed"


def final_stage(state: dict[str, Any], read: Reading) -> Stage:
    """Rules order, mode, slide and clip: the stage after all commands in final text."""
    prepared = state["prepared"]
    ids = [slide["id"] for slide in prepared["deck"]]
    start = prepared["start"]
    stage = Stage(start["mode"], ids.index(start["slide"]), "play", int(start["tick"]))
    for command in commands_in_order(state, read):
        if stage.mode == "closed":
            break
        if command.key in ("next", "previous", "jump"):
            slide_command(stage, command, len(ids) - 1)
        elif command.key == "play":
            play_command(stage, ids.index(prepared["clip"]["slide"]))
        else:
            mode_command(stage, command)
    return stage


def captions(state: dict[str, Any]) -> str:
    """Rule captions: the channel with the highest onset, ties by caption_order."""
    order: list[str] = list(state["prepared"]["caption_order"])
    highest = max((int(entry["onset"]) for entry in state["transcript"]), default=0)
    heard = {entry["channel"] for entry in state["transcript"] if entry["onset"] == highest}
    return next((channel for channel in order if channel in heard), order[0])


def clip_state(state: dict[str, Any], stage: Stage, read: Reading) -> str:
    """Rule clip: the early pause of a provisional entry, else what the finals say."""
    if stage.mode != "clip":
        return "none"
    for entry in on_channel(state, "presenter"):
        if entry["final_at"] is None and has(entry, "pause", read):
            return "pause"
    return stage.clip_state


def question_card(state: dict[str, Any], stage: Stage, read: Reading) -> str:
    """Rule card: the newest audience entry since the opening and its restatement."""
    if stage.mode != "questions":
        return "none"
    audience = on_channel(state, "audience")
    asked = [entry for entry in audience if entry["onset"] >= stage.opened_at]
    if not asked:
        return "waiting"
    final_at = asked[-1]["final_at"]
    if final_at is None:
        return "listening"
    later = [
        entry
        for entry in on_channel(state, "presenter")
        if entry["final_at"] is not None and entry["final_at"] > final_at
    ]
    return "answer" if any(has(entry, "restate", read) for entry in later) else "repeat"


def host_cue(state: dict[str, Any], stage: Stage, read: Reading) -> str:
    """Rule cue: stand_by while the newest presenter entry hands over and no host has begun."""
    if stage.mode not in ("talk", "questions"):
        return "none"
    entries = on_channel(state, "presenter")
    if not entries or not has(entries[-1], "hand_over", read):
        return "listen"
    onset = entries[-1]["onset"]
    started = any(entry["onset"] >= onset for entry in on_channel(state, "host"))
    return "listen" if started else "stand_by"


def answers_by(state: dict[str, Any], read: Reading) -> dict[str, str]:
    """Every question's value in this state, with the sentences read as `read` does."""
    stage = final_stage(state, read)
    return {
        "mode": stage.mode,
        "slide": str(state["prepared"]["deck"][stage.slide]["id"]),
        "captions": captions(state),
        "clip_state": clip_state(state, stage, read),
        "question_card": question_card(state, stage, read),
        "host_cue": host_cue(state, stage, read),
    }


def answers(state: dict[str, Any]) -> dict[str, str]:
    """Every question's value in this state, by its listed phrases."""
    return answers_by(state, listed_reading(state["prepared"]))
