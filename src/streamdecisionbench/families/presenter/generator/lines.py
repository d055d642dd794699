"""What people say in a hall that lists its phrases, none of which is one, and what is asked there."""

from __future__ import annotations

LINES: dict[str, tuple[str, ...]] = {
    "presenter": (
        "Here you can see {a} next to {b}.", "Last year {a} cost us a whole week.",
        "Most visitors look at {a} first.", "We measured {a} twice, in spring and in autumn.",
        "Nobody had thought of {b} until {a} failed.", "Keep an eye on {a}, it comes back later.",
        "I brought {a} along, it is on the table.", "With {b} it took half the time.",
        "People ask me about {a} all the time.", "Some of you know {b} better than I do.",
        "Without {a} there would be no {n}.", "It looks simple. It is not.",
        "My colleagues swear by {b}.", "This one is older than {b}, and it shows.",
        "First {a}, then {b}, then a long wait.", "We lost {a} in a storm once.",
    ),
    "host": (
        "A word on the timing, we are doing fine.", "Please leave the side door free.",
        "May I ask for a little quiet?", "{name}, could you stay near the microphone?",
        "The coffee is outside, for later.", "Somebody has left a grey coat in row three.",
        "There are seats at the front.", "We have the hall until six.",
    ),
    "audience": (
        "Sorry, could you speak up?", "Is that {a} on the left?", "We cannot see {b} from here.",
        "Hear, hear.", "That was not how it went with {a}.", "Excuse me, is this seat free?",
        "Which year was that?", "Oh, that one.", "Louder, please.", "My aunt has {a} at home.",
    ),
    "clip": (
        "And now we turn to {a}.", "Careful with {b}, it is hot.", "Three, two, one, and up.",
        "This is how {a} looked in March.", "Hold on to {b}.", "There it goes.",
    ),
}  # fmt: skip

ASKED = {
    "How long does {a} last?": "how long {a} lasts",
    "Who pays for {a} if {b} breaks?": "who pays for {a} if {b} breaks",
    "What happens to {a} in winter?": "what happens to {a} in winter",
    "Have you tried it without {b}?": "whether we tried it without {b}",
    "Could one rent {a}?": "whether one could rent {a}",
    "Why not put {a} beside {b}?": "why {a} is not beside {b}",
    "Is {b} safe for children?": "whether {b} is safe for children",
    "How loud is {a}?": "how loud {a} is",
    "Will {a} fit behind {b}?": "whether {a} fits behind {b}",
    "Do we need {a} at all?": "whether we need {a} at all",
}
"""A question, and what it asks as somebody else would put it."""

LEADS = (
    "Right.",
    "Good.",
    "One moment.",
    "So much for that.",
    "Thank you.",
    "Let me see.",
    "Fine.",
)
"""What goes before a command."""

INTERJECTIONS = ("Hm.", "Yes.", "Quite.", "Ah.", "Indeed.", "Well.")
AFTERTHOUGHTS = ("There.", "You will see why.", "It will not take long.")

FREE_ASKED = {
    "How long does {a} last?": "how long it lasts",
    "Who pays for {a} if {b} breaks?": "who pays for it",
    "What happens to {a} in winter?": "what happens in winter",
    "Have you tried it without {b}?": "whether we tried it without",
    "Could one rent {a}?": "whether one could rent it",
    "Why does {a} have to be so big?": "why it has to be so big",
    "Is {b} safe for children?": "whether it is safe for children",
    "How loud is {a}?": "how loud it is",
    "Is there any room for {a}?": "whether there is room for it",
    "Do we need {a} at all?": "whether we need it at all",
}
"""The same where what is restated comes from the bank."""

ANSWERS = (
    "We looked into that, and it can be done.", "Not as far as we know.", "Most of it is up to {b}.",
    "With {a} I would not worry about that.", "I cannot promise it, but it looks good.",
    "That was settled last autumn.",
)  # fmt: skip
"""After a restatement."""

FREE_ANSWERS = ("It depends on the weather.", "The short answer is yes.",
                "It's simple, it just needs some oil.")  # fmt: skip
OF_A_QUESTION = frozenset(
    (
        *FREE_ANSWERS, "That was a very good question.", "Thank you for asking.", "I like that one.",
        "That question comes up every year.", "That's a fair point.", "Was that a question?",
        "Who asked that?", "Are you asking about slide {name}?", "That was no question.",
        "Did you mean the price or the weight?", "I can't repeat the question, I didn't hear it.",
        "Is there a question about slide {name}?",
    )
)  # fmt: skip
"""Sentences of the bank that nobody says before something was asked."""
OF_THE_CLIP = frozenset(
    (
        "How did you like the clip?", "Was the clip too loud for you?", "Where in the film was {thing}?",
        "Did the film run on your screens too?", "I enjoyed the film very much.",
        "The end of the film was my favourite part.", "Was that the end of the film?",
    )
)  # fmt: skip
"""Nor these before the clip was on."""
NOWHERE = frozenset(("Hold it there, the pilot told us over the radio.",))
"""No hall has anything to do with these."""
WITH_SOUND = frozenset(
    (
        "Was the clip too loud for you?", "As soon as the sound works, we'll play the clip.",
        "Pause it there if the sound fails.", "Does the clip have any sound?",
    )
)  # fmt: skip
"""Where the clip is silent nobody speaks of its sound."""
OF_WHAT_ONE_CARRIES = frozenset(
    (
        "I brought {a} along, it is on the table.",
        "My aunt has {a} at home.",
        "How loud is {a}?",
        "Could one rent {a}?",
        "Will {a} fit behind {b}?",
        "We lost {a} in a storm once.",
    )
)
"""Not of roofs, dams and budgets."""
