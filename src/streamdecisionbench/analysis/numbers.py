"""How numbers are printed. One place, so that a table, a page and a test round the same way."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

__all__ = ["fixed", "percent"]


def fixed(value: float | None, digits: int = 1) -> str:
    """Rounds half up on the decimal value, as tables do: 63.75 is 63.8 even when a double is a hair below.

    >>> fixed(63.74999999999999), fixed(2.675, 2), fixed(None)
    ('63.8', '2.68', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    exact = Decimal(repr(round(float(value), 10)))
    rounded = exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
    return f"{rounded:.{digits}f}" if rounded else f"{Decimal(0):.{digits}f}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in [0, 1] as a percentage without its sign.

    >>> percent(0.59627)
    '59.6'
    """
    return fixed(None if share is None else 100.0 * share, digits)
