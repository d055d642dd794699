"""What the conference room publishes beside the rules: people, deck, clip, desk readings."""

from streamdecisionbench.families.presenter.events import levels
from streamdecisionbench.families.presenter.state import prepare

DECK = {
    "s1": "Hands-free microscopy in a busy lab",
    "s2": "Team and partners",
    "s3": "Noise at the bench",
    "s4": "Gloves against touchscreens",
    "s5": "What the lab asked for",
    "s6": "Camera, mount and focuser",
    "s7": "Demonstration and timing chart",
    "s8": "Accuracy by accent",
    "s9": "Errors and near misses",
    "s10": "Cost of a workstation",
    "s11": "Cleaning between shifts",
    "s12": "Summary and contacts",
}

PREPARED = prepare(
    event="Autumn meeting on laboratory tools, hall 2, third talk",
    people={
        "presenter": "Ilse Marrant, pathology technician",
        "host": "Tomas Brackley, session chair",
        "audience": "about ninety people, one roving microphone",
    },
    deck=DECK,
    clip={"name": "bench demonstration, with sound", "slide": "s7"},
    slide="s1",
    caption_order=("audience", "host", "presenter", "clip"),
)

FIELDS = {
    "levels_db": levels(0, -19, -58, -47, -90),
    "clip_player": {"file": "bench_demo_v3.mp4", "length_ticks": 45, "buffer": "full"},
    "clicker": "paired, disabled at the desk for this talk",
}
