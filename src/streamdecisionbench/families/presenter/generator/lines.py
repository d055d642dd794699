"""What people say in a hall that lists its phrases, none of which is one, and what is asked there.

Also which sentences have an occasion without which nobody says them, in whatever words.
"""

from __future__ import annotations

import re

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
        "A little more light up here, please.", "Please mind the cable on the floor.",
        "There is a car in front of the gate, a green one.", "The programme is at the door.",
        "Please switch off your phones.", "{name}, a little slower, please.",
    ),
    "audience": (
        "Sorry, could you speak up?", "Is that {a} on the left?", "We cannot see {b} from here.",
        "Hear, hear.", "That was not how it went with {a}.", "Excuse me, is this seat free?",
        "Which year was that?", "Oh, that one.", "Louder, please.", "My aunt has {a} at home.",
        "Could somebody shut the window?", "I told you so.", "We had the same with {b}.",
        "That looks familiar.",
    ),
    "clip": (
        "And now we turn to {a}.", "Careful with {b} now.", "And once more from the side.",
        "This is how {a} looked in March.", "Hold on to {b}.", "There it goes.",
    ),
}  # fmt: skip

LEAVING: dict[str, tuple[str, ...]] = {
    "presenter": ("Thank you all.", "I will be at the back for a while.", "Who has my notes?",
                  "Leave {a} to me, I will carry it out.", "That went by quickly."),
    "host": ("Thank you for coming.", "Please take your cups outside.", "Mind the step at the door.",
             "Somebody has left a grey coat in row three.", "The coffee is outside."),
    "audience": ("Thank you, that was good.", "Where is the coffee?", "Is this your coat?",
                 "See you next year.", "I did not catch the part about {a}."),
}  # fmt: skip
"""What people say once the session is closed."""
FREE_LEAVING = frozenset(
    (
        "I've known our chair for ten years.", "The chair by the window creaks, I'm sorry.",
        "The talk has grown longer every year.", "There'll be a film tomorrow as well.",
        "The play on words in the title was not my idea.", "We paused the work for a year.",
        "The next step took us three years.", "It was a long way back to the valley.",
        "Please leave the side door free.", "Somebody has left a grey coat in row three.",
        "The next session is in the other hall.", "There's a car blocking the gate.",
        "The floor in row two is slippery.", "Please mind the cable on the floor.",
        "The slides will be on the website tomorrow.", "The cloakroom is closed.",
        "The main entrance is closed after eight.", "The questions from last year are on the website.",
        "Our speaker and I went to school together.", "The water on the table is for everybody.",
    )
)  # fmt: skip
"""Sentences of the bank that one can say then."""
ONE_MORE = ("One more question, please!", "I have one more!", "Could I still ask something?")
"""Why a chair would open what is closed."""

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

ASKED_FORMALLY = {
    "the question is": "The question is {asked}, if I may.",
    "the question was": "The question was {asked} last time, and it still is.",
    "you asked": "You asked for questions, so I would like to know {asked}.",
    "you ask": "You ask for questions, so I would like to know {asked}.",
    "they want to know": "They want to know at home {asked}.",
    "i was asked": "I was asked to find out {asked}.",
}
"""How somebody asks who begins with the words that restate: by these words."""

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
FREE_LEADS = frozenset(("Right.", "Good.", "Fine.", "Well.", "One moment.", "Very well.", "Thank you.",
                        "All right.", "Let me see.", "Well now."))  # fmt: skip
REMARKS = ("So much for {a}.", "No more on {a} for now.", "You get the idea of {a}.",
           "This was only to show you {a}.")  # fmt: skip
FREE_REMARKS = frozenset(
    (
        "That's it on {thing}.", "So much for {thing}.", "So far so good.", "The numbers are rounded.",
        "It looks simple, but it isn't.", "This picture was taken in March.", "Here you can see {thing}.",
    )
)  # fmt: skip
"""What goes before the next page where nothing was said about the one that is up."""

INTERJECTIONS = ("Hm.", "Yes.", "Quite.", "Ah.", "Indeed.", "Well.")
AFTERTHOUGHTS = {
    "presenter": ("Thank you.", "I will be quick.", "That would be kind."),
    "host": ("Thank you.", "Thank you very much."),
}
FREE_AFTERTHOUGHTS = {
    "presenter": frozenset(("Thank you.", "You'll see why.")),
    "host": frozenset(("Thank you.",)),
}
"""What goes after a command."""

TAKES_OVER = ("Thank you, {name}.", "Thank you for that.", "Many thanks.")
FREE_TAKES_OVER = frozenset(("Very well.", "Right.", "Fine.", "Thank you.", "All right.", "Good."))
"""What a chair says first who was handed over to."""
GOES_ON = ("No, wait, one word more on {a}.", "Sorry, I forgot {a}.", "Before that, a word on {a}.",
           "One thing first, {a} is still to come.")  # fmt: skip
FREE_GOES_ON = frozenset(
    (
        "I'm not handing over yet.", "I'm not finished with this slide.",
        "I'm not giving the floor back to the chair.", "I'd give the word to the chair if I were finished.",
        "Once I've explained this, I'll hand over to the chair.", "What did our chair say about the time?",
        "Our chair knows this better than I do.", "Has our chair arrived yet?",
    )
)  # fmt: skip
"""What a presenter says who has handed over and goes on."""

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

ANSWERS = {
    "whether": ("We looked into that, and the answer is yes.", "Not as far as we know.",
                "I cannot promise it, but it looks good.", "With {a}, yes, otherwise no."),
    "how": ("Nobody has measured that yet.", "That depends on {b}.", "We will know more in spring.",
            "That is on the sheet at the door."),
    "who": ("We share that, half and half.", "Whoever orders it, as a rule.", "That was settled last autumn."),
    "what": ("Not much, as it is covered.", "Ask me again in spring.", "That depends on {b}."),
    "why": ("There was no room for that.", "We tried, and it did not last.", "That was settled last autumn."),
}  # fmt: skip
"""The first word of what was asked → what follows a restatement."""
FREE_ANSWERS: dict[str, frozenset[str]] = {
    "whether": frozenset(("The short answer is yes.", "It depends on the weather.")),
    "how": frozenset(("We measured it twice, in spring and in autumn.", "It depends on the weather.",
                      "The numbers are rounded.")),
    "who": frozenset(("Our chair knows this better than I do.", "Over the years the price went down.")),
    "what": frozenset(("It's simple, it just needs some oil.", "It depends on the weather.")),
    "why": frozenset(("It looks simple, but it isn't.", "Our chair knows this better than I do.",
                      "Some of you know {thing} better than I do.")),
}  # fmt: skip
OF_A_QUESTION = frozenset(
    (
        "The short answer is yes.", "It depends on the weather.", "It's simple, it just needs some oil.",
        "That was a very good question.",
        "Thank you for asking.", "I like that one.", "That question comes up every year.",
        "That's a fair point.", "Was that a question?", "Who asked that?",
        "Are you asking about slide {name}?", "That was no question.",
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
BEFORE_THE_CLIP = frozenset(
    (
        "As soon as the sound works, we'll play the clip.", "When the lights go down, you can start the film.",
        "If there were more time, I'd play the film.", "Is the film still loading?",
        "Provided that the projector holds, we'll see the clip later.",
        "Supposing the film were ready, I'd start it.", "Once the clip has loaded, I'd like to see it.",
        "Please don't start the clip.", "Play the clip, oh no, leave it for now.",
        "No clip at this point, please.", "How long is the film?", "How long is the clip?",
        "When the film has ended, the floor is open.",
        "If the speaker agrees, we could take questions after the film.",
        "As long as the clip is running, no questions.",
    )
)  # fmt: skip
"""Nor these once it was."""
WHILE_IT_RUNS = frozenset(("Don't pause the clip, please.", "Please don't stop the film.",
                           "Let's not freeze anything here.", "Is the recording still running?"))  # fmt: skip
AWAY_FROM_THE_TALK = frozenset(
    (
        "I don't want to return to the talk yet.",
        "Back to my talk, or no, not yet.",
        "As soon as we're through with this, back to the talk.",
    )
)
OF_THE_FLOOR = frozenset(("If questions get too many, we'll return to the talk.",
                          "I'd return to my talk if there were nothing else to ask."))  # fmt: skip
FLOOR_TO_COME = re.compile(r"\b(?:questions?|ask|the floor is|open the floor|hands?)\b")
"""What a chair no longer speaks of while questions are open."""
OF_A_WISH = frozenset(
    (
        "Not slide {name}, please.", "This is not the time for slide {name}.",
        "We don't need slide {name} for that.",
    )
)  # fmt: skip
"""Of a page that somebody has just asked for."""
OF_URGING = frozenset(("Nobody asked for the next slide.", "Don't go to the next slide."))
"""After somebody called for the next page."""
OF_A_CLIP_BEGUN = re.compile(
    r"\b(?:on with the|run on|carry on|resume|keep the film|go on|from here|play on|play it on|let it run)\b"
)
"""Of a clip that was on."""
OF_A_PAGE_LEFT = re.compile(
    r"\b(?:again|once more|just left|another look|undo|too (?:fast|quick))\b"
)
"""Of a previous page that was up."""
WITHOUT_NEXT = "I would show the next slide if I had one."
NOWHERE = frozenset(
    (
        "Hold it there, the pilot told us over the radio.", "I won't play the film today.",
        "We'll watch the clip after the break.", "There'll be time for your questions after the break.",
        "I'll close the session in half an hour.", "You'll hear from our chair in an hour.",
        "As long as nobody complains, the clip can start after the break.",
        "Should there be questions, we'll hear them after the break.",
    )
)  # fmt: skip
"""No hall has anything to do with these, or what they announce does not come about in any."""
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
        "Leave {a} to me, I will carry it out.",
    )
)
"""Not of roofs, dams and budgets."""
OF_THE_PAGE = frozenset(
    (
        "Here you can see {a} next to {b}.", "So far {a}.", "No more on {a} today.", *REMARKS,
        "That's it on {thing}.", "So much for {thing}.", "Here you can see {thing}.",
        "Is this the slide with {thing}?",
    )
)  # fmt: skip
"""About what the page shows that is up."""
OF_A_PAGE_TO_COME = frozenset(("Later on I'll have something on {thing}.",))
OF_A_PAGE_BEFORE = frozenset(("Which slide was the one with {thing}?",))

ABOUT_CAPTIONS = {
    "other": ("Sorry, the captions show somebody else.", "Whose words are those in the captions?",
              "We cannot follow, the captions are wrong."),
    "none": ("There are no captions.", "The captions are gone, we cannot follow."),
}  # fmt: skip
"""What somebody says who reads them, where they carry another voice or none."""
CHAIR_ABOUT_CAPTIONS = (
    "One moment, the captions are wrong.",
    "Bear with us, the captions are wrong.",
)
FREE_ABOUT_CAPTIONS = frozenset(("One moment.", "Let me see."))
"""What the chair says who is told of it."""
