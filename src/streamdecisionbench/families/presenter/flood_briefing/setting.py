"""What the briefing's room publishes beside the rules: people, deck, clip, desk readings."""

from streamdecisionbench.families.presenter.events import levels
from streamdecisionbench.families.presenter.state import prepare

DECK = {
    "s1": "Orrel Barrier, winter briefing",
    "s2": "The January surge",
    "s3": "Streets below the quay line",
    "s4": "Forecasts and warning times",
    "s5": "Six gates, one sill",
    "s6": "Closing sequence",
    "s7": "Budget and funding partners",
    "s8": "Chain hoists and back-up power",
    "s9": "Maintenance calendar",
    "s10": "Gauge record at Tanner Bridge",
    "s11": "Evacuation routes",
    "s12": "Contacts and next meeting",
}

PREPARED = prepare(
    event="Residents' briefing on the Orrel Barrier, Quayside Hall",
    people={
        "presenter": "Maren Odlund, barrier engineer",
        "host": "Pieter Ashdown, chair of the residents' forum",
        "audience": "residents in the hall, some remote",
    },
    deck=DECK,
    clip={"name": "a test closing, filmed with the crew's radio", "slide": "s6"},
    slide="s4",
    caption_order=("presenter", "audience", "host", "clip"),
)

FIELDS = {
    "levels_db": levels(0, -22, -61, -39, -90),
    "clip_player": {"file": "closing_sequence.webm", "length_ticks": 30, "buffer": "full"},
    "clicker": "not paired",
}
