"""The public rules of the assembly stations, one id per paragraph.

The text is the law: a reader who has only the published state must reach the reference's answers.
Both stations share these rules; what differs between them (stages, checks, limits, people,
destinations) is published beside the rules as `prepared.station`.
"""

from __future__ import annotations

RULES: dict[str, str] = {
    "scope": (
        "One unit. This unit is the one named in station.unit, this station the one in"
        " station.id. station_log and tickets cover the whole line: what names any other unit"
        " has no effect on any answer, even when its target has the same name as one of ours."
    ),
    "order": (
        "Order. station_log is listed oldest first. Of two records the one further down is the"
        " later one, also when both carry the same tick. How long ago something was recorded"
        " never matters."
    ),
    "counted": (
        "What counts. A log record for this unit counts if its target is listed in"
        " station.checks and it is one of these: a result (its kind is the kind given under 'by'"
        " for that target), a replacement (kind 'replaced'), or a damage report (kind 'camera',"
        " value 'damaged', for a target that has an 'if_damaged' entry). It belongs to the stage"
        " of its target. Every other record, such as a heartbeat or a kind of reading not asked"
        " for on that target, counts for nothing."
    ),
    "no_read": (
        "Unreadable records. Every rule ignores a record whose value is NO_READ: it neither"
        " passes nor fails, moves no stage, makes nothing obsolete, and leaves earlier results"
        " as they are."
    ),
    "confidence": (
        "Camera confidence. A camera record, damage reports included, counts only if its"
        " confidence is at least station.min_confidence; equal is enough. Below that it is as if"
        " never made, however often it is repeated."
    ),
    "limits": (
        "Pass and fail. A result passes if its value is exactly the one under 'expects' (every"
        " letter and digit) or lies between 'min' and 'max'; a value equal to a limit passes."
        " Where only one limit is given the other side is open. Every other result fails. A"
        " target's latest result is the one that stands, unless it was wiped or is obsolete;"
        " then none stands."
    ),
    "replacement": (
        "Replacement. A 'replaced' record wipes all results and damage reports of its own"
        " target that are listed before it; the target has no result until a new one is"
        " recorded. Other targets keep theirs, apart from what becomes obsolete."
    ),
    "damage": (
        "Damage. A damage report makes its target defective until that target is replaced. A"
        " passing result before or after the report does not lift it."
    ),
    "obsolete": (
        "Obsolete checks. A result of a stage in station.recheck_after_rework is obsolete once a"
        " counted record of any sort, a passing one too, that belongs to a stage before its own"
        " is listed after it: passed or"
        " failed, it is then treated as if it had never been taken. Results of the other stages"
        " never become obsolete."
    ),
    "stage": (
        "Current stage. It is the stage of the latest counted record, be it a pass, a fail, a"
        " replacement or a damage report. Rework therefore moves it back, and a record of a"
        " later stage moves it forward even while something earlier is wrong. Tickets, badges"
        " and speech never move it. Before the first counted record it is the first in"
        " station.stages."
    ),
    "complete": (
        "Complete. A target is complete if its standing result passes and no damage report on"
        " it is in effect. A stage is complete if all its targets are; the unit is complete if"
        " all stages are."
    ),
    "defect": (
        "Defective and missing. A target is defective if its standing result fails or a damage"
        " report on it is in effect, whichever stage it belongs to. A target that is not"
        " defective and has no standing result is missing if its stage comes before the current"
        " stage; in the current stage or a later one it is neither: that is work still to come,"
        " even if it was passed once and has to be done again."
    ),
    "precedence": (
        "Route. Take the first line that applies. (1) A quality ticket for this unit is open:"
        " hold. (2) A specialist is present: handoff. (3) A target shows repeated failure:"
        " escalate. (4) A target is defective or missing: repair. (5) The unit is complete:"
        " release. (6) The current stage is complete: advance. (7) Otherwise: wait."
    ),
    "tickets": (
        "Quality tickets. Every entry in tickets that names this unit is a quality ticket for"
        " it, whatever its subject, and is open while its 'closed' field is null. Each closes on"
        " its own: closing one leaves any other open, and neither a passing result nor a spoken"
        " assurance closes any. hold goes to station.destinations.hold."
    ),
    "specialist": (
        "Specialists. A specialist is present while an entry in badges has a role listed in"
        " station.specialists, names this station and has 'out' null. handoff goes to the role"
        " that is present; if several are, to the one listed first in station.specialists. Line"
        " 2 applies as long as such a badge is in, even if nothing is left to repair; an open"
        " ticket for this unit still goes before it, by line 1."
    ),
    "repeated": (
        "Repeated failure. It applies to targets some specialist covers, whichever device gave"
        " the results: a tool, a tester or a camera. A target's run of failures is the number of"
        " its failed results since its latest passing one, or of all of them if none has passed;"
        " failures before a pass never count again. Too low and too high count alike. Results"
        " that were wiped or are obsolete are left out, and neither damage reports nor records"
        " of other targets add to a run or break it. When the run reaches station.fail_limit"
        " (equal is enough), escalate that target to the role that covers it; if several targets"
        " qualify, the first in station.checks. A pass or a replacement ends the run and"
        " withdraws the escalation."
    ),
    "repair": (
        "Repair. Defective targets come before missing ones; within each group take the first"
        " in station.checks. The method is 'if_damaged' while a damage report is in effect,"
        " otherwise 'if_failed'. For a target that is missing as defined above it is"
        " complete_missing, whether its result was never taken, was wiped or has become"
        " obsolete."
    ),
    "advance": (
        "Advance and release. On advance the next step is the first stage in station.stages"
        " that is not complete. release goes to station.destinations.release."
    ),
    "bystanders": (
        "What never decides. Speech, partial or final, by whomever, is no record, ticket or"
        " badge. Every field under tools is housekeeping. Neither changes an answer."
    ),
    "inactive": (
        "None. next_step is used on advance only; target on repair and escalate; method on"
        " repair only; destination on escalate, handoff, hold and release. Where a route does"
        " not use a question, its answer is none."
    ),
}
