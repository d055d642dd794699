"""Places where two readers could have differed: what the text says now, and that it decides.

Every case is a state on which the two readings give different cards. The reference shows the one the
text names; the other reading, planted in the reference, shows the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from streamdecisionbench.families.assembly import DRAFTS, RULES
from streamdecisionbench.families.assembly import reference as reference_module
from streamdecisionbench.families.assembly.misreadings import MISREADINGS
from streamdecisionbench.families.assembly.reference import reference
from streamdecisionbench.suite.misreading import Misreading, misread
from streamdecisionbench.worlds.assembly.station import (
    BENCHES,
    CELLS,
)
from tests.families.assembly.bench import (
    BUILT,
    CALLED,
    DONE,
    GASKET,
    HELD,
    HIGH,
    HOUSING,
    J1,
    J2,
    JOINING,
    LABEL,
    LOW,
    P1,
    PACKED,
    RETORQUE,
    SEALING,
    SENT,
    THRICE,
    a,
    b,
    badge,
    cam,
    card,
    line,
    ticket,
)
from tests.families.cases import Case

pytestmark = pytest.mark.slow

LIMIT = 'found.failures >= station["fail_limit"]'
MISSING = '"method": "complete_missing"'


@dataclass(frozen=True)
class Reading:
    """`says` are words of the rule that settle it; `other` is the reading they rule out."""

    case: Case
    says: str
    other: Misreading
    other_card: dict[str, str]


def known(rule: str, what: str) -> Misreading:
    return next(m for m in MISREADINGS if (m.rule, m.what) == (rule, what))


def planted(rule: str, what: str, old: str, new: str) -> Misreading:
    return Misreading(rule, what, ((old, new),))


READINGS = [
    Reading(
        a("a ticket opens while a specialist is at work", "specialist", HELD, *THRICE,
          badges=(badge(JOINING, "S6"),), tickets=(ticket("GX-0417"),)),
        "an open ticket for this unit still goes before it",
        known("precedence", "lets a specialist go before a ticket"),
        card("handoff", "fasten", destination=JOINING),
    ),
    Reading(
        a("tickets lists another unit's ticket", "tickets", SENT, *DONE, tickets=(ticket("GX-0416"),)),
        "Every entry in tickets that names this unit",
        known("scope", "holds for tickets of other units"),
        card("hold", "inspection", destination="containment_desk"),
    ),
    Reading(
        a("the failures of a camera", "repeated", card("escalate", "seal", target="gasket", destination=SEALING),
          *DONE, *[cam("gasket", "absent")] * 3),
        "a tool, a tester or a camera",
        planted("repeated", "leaves cameras out", LIMIT, f'found.check["by"] != "camera" and {LIMIT}'),
        card("repair", "seal", target="gasket", method="fit_gasket"),
    ),
    Reading(
        a("three failures in all, one since the pass", "repeated", RETORQUE, *BUILT, J1, LOW, HIGH, J2, LOW),
        "failures before a pass never count again",
        known("repeated", "counts failures that are not in a row"),
        CALLED,
    ),
    Reading(
        a("three failures, other targets in between", "repeated", CALLED, *BUILT, LOW, J1, HIGH, GASKET, LOW),
        "nor records of other targets add to a run or break it",
        known("repeated", "lets the record of another target break a run"),
        RETORQUE,
    ),
    Reading(
        a("three failures and never a pass", "repeated", CALLED, *THRICE),
        "or of all of them if none has passed",
        planted("repeated", "wants a pass to count from", LIMIT, f"any(found.results) and {LIMIT}"),
        RETORQUE,
    ),
    Reading(
        b("an earlier test that is obsolete", "repair",
          card("repair", "label", target="continuity", method="complete_missing"), *PACKED, P1, LABEL),
        "has become obsolete",
        planted("repair", "corrects what is obsolete", MISSING, '"method": found.check["if_failed"]'),
        card("repair", "label", target="continuity", method="trace_connection"),
    ),
    Reading(
        a("an earlier scan that was wiped", "repair",
          card("repair", "seal", target="housing", method="complete_missing"),
          HOUSING, line("replaced", "housing"), GASKET),
        "was wiped",
        planted("repair", "corrects what was wiped", MISSING, '"method": found.check["if_failed"]'),
        card("repair", "seal", target="housing", method="replace_part"),
    ),
    Reading(
        a("damage before any result", "defect", card("repair", "fasten", target="J1", method="replace_fastener"),
          *BUILT, cam("J1", "damaged")),
        "A target that is not defective and has no standing result",
        planted("defect", "takes a target without a result for work to come",
                "return self.damaged or (", "return (bool(self.results) and self.damaged) or ("),
        card("wait", "fasten"),
    ),
    Reading(
        a("the stages in between are complete", "advance", card("advance", "seal", next_step="inspection"), *DONE, GASKET),
        "the first stage in station.stages that is not complete",
        known("advance", "goes to the stage after the current one"),
        card("advance", "seal", next_step="cover"),
    ),
]  # fmt: skip


@pytest.mark.parametrize("reading", READINGS, ids=lambda r: r.case.name)
def test_the_text_settles_which_of_two_readings_holds(reading: Reading) -> None:
    (rule,) = reading.case.rules
    assert reading.says in RULES[rule]
    assert reference(reading.case.state) == reading.case.expected
    other = misread(reference_module, reading.other)
    assert other(reading.case.state) == reading.other_card
    assert reading.other_card != reading.case.expected


def test_repeated_failure_is_not_called_a_tools() -> None:
    texts = [*RULES.values(), *(q.instructions for d in DRAFTS for q in d.questions.values())]
    assert not [text for text in texts if "tool failure" in text]


def test_options_say_what_they_mean_and_no_more() -> None:
    """Advance may skip stages; what is missing may never have been there, or not any more."""
    missing = "take the result that is not there, or not there any more"
    for draft in DRAFTS:
        advance = draft.questions["route"].options["advance"]
        assert advance == "send the operator to a stage that is still to be done"
        assert draft.questions["method"].options["complete_missing"] == missing
    for split in ("train", "eval"):
        for product in (*BENCHES.of(split), *CELLS.of(split)):
            assert dict(product.methods)["complete_missing"] == missing


def test_a_new_lead_at_one_terminal_leaves_the_other() -> None:
    """Only a damaged terminal asks for a new lead, and its option says that it is one end's."""
    cable = DRAFTS[1]
    assert cable.questions["method"].options["replace_cable"].endswith("at that end")
    state = b("", "", {}, *PACKED, cam("P2", "damaged"), line("replaced", "P2")).state
    checks = state["prepared"]["station"]["checks"]
    asks = [c["target"] for c in checks if "replace_cable" in (c["if_failed"], c.get("if_damaged"))]
    assert asks == ["P1", "P2"]
    assert reference(state) == card("wait", "terminate")
    state["station_log"].append(
        {"tick": 90, "unit": "CM-2291", **line("crimp_height", "P2", 1.2, unit="CM-2291")}
    )
    assert reference(state) == card("advance", "terminate", next_step="electrical")
