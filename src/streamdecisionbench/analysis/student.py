"""Student's quantile without a statistics library."""

from __future__ import annotations

import math

__all__ = ["student_quantile"]


def student_quantile(p: float, degrees: int) -> float:
    """t with P(T ≤ t) = p for `degrees` of freedom, to about twelve digits.

    >>> round(student_quantile(0.975, 7), 6), round(student_quantile(0.975, 1), 6)
    (2.364624, 12.706205)
    """
    if not 0.5 <= p < 1 or degrees < 1:
        raise ValueError("p lies in [0.5, 1) and there is at least one degree of freedom")
    low, high = 0.0, 1.0
    while _below(high, degrees) < p:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _below(middle, degrees) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _below(t: float, degrees: int) -> float:
    """P(T ≤ t), t ≥ 0: the finite sums for whole degrees of freedom in θ = atan(t/√ν)."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    term, total = 1.0, 0.0
    if degrees % 2:
        term = cosine
        for k in range(1, (degrees - 1) // 2 + 1):
            total += term
            term *= cosine * cosine * (2 * k) / (2 * k + 1)
        return 0.5 + (angle + sine * total) / math.pi
    for k in range(degrees // 2):
        total += term
        term *= cosine * cosine * (2 * k + 1) / (2 * k + 2)
    return 0.5 + sine * total / 2
