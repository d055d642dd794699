"""Small talk of a call, none of which means anything for the panel."""

from __future__ import annotations

__all__ = ["TALK"]

TALK: dict[str, tuple[str, ...]] = {
    "customer": (
        "It's raining cats and dogs here.",
        "Sorry, I had the radio on.",
        "Oh, I see.",
        "I've been with you for nine years.",
        "My neighbour is with you as well.",
        "One moment, I'm getting a pen.",
        "That was quick last time.",
        "You're very patient with me.",
        "I'm on the train, so I may cut out.",
        "The children are home today.",
        "I wrote that down.",
        "Hm, let me think.",
        "The letter came on Tuesday.",
        "Could you speak up a little?",
        "I didn't catch that.",
        "Nice weather for ducks, my father would say.",
        "I used to work in a call centre myself.",
        "It's the blue folder I keep all this in.",
        "Bear with me, the cat's on the keyboard.",
        "Was that a colleague of yours laughing?",
    ),
    "agent": (
        "One moment, my screen is loading.",
        "Thanks for your patience.",
        "I can see your file now.",
        "How are you today?",
        "Let me scroll down a little.",
        "That's noted in your file.",
        "My colleague says hello.",
        "I'll be with you in a second.",
        "We've had a lot of calls this morning.",
        "Is the sound all right?",
        "I'm just reading the notes from last time.",
        "You've been with us for a while, I see.",
        "Bear with me, please.",
        "No rush at all.",
        "I've turned my headset up.",
        "The system is a bit slow today.",
    ),
    "background": (
        "Dinner's ready!",
        "Has anybody seen my keys?",
        "And now the weather for the weekend.",
        "Leo, shoes off!",
        "Who left the light on?",
        "Next stop, Market Square.",
        "It's on the second shelf.",
        "And that is the half-time score.",
    ),
}
