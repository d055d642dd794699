"""Tokens and money: what one pass used, and what it costs at list prices of a given date.

cost = (uncached input · price + cached input · cached price + output · price) / 10⁶. Reasoning is
part of the output. Where no price for cached input is known, it counts at the full price, so the
cost is an upper bound; the same where a service does not report its cache.

Hardware of one's own costs by the hour, busy or not: hourly price · Σ n·Δ / S / 3600 over a pass at pace Δ
with S streams. It is *provisioned*, as `hourly_usd` of `--server` states it, and stands beside list prices, never
among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.components.contract import Usage
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.prices import Price, PriceTable, read_prices
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.sentences import without_tokens
from streamdecisionbench.render.table import (
    Table,
    number,
    text,
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """As the service reported them, per request (medians) and per pass (totals)."""

    requests: int
    input_median: float
    output_median: float
    reasoning_median: float
    output_min: int
    input_total: int
    cached_total: int | None
    output_total: int
    reasoning_total: int
    reasoning_responses: int


@dataclass(frozen=True, slots=True)
class Provisioned:
    """What hardware of one's own costs (USD, stated): by the hour, and for this pass at its pace."""

    per_hour: float
    decisions: int
    hours: float
    """For which the pass took the machine; a stream among several its part of it."""

    @property
    def total(self) -> float:
        return self.per_hour * self.hours

    @property
    def per_1000(self) -> float:
        return 1000 * self.total / self.decisions


@dataclass(frozen=True, slots=True)
class Cost:
    """One pass: tokens, the price line that applies, and what they come to. None without a price."""

    tokens: Tokens
    price: Price | None
    currency: str
    as_of: str
    input: float | None
    output: float | None

    @property
    def total(self) -> float | None:
        return None if self.input is None or self.output is None else self.input + self.output

    @property
    def per_decision(self) -> float | None:
        return None if self.total is None else self.total / self.tokens.requests

    def per_hour(self, interval: float) -> float | None:
        """Of a stream that publishes a state every `interval` seconds."""
        return None if self.per_decision is None else self.per_decision * 3600 / interval


@dataclass(frozen=True, slots=True)
class PassesCost:
    """What several passes come to at list prices; `priced` of them have a price."""

    passes: int
    priced: int
    total: float
    currency: str

    @property
    def words(self) -> str:
        """
        >>> PassesCost(6, 5, 23.5341, "USD").words
        '5 of 6 passes have a list price; together they cost 23.534 USD.'
        """
        if self.priced == self.passes:
            return f"All passes together cost {self.total:.3f} {self.currency}."
        return (
            f"{self.priced} of {self.passes} passes have a list price; together they cost"
            f" {self.total:.3f} {self.currency}."
        )


def passes_cost(results: Mapping[str, Cost | None]) -> PassesCost | None:
    """The sum over passes; None where none has a price."""
    priced = [c for c in results.values() if c is not None and c.total is not None]
    if not priced:
        return None
    total = sum(c.total or 0.0 for c in priced)
    return PassesCost(len(results), len(priced), total, priced[0].currency)


def cost(recording: Recording, prices: PriceTable | None = None) -> Cost | None:
    """What the pass used and costs; None for a recording without any token counts."""
    prices = prices or read_prices()
    tokens = _tokens(recording)
    if tokens is None:
        return None
    line = find_line(prices, recording)
    paid_in = paid_out = None
    if line is not None:
        cached_price = line.input if line.cached_input is None else line.cached_input
        cached = tokens.cached_total or 0
        fresh = tokens.input_total - cached
        paid_in = (fresh * line.input + cached * cached_price) / 1e6
        paid_out = tokens.output_total * line.output / 1e6
    return Cost(tokens, line, prices.currency, prices.as_of, paid_in, paid_out)


def provisioned(recording: Recording) -> Provisioned | None:
    """By what was stated when it was recorded; None where nothing was."""
    stated = recording.config.get("stated")
    hourly = stated.get("hourly_usd") if isinstance(stated, Mapping) else None
    if not isinstance(hourly, int | float) or isinstance(hourly, bool) or not hourly > 0:
        return None
    streams = recording.config.get("streams") or 1
    states, seconds = 0, 0.0
    for episode in recording.episodes.values():
        n = len(episode.releases)
        last = max(r.planned_s for r in episode.releases)
        own = last * n / (n - 1) if n > 1 else float(recording.config.get("interval_s") or 0.0)
        states, seconds = states + n, seconds + own
    return Provisioned(float(hourly), states, seconds / 3600 / streams)


def hourly_rates(recordings: Mapping[str, Recording]) -> dict[str, float]:
    """What an hour of one stream costs, in USD, of those recorded with `hourly_usd` of `--server`."""
    stated = {name: (one, provisioned(one)) for name, one in recordings.items()}
    return {
        name: found.per_hour / (recording.config.get("streams") or 1)
        for name, (recording, found) in stated.items()
        if found is not None
    }


def request_costs(
    recording: Recording, prices: PriceTable, episodes: Sequence[str]
) -> list[NDArray[np.float64]] | None:
    """What every single request of these scenarios costs; None where tokens or price are unknown.

    NaN for a state that was not answered: what such a request costs nobody knows.
    """
    line = find_line(prices, recording)
    if line is None:
        return None
    cached_price = line.input if line.cached_input is None else line.cached_input
    answered = [recording.episodes[e].responses for e in episodes]
    every = [r.usage for responses in answered for r in responses]
    if any(u is None for u in every):
        return None
    # A service that reports its cache at times only is billed as if it had none, as in the total.
    reported = all(u is not None and u.cached_tokens is not None for u in every)
    found = []
    for episode_id, responses in zip(episodes, answered, strict=True):
        paid = np.full(len(recording.episodes[episode_id].releases), np.nan)
        for response in responses:
            used = response.usage or Usage()
            cached = (used.cached_tokens or 0) if reported else 0
            whole = (used.input_tokens - cached) * line.input + cached * cached_price
            paid[response.t] = (whole + used.output_tokens * line.output) / 1e6
        found.append(paid)
    return found


def known_costs(
    recordings: Mapping[str, Recording], prices: PriceTable
) -> tuple[dict[str, Cost], list[str]]:
    """Costs by name where there are any, and why there are none where that has a reason."""
    found, remarks = {}, []
    for name, recording in recordings.items():
        try:
            known = cost(recording, prices)
        except InputError as error:
            remarks.append(f"{name}: no cost: {error.what}.")
            continue
        if known is not None:
            found[name] = known
    return found, remarks


def find_line(prices: PriceTable, recording: Recording) -> Price | None:
    """The first line that matches the recorded provider and model, or names this recording.

    An alias also matches a simulation of that setting: the tokens are simulated, the price is not.
    """
    config = recording.config
    component = str(config.get("component", ""))
    head, colon, tail = component.partition(":")
    provider = str(config.get("provider") or (head if colon else ""))
    models = {str(config.get("model") or ""), tail, *recording.served_models} - {""}
    names = {component, tail, recording.name, str(config.get("model") or "")} - {""}
    for line in prices.prices:
        if any(line.covers(provider, model) for model in models):
            return line
    if provider not in ("", "simulated") and not recording.simulated:
        return None
    return next((line for line in prices.prices if names & set(line.aliases)), None)


def cost_tables(results: Mapping[str, Cost | None]) -> list[Table]:
    """Tokens as they were reported, and money at list prices; recordings side by side."""
    known = {name: c for name, c in results.items() if c is not None}
    if not known:
        raise InputError(
            "none of these recordings carries token counts",
            where=", ".join(results),
            fix="tokens and cost need a service that reports its usage",
        )
    counted = {
        "input, median": "input_median", "output, median": "output_median",
        "reasoning, median": "reasoning_median", "input, pass": "input_total",
        "of it cached": "cached_total", "output, pass": "output_total",
        "of it reasoning": "reasoning_total", "requests": "requests",
    }  # fmt: skip
    money: dict[str, Callable[[Cost], float | None]] = {
        "price, input per 1M": lambda c: c.price.input if c.price else None,
        "price, output per 1M": lambda c: c.price.output if c.price else None,
        "input, pass": lambda c: c.input,
        "output, pass": lambda c: c.output,
        "total, pass": lambda c: c.total,
        "per 1000 decisions": lambda c: None if c.per_decision is None else 1000 * c.per_decision,
    }
    notes = [
        f"{name}: no list price; name one with --prices" for name, c in known.items() if not c.price
    ]
    notes += [
        f"{name}: cached input at the full price (no other is known), so at most this"
        for name, c in known.items()
        if c.price and c.tokens.cached_total and c.price.cached_input is None
    ]
    notes += [
        f"{name}: the service does not report what came from its cache; all at the full price"
        for name, c in known.items()
        if c.price and c.tokens.cached_total is None
    ]
    together = passes_cost(results)
    if together is not None and len(results) > 1:
        notes.insert(0, together.words)
    some = next(iter(known.values()))
    return [
        Table(
            "Tokens as reported",
            (text("", "tokens"), *(number(name, 0) for name in known)),
            tuple(
                (label, *(getattr(c.tokens, of) for c in known.values()))
                for label, of in counted.items()
            ),
            tuple(f"{n}: its responses carry no token counts" for n in results if n not in known),
        ),
        Table(
            f"Cost at list prices of {some.as_of} ({some.currency})",
            (text("", "cost"), *(number(name, 3) for name in known)),
            tuple((label, *(get(c) for c in known.values())) for label, get in money.items()),
            tuple(notes),
        ),
    ]


def provisioned_table(own: Mapping[str, Provisioned]) -> Table:
    """What own hardware costs, as it was stated; recordings side by side."""
    rows: dict[str, Callable[[Provisioned], float]] = {
        "per hour": lambda p: p.per_hour,
        "total, pass": lambda p: p.total,
        "per 1000 decisions": lambda p: p.per_1000,
    }
    return Table(
        "Provisioned cost of own hardware, as stated (USD)",
        (text("", "cost"), *(number(name, 3) for name in own)),
        tuple((label, *(get(p) for p in own.values())) for label, get in rows.items()),
        ("At the pace and streams it was recorded with; busy or not, an hour costs the same.",),
    )


def _tokens(recording: Recording) -> Tokens | None:
    usage = [r.usage for e in recording.episodes.values() for r in e.responses if r.usage]
    responses = sum(len(e.responses) for e in recording.episodes.values())
    if not usage:
        return None
    if len(usage) < responses:
        raise InputError(
            without_tokens(responses - len(usage), responses),
            where=recording.path or recording.name,
            fix="a total over the others would be too low; leave this recording out",
        )
    columns = {
        name: np.array([getattr(u, name) for u in usage], dtype=np.int64)
        for name in ("input_tokens", "output_tokens", "reasoning_tokens")
    }
    cached = [u.cached_tokens for u in usage if u.cached_tokens is not None]
    given, out, thought = (columns[f"{k}_tokens"] for k in ("input", "output", "reasoning"))
    return Tokens(
        requests=responses,
        input_median=float(np.median(given)),
        output_median=float(np.median(out)),
        reasoning_median=float(np.median(thought)),
        output_min=int(out.min()),
        input_total=int(given.sum()),
        cached_total=sum(cached) if len(cached) == len(usage) else None,
        output_total=int(out.sum()),
        reasoning_total=int(thought.sum()),
        reasoning_responses=int((thought > 0).sum()),
    )
