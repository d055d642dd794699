"""Whether the order of two events within one tick would matter, though no rule orders them."""

from __future__ import annotations

from collections import Counter

from streamdecisionbench.suite.authoring import Draft, Event

__all__ = ["ambiguous_ticks"]


def ambiguous_ticks(draft: Draft) -> list[int]:
    """Ticks whose events, told the other way round, lead to another decision then or at the end."""
    crowded = [tick for tick, n in Counter(e.at for e in draft.events).items() if n > 1]
    return [tick for tick in sorted(crowded) if _matters(draft, tick)]


def _matters(draft: Draft, tick: int) -> bool:
    before = [e for e in draft.events if e.at < tick]
    within = [e for e in draft.events if e.at == tick]
    after = [e for e in draft.events if e.at > tick]
    told = [*before, *within, *after]
    other_way = [*before, *reversed(within), *after]
    try:
        return any(
            _decision(draft, told, t) != _decision(draft, other_way, t)
            for t in (tick, draft.steps - 1)
        )
    except (KeyError, IndexError, ValueError):
        return True  # the events cannot even be told in that order


def _decision(draft: Draft, events: list[Event], now: int) -> dict[str, str]:
    state = draft.project([e for e in events if e.at <= now], now)
    return draft.decision_spec.compose(draft.reference(state))
