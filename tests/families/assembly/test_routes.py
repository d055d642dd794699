"""Stages in order, who and what outranks whom, and what never decides."""

from __future__ import annotations

from typing import Any

import pytest

from streamdecisionbench.families.assembly.reference import reference
from tests.families.assembly.bench import (
    BUILT,
    CALLED,
    CRIMPED,
    DONE,
    FAIL,
    HELD,
    HIGH,
    HOUSING,
    J1,
    J2,
    JOINED,
    JOINING,
    KEY_UP,
    KIT,
    LABEL,
    LOW,
    MODULE,
    PACKED,
    PASS,
    RACKED,
    RETORQUE,
    SEALING,
    SENT,
    TESTED,
    TESTER,
    THRICE,
    TO_INSPECT,
    TO_TESTS,
    WITH_JOINING,
    a,
    b,
    badge,
    card,
    line,
    ticket,
)
from tests.families.cases import Case

pytestmark = pytest.mark.slow

STAGES = [
    a("nothing recorded yet", "stage", card("wait", "intake")),
    a("housing", "stage advance", card("advance", "intake", next_step="seal"), HOUSING),
    a("gasket", "stage advance", card("advance", "seal", next_step="cover"), *BUILT[:2]),
    a("cover", "stage advance", card("advance", "cover", next_step="fasten"), *BUILT),
    a("one joint of two", "complete defect", card("wait", "fasten"), *BUILT, J1),
    a("the other joint of two", "complete", card("wait", "fasten"), *BUILT, J2),
    a("both joints", "complete advance", TO_INSPECT, *JOINED),
    a("all done", "complete advance", SENT, *DONE),
    a(
        "a later stage moves it forward past a defect",
        "stage defect",
        card("repair", "inspection", target="J2", method="retorque"),
        *BUILT,
        J1,
        LOW,
        PASS,
    ),
    a("a failing record moves it too", "stage", RETORQUE, *BUILT, J1, LOW, PASS, HIGH),
    a("the line further down is the later one", "order", SENT, *JOINED, FAIL, PASS),
    a(
        "the order of lines decides, not the tick",
        "order",
        card("repair", "inspection", target="inspection", method="reinspect"),
        *JOINED,
        {**PASS, "tick": 9},
        {**FAIL, "tick": 9},
    ),
    b("module", "stage advance", card("advance", "intake", next_step="mount"), MODULE),
    b("seated", "advance", card("advance", "mount", next_step="terminate"), MODULE, KEY_UP),
    b("crimped", "advance", TO_TESTS, *CRIMPED),
    b("tested", "advance", card("advance", "electrical", next_step="label"), *TESTED),
    b("label without kit", "complete", card("wait", "label"), *TESTED, LABEL),
    b("kit without label", "complete", card("wait", "label"), *TESTED, KIT),
    b("packed", "complete", RACKED, *PACKED),
]

AT_S6, AT_S5, GONE = badge(JOINING, "S6"), badge(JOINING, "S5"), badge(JOINING, "S6", out=2)
PEOPLE = [
    a("present", "specialist precedence", WITH_JOINING, *THRICE, badges=(AT_S6,)),
    a("present, nothing to repair", "specialist", WITH_JOINING, *JOINED, badges=(AT_S6,)),
    a("present, unit complete", "specialist precedence", card("handoff", "inspection", destination=JOINING), *DONE, badges=(AT_S6,)),
    a("present before anything is recorded", "specialist stage", card("handoff", "intake", destination=JOINING), badges=(AT_S6,)),
    a("at another station", "specialist", CALLED, *THRICE, badges=(AT_S5,)),
    a("gone", "specialist", CALLED, *THRICE, badges=(GONE,)),
    a("gone and back", "specialist", WITH_JOINING, *THRICE, badges=(GONE, AT_S6)),
    a("operator", "specialist", CALLED, *THRICE, badges=(badge("operator", "S6"),)),
    a("other specialist than the covered one", "specialist", card("handoff", "fasten", destination=SEALING), *THRICE, badges=(badge(SEALING, "S6"),)),
    a("two: the first listed role", "specialist", WITH_JOINING, *THRICE, badges=(badge(SEALING, "S6"), AT_S6)),
    a("two, one gone", "specialist", card("handoff", "fasten", destination=SEALING), *THRICE, badges=(badge(SEALING, "S6"), GONE)),
    b("test engineer", "specialist", card("handoff", "label", destination=TESTER), *PACKED, badges=(badge(TESTER, "K3"),)),
    a("ticket over specialist", "precedence tickets", HELD, *THRICE, badges=(AT_S6,), tickets=(ticket("GX-0417"),)),
    a("ticket over a run", "precedence tickets", HELD, *THRICE, tickets=(ticket("GX-0417"),)),
    a("ticket over repair", "precedence", HELD, *BUILT, J1, LOW, tickets=(ticket("GX-0417"),)),
    a("ticket over release", "precedence", card("hold", "inspection", destination="containment_desk"), *DONE, tickets=(ticket("GX-0417"),)),
    a("ticket over advance", "precedence", HELD, *JOINED, tickets=(ticket("GX-0417"),)),
    a("ticket over wait", "precedence", HELD, *BUILT, J1, tickets=(ticket("GX-0417"),)),
    a("one of two closed", "tickets", HELD, *JOINED, tickets=(ticket("GX-0417", 2), ticket("GX-0417", None, "T-2"))),
    a("the other of two closed", "tickets", HELD, *JOINED, tickets=(ticket("GX-0417"), ticket("GX-0417", 2, "T-2"))),
    a("both closed", "tickets", TO_INSPECT, *JOINED, tickets=(ticket("GX-0417", 2), ticket("GX-0417", 2, "T-2"))),
    a("closed at tick 0", "tickets", TO_INSPECT, *JOINED, tickets=(ticket("GX-0417", 0),)),
    b("hold", "tickets", card("hold", "label", destination="quarantine_cage"), *PACKED, tickets=(ticket("CM-2291"),)),
    a("repair over complete stage", "precedence", card("repair", "fasten", target="cover", method="replace_part"), *BUILT, line("scan", "cover", "CV-2207-L"), J1, J2),
]  # fmt: skip


def said(text: str, speaker: str, final: bool) -> dict[str, Any]:
    return {"id": "u1", "at": 1, "speaker": speaker, "final": final, "text": text}


SPEECH = [
    a(f"{speaker}, {'final' if final else 'partial'}: {text}", "bystanders", TO_INSPECT, *JOINED,
      speech=(said(text, speaker, final),))
    for text in ("Inspection passed.", "Open a ticket, hold the unit.", "I'm here now.", "J2 is damaged.")
    for speaker in ("Marta", "Henning", "Deniz (line lead)")
    for final in (True, False)
] + [
    a("tool fields", "bystanders", TO_INSPECT, *JOINED,
      tools={"spindle": {"status": "fault", "program": "J2", "battery_pct": 0}}),
]  # fmt: skip

INACTIVE = [
    a("wait uses nothing", "inactive", card("wait", "fasten"), *BUILT, J1),
    a("advance uses next_step", "inactive", TO_INSPECT, *JOINED),
    a("repair uses target and method", "inactive", RETORQUE, *BUILT, J1, LOW),
    a("escalate uses target and destination", "inactive", CALLED, *THRICE),
]

ROUTE_CASES: list[Case] = [*STAGES, *PEOPLE, *SPEECH, *INACTIVE]


@pytest.mark.parametrize("case", ROUTE_CASES, ids=lambda case: case.name)
def test_the_bench_shows_this_card(case: Case) -> None:
    assert reference(case.state) == case.expected
