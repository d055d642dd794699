"""How each rule of the presenter desk is misread, as a change to the reference's source."""

from __future__ import annotations

from streamdecisionbench.suite.misreading import Misreading

_BY_FINAL = 'key=lambda final: final["final_at"]'
_EARLY = '_meant(prepared, entry, entry["text"], "presenter").intent == "pause"'
_BEGINS = f"any({_EARLY} for words in [entry['text'].split()] for k in range(len(words)))".replace(
    'entry["text"]', '" ".join(words[: k + 1])'
)
_NEWEST = "for s in _sentences(newest)]"
_LISTED = "return _listed(prepared, speaker).get(sentence, NOTHING)"

_MEANING = (
    '        return meaning(sentence, speaker, pages, must=own and entry["final_at"] is not None)'
)
_FOUND = _MEANING.replace("return", "found =")
_FIRST = """
        if found.manner == "correction":
            item = next((page for page, _ in pages if page != found.item), "") if found.item else ""
            return Meant(found.before, item, "plain")
        return found"""
_BELIEVED = """
        if found.manner in {manners}:
            return Meant("{intent}", "", "plain")
        return found"""
_ONLY_SOUNDS = ("condition", "question", "reported")

_WAITS = """
        else:
            stage.waiting = True"""
_STARTS = """
        if getattr(stage, "waiting", False) and stage.slide == prepared["clip"]["slide"]:
            stage.mode, stage.clip, stage.waiting = "clip", "play", False"""
_ANY_WORDS = 'for entry in _on(transcript, "presenter")\n    )'
_LATER = 'entry["final_at"] > question["final_at"]'
_OPENS = 'meant.intent == "open" and stage.mode == "talk":'
_PLAYS = 'stage.mode, stage.clip = "clip", "play"'
_PUTS_AWAY = '        if stage.mode == "clip":\n            stage.mode = "talk"'

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
        (_NEWEST, _NEWEST.replace("]", ' if newest["final_at"] is not None]')),
    )),
    Misreading("whole_sentence", "obeys a command inside a longer sentence", ((
        _LISTED,
        "return next((m for phrase, m in _listed(prepared, speaker).items()"
        ' if phrase == sentence or (m.intent == "next" and phrase in sentence)), NOTHING)',
    ),), wording="listed"),
    Misreading("whole_sentence", "obeys only a final that is one sentence", (
        ("for sentence in _sentences(entry):",
         'for sentence in [" ".join(_sentences(entry)).strip()]:'),
    ), wording="listed"),
    Misreading("intents", "reads only the first sentence of a final", (
        ("for sentence in _sentences(entry):", "for sentence in _sentences(entry)[:1]:"),
    ), wording="free"),
    Misreading("intents", "keeps to what was said before the correction", (
        (_MEANING, _FOUND + _FIRST),
    ), wording="free"),
    Misreading("intents", "takes conditions, questions and reports for a hand-over", (
        (_MEANING, _FOUND + _BELIEVED.format(manners=_ONLY_SOUNDS, intent="hand_over")),
    ), wording="free"),
    Misreading("intents", "takes conditions, questions and reports for an opening", (
        (_MEANING, _FOUND + _BELIEVED.format(manners=_ONLY_SOUNDS, intent="open")),
    ), wording="free"),
    Misreading("intents", "takes what is not to be done for a wish", (
        (_MEANING, _FOUND + _BELIEVED.format(manners=("negation",), intent="next")),
    ), wording="free"),
    Misreading("authority", "lets anybody give the presenter's commands", (
        ('if entry["channel"] == "presenter":', "if True:"),
    )),
    Misreading("authority", "lets anybody give the host's commands", (
        ('if entry["channel"] == "host":', "if True:"),
    )),
    Misreading("order", "applies commands in the order they began", (
        (_BY_FINAL, 'key=lambda final: final["onset"]'),
    )),
    Misreading("order", "reads the sentences of a final from the last to the first", (
        ("for sentence in _sentences(entry):", "for sentence in _sentences(entry)[::-1]:"),
    )),
    Misreading("order", "keeps a play that the slide did not allow for later", (
        (_PLAYS, _PLAYS + _WAITS),
        (_PUTS_AWAY, _PUTS_AWAY + _STARTS),
    )),
    Misreading("mode", "plays the clip on any slide", (
        ('(stage.mode == "talk" and on_slide)', 'stage.mode == "talk"'),
    )),
    Misreading("mode", "keeps obeying after the close", (
        ('            if stage.mode == "closed":', "            if False:"),
    )),
    Misreading("mode", "plays the clip during questions", (
        ('(stage.mode == "talk" and on_slide)', '(stage.mode in ("talk", "questions") and on_slide)'),
    )),
    Misreading("mode", "opens questions during the clip", (
        (_OPENS, _OPENS.replace('== "talk"', 'in ("talk", "clip")')),
    )),
    Misreading("mode", "opens questions anew while they are open", (
        (_OPENS, _OPENS.replace('== "talk"', 'in ("talk", "questions")')),
    )),
    Misreading("slide", "keeps the clip on when the slide moves", (
        ('        if stage.mode == "clip":\n            stage.mode = "talk"', "        pass"),
    )),
    Misreading("slide", "does not know slides by number", (
        ("return meant.item or None", "return None"),
    )),
    Misreading("slide", "goes round at the ends of the deck", (
        ("dict(pairwise(deck))", "dict(pairwise([*deck, deck[0]]))"),
        ("dict(pairwise(deck[::-1]))", "dict(pairwise([*deck[::-1], deck[-1]]))"),
    )),
    Misreading("clip", "forgets a final pause", (
        ('        stage.clip = "pause"  #', "        pass  #"),
    )),
    Misreading("clip", "pauses early for a sentence that only begins so", (
        (_EARLY, _BEGINS),
    )),
    Misreading("clip", "looks for the early pause in the newest words alone", (
        (_ANY_WORDS, _ANY_WORDS.replace('"presenter")', '"presenter")[-1:]')),
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
    Misreading("card", "does not count a voice that starts with the opening", (
        ('if entry["onset"] >= opened]', 'if entry["onset"] > opened]'),
    )),
    Misreading("card", "stays with the first question", (
        ("question = asked[-1]", "question = asked[0]"),
    )),
    Misreading("card", "takes a restatement at the tick of the question", (
        (_LATER, _LATER.replace(">", ">=")),
    )),
    Misreading("card", "wants a restatement that began after the question", (
        (_LATER, _LATER.replace('entry["final_at"] >', 'entry["onset"] >')),
    )),
    Misreading("card", "takes any later word of the presenter for a restatement", (
        ("any(_restates(prepared, entry, s) for entry in later for s in _sentences(entry))", "later"),
    )),
    Misreading("card", "asks for a repeat while the question is still spoken", (
        ('        return "listening"', '        return "repeat"'),
    )),
    Misreading("cue", "keeps stand-by after the host has started", (
        (' and not taken else "listen"', ' else "listen"'),
    )),
    Misreading("cue", "takes any earlier word of the host for the hand-over", (
        ('any(entry["onset"] >= newest["onset"] for entry in _on(transcript, "host"))',
         'bool(_on(transcript, "host"))'),
    )),
    Misreading("cue", "keeps stand-by when the host starts at the same tick", (
        ('entry["onset"] >= newest["onset"]', 'entry["onset"] > newest["onset"]'),
    )),
    Misreading("cue", "keeps stand-by when the presenter goes on", (
        ("for s in _sentences(newest)]", "for e in spoken for s in _sentences(e)]"),
    )),
    Misreading("side", "lets captions follow the loudest channel", ((
        '_captions(transcript, prepared["caption_order"])',
        'max(prepared["caption_order"], key=lambda c: state["desk"]["levels_db"][c])',
    ),)),
    Misreading("none", "fills in what the mode does not use", (
        ('"clip_state": "none",', '"clip_state": "play",'),
    ), answers_only=True),
)  # fmt: skip
