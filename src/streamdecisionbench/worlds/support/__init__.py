"""New support calls from a seed: payment calls, and calls about parcels and intercom devices."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from streamdecisionbench.families.support.questions import (
    INTERCOM_SPEC,
    PAYMENT_SPEC,
    intercom_questions,
    payment_questions,
)
from streamdecisionbench.families.support.reference import reference
from streamdecisionbench.families.support.rules import (
    INTERCOM_FREE_RULES,
    INTERCOM_INTENTS,
    INTERCOM_RULES,
    PAYMENT_FREE_RULES,
    PAYMENT_INTENTS,
    PAYMENT_RULES,
)
from streamdecisionbench.families.support.state import projector
from streamdecisionbench.suite.scenario import State
from streamdecisionbench.worlds.generation.draws import (
    Draws,
    Seat,
)
from streamdecisionbench.worlds.generation.world import Kind
from streamdecisionbench.worlds.generation.world_simulator import Opening
from streamdecisionbench.worlds.support import phrases
from streamdecisionbench.worlds.support.bystanders import (
    distract_intercom,
    distract_payment,
)
from streamdecisionbench.worlds.support.intercom import (
    CHANNELS,
    Device,
    IntercomCall,
    Parcel,
)
from streamdecisionbench.worlds.support.intercom import OUTCOMES as INTERCOM_OUTCOMES
from streamdecisionbench.worlds.support.intercom_situations import (
    PARCELS,
    REPAIRS,
)
from streamdecisionbench.worlds.support.payment import OUTCOMES as PAYMENT_OUTCOMES
from streamdecisionbench.worlds.support.payment import (
    SUBJECTS,
    PaymentCall,
)
from streamdecisionbench.worlds.support.payment_situations import (
    CAPTURING,
    HELPING,
    PAYING,
)
from streamdecisionbench.worlds.support.phrases import Phrase
from streamdecisionbench.worlds.support.voice import (
    FreeVoice,
    ListedVoice,
    Voice,
)

_LISTED = 2
"""Wordings of a purpose that the policy lists."""

_Phrases = dict[str, list[Phrase]]


def _draw_payment_call(opening: Opening) -> tuple[PaymentCall, State]:
    """A payment call at tick 0, and the state it starts from."""
    draws, seat = opening.draws, opening.seat
    cards = draws.choose(phrases.CARDS.of(seat.split))
    drawn = _payment_phrases(cards, draws.fork("phrases"), seat.split)
    menu = seat.suite.fork("menu").shuffled(SUBJECTS)[seat.number // 2 % len(SUBJECTS)]
    amount = draws.between(1200, 9800)
    stream = draws.fork("call")
    call = PaymentCall(
        opening=opening,
        draws=stream,
        voice=_voice(seat, "payment", {c: c for c in cards}, drawn, stream),
        hold_limit=draws.between(3, 6),
        cards=tuple(draws.shuffled(cards)),
        digits=draws.between(3, 5),
        amount=amount,
        subject=menu,
        router_online=draws.chance(0.4),
    )
    subjects = {f"subject_{s}": s for s in SUBJECTS}
    keys = {**subjects, **{f"card_{c}": f"card {c}" for c in cards}}
    keys |= {"consent": "consent", "withdrawal": "withdrawal"}
    keys |= {"capture_request": "request", "capture_stop": "stop"}
    listed = {key: [p.words for p in drawn.listed[purpose]] for key, purpose in keys.items()}
    free = seat.wording == "free"
    state = {
        "rules": PAYMENT_FREE_RULES if free else PAYMENT_RULES,
        "policy": {
            "hold_check_ticks": call.hold_limit,
            "digits_in_a_row": call.digits,
            **({"intents": PAYMENT_INTENTS} if free else {"phrases": listed}),
        },
        "clock": {"now": 0},
        "telephony": {
            "status": "connected",
            "since": 0,
            "menu_choice": menu,
            "seat": f"{draws.choose('ABCD')}-{draws.between(10, 39)}",
        },
        "transcript": [],
        "account": {
            "id": f"CB-{draws.between(20000, 89999)}",
            "holder": draws.choose(phrases.PEOPLE.of(seat.split)),
            "plan": draws.choose(phrases.PLANS.of(seat.split)),
            "card_names": list(call.cards),
        },
        "payment": {
            "status": "draft",
            "draft_since": 0,
            "left_draft_at": None,
            "amount": f"{amount // 100}.{amount % 100:02d}",
            "amount_since": 0,
            "captured": {"card": None, "number": False, "expiry": False, "code": False},
        },
        "service": {
            "line_test": {"status": "not_run", "result": None},
            "router": {
                "model": draws.choose(phrases.ROUTERS.of(seat.split)),
                "status": "online" if call.router_online else "offline",
            },
        },
        "checklist": {"identity": True, "consent": False, "goodbye": False},
        "log": [],
    }
    return call, state


def _draw_intercom_call(opening: Opening) -> tuple[IntercomCall, State]:
    """An intercom call at tick 0, and the state it starts from."""
    draws, seat = opening.draws, opening.seat
    parcels = phrases.PARCELS.draw(draws, seat.split, 2)
    devices = phrases.DEVICES.draw(draws, seat.split, 2)
    spoken = {item: name for item, name, *_ in (*parcels, *devices)}
    drawn = _intercom_phrases(
        [p[0] for p in parcels], [d[0] for d in devices], spoken, draws.fork("phrases"), seat.split
    )
    kind = draws.choose(["delivery", "cancel", "repair"])
    item = draws.choose(devices if kind == "repair" else parcels)[0]
    permitted = draws.sample(CHANNELS, draws.between(1, 2))
    stream = draws.fork("call")
    call = IntercomCall(
        opening=opening,
        draws=stream,
        voice=_voice(seat, "intercom", spoken, drawn, stream),
        hold_limit=draws.between(3, 6),
        parcels={
            p[0]: Parcel(p[1], draws.choose(["in_transit", "label_only"]), draws.between(9, 80))
            for p in parcels
        },
        devices={d[0]: Device(d[1], self_fit=draws.chance(0.5)) for d in devices},
        kind=kind,
        item=item,
        permitted=set(permitted),
        entered=set(permitted),
        owed=CHANNELS[seat.number // 2 % len(CHANNELS)],
        other_parcels=tuple(phrases.OTHER_PARCELS.draw(draws, seat.split, 2)),
    )
    free = seat.wording == "free"
    state = {
        "rules": INTERCOM_FREE_RULES if free else INTERCOM_RULES,
        "policy": {
            "hold_limit_ticks": call.hold_limit,
            **(
                {"intents": INTERCOM_INTENTS, "names": spoken}
                if free
                else _wordings(call, drawn.listed, spoken)
            ),
        },
        "clock": {"now": 0},
        "call": {
            "status": "connected",
            "since": 0,
            "menu_choice": {"kind": kind, "item": item},
        },
        "transcript": [],
        "case": {
            "id": f"LN-{draws.between(1000, 9999)}",
            "customer": f"{draws.choose(phrases.PEOPLE.of(seat.split))},"
            f" {draws.choose(phrases.STREETS.of(seat.split))}",
            "status": "open",
        },
        "parcels": {
            i: {
                "status": p.status,
                "deadline": p.deadline,
                "eta": draws.choose([None, p.deadline - draws.between(1, 6)]),
                "order_line": "shipped",
            }
            for i, p in call.parcels.items()
        },
        "carrier_callbacks": [],
        "devices": {
            d[0]: {
                "place": d[3],
                "test": {"status": "none", "result": None},
                "remote": {"status": "none", "result": None},
                "spare": {"self_fit": call.devices[d[0]].self_fit, "stock": 0},
            }
            for d in devices
        },
        "permission_log": [
            {"at": 0, "for": p, "says": "given", "by": "customer", "via": "portal"}
            for p in permitted
        ],
        "log": [],
    }
    return call, state


def _voice(seat: Seat, setting: str, spoken: dict[str, str], drawn: _Drawn, draws: Draws) -> Voice:
    if seat.wording == "free":
        return FreeVoice(setting, spoken, seat.split, draws)
    return ListedVoice(drawn.listed, drawn.unlisted, draws)


def _wordings(call: IntercomCall, listed: _Phrases, spoken: Mapping[str, str]) -> dict[str, Any]:
    """What the policy of an intercom call lists."""
    kinds = (("delivery", call.parcels), ("cancel", call.parcels), ("repair", call.devices))
    return {
        "requests": {
            kind: {i: [p.words for p in listed[f"{kind} {i}"]] for i in items}
            for kind, items in kinds
        },
        "corrections": [_opener(p, spoken[call.item]) for p in listed[f"correct {call.item}"]],
        "names": dict(spoken),
        "preferences": {c: [p.words for p in listed[c]] for c in CHANNELS},
    }


def _payment_phrases(cards: tuple[str, ...], draws: Draws, split: str) -> _Drawn:
    found = _Drawn(draws, split)
    for purpose in (*SUBJECTS, "consent", "withdrawal", "request", "stop"):
        found.add(purpose, {purpose: ""})
    found.add("card", {f"card {card}": card for card in cards})
    return found


def _intercom_phrases(
    parcels: list[str], devices: list[str], spoken: Mapping[str, str], draws: Draws, split: str
) -> _Drawn:
    found = _Drawn(draws, split)
    for kind, items in (
        ("delivery", parcels),
        ("cancel", parcels),
        ("repair", devices),
        ("correct", [*parcels, *devices]),
    ):
        found.add(kind, {f"{kind} {item}": spoken[item] for item in items})
    for channel in CHANNELS:
        found.add(channel, {channel: ""})
    return found


class _Drawn:
    """Which phrases of each purpose are listed, and which are only words of the same meaning."""

    def __init__(self, draws: Draws, split: str) -> None:
        self.listed: _Phrases = {}
        self.unlisted: _Phrases = {}
        self._draws, self._split = draws, split

    def add(self, kind: str, purposes: Mapping[str, str]) -> None:
        """Purposes of a kind share its listed phrases, each about its own name."""
        mixed = self._draws.shuffled(phrases.POOLS[kind].of(self._split))
        for purpose, name in purposes.items():
            about: list[Any] = [phrase.about(name) for phrase in mixed]
            self.listed[purpose], self.unlisted[purpose] = about[:_LISTED], about[_LISTED:]


def _opener(correction: Phrase, name: str) -> str:
    """The wording of a correction without the name that follows it."""
    return correction.words.removesuffix(name).strip()


WORDINGS = ("listed", "free")


def _open_payment(opening: Opening) -> PaymentCall:
    call, state = _draw_payment_call(opening)
    call.distract = partial(distract_payment, call)
    call.say_line("greeting")
    call.show("")
    must = {("instrument", card) for card in call.cards} | _end(opening.seat, "wrap")
    call.must_show = frozenset(must)
    account = state["account"]
    call.publish(
        family="support_call_assist",
        title=f"{account['plan']}, account {account['id']}: payment and connection",
        questions=payment_questions(call.cards),
        spec=PAYMENT_SPEC,
        project=projector(state, "telephony"),
        reference=reference,
    )
    return call


def _open_intercom(opening: Opening) -> IntercomCall:
    call, state = _draw_intercom_call(opening)
    call.distract = partial(distract_intercom, call)
    call.say_line("greeting")
    call.show("")
    items = {("delivery_target", item) for item in call.parcels}
    items |= {("repair_target", item) for item in call.devices}
    must = items | {("contact_channel", call.owed)} | _end(opening.seat, "closed")
    call.must_show = frozenset(must)
    known = {item: about for item, _, about, *_ in (*phrases.PARCELS.items, *phrases.DEVICES.items)}
    call.publish(
        family="support_call_assist",
        title=f"{state['case']['customer']}: {', '.join(p.name for p in call.parcels.values())}",
        questions=intercom_questions(
            {item: known[item] for item in call.parcels},
            {item: known[item] for item in call.devices},
        ),
        spec=INTERCOM_SPEC,
        project=projector(state, "call"),
        reference=reference,
    )
    return call


def _end(seat: Seat, route: str) -> set[tuple[str, str]]:
    """Every second call of a kind has to come to its end."""
    return {("route", route)} if seat.number // 2 % 2 == 0 else set()


KINDS: tuple[Kind[PaymentCall] | Kind[IntercomCall], ...] = (
    Kind("payment_call", (*HELPING, *PAYING, *CAPTURING), _open_payment, outcomes=PAYMENT_OUTCOMES),
    Kind("intercom_call", (*PARCELS, *REPAIRS), _open_intercom, outcomes=INTERCOM_OUTCOMES),
)
