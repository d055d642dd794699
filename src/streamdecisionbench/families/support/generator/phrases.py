"""Phrases that policies list, each with sentences people say it in; every second one per split.

The last sentence of each is what somebody says with these words from whom they do not count: an agent
who offers it, a customer who speaks of it.

Where a phrase has `{name}`, it is written once for every card, parcel or device. Two of a purpose's
phrases are listed in a scenario; the others are words of the same meaning that count for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamdecisionbench.suite.generation.draws import Pool


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that count, and whole sentences that hold them."""

    words: str
    sentences: tuple[str, ...]
    by_others: str
    """The words from somebody from whom they do not count."""

    def about(self, name: str) -> Phrase:
        """The phrase as it is for one card, parcel or device."""
        return Phrase(
            self.words.format(name=name),
            tuple(s.format(name=name) for s in self.sentences),
            self.by_others.format(name=name),
        )


def _pool(*entries: tuple[str, ...]) -> Pool[Phrase]:
    return Pool([Phrase(words, tuple(said), others) for words, *said, others in entries])


PAYMENT = _pool(
    ("pay the balance", "I'd like to pay the balance, please.", "First let me pay the balance.", "You can also pay the balance by transfer."),
    ("settle the bill", "I want to settle the bill now.", "We should settle the bill today.", "Would you like to settle the bill as well?"),
    ("back to the payment", "Let's go back to the payment.", "Good, and back to the payment, please.", "In a minute we can go back to the payment."),
    ("pay what is open", "I would like to pay what is open.", "Let me pay what is open, then.", "You can pay what is open until Friday."),
    ("get the invoice paid", "Let's get the invoice paid.", "I need to get the invoice paid today.", "Did you want to get the invoice paid, too?"),
    ("finish the payment", "Then we can finish the payment.", "Please, let's finish the payment.", "We'd still have to finish the payment some time."),
    ("the money i owe", "It's about the money I owe.", "That leaves the money I owe you.", "On the website it's the page called The money I owe."),
    ("clear my account", "I'm calling to clear my account.", "Please help me clear my account.", "Online there's a button, Clear my account."),
)  # fmt: skip
CONNECTION = _pool(
    ("connection has dropped", "The connection has dropped again.", "Oh, our connection has dropped.", "Others in your area say the connection has dropped."),
    ("look at the line", "Could you look at the line?", "Please look at the line for me.", "I could look at the line as well."),
    ("internet is down", "The internet is down here.", "Hang on, the internet is down once more.", "I've heard the internet is down in the next town."),
    ("no signal on the line", "There's no signal on the line.", "We have no signal on the line at all.", "My map shows no signal on the line next to yours."),
    ("test the line", "Can you test the line?", "I'd like you to test the line.", "Shall I test the line at some point?"),
    ("line keeps cutting out", "The line keeps cutting out.", "Our line keeps cutting out in the evening.", "If the line keeps cutting out, do say so."),
    ("connection is gone", "Wait, the connection is gone.", "The whole connection is gone.", "Sometimes the connection is gone after a storm."),
    ("nothing comes through", "Nothing comes through from the street.", "At home nothing comes through any more.", "On some days nothing comes through from there."),
)  # fmt: skip
ROUTER = _pool(
    ("check the router", "Could you check the router?", "Please check the router as well.", "I could check the router, too."),
    ("is the router online", "Is the router online?", "I wonder, is the router online from your side?", "And is the router online, do you know?"),
    ("router won't start", "The router won't start.", "And the router won't start properly.", "Some say their router won't start after a storm."),
    ("look at the router", "Can we look at the router?", "Let's look at the router, please.", "We can look at the router as well."),
    ("restart the router", "Can you restart the router?", "Please restart the router from there.", "Shall I restart the router, too?"),
    ("router is blinking", "The router is blinking red.", "Now the router is blinking like mad.", "Do say so if the router is blinking."),
    ("router has gone dark", "The router has gone dark.", "It seems the router has gone dark.", "Do say so if the router has gone dark."),
    ("what the router is doing", "Tell me what the router is doing.", "See what the router is doing, please.", "I can also see what the router is doing."),
)  # fmt: skip
CARD = _pool(
    ("use the {name} card", "Please use the {name} card.", "We can use the {name} card.", "You could use the {name} card."),
    ("put it on the {name} card", "Put it on the {name} card.", "You can put it on the {name} card.", "I could put it on the {name} card."),
    ("take the {name} card", "Take the {name} card for this.", "Let's take the {name} card.", "Shall I take the {name} card?"),
    ("go with the {name} card", "I'll go with the {name} card.", "Let's go with the {name} card.", "Most people would go with the {name} card."),
    ("make it the {name} card", "Make it the {name} card.", "Could you make it the {name} card?", "I could make it the {name} card."),
    ("my {name} card please", "From my {name} card, please.", "It comes off my {name} card, please.", "Many would just say, my {name} card, please."),
    ("the {name} card this time", "The {name} card this time.", "I'd say the {name} card this time.", "Is it the {name} card this time?"),
    ("switch to the {name} card", "Could we switch to the {name} card?", "Please switch to the {name} card.", "We could switch to the {name} card."),
)  # fmt: skip
CONSENT = _pool(
    ("you can take the payment", "Yes, you can take the payment.", "You can take the payment today.", "You'd only have to say, you can take the payment."),
    ("go ahead and charge", "Go ahead and charge that.", "Fine, go ahead and charge the lot.", "May I go ahead and charge that?"),
    ("i agree to the amount", "I agree to the amount.", "That's right, I agree to the amount.", "Online you would tick, I agree to the amount."),
    ("you may collect it", "You may collect it.", "Yes, you may collect it now.", "You'd only have to say, you may collect it."),
    ("debit it now", "Please debit it now.", "You can debit it now, that's fine.", "Shall I debit it now?"),
    ("i authorise that", "Yes, I authorise that.", "I authorise that, of course.", "The form wants to hear, I authorise that."),
    ("charge me for it", "You can charge me for it.", "Yes, charge me for it.", "You'd only have to say, charge me for it."),
    ("that sum is fine", "That sum is fine with me.", "Yes, that sum is fine.", "I take it that sum is fine?"),
)  # fmt: skip
WITHDRAWAL = _pool(
    ("don't take the payment", "No, don't take the payment.", "Please don't take the payment yet.", "Until you say so, we don't take the payment."),
    ("leave my money alone", "Please leave my money alone.", "No, leave my money alone.", "Some callers just say, leave my money alone."),
    ("i take that back", "Sorry, I take that back.", "No, I take that back.", "Shall we say Friday... no, I take that back."),
    ("no charge today", "There'll be no charge today.", "I want no charge today.", "For the call there's no charge today."),
    ("hold off with the charge", "Hold off with the charge.", "Please hold off with the charge.", "Shall I hold off with the charge?"),
    ("i'd rather not pay", "I'd rather not pay now.", "Hm, I'd rather not pay that.", "If you think, I'd rather not pay, do say so."),
    ("call the charge off", "Please call the charge off.", "Let's call the charge off.", "You can call the charge off at any time."),
    ("nothing may be debited", "Nothing may be debited.", "For now nothing may be debited.", "Before you agree, nothing may be debited."),
)  # fmt: skip
REQUEST = _pool(
    ("read me the long number", "Could you read me the long number?", "Please read me the long number.", "Your colleague always said, read me the long number."),
    ("give me the long number", "Then give me the long number, please.", "Just give me the long number.", "Last time it was, give me the long number."),
    ("tell me the card number", "Please tell me the card number.", "Would you tell me the card number?", "Would the bank tell me the card number?"),
    ("read out the digits", "You can read out the digits.", "Please read out the digits on the front.", "Do I read out the digits later?"),
    ("the full number please", "And the full number, please.", "Now the full number, please.", "The machine said, the full number, please."),
    ("i'm ready for the number", "I'm ready for the number.", "So, I'm ready for the number on the card.", "The lady last time said, I'm ready for the number."),
    ("start with the number", "Please start with the number.", "You can start with the number.", "Do I start with the number or the date?"),
    ("may i have the long number", "May I have the long number?", "Now may I have the long number?", "The shop asked, may I have the long number?"),
)  # fmt: skip
STOP = _pool(
    ("stop there with the card", "Let's stop there with the card.", "Please stop there with the card.", "Last time they said, stop there with the card."),
    ("put the card away", "You can put the card away.", "Please put the card away for now.", "Can I put the card away soon?"),
    ("no more card details", "I need no more card details.", "Please, no more card details.", "So no more card details after that?"),
    ("leave the card for now", "We'll leave the card for now.", "Let's leave the card for now.", "Could I leave the card for now?"),
    ("that is enough of the card", "That is enough of the card.", "Thanks, that is enough of the card.", "Last time it was, that is enough of the card."),
    ("keep the number to yourself", "Please keep the number to yourself.", "Do keep the number to yourself.", "My bank wrote, keep the number to yourself."),
    ("we pause the card here", "We pause the card here.", "I think we pause the card here.", "Your colleague said, we pause the card here."),
    ("forget the card", "Let's forget the card.", "Please forget the card for a moment.", "I didn't forget the card, I have it here."),
)  # fmt: skip

DELIVERY = _pool(
    ("where is the {name}", "Where is the {name}?", "Can you see where is the {name} now?", "Where is the {name} going, the front door?"),
    ("any news of the {name}", "Is there any news of the {name}?", "I'd like any news of the {name}.", "Have you had any news of the {name}?"),
    ("when will the {name} come", "When will the {name} come?", "So when will the {name} come, please?", "Everybody asks, when will the {name} come?"),
    ("track the {name}", "Could you track the {name}?", "Please track the {name} for me.", "I could track the {name}, too."),
    ("has the {name} left", "Has the {name} left yet?", "Tell me, has the {name} left?", "Shall I ask them, has the {name} left?"),
    ("how far is the {name}", "How far is the {name}?", "I wonder how far is the {name} by now.", "Shall I ask them, how far is the {name}?"),
    ("waiting for the {name}", "I'm waiting for the {name}.", "We are still waiting for the {name}.", "Are you still waiting for the {name}?"),
    ("find the {name}", "Can you find the {name}?", "Please find the {name}, it should be here.", "I can find the {name} in the system."),
)  # fmt: skip
CANCEL = _pool(
    ("cancel the {name}", "Please cancel the {name}.", "You know what, cancel the {name}.", "Did you want to cancel the {name}?"),
    ("call off the {name}", "Can you call off the {name}?", "Please call off the {name}.", "We could still call off the {name}, by the way."),
    ("don't want the {name}", "I don't want the {name} any more.", "We don't want the {name}.", "If you don't want the {name}, do say so."),
    ("send back the {name}", "Please send back the {name}.", "Could you send back the {name}?", "You could send back the {name} within a month."),
    ("no longer need the {name}", "I no longer need the {name}.", "We no longer need the {name}.", "If you no longer need the {name}, do say so."),
    ("drop the {name}", "Let's drop the {name}.", "You can drop the {name} from the order.", "Shall we drop the {name} from the order?"),
    ("strike the {name}", "Please strike the {name}.", "Could you strike the {name} off?", "Should I strike the {name}?"),
    ("do without the {name}", "We can do without the {name}.", "I'll do without the {name}.", "Could you do without the {name}?"),
)  # fmt: skip
REPAIR = _pool(
    ("fix the {name}", "Can you fix the {name}?", "Please help me fix the {name}.", "Shall we fix the {name} as well?"),
    ("see to the {name}", "Could you see to the {name}?", "Please see to the {name}.", "I can see to the {name}, too."),
    ("trouble with the {name}", "I've got trouble with the {name}.", "There's trouble with the {name}.", "Have you had trouble with the {name}?"),
    ("get the {name} going", "Help me get the {name} going.", "Can we get the {name} going again?", "Did they get the {name} going last time?"),
    ("repair the {name}", "Somebody should repair the {name}.", "Can you repair the {name}?", "Did somebody repair the {name} last year?"),
    ("sort out the {name}", "Let's sort out the {name}.", "Could you sort out the {name}?", "We can sort out the {name}, too."),
    ("something's wrong with the {name}", "Something's wrong with the {name}.", "I think something's wrong with the {name}.", "Do say so if something's wrong with the {name}."),
    ("mend the {name}", "Could somebody mend the {name}?", "We need to mend the {name}.", "Did we mend the {name} in spring?"),
)  # fmt: skip
CORRECTION = _pool(
    ("i mean the {name}", "Sorry, I mean the {name}.", "No, wait, I mean the {name}.", "One of them is older, I mean the {name}."),
    ("make that the {name}", "Please make that the {name}.", "Hm, make that the {name}.", "Should I make that the {name}?"),
    ("i meant the {name}", "Oh, I meant the {name}.", "My mistake, I meant the {name}.", "Sorry, I meant the {name} just now."),
    ("it's rather the {name}", "It's rather the {name}.", "No, it's rather the {name}.", "Or do you think it's rather the {name}?"),
    ("say instead the {name}", "Or say instead the {name}.", "Let's say instead the {name}.", "Should I say instead the {name}?"),
    ("correct that to the {name}", "Please correct that to the {name}.", "Can you correct that to the {name}?", "Shall I correct that to the {name}?"),
    ("not that but the {name}", "Not that, but the {name}.", "No, not that, but the {name}.", "Not that, but the {name}, is it?"),
    ("should have said the {name}", "I should have said the {name}.", "Ah, I should have said the {name}.", "Perhaps I should have said the {name}."),
)  # fmt: skip
EMAIL = _pool(
    ("email me", "Just email me.", "You can email me about it.", "Most tell us, email me."),
    ("drop me an email", "Please drop me an email.", "You could drop me an email.", "Many say, drop me an email."),
    ("write to my inbox", "Please write to my inbox.", "You can write to my inbox.", "Some say, write to my inbox."),
    ("by email please", "By email, please.", "Let's do it by email, please.", "Many say, by email, please."),
    ("send it by email", "Please send it by email.", "You may send it by email.", "Shall I send it by email?"),
    ("mail is best", "For me mail is best.", "I think mail is best.", "Would you say mail is best?"),
)  # fmt: skip
SMS = _pool(
    ("text me", "Could you text me?", "Just text me about it.", "Some tell us, text me."),
    ("send me a text", "Please send me a text.", "You can send me a text.", "Some say, send me a text."),
    ("message my mobile", "Please message my mobile.", "Best message my mobile.", "Some say, message my mobile."),
    ("by text please", "By text, please.", "I'd have it by text, please.", "Others say, by text, please."),
    ("a short message will do", "A short message will do.", "For me a short message will do.", "Would you say a short message will do?"),
    ("put it in a text", "Please put it in a text.", "You could put it in a text.", "I could put it in a text."),
)  # fmt: skip
PHONE = _pool(
    ("ring me", "Please ring me.", "You can ring me about it.", "Most tell us, ring me."),
    ("call me back", "Could you call me back?", "Please call me back on that.", "Many say, call me back."),
    ("give me a ring", "Just give me a ring.", "You could give me a ring.", "Others say, give me a ring."),
    ("phone me", "Please phone me.", "You can phone me about it.", "Some tell us, phone me."),
    ("tell me by phone", "Please tell me by phone.", "Best tell me by phone.", "Many say, tell me by phone."),
    ("a call would be best", "A call would be best.", "For me a call would be best.", "Do you think a call would be best?"),
)  # fmt: skip

POOLS = {
    "payment": PAYMENT,
    "connection": CONNECTION,
    "router": ROUTER,
    "card": CARD,
    "consent": CONSENT,
    "withdrawal": WITHDRAWAL,
    "request": REQUEST,
    "stop": STOP,
    "delivery": DELIVERY,
    "cancel": CANCEL,
    "repair": REPAIR,
    "correct": CORRECTION,
    "email": EMAIL,
    "sms": SMS,
    "phone": PHONE,
}
"""By what words can count for."""

SLIPS: dict[str, tuple[str, ...]] = {
    "subject": (
        "sorry, we have builders in.",
        "no, that was the door.",
        "where are my glasses?",
    ),
    "card": (
        "no, I'm still thinking.",
        "down, Sam! Sorry, the dog.",
        "hm, I don't know yet.",
    ),
    "agreement": (
        "hm, let me think first.",
        "no, wait, somebody's at the door.",
        "one moment, the kettle is boiling.",
    ),
    "refusal": (
        "oh, never mind.",
        "sorry, I was talking to my son.",
        "no, forget what I was going to say.",
    ),
    "capture": (
        "sorry, my screen is slow.",
        "no, I was talking to a colleague.",
        "one second, please.",
    ),
    "work": (
        "where was I? Never mind.",
        "somebody's at the door, sorry.",
        "no, I can't find my notes.",
    ),
    "contact": (
        "hm, no, I don't know yet.",
        "no, let me think about that.",
        "ouch, sorry, that was loud.",
    ),
}
"""How people go on when they break off within a phrase."""
