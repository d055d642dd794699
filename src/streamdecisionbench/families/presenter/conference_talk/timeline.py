"""Presenter A: a conference talk on hands-free microscopy, with a demonstration clip that talks too.

The traps of this room are its subject and its echo: people in it, and in its clip, speak commands to a
microscope, and several of them talk at once.
"""

from __future__ import annotations

from streamdecisionbench.families.presenter.conference_talk.setting import DECK, FIELDS, PREPARED
from streamdecisionbench.families.presenter.events import (
    MISTAKEN,
    TRUE,
    desk,
    final,
    log,
    partial,
    recognised,
)
from streamdecisionbench.families.presenter.questions import SPEC, questions
from streamdecisionbench.families.presenter.reference import reference
from streamdecisionbench.families.presenter.state import projector
from streamdecisionbench.suite.authoring import Change, Draft, Event

OPENING: tuple[Event, ...] = (
    partial(0, "p1", "it looks simple but", "distractor: plain speech"),
    log(0, "operator", "Voice control armed, title page handed over.", TRUE),
    final(1, "p1", "It looks simple, but it isn't.", "distractor: plain speech"),
    partial(1, "p2", "next slide please", "distractor: the hypothesis has the slide she means"),
    final(2, "p2", "Previous slide, please.", "distractor: nothing comes before the first slide"),
    partial(3, "p3", "let's see the", "distractor: words that break off"),
    final(4, "p3", "Let's see the next slide.", "cause: the presenter's wish is final"),
    partial(5, "p4", "my", "distractor: words that break off"),
    partial(6, "p4", "my colleagues kept saying let's", "distractor: a report begins"),
    desk(6, -21, -57, -44, -90),
    final(7, "p4", "My colleagues kept saying, let's see the clip.", "distractor: a report"),
    partial(7, "p5", "straight to", "distractor: words that break off"),
    partial(8, "p5", "straight to slide seven please", "distractor: the number she means"),
    final(9, "p5", "Straight to slide eleven, please.", "cause: the final says eleven, and rules"),
    partial(10, "p6", "let's", "distractor: words that break off"),
    partial(11, "p6", "let's watch the clip now", "distractor: playing has no early form"),
    final(12, "p6", "Let's watch the clip now.", "distractor: lost, this slide carries no clip"),
    partial(13, "p7", "not", "distractor: words that break off"),
    final(14, "p7", "Not slide eleven, please.", "distractor: what she does not want is no wish"),
    partial(14, "p8", "let's go to slide six", "distractor: slides need final text"),
)

DEMONSTRATION: tuple[Event, ...] = (
    final(
        15,
        "p8",
        "Let's go to slide six, wait, no, to slide seven.",
        "cause: what the correction ends on is final",
    ),
    partial(16, "p9", "let the film run please", "distractor: playing has no early form"),
    final(17, "p9", "Let the film run, please.", "cause: the wish is final on the clip's slide"),
    log(18, "chat", "Film has started here.", TRUE),
    partial(19, "c1", "", "cause: onset on the clip channel, no words yet"),
    partial(20, "c1", "good morning tray four", "distractor: clip speech"),
    desk(20, -44, -57, -46, -24),
    final(
        21,
        "c1",
        "Good morning, tray four. Next slide, please.",
        "distractor: the technician in the clip commands her microscope",
    ),
    partial(21, "c2", "", "distractor: captions already carry the clip"),
    partial(22, "p10", "hold it there please", "cause: onset moves captions, text pauses early"),
    partial(22, "c2", "stage is", "distractor: clip speech"),
    partial(23, "p11", "keep an eye on the", "distractor: newer words beside the early pause"),
    final(23, "c2", "Stage is moving.", "distractor: a final does not win captions back"),
    final(24, "p10", "Hold it there, please.", "distractor: confirms a pause already in force"),
    partial(24, "a1", "sorry may i", "cause: onset on the audience channel"),
    final(25, "p11", "Keep an eye on the focuser.", "distractor: plain speech, an older onset"),
    final(
        25,
        "a1",
        "Sorry, may I try that? Please let the clip run on.",
        "distractor: a listener tries a command",
    ),
    desk(25, -23, -57, -22, -90),
    partial(26, "p12", "please let the clip run on", "cause: onset; playing has no early form"),
    final(27, "p12", "Please let the clip run on.", "cause: the wish is final"),
    partial(28, "c3", "", "cause: onset on the clip channel"),
    partial(29, "p13", "freeze the picture", "cause: onset and early pause on current text"),
    partial(29, "c3", "tray four", "distractor: clip speech"),
    desk(29, -22, -57, -43, -17),
    partial(30, "p13", "freeze the picture says the", "cause: it goes on, the pause is gone"),
    final(30, "c3", "Tray four done.", "distractor: clip speech"),
    partial(31, "p13", "freeze the picture says the handbook before you", "distractor: a report"),
    log(31, "operator", "She said freeze, so it stands still.", MISTAKEN),
    final(
        32,
        "p13",
        "Freeze the picture, says the handbook, before you measure.",
        "distractor: a report is no wish",
    ),
    log(32, "player", "Loaded, 45 ticks long, buffer full.", TRUE),
    partial(32, "p14", "that's enough of the film back to my", "distractor: words break off"),
    final(33, "p14", "That's enough of the film, back to my talk.", "cause: the wish is final"),
)

CHART: tuple[Event, ...] = (
    log(34, "operator", "She is through, chair please come up.", MISTAKEN),
    partial(34, "p15", "we measured it twice in", "distractor: plain speech"),
    desk(34, -20, -56, -44, -90),
    final(35, "p15", "We measured it twice, in spring and in autumn.", "distractor: speech"),
    partial(36, "p16", "over to our chair", "cause: current text hands over"),
    partial(37, "p16", "over to our chair once i've", "cause: it goes on as a condition"),
    final(
        38,
        "p16",
        "Over to our chair once I've shown two more slides.",
        "distractor: a condition hands nothing over",
    ),
    log(38, "operator", "Not yet, chair, she goes on.", TRUE),
    partial(38, "p17", "please skip to", "distractor: words that break off"),
    partial(39, "p17", "please skip to slide two", "distractor: slides need final text"),
    final(40, "p17", "Please skip to slide twelve.", "cause: the wish is final"),
    partial(40, "p18", "i'll go on to the next slide now", "distractor: slides need final text"),
    final(41, "p18", "I'll go on to the next slide now.", "distractor: no slide after the last"),
    log(41, "operator", "She has one more page after this.", MISTAKEN),
    partial(42, "p19", "that's all from me back to the chair", "cause: current text hands over"),
    partial(43, "p19", "that's all from me back to the chair", "distractor: not yet final"),
    final(44, "p19", "That's all from me, back to the chair.", "distractor: opens nothing"),
    desk(44, -21, -49, -12, -90),
)

FLOOR: tuple[Event, ...] = (
    partial(45, "h1", "thank you", "cause: the host's onset ends stand-by"),
    partial(45, "a2", "bravo", "cause: same onset as the host's, first in the caption order"),
    final(46, "h1", "Thank you. Who has the first question?", "cause: the opening is final"),
    partial(46, "a3", "", "cause: a voice starts at the very tick of the opening"),
    partial(46, "p20", "so you'd like to", "distractor: same onset as the question's"),
    final(47, "a2", "Bravo, lovely work.", "distractor: it started before questions opened"),
    partial(47, "a3", "how loud is it with the", "distractor: question in progress"),
    partial(47, "p20", "so you'd like to know how loud it is", "distractor: talks into it"),
    desk(47, -23, -50, -20, -90),
    final(48, "a3", "How loud is it with the fan on?", "cause: the question is final"),
    final(
        48,
        "p20",
        "So you'd like to know how loud it is.",
        "distractor: final at the question's own tick, so it restates nothing",
    ),
    log(49, "chat", "She has said it again, I heard it.", TRUE),
    final(50, "p21", "That was a very good question.", "cause: onset; praise restates nothing"),
    partial(
        51,
        "p22",
        "the gentleman would like to know how loud it is",
        "distractor: a provisional restatement",
    ),
    final(
        52,
        "p22",
        "The gentleman would like to know how loud it is. Slide three, please.",
        "cause: restatement and slide command in one final",
    ),
    desk(52, -20, -51, -42, -90),
    partial(53, "a4", "and may i", "cause: a newer question starts"),
    partial(53, "p23", "it's simple it just", "distractor: same onset as the question's"),
    partial(53, "h2", "who would", "distractor: same onset as the question's"),
    final(54, "p23", "It's simple, it just needs some oil.", "distractor: an answer"),
    partial(54, "a4", "and may i ask what happens when", "distractor: question in progress"),
    final(55, "h2", "Who would like to ask something?", "distractor: questions are open already"),
    partial(55, "a4", "and may i ask what happens when two people", "distractor: in progress"),
    desk(55, -42, -23, -21, -90),
    log(56, "floor", "He is through, microphone goes to row six.", MISTAKEN),
    partial(57, "p24", "", "distractor: listed before the host, final after him"),
    final(
        57,
        "h3",
        "Our time is up, the session is over.",
        "cause: short final by the host, onset at the same tick",
    ),
    final(58, "p24", "Slide one, please.", "distractor: no command counts after closing"),
    final(
        58,
        "a4",
        "And may I ask what happens when two people talk to it at once?",
        "distractor: too late",
    ),
    log(59, "operator", "House lights up, title page back on.", MISTAKEN),
    desk(59, -45, -48, -20, -90),
)

CHANGES: tuple[Change, ...] = (
    Change(4, ("slide",), "'Let's see the next slide.' became final"),
    Change(9, ("slide",), "the final names slide eleven although the hypothesis said seven"),
    Change(15, ("slide",), "the sentence that ends on slide seven became final"),
    Change(17, ("mode", "host_cue", "clip_state"), "'Let the film run, please.' became final"),
    Change(19, ("captions",), "the clip's sound started"),
    Change(22, ("captions", "clip_state"), "the presenter started and wants the clip to hold"),
    Change(24, ("captions",), "a voice in the audience started"),
    Change(26, ("captions",), "the presenter started"),
    Change(27, ("clip_state",), "'Please let the clip run on.' became final"),
    Change(28, ("captions",), "the clip's sound started again"),
    Change(29, ("captions", "clip_state"), "the presenter started with a provisional pause"),
    Change(
        30, ("clip_state",), "the sentence went on as a report and the early pause went with it"
    ),
    Change(33, ("mode", "host_cue", "clip_state"), "she went back to her talk in final words"),
    Change(36, ("host_cue",), "current text hands over to the chair"),
    Change(37, ("host_cue",), "the sentence went on as a condition"),
    Change(40, ("slide",), "'Please skip to slide twelve.' became final"),
    Change(42, ("host_cue",), "current text hands over, and more than that is not said"),
    Change(45, ("captions", "host_cue"), "the host started to speak, and a listener with him"),
    Change(
        46,
        ("mode", "question_card"),
        "the opening became final, and a question started at the same tick",
    ),
    Change(48, ("question_card",), "the question became final"),
    Change(50, ("captions",), "the presenter started, but restated nothing yet"),
    Change(52, ("question_card", "slide"), "the restatement became final, with a slide command"),
    Change(53, ("captions", "question_card"), "a newer question started"),
    Change(
        57,
        ("mode", "captions", "question_card", "host_cue"),
        "the end of the session started and became final on the host channel",
    ),
)

DRAFT = Draft(
    scenario_id="presenter_a",
    task_family="presenter_voice_control",
    title="Conference talk with a demo clip and floor questions",
    questions=questions(DECK),
    decision_spec=SPEC,
    events=recognised(*OPENING, *DEMONSTRATION, *CHART, *FLOOR),
    changes=CHANGES,
    project=projector(PREPARED, FIELDS),
    reference=reference,
)
