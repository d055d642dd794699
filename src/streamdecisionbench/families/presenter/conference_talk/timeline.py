"""Presenter A: a conference talk on hands-free microscopy, with a demonstration clip that talks too.

The trap of this room is its subject: people in it, and in its clip, speak commands to a microscope.
"""

from __future__ import annotations

from streamdecisionbench.families.presenter.conference_talk.setting import DECK, FIELDS, PREPARED
from streamdecisionbench.families.presenter.events import desk, final, log, partial
from streamdecisionbench.families.presenter.questions import SPEC, questions
from streamdecisionbench.families.presenter.reference import reference
from streamdecisionbench.families.presenter.state import projector
from streamdecisionbench.suite.authoring import Change, Draft, Event

__all__ = ["DRAFT"]

EVENTS: tuple[Event, ...] = (
    partial(0, "p1", "so what did the lab ask us for", "distractor: plain speech"),
    log(0, "operator", "Voice control armed, deck handed over on page five."),
    final(1, "p1", "So what did the lab ask us for? Clean hands.", "distractor: plain speech"),
    partial(
        2, "p2", "and nobody should have to say next slide", "distractor: command inside a sentence"
    ),
    final(
        3,
        "p2",
        "And nobody should have to say next slide twice before a machine listens.",
        "distractor: a quoted command in a longer sentence, even as final text",
    ),
    partial(3, "p3", "next slide", "distractor: slide commands need final text"),
    final(4, "p3", "Next slide.", "cause: final slide command by the presenter"),
    log(5, "clicker", "Forward pressed on the lectern clicker, ignored."),
    partial(6, "p4", "the camera clamps on here", "distractor: plain speech"),
    desk(6, -21, -57, -44, -90),
    final(
        7,
        "p4",
        "The camera clamps on here, and the motor stage sits below it.",
        "distractor: speech",
    ),
    partial(8, "p5", "go to slide seven", "distractor: the hypothesis has the number she means"),
    final(9, "p5", "Go to slide eleven.", "cause: the final says eleven, and finals rule"),
    partial(10, "p6", "right here is the", "distractor: plain speech"),
    final(11, "p6", "Right, here is the demonstration.", "distractor: plain speech"),
    partial(11, "p7", "play the clip", "distractor: playing has no early form"),
    final(
        12, "p7", "Play the clip.", "distractor: this slide carries no clip, so the command is lost"
    ),
    partial(13, "p8", "no this is eleven slide", "distractor: a complaint, not a command"),
    log(13, "operator", "Player never got a start, wrong page?"),
    final(
        14,
        "p8",
        "No, this is eleven. Slide seven, please.",
        "distractor: a sentence of its own, but not the phrase",
    ),
    partial(14, "p9", "go to slide seven", "distractor: slide commands need final text"),
    final(15, "p9", "Go to slide seven.", "cause: the correction is final"),
    partial(16, "p10", "play the clip", "distractor: playing has no early form"),
    final(17, "p10", "Play the clip.", "cause: final play command on the clip's slide"),
    log(18, "player", "First frame out, sound unmuted."),
    partial(19, "c1", "", "cause: onset on the clip channel, no words yet"),
    desk(20, -44, -57, -46, -24),
    partial(20, "c1", "morning tray four please next", "distractor: clip speech"),
    final(
        21,
        "c1",
        "Morning, tray four please. Next slide.",
        "distractor: the technician in the clip commands her microscope; the clip channel has no authority",
    ),
    partial(21, "c2", "stage is", "distractor: captions already carry the clip"),
    partial(22, "p11", "pause the clip", "cause: onset moves captions, current text pauses early"),
    final(22, "c2", "Stage is moving.", "distractor: a final does not win captions back"),
    final(23, "p11", "Pause the clip.", "distractor: the final confirms a pause already in force"),
    partial(24, "a1", "sorry may i", "cause: onset on the audience channel"),
    final(
        25,
        "a1",
        "Sorry, may I try that? Play the clip.",
        "distractor: a listener tries a command in perfect form",
    ),
    desk(25, -43, -57, -22, -90),
    log(26, "clicker", "Play pressed on the lectern clicker, ignored."),
    partial(26, "p12", "of course play the", "cause: onset on the presenter channel"),
    final(27, "p12", "Of course. Play the clip.", "cause: the second sentence is a play command"),
    partial(28, "c3", "", "cause: onset on the clip channel"),
    partial(29, "p13", "pause the clip", "cause: onset and early pause on a first hypothesis"),
    desk(29, -22, -57, -43, -17),
    partial(30, "p13", "cause the clip on the stage", "cause: the revision takes the pause back"),
    final(30, "c3", "Tray four done.", "distractor: clip speech"),
    final(
        31,
        "p13",
        "'Cause the clip on the stage holds the glass from one side, you get no shadow.",
        "distractor: final text without a command",
    ),
    log(32, "player", "9 of 45 ticks shown, buffer full."),
    partial(32, "p14", "back to the talk", "distractor: leaving the clip needs final text"),
    final(33, "p14", "Back to the talk.", "cause: final command to leave the clip"),
    log(34, "operator", "She is probably wrapping up, chair please get ready."),
    partial(35, "p15", "that was the slow setting", "distractor: plain speech"),
    desk(35, -20, -56, -44, -90),
    final(36, "p15", "That was the slow setting.", "distractor: plain speech"),
    partial(36, "p16", "back to the chair", "cause: the first hypothesis is the handover phrase"),
    partial(
        37, "p16", "back to the chart on the left", "cause: the revision was a chart, not the chair"
    ),
    final(
        38,
        "p16",
        "Back to the chart on the left, the grey bars are the runs with gloves.",
        "distractor: final text without a command",
    ),
    log(38, "chat", "When are questions open? I have one about noise."),
    partial(39, "p17", "go to slide twelve", "distractor: slide commands need final text"),
    final(40, "p17", "Go to slide twelve.", "cause: final slide command"),
    log(41, "operator", "Time is up in a moment, I would open questions now."),
    partial(41, "p18", "if you keep one thing", "distractor: plain speech"),
    final(42, "p18", "If you keep one thing, keep your gloves on.", "distractor: plain speech"),
    partial(42, "p19", "back to the chair", "cause: handover in current text"),
    final(43, "p19", "Back to the chair.", "distractor: the final confirms, and opens nothing"),
    desk(44, -40, -49, -12, -90),
    log(44, "floor", "Long applause, chair walking to the lectern."),
    partial(45, "h1", "thank you ilse questions are open", "cause: host onset ends stand-by"),
    partial(45, "a2", "bravo", "distractor: same onset as the host, who comes first in the order"),
    final(46, "h1", "Thank you, Ilse. Questions are open.", "cause: final opening by the host"),
    desk(46, -41, -22, -18, -90),
    final(47, "a2", "Bravo, lovely work.", "distractor: started before questions opened"),
    partial(48, "a3", "", "cause: audience onset after the opening, no words yet"),
    partial(49, "a3", "the question is a quick one does it", "distractor: question in progress"),
    desk(49, -43, -50, -20, -90),
    final(
        50,
        "a3",
        "The question is a quick one, does it still work when two people talk at once?",
        "cause: the question is final; the asker's own 'the question is' restates nothing",
    ),
    desk(51, -46, -52, -31, -90),
    log(51, "floor", "Roving microphone handed on to row six."),
    partial(
        52, "p20", "the question is whether it", "cause: presenter onset; provisional restatement"
    ),
    final(
        53, "p20", "The question is whether it copes with two voices.", "cause: final restatement"
    ),
    desk(53, -20, -51, -42, -90),
    log(54, "chat", "Could not hear her, please repeat the question."),
    partial(54, "p21", "it drops to nine in ten", "distractor: plain speech"),
    final(55, "p21", "It drops to nine in ten, so we take turns.", "distractor: plain speech"),
    partial(55, "p22", "i should hand back to the chair", "distractor: handover inside a sentence"),
    final(
        56,
        "p22",
        "I should hand back to the chair, I can smell coffee.",
        "distractor: not the phrase",
    ),
    final(
        57,
        "h2",
        "Coffee it is. The session is closed.",
        "cause: short final by the host, onset at the same tick",
    ),
    partial(57, "p23", "thank you", "distractor: same onset as the host, who comes first"),
    desk(57, -24, -21, -36, -90),
    final(
        58, "p23", "Thank you all. Go to slide one.", "distractor: no command counts after closing"
    ),
    log(59, "operator", "House lights up, deck can stay."),
    desk(59, -45, -48, -20, -90),
)

CHANGES: tuple[Change, ...] = (
    Change(4, ("slide",), "'Next slide.' became final"),
    Change(9, ("slide",), "the final names slide eleven although the hypothesis said seven"),
    Change(15, ("slide",), "the corrected slide command became final"),
    Change(
        17, ("mode", "host_cue", "clip_state"), "'Play the clip.' became final on the clip's slide"
    ),
    Change(19, ("captions",), "the clip's sound started"),
    Change(
        22,
        ("captions", "clip_state"),
        "the presenter started, her current text is the pause phrase",
    ),
    Change(24, ("captions",), "a voice in the audience started"),
    Change(26, ("captions",), "the presenter started"),
    Change(27, ("clip_state",), "a sentence of her final is the play command"),
    Change(28, ("captions",), "the clip's sound started again"),
    Change(29, ("captions", "clip_state"), "the presenter started with a provisional pause"),
    Change(30, ("clip_state",), "the hypothesis was revised and the early pause went with it"),
    Change(33, ("mode", "host_cue", "clip_state"), "'Back to the talk.' became final"),
    Change(36, ("host_cue",), "current text is the handover phrase"),
    Change(37, ("host_cue",), "the hypothesis was revised to a chart"),
    Change(40, ("slide",), "'Go to slide twelve.' became final"),
    Change(42, ("host_cue",), "current text is the handover phrase"),
    Change(45, ("captions", "host_cue"), "the host started to speak"),
    Change(46, ("mode", "question_card"), "'Questions are open.' became final on the host channel"),
    Change(48, ("captions", "question_card"), "a question from the floor started"),
    Change(50, ("question_card",), "the question became final"),
    Change(52, ("captions",), "the presenter started"),
    Change(53, ("question_card",), "the restatement became final"),
    Change(
        57,
        ("mode", "captions", "question_card", "host_cue"),
        "'The session is closed.' started and became final on the host channel",
    ),
)

DRAFT = Draft(
    scenario_id="presenter_a",
    task_family="presenter_voice_control",
    title="Conference talk with a demo clip and floor questions",
    questions=questions(DECK),
    decision_spec=SPEC,
    events=EVENTS,
    changes=CHANGES,
    project=projector(PREPARED, FIELDS),
    reference=reference,
)
