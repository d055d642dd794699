"""Names that calls are drawn from; every second one belongs to each split."""

from streamdecisionbench.suite.generation.draws import Pool

PEOPLE = Pool(
    (
        "A. Belmar", "B. Corrigan", "C. Dahlke", "D. Eskola", "E. Farrow", "F. Gessner", "G. Hollis",
        "H. Imhoff", "J. Kettle", "K. Lorant", "L. Marsh", "M. Nevin", "N. Ostby", "O. Pellar",
        "P. Quirke", "R. Sandell", "S. Thorpe", "T. Ulrich", "V. Wendt", "W. Yarrow",
    )
)  # fmt: skip
PLANS = Pool(("Fibre 150", "Cable 80", "Fibre 300", "Copper 50", "Home 100", "Fibre 500", "Cable 200", "Home 250"))  # fmt: skip
ROUTERS = Pool(("HB-3", "LX 20", "Nook 4", "RB-7", "Tern 2", "HX 11", "Vale 5", "RG-9"))
STREETS = Pool(
    (
        "Mill Lane", "Canal Row", "Abbey Close", "Station Mews", "Harbour Walk", "Orchard Court",
        "Chapel Rise", "Foundry Yard", "Priory Gate", "Quarry Bank",
    )
)  # fmt: skip
CARDS = Pool(
    (
        ("household", "company"), ("family", "workshop"), ("silver", "travel"), ("joint", "studio"),
        ("blue", "holiday"), ("reserve", "garage"), ("personal", "shop"), ("green", "club"),
    )
)  # fmt: skip
"""Two cards that one customer has."""

PARCELS = Pool(
    (
        ("doorplate", "door plate", "the parcel with the engraved door plate"),
        ("keypad", "keypad", "the parcel with the spare keypad"),
        ("chime", "chime", "the parcel with the second chime"),
        ("key_safe", "key safe", "the parcel with the small key safe"),
        ("rain_hood", "rain hood", "the parcel with the rain hood"),
        ("bell_push", "bell push", "the parcel with the brass bell push"),
        ("cable_kit", "cable kit", "the parcel with the cable kit"),
        ("wall_frame", "wall frame", "the parcel with the wall frame"),
        ("name_strip", "name strip", "the parcel with the printed name strip"),
        ("power_brick", "power brick", "the parcel with the power brick"),
        ("lens_cover", "lens cover", "the parcel with the lens cover"),
        ("latch_plate", "latch plate", "the parcel with the latch plate"),
    )
)
"""What was ordered: the value, the name on the policy, the option's description."""
DEVICES = Pool(
    (
        ("gate_unit", "gate unit", "the speaker unit at the gate", "gate post"),
        ("hall_screen", "hall screen", "the indoor screen in the hall", "entrance hall"),
        ("porch_camera", "porch camera", "the camera above the porch", "porch"),
        ("stair_handset", "stair handset", "the handset on the stairs", "first landing"),
        ("garage_panel", "garage panel", "the panel beside the garage door", "garage"),
        ("lobby_station", "lobby station", "the call station in the lobby", "lobby"),
        ("kitchen_monitor", "kitchen monitor", "the monitor in the kitchen", "kitchen"),
        ("yard_speaker", "yard speaker", "the speaker in the yard", "yard wall"),
        ("cellar_lock", "cellar lock", "the electric lock of the cellar", "cellar door"),
        ("attic_relay", "attic relay", "the relay box in the attic", "attic"),
        ("side_reader", "side reader", "the badge reader at the side door", "side door"),
        ("bedroom_buzzer", "bedroom buzzer", "the buzzer in the bedroom", "upper floor"),
    )
)
"""What is installed: value, name, description, place."""
OTHER_PARCELS = Pool(("hinge_set", "flag_pole", "mail_slot", "tool_roll", "door_mat", "wire_drum"))
"""Parcels of other customers, which the carrier confuses."""
