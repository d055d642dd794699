"""The account of a payment call: subject, consent, card, form, capture, line and router."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from streamdecisionbench.worlds.generation.world import (
    Decision,
    Outcome,
    read_outcomes,
)
from streamdecisionbench.worlds.generation.world_simulator import Ticks
from streamdecisionbench.worlds.support.call import (
    ENDED,
    HOLD,
    Call,
)
from streamdecisionbench.worlds.support.phrases import (
    FEES,
    PURCHASES,
)
from streamdecisionbench.worlds.support.voice import (
    AGENT,
    CUSTOMER,
)

SUBJECTS = ("payment", "connection", "router")
DETAILS = ("number", "expiry", "code")
DIGITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(kw_only=True)
class PaymentCall(Call):
    """The world of one payment call."""

    cards: tuple[str, ...] = ()
    digits: int = 4
    """Digits in a row that pause the recorder while they are live."""
    amount: int = 4620
    subject: str = "payment"
    agreed: bool = False
    """Whether the last word on consent was a consent to the amount as it is now."""
    wanted_card: str = "unknown"
    """The card the customer named last, whether it still counts or not."""
    card: str = "unknown"
    payment: str = "draft"
    form: dict[str, Any] = field(default_factory=lambda: _empty(None))
    capturing: bool = False
    live: bool = False
    line: str = "not_run"
    """The line test: not_run, running, down or up."""
    tests: int = 0
    """Line tests that have come to a result."""
    router_online: bool = False
    shown: set[str] = field(default_factory=set)
    """Cards that some panel has named."""
    ticked: bool = False
    """Whether the checklist has a consent."""
    known: str = ""
    """The agent's last statement about line or router, as the panel has it."""
    resolved: bool = False
    """Whether the customer knows that the bank has approved a payment."""

    def decision(self) -> dict[str, str]:
        if self.status == ENDED:
            return {"route": "wrap", "recorder": "stop"}
        recorder = "pause" if self.capturing or self.live else "record"
        if self.status == HOLD:
            action = "return_customer" if self.on_hold_too_long else "wait"
            return {"route": "hold", "recorder": recorder, "hold_action": action}
        if self.subject != "payment":
            return {
                "route": "service",
                "recorder": recorder,
                "service_target": self.subject,
                "service_action": self._service(),
            }
        self.shown.add(self.card)
        return {
            "route": "payment",
            "recorder": recorder,
            "payment_stage": self._stage(),
            "instrument": self.card,
        }

    def _service(self) -> str:
        if self.subject == "router":
            return "confirm_online" if self.router_online else "check_power"
        return {
            "not_run": "run_test",
            "running": "wait_test",
            "down": "escalate_line",
            "up": "confirm_online",
        }[self.line]

    def _stage(self) -> str:
        if self.payment != "draft":
            return "wait" if self.payment == "processing" else "result"
        if not self.agreed:
            return "ask_consent"
        if self.card == "unknown":
            return "choose_card"
        return "submit" if self.complete else "collect"

    @property
    def at_rest(self) -> bool:
        if self.subject == "payment":
            return self.payment == "approved" and self.resolved
        return self.known == self._service() and self.known in ("escalate_line", "confirm_online")

    @property
    def complete(self) -> bool:
        """Whether the form has every detail of the chosen card."""
        return self.form["card"] == self.card and self.full

    @property
    def full(self) -> bool:
        """Whether a form has every detail, of whatever card."""
        return all(self.form[d] for d in DETAILS)

    @property
    def price(self) -> str:
        return money(self.amount)

    def return_shows(self) -> bool:
        return self.shows(hold_action="return_customer")

    def agent_says(self, purpose: str, cause: str, because: str, text: str = "") -> Ticks[None]:
        text = text or self.words(purpose)
        yield from self.speak(AGENT, text, cause, because, lambda: self.hear(purpose))

    def hear(self, purpose: str) -> None:
        kind, _, name = purpose.partition(" ")
        if purpose in SUBJECTS:
            self.subject = purpose
        elif kind == "card":
            self.wanted_card = name
            if self.payment == "draft":
                self.card = name
        elif purpose in ("consent", "withdrawal"):
            self.agreed = purpose == "consent"
        elif self.payment == "draft":
            self.capturing = purpose == "request"

    def turn_to(self, subject: str) -> Ticks[None]:
        """The customer names the subject, unless it is the subject already and not only by the menu."""
        if self.subject != subject or CUSTOMER not in self.spoke:
            yield from self.pause()
            yield from self.customer_says(
                subject, f"names {subject}", f"the customer turns to {subject}"
            )

    def draw_fee(self) -> int:
        return 100 * self.draws.between(3, 19) + self.draws.choose([0, 50])

    def raise_amount(self, fee: int) -> None:
        """Billing changes the amount: what was agreed before no longer counts."""
        self.amount += fee
        reason = self.draws.choose(FEES)
        self.tool(
            {"payment.amount": self.price, "payment.amount_since": self.now},
            f"billing: {reason} {money(fee)} added, now {self.price}",
            "cause: the consent was for another amount",
        )
        self.agreed = False

    def tick(self, note: str) -> bool:
        """The agent ticks off the consent without having looked; whether it was still to tick."""
        first = not self.ticked
        if first:
            fields = {"checklist.consent": True}
            self.tool(fields, "checklist: consent ticked by agent", note)
        self.ticked = True
        return first

    def open_form(self, card: str, note: str) -> None:
        self.form = _empty(card)
        self.tool({"payment.captured": _empty(card)}, f"form opened for {card}", note)

    def accept(self, detail: str, note: str) -> None:
        self.form[detail] = True
        self.tool(
            {f"payment.captured.{detail}": True}, f"form: {self.form['card']} {detail} in", note
        )

    def pay(self, note: str) -> None:
        """The payment leaves draft, which closes capture and settles the card."""
        if not self.agreed:
            self.count("payments_without_consent")
        self.tool(
            {"payment.status": "processing", "payment.left_draft_at": self.now},
            "payment: processing",
            note,
        )
        self.payment, self.capturing = "processing", False

    def answer(self, reply: str, note: str) -> None:
        self.tool({"payment.status": reply}, f"payment: {reply}", note)
        self.payment = reply

    def new_draft(self, note: str) -> None:
        """A fresh payment: nothing agreed, no details, but every card ever chosen counts again.

        What has been paid is not owed again: after an approval it is for something else.
        """
        text = "payment: new draft"
        if self.payment == "approved":
            self.amount = self.draws.between(900, 6900)
            what = self.draws.choose(PURCHASES)
            text = f"{text}, {what} {self.price}"
        self.tool(
            {
                "payment.status": "draft",
                "payment.amount": self.price,
                "payment.draft_since": self.now,
                "payment.left_draft_at": None,
                "payment.amount_since": self.now,
                "payment.captured": _empty(None),
            },
            text,
            note,
        )
        self.payment, self.agreed, self.form = "draft", False, _empty(None)
        self.card = self.wanted_card

    def test_line(self, status: str, note: str, text: str = "") -> None:
        result = status if status in ("up", "down") else None
        public = {"status": "complete" if result else status, "result": result}
        self.tool({"service.line_test": public}, text or f"line test: {status}", note)
        self.line = status
        self.tests += result is not None

    def switch_router(self, online: bool, note: str) -> None:
        self.router_online = online
        shown = "online" if online else "offline"
        self.tool({"service.router.status": shown}, f"router: {shown}", note)

    def hang_up(self) -> None:
        self.telephone(
            ENDED, "after_call", "cause: the call is over", "the telephone reports the end"
        )


def _digits_recorded(call: PaymentCall, panel: Decision) -> bool:
    return call.live and panel.get("recorder") not in ("pause", "stop")


def _audio_lost(call: PaymentCall, panel: Decision) -> bool:
    private = call.capturing or call.live or call.status == ENDED
    return not private and panel.get("recorder") in ("pause", "stop")


OUTCOMES: tuple[Outcome[PaymentCall], ...] = read_outcomes(
    __package__,
    "payment",
    digits_recorded_s=_digits_recorded,
    audio_lost_s=_audio_lost,
    kept_on_hold_s=lambda call, panel: call.kept_waiting,
    unresolved_s=lambda call, panel: not call.resolved,
)


def money(pence: int) -> str:
    return f"{pence // 100}.{pence % 100:02d}"


def _empty(card: str | None) -> dict[str, Any]:
    return {"card": card, "number": False, "expiry": False, "code": False}
