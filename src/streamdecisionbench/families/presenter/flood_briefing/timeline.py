"""Presenter B: a public briefing on a flood barrier, with a silent animation and a mid-talk question.

The traps of this room are people: residents who heckle in command form, a chair who passes on wishes,
and a presenter who quotes the phrases she also uses.
"""

from __future__ import annotations

from streamdecisionbench.families.presenter.events import desk, final, log, partial
from streamdecisionbench.families.presenter.flood_briefing.setting import DECK, FIELDS, PREPARED
from streamdecisionbench.families.presenter.questions import SPEC, questions
from streamdecisionbench.families.presenter.reference import reference
from streamdecisionbench.families.presenter.state import projector
from streamdecisionbench.suite.authoring import Change, Draft, Event

__all__ = ["DRAFT"]

EVENTS: tuple[Event, ...] = (
    partial(0, "p1", "the forecast reaches us from", "distractor: plain speech"),
    log(0, "operator", "Hall and stream are live, page six is up."),
    final(1, "p1", "The forecast reaches us from the harbour office.", "distractor: plain speech"),
    partial(2, "p2", "next slide", "distractor: slide commands need final text"),
    partial(3, "p2", "next slide shows the closing", "distractor: it was the start of a sentence"),
    final(
        4,
        "p2",
        "Next slide shows the closing, but first the warning times.",
        "distractor: a longer sentence that begins like a command",
    ),
    partial(
        5, "p3", "nine hours on a spring", "distractor: presenter and heckler start at one tick"
    ),
    partial(5, "a1", "next", "distractor: same onset as the presenter, who comes first"),
    final(6, "p3", "Nine hours on a spring tide, five in a north-westerly.", "distractor: speech"),
    final(6, "a1", "Next slide!", "distractor: a heckler utters a command in perfect form"),
    partial(6, "p4", "next slide", "distractor: slide commands need final text"),
    final(7, "p4", "Next slide.", "cause: final slide command by the presenter"),
    partial(8, "p5", "play the clip", "distractor: playing has no early form"),
    final(9, "p5", "Play the clip.", "cause: final play command on the clip's slide"),
    partial(10, "p6", "watch gate three on the", "distractor: plain speech over the animation"),
    log(10, "player", "First frame out, file has no sound track."),
    final(11, "p6", "Watch gate three on the left.", "distractor: plain speech"),
    partial(11, "p7", "pause the clip", "cause: early pause on current text"),
    log(12, "chat", "Picture is fine here, is there meant to be sound?"),
    partial(
        12,
        "p7",
        "pause the clip anywhere and the",
        "cause: the sentence goes on, the pause is gone",
    ),
    final(
        13,
        "p7",
        "Pause the clip anywhere and the river stays below the line.",
        "distractor: final text without a command",
    ),
    log(14, "operator", "Heard her say pause, should I freeze it by hand?"),
    desk(14, -45, -60, -26, -90),
    partial(15, "p8", "pause the clip", "cause: early pause on current text"),
    final(16, "p8", "Pause the clip.", "distractor: the final confirms a pause already in force"),
    partial(
        17, "p9", "this is the frame where", "distractor: presenter and heckler start at one tick"
    ),
    partial(17, "a2", "play the clip", "distractor: same onset as the presenter, who comes first"),
    final(18, "a2", "Play the clip!", "distractor: the audience has no authority"),
    desk(18, -20, -60, -24, -90),
    final(
        19,
        "p9",
        "This is the frame where somebody always shouts play the clip, bear with me.",
        "distractor: a quoted command in a longer sentence",
    ),
    partial(19, "p10", "next slide", "distractor: slide commands need final text"),
    final(20, "p10", "Next slide.", "cause: a slide command in clip puts the clip away"),
    log(21, "player", "Decoder idle, 5 of 30 ticks shown."),
    partial(21, "p11", "each gate hangs on two", "distractor: plain speech"),
    final(
        22,
        "p11",
        "Each gate hangs on two chains. The question is which one wears first.",
        "distractor: restatement words before any question was asked",
    ),
    partial(22, "h1", "maren may i", "cause: onset on the host channel"),
    partial(
        23, "h1", "maren may i come in here questions are open", "distractor: opening needs a final"
    ),
    desk(23, -41, -23, -35, -90),
    final(
        24,
        "h1",
        "Maren, may I come in here? Questions are open.",
        "cause: final opening by the host",
    ),
    log(25, "floor", "Roving microphone on its way to the balcony."),
    partial(26, "a3", "", "cause: audience onset after the opening, no words yet"),
    partial(27, "a3", "what if the power goes while", "distractor: question in progress"),
    desk(27, -42, -58, -21, -90),
    final(
        28,
        "a3",
        "What if the power goes while the gates come down?",
        "cause: the question is final",
    ),
    log(29, "chat", "Go to slide eleven please, we live on Weir Lane."),
    partial(30, "p12", "thank you that one", "cause: onset on the presenter channel"),
    final(
        31, "p12", "Thank you, that one comes every winter.", "distractor: thanks, no restatement"
    ),
    partial(31, "p13", "the question is", "distractor: a provisional restatement"),
    partial(
        32, "p13", "the question is what happens in a", "distractor: a provisional restatement"
    ),
    desk(32, -21, -60, -38, -90),
    final(33, "p13", "The question is what happens in a power cut.", "cause: final restatement"),
    log(34, "operator", "Chair wants this short, next question after it."),
    partial(34, "p14", "the hoists have their own", "distractor: plain speech"),
    final(
        35,
        "p14",
        "The hoists have their own diesel, and we tested it in October.",
        "distractor: speech",
    ),
    partial(35, "p15", "go to slide ten", "distractor: slide commands need final text"),
    final(36, "p15", "Go to slide ten.", "cause: final slide command during questions"),
    partial(37, "p16", "this dip is the test", "distractor: plain speech"),
    final(38, "p16", "This dip is the test run.", "distractor: plain speech"),
    partial(38, "p17", "back to the chair", "cause: the first hypothesis is the handover phrase"),
    partial(
        39, "p17", "back to the chain hoists", "cause: the revision was a chain, not the chair"
    ),
    final(40, "p17", "Back to the chain hoists, they held all night.", "distractor: no command"),
    log(41, "chat", "Is the session closed? The stream froze for me."),
    partial(41, "p18", "back to the talk", "distractor: leaving questions needs final text"),
    final(
        42, "p18", "Back to the talk.", "cause: final command of the presenter ends the questions"
    ),
    partial(43, "p19", "so the calendar", "distractor: plain speech"),
    final(44, "p19", "So, the calendar.", "distractor: plain speech"),
    partial(
        44, "h2", "the session is closed", "cause: onset only; a provisional closing closes nothing"
    ),
    partial(
        45,
        "h2",
        "the session is close to time and someone online would like the budget go to",
        "distractor: it was never a closing",
    ),
    desk(45, -42, -22, -37, -90),
    final(
        46,
        "h2",
        "The session is close to time, and someone online would like the budget. Go to slide four.",
        "distractor: the chair relays a request in perfect form; only the presenter moves slides",
    ),
    partial(46, "p20", "i would rather not", "cause: onset on the presenter channel"),
    final(
        47,
        "p20",
        "I would rather not go to slide four, council sees it first.",
        "distractor: declined",
    ),
    partial(47, "p21", "previous slide", "distractor: slide commands need final text"),
    final(48, "p21", "Previous slide.", "cause: final slide command"),
    log(49, "operator", "Page four is ready if she changes her mind."),
    partial(49, "p22", "each may we lift", "distractor: plain speech"),
    desk(50, -21, -59, -37, -90),
    final(
        51,
        "p22",
        "Each May we lift a gate out, and the report goes back to the chair of the trust.",
        "distractor: the handover words inside a longer sentence",
    ),
    partial(52, "p23", "back to the chair", "cause: handover in current text"),
    final(53, "p23", "Back to the chair.", "distractor: the final confirms, and closes nothing"),
    log(54, "floor", "Chair's microphone up again, he is looking for his notes."),
    desk(54, -44, -30, -36, -90),
    partial(55, "h3", "thank you maren the session is closed", "cause: host onset ends stand-by"),
    final(56, "h3", "Thank you, Maren. The session is closed.", "cause: final closing by the host"),
    desk(56, -43, -21, -34, -90),
    partial(57, "h4", "questions are open", "distractor: nothing counts after closing"),
    log(58, "operator", "Stream slate is up."),
    final(
        59,
        "h4",
        "Questions are open at the desk by the door.",
        "distractor: no command, and too late",
    ),
)

CHANGES: tuple[Change, ...] = (
    Change(7, ("slide",), "'Next slide.' became final on the presenter channel"),
    Change(
        9, ("mode", "host_cue", "clip_state"), "'Play the clip.' became final on the clip's slide"
    ),
    Change(11, ("clip_state",), "current text is the pause phrase"),
    Change(12, ("clip_state",), "the sentence went on, so the early pause is gone"),
    Change(15, ("clip_state",), "current text is the pause phrase"),
    Change(
        20,
        ("mode", "slide", "host_cue", "clip_state"),
        "'Next slide.' became final in clip mode: the slide moves and the clip is put away",
    ),
    Change(22, ("captions",), "the host started to speak"),
    Change(24, ("mode", "question_card"), "'Questions are open.' became final on the host channel"),
    Change(26, ("captions", "question_card"), "a question from the floor started"),
    Change(28, ("question_card",), "the question became final"),
    Change(30, ("captions",), "the presenter started"),
    Change(33, ("question_card",), "the restatement became final"),
    Change(36, ("slide",), "'Go to slide ten.' became final"),
    Change(38, ("host_cue",), "current text is the handover phrase"),
    Change(39, ("host_cue",), "the hypothesis was revised to chain hoists"),
    Change(42, ("mode", "question_card"), "'Back to the talk.' became final"),
    Change(44, ("captions",), "the host started to speak"),
    Change(46, ("captions",), "the presenter started"),
    Change(48, ("slide",), "'Previous slide.' became final"),
    Change(52, ("host_cue",), "current text is the handover phrase"),
    Change(55, ("captions", "host_cue"), "the host started to speak"),
    Change(56, ("mode", "host_cue"), "'The session is closed.' became final on the host channel"),
)

DRAFT = Draft(
    scenario_id="presenter_b",
    task_family="presenter_voice_control",
    title="Flood-barrier briefing with a clip and a mid-talk question",
    questions=questions(DECK),
    decision_spec=SPEC,
    events=EVENTS,
    changes=CHANGES,
    project=projector(PREPARED, FIELDS),
    reference=reference,
)
