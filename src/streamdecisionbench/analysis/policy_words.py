"""A policy in plain words: what it does, for people who have not read its file."""

from __future__ import annotations

import math

from streamdecisionbench.in_force import spelled
from streamdecisionbench.policy_file import Policy

__all__ = ["policy_lines", "policy_name"]

_RULES = {
    "freshest": "a later one's replaces an earlier one's for the same state",
    "lag_one": "a later one's may also be one state older than the one in force",
    "late_override": "a later one's always replaces an earlier one's, however old it is",
}


def policy_lines(policy: Policy) -> list[str]:
    """One sentence per part, in the order an answer meets them.

    >>> from streamdecisionbench.policy_file import parse_policy
    >>> for line in policy_lines(parse_policy("[dispatch]\\nmode = 'latest'\\nlimit = 2")):
    ...     print(line)
    Every state is sent as it comes; with 2 requests in flight the oldest is cancelled.
    The newest answer takes effect at once and stays until the next one.
    """
    lines = [*_cascade(policy), _dispatch(policy)]
    if policy.gate.confidence > 0:
        lines.append(_gate(policy))
    if policy.debounce.agree > 1:
        lines.append(
            f"A decision takes effect once {policy.debounce.agree} answers in a row gave it"
            f"{' (per component)' if policy.count > 1 else ''}."
        )
    if policy.gate.confidence <= 0 and policy.debounce.agree == 1 and policy.count == 1:
        lines.append("The newest answer takes effect at once and stays until the next one.")
    if math.isfinite(policy.expire.after_s):
        fallback = policy.expire.fallback
        instead = "no decision is in force" if fallback is None else "the fallback is in force"
        lines.append(
            f"{policy.expire.after_s:g} s after the state it was made for, a decision lapses;"
            f" from then until the next one {instead}."
        )
    return lines


def policy_name(policy: Policy) -> str:
    """A few words for a row of a table.

    >>> from streamdecisionbench.policy_file import parse_policy
    >>> policy_name(parse_policy("[gate]\\nconfidence = 0.8\\n[expire]\\nafter_s = 6"))
    'gate 0.8, expire 6 s'
    """
    parts = []
    if policy.count > 1 and policy.cascade is not None:
        asks = f"when unsure below {policy.cascade.below:g}" if policy.when_unsure else "always"
        parts.append(asks)
        if policy.cascade.rule != "freshest":
            parts.append(spelled(policy.cascade.rule))
    if policy.dispatch.mode != "every":
        limit = f" {policy.dispatch.limit}" if policy.dispatch.mode == "latest" else ""
        parts.append(policy.dispatch.mode.replace("-", " ") + limit)
    if policy.gate.confidence > 0:
        product = " product" if policy.gate.compose == "product" else ""
        parts.append(f"gate{product} {policy.gate.confidence:g}")
    if policy.debounce.agree > 1:
        parts.append(f"debounce {policy.debounce.agree}")
    if math.isfinite(policy.expire.after_s):
        parts.append(f"expire {policy.expire.after_s:g} s")
    return ", ".join(parts) or "plain"


def _cascade(policy: Policy) -> list[str]:
    cascade = policy.cascade
    if cascade is None:
        return []
    names = cascade.components
    if len(names) == 1:
        return [f"One component: {names[0]}."]
    if policy.when_unsure:
        asks = f"{names[0]} is asked first; each next one about a state on which the one before"
        asked = f"{asks} was below {cascade.below:g} sure."
    else:
        asked = "All of them are asked at once."
    return [
        f"Components in order: {', '.join(names)}. {asked}",
        f"The newest answer takes effect; {_RULES[cascade.rule]}.",
    ]


def _dispatch(policy: Policy) -> str:
    mode = policy.dispatch.mode
    if mode == "one-at-a-time":
        return "One request at a time; when it is answered, the newest state waiting is sent."
    if mode == "latest":
        return (
            f"Every state is sent as it comes; with {policy.dispatch.limit} requests in flight the"
            " oldest is cancelled."
        )
    if mode == "changed":
        fields = ", ".join(policy.dispatch.fields) or "anything in it"
        return f"A state is sent when {fields} changed."
    return "Every state is sent as it comes."


def _gate(policy: Policy) -> str:
    gate = policy.gate
    if gate.confidence > 1:
        return "No answer can be sure enough: nothing ever takes effect."
    whose = f" of {', '.join(gate.components)}" if gate.components else ""
    how = "the least sure of its answers" if gate.compose == "min" else "its answers together"
    return (
        f"An answer{whose} takes effect only if {how} reach{'es' if gate.compose == 'min' else ''}"
        f" a confidence of {gate.confidence:g}."
    )
