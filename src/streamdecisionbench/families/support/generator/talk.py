"""Small talk of a call, none of which means anything for the panel."""

from __future__ import annotations

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
        "Has the post come?",
        "It's on the second shelf.",
        "And that is the half-time score.",
    ),
}

NUMBER = (
    "Sure, it's [digits removed].",
    "Yes, here it is: [digits removed].",
    "It says [digits removed].",
    "Let me see, [digits removed].",
)
"""How customers say the number of a card."""

LEAVE: dict[bool, tuple[str, ...]] = {
    True: (
        "Lovely, that's everything. Bye now!",
        "Great, thank you. Goodbye!",
        "That was all I wanted, thanks. Bye!",
        "You've been a help. Goodbye!",
        "Thank you very much, bye!",
    ),
    False: (
        "I have to go, I'll try again later. Bye!",
        "Oh, my bus is here. Another time, bye!",
        "I'm out of time, we'll do the rest tomorrow. Bye!",
        "Somebody's at the door, I'd better go. Goodbye!",
    ),
}
"""How customers take leave: content, or before everything is done."""

LINES: dict[str, tuple[str, ...]] = {
    "greeting": (
        "Hello, thanks for calling. What can I do for you?",
        "Good morning, you're through to the service desk.",
        "Welcome to the helpline, how can I help?",
        "Good afternoon, I have your file in front of me.",
        "Hello, good to hear from you.",
    ),
    "ack": (
        "Right, I see.",
        "Of course.",
        "Yes, I understand.",
        "All right, I'm with you.",
        "Certainly, one moment.",
        "Sure, let me see.",
        "I hear you.",
        "Okay, I've got that.",
    ),
    "consent": (
        "There is {amount} open on your account. May I take that today?",
        "It comes to {amount}. Is that all right with you?",
        "The amount is {amount}. Do you agree?",
        "That leaves {amount}. Are you happy with that?",
        "I have {amount} here. Would that be in order?",
    ),
    "card": (
        "Which of your cards would you like, {cards}?",
        "And on which card, {cards}?",
        "I see two cards, {cards}. Which one?",
        "Would that be {cards}?",
    ),
    "fee": (
        "There's a fee to add, I'm typing it in.",
        "One more item has to go on the bill.",
        "The bill is about to change a little.",
    ),
    "total": (
        "With the fee it will be {amount}. All right?",
        "There's a fee as well, that makes {amount}. Shall I?",
        "Together with the fee I get {amount}. Is that fine?",
    ),
    "approved": (
        "The bank has approved it.",
        "That went through, thank you.",
        "Good news, the bank says yes.",
        "It's paid, you'll get a receipt.",
    ),
    "declined": (
        "I'm afraid the bank has declined it.",
        "The bank says no to that one, sorry.",
        "It was turned down by the bank.",
    ),
    "sent": (
        "There, it's on its way to the bank.",
        "So, off it goes.",
        "And that is sent.",
    ),
    "claim": (
        "You have agreed already, so we're fine.",
        "I have your consent from before.",
        "We've been through that, so all is well.",
    ),
    "late_card": (
        "Too late for this one, the bank has it already.",
        "That one has just gone out, I'm sorry.",
        "I can't change it any more, it's with the bank.",
    ),
    "contact": (
        "And how may we get back to you?",
        "How would you like to hear from us?",
        "Where shall we send word?",
        "What's the best way to reach you?",
    ),
    "house_number": (
        "Thanks, I've added the number for the {name}.",
        "Number added, the {name} can go on.",
    ),
    "hold": (
        "I'm putting you on hold now.",
        "I'll park you for a moment.",
        "Please hold the line.",
        "Stay with me, you'll hear some music.",
    ),
    "back": (
        "Thanks for holding, here I am again.",
        "I'm back with you.",
        "Sorry to have kept you.",
        "There you are again.",
    ),
    "soon": (
        "That's long enough, I'm going back.",
        "I'd better pick up again.",
        "I shouldn't leave them there much longer.",
    ),
    "ages": (
        "She's been waiting for ages.",
        "They have been on hold for ages.",
        "That caller has been waiting far too long.",
    ),
    "run_test": (
        "I've started the line test.",
        "The line test is on.",
        "I'm testing your line.",
    ),
    "escalate_line": (
        "There's a fault on your line, the engineers will see to it.",
        "The test says the line is down. I'm passing it on.",
        "It is the line, I've told the network people.",
    ),
    "confirm_online": (
        "It's back online, everything answers.",
        "From here all looks well again.",
        "You should be online now.",
    ),
    "check_power": (
        "Is the plug in properly? Please look at the lights.",
        "Please check the plug and tell me what you see.",
        "Would you have a look at the power lead?",
    ),
    "wait": ("The {name} is on its way.", "The {name} is still travelling."),
    "check_tracking": (
        "I'm asking whether they have the {name} at all.",
        "There's only a label for the {name} so far, I'll ask.",
    ),
    "correct_address": (
        "They need your house number for the {name}.",
        "The address on the {name} is incomplete, what's the number?",
    ),
    "open_case": (
        "The {name} is late, I'm opening a case.",
        "I'll open a case, the {name} is overdue.",
    ),
    "confirm_delivery": (
        "The {name} has arrived, it says here.",
        "Good news, the {name} is with you.",
    ),
    "cancel_request": (
        "I'm asking the carrier to turn the {name} round.",
        "I've passed that on, the {name} is with the carrier.",
    ),
    "confirm_cancelled": (
        "It's done, the {name} is called off.",
        "The carrier has taken the {name} back.",
    ),
    "explain_refusal": (
        "The carrier won't turn the {name} round, I'm afraid.",
        "They refuse, the {name} can't be stopped.",
    ),
    "diagnose": (
        "I'm starting a self-test of the {name}.",
        "Let's have the {name} test itself.",
    ),
    "await_result": ("The {name} is still being checked.", "The check of the {name} is running."),
    "request_access": (
        "May I look into the {name} from here? Please allow it in the portal.",
        "I need your permission to look into the {name} from here.",
    ),
    "remote_check": (
        "Thanks, I'm looking into the {name} now.",
        "I'm connecting to the {name}.",
    ),
    "book_visit": (
        "A technician has to see the {name}.",
        "I'll book somebody to come for the {name}.",
    ),
    "send_part": (
        "I'll post you a part for the {name}.",
        "A spare for the {name} is coming to you.",
    ),
    "explain_clear": (
        "Nothing is wrong with the {name}, the check says.",
        "The {name} is fine by the test.",
    ),
    "late": (
        "I'd call that one late.",
        "That should have been there, if you ask me.",
        "That one's overdue in my book.",
    ),
    "moving": (
        "The {name} must be moving by now.",
        "I'd guess the {name} is nearly there.",
        "The {name} can't be far.",
    ),
    "cancelled": (
        "Right, that's cancelled for you.",
        "That one is off the order.",
        "So, that's done with.",
    ),
    "technician": (
        "I'd still book a technician.",
        "If it were mine, I'd have somebody come.",
        "A visit would be safer, I think.",
    ),
    "post": (
        "There's one in the stores, I could post it.",
        "I could just put one in the post.",
        "They do have one, I might send it.",
    ),
}
"""Lines of the desk's script: what agents say in the course of a call."""

NOTES: dict[str, str] = {
    "consent": "desk: {amount} named, consent asked for",
    "card": "desk: asked which card, {cards}",
    "fee": "desk: a fee announced",
    "total": "desk: {amount} with the fee named, consent asked for",
    "approved": "desk: customer told, approved",
    "declined": "desk: customer told, declined",
    "late_card": "desk: customer told, too late for another card",
    "back": "desk: agent back on the line",
    "run_test": "desk: line test announced",
    "hold": "desk: customer asked to hold",
    "escalate_line": "desk: customer told, fault passed on",
    "confirm_online": "desk: customer told, online",
    "check_power": "desk: asked to check plug and lights",
}
"""The desk's notes of lines that are in no bank of sentences."""

LEFT: dict[bool, str] = {
    True: "desk: customer thanked, goodbye said",
    False: "desk: customer had to go, will ring again",
}
"""The same of leave-taking."""
