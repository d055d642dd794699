"""Sentences that more than one output prints: one function each, for terminal, Markdown, page and errors.

They take plain values, so that every package above may call them. A sentence that a package below
`render` needs is written there: `suite.suite_files.other_suite_error`, and the notes of
`recording.provenance_notes`.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamdecisionbench.kernel.classes import UNKNOWN
from streamdecisionbench.recording.provenance_notes import PROFILE, SERVICE_TIMES
from streamdecisionbench.render.table import percent, signed
from streamdecisionbench.text import plural

DIFFERENT_SUITES = "recorded on different suites"
CANNOT_TELL_APART = "these recordings cannot tell the two apart"
NO_USABLE_STREAM = "holds no stream that can be used"
NOMINAL_REPLAY = "replay of separate recordings on one nominal clock"
COST_UNIT = "Seconds of an ordinary wrong decision, per second"
REPEATED_IDS = "if ids are used again in every file, make them unique with --sql"


def marked(name: str, *, simulated: bool) -> str:
    """A name with the mark of simulations.

    >>> marked("jev", simulated=True), marked("jev", simulated=False)
    ('jev (sim.)', 'jev')
    """
    return f"{name} (sim.)" if simulated else name


def simulation_note(names: str = "") -> str:
    """Below a table or a figure with simulations; `names` lists them where the reader cannot see which.

    >>> simulation_note("jev and astra")
    'Simulation, not a measurement of a model (sim.): jev and astra; answers and latencies were drawn from a declared profile.'
    """
    whose = f": {names}" if names else ""
    return f"Simulation, not a measurement of a model (sim.){whose}; {PROFILE}."


def virtual_clock_note(names: str) -> str:
    """Below a table with recordings on the virtual clock."""
    return f"Virtual clock (virt., and sim. where so recorded): {names}; {SERVICE_TIMES}."


def planned_pace(lateness: str) -> str:
    """For a recording whose states were published late: how late, and which clock its score uses.

    >>> planned_pace("published late: 14 of 60 states")
    'published late: 14 of 60 states; re-paced from the plan, not from when they came'
    """
    return f"{lateness}; re-paced from the plan, not from when they came"


def another_session(how: str) -> str:
    """Why a closed loop cannot be replayed.

    >>> another_session("under another rule")
    'lived through in a world: under another rule it would have been another session'
    """
    return f"lived through in a world: {how} it would have been another session"


def larger_cause(latency: float, judgment: float) -> str:
    """The cause that costs more time; equal ones count as judgment."""
    return "latency" if latency > judgment else "judgment"


def time_lost(latency: float, judgment: float, both: float) -> str:
    """Shares of time lost to each cause.

    >>> time_lost(0.31, 0.12, 0.004)
    'latency costs 31.0 % of time, judgment 12.0 %, both 0.4 %'
    """
    return (
        f"latency costs {percent(latency)} % of time, judgment {percent(judgment)} %,"
        f" both {percent(both)} %"
    )


def group_difference(
    group: str,
    against: str,
    value: float,
    interval: tuple[float, float] | None,
    causes: Mapping[str, float],
    counted: str = "",
) -> str:
    """How far one group of a log is from another, in points, and because of what.

    >>> group_difference("v2", "v1", 0.02, (0.01, 0.03), {"latency": 0.02, "judgment": 0.0})
    'v2 against v1: +2.0 points in force (95 %: +1.0 to +3.0); latency +2.0, judgment 0.0.'
    """
    sure = ""
    if interval is not None:
        sure = (
            f" (95 %: {signed(interval[0])} to {signed(interval[1])}{counted and f'; {counted}'})"
        )
    because = ", ".join(
        f"{cause} {signed(change)}"
        for cause, change in causes.items()
        if cause != UNKNOWN or change
    )
    return f"{group} against {against}: {signed(value)} points in force{sure}; {because}."


def pair_counts(corrections: int, regressions: int, refusals: int) -> str:
    """What arbitration did, in one line.

    >>> pair_counts(1, 2, 0)
    '1 correction, 2 regressions, 0 refusals'
    """
    return (
        f"{plural(corrections, 'correction')}, {plural(regressions, 'regression')},"
        f" {plural(refusals, 'refusal')}"
    )


def age_and_long(theta: float) -> str:
    """What the columns "age" and "> θ s" of error episodes hold."""
    return (
        f"age: mean over time of how long it has been wrong; > {theta:g} s: share of time wrong for"
        " longer than that"
    )


def resampled(drawn: str, block: int, resamples: int, seed: int) -> str:
    """How a bootstrap drew.

    >>> resampled("blocks", 8, 1000, 0)
    'blocks of 8 consecutive steps within scenarios, 1000 resamples, seed 0'
    """
    first = "" if drawn == "blocks" else "scenarios within families, then "
    return f"{first}blocks of {block} consecutive steps within scenarios, {resamples} resamples, seed {seed}"


def smallest_shown(what: str) -> str:
    """What a figure of detectable size means: "the smallest drop these data would show …"."""
    return f"smallest {what} would show in 80 of 100 trials"


def right_in_force(share: float) -> str:
    """
    >>> right_in_force(0.596)
    'the right decision in force 59.6 % of the time'
    """
    return f"the right decision in force {percent(share)} % of the time"


def without_tokens(missing: int, responses: int) -> str:
    """Why tokens of a recording cannot be counted."""
    return f"{missing} of {plural(responses, 'response')} carry no token counts"


def assumed_end(streams: str) -> str:
    """What is assumed of streams without an end; `streams` counts them with their verb.

    >>> assumed_end("3 of 9 streams have")
    '3 of 9 streams have no ended_at: each is taken to end one median gap after its last state'
    """
    return f"{streams} no ended_at: each is taken to end one median gap after its last state"
