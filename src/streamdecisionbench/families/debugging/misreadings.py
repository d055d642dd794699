"""How each rule of the debugging card is misread, as a change to the reference's source."""

from __future__ import annotations

from streamdecisionbench.suite.misreading import Misreading

_SILENCE = """("resume",))]
    return int(state["clock"]["now"] - max(signs))"""
_PAUSE = """("pause", "evaluate", "step"))]
    return int(state["clock"]["now"] - max(signs))"""
_STARTED = '    signs = [run["started"]]\n'

MISREADINGS: tuple[Misreading, ...] = (
    Misreading("ticks", "counts the first tick of a silence too", (
        (_SILENCE, _SILENCE.replace("- max(signs)", "- max(signs) + 1")),
    )),
    Misreading("ticks", "counts the first tick of a pause too", (
        (_PAUSE, _PAUSE.replace("- max(signs)", "- max(signs) + 1")),
    )),
    Misreading("patterns", "lets * stop at a slash", ((
        '".*".join(literal)', '"[^/]*".join(literal)',
    ),)),
    Misreading("patterns", "lets a pattern match the beginning of a path", (
        ("re.fullmatch(", "re.match("),
    )),
    Misreading("patterns", "takes the first matching scope", (
        ('            found = entry["scope"]', '            found = found or entry["scope"]'),
    )),
    Misreading("patterns", "takes the first matching owner", (
        ('_matches(e["pattern"], path)][-1]', '_matches(e["pattern"], path)][0]'),
    )),
    Misreading("patterns", "takes the longest matching owner", ((
        'owner = [e["team"] for e in session["owners"] if _matches(e["pattern"], path)][-1]',
        'owner = max((e for e in session["owners"] if _matches(e["pattern"], path)),'
        ' key=lambda e: len(e["pattern"]))["team"]',
    ),)),
    Misreading("watched", "watches every file", (('    found = ""\n', '    found = "target"\n'),)),
    Misreading("runs", "does not count a stopped run as finished", ((
        'if run["ended"] is not None]', 'if run["end"] == "complete"]',
    ),)),
    Misreading("process", "shows a run as paused that was ever paused", (
        ('switches and switches[-1] == "pause"', '"pause" in switches'),
    )),
    Misreading("process", "shows stalled only beyond the threshold", ((
        '>= state["policy"]["stall_ticks"]', '> state["policy"]["stall_ticks"]',
    ),)),
    Misreading("silence", "forgets that a resume ends a silence", (
        ('_debugger(state, run, ("resume",))', '_debugger(state, run, ())'),
    )),
    Misreading("silence", "lets lines of other panes end a silence", ((
        _STARTED, _STARTED + '    signs += [line["at"] for line in state["terminal"]]\n',
    ),)),
    Misreading("pause_age", "lets only the pause itself count", (
        ('("pause", "evaluate", "step")', '("pause",)'),
    )),
    Misreading("pause_age", "lets watches and breakpoints count too", ((
        '("pause", "evaluate", "step")',
        '("pause", "evaluate", "step", "breakpoint", "watch_refresh")',
    ),)),
    Misreading("pause_age", "lets saves count too", ((
        _PAUSE,
        _PAUSE.replace("    return", '    signs += [s["at"] for s in state["saves"]]\n    return'),
    ),)),
    Misreading("target_result", "takes any failure for the original error", ((
        'same = entry["error"] == state["session"]["original_error"]', "same = True",
    ),)),
    Misreading("target_result", "takes no failure for the original error", ((
        'same = entry["error"] == state["session"]["original_error"]', "same = False",
    ),)),
    Misreading("order", "looks at failures before changes", (
        ("    if changed:\n", '    if changed and not last["failed"]:\n'),
    )),
    Misreading("order", "looks at the pinned test before compiler errors", (
        ("    if errors:\n", '    if errors and target_result != "not_run":\n'),
    )),
    Misreading("control", "stops only beyond the threshold", (
        ('>= policy["stop_ticks"]', '> policy["stop_ticks"]'),
    )),
    Misreading("control", "continues only beyond the threshold", (
        ('>= policy["pause_ticks"]', '> policy["pause_ticks"]'),
    )),
    Misreading("control", "lets unsaved edits and fresh saves postpone it", ((
        "    if active:\n",
        '    if active and (_unsaved(state) or _in_grace(state)):\n        return ("wait", "", "")\n'
        "    if active:\n",
    ),)),
    Misreading("wait", "keeps the grace for one tick longer", ((
        '- state["policy"]["save_grace_ticks"]', '- state["policy"]["save_grace_ticks"] - 1',
    ),)),
    Misreading("wait", "ends the grace one tick early", ((
        '- state["policy"]["save_grace_ticks"]', '- state["policy"]["save_grace_ticks"] + 1',
    ),)),
    Misreading("wait", "does not wait for unsaved edits", (
        ("    if _unsaved(state) or _in_grace(state):", "    if _in_grace(state):"),
    )),
    Misreading("wait", "gives no grace to saves by a tool", ((
        "return bool(_watched_saves(state, earliest))",
        'return any(" " not in s["by"] for s in _watched_saves(state, earliest))',
    ),)),
    Misreading("changed", "takes a save at the start for a change", (
        ('_watched_saves(state, last["started"])', '_watched_saves(state, last["started"] - 1)'),
    )),
    Misreading("changed", "looks for saves after the end of the run", (
        ('_watched_saves(state, last["started"])', '_watched_saves(state, last["ended"])'),
    )),
    Misreading("changed", "takes the narrowest scope", (
        ("max(changed, key=_WIDTHS.index)", "min(changed, key=_WIDTHS.index)"),
    )),
    Misreading("changed", "takes the scope of the last save", (
        ("max(changed, key=_WIDTHS.index)", "changed[-1]"),
    )),
    Misreading("compiler", "counts warnings", (
        ('if entry["severity"] == "error"]', "if entry]"),
    )),
    Misreading("compiler", "takes the last error", (
        ('"inspect_file", errors[0])', '"inspect_file", errors[-1])'),
    )),
    Misreading("not_executed", "lets the pinned test be absent", (
        ('    if target_result == "not_run":', "    if False:"),
    )),
    Misreading("not_executed", "reruns the scope of the last run", (
        ('return ("rerun", "rerun_scope", "target")', 'return ("rerun", "rerun_scope", last["scope"])'),
    )),
    Misreading("selection", "takes the pinned test before a new failure", (
        ("(new + pinned + failed)", "(pinned + new + failed)"),
    )),
    Misreading("selection", "has no regard for the pinned test", (
        ("(new + pinned + failed)", "(new + failed)"),
    )),
    Misreading("selection", "has no regard for new failures", (
        ("(new + pinned + failed)", "(pinned + failed)"),
    )),
    Misreading("selection", "calls a test new that never ran before", (
        ("return bool(executed) and test in", "return not executed or test in"),
    )),
    Misreading("selection", "calls a test new that passed in any earlier run", ((
        'test in executed[-1]["passed"]', 'any(test in r["passed"] for r in executed)',
    ),)),
    Misreading("frame", "takes the first frame for the innermost", (
        ('session["frame_order"] == "innermost_last"', "False"),
    )),
    Misreading("frame", "takes the last frame for the innermost", (
        ('session["frame_order"] == "innermost_last"', "True"),
    )),
    Misreading("frame", "takes the outermost project frame", (
        ("    return inside[0]", "    return inside[-1]"),
    )),
    Misreading("owner", "inspects whatever team it belongs to", (
        ('    if owner == session["team"]:', "    if True:"),
    )),
    Misreading("owner", "is ready once another team has committed", ((
        'last["id"]):\n        return ("wait", "", "")', 'last["id"]):\n        return ("ready", "", "")',
    ),)),
    Misreading("commitment", "believes speech that is not final", (
        ('if message["final"] and message["team"] == team:', 'if message["team"] == team:'),
    )),
    Misreading("commitment", "believes any team", (
        ('if message["final"] and message["team"] == team:', 'if message["final"]:'),
    )),
    Misreading("commitment", "believes a promise about another run", ((
        'form.replace("RUN", run_id).lower() for form in state["policy"]["commitment_forms"]]',
        'form.replace("RUN", r["id"]).lower() for r in state["runs"]'
        ' for form in state["policy"]["commitment_forms"]]',
    ),)),
    Misreading("commitment", "believes the words inside a longer sentence", (
        ("sentence.strip() in forms for", "any(form in sentence for form in forms) for"),
    )),
    Misreading("commitment", "believes a question", (
        ('r"[.!]\\s|(?<=\\?)\\s"', 'r"[.!?]\\s"'),
    )),
    Misreading("commitment", "lets later talk withdraw it", ((
        'for message in state["messages"]:',
        'for message in [m for m in state["messages"] if m["final"] and m["team"] == team'
        ' and run_id in m["text"].lower()][-1:]:',
    ),)),
    Misreading("coverage", "asks for more at exactly the limit", (
        ('last["skipped"] > state', 'last["skipped"] >= state'),
    )),
    Misreading("coverage", "is content with any coverage", (
        ('last["skipped"] > state["policy"]["max_skipped"]', "False"),
    )),
    Misreading("coverage", "repeats the scope of the last run", (
        ('_NEXT_WIDER[last["scope"]]', 'last["scope"]'),
    )),
    Misreading("ready", "keeps waiting when nothing is left", (
        ('return ("ready", "", "")', 'return ("wait", "", "")'),
    )),
    Misreading("no_effect", "lets speech end a silence", ((
        _STARTED, _STARTED + '    signs += [m["at"] for m in state["messages"]]\n',
    ),)),
    Misreading("no_effect", "lets saves end a silence", ((
        _STARTED, _STARTED + '    signs += [s["at"] for s in state["saves"]]\n',
    ),)),
    Misreading("unused", "fills in what the card does not use", (
        ('"stop" if process in ("running", "stalled") else "continue"', '"continue"'),
    ), answers_only=True),
)  # fmt: skip
