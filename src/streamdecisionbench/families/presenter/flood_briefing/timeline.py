"""Presenter B: a public briefing on a flood barrier, with a film of a test closing and a mid-talk question.

The traps of this room are people: residents who call out wishes, a chair whose microphone is muted or
who comes in too early, and a presenter who quotes the words she also uses.
"""

from __future__ import annotations

from streamdecisionbench.families.presenter.events import (
    MISTAKEN,
    TRUE,
    desk,
    final,
    log,
    partial,
    recognised,
)
from streamdecisionbench.families.presenter.flood_briefing.setting import DECK, FIELDS, PREPARED
from streamdecisionbench.families.presenter.questions import SPEC, questions
from streamdecisionbench.families.presenter.reference import reference
from streamdecisionbench.families.presenter.state import projector
from streamdecisionbench.suite.authoring import Change, Draft, Event

FORECAST: tuple[Event, ...] = (
    partial(0, "p1", "last year we had a lot of", "distractor: plain speech"),
    log(0, "operator", "Hall and stream are live, page four is up.", TRUE),
    partial(1, "p1", "last year we had a lot of trouble with the", "distractor: speech"),
    final(2, "p1", "Last year we had a lot of trouble with the overflow.", "distractor: speech"),
    partial(2, "p2", "when i", "distractor: words that break off"),
    partial(3, "p2", "when i raise my hand the next slide please", "distractor: a condition"),
    final(4, "p2", "When I raise my hand, the next slide, please.", "distractor: a condition"),
    partial(5, "p3", "let's", "distractor: presenter and resident start at one tick"),
    partial(5, "a1", "one slide", "distractor: same onset as the presenter's, who comes first"),
    final(6, "a1", "One slide further, please!", "distractor: a resident calls out a command"),
    partial(6, "p3", "let's go one slide on", "distractor: slides need final text"),
    final(7, "p3", "Let's go one slide on.", "cause: the presenter's wish is final"),
    partial(8, "p4", "on to the next slide now", "distractor: slides need final text"),
)

FILM: tuple[Event, ...] = (
    final(
        9,
        "p4",
        "On to the next slide now. Let's roll the film.",
        "cause: two commands in one final, the second lawful after the first",
    ),
    partial(9, "c1", "", "cause: the clip's sound starts with it"),
    partial(10, "c1", "gates one to six", "distractor: clip speech"),
    final(11, "c1", "Gates one to six, stand by.", "distractor: clip speech"),
    partial(11, "p5", "stop the film there", "cause: onset and early pause on current text"),
    partial(
        12,
        "p5",
        "stop the film there wrote one of",
        "cause: the sentence goes on, the pause is gone",
    ),
    partial(12, "c2", "", "cause: onset on the clip channel"),
    final(
        13,
        "p5",
        "Stop the film there, wrote one of the reviewers.",
        "distractor: a report is no wish",
    ),
    partial(13, "c2", "gate three is", "distractor: clip speech"),
    log(13, "operator", "She wants it paused, freezing it.", MISTAKEN),
    final(
        14,
        "c2",
        "Gate three is down. Hold it there, please.",
        "distractor: the crew's radio commands a crane",
    ),
    desk(14, -45, -60, -26, -22),
    partial(
        15, "p6", "please hit pause on the clip", "cause: onset and early pause on current text"
    ),
    partial(15, "h1", "thank you", "distractor: same onset as the presenter's, who comes first"),
    partial(16, "h1", "thank you let's hear your", "distractor: the chair comes in too early"),
    final(
        17, "p6", "Please hit pause on the clip.", "distractor: confirms a pause already in force"
    ),
    partial(17, "p7", "here you can see the", "distractor: plain speech"),
    partial(17, "a2", "let the", "distractor: same onset as the presenter's"),
    final(
        18,
        "h1",
        "Thank you. Let's hear your questions, please.",
        "distractor: an opening during the clip is lost",
    ),
    final(18, "a2", "Let the film run, please!", "distractor: the audience has no authority"),
    desk(18, -20, -24, -24, -90),
    final(19, "p7", "Here you can see the chain.", "distractor: plain speech"),
    partial(19, "p8", "straight to slide eight please", "distractor: slides need final text"),
    final(20, "p8", "Straight to slide eight, please.", "cause: a slide puts the clip away"),
)

QUESTION: tuple[Event, ...] = (
    log(20, "player", "Loaded, 30 ticks long.", TRUE),
    partial(20, "p9", "so much for the", "distractor: plain speech"),
    final(21, "p9", "So much for the chain.", "distractor: plain speech"),
    final(21, "p10", "So far so good.", "distractor: a short final at its onset tick"),
    partial(21, "a3", "hands up please for your", "distractor: the chair in the room microphone"),
    final(
        22,
        "a3",
        "Hands up, please, for your questions.",
        "distractor: the chair's words on the wrong channel",
    ),
    partial(22, "h2", "one moment", "cause: onset on the host channel"),
    log(22, "floor", "Chair was muted, the room microphone caught him.", TRUE),
    partial(23, "h2", "one moment hands up please for your", "distractor: opening needs a final"),
    desk(23, -41, -23, -35, -90),
    final(24, "h2", "One moment. Hands up, please, for your questions.", "cause: final opening"),
    desk(25, -41, -39, -30, -90),
    partial(26, "a4", "", "cause: an audience onset after the opening, no words yet"),
    partial(27, "a4", "who pays for the", "distractor: question in progress"),
    desk(27, -42, -58, -21, -90),
    partial(28, "p11", "thank you", "cause: the presenter starts while the question goes on"),
    partial(29, "a4", "who pays for the barrier and for the", "distractor: in progress"),
    partial(29, "p11", "thank you let me", "distractor: words that break off"),
    final(30, "a4", "Who pays for the barrier, and for the crane?", "cause: the question is final"),
    partial(31, "p11", "thank you let me repeat the question which was", "distractor: breaks off"),
    log(31, "operator", "It has been restated, the card can move on.", MISTAKEN),
    partial(
        32,
        "p11",
        "thank you let me repeat the question which was who pays for it",
        "distractor: a provisional restatement",
    ),
    desk(32, -21, -60, -38, -90),
    final(
        33,
        "p11",
        "Thank you. Let me repeat the question, which was who pays for it."
        " That question comes up every year.",
        "cause: a restatement that began before the question was final, but is final after it",
    ),
    partial(34, "p12", "over to you chair", "distractor: hands over at the host's own onset"),
    partial(34, "h3", "please come to the", "distractor: same onset, the host has started"),
    final(35, "p12", "Over to you, chair.", "distractor: the host had started at this onset"),
    final(
        35,
        "h3",
        "Please come to the microphones with your questions.",
        "distractor: questions are open already",
    ),
    final(36, "p13", "Could we see slide six?", "cause: a short wish, final at its onset tick"),
    partial(37, "p14", "i'd like to give the word back to our", "distractor: words that break off"),
    log(37, "floor", "Microphone two is back on its stand.", TRUE),
    desk(37, -22, -59, -40, -90),
    partial(
        38, "p14", "i'd like to give the word back to our chair", "cause: current text hands over"
    ),
    final(
        39,
        "p14",
        "I'd like to give the word back to our chair.",
        "distractor: no longer her newest words",
    ),
    partial(
        39, "p15", "let's roll the film", "cause: she goes on, her newest words hand nothing over"
    ),
    final(40, "p15", "Let's roll the film.", "distractor: no clip during questions"),
    log(41, "chat", "The film is on again, good.", MISTAKEN),
    partial(41, "p16", "no more questions for the", "distractor: words that break off"),
    final(
        42,
        "p16",
        "No more questions for the moment, I'll go on with my talk.",
        "cause: the presenter ends the questions",
    ),
)

CALENDAR: tuple[Event, ...] = (
    partial(43, "p17", "we spent a whole winter on the", "distractor: plain speech"),
    final(44, "p17", "We spent a whole winter on the crane.", "distractor: plain speech"),
    partial(44, "h4", "the session is closed", "cause: onset; a provisional end is none"),
    partial(
        45, "h4", "the session is closed as soon as the", "distractor: it goes on as a condition"
    ),
    desk(45, -42, -22, -37, -90),
    final(
        46,
        "h4",
        "The session is closed as soon as the coffee is here."
        " Somebody on the stream would like to see slide two again.",
        "distractor: a condition, and a wish that is only passed on",
    ),
    partial(46, "p18", "we", "cause: onset on the presenter channel"),
    final(47, "p18", "We don't need slide two for that.", "distractor: declined"),
    partial(47, "p19", "please put up", "distractor: words that break off"),
    final(48, "p19", "Please put up slide ten.", "cause: the presenter's wish is final"),
    log(49, "operator", "Still on page ten, page two stays in reserve.", TRUE),
    partial(49, "p20", "nobody had thought of the", "distractor: plain speech"),
    final(
        50, "p20", "Nobody had thought of the gauge house until it failed.", "distractor: speech"
    ),
    partial(50, "p21", "one slide back please", "distractor: slides need final text"),
    partial(51, "p21", "one slide back please over to our", "distractor: words that break off"),
    final(
        52,
        "p21",
        "One slide back, please. Over to our chair.",
        "cause: two commands in one final: the slide moves and she hands over",
    ),
    log(53, "floor", "Chair is already speaking, his microphone is up.", MISTAKEN),
    desk(54, -44, -30, -36, -90),
    partial(55, "h5", "thank you all we're", "cause: the host's onset ends stand-by"),
    final(56, "h5", "Thank you all, we're done for today.", "cause: the end is final"),
    desk(56, -43, -21, -34, -90),
    partial(57, "h6", "does anybody have a", "distractor: nothing counts after closing"),
    final(58, "h6", "Does anybody have a question for our speaker?", "distractor: too late"),
    log(58, "floor", "Two hands are up, taking the microphone there.", MISTAKEN),
    log(59, "operator", "Stream slate is up.", TRUE),
)

CHANGES: tuple[Change, ...] = (
    Change(7, ("slide",), "'Let's go one slide on.' became final on the presenter channel"),
    Change(
        9,
        ("mode", "slide", "captions", "host_cue", "clip_state"),
        "one final asked for the next slide and for the film, whose sound started",
    ),
    Change(11, ("captions", "clip_state"), "the presenter started with a provisional pause"),
    Change(12, ("captions", "clip_state"), "the pause was a quotation, and the clip spoke again"),
    Change(15, ("captions", "clip_state"), "the presenter started and wants the film to stop"),
    Change(
        20,
        ("mode", "slide", "host_cue", "clip_state"),
        "'Straight to slide eight, please.' became final in clip mode and put the clip away",
    ),
    Change(22, ("captions",), "the host started on his own microphone"),
    Change(24, ("mode", "question_card"), "the opening became final on the host channel"),
    Change(26, ("captions", "question_card"), "a question from the floor started"),
    Change(28, ("captions",), "the presenter started while the question went on"),
    Change(30, ("question_card",), "the question became final"),
    Change(33, ("question_card",), "the restatement became final"),
    Change(36, ("slide",), "'Could we see slide six?' started and became final"),
    Change(38, ("host_cue",), "current text gives the floor to the chair"),
    Change(39, ("host_cue",), "the presenter went on with something else"),
    Change(42, ("mode", "question_card"), "she went back to her talk in final words"),
    Change(44, ("captions",), "the host started to speak"),
    Change(46, ("captions",), "the presenter started"),
    Change(48, ("slide",), "'Please put up slide ten.' became final"),
    Change(52, ("slide", "host_cue"), "one final moved the slide back and handed over"),
    Change(55, ("captions", "host_cue"), "the host started to speak"),
    Change(56, ("mode", "host_cue"), "the end of the session became final on the host channel"),
)

DRAFT = Draft(
    scenario_id="presenter_b",
    task_family="presenter_voice_control",
    title="Flood-barrier briefing with a clip and a mid-talk question",
    questions=questions(DECK),
    decision_spec=SPEC,
    events=recognised(*FORECAST, *FILM, *QUESTION, *CALENDAR),
    changes=CHANGES,
    project=projector(PREPARED, FIELDS),
    reference=reference,
)
