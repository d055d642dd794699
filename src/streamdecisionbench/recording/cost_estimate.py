"""What a pass over a paid service will cost, before it starts, from a dated table of list prices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streamdecisionbench.components.contract import ComponentInfo
from streamdecisionbench.components.providers.hosts import is_own_network
from streamdecisionbench.recording.prices import PriceTable, find_price, read_prices
from streamdecisionbench.suite.scenario import Scenario
from streamdecisionbench.suite.sizes import estimate_tokens

__all__ = ["Estimate", "estimate"]

_TOKENS_PER_ANSWER = 8
"""A question id and a label as JSON. Published answers without reasoning: 46 tokens for 6–7."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Expected tokens and cost; `reasoning` says that a model may add tokens nobody can foresee.

    `cost` is None where the table knows no price: the pass may still be paid for.
    """

    name: str
    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    currency: str
    as_of: str
    reasoning: bool

    def __str__(self) -> str:
        more = ", plus whatever it spends on reasoning" if self.reasoning else ""
        size = (
            f"{self.name}: {self.requests} requests, about {self.input_tokens:,} input and"
            f" {self.output_tokens:,} output tokens"
        )
        if self.cost is None:
            return f"{size}{more}; its price is not known here, so neither is the cost"
        return f"{size}: about {self.cost:.2f} {self.currency}{more} (list prices of {self.as_of})"


def estimate(
    info: ComponentInfo,
    scenarios: Iterable[Scenario],
    *,
    passes: int = 1,
    table: PriceTable | None = None,
) -> Estimate | None:
    """None when nothing is paid: in this process, or on a machine of the user's own."""
    if info.in_process or info.simulated or is_own_network(info.base_url_host):
        return None
    table = table or read_prices()
    price = find_price(table, info.provider, info.model)
    requests = tokens_in = tokens_out = 0
    for scenario in scenarios:
        requests += scenario.n
        tokens_in += sum(estimate_tokens(scenario.request(t)) for t in range(scenario.n))
        tokens_out += scenario.n * len(scenario.questions) * _TOKENS_PER_ANSWER
    tokens_in, tokens_out = tokens_in * passes, tokens_out * passes
    effort = info.settings.get("effort")
    writes = price is None or price.output > 0
    cost = None if price is None else (tokens_in * price.input + tokens_out * price.output) / 1e6
    return Estimate(
        name=info.name,
        requests=requests * passes,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost=cost,
        currency=table.currency,
        as_of=table.as_of,
        reasoning=writes and effort not in ("none", "minimal"),
    )
