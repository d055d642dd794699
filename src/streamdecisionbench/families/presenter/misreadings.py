"""How each rule of the presenter desk is misread, as a change to the reference's source."""

from __future__ import annotations

from streamdecisionbench.suite.misreading import Misreading

__all__ = ["MISREADINGS"]

_BY_FINAL = 'key=lambda final: final["final_at"]'
_EARLY = 'entry["final_at"] is None and entry["text"] == phrase'

MISREADINGS: tuple[Misreading, ...] = (
    Misreading("transcript", "takes the latest to become final for the newest", ((
        "question = asked[-1]",
        'question = max(asked, key=lambda e: -1 if e["final_at"] is None else e["final_at"])',
    ),)),
    Misreading("tiers", "obeys commands before they are final", (
        ('finals = [entry for entry in transcript if entry["final_at"] is not None]',
         "finals = list(transcript)"),
        (_BY_FINAL,
         'key=lambda final: final["onset"] if final["final_at"] is None else final["final_at"]'),
    )),
    Misreading("tiers", "pauses only on final text", ((_EARLY, "False"),)),
    Misreading("tiers", "gives stand-by only on final text", (
        ("if not spoken or hand_over", 'if not spoken or spoken[-1]["final_at"] is None or hand_over'),
    )),
    Misreading("whole_sentence", "obeys a command inside a longer sentence", (
        ('if sentence == commands["next"]:', 'if commands["next"] in sentence:'),
    )),
    Misreading("whole_sentence", "obeys only a final that is one sentence", (
        ("for sentence in _sentences(entry):",
         'for sentence in [" ".join(_sentences(entry)).strip()]:'),
    )),
    Misreading("authority", "lets anybody give the presenter's commands", (
        ('if entry["channel"] == "presenter":', "if True:"),
    )),
    Misreading("authority", "lets anybody give the host's commands", (
        ('if entry["channel"] == "host":', "if True:"),
    )),
    Misreading("order", "applies commands in the order they began", (
        (_BY_FINAL, 'key=lambda final: final["onset"]'),
    )),
    Misreading("mode", "plays the clip on any slide", (
        ('(stage.mode == "talk" and on_slide)', 'stage.mode == "talk"'),
    )),
    Misreading("mode", "keeps obeying after the close", (
        ('            if stage.mode == "closed":', "            if False:"),
    )),
    Misreading("mode", "opens questions in any mode", (
        ('commands["open"] and stage.mode == "talk":', 'commands["open"]:'),
    )),
    Misreading("slide", "keeps the clip on when the slide moves", (
        ('        if stage.mode == "clip":\n            stage.mode = "talk"', "        pass"),
    )),
    Misreading("slide", "does not know slides by number", (
        ("return asked.get(sentence)", "return None"),
    )),
    Misreading("clip", "forgets a final pause", (
        ('        stage.clip = "pause"  #', "        pass  #"),
    )),
    Misreading("clip", "pauses early for a sentence that only begins so", (
        (_EARLY, _EARLY.replace('entry["text"] == phrase', 'entry["text"].startswith(phrase)')),
    )),
    Misreading("captions", "breaks ties the other way round", (
        ("for channel in order if", "for channel in reversed(order) if"),
    )),
    Misreading("captions", "waits for words", ((
        'max(entry["onset"] for entry in transcript)',
        'max(entry["onset"] for entry in transcript if entry["text"])',
    ),)),
    Misreading("card", "takes voices from before the opening for questions", (
        ('if entry["onset"] >= opened]', "]"),
    )),
    Misreading("card", "takes any later word of the presenter for a restatement", (
        (r'any(re.match(rf"{re.escape(restate)}\b", sentence) for sentence in spoken)', "spoken"),
    )),
    Misreading("card", "asks for a repeat while the question is still spoken", (
        ('        return "listening"', '        return "repeat"'),
    )),
    Misreading("cue", "keeps stand-by after the host has started", (
        ('return "listen" if taken else "stand_by"', 'return "stand_by"'),
    )),
    Misreading("cue", "takes any earlier word of the host for the hand-over", (
        ('any(entry["onset"] >= spoken[-1]["onset"] for entry in _on(transcript, "host"))',
         'bool(_on(transcript, "host"))'),
    )),
    Misreading("side", "lets captions follow the loudest channel", ((
        '_captions(transcript, prepared["caption_order"])',
        'max(prepared["caption_order"], key=lambda c: state["desk"]["levels_db"][c])',
    ),)),
    Misreading("none", "fills in what the mode does not use", (
        ('"clip_state": "none",', '"clip_state": "play",'),
    ), answers_only=True),
)  # fmt: skip
