"""What runs live and what replays are one rule: the recorder's parts take the judge's path."""

from __future__ import annotations

import heapq

import pytest
from hypothesis import given, settings

from streamdecisionbench.kernel.rule import (
    CascadeRule,
    PolicyRule,
)
from streamdecisionbench.policies.policy_events import (
    Dispatcher,
    Order,
)
from tests.scoring.policies import kit, plain_policy
from tests.scoring.policies.kit import NAMES, Case
from tests.scoring.policies.plain_policy import Held

pytestmark = pytest.mark.slow


@settings(max_examples=200, deadline=None)
@given(kit.loose())
def test_desk_and_rule_do_what_the_judge_does(case: Case) -> None:
    """States published, answers in: the same requests, and the same answers take effect."""
    policy, voices = case.policy, case.voices
    first = voices[0].part
    c, n, H = first.tick / case.interval, first.n, first.horizon
    names = NAMES[: len(voices)]
    gates = {
        name: policy.gate.confidence if gated else 0.0
        for name, gated in zip(names, policy.gated(), strict=True)
    }
    rule = PolicyRule(CascadeRule(names, policy.rule), gates=gates, agree=policy.debounce.agree)
    wanted = case.changed if policy.dispatch.mode == "changed" else [True] * n
    dispatcher = Dispatcher(policy, wanted, len(voices))
    coming: list[tuple[float, int, int, int]] = [
        (float(r), 1, t, 0) for t, r in enumerate(first.release)
    ]
    heapq.heapify(coming)
    given_up: set[tuple[int, int]] = set()
    sent, held = [0] * len(voices), []

    def carry_out(orders: list[Order], now: float) -> None:
        for order in orders:
            if order.cancel:
                given_up.add((order.rank, order.t))
                continue
            sent[order.rank] += 1
            arrival = now + c * float(voices[order.rank].part.latency[order.t])
            heapq.heappush(coming, (arrival, 0, order.t, order.rank))

    while coming:
        now, publishes, t, k = heapq.heappop(coming)
        if publishes:
            carry_out(dispatcher.published(t), now)
            continue
        if (k, t) in given_up:
            continue
        voice = voices[k]
        sure, decision = float(voice.confidence[t]), int(voice.part.predicted[t])
        if now < H and rule.refusal(names[k], t, decision, sure) is None:
            rule.activate(names[k], t)
            held.append(Held(now, k, t, decision))
        unsure = policy.when_unsure and policy.cascade is not None and sure < policy.cascade.below
        carry_out(dispatcher.answered(k, t, unsure=unsure, in_time=now < H), now)

    judge = plain_policy.walk(policy, voices, case.interval, changed=case.changed)
    assert sent == judge.sent
    assert [(h.component, h.source, h.decision) for h in held] == [
        (h.component, h.source, h.decision) for h in judge.held
    ]
    skipped = {(k, t) for k, t, _ in dispatcher.skipped()}
    assert len(skipped) == n * len(voices) - sum(sent)
