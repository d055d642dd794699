"""New support calls from a seed: payment calls, and calls about parcels and intercom devices."""

from __future__ import annotations

from functools import partial

from streamdecisionbench.families.support.generator import names
from streamdecisionbench.families.support.generator.bystanders import (
    distract_intercom,
    distract_payment,
)
from streamdecisionbench.families.support.generator.capturing import CAPTURING
from streamdecisionbench.families.support.generator.helping import HELPING
from streamdecisionbench.families.support.generator.intercom import OUTCOMES as INTERCOM_OUTCOMES
from streamdecisionbench.families.support.generator.intercom import IntercomCall
from streamdecisionbench.families.support.generator.openings import open_intercom, open_payment
from streamdecisionbench.families.support.generator.parcels import PARCELS
from streamdecisionbench.families.support.generator.paying import PAYING
from streamdecisionbench.families.support.generator.payment import OUTCOMES as PAYMENT_OUTCOMES
from streamdecisionbench.families.support.generator.payment import PaymentCall
from streamdecisionbench.families.support.generator.repairs import REPAIRS
from streamdecisionbench.families.support.questions import (
    INTERCOM_SPEC,
    PAYMENT_SPEC,
    intercom_questions,
    payment_questions,
)
from streamdecisionbench.families.support.reference import reference
from streamdecisionbench.families.support.state import projector
from streamdecisionbench.suite.authoring import Draft
from streamdecisionbench.suite.generation.draws import Draws, Seat
from streamdecisionbench.suite.generation.script import Script
from streamdecisionbench.suite.generation.world import Kind, Opened
from streamdecisionbench.suite.scenario import State

WORDINGS = ("listed", "free")


def _open_payment(script: Script, draws: Draws, seat: Seat) -> Opened[PaymentCall]:
    call, state = open_payment(script, draws, seat)
    script.distract, script.stream = partial(distract_payment, call), call.draws
    call.say_line("greeting")
    call.show("")
    must = {("instrument", card) for card in call.cards} | _end(seat, "wrap")
    return Opened(call, partial(_payment_draft, call, state), frozenset(must))


def _open_intercom(script: Script, draws: Draws, seat: Seat) -> Opened[IntercomCall]:
    call, state = open_intercom(script, draws, seat)
    script.distract, script.stream = partial(distract_intercom, call), call.draws
    call.say_line("greeting")
    call.show("")
    items = {("delivery_target", item) for item in call.parcels}
    items |= {("repair_target", item) for item in call.devices}
    must = items | {("contact_channel", call.owed)} | _end(seat, "closed")
    return Opened(call, partial(_intercom_draft, call, state), frozenset(must))


def _end(seat: Seat, route: str) -> set[tuple[str, str]]:
    """Every second call of a kind has to come to its end."""
    return {("route", route)} if seat.number // 2 % 2 == 0 else set()


def _payment_draft(call: PaymentCall, state: State, scenario_id: str) -> Draft:
    account = state["account"]
    return Draft(
        scenario_id=scenario_id,
        task_family="support_call_assist",
        title=f"{account['plan']}, account {account['id']}: payment and connection",
        questions=payment_questions(call.cards),
        decision_spec=PAYMENT_SPEC,
        events=tuple(call.script.events),
        changes=call.script.changes(),
        project=projector(state, "telephony"),
        reference=reference,
        steps=call.script.steps,
    )


def _intercom_draft(call: IntercomCall, state: State, scenario_id: str) -> Draft:
    known = {item: about for item, _, about, *_ in (*names.PARCELS.items, *names.DEVICES.items)}
    return Draft(
        scenario_id=scenario_id,
        task_family="support_call_assist",
        title=f"{state['case']['customer']}: {', '.join(p.name for p in call.parcels.values())}",
        questions=intercom_questions(
            {item: known[item] for item in call.parcels},
            {item: known[item] for item in call.devices},
        ),
        decision_spec=INTERCOM_SPEC,
        events=tuple(call.script.events),
        changes=call.script.changes(),
        project=projector(state, "call"),
        reference=reference,
        steps=call.script.steps,
    )


KINDS: tuple[Kind[PaymentCall] | Kind[IntercomCall], ...] = (
    Kind("payment_call", (*HELPING, *PAYING, *CAPTURING), _open_payment, outcomes=PAYMENT_OUTCOMES),
    Kind("intercom_call", (*PARCELS, *REPAIRS), _open_intercom, outcomes=INTERCOM_OUTCOMES),
)
