"""What counts as evidence, and what a result is worth: limits, codes, units, unreadable scans, camera."""

from __future__ import annotations

import pytest

from streamdecisionbench.families.assembly.reference import reference
from tests.families.assembly.bench import (
    BUILT,
    CALLED,
    COVER,
    CRIMPED,
    DONE,
    FAIL,
    FIT,
    HARNESS,
    J1,
    J2,
    JOINED,
    KEY_UP,
    LABEL,
    LOW,
    MEG,
    MODULE,
    OHM,
    P1,
    P2,
    PACKED,
    PASS,
    RACKED,
    RETORQUE,
    SENT,
    TESTED,
    THRICE,
    TO_INSPECT,
    TO_TESTS,
    a,
    b,
    cam,
    card,
    line,
    ticket,
)
from tests.families.cases import Case

pytestmark = pytest.mark.slow


def limit(check: str, value: float, passes: bool) -> Case:
    """One measured value against its range; `passes` is what the rule text says."""
    name, rules = f"{check} {value}", "limits"
    if check in ("J1", "J2"):
        other = J2 if check == "J1" else J1
        good = TO_INSPECT
        bad = card("repair", "fasten", target=check, method="retorque")
        return a(name, rules, good if passes else bad, *BUILT, other, line("rundown", check, value))
    if check in ("P1", "P2"):
        other = P2 if check == "P1" else P1
        bad = card("repair", "terminate", target=check, method="recrimp")
        crimped = (MODULE, KEY_UP, other, line("crimp_height", check, value))
        return b(name, rules, TO_TESTS if passes else bad, *crimped)
    other = MEG if check == "continuity" else OHM
    good = card("advance", "electrical", next_step="label")
    bad = card("repair", "electrical", target=check, method="trace_connection")
    lines = (*CRIMPED, other, line("resistance", check, value))
    return b(name, rules, good if passes else bad, *lines)


LIMITS = [
    limit(check, value, passes)
    for check, values in {
        "J1": ((9.1, False), (9.2, True), (9.3, True), (10.7, True), (10.8, True), (10.9, False)),
        "J2": (
            (21.9, False),
            (22.0, True),
            (22.1, True),
            (25.9, True),
            (26.0, True),
            (26.1, False),
        ),
        "P1": ((1.41, False), (1.42, True), (1.43, True), (1.49, True), (1.5, True), (1.51, False)),
        "P2": (
            (1.17, False),
            (1.18, True),
            (1.19, True),
            (1.25, True),
            (1.26, True),
            (1.27, False),
        ),
        "continuity": ((0.0, True), (0.39, True), (0.4, True), (0.41, False)),
        "insulation": ((19.9, False), (20.0, True), (20.1, True), (5000.0, True)),
    }.items()
    for value, passes in values
]

RESULTS = [
    a(
        "wrong cover",
        "limits repair",
        card("repair", "cover", target="cover", method="replace_part"),
        *BUILT[:2],
        line("scan", "cover", "CV-2207-L"),
    ),
    a(
        "wrong housing",
        "limits repair",
        card("repair", "intake", target="housing", method="replace_part"),
        line("scan", "housing", "GH-4410-A"),
    ),
    a(
        "latest scan stands",
        "limits",
        card("advance", "cover", next_step="fasten"),
        *BUILT[:2],
        line("scan", "cover", "CV-2207-L"),
        COVER,
    ),
    a(
        "a pass is superseded by a fail",
        "limits",
        card("repair", "cover", target="cover", method="replace_part"),
        *BUILT,
        line("scan", "cover", "CV-2207-L"),
    ),
    b(
        "transposed digits",
        "limits",
        card("repair", "label", target="label", method="replace_label"),
        *TESTED,
        line("scan", "label", "LB-2291-70"),
    ),
    b(
        "wrong module",
        "limits repair",
        card("repair", "intake", target="module", method="swap_module"),
        line("scan", "module", "CMX-22-A2"),
    ),
    *(
        b(
            f"kit of {count}",
            "limits",
            RACKED
            if count == 4
            else card("repair", "label", target="accessory", method="adjust_kit"),
            *TESTED,
            LABEL,
            line("kit_count", "accessory", count),
        )
        for count in (3, 4, 5)
    ),
    a("inspection passed", "limits", SENT, *JOINED, PASS),
    a(
        "inspection failed",
        "limits repair",
        card("repair", "inspection", target="inspection", method="reinspect"),
        *JOINED,
        FAIL,
    ),
]

SCOPE = [
    a("another unit's torque", "scope", card("wait", "fasten"), *BUILT, J1, {**J2, "unit": "GX-1"}),
    a("another unit's failure", "scope", TO_INSPECT, *JOINED, {**LOW, "unit": "GX-1"}),
    a(
        "another unit's third failure",
        "scope repeated",
        RETORQUE,
        *BUILT,
        J1,
        LOW,
        LOW,
        {**LOW, "unit": "GX-1"},
    ),
    a("another unit's pass", "scope repeated", CALLED, *THRICE, {**J2, "unit": "GX-1"}),
    a("another unit's replacement", "scope", SENT, *DONE, line("replaced", "J1", unit="GX-1")),
    a("another unit's ticket", "scope tickets", SENT, *DONE, tickets=(ticket("GX-1"),)),
    a("heartbeat", "counted", SENT, *DONE, {"kind": "heartbeat", "source": "spindle"}),
    a("target not in the list", "counted", SENT, *DONE, line("rundown", "J3", 1.0)),
    a("kind not asked for", "counted", SENT, *DONE, line("scan", "J1", "M6")),
    a("camera on a scanned part", "counted", SENT, *DONE, cam("cover", "damaged")),
    a("camera sees a sound screw", "counted damage", SENT, *DONE, cam("J1", "sound")),
    b("scan of a terminal", "counted", RACKED, *PACKED, line("scan", "P1", "T-05")),
]

UNREADABLE = [
    a(
        "unreadable cover",
        "no_read",
        card("advance", "seal", next_step="cover"),
        *BUILT[:2],
        line("scan", "cover", "NO_READ"),
    ),
    a("keeps the readable one", "no_read", SENT, *DONE, line("scan", "cover", "NO_READ")),
    a(
        "keeps the wrong one",
        "no_read",
        card("repair", "cover", target="cover", method="replace_part"),
        *BUILT[:2],
        line("scan", "cover", "CV-2207-L"),
        line("scan", "cover", "NO_READ"),
    ),
    a(
        "housing does not move the stage",
        "no_read",
        TO_INSPECT,
        *JOINED,
        line("scan", "housing", "NO_READ"),
    ),
    a(
        "first scan of all",
        "no_read stage",
        card("wait", "intake"),
        line("scan", "housing", "NO_READ"),
    ),
    b(
        "unreadable label",
        "no_read",
        card("advance", "electrical", next_step="label"),
        *TESTED,
        line("scan", "label", "NO_READ"),
    ),
    b(
        "kit tray",
        "no_read",
        card("wait", "label"),
        *TESTED,
        LABEL,
        line("kit_count", "accessory", "NO_READ"),
    ),
    b(
        "module makes nothing obsolete",
        "no_read obsolete",
        RACKED,
        *PACKED,
        line("scan", "module", "NO_READ"),
    ),
    b(
        "two failures around it",
        "no_read repeated",
        card("escalate", "terminate", target="P2", destination=HARNESS),
        MODULE,
        KEY_UP,
        P1,
        line("crimp_height", "P2", 1.3),
        line("crimp_height", "P2", "NO_READ"),
        line("crimp_height", "P2", 1.3),
    ),
]

CAMERA = [
    a("gasket missing 0.79", "confidence", SENT, *DONE, cam("gasket", "absent", 0.79)),
    a("gasket missing 0.80", "confidence", FIT, *DONE, cam("gasket", "absent", 0.8)),
    a("gasket missing 0.81", "confidence", FIT, *DONE, cam("gasket", "absent", 0.81)),
    a(
        "unsure three times",
        "confidence repeated",
        SENT,
        *DONE,
        *[cam("gasket", "absent", 0.79)] * 3,
    ),
    a(
        "gasket seen 0.79",
        "confidence",
        FIT,
        *DONE,
        cam("gasket", "absent"),
        cam("gasket", "present", 0.79),
    ),
    a(
        "gasket seen 0.80",
        "confidence obsolete",
        card("advance", "seal", next_step="inspection"),
        *DONE,
        cam("gasket", "absent"),
        cam("gasket", "present", 0.8),
    ),
    b(
        "orientation 0.84",
        "confidence",
        card("advance", "intake", next_step="mount"),
        MODULE,
        cam("orientation", "key_up", 0.84),
    ),
    b(
        "orientation 0.85",
        "confidence",
        card("advance", "mount", next_step="terminate"),
        MODULE,
        cam("orientation", "key_up", 0.85),
    ),
    b(
        "wrong way round",
        "limits",
        card("repair", "mount", target="orientation", method="reseat"),
        MODULE,
        cam("orientation", "key_down", 0.86),
    ),
    b(
        "a sure key_down, then an unsure key_up",
        "confidence",
        card("repair", "mount", target="orientation", method="reseat"),
        MODULE,
        cam("orientation", "key_down"),
        cam("orientation", "key_up", 0.5),
    ),
]

RESULT_CASES: list[Case] = [*LIMITS, *RESULTS, *SCOPE, *UNREADABLE, *CAMERA]


@pytest.mark.parametrize("case", RESULT_CASES, ids=lambda case: case.name)
def test_the_bench_shows_this_card(case: Case) -> None:
    assert reference(case.state) == case.expected
