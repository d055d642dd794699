"""Names, subjects and phrases that presenter sessions are drawn from; every second one per split."""

from __future__ import annotations

from dataclasses import dataclass

from streamdecisionbench.suite.generation.draws import Pool

Drifting = tuple[str, str]
"""A phrase, and a sentence whose beginning a recogniser takes for it at first."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a session is about."""

    event: str
    role: str
    """What the presenter does for a living."""
    clip: str
    file: str
    things: tuple[str, ...]
    """A page of the deck each; with an article, as one says them."""

    @property
    def singles(self) -> list[str]:
        """Those of which one says it, not they: what sentences are about."""
        return [thing for thing in self.things if not thing.endswith("s")]


PEOPLE = Pool(
    (
        "Agnes Corrie", "Benno Thale", "Clara Voss", "Dario Lund", "Edda Roth", "Fergus Hale",
        "Greta Simm", "Hugo Pell", "Iris Calder", "Jonas Wray", "Kaja Brook", "Luca Fenn",
        "Marta Quill", "Niall Orme", "Olive Trent", "Pavel Strand", "Renate Locke", "Silas Birch",
        "Thea Moran", "Ulrik Penn", "Viola Dace", "Wanda Keats", "Xenia Holt", "Yusuf Garran",
    )
)  # fmt: skip

HOSTS = Pool(
    ("session chair", "moderator", "chair of the day", "head of the programme", "chair of the forum",
     "convener")
)  # fmt: skip

TALKS = Pool(
    (
        Subject("Spring school on sensors, hall 1", "field engineer", "a probe being lowered", "probe_drop.mp4",
                ("the probe", "the cable", "the winch", "the float", "the logger", "the battery", "the anchor",
                 "the antenna", "the housing", "the seal", "the buoy", "the beacon")),
        Subject("Meeting of the bakers' guild, great room", "master baker", "a dough being folded", "folding.mp4",
                ("the dough", "the oven", "the starter", "the flour", "the crust", "the proofing box", "the crumb",
                 "the steam", "the mixer", "the salt", "the peel", "the cooling rack")),
        Subject("Workshop on old instruments, stage B", "organ builder", "a pipe being voiced", "voicing_take2.mov",
                ("the organ", "the bellows", "the reed", "the pipe", "the pedal board", "the wind chest",
                 "the keyboard", "the stop knob", "the casework", "the tuning slide", "the trackers", "the blower")),
        Subject("Evening for home astronomers, dome theatre", "observatory guide", "a night in one minute",
                "timelapse_7.mov",
                ("the mirror", "the mount", "the eyepiece", "the finder", "the dome", "the camera", "the filter wheel",
                 "the tripod", "the star chart", "the dew heater", "the counterweight", "the focuser")),
        Subject("Congress of bicycle makers, track hall", "frame builder", "a frame being brazed", "brazing_cut.mp4",
                ("the frame", "the fork", "the hub", "the rim", "the spoke", "the chain", "the saddle", "the crank",
                 "the brake", "the lug", "the headset", "the pannier")),
        Subject("Symposium on small boats, boat shed", "sailmaker", "a sail being cut", "sail_loft.webm",
                ("the hull", "the mast", "the keel", "the rudder", "the boom", "the jib", "the sheet", "the cleat",
                 "the tiller", "the batten", "the shroud", "the bilge pump")),
    )
)  # fmt: skip

MEETINGS = Pool(
    (
        Subject("Hearing on the new tram line, town hall", "traffic planner", "an animated ride, silent",
                "ride_line9.webm",
                ("the tram stop", "the viaduct", "the depot", "the crossing", "the timetable", "the ticket hall",
                 "the noise wall", "the bus lane", "the station square", "the substation", "the lift", "the detour")),
        Subject("Residents' evening on the school roof, gymnasium", "site architect", "a model turning, silent",
                "roof_model.webm",
                ("the roof", "the skylight", "the scaffold", "the insulation", "the gutter", "the staircase",
                 "the ventilation", "the classroom wing", "the fire door", "the playground", "the budget",
                 "the crane")),
        Subject("Open council on the river path, library", "landscape planner", "a flight along the river, silent",
                "river_flight.webm",
                ("the river path", "the footbridge", "the boathouse", "the willow row", "the lamp posts", "the benches",
                 "the cycle ramp", "the culvert", "the bank wall", "the picnic lawn", "the jetty", "the car park")),
        Subject("Information night on the heating network, parish hall", "network engineer",
                "warm water on a map, silent", "heat_map.webm",
                ("the boiler house", "the main pipe", "the heat store", "the meter", "the tariff", "the pump room",
                 "the return line", "the trench", "the service hatch", "the contract", "the chimney", "the valve")),
        Subject("Public session on the market square, guild hall", "city surveyor", "the square by day, silent",
                "square_day.webm",
                ("the fountain", "the market stalls", "the paving", "the lime trees", "the taxi rank", "the kiosk",
                 "the drainage", "the clock tower", "the loading bay", "the awnings", "the tram track", "the statue")),
        Subject("Village assembly on the reservoir, barn", "water engineer", "the water level in ten years, silent",
                "level_decade.webm",
                ("the dam", "the spillway", "the intake", "the gauge house", "the fish ladder", "the access road",
                 "the treatment plant", "the overflow", "the shoreline", "the picnic site", "the pipeline",
                 "the turbine")),
    )
)  # fmt: skip

PAGES = Pool(
    (
        ("next slide", "previous slide", "go to slide <number>"),
        ("next page", "last page again", "show page <number>"),
        ("slide forward", "slide back", "jump to slide <number>"),
        ("advance the deck", "rewind the deck", "bring up slide <number>"),
        ("one page on", "one page back", "open page <number>"),
        ("turn the page", "turn it back", "put up page <number>"),
        ("forward one", "back one", "take me to slide <number>"),
        ("following slide", "earlier slide", "switch to slide <number>"),
    )
)
"""Next, previous, and any page by its number."""

CLIPS: Pool[tuple[str, Drifting]] = Pool(
    (
        ("play the clip", ("pause the clip", "Because the clip was shot in spring, the colours are off.")),
        ("run the film", ("stop the film", "Stop the filming, they told us, and we went on.")),
        ("roll the tape", ("hold the tape", "Hold the tapered end with two fingers and it stays put.")),
        ("start the video", ("freeze the video", "Freeze the videos you own and compare.")),
        ("show the footage", ("halt the footage", "Hall two, the footage was taken there.")),
        ("let it run", ("keep it there", "Keep it their way for a year and then decide.")),
    )
)  # fmt: skip
"""Play, pause, and what sounds like pausing."""

BACK = Pool(
    ("back to the talk", "return to the deck", "resume the talk", "on with the pages",
     "leave it at that", "close that window")
)  # fmt: skip

HAND_OVER: Pool[Drifting] = Pool(
    (
        ("back to the chair", "Back to the chart on the left, the grey bars."),
        ("over to the chair", "Over to the chairs in row two, they are free."),
        ("over to you", "Over two years we learned the same."),
        ("i hand back", "I hand bags to every visitor."),
        ("the floor is yours", "The floor is yellow there, for safety."),
        ("please take over", "Please take overalls if you visit."),
    )
)

OPEN = Pool(
    ("questions are open", "we take questions", "the floor is open", "hands up please",
     "ask away now", "let us hear you")
)  # fmt: skip

CLOSE = Pool(
    ("the session is closed", "this meeting is closed", "we are done here", "we stop here",
     "this hour is over", "that ends the session")
)  # fmt: skip

RESTATE = Pool(
    ("the question is", "the question was", "you asked", "you ask", "they want to know", "i was asked")
)  # fmt: skip
