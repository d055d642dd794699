"""Support calls that answer back: what wrong decisions come to, and stories that hold together."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise, product
from typing import Any

import pytest

from streamdecisionbench.families.support import reference
from streamdecisionbench.families.support.misreadings import MISREADINGS
from streamdecisionbench.suite.authoring import expand
from streamdecisionbench.suite.misreading import Misreading, misread
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.worlds.generate import (
    generate,
    open_world,
)
from streamdecisionbench.worlds.generation.draws import Draws
from streamdecisionbench.worlds.generation.parameters import Parameters
from streamdecisionbench.worlds.generation.world import (
    Held,
    World,
)
from streamdecisionbench.worlds.support.phrases import (
    LEAVE,
    LEFT,
    LINES,
    NOTES,
)
from streamdecisionbench.worlds.support.voice import plain
from tests.families.test_worlds import PLAYERS, play

pytestmark = pytest.mark.slow

FAMILY = "support_call_assist"
PREVENTABLE = (
    "digits_recorded_s",
    "audio_lost_s",
    "payments_without_consent",
    "kept_on_hold_s",
    "told_wrong",
    "checks_without_access",
    "contacts_without_permission",
)
Decided = Callable[[World[Any], dict[str, str]], dict[str, str]]


@cache
def opened(number: int, seed: int = 1, wording: str = "listed") -> World[Any]:
    parameters = Parameters(seed=seed, families=(FAMILY,), wording=wording)
    return open_world(FAMILY, parameters, number=number)


def played(number: int, decided: Decided, seed: int = 1) -> World[Any]:
    """To the end, with another decision than the right one in force at once."""
    world = opened(number, seed).again()
    tick = world.right.tick_seconds
    while not world.done:
        held = decided(world, dict(world.reference()))
        world.advance((world.t + 1) * tick, [(world.t * tick, held)])
    return world


def prevented(world: World[Any], but: str = "") -> list[float]:
    found = world.outcomes()
    return [found[name] for name in PREVENTABLE if name in found and name != but]


def holds_of(world: World[Any]) -> Iterator[tuple[int, int]]:
    """From and to which tick the customer was on hold."""
    events = [(e.at, e.data["status"]) for e in world.simulator.events if e.kind == "phone"]
    for one, other in pairwise([*events, (world.simulator.steps, "over")]):
        if one[1] == "hold":
            yield one[0], other[0]


@pytest.mark.parametrize("wording", ["listed", "free"])
def test_right_decisions_prevent_everything_that_can_be(wording: str) -> None:
    for number in range(10):
        world = opened(number, 3, wording).again()
        world.play_right()
        assert set(prevented(world)) == {0.0}


@pytest.mark.parametrize(
    ("outcome", "command", "seconds"),
    [("digits_recorded_s", "record", 3.5), ("audio_lost_s", "pause", 2.75), ("audio_lost_s", "stop", 0.3)],
)  # fmt: skip
def test_the_recorder_is_wrong_for_exactly_so_long(
    outcome: str, command: str, seconds: float
) -> None:
    world = opened(0).again()
    call, tick, left = world.simulator, world.right.tick_seconds, seconds
    while not world.done:
        right, now = dict(world.reference()), world.t * world.right.tick_seconds
        counts = call.live if command == "record" else right["recorder"] == "record"
        wrong = min(left, tick) if counts else 0.0
        left -= wrong
        held: Held = [(now, right | {"recorder": command}), (now + wrong, right)]
        world.advance(now + tick, held if wrong else held[1:])
    assert left == 0
    assert world.outcomes()[outcome] == pytest.approx(seconds, abs=1e-9)
    assert set(prevented(world, outcome)) == {0.0}


def test_a_payment_is_sent_without_consent_exactly_once() -> None:
    """The panel skips the consent until a payment has gone to the bank."""

    def hasty(world: World[Any], right: dict[str, str]) -> dict[str, str]:
        call = world.simulator
        if right.get("payment_stage") != "ask_consent" or call.counts:
            return right
        return right | {"payment_stage": "submit" if call.full else "collect"}

    world = played(0, hasty)
    assert world.outcomes()["payments_without_consent"] == 1
    assert set(prevented(world, "payments_without_consent")) == {0.0}


@pytest.mark.parametrize("number", range(10))
def test_customers_wait_as_long_as_nobody_tells_the_agent(number: int) -> None:
    def wait(world: World[Any], right: dict[str, str]) -> dict[str, str]:
        if "hold_action" in right:
            return right | {"hold_action": "wait"}
        return right | {"route": "hold_wait"} if right["route"] == "hold_return" else right

    world = played(number, wait)
    limit = world.simulator.hold_limit
    late = sum(max(to - at - limit - 1, 0) for at, to in holds_of(world))
    assert world.outcomes()["kept_on_hold_s"] == late * world.right.tick_seconds
    right = opened(number)
    assert late > 0 or all(b["route"] != "hold_return" and b.get("hold_action") != "return_customer" for b in right.right.reference())  # fmt: skip


# Stories, over many generated calls.


@cache
def stories() -> tuple[Scenario, ...]:
    found = [
        scenario
        for seed, wording in ((21, "listed"), (22, "listed"), (23, "free"), (24, "free"))
        for scenario in generate(Parameters(seed=seed, families=(FAMILY,), wording=wording))
    ]
    return tuple(found)


def states(kind: str = "") -> Iterator[list[dict[str, Any]]]:
    for scenario in stories():
        if kind in scenario.episode_id:
            yield [step.state for step in scenario.steps]


def telephone(state: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = state.get("telephony") or state["call"]
    return found


def lines(state: dict[str, Any], since: int, to: int) -> list[str]:
    """What agents said and the desk noted within these ticks."""
    said = [u for u in state["transcript"] if u["speaker"] == "agent" and u["final"]]
    return [x["text"] for x in (*said, *state["log"]) if since <= x["at"] <= to]


def logged(state: dict[str, Any], text: str) -> list[int]:
    return [line["at"] for line in state["log"] if re.match(text, line["text"])]


def test_agents_greet() -> None:
    for steps in states():
        assert [u["speaker"] for u in steps[0]["transcript"]][:1] == ["agent"]
    first = {steps[0]["transcript"][0]["text"] for steps in states()}
    assert len(first) >= 5


Steps = list[dict[str, Any]]


@cache
def told() -> tuple[Steps, ...]:
    """Calls played right, and calls lived through by panels of all sorts."""
    found = list(states())
    for wording, number in product(("listed", "free"), range(6)):
        for player in PLAYERS:
            world = opened(number, 5, wording).again()
            play(world, player, Draws("told", number))
            found.append([step.state for step in expand(world.draft()).steps])
    return tuple(found)


def test_nobody_speaks_after_the_end() -> None:
    for steps in told():
        end = telephone(steps[-1])
        if end["status"] in ("after_call", "ended"):
            assert all(u["final"] and u["at"] <= end["since"] for u in steps[-1]["transcript"])


def test_a_voice_says_one_thing_at_a_time() -> None:
    """Of one speaker at most one utterance is heard at a tick, and none while another is live.

    Only a recogniser may be late: then all words of the live one were heard before.
    """
    for steps in told():
        whole = {u["id"]: plain(u["text"]) for u in steps[-1]["transcript"]}
        for state in steps:
            now = state["clock"]["now"]
            for speaker in ("customer", "agent", "background"):
                said = [u for u in state["transcript"] if u["speaker"] == speaker]
                heard = [u["id"] for u in said if u["at"] == now]
                assert len(heard) <= 1, (now, [u for u in said if u["at"] == now])
                live = {u["id"]: u["text"] for u in said if not u["final"]}
                assert all(live[i] == whole[i] for i in live if heard not in ([], [i])), (now, live)


def test_a_partial_grows_into_its_final() -> None:
    """But for its last word, which a recogniser may have expected, and for digits."""
    digit = re.compile(r"\d|\b(oh|one|two|three|four|five|six|seven|eight|nine)\b")
    for steps in told():
        before: dict[str, str] = {}
        for state in steps:
            for heard in state["transcript"]:
                now, then = plain(heard["text"]), before.get(heard["id"], "")
                kept = digit.split(then)[0] if digit.search(then) else then.rpartition(" ")[0]
                assert now.startswith(kept), (then, now)
                before[heard["id"]] = now


def test_a_customer_is_answered() -> None:
    """Never more than three things in a row without a word of the agent or a note of the desk."""
    for steps in told():
        turns = [(u["at"], u["speaker"]) for u in steps[-1]["transcript"] if u["final"]]
        turns += [(at, "agent") for at in logged(steps[-1], "desk: ")]
        row = 0
        for _, speaker in sorted(turns):
            row = row + 1 if speaker == "customer" else 0 if speaker == "agent" else row
            assert row <= 4


def test_nobody_takes_leave_in_the_middle_of_a_call() -> None:
    for steps in states():
        leave = [u["at"] for u in steps[-1]["transcript"] if re.search(r"\b[Bb]ye\b|Goodbye", u["text"])]  # fmt: skip
        assert all(at >= len(steps) - 10 for at in leave)


def test_a_customer_who_leaves_content_knows_the_end_of_it() -> None:
    open_work = {
        "ask_consent", "choose_card", "collect", "submit", "wait", "run_test", "wait_test", "check_power",
        "correct_address", "diagnose", "await_result", "request_access", "remote_check",
    }  # fmt: skip
    left = 0
    for scenario in stories():
        said = scenario.steps[-1].state
        for line in (*said["transcript"], *said["log"]):
            if line["text"] in (*LEAVE["content"], LEFT["content"]):
                gold = scenario.steps[line["at"]].gold
                stage = {
                    gold.get("payment_stage"),
                    gold.get("service_action"),
                    gold.get("repair_action"),
                }
                assert not stage & open_work, (scenario.episode_id, stage)
                left += 1
    assert left >= 8


def test_what_the_customer_turns_to_is_seen_to() -> None:
    """Between two subjects or two pieces of work the agent says something, or the desk notes it."""
    for scenario in stories():
        last = scenario.steps[-1].state
        lines_at = {u["at"] for u in last["transcript"] if u["speaker"] == "agent"}
        lines_at |= set(logged(last, "desk: ")) | set(logged(last, "telephony: "))
        turns = []
        for now, after in pairwise(scenario.steps):
            if telephone(now.state)["status"] == telephone(after.state)["status"] == "connected":
                about = [(s.gold["route"], s.gold.get("service_target"), s.gold.get("delivery_target"), s.gold.get("repair_target")) for s in (now, after)]  # fmt: skip
                turns += [after.t] if about[0] != about[1] else []
        hurried = [b for a, b in pairwise(turns) if not lines_at & set(range(a, b + 1))]
        assert len(hurried) <= 1, (
            scenario.episode_id,
            hurried,
        )  # one sentence may overtake another


def test_nobody_agrees_to_a_sum_unheard_of() -> None:
    agreed = 0
    for scenario in stories():
        for now, after in pairwise(scenario.steps):
            stages = now.gold.get("payment_stage"), after.gold.get("payment_stage")
            if stages[0] == "ask_consent" and stages[1] in ("choose_card", "collect", "submit"):
                amount = after.state["payment"]["amount"]
                assert any(amount in text for text in lines(after.state, 0, after.t))
                agreed += 1
    assert agreed >= 30


def test_nobody_asks_where_a_parcel_is_that_has_come_or_is_not_wanted() -> None:
    for scenario in stories():
        for now, after in pairwise(scenario.steps):
            target = after.gold.get("delivery_target", "none")
            asked = (now.gold["route"], now.gold.get("delivery_target")) != ("delivery", target)
            if after.gold["route"] == "delivery" and asked and now.gold["route"][:4] != "hold":
                parcel, seen = now.state["parcels"][target], now.state["carrier_callbacks"]
                gone = [c for c in seen if (c["parcel"], c["outcome"]) == (target, "cancelled")]
                assert parcel["status"] != "delivered"
                assert not gone
                name = now.state["policy"]["names"][target]
                asked_off = {line.format(name=name) for line in LINES["cancel_request"]}
                assert not asked_off & set(lines(now.state, 0, now.t))


def test_a_parcel_moves_step_by_step_and_its_address_is_asked_for_once() -> None:
    for steps in states("intercom"):
        for item in steps[0]["parcels"]:
            ways = [state["parcels"][item]["status"] for state in steps]
            moves = [(a, b) for a, b in pairwise(ways) if a != b]
            assert ("label_only", "delivered") not in moves
            assert ("label_only", "address_query") not in moves
            assert sum(b == "address_query" for _, b in moves) <= 1
            for at, (a, b) in enumerate(pairwise(ways), start=1):
                if (a, b) == ("address_query", "in_transit"):
                    thanks = [t for t in lines(steps[at], at - 3, at) if "number" in t.lower()]
                    assert thanks


def test_only_a_permission_that_was_given_is_withdrawn() -> None:
    for steps in told():
        own: set[str] = set()
        for entry in steps[-1].get("permission_log", ()):
            given, mine = entry["says"] == "given", entry["by"] == "customer"
            assert given or not mine or entry["for"] in own, entry
            if mine:
                (own.add if given else own.discard)(entry["for"])


def test_no_twelve_ticks_of_nothing_but_the_clock() -> None:
    for scenario in stories():
        busy = [-1, *(step.t for step in scenario.steps if step.evidence), scenario.n]
        assert max(b - a for a, b in pairwise(busy)) <= 12


def test_no_sentence_is_in_most_calls() -> None:
    for kind in ("payment", "intercom"):
        said = [
            {u["text"] for u in steps[-1]["transcript"] if u["final"]} for steps in states(kind)
        ]
        heard = Counter(text for texts in said for text in texts)
        heard = Counter({text: n for text, n in heard.items() if "[digits removed]" not in text})
        assert max(heard.values()) <= 0.5 * len(said), heard.most_common(3)


def test_holds_are_announced_right_before_they_begin() -> None:
    for steps in states():
        for now, after in pairwise(steps):
            if telephone(after)["status"] == "hold" != telephone(now)["status"]:
                at = telephone(after)["since"]
                assert lines(after, at - 1, at - 1)
        for state in steps:
            waiting = [u["at"] for u in state["transcript"] if u["text"] in LINES["ages"]]
            assert not waiting  # only a panel that forgets a customer lets it come to that


def test_goodbye_is_ticked_at_the_end_only() -> None:
    for steps in states("payment"):
        for at in logged(steps[-1], "checklist: goodbye"):
            assert telephone(steps[-1])["status"] == "after_call"
            assert telephone(steps[-1])["since"] - at <= 2


def lines_for(line: str) -> set[str]:
    return {text for text in (*LINES[line], NOTES.get(line, "")) if text and "{" not in text}


def test_consent_is_asked_for_by_amount_and_the_bank_is_heard_of() -> None:
    asked = told = 0
    for steps in states("payment"):
        final = steps[-1]
        for reply in ("approved", "declined"):
            for at in logged(final, f"payment: {reply}"):
                told += 1
                heard = set(lines(final, at + 1, at + 3))
                assert heard & lines_for(reply) or at + 1 >= len(steps)
        for at in logged(final, "payment: processing"):
            amount = steps[at]["payment"]["amount"]
            since = steps[at]["payment"]["amount_since"]
            named = [text for text in lines(final, 0, at) if amount in text]
            assert named or set(lines(final, since - 1, since)) & lines_for("fee")
            asked += 1
    assert asked >= 10
    assert told >= 10


def test_a_form_fills_after_the_number_was_asked_for_and_said() -> None:
    for steps in states("payment"):
        final = steps[-1]
        for at in logged(final, r"form: \w+ number in"):
            said = [
                u
                for u in final["transcript"]
                if u["speaker"] == "customer" and u["at"] == at and "[digits removed]" in u["text"]
            ]
            assert said
            assert any("pause" in [*step.gold.values()] for step in _scenario(steps).steps[at - 1 : at])  # fmt: skip


def _scenario(steps: list[dict[str, Any]]) -> Scenario:
    return next(s for s in stories() if s.steps[0].state is steps[0])


def test_no_payment_is_sent_with_an_empty_form_and_nothing_is_paid_twice() -> None:
    for steps in states("payment"):
        for now, after in pairwise(steps):
            if now["payment"]["status"] != "processing" == after["payment"]["status"]:
                form = after["payment"]["captured"]
                assert all(form[detail] for detail in ("number", "expiry", "code"))
            if now["payment"]["status"] == "approved" and after["payment"]["status"] == "draft":
                assert after["payment"]["amount"] != now["payment"]["amount"]


def test_the_number_is_not_asked_for_when_the_form_is_complete() -> None:
    for scenario in stories():
        if "payment" not in scenario.episode_id:
            continue
        for now, after in pairwise(scenario.steps):
            opens = now.gold["recorder"] == "record" and after.gold["recorder"] == "pause"
            live = any(not u["final"] for u in after.state["transcript"])
            assert not opens or live or after.gold["payment_stage"] != "submit"


def test_parcels_do_not_come_back() -> None:
    """Delivered stays delivered, nothing travels that was called off, a label is a beginning."""
    for steps in states("intercom"):
        for now, after in pairwise(steps):
            called_off = {
                c["parcel"] for c in now["carrier_callbacks"] if c["outcome"] == "cancelled"
            }
            for item, parcel in now["parcels"].items():
                moved = after["parcels"][item]["status"]
                if parcel["status"] == "delivered" or item in called_off:
                    assert moved == parcel["status"]
                assert moved != "label_only" or parcel["status"] == "label_only"


def test_nobody_sends_a_replacement() -> None:
    for steps in states("intercom"):
        assert not logged(steps[-1], ".*replacement")


def test_a_panel_that_tells_wrong_things_is_counted() -> None:
    """Whatever the card says about a device, the agent repeats it."""

    def nothing_wrong(world: World[Any], right: dict[str, str]) -> dict[str, str]:
        return right | {"repair_action": "explain_clear"} if "repair_action" in right else right

    lied = [played(number, nothing_wrong).outcomes()["told_wrong"] for number in (1, 3, 5, 7, 9)]
    assert max(lied) >= 1


def test_agents_follow_up_by_the_channel_on_the_card() -> None:
    def by_phone(world: World[Any], right: dict[str, str]) -> dict[str, str]:
        return right | {"contact_channel": "phone"} if "contact_channel" in right else right

    for number in (1, 3, 5, 7, 9):
        world = played(number, by_phone)
        sent = [e for e in world.simulator.events if "follow-up" in str(e.data.get("text"))]
        wrong = bool(sent) and "phone" not in world.simulator.permitted
        assert world.outcomes()["contacts_without_permission"] == wrong


def test_half_of_the_rules_matter_in_every_call() -> None:
    """A rule matters in a call that has something to notice one of its misreadings by."""

    def noticed(scenario: Scenario, misreading: Misreading) -> bool:
        read, decision = misread(reference, misreading), scenario.decision_spec.compose
        try:
            return any(decision(read(s.state)) != decision(s.gold) for s in scenario.steps)
        except KeyError:  # a misreading may lead to an item that does not exist
            return True

    for scenario in stories()[:20]:
        rules = scenario.steps[0].state["rules"]
        wrong = [m for m in MISREADINGS if not m.answers_only and m.rule in rules]
        matter = {m.rule for m in wrong if noticed(scenario, m)}
        assert 2 * len(matter) >= len({m.rule for m in wrong}), (scenario.episode_id, matter)
