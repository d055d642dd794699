"""List prices with the date they were read, and what a pass over a paid service will cost by them."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import msgspec

from streamdecisionbench.components.contract import ComponentInfo
from streamdecisionbench.components.providers.address_and_key import is_own_network
from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.file_io import read_json_as
from streamdecisionbench.suite.scenario import Scenario, estimate_tokens
from streamdecisionbench.text import plural


class Price(msgspec.Struct, frozen=True):
    """Per million tokens of one provider's models, named by a shell pattern.

    `aliases` are names recordings of these models go by when they do not name the model itself.
    """

    provider: str
    model: str
    input: float
    output: float
    cached_input: float | None = None
    aliases: tuple[str, ...] = ()

    def covers(self, provider: str, model: str) -> bool:
        """Whether it is the price of this provider's model; variants are billed like their family."""
        family = provider.partition("-")[0]  # openai-decisions is billed like openai
        return self.provider in (provider, family) and fnmatch.fnmatchcase(
            model.lower(), self.model.lower()
        )


class PriceTable(msgspec.Struct, frozen=True):
    """Prices and their date; without a date a price means nothing."""

    currency: str
    as_of: str
    prices: tuple[Price, ...]


def find_price(table: PriceTable, provider: str, model: str) -> Price | None:
    """The first line that covers the model.

    >>> find_price(read_prices(), "openai", "gpt-6-astra-2026-08-01").output
    50.0
    """
    return next((price for price in table.prices if price.covers(provider, model)), None)


def read_prices(path: Path | None = None) -> PriceTable:
    """The table in the package, or the user's own file of the same form.

    >>> read_prices().currency
    'USD'
    """
    path = path or Path(str(resources.files("streamdecisionbench") / "data" / "prices.json"))
    fix = "it needs currency, as_of and prices; docs/reference/analyses.md shows one"
    found = read_json_as(path, PriceTable, fix, "is not a price table: ")
    for price in found.prices:
        if min(price.input, price.output, price.cached_input or 0.0) < 0:
            raise InputError(f"a price of {price.model} is below zero", where=path)
    return found


_TOKENS_PER_ANSWER = 8
"""A question id and a label as JSON. Published answers without reasoning: 46 tokens for 6–7."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
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
            f"{self.name}: {plural(self.requests, 'request')}, about {self.input_tokens:,} input and"
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
) -> CostEstimate | None:
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
    return CostEstimate(
        name=info.name,
        requests=requests * passes,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost=cost,
        currency=table.currency,
        as_of=table.as_of,
        reasoning=writes and effort not in ("none", "minimal"),
    )
