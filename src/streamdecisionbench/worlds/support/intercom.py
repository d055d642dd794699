"""The account of an intercom call: the work, parcels, callbacks, devices, permissions, channel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from streamdecisionbench.families.support import events as say
from streamdecisionbench.worlds.generation.world import (
    Decision,
    Outcome,
    read_outcomes,
)
from streamdecisionbench.worlds.generation.world_simulator import Ticks
from streamdecisionbench.worlds.support.call import (
    CONNECTED,
    ENDED,
    HOLD,
    Call,
)
from streamdecisionbench.worlds.support.phrases import LINES
from streamdecisionbench.worlds.support.voice import CUSTOMER

CHANNELS = ("email", "sms", "phone")
_ACTIONS = ("delivery_action", "cancellation_action", "repair_action")
_SETTLED = (
    "confirm_delivery",
    "open_case",
    "confirm_cancelled",
    "explain_refusal",
    "book_visit",
    "send_part",
    "explain_clear",
)
"""What ends a piece of work once the customer knows it."""
_UNDER_WAY = ("correct_address", "diagnose", "await_result", "request_access", "remote_check")
"""What something has to follow on, or nobody would hang up."""


@dataclass
class Parcel:
    """One parcel as the shop and the carrier see it."""

    name: str
    status: str
    deadline: int
    answer: str = "cancel_request"
    """What the carrier's callbacks come to."""
    queried: bool = False
    """Whether the carrier has asked for its address, which it does once."""

    @property
    def called_off(self) -> bool:
        return self.answer == "confirm_cancelled"


@dataclass
class Device:
    """One device: its test, its remote check, its spare part."""

    name: str
    test: str = "none"
    """none, running, or the result of a finished test."""
    remote: str = "none"
    self_fit: bool = False
    stock: int = 0


@dataclass(kw_only=True)
class IntercomCall(Call):
    """The world of one intercom call."""

    parcels: dict[str, Parcel] = field(default_factory=dict)
    devices: dict[str, Device] = field(default_factory=dict)
    kind: str = "delivery"
    item: str = ""
    preferred: str = "none"
    permitted: set[str] = field(default_factory=set)
    unwanted: set[str] = field(default_factory=set)
    """Parcels that the customer has asked to call off."""
    lost: bool = False
    """Whether the preferred channel has lost its permission once."""
    entered: set[str] = field(default_factory=set)
    """Permissions whose last entry says given, whoever made it."""
    other_parcels: tuple[str, ...] = ()
    shown: set[str] = field(default_factory=set)
    """Items and channels that some card has named."""
    remote_checks: int = 0
    """Remote checks that have come to a result."""
    last_statement: tuple[str, str] = ("", "")
    """What the agent said last of a card: action and item."""
    settled: set[tuple[str, str]] = field(default_factory=set)
    """Work whose end the customer knows."""
    owed: str = "email"
    """The channel that has its turn in this call."""

    def decision(self) -> dict[str, str]:
        channel = self.preferred if self.preferred in self.permitted else "none"
        self.shown.add(channel)
        return {"contact_channel": channel, **self._card()}

    def _card(self) -> dict[str, str]:
        if self.status == ENDED:
            return {"route": "closed"}
        if self.status == HOLD:
            return {"route": "hold_return" if self.on_hold_too_long else "hold_wait"}
        self.shown.add(self.item)
        if self.kind == "repair":
            return {
                "route": "repair",
                "repair_target": self.item,
                "repair_action": self._repair(self.devices[self.item]),
            }
        parcel = self.parcels[self.item]
        if self.kind == "cancel":
            action = {"cancellation_action": parcel.answer}
        else:
            action = {"delivery_action": self._delivery(parcel)}
        return {"route": self.kind, "delivery_target": self.item, **action}

    def _delivery(self, parcel: Parcel) -> str:
        settled = {"delivered": "confirm_delivery", "address_query": "correct_address"}
        if parcel.status in settled:
            return settled[parcel.status]
        if self.now >= parcel.deadline:
            return "open_case"
        return "check_tracking" if parcel.status == "label_only" else "wait"

    def _repair(self, device: Device) -> str:
        finding = device.test
        if finding == "unclear":
            finding = device.remote
            if finding == "none":
                return "remote_check" if "remote_access" in self.permitted else "request_access"
        if finding in ("none", "running"):
            return {"none": "diagnose", "running": "await_result"}[finding]
        if finding == "clear":
            return "explain_clear"
        return "send_part" if device.self_fit and device.stock else "book_visit"

    @property
    def at_rest(self) -> bool:
        action = next((v for k, v in self.decision().items() if k in _ACTIONS), "")
        return self.last_statement == (action, self.item) and action not in _UNDER_WAY

    @property
    def open_parcels(self) -> list[str]:
        """Parcels that are neither delivered nor called off."""
        return [i for i, p in self.parcels.items() if p.status != "delivered" and not p.called_off]

    @property
    def awaited(self) -> list[str]:
        """Open parcels that the customer still wants to have."""
        return [item for item in self.open_parcels if item not in self.unwanted]

    def report(self) -> Ticks[None]:
        """The agent tells the customer what the card says."""
        yield from self.wait(1)
        if not (yield from self.until(lambda: self._on_the_card() in LINES, most=2)):
            self.acknowledge()
            return
        if self.status != CONNECTED:
            return
        action, panel, right = self._on_the_card(), self.panel, self.decision()
        target = panel.get("delivery_target") or panel.get("repair_target") or ""
        known = target if target in self.parcels or target in self.devices else self.item
        if (action, known) == self.last_statement:
            return
        self.last_statement = action, known
        so = action in right.values() and known == self.item
        yield from self.tell(action, name=self.name(known))
        self.count_statement(so)
        if so and action in _SETTLED:
            self.settled.add((self.kind, self.item))

    def attend(self) -> Ticks[None]:
        """The agent sees to what the customer has asked for."""
        if self.kind == "repair" and self.devices[self.item].test == "none":
            yield from self.examine(self.draws.choose(["clear", "hardware"]))
        else:
            yield from self.report()

    def examine(self, result: str) -> Ticks[None]:
        """The device of the work tests itself; `result` comes out."""
        item = self.item
        yield from self.wait(1)
        yield from self.see(3, repair_action="diagnose")
        yield from self.tell("diagnose", name=self.name(item))
        yield from self.wait(1)
        self.test(item, "running", "cause: the test runs")
        self.show("the self-test runs")
        yield from self.breathe()
        other = next(i for i in self.devices if i != item)
        self.trap_log(f"{self.name(other)}: heartbeat ok", "the other device")
        yield from self.pause(1, 3)
        self.test(item, result, f"cause: the result is {result}")
        self.show(f"the self-test says {result}")
        yield from self.report()

    def _on_the_card(self) -> str:
        found = (self.panel.get(name) for name in _ACTIONS)
        return next((action for action in found if isinstance(action, str)), "")

    def follow_up(self) -> None:
        """What goes out after the call, by the channel on the card."""
        channel = self.panel.get("contact_channel")
        if channel in CHANNELS:
            text = f"follow-up: sent by {channel}"
            self.emit(say.log(self.now, text, "the follow-up goes out"))
            if channel not in self.permitted:
                self.count("contacts_without_permission")

    def return_shows(self) -> bool:
        return self.shows(route="hold_return")

    def hear(self, purpose: str) -> None:
        kind, _, item = purpose.partition(" ")
        if purpose in CHANNELS:
            self.preferred = purpose
        elif kind != "correct":
            self.kind, self.item = kind, item
        elif (item in self.devices) == (self.kind == "repair"):
            self.unwanted.discard(self.item)
            self.item = item
        if self.kind == "cancel":
            self.unwanted.add(self.item)

    def ask(self, kind: str, item: str) -> Ticks[None]:
        """The customer asks for this work, unless it is the work already and not only by the menu."""
        if (self.kind, self.item) != (kind, item) or CUSTOMER not in self.spoke:
            yield from self.pause()
            name = self.name(item)
            yield from self.customer_says(f"{kind} {item}", f"asks: {kind}", f"{kind}: the {name}")

    def name(self, item: str) -> str:
        known = self.parcels.get(item) or self.devices.get(item)
        return known.name if known else item

    def next_parcel(self) -> str:
        """A parcel that is still to come, and that no card has named while there is one."""
        return self._turn_of(self.awaited)

    def next_device(self) -> str:
        """A device that was not tested, while there is one."""
        untested = [item for item, device in self.devices.items() if device.test == "none"]
        return self._turn_of(untested or list(self.devices))

    def next_channel(self) -> str:
        """Another channel than the preferred one; the one that has its turn comes first."""
        if self.owed not in (self.preferred, *self.shown):
            return self.owed
        return self.draws.choose([c for c in CHANNELS if c != self.preferred])

    def _turn_of(self, items: list[str]) -> str:
        return self.draws.choose([i for i in items if i not in self.shown] or items)

    def ship(self, item: str, status: str, text: str, note: str) -> None:
        self.parcels[item].status = status
        self.tool({f"parcels.{item}.status": status}, text, note)

    def promise(self, item: str, deadline: int, eta: int, note: str) -> None:
        """The shop sets another deadline."""
        parcel = self.parcels[item]
        parcel.deadline = deadline
        self.tool(
            {f"parcels.{item}.deadline": deadline, f"parcels.{item}.eta": eta},
            f"shop: {parcel.name} promise corrected to {deadline}, carrier expects {eta}",
            note,
        )

    def call_back(self, item: str, outcome: str, text: str, note: str) -> None:
        """The carrier calls back, about one of our parcels or another one."""
        entry = {"parcel": item, "outcome": outcome, "text": f"carrier desk: {text}"}
        self.happen(say.feed(self.now, "carrier_callbacks", entry, note))
        decisive = {"cancelled": "confirm_cancelled", "refused": "explain_refusal"}
        if item in self.parcels and outcome in decisive:
            self.parcels[item].answer = decisive[outcome]

    def test(self, item: str, status: str, note: str) -> None:
        """The self-test: none, running, or its result."""
        device = self.devices[item]
        device.test = status
        self.tool(
            {f"devices.{item}.test": _public(status)}, f"{device.name}: self-test {status}", note
        )

    def restart(self, item: str) -> None:
        """Somebody switches the device off and on, so that it has to be tested again."""
        device = self.devices[item]
        device.test = device.remote = "none"
        self.last_statement = "", ""
        empty = {f"devices.{item}.{check}": _public("none") for check in ("test", "remote")}
        text = f"{device.name}: switched off and on, results cleared"
        self.tool(empty, text, "cause: what was found is void")
        self.show("the device has to be tested anew")

    def remote(self, item: str, status: str, note: str) -> None:
        device = self.devices[item]
        device.remote = status
        self.remote_checks += status not in ("none", "running")
        fields = {f"devices.{item}.remote": _public(status)}
        self.tool(fields, f"{device.name}: remote check {status}", note)

    def stock(self, item: str, stock: int, note: str) -> None:
        device = self.devices[item]
        device.stock = stock
        self.tool(
            {f"devices.{item}.spare.stock": stock}, f"stores: {stock} for the {device.name}", note
        )

    def fit(self, item: str, self_fit: bool, note: str) -> None:
        """Whether the customer can fit the spare part without a technician."""
        device = self.devices[item]
        device.self_fit = self_fit
        what = "listed as fit without tools" if self_fit else "listed for technicians only"
        fields = {f"devices.{item}.spare.self_fit": self_fit}
        self.tool(fields, f"stores: {device.name} part {what}", note)

    def permit(self, permission: str, given: bool, by: str, note: str) -> None:
        """An entry of the permission log; only the customer's own count."""
        says = "given" if given else "withdrawn"
        via = self.draws.choose(["portal", "link"]) if by == CUSTOMER else "desk"
        entry = {"for": permission, "says": says, "by": by, "via": via}
        self.happen(say.feed(self.now, "permission_log", entry, note))
        (self.entered.add if given else self.entered.discard)(permission)
        if by == CUSTOMER:
            (self.permitted.add if given else self.permitted.discard)(permission)

    def hang_up(self) -> None:
        self.telephone(ENDED, "ended", "cause: the call is over", "the telephone reports the end")


def _unresolved(call: IntercomCall, panel: Decision) -> bool:
    return call.status != ENDED and (call.kind, call.item) not in call.settled


OUTCOMES: tuple[Outcome[IntercomCall], ...] = read_outcomes(
    __package__,
    "intercom",
    kept_on_hold_s=lambda call, panel: call.kept_waiting,
    unresolved_s=_unresolved,
)


def _public(status: str) -> dict[str, Any]:
    if status in ("none", "running"):
        return {"status": status, "result": None}
    return {"status": "done", "result": status}
