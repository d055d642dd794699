"""How each rule of the stations is misread, as a change to the reference's source."""

from __future__ import annotations

from streamdecisionbench.suite.misreading import Misreading

_TICKET = 'if any(t["unit"] == station["unit"] and t["closed"] is None for t in state["tickets"]):'
_HANDOFF = (
    '        if any(_present(badge, role["role"], station["id"]) for badge in state["badges"]):'
)
_STAGE = 'stage: str = log[-1].stage if log else station["stages"][0]'
_MISSING = 'if not found.results and _before(station, found.check["stage"], stage):'
_OPEN = 'open_stages = [t.check["stage"] for t in targets if not t.complete]'
_VOID = '        elif rechecked and _before(station, record.stage, check["stage"]):\n            results = []\n'
_RESULT = "            results = [*results, _passes(check, record.value)]\n"

MISREADINGS: tuple[Misreading, ...] = (
    Misreading("scope", "counts records of other units", (
        (' or record["unit"] != station["unit"]:', ":"),
    )),
    Misreading("scope", "holds for tickets of other units", (
        (_TICKET, 'if any(t["closed"] is None for t in state["tickets"]):'),
    )),
    Misreading("order", "takes the first of two records at a tick for the later one", ((
        "    for record in log:\n        check",
        '    for record in sorted(log, key=lambda r: (r["tick"], -log.index(r))):\n        check',
    ),)),
    Misreading("counted", "takes any kind of reading for a result", (
        ('return "result" if kind == check["by"] else None', 'return "result"'),
    )),
    Misreading("counted", "does not count a replacement as a record of its stage", (
        (_STAGE, _STAGE.replace("log[-1]", '[r for r in log if r.role != "replaced"][-1]')),
    )),
    Misreading("no_read", "takes an unreadable record for a failure", (
        ('    if value == "NO_READ":', "    if False:"),
    )),
    Misreading("confidence", "wants more than the confidence needed", (
        ('record["confidence"] < min_confidence', 'record["confidence"] <= min_confidence'),
    )),
    Misreading("confidence", "counts a camera that is not sure", (
        ('record["confidence"] < min_confidence', "False"),
    )),
    Misreading("limits", "fails a value equal to its minimum", (
        ('value >= check["min"]', 'value > check["min"]'),
    )),
    Misreading("limits", "fails a value equal to its maximum", (
        ('value <= check["max"]', 'value < check["max"]'),
    )),
    Misreading("limits", "has no regard for the minimum", (
        ('high_enough = "min" not in check or value >= check["min"]', "high_enough = True"),
    )),
    Misreading("limits", "has no regard for the maximum", (
        ('("max" not in check or value <= check["max"])', "True"),
    )),
    Misreading("limits", "lets any pass of a target stand", (
        (_RESULT, "            results = [*results, _passes(check, record.value) or any(results)]\n"),
    )),
    Misreading("replacement", "keeps the results of a replaced target", (
        ("            results, damaged = [], False", "            damaged = False"),
    )),
    Misreading("replacement", "keeps the damage of a replaced target", (
        ("            results, damaged = [], False", "            results = []"),
    )),
    Misreading("damage", "lets a passing result lift damage", (
        (_RESULT, _RESULT + "            damaged = damaged and not results[-1]\n"),
    )),
    Misreading("damage", "has no regard for damage", (
        ("            damaged = True", "            damaged = False"),
    )),
    Misreading("obsolete", "lets every check stand", (
        ('rechecked = check["stage"] in station["recheck_after_rework"]', "rechecked = False"),
    )),
    Misreading("obsolete", "voids the checks of every later stage", (
        ('rechecked = check["stage"] in station["recheck_after_rework"]', "rechecked = True"),
    )),
    Misreading("obsolete", "voids checks only after a replacement", (
        ("elif rechecked and", 'elif rechecked and record.role == "replaced" and'),
    )),
    Misreading("stage", "shows the furthest stage ever reached", ((
        _STAGE,
        'stage: str = max((r.stage for r in log), key=station["stages"].index,'
        ' default=station["stages"][0])',
    ),)),
    Misreading("stage", "lets only passing results move the stage", ((
        _STAGE,
        'good = [r for r in log if r.role == "result" and _passes('
        'next(c for c in station["checks"] if c["target"] == r.target), r.value)]\n'
        '    stage: str = good[-1].stage if good else station["stages"][0]',
    ),)),
    Misreading("complete", "takes a stage for complete after one of its targets", ((
        _OPEN,
        'open_stages = [t.check["stage"] for t in targets if not any('
        'u.complete and u.check["stage"] == t.check["stage"] for u in targets)]',
    ),)),
    Misreading("defect", "misses targets of the current stage", ((
        _MISSING, "if not found.results and not _before(station, stage, found.check[\"stage\"]):",
    ),)),
    Misreading("defect", "misses targets of stages that lie ahead", (
        (_MISSING, "if not found.results:"),
    )),
    Misreading("defect", "misses nothing that was left out", ((_MISSING, "if False:"),)),
    Misreading("defect", "sees no defect in stages behind the current one", (
        ("        if found.defective:", '        if found.defective and found.check["stage"] == stage:'),
    )),
    Misreading("precedence", "lets a specialist go before a ticket", ((
        _TICKET,
        _TICKET[:-1] + ' and not any(_present(b, r["role"], station["id"])'
        ' for r in station["specialists"] for b in state["badges"]):',
    ),)),
    Misreading("precedence", "repairs before it hands over", (
        (_HANDOFF, _HANDOFF.replace("if any(", "if not any(t.defective for t in targets) and any(")),
    )),
    Misreading("precedence", "escalates before it hands over", (
        (_HANDOFF, _HANDOFF.replace("if any(", "if not any("
         'f.failures >= station["fail_limit"] and f.check["target"] in r["covers"]'
         ' for f in targets for r in station["specialists"]) and any(')),
    )),
    Misreading("precedence", "repairs before it escalates", (
        ('found.failures >= station["fail_limit"]:', "False:"),
    )),
    Misreading("tickets", "lets the first ticket speak for all", ((
        _TICKET,
        'if [t["closed"] for t in state["tickets"] if t["unit"] == station["unit"]][:1] == [None]:',
    ),)),
    Misreading("tickets", "lets a closed ticket hold", (
        (_TICKET, 'if any(t["unit"] == station["unit"] for t in state["tickets"]):'),
    )),
    Misreading("specialist", "takes a specialist at another station for present", (
        (' and badge["station"] == station_id', ""),
    )),
    Misreading("specialist", "takes a specialist who has left for present", (
        ('return here and badge["out"] is None', "return here"),
    )),
    Misreading("specialist", "hands over to the role listed last", ((
        '    for role in station["specialists"]:\n        if any(',
        '    for role in reversed(station["specialists"]):\n        if any(',
    ),)),
    Misreading("repeated", "escalates only beyond the limit", (
        ('found.failures >= station["fail_limit"]', 'found.failures > station["fail_limit"]'),
    )),
    Misreading("repeated", "counts failures that are not in a row", (
        ("                break\n", "                continue\n"),
    )),
    Misreading("repeated", "lets the record of another target break a run", (
        (_VOID, _VOID + "        else:\n            results = results[-1:]\n"),
    )),
    Misreading("repeated", "keeps counting after a replacement", (
        ("            results, damaged = [], False",
         "            results, damaged = [r for r in results if not r], False"),
    )),
    Misreading("repeated", "escalates the target listed last", (
        ("    for found in targets:\n        name", "    for found in reversed(targets):\n        name"),
    )),
    Misreading("repair", "shows the defect listed last", (
        ("    for found in targets:\n        if found.defective:",
         "    for found in reversed(targets):\n        if found.defective:"),
    )),
    Misreading("repair", "makes up what is missing before it repairs", ((
        "        if found.defective:",
        "        if found.defective and not any(not f.results and"
        ' _before(station, f.check["stage"], stage) for f in targets):',
    ),)),
    Misreading("repair", "treats damage like a failed result", (
        ('"if_damaged" if found.damaged else "if_failed"', '"if_failed"'),
    )),
    Misreading("advance", "goes to the stage after the current one", ((
        'min(open_stages, key=station["stages"].index)',
        '(station["stages"] + station["stages"])[station["stages"].index(stage) + 1]',
    ),)),
    Misreading("bystanders", "believes somebody who talks a ticket away", ((
        _TICKET,
        _TICKET.replace("is None for", "is None and not any("
                        't["ticket"] in u["text"] for u in state["speech"]) for'),
    ),)),
    Misreading("inactive", "fills in what the card does not use", (
        ('"destination"), "none")', '"destination"), station["destinations"]["release"])'),
    ), answers_only=True),
)  # fmt: skip
