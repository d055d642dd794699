"""What assembly stations make: products with their stages, checks, corrections and people.

Every second product of a kind belongs to each split. Codes, limits and unit numbers are drawn per
station, so a product is a vocabulary, not a scenario.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamdecisionbench.suite.generation.draws import Pool

Named = tuple[str, str]
"""A value and its description."""


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """One target: where and how it is checked, and what is done when it fails or is damaged.

    `expects` is a fixed word, a code pattern (# a digit, @ a letter) or, as a count, "#"; a measure
    has a range for its limits instead: (lowest minimum, highest minimum, width, digits).
    """

    target: str
    about: str
    stage: str
    by: str
    if_failed: str
    expects: str = ""
    wrong: str = ""
    measure: str = ""
    limits: tuple[float, float, float, int] = (0, 0, 0, 0)
    sides: str = "both"
    """both, min or max: which limits are published."""
    if_damaged: str = ""


@dataclass(frozen=True, slots=True)
class Product:
    """Everything a station publishes and asks about one product, before codes and limits."""

    line: str
    unit: str
    stages: tuple[Named, ...]
    checks: tuple[CheckPlan, ...]
    methods: tuple[Named, ...]
    roles: tuple[tuple[str, str, tuple[str, ...]], ...]
    hold: Named
    release: Named
    recheck: tuple[str, ...]
    tools: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Device, field, values it takes: housekeeping."""
    closes: bool
    """Whether what a camera has to see lies under what is put on later."""
    defects: tuple[tuple[str, str], ...]
    """Subjects of quality tickets, each with the target it is about."""


_MISSING = ("complete_missing", "take the result that is not there, or not there any more")


def _measured(
    target: str, about: str, stage: str, by: str, measure: str,
    limits: tuple[float, float, float, int], failed: str, damaged: str = "", sides: str = "both",
) -> CheckPlan:  # fmt: skip
    return CheckPlan(
        target, about, stage, by, failed, measure=measure, limits=limits, sides=sides, if_damaged=damaged
    )  # fmt: skip


BENCHES = Pool(
    (
        Product(
            line="Pump heads, hand bench",
            unit="PH-",
            stages=(
                ("receive", "the pump body is taken in and identified"),
                ("seat", "the seat ring is laid into its groove"),
                ("cap", "the cap is put on and identified"),
                ("bolt", "bolts V1 and V2 are run down"),
                ("leak", "the closed head is checked for leaks"),
            ),
            checks=(
                CheckPlan("body", "the pump body", "receive", "scan", "swap_part", "PB-####-@"),
                CheckPlan("ring", "the seat ring under the cap", "seat", "camera", "lay_ring", "present", "absent"),
                CheckPlan("cap", "the cap of the pump", "cap", "scan", "swap_part", "CP-####-@"),
                _measured("V1", "bolt V1, the short one", "bolt", "rundown", "N m", (8, 12, 1.6, 1), "rerun_bolt", "renew_bolt"),
                _measured("V2", "bolt V2, the long one", "bolt", "rundown", "N m", (18, 26, 3.2, 1), "rerun_bolt", "renew_bolt"),
                CheckPlan("leak", "the leak check itself", "leak", "leak_check", "repeat_check", "TIGHT", "LEAKS"),
            ),
            methods=(
                ("swap_part", "take the part off and put on the right one"),
                ("lay_ring", "lay a ring into the groove"),
                ("rerun_bolt", "run the same bolt down again"),
                ("renew_bolt", "take the bolt out and put in a new one"),
                ("repeat_check", "carry out the leak check again"),
                _MISSING,
            ),
            roles=(
                ("torque_expert", "the expert for bolts", ("V1", "V2")),
                ("seal_expert", "the expert for rings", ("ring",)),
            ),
            hold=("review_bay", "the bay for quality reviews"),
            release=("paint_line", "the line to the paint shop"),
            recheck=("leak",),
            tools=(("driver", "program", ("V1", "V2", "idle")), ("lamp", "level", ("low", "high"))),
            closes=True,
            defects=(("body", "scratch on the flange"), ("body", "chip in the groove"), ("cap", "cap from a recall")),
        ),
        Product(
            line="Valve blocks, fitting bench",
            unit="VB-",
            stages=(
                ("identify", "the block is taken in and identified"),
                ("oring", "the O-ring is pressed in"),
                ("plate", "the plate is put on and identified"),
                ("clamp", "clamps K1 and K2 are tightened"),
                ("gauge", "the closed block is gauged"),
            ),
            checks=(
                CheckPlan("block", "the valve block", "identify", "scan", "change_part", "VL-####-@"),
                CheckPlan("oring", "the O-ring in its seat", "oring", "camera", "press_ring", "seated", "loose"),
                CheckPlan("plate", "the plate on top", "plate", "scan", "change_part", "PL-####-@"),
                _measured("K1", "clamp K1, on the inlet side", "clamp", "tighten", "N m", (5, 8, 1.2, 1), "tighten_again", "new_clamp"),
                _measured("K2", "clamp K2, on the outlet side", "clamp", "tighten", "N m", (12, 16, 2.4, 1), "tighten_again", "new_clamp"),
                CheckPlan("gauge", "the gauge reading itself", "gauge", "gauging", "gauge_again", "GOOD", "BAD"),
            ),
            methods=(
                ("change_part", "take the part away and bring the right one"),
                ("press_ring", "press the ring into its seat"),
                ("tighten_again", "tighten the same clamp once more"),
                ("new_clamp", "cut the clamp off and fit a new one"),
                ("gauge_again", "put the block on the gauge again"),
                _MISSING,
            ),
            roles=(
                ("clamp_mentor", "the mentor for clamps", ("K1", "K2")),
                ("ring_mentor", "the mentor for O-rings", ("oring",)),
            ),
            hold=("quality_shelf", "the shelf for blocked units"),
            release=("wash_basket", "the basket to the washer"),
            recheck=("gauge",),
            tools=(("wrench", "preset", ("K1", "K2")), ("camera", "focus", ("near", "far"))),
            closes=True,
            defects=(("plate", "burr on the plate"), ("block", "oil in the bore"), ("block", "dent in the block")),
        ),
        Product(
            line="Bearing carriers, press bench",
            unit="BC-",
            stages=(
                ("load", "the carrier is taken in and identified"),
                ("grease", "the grease is applied"),
                ("lid", "the lid is put on and identified"),
                ("tighten", "nuts T1 and T2 are tightened"),
                ("spin", "the closed carrier is spun"),
            ),
            checks=(
                CheckPlan("carrier", "the bearing carrier", "load", "scan", "fetch_part", "BR-####-@"),
                CheckPlan("grease", "the bead of grease", "grease", "camera", "apply_grease", "even", "patchy"),
                CheckPlan("lid", "the lid of the carrier", "lid", "scan", "fetch_part", "LD-####-@"),
                _measured("T1", "nut T1, next to the key", "tighten", "torque", "N m", (30, 38, 4.0, 1), "turn_again", "fresh_nut"),
                _measured("T2", "nut T2, across from the key", "tighten", "torque", "N m", (30, 38, 4.4, 1), "turn_again", "fresh_nut"),
                CheckPlan("spin", "the spin test itself", "spin", "spin_test", "spin_again", "SMOOTH", "ROUGH"),
            ),
            methods=(
                ("fetch_part", "put the part back and fetch the right one"),
                ("apply_grease", "wipe the bead off and apply it anew"),
                ("turn_again", "turn the same nut to its torque again"),
                ("fresh_nut", "take the nut off and use a fresh one"),
                ("spin_again", "spin the carrier once more"),
                _MISSING,
            ),
            roles=(
                ("nut_advisor", "the advisor for nuts", ("T1", "T2")),
                ("grease_advisor", "the advisor for lubricants", ("grease",)),
            ),
            hold=("audit_table", "the table for audited units"),
            release=("axle_cart", "the cart to the axle line"),
            recheck=("spin",),
            tools=(("press", "ram", ("up", "down")), ("torque_arm", "preset", ("T1", "T2"))),
            closes=True,
            defects=(("carrier", "rust on the seat"), ("T1", "mixed batch of nuts"), ("lid", "print on the lid faded")),
        ),
        Product(
            line="Filter canisters, closing bench",
            unit="FH-",
            stages=(
                ("check_in", "the canister is taken in and identified"),
                ("element", "the element is inserted"),
                ("bowl", "the bowl is put on and identified"),
                ("close", "screws B1 and B2 are closed"),
                ("pressure", "the closed canister is put under pressure"),
            ),
            checks=(
                CheckPlan("canister", "the filter canister", "check_in", "scan", "exchange", "FL-####-@"),
                CheckPlan("element", "the filter element", "element", "camera", "insert_element", "fitted", "crooked"),
                CheckPlan("bowl", "the bowl below", "bowl", "scan", "exchange", "BW-####-@"),
                _measured("B1", "screw B1, at the front", "close", "driving", "N m", (3, 5, 0.8, 1), "drive_again", "new_screw"),
                _measured("B2", "screw B2, at the back", "close", "driving", "N m", (6, 9, 1.4, 1), "drive_again", "new_screw"),
                CheckPlan("pressure", "the pressure test itself", "pressure", "hold_test", "test_again", "HELD", "LOST"),
            ),
            methods=(
                ("exchange", "exchange the part for the right one"),
                ("insert_element", "take the element out and insert it straight"),
                ("drive_again", "drive the same screw again"),
                ("new_screw", "discard the screw and use a new one"),
                ("test_again", "put the canister under pressure again"),
                _MISSING,
            ),
            roles=(
                ("screw_coach", "the coach for screws", ("B1", "B2")),
                ("media_coach", "the coach for elements", ("element",)),
            ),
            hold=("blocked_rack", "the rack for blocked canisters"),
            release=("tunnel_belt", "the belt to the drying tunnel"),
            recheck=("pressure",),
            tools=(("driver", "bit", ("T20", "T25")), ("pump", "bar", ("0", "6"))),
            closes=True,
            defects=(("bowl", "crack suspected in the bowl"), ("canister", "pallet mixed up"), ("canister", "thread full of swarf")),
        ),
    )
)  # fmt: skip

CELLS = Pool(
    (
        Product(
            line="Sensor leads, crimp cell",
            unit="SL-",
            stages=(
                ("admit", "the bare lead is taken in and identified"),
                ("plug", "the plug is seated on the lead"),
                ("crimp", "contacts C1 and C2 are crimped"),
                ("probe", "loop and leakage are probed"),
                ("pack", "the tag goes on and the clips are counted"),
            ),
            checks=(
                CheckPlan("lead", "the bare lead", "admit", "scan", "other_lead", "SL##-@#"),
                CheckPlan("notch", "which way the plug's notch points", "plug", "camera", "turn_plug", "notch_left", "notch_right"),
                _measured("C1", "contact C1, the brown core", "crimp", "crimp_height", "mm", (1.1, 1.5, 0.08, 2), "crimp_again", "cut_back"),
                _measured("C2", "contact C2, the blue core", "crimp", "crimp_height", "mm", (0.9, 1.2, 0.08, 2), "crimp_again", "cut_back"),
                _measured("loop", "the loop resistance", "probe", "resistance", "ohm", (0.3, 0.8, 0, 1), "follow_core", sides="max"),
                _measured("leakage", "the leakage test", "probe", "resistance", "megohm", (15, 40, 0, 0), "dry_plug", sides="min"),
                CheckPlan("tag", "the tag on the lead", "pack", "scan", "print_tag", "TG-####-##"),
                CheckPlan("clips", "the bag of clips", "pack", "kit_count", "recount", "#", measure="pieces"),
            ),
            methods=(
                ("other_lead", "take another lead from the bin"),
                ("turn_plug", "pull the plug and turn it round"),
                ("crimp_again", "crimp the contact once more"),
                ("cut_back", "cut the core back and start over"),
                ("follow_core", "follow the core to the bad spot"),
                ("dry_plug", "clean the plug and dry it"),
                ("print_tag", "print the right tag"),
                ("recount", "bring the bag to the right number"),
                _MISSING,
            ),
            roles=(
                ("crimp_tutor", "the tutor for contacts", ("C1", "C2")),
                ("probe_tutor", "the tutor for measurements", ("loop", "leakage")),
            ),
            hold=("red_tray", "the tray for blocked leads"),
            release=("soak_oven", "the oven for the soak test"),
            recheck=("probe", "pack"),
            tools=(("crimper", "die", ("0.5", "1.0")), ("meter", "leads", ("set 1", "set 2"))),
            closes=False,
            defects=(("lead", "core pinched"), ("lead", "spool not released"), ("notch", "plug from a held batch")),
        ),
        Product(
            line="Battery straps, weld cell",
            unit="BL-",
            stages=(
                ("arrive", "the bare strap is taken in and identified"),
                ("shoe", "the shoe is slid onto the strap"),
                ("weld", "welds W1 and W2 are made"),
                ("measure", "drop and creepage are measured"),
                ("finish", "the sleeve goes on and the ties are counted"),
            ),
            checks=(
                CheckPlan("strap", "the bare strap", "arrive", "scan", "swap_strap", "BT##-@#"),
                CheckPlan("shoe", "which way the shoe faces", "shoe", "camera", "flip_shoe", "face_up", "face_down"),
                _measured("W1", "weld W1, at the pole", "weld", "pull_test", "N", (180, 240, 60, 0), "weld_again", "grind_off"),
                _measured("W2", "weld W2, at the bridge", "weld", "pull_test", "N", (120, 160, 50, 0), "weld_again", "grind_off"),
                _measured("drop", "the voltage drop", "measure", "meter", "mV", (20, 45, 0, 0), "clean_joint", sides="max"),
                _measured("creepage", "the creepage test", "measure", "meter", "megohm", (50, 90, 0, 0), "wipe_strap", sides="min"),
                CheckPlan("sleeve", "the printed sleeve", "finish", "scan", "other_sleeve", "SV-####-##"),
                CheckPlan("ties", "the bag of ties", "finish", "kit_count", "fill_bag", "#", measure="pieces"),
            ),
            methods=(
                ("swap_strap", "take a strap of the right type"),
                ("flip_shoe", "take the shoe off and flip it"),
                ("weld_again", "set the same weld again"),
                ("grind_off", "grind the weld off and begin anew"),
                ("clean_joint", "clean the joint and press it on"),
                ("wipe_strap", "wipe the strap and let it dry"),
                ("other_sleeve", "put on the right sleeve"),
                ("fill_bag", "bring the ties to the right number"),
                _MISSING,
            ),
            roles=(
                ("weld_engineer", "the engineer for welds", ("W1", "W2")),
                ("test_technician", "the technician for measurements", ("drop", "creepage")),
            ),
            hold=("yellow_cage", "the cage for blocked straps"),
            release=("charge_dock", "the dock for the charge test"),
            recheck=("measure", "finish"),
            tools=(("welder", "current", ("low", "high")), ("meter", "range", ("200", "2000"))),
            closes=False,
            defects=(("strap", "pole bent"), ("strap", "coating damaged"), ("shoe", "shoe without certificate")),
        ),
        Product(
            line="Control boards, solder cell",
            unit="CB-",
            stages=(
                ("entry", "the bare board is taken in and identified"),
                ("sink", "the heat sink is placed"),
                ("solder", "joints S1 and S2 are soldered"),
                ("power", "ripple and isolation are measured"),
                ("box", "the serial plate goes on and the feet are counted"),
            ),
            checks=(
                CheckPlan("board", "the bare board", "entry", "scan", "next_board", "CB##-@#"),
                CheckPlan("sink", "which way the heat sink's fins point", "sink", "camera", "rotate_sink", "fins_out", "fins_in"),
                _measured("S1", "joint S1, the input pad", "solder", "fillet", "mm", (0.8, 1.2, 0.3, 2), "touch_up", "lift_pad"),
                _measured("S2", "joint S2, the output pad", "solder", "fillet", "mm", (0.6, 0.9, 0.3, 2), "touch_up", "lift_pad"),
                _measured("ripple", "the ripple under load", "power", "scope", "mV", (25, 60, 0, 0), "trace_ripple", sides="max"),
                _measured("isolation", "the isolation test", "power", "scope", "megohm", (30, 80, 0, 0), "wash_board", sides="min"),
                CheckPlan("serial", "the serial plate", "box", "scan", "new_plate", "SN-####-##"),
                CheckPlan("feet", "the bag of feet", "box", "kit_count", "sort_feet", "#", measure="pieces"),
            ),
            methods=(
                ("next_board", "take the next board of the right type"),
                ("rotate_sink", "lift the heat sink and rotate it"),
                ("touch_up", "touch the joint up with the iron"),
                ("lift_pad", "clear the pad and make a new joint"),
                ("trace_ripple", "trace where the ripple comes from"),
                ("wash_board", "wash and dry the board"),
                ("new_plate", "engrave the right plate"),
                ("sort_feet", "bring the feet to the right number"),
                _MISSING,
            ),
            roles=(
                ("solder_mentor", "the mentor for joints", ("S1", "S2")),
                ("scope_mentor", "the mentor for measurements", ("ripple", "isolation")),
            ),
            hold=("grey_locker", "the locker for blocked boards"),
            release=("heat_chamber", "the chamber for the heat run"),
            recheck=("power", "box"),
            tools=(("iron", "tip", ("fine", "broad")), ("scope", "probe", ("1x", "10x"))),
            closes=False,
            defects=(("S1", "solder ball near a via"), ("board", "board bowed"), ("S1", "flux residue")),
        ),
        Product(
            line="Display screens, flex cell",
            unit="DM-",
            stages=(
                ("pickup", "the bare screen is taken in and identified"),
                ("frame", "the frame is clicked on"),
                ("bond", "tails F1 and F2 are bonded"),
                ("light", "flicker and contrast are measured"),
                ("wrap", "the foil goes on and the screws are counted"),
            ),
            checks=(
                CheckPlan("screen", "the bare screen", "pickup", "scan", "trade_screen", "DM##-@#"),
                CheckPlan("frame", "which way the frame's tab points", "frame", "camera", "refit_frame", "tab_top", "tab_side"),
                _measured("F1", "tail F1, the data side", "bond", "peel_test", "N", (14, 20, 6, 1), "bond_again", "replace_tail"),
                _measured("F2", "tail F2, the power side", "bond", "peel_test", "N", (9, 13, 5, 1), "bond_again", "replace_tail"),
                _measured("flicker", "the flicker", "light", "photometer", "percent", (2, 6, 0, 1), "tune_driver", sides="max"),
                _measured("contrast", "the contrast", "light", "photometer", "to one", (400, 900, 0, 0), "set_black", sides="min"),
                CheckPlan("foil", "the numbered foil", "wrap", "scan", "other_foil", "SE-####-##"),
                CheckPlan("screws", "the bag of screws", "wrap", "kit_count", "correct_bag", "#", measure="pieces"),
            ),
            methods=(
                ("trade_screen", "bring the screen back for the right one"),
                ("refit_frame", "unclick the frame and fit it right"),
                ("bond_again", "bond the same tail again"),
                ("replace_tail", "peel the tail off and use a new one"),
                ("tune_driver", "tune the driver of the backlight"),
                ("set_black", "set the black level anew"),
                ("other_foil", "put on the right foil"),
                ("correct_bag", "bring the screws to the right number"),
                _MISSING,
            ),
            roles=(
                ("bond_expert", "the expert for tails", ("F1", "F2")),
                ("light_expert", "the expert for measurements", ("flicker", "contrast")),
            ),
            hold=("dark_shelf", "the shelf for blocked screens"),
            release=("burn_wall", "the wall for the burn-in"),
            recheck=("light", "wrap"),
            tools=(("bonder", "plate", ("warm", "hot")), ("photometer", "head", ("A", "B"))),
            closes=False,
            defects=(("screen", "dust under the glass"), ("frame", "frame from a recall"), ("screen", "corner chipped")),
        ),
    )
)  # fmt: skip
