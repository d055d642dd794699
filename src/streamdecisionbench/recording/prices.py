"""List prices with the date they were read."""

from __future__ import annotations

import fnmatch
from importlib import resources
from pathlib import Path

import msgspec

from streamdecisionbench.errors import InputError
from streamdecisionbench.suite.suite_files import read_json

__all__ = ["Price", "PriceTable", "find_price", "read_prices"]


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
    try:
        found = msgspec.convert(read_json(path), PriceTable)
    except msgspec.ValidationError as error:
        raise InputError(
            f"is not a price table: {error}",
            where=path,
            fix="it needs currency, as_of and prices; docs/analyses.md shows one",
        ) from None
    for price in found.prices:
        if min(price.input, price.output, price.cached_input or 0.0) < 0:
            raise InputError(f"a price of {price.model} is below zero", where=path)
    return found
