"""The public law of the presenter desk: one text per rule id, the same in every scenario of a wording.

Every state carries these texts. Names such as `prepared.clip.slide` point into the same state, so the
texts hold for any deck, clip and opening position.
"""

from __future__ import annotations

from typing import Any

_CARD = (
    "question_card, in questions mode only. It follows the newest audience entry with an onset at or"
    " after the tick at which the present questions mode began (the same tick counts): the final_at,"
    " not the onset, of the opening that led to it; an opening said while questions are open is none."
    " An entry that started earlier never counts, even if it becomes final later. No such entry:"
    " waiting. It is provisional: listening, even with empty text. It is final: repeat, until a presenter"
    " entry whose final_at is later than the question's final_at (the same tick does not count) has a"
    " sentence"
)
"""When a card listens and when it asks for a repeat; what ends the repeat depends on the wording."""

RULES: dict[str, str] = {
    "transcript": (
        "A streaming recogniser writes the transcript from four channels: presenter (lapel microphone),"
        " host (the session chair's microphone), audience (room and roving microphones) and clip (the"
        " sound of the clip player). An entry appears at its onset, the tick a voice starts, and keeps id,"
        " channel and onset. Entries are listed in order of onset; newest means listed last. While"
        " final_at is null the text is provisional: lower case, without any mark but apostrophes, perhaps"
        " still empty, and overwritten by each new hypothesis, so wording that is gone has no standing. Once final_at"
        " holds a tick the text is final and never changes; that can be its onset tick. Final text writes"
        " numbers as words and knows no quotation marks, dashes or colons."
    ),
    "tiers": (
        "Evidence has three strengths. An onset is enough for captions and for the listening card. Current"
        " text, what an entry shows now, is enough for the early pause (provisional text only, rule clip)"
        " and for the stand-by cue (provisional or final text); when a revision removes the phrase, its"
        " effect goes with it. Mode, slide, the lasting play and pause of the clip, the repeat and"
        " answer cards, opening and closing need final text and take effect at the tick in final_at."
    ),
    "whole_sentence": (
        "A command is a whole sentence. Final text is cut into sentences at every full stop, question mark"
        " and exclamation mark and nowhere else; provisional text has none of these and is a single sentence"
        " from first to last word. A sentence is a command only if, capitals aside, it is exactly one phrase of"
        " prepared.commands, where <number> is the `said` word of a slide in the deck. With a word more, or"
        " with a comma, it is no command; nor is a paraphrase, or a phrase quoted or mentioned within a"
        " longer sentence. A final may hold several sentences; each one that is a command counts. The words"
        " in prepared.commands.restate are no command: a sentence only has to begin with them, as whole words"
        " and whatever follows (rule card)."
    ),
    "authority": (
        "The channel decides who may command. Phrases under prepared.commands.presenter count on the"
        " presenter channel only, those under prepared.commands.host on the host channel only. Words on"
        " the audience and clip channels command nothing, whoever speaks them."
    ),
    "order": (
        "Start from prepared.start and apply the commands in final text by final_at, then by listing,"
        " then as they follow in the text. A command that its mode or slide does not allow is lost, not"
        " kept for later."
    ),
    "mode": (
        "From talk, the presenter's 'play the clip' leads to clip if the slide at that moment is"
        " prepared.clip.slide, and the host's 'questions are open' leads to questions. From clip or"
        " questions, the presenter's 'back to the talk' leads to talk. From any mode, the host's 'the"
        " session is closed' leads to closed, and after it no command does anything. Nothing else changes"
        " the mode, apart from slide commands in clip (rule slide). 'play the clip' does nothing in"
        " questions or, in talk, on another slide; 'questions are open' does nothing in clip or in"
        " questions. In clip, play and pause commands keep the mode and set clip_state (rule clip)."
    ),
    "slide": (
        "'next slide' and 'previous slide' go one step in deck order, 'go to slide <number>' goes to"
        " the slide said that way. They work in talk, questions and clip. In clip they also put the clip"
        " away: the mode is talk from the same tick, even if the slide named is already showing. 'next"
        " slide' on the last slide and 'previous slide' on the first do nothing at all. The final words"
        " rule, even where an earlier hypothesis or the speaker's intention was another number; only a"
        " further command corrects the screen."
    ),
    "clip": (
        "clip_state, in clip mode only. Entering the mode sets play; after that the presenter's final"
        " 'pause the clip' sets pause and final 'play the clip' sets play, and the latest of these holds."
        " Early pause: as long as any presenter entry is provisional and its current text is exactly"
        " 'pause the clip', clip_state is pause whatever the finals say. If that entry turns into anything"
        " else, clip_state is at once what the finals say. Playing has no early form."
    ),
    "captions": (
        "In every mode including closed, captions carry the channel of the entry with the highest onset, with or"
        " without text, provisional or final, command or not. They stay there after the voice stops. If"
        " several entries share the highest onset, the channel that stands first in"
        " prepared.caption_order is shown."
    ),
    "card": (
        f"{_CARD} that begins, capitals aside, with the words in prepared.commands.restate; then answer."
        " What matters is when the restatement became final, not when it started. Nothing else leads from"
        " repeat to answer, and what the question says does not matter."
    ),
    "cue": (
        "host_cue, in talk and questions only. It is stand_by if, in the current text of the newest"
        " presenter entry, some whole sentence is the phrase 'back to the chair' and no host entry has an"
        " onset at or after that entry's onset (the same tick counts as the host having started)."
        " Otherwise it is listen. Handing over changes no mode: it neither opens questions nor closes the"
        " session."
    ),
    "side": (
        "Of what happens only the transcript decides, and in it not the recogniser's confidence. Levels (read"
        " now and then, last at the tick in `at`), clip player, clicker and every line of the side log change"
        " no answer, whatever they report, ask or assume."
    ),
    "none": (
        "none is the answer of a question that the mode does not use: clip_state outside clip,"
        " question_card outside questions, host_cue in clip and in closed."
    ),
}

COMMANDS: dict[str, Any] = {
    "presenter": {
        "next": "next slide",
        "previous": "previous slide",
        "jump": "go to slide <number>",
        "play": "play the clip",
        "pause": "pause the clip",
        "back": "back to the talk",
        "hand_over": "back to the chair",
    },
    "host": {"open": "questions are open", "close": "the session is closed"},
    "restate": "the question is",
}
"""The phrases the rules refer to as `prepared.commands`. The reference reads them from the state."""

INTENT_RULE = (
    "prepared.intents says what a speaker can mean; the meaning counts, in whatever words. Final text is"
    " cut into sentences at every full stop, question mark and exclamation mark, and each sentence is read"
    " by itself. A sentence has an intent only if the speaker expresses it as his own, now and without"
    " reserve. It has none if it makes it depend on something (if, unless, once, when, as soon as), if it"
    " puts it off until later, if it only asks for information (unless asking is the intent itself), if it"
    " passes on what somebody says, wrote or once said, himself at another time included (unless passing"
    " it on is the intent itself), or if it is about something else. A request put as a question (could"
    " we …?) is a request. Saying that something is not so or not to be done is no intent. If the speaker"
    " corrects himself within a sentence, only what he ends on counts. Provisional text is one sentence"
    " without its marks, from first to last word: it has an intent only if it is complete as it stands (a"
    " short form without a verb can be) and has that intent; words that break off, so that more has to"
    " follow, have none."
)
"""How sentences are read where prepared.intents stands in the place of listed phrases."""

INTENTS: dict[str, dict[str, str]] = {
    "presenter": {
        "next": "wants the slide after the one showing",
        "previous": "wants the slide before the one showing",
        "jump": "wants the slide whose number is named",
        "play": "wants the clip (film, video, recording, footage) to start or to run on",
        "pause": "wants the clip to stand still where it is",
        "back": "wants to leave the clip or the questions and go on with the talk",
        "hand_over": "gives the word to the chair, who is also called host or moderator",
        "restate": (
            "says what has just been asked from the audience; thanking, answering or asking back is"
            " not enough"
        ),
    },
    "host": {
        "open": "invites the audience to ask questions now, be it by asking who has one",
        "close": "ends the session",
    },
}
"""What the rules refer to as `prepared.intents`."""

FREE_RULES: dict[str, str] = {
    "transcript": RULES["transcript"],
    "tiers": (
        "Evidence has three strengths. An onset is enough for captions and for the listening card. Current"
        " text, what an entry shows now, is enough for the early pause (provisional text only, rule clip)"
        " and for the stand-by cue (provisional or final text); when a revision removes the intent, its"
        " effect goes with it. Mode, slide, the lasting play and pause of the clip, the repeat and"
        " answer cards, opening and closing need final text and take effect at the tick in final_at."
    ),
    "intents": INTENT_RULE,
    "authority": (
        "A sentence with an intent is a command. The channel decides who may command: intents under"
        " prepared.intents.presenter count on the presenter channel only, those under"
        " prepared.intents.host on the host channel only. Words on the audience and clip channels command"
        " nothing, whoever speaks them."
    ),
    "order": RULES["order"],
    "mode": (
        "From talk, the presenter's play leads to clip if the slide at that moment is prepared.clip.slide,"
        " and the host's open leads to questions. From clip or questions, the presenter's back leads to"
        " talk. From any mode, the host's close leads to closed, and after it no command does anything."
        " Nothing else changes the mode, apart from slide commands in clip (rule slide). play does nothing"
        " in questions or, in talk, on another slide; open does nothing in clip or in questions. In clip,"
        " play and pause keep the mode and set clip_state (rule clip)."
    ),
    "slide": (
        "next and previous go one step in deck order, jump goes to the slide whose `said` word in the deck"
        " is the number named. They work in talk, questions and clip; in clip they also put the clip away:"
        " the mode is talk from the same tick, even if the slide named is already showing. next on the last"
        " slide and previous on the first do nothing at all. The final words rule, even where an earlier"
        " hypothesis or the speaker's wish was another slide; only a further command corrects the screen."
    ),
    "clip": (
        "clip_state, in clip mode only. Entering the mode sets play; after that the presenter's final pause"
        " sets pause and final play sets play, and the latest of these holds. Early pause: as long as any"
        " presenter entry is provisional and its current text has the intent pause, clip_state is pause"
        " whatever the finals say. If that entry turns into anything else, clip_state is at once what the"
        " finals say. Playing has no early form."
    ),
    "captions": RULES["captions"],
    "card": (
        f"{_CARD} with the intent restate; then answer. What matters is when the restatement became final,"
        " not when it started. Nothing else leads from repeat to answer; neither what the question says"
        " matters nor whether the restatement is true to it."
    ),
    "cue": (
        "host_cue, in talk and questions only. It is stand_by if, in the current text of the newest"
        " presenter entry, some sentence has the intent hand_over and no host entry has an onset at or"
        " after that entry's onset (the same tick counts as the host having started). Otherwise it is"
        " listen. Handing over changes no mode: it neither opens questions nor closes the session."
    ),
    "side": RULES["side"],
    "none": RULES["none"],
}
"""The law of halls where people use their own words."""
