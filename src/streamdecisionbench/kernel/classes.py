"""The class of an instant: what the decision in force was worth, and why it was wrong.

The class of an instant t follows from three decisions: the one in force, what was right for the state
i it was given for, κ(y_i), and what is right now, y*(t). It is *current* when κ(y_i) = y*(t), *right*
when it is κ(y_i), and it *matches* when it is y*(t):

    right,  current   current_correct     wrong, current                    judgment
    right,  outdated  stale               wrong, outdated, matches          outdated_correct
    nothing in force  no_decision         wrong, outdated, does not match   compound

Where references may be unknown, two more, asked first:

    y*(t) unknown                unjudged, whatever is in force
    κ(y_i) unknown, matches      current_correct
    κ(y_i) unknown, does not     unattributed
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CLASSES = ("current_correct", "judgment", "stale", "compound", "outdated_correct", "no_decision")
ALL_CLASSES = (*CLASSES, "unjudged", "unattributed")
"""The classes where references may be unknown."""
(
    CURRENT_CORRECT, JUDGMENT, STALE, COMPOUND, OUTDATED_CORRECT, NO_DECISION,
    UNJUDGED, UNATTRIBUTED,
) = range(8)  # fmt: skip
CORRECT = (CURRENT_CORRECT, OUTDATED_CORRECT)
"""The classes in which the decision in force is what is right."""
UNKNOWN = "unknown"
CAUSES: Mapping[str, tuple[str, ...]] = {
    "latency": ("stale", "no_decision"),
    "judgment": ("judgment",),
    "both": ("compound",),
    UNKNOWN: ("unattributed",),
}
"""Why a decision in force is wrong, by class: what is not lost to one of them is right. Unknown is wrong time
that the references cannot divide."""
MATCHES, CURRENT, RIGHT, OWN_KNOWN, HELD, NOW_KNOWN = (1 << bit for bit in range(6))


def _class(bits: int) -> int:
    if not bits & NOW_KNOWN:
        return UNJUDGED
    if not bits & HELD:
        return NO_DECISION
    if not bits & OWN_KNOWN:
        return CURRENT_CORRECT if bits & MATCHES else UNATTRIBUTED
    if bits & CURRENT:
        return CURRENT_CORRECT if bits & RIGHT else JUDGMENT
    if bits & RIGHT:
        return STALE
    return OUTDATED_CORRECT if bits & MATCHES else COMPOUND


CLASS_OF_BITS = tuple(map(_class, range(64)))
"""The class for every combination of what is known of an instant: `MATCHES` | … | `NOW_KNOWN`."""


def class_of(decision: object, own: object, now: object) -> int:
    """The class of an instant from the decision in force, its own reference and today's.

    None stands for no decision, and for a reference that is not known.

    >>> ALL_CLASSES[class_of("hold", own="hold", now="wait")], ALL_CLASSES[class_of("hold", None, None)]
    ('stale', 'unjudged')
    """
    return CLASS_OF_BITS[
        MATCHES * (decision == now)
        | CURRENT * (own == now)
        | RIGHT * (decision == own)
        | OWN_KNOWN * (own is not None)
        | HELD * (decision is not None)
        | NOW_KNOWN * (now is not None)
    ]


def split_unattributed(
    unattributed: Any, older_judgment: Any, stale: Any, compound: Any
) -> tuple[Any, Any, Any, Any]:
    """Divides unattributed seconds into judgment, stale, compound and unknown; numbers or arrays.

    A wrong instant whose decision was made for an older state has a cause only where the references of
    both states are known. Adding up what is known would undercount these causes. So unattributed time is
    divided as the time that differs from it in nothing but the known reference: the three other arguments,
    wrong time with an older source whose reference is known. `older_judgment` is the part of judgment with an
    older source. Where references are missing at random, by state or by stream, the result is unbiased.
    Where there is no such time to compare with, all of it is unknown.

    >>> split_unattributed(60.0, older_judgment=1.0, stale=6.0, compound=3.0)
    (6.0, 36.0, 18.0, 0.0)
    >>> split_unattributed(60.0, 0.0, 0.0, 0.0)
    (0.0, 0.0, 0.0, 60.0)
    """
    attributed = older_judgment + stale + compound
    # Arithmetic instead of branches, so that arrays work too. Rounding errors are no time to compare with.
    enough = (attributed > 1e-12 * unattributed) * 1.0
    scale = enough * unattributed / (attributed + (1.0 - enough))
    return older_judgment * scale, stale * scale, compound * scale, unattributed * (1.0 - enough)
