"""How sure a composed decision is.

Composed over the answers the decision consumes (κ's questions under the answered route): their
minimum, or their product in composed order. An answer's confidence is the one the component gave for
it, else the probability it gave to its choice. Nothing is made up where there is neither.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from streamdecisionbench.policy_file import COMPOSES
from streamdecisionbench.suite.scenario import DecisionSpec

__all__ = ["composed_confidence"]


def composed_confidence(
    spec: DecisionSpec,
    pred: Mapping[str, str],
    labels: Mapping[str, str],
    confidence: Mapping[str, float] | None,
    probabilities: Mapping[str, Mapping[str, float]] | None,
) -> dict[str, float] | None:
    """By way of composing; None where one of the answers does not say.

    >>> spec = DecisionSpec("route", (), {"hold": ("action",)})
    >>> said = {"route": "hold", "action": "wait"}
    >>> composed_confidence(spec, said, {}, {"route": 0.5, "action": 0.5, "other": 0.1}, None)
    {'min': 0.5, 'product': 0.25}
    >>> composed_confidence(spec, said, {"route": "K1"}, None, {"route": {"K1": 0.9}}) is None
    True
    """
    found = []
    for question in spec.consumed(pred[spec.route_question]):
        value = (confidence or {}).get(question)
        if value is None:
            value = ((probabilities or {}).get(question) or {}).get(labels.get(question, ""))
        if value is None:
            return None
        found.append(float(value))
    return dict(zip(COMPOSES, (min(found), math.prod(found)), strict=True))
