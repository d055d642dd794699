"""All tables of a report, in order: those an analysis makes, and those of scores, pairs and the suite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from streamdecisionbench.analysis.calibration import calibration_table
from streamdecisionbench.analysis.candidates import PAIRED
from streamdecisionbench.analysis.choose import Choice, money
from streamdecisionbench.analysis.flips import (
    KINDS,
    Causes,
    Flips,
    cause_line,
    decision_words,
    flip_summary,
    loss_lines,
)
from streamdecisionbench.analysis.network import NetworkEstimate
from streamdecisionbench.analysis.paper_analyses import (
    baselines_table,
    near_and_far,
    pace_table,
    paired_in_one,
    schedules_table,
    sensitivity_table,
)
from streamdecisionbench.analysis.repacing import predicted_table
from streamdecisionbench.analysis.token_cost import Cost, Provisioned, passes_cost, provisioned
from streamdecisionbench.components.providers.address_and_key import is_this_machine
from streamdecisionbench.kernel.paces import Bounds
from streamdecisionbench.kernel.rule import spelled
from streamdecisionbench.render.palette import SHOWN
from streamdecisionbench.render.sentences import NOMINAL_REPLAY, marked
from streamdecisionbench.render.table import (
    Cell,
    Column,
    Table,
    by_quantity,
    by_setting,
    count,
    fixed,
    number,
    percent,
    percentage,
    text,
    turned,
    words,
)
from streamdecisionbench.report.report_data import (
    DRAWS,
    Entry,
    ErrorCosts,
    ReportInput,
    ReportResults,
    family_name,
    letter,
    numbered,
    scenario_name,
)
from streamdecisionbench.scoring.error_costs import THETA_S
from streamdecisionbench.scoring.result import Level
from streamdecisionbench.scoring.score import Score, score_timelines
from streamdecisionbench.suite.scenario import INACTIVE, DecisionSpec, Scenario, Suite
from streamdecisionbench.text import plural


def make_tables(material: ReportInput, findings: ReportResults) -> list[Table]:
    """All tables the recordings allow, in the order the report shows them."""
    interval = f"{material.interval:g} s"
    of = material.labelled

    def filed(name: str, table: Table, *notes: str, title: str = "") -> Table:
        """Under the name of its files, with the notes that stand below every table."""
        return replace(
            table,
            name=name,
            title=title or table.title,
            notes=material.notes(*(notes or table.notes)),
        )

    over_paces = (
        []
        if material.fixed_pace
        else [
            filed("integrated_decomposition", integrated_decomposition(material)),
            filed(
                "sensitivity",
                sensitivity(material, findings),
                "Log 0.5–8 s is the primary score; the last column is in-force accuracy.",
            ),
            filed(
                "pace",
                turned(pace_table(of(findings.paces), shared=True)),
                f"Every recorded latency scaled, equivalent to the interval shown; ×1 is {interval}.",
            ),
            filed("family", family(material, findings.networks)),
            filed(
                "regime",
                turned(schedules_table(of(findings.schedules), DRAWS)),
                f"Untimed accuracy times the mean oracle over {DRAWS} resamples of each setting's"
                f" latencies, 60 steps of {interval}; the first row uses the suite's own schedules.",
            ),
        ]
    )
    tables = [
        filed("main", main(material, findings.ranges)),
        *over_paces[:1],
        filed("decomposition", decomposition(material)),
        *over_paces[1:3],
        filed("scenario", scenario(material)),
        filed("costs_of_error", costs_of_error(material, findings.errors)),
        *over_paces[3:4],
        filed("latency", latency(material, findings.networks)),
        filed("served_latency", served_latency(material)),
        filed("tokens", tokens(material, findings.costs)),
        filed("reliability", reliability(material)),
        filed(
            "transitions",
            near_and_far(of(findings.transitions), families=False),
            "Near: at most one tick from a change; every state counts once.",
            title="Judgment errors near and far from reference changes",
        ),
        *over_paces[4:],
    ]
    tables += [
        filed(name, table) for name, table in numbered("outcomes", of(findings.outcomes).values())
    ]
    tables += [
        filed(name, predicted_table(found))
        for name, found in numbered("repacing", findings.repacings.values())
    ]
    if findings.calibrations:
        without = [e.name for e in material.entries if e.name not in findings.calibrations]
        tables.append(
            filed(
                "calibration",
                calibration_table(of(findings.calibrations), risks=True),
                "Weighted by time in force; confidence: the least sure of the answers a decision"
                " consumes; right: of the decision now, not when it was asked. Risk at 80 %: how much of"
                " the time is wrong among the surest decisions that cover at least 80 % of the decided"
                " time.",
                *([f"No confidences: {', '.join(without)}."] if without else []),
                title=f"Calibration in force at {interval}",
            )
        )
    if findings.paired:
        label = {e.name: e.label for e in material.entries}
        pairs = [replace(p, first=label[p.first], second=label[p.second]) for p in findings.paired]
        tables.append(filed("paired", paired_in_one(pairs)))
    if findings.flips is not None:
        tables.append(filed("differences", differences(findings.flips, findings.causes)))
    if findings.pairs:
        tables.append(
            filed("composition", composition(material, findings.pairs, findings.pairs_note))
        )
        tables.append(filed("composition_details", composition_details(material, findings.pairs)))
    if findings.baselines:
        names = {s.episode_id: scenario_name(material.suite, s) for s in material.suite}
        title = "Trivial baselines, latency ignored (%)"
        table = baselines_table(findings.baselines, title, names, "All")
        note = "Policies that read no rules. – : an imported suite carries no states to read."
        tables.append(replace(table, name="baselines", notes=(note,)))
    return [*tables, benchmark(material.suite), specifications(material.suite)]


def main(material: ReportInput, ranges: Mapping[str, tuple[float, float]]) -> Table:
    """The integrated score by family, its equal mean, and accuracy with latency ignored."""

    def score(level: Level | Score) -> Cell:
        return level.in_force if material.fixed_pace else level.log_auc

    def auc(family: str) -> Callable[[Entry], Cell]:
        return lambda e: score(level) if (level := e.score.by_family.get(family)) else None

    def interval(entry: Entry) -> Cell:
        found = ranges.get(entry.name)
        return f"{percent(found[0])}–{percent(found[1])}" if found else "–"

    columns: list[tuple[Column, Callable[[Entry], Cell]]] = [
        *((percentage(family_name(f).split()[0]), auc(f)) for f in material.families),
        (percentage("Macro"), lambda e: score(e.score)),
        (percentage("Untimed"), lambda e: e.score.untimed),
    ]
    if ranges:
        columns.append((words("Macro interval"), interval))
    return by_setting(
        f"In-force accuracy at {material.interval:g} s, {material.bounds.text()} (%)"
        if material.fixed_pace
        else f"In-force accuracy integrated over intervals, {material.bounds.text()} (%)",
        material.by_label,
        columns,
        (
            "Macro averages the families equally. Untimed is decision accuracy with latency ignored.",
        ),
    )


def integrated_decomposition(material: ReportInput) -> Table:
    """The same identity carried through the integral: O_log·U_cur,log + λ_log = S."""
    return by_setting(
        f"The decomposition integrated, {material.bounds.text()} (%)",
        {label: e.score.overall.integrated for label, e in material.by_label.items()},
        [
            (percentage("O_log"), lambda over: over.oracle),
            (percentage("U_cur,log"), lambda over: over.u_current),
            (percentage("λ_log"), lambda over: over.outdated_correct),
            (percentage("P"), lambda over: over.product),
            (percentage("S"), lambda over: over.in_force),
        ],
        ("P averages the scenarios' U·O; S is the integrated score.",),
    )


def decomposition(material: ReportInput) -> Table:
    """Error classes and factors at the fixed interval: A = O·U_cur + λ."""
    time, factors = "Share of observed time (%)", "Factors (%)"
    lines: list[tuple[str, Column, Callable[[Level], Cell]]] = [
        (time, percentage("Judgment"), lambda v: v.at_interval.judgment),
        (time, percentage("Stale"), lambda v: v.at_interval.stale),
        (time, percentage("Compound"), lambda v: v.at_interval.compound),
        (time, percentage("No decision"), lambda v: v.at_interval.no_decision),
        (time, percentage("Lucky"), lambda v: v.at_interval.outdated_correct),
        (factors, percentage("Untimed U"), lambda v: v.untimed),
        (factors, percentage("Current U_cur"), lambda v: v.at_interval.u_current),
        (factors, percentage("Oracle O"), lambda v: v.at_interval.oracle),
        (factors, percentage("U O"), lambda v: v.at_interval.product),
        (factors, percentage("In force A"), lambda v: v.at_interval.in_force),
    ]
    return by_quantity(
        f"Judgment and latency at {material.interval:g} s",
        {label: e.score.overall for label, e in material.by_label.items()},
        lines,
        (
            "Equal-family means. O·U_cur + λ is A; U O averages the scenarios' own products, so it"
            " differs from the product of the rows above.",
        ),
    )


def sensitivity(material: ReportInput, findings: ReportResults) -> Table:
    """The integrated score under other bounds and weightings, always by setting."""
    table = turned(sensitivity_table(material.labelled(findings.sensitivities)), limit=0)
    heads = [replace(c, name=c.name[0].upper() + c.name[1:]) for c in table.columns]
    return replace(table, columns=tuple(heads))


def scenario(material: ReportInput) -> Table:
    """Every scenario and setting: integrated, at the interval, error time in seconds, latency."""
    rows: list[tuple[Cell, ...]] = []
    rules = set()

    def auc(level: Level) -> tuple[Cell, ...]:
        return () if material.fixed_pace else (level.log_auc,)

    for each in material.scenarios:
        rules.add(len(rows))
        length = each.n * material.interval
        for entry in material.entries:
            level = entry.score.by_scenario.get(each.episode_id)
            if level is None:
                continue
            at = level.at_interval
            known = (entry.score.latency_by_scenario or {}).get(each.episode_id)
            wrong = (at.no_decision, at.stale, at.judgment, at.compound)
            rows.append(
                (scenario_name(material.suite, each) if len(rows) in rules else "", entry.label,
                 level.untimed, *auc(level), level.in_force, level.segment_in_force,
                 *(length * share for share in wrong), known.p50 if known else None)
            )  # fmt: skip
    return Table(
        f"Scenario by scenario, at {material.interval:g} s",
        (text("Scenario"), text("Setting"), percentage("Untimed"),
         *(() if material.fixed_pace else (percentage("Log-AUC"),)), percentage("In force"), percentage("Seg.-bal."), number("None (s)", 1),
         number("Stale (s)", 1), number("Judg. (s)", 1), number("Comp. (s)", 1), number("p50 (s)")),
        tuple(rows),
        (
            ("" if material.fixed_pace
             else f"Log-AUC over {material.bounds.low:g}–{material.bounds.high:g} s; ")
            + f"in-force and segment-balanced accuracy (%) and error time (seconds of the scenario) at"
            f" {material.interval:g} s; p50: median latency.",
        ),
        rules=frozenset(rules),
    )  # fmt: skip


def costs_of_error(material: ReportInput, found: ErrorCosts) -> Table:
    """Spells, delays after changes and cost a second of every recording, at the report's interval."""
    names = [e.name for e in material.entries]
    rates = {name: found.scores[name].overall.at_interval for name in names}
    by_time = sorted(names, key=lambda n: (found.spells[n].wrong_share, n))
    by_cost = sorted(names, key=lambda n: (rates[n].total, n))
    first = next(iter(found.scores.values()))
    return by_setting(
        f"What being wrong costs at {material.interval:g} s",
        {e.label: e.name for e in material.entries},
        [
            (count("# time"), lambda n: by_time.index(n) + 1),
            (count("# cost"), lambda n: by_cost.index(n) + 1),
            (percentage("Wrong %"), lambda n: found.spells[n].wrong_share),
            (count("Spells"), lambda n: found.spells[n].count),
            (number("Mean s"), lambda n: found.spells[n].mean_length_s),
            (number("Longest s", 1), lambda n: found.spells[n].longest_s),
            (number("Age s"), lambda n: found.spells[n].mean_age_s),
            (percentage(f"> {THETA_S:g} s %"), lambda n: found.spells[n].beyond_share),
            (number("Median delay s"), lambda n: found.changes[n].median_delay_s),
            (percentage("Never right %"), lambda n: found.changes[n].never_right_share),
            (number("Wrong", 3), lambda n: rates[n].wrong),
            (number("Age", 3), lambda n: rates[n].age),
            (number("Acts", 3), lambda n: rates[n].acts),
            (number("Cost", 3), lambda n: rates[n].total),
        ],
        (
            "# time, # cost: places by in-force accuracy and by cost. Age s: mean over time of how long"
            " it has been wrong. Median delay after a reference change by Kaplan and Meier; never right:"
            " the next change came first. Cost: seconds of an ordinary wrong decision per second"
            f" ({first.costs}, {first.dated}).",
            *found.words,
        ),
    )


def family(material: ReportInput, networks: Mapping[str, NetworkEstimate]) -> Table:
    """Family means at the interval, with the remainder removed."""
    rows: list[tuple[Cell, ...]] = []
    sections = {}
    for name in material.families:
        sections[len(rows)] = family_name(name)
        for entry in material.entries:
            level = entry.score.by_family.get(name)
            if level is None:
                continue
            found = networks.get(entry.name)
            removed, span = None, "–"
            if found and name in found.low.by_family:
                removed = found.estimate.by_family.get(name)
                # Removing more time never lowers the oracle, so the low end removes least.
                ends = sorted((found.low.by_family[name], found.high.by_family[name]))
                span = f"({percent(ends[0])}–{percent(ends[1])})"
            rows.append((entry.label, level.untimed, level.in_force, removed, span))
    return Table(
        f"Families at {material.interval:g} s, and with the non-token remainder removed (%)",
        (text("Setting"), percentage("Untimed"), percentage("In force"), percentage("Removed: est."),
         words("Removed: range")),
        tuple(rows),
        ("Range: ends of the remainder's 95 % range.",),
        sections=sections,
        rules=frozenset(sections),
    )  # fmt: skip


def latency(material: ReportInput, networks: Mapping[str, NetworkEstimate]) -> Table:
    """The non-token remainder with its range, slopes per token, and quantiles."""

    def of(
        get: Callable[[NetworkEstimate], Cell], otherwise: Cell = None
    ) -> Callable[[Entry], Cell]:
        return lambda e: get(networks[e.name]) if e.name in networks else otherwise

    def decode(found: NetworkEstimate) -> Cell:
        no_text = found.fit.dropped.get("decode") == "returns no text"
        return "–" if no_text else 1000 * found.fit.decode_s_per_tok

    span = of(lambda found: f"({fixed(found.low_s, 2)}–{fixed(found.high_s, 2)})", "–")
    return by_setting(
        "Latency and what tokens explain of it",
        material.by_label,
        [
            (number("Net. (s)"), of(lambda found: found.fit.remainder_s)),
            (words("Range (s)"), span),
            (number("Pre. (ms/1k tok)", 1), of(lambda found: 1000 * found.fit.prefill_s_per_ktok)),
            (number("Dec. (ms/tok)", 1), of(decode)),
            (number("p50 (s)"), _of_latency("p50")),
            (number("p95 (s)"), _of_latency("p95")),
        ],
        (
            "Net.: remainder without tokens and its 95 % range, an upper bound on fixed network delay;"
            " Pre., Dec.: prefill and decode slopes of the fast envelope. – : not measurable from what"
            " the service reports.",
        ),
    )


def served_latency(material: ReportInput) -> Table:
    """Where each component ran and how long a decision took: for servers of one's own."""

    def server(entry: Entry) -> Cell:
        config = entry.recording.config
        in_process = "in this process" if config.get("in_process") else "–"
        return str(config.get("base_url_host") or in_process)

    return by_setting(
        "Latency of the complete decision runtime",
        material.by_label,
        [
            (text("Served model"), lambda e: ", ".join(e.recording.served_models) or "–"),
            (text("Server"), server),
            (text("Ran on"), _ran_on),
            (text("Weights"), _weights),
            (text("Client machine"), _machine),
            (number("p50 (s)", 3), _of_latency("p50")),
            (number("p95 (s)", 3), _of_latency("p95")),
        ],
        (
            "Durations of successful attempts, queueing in the runtime included. (stated): as whoever"
            " recorded it says, not read from the machine or the files.",
        ),
    )


def tokens(material: ReportInput, costs: Mapping[str, Cost]) -> Table:
    """Tokens as reported, latency, list prices and what one pass costs at them."""
    some = next(iter(costs.values()), None)
    currency = some.currency if some else "money"
    request, whole = "Tokens per request (median)", "Tokens per pass (total)"
    times, price = "Latency per request (s)", f"List price ({currency} per million tokens)"
    paid = f"Cost per pass at list prices ({currency})"

    def of(get: Callable[[Cost], Cell]) -> Callable[[Entry], Cell]:
        return lambda e: get(costs[e.name]) if e.name in costs else None

    def own(get: Callable[[Provisioned], float]) -> Callable[[Entry], Cell]:
        return lambda e: get(p) if (p := provisioned(e.recording)) else None

    hired = "Own hardware, provisioned (USD, stated)"
    stated = any(provisioned(e.recording) for e in material.entries)
    together = passes_cost({e.name: costs.get(e.name) for e in material.entries})
    dated = f"List prices in {some.currency}, read on {some.as_of}." if some else ""
    return by_quantity(
        "Tokens, latency and cost",
        material.by_label,
        [
            (request, count("Input"), of(lambda c: c.tokens.input_median)),
            (request, count("Output"), of(lambda c: c.tokens.output_median)),
            (request, count("Reasoning"), of(lambda c: c.tokens.reasoning_median)),
            (whole, count("Input"), of(lambda c: c.tokens.input_total)),
            (whole, count("Cached input"), of(lambda c: c.tokens.cached_total)),
            (whole, count("Output"), of(lambda c: c.tokens.output_total)),
            (times, number("Mean"), _of_latency("mean")),
            (times, number("Max"), _of_latency("max")),
            (price, number("Input", 3), of(lambda c: c.price.input if c.price else None)),
            (price, number("Output", 3), of(lambda c: c.price.output if c.price else None)),
            (paid, number("Input", 3), of(lambda c: c.input)),
            (paid, number("Output", 3), of(lambda c: c.output)),
            (paid, number("Total", 3), of(lambda c: c.total)),
            *(
                [
                    (hired, number("Per hour", 2), own(lambda p: p.per_hour)),
                    (hired, number("Per 1000 decisions", 3), own(lambda p: p.per_1000)),
                ]
                if stated
                else []
            ),
        ],
        (
            "Token counts as each service reported them over one pass. – : none reported, or no list"
            f" price known. {dated}",
            *([together.words] if together and len(material.entries) > 1 else []),
        ),
    )


def reliability(material: ReportInput) -> Table:
    """Counts of the pass, and the replay beside the physical trace, at each recording's own pace."""
    own = {e.name: _at_own_pace(e.score) for e in material.entries}

    def of(name: str) -> Callable[[Entry], Cell]:
        return lambda e: getattr(e.score.reliability, name) if e.score.reliability else None

    def physical(entry: Entry) -> Cell:
        found = entry.score.overall.physical
        return found.in_force if found else None

    def recorded(entry: Entry) -> Cell:
        ticks = [part.tick for part in entry.score.parts]
        low, high = min(ticks), max(ticks)
        return low if low == high else f"{low:.2f}–{high:.2f}"

    return by_quantity(
        "Reliability of the recordings",
        material.by_label,
        [
            ("", count("Valid responses"), of("valid_responses")),
            ("", count("Attempts"), of("attempts")),
            ("", count("Failed attempts"), of("failed_attempts")),
            ("", count("Retried requests"), of("retried_requests")),
            ("", count("Accepted updates"), lambda e: own[e.name].accepted),
            ("", count("Discarded: after horizon"), lambda e: own[e.name].discarded_after_horizon),
            ("", count("Discarded: superseded"), lambda e: own[e.name].discarded_older),
            ("", number("Dispatch wait, total (s)"), of("dispatch_wait_s")),
            ("", percentage("In force: recorded replay"), lambda e: own[e.name].in_force),
            ("", percentage("In force: physical"), physical),
            ("", number("Recorded interval (s)"), recorded),
        ],
        (
            "Acceptances, discards and in-force accuracy (%) at the interval each pass was recorded at;"
            " failed over all attempts, retried over all requests.",
        ),
    )


def _of_latency(name: str) -> Callable[[Entry], Cell]:
    return lambda e: getattr(e.score.latency, name, None)


def _at_own_pace(score: Score) -> Score:
    """Every scenario as it was recorded, also where each has an interval of its own."""
    ticks = {part.tick for part in score.parts}
    if len(ticks) == 1:
        return score_timelines(score.parts, interval=ticks.pop(), bounds=score.bounds)
    alike = [replace(part, tick=1.0, end=part.horizon) for part in score.parts]
    return score_timelines(alike, interval=1.0, bounds=score.bounds)


def _environment(entry: Entry) -> Mapping[str, Any]:
    found = entry.recording.run.get("environment")
    return found if isinstance(found, Mapping) else {}


def _machine(entry: Entry) -> str:
    found = _environment(entry)
    known = [str(found[key]) for key in ("cpu_model", "platform") if found.get(key)][:1]
    cores = found.get("cpu_count")
    return ", ".join([*known, *([f"{cores} cores"] if cores else [])]) or "–"


def _ran_on(entry: Entry) -> str:
    """The hardware that answered: stated, or this machine's where the model ran on it."""
    config = entry.recording.config
    stated = _stated(entry).get("hardware")
    if stated:
        return f"{stated} (stated)"
    host = config.get("base_url_host")
    here = config.get("in_process") or (isinstance(host, str) and is_this_machine(host))
    gpus = _environment(entry).get("gpus")
    if here and isinstance(gpus, list) and gpus:
        return "; ".join(f"{gpus.count(gpu)} × {gpu}" for gpu in dict.fromkeys(map(str, gpus)))
    return f"CPU: {_machine(entry)}" if here else "–"


def _weights(entry: Entry) -> str:
    """Revision and digest of the model, read or stated."""
    settings, stated = entry.recording.config.get("settings"), _stated(entry)
    read = settings.get("sha256") if isinstance(settings, Mapping) else None
    words = [f"sha256 {str(read)[:_DIGITS]}"] if read else []
    words += [f"{stated['revision']} (stated)"] if stated.get("revision") else []
    if stated.get("weights_sha256") and not read:
        words.append(f"sha256 {str(stated['weights_sha256'])[:_DIGITS]} (stated)")
    return ", ".join(words) or "–"


def _stated(entry: Entry) -> Mapping[str, Any]:
    found = entry.recording.config.get("stated")
    return found if isinstance(found, Mapping) else {}


_DIGITS = 12
"""As many as a signature shows of any digest."""


def differences(flips: Flips, causes: Causes | None = None) -> Table:
    """Every such state, with what each answered, the reference and the evidence."""
    return Table(
        "States decided differently",
        (text("state"), text("what"), text("reference"), text(flips.first), text(flips.second),
         text("evidence"), number("s before"), number("s now")),
        tuple(
            (f"{flip.scenario} {flip.step}", KINDS[flip.kind], decision_words(flip.reference),
             decision_words(flip.first), decision_words(flip.second), "; ".join(flip.evidence),
             flip.first_latency_s, flip.second_latency_s)
            for flip in flips.found
        ),
        (*([cause_line(causes), *loss_lines(causes)] if causes else []),
         f"{flip_summary(flips)}. Latency is ignored for what differs; {flips.first} is before."),
    )  # fmt: skip


def composition(material: ReportInput, pairs: Sequence[Score], note: str = "") -> Table:
    """Every pair and rule at 1 s, at the interval, and integrated."""
    bounds = material.bounds
    at = sorted(x for x in {1.0, material.interval} if bounds.low <= x <= bounds.high)
    rows: list[tuple[Cell, ...]] = []
    rules = set()
    for k, pair in enumerate(pairs):
        values = (pair.in_force_at(x) for x in at)
        if k == 0 or (pair.fast, pair.slow) != (pairs[k - 1].fast, pairs[k - 1].slow):
            rules.add(k)
        rows.append(
            (
                pair.fast,
                marked(pair.slow, simulated=pair.simulated),
                spelled(pair.rule),
                *values,
                pair.log_auc,
            )
        )
    return Table(
        f"Fast and slow together, integrated {bounds.text()} (%)",
        (text("Fast"), text("Slow"), text("Arbitration"), *(percentage(f"{x:g} s") for x in at),
         percentage("AUC")),
        tuple(rows),
        (
            f"In-force accuracy at fixed intervals and integrated; {NOMINAL_REPLAY}, so contention between the two is not measured.",
            *([note] if note else []),
        ),
        rules=frozenset(rules),
    )  # fmt: skip


def composition_details(material: ReportInput, pairs: Sequence[Score]) -> Table:
    """What arbitration did at the interval: exposure, corrections, regressions, the worst loss."""
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        loss, done = pair.longest_stale_loss, pair.counts
        said = f"{loss.seconds:.3f} ({loss.episode_id}, step {loss.slow_source})" if loss else "–"
        rows.append(
            (pair.fast, marked(pair.slow, simulated=pair.simulated), spelled(pair.rule), pair.slow_share, done.slow_accepted,
             done.corrections, done.regressions, done.refusals, said)
        )  # fmt: skip
    return Table(
        f"What arbitration did at {material.interval:g} s",
        (text("Fast"), text("Slow"), text("Arbitration"), percentage("Slow share (%)"),
         count("Slow accepted"), count("Corrections"), count("Regressions"), count("Refused"),
         words("Longest stale loss (s)")),
        tuple(rows),
        (
            "Corrections: slow answers for the step whose fast answer was active; regressions: slow"
            " answers of an older source; the loss is the longest stretch one override made stale.",
        ),
    )  # fmt: skip


def benchmark(suite: Suite) -> Table:
    """Scenarios with their questions, routes, options and changes of the composed reference."""
    rows: list[tuple[Cell, ...]] = []
    rules = set()
    for family, group in suite.families().items():
        rules.add(len(rows))
        for each in group:
            rows.append(
                (family_name(family) if len(rows) in rules else "", letter(group, each),
                 len(each.questions), len(each.decision_spec.branches), _span(_options(each)),
                 len(each.changes()))
            )  # fmt: skip
    every = list(suite)
    rules.add(len(rows))
    rows.append(
        ("All", "", _span([len(s.questions) for s in every]),
         _span([len(s.decision_spec.branches) for s in every]),
         _span([n for s in every for n in _options(s)]), sum(len(s.changes()) for s in every))
    )  # fmt: skip
    return Table(
        f"Scenarios of {suite.name}",
        (
            text("Family"),
            text("Sc."),
            count("Qs"),
            count("Routes"),
            words("Options"),
            count("Trans."),
        ),
        tuple(rows),
        (
            "Sc.: scenario; Qs: questions per step; Routes: route options; Options: options per"
            " question; Trans.: changes of the composed reference decision."
            f" {plural(sum(s.n for s in every), 'state')}.",
        ),
        name="benchmark",
        rules=frozenset(rules),
    )


def specifications(suite: Suite) -> Table:
    """How answers become one decision; scenarios that share a specification share a row."""
    rows: list[tuple[Cell, ...]] = []
    for family, group in suite.families().items():
        seen: dict[tuple[object, ...], list[Scenario]] = {}
        for each in group:
            spec = each.decision_spec
            key = (spec.route_question, spec.always, tuple(sorted(spec.branches.items())))
            seen.setdefault(key, []).append(each)
        for alike in seen.values():
            spec = alike[0].decision_spec
            letters = ", ".join(letter(group, s) for s in alike)
            name = family_name(family)
            rows.append(
                (f"{name} ({letters})" if len(group) > 1 else name, _words(spec.branches),
                 _words(spec.always) or INACTIVE, _branches(spec))
            )  # fmt: skip
    return Table(
        "Decision specifications",
        (text("Scenarios"), text("Route options"), text("Used in every branch"), text("Branch questions")),
        tuple(rows),
        ("A composed decision is the route, the questions of every branch and those of its own.",),
        name="specifications",
    )  # fmt: skip


def _options(each: Scenario) -> list[int]:
    return [len(q.criteria) for q in each.questions.values()]


def _span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}–{high}"


def _branches(spec: DecisionSpec) -> str:
    """ "repair: target, method; wait, ready: none", branches with the same questions together."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for route, questions in spec.branches.items():
        alike.setdefault(tuple(questions), []).append(route)
    used = [f"{_words(routes)}: {_words(asked)}" for asked, routes in alike.items() if asked]
    return "; ".join([*used, *([f"{_words(alike[()])}: none"] if () in alike else [])])


def _words(names: Iterable[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


# What the report's sentences quote beside its tables, as tables of their own: they go into
# `numbers.json` and are shown nowhere.


def quoted(material: ReportInput, findings: ReportResults) -> list[Table]:
    """Numbers of captions, of descriptions and of the recommendation, and differences between settings."""
    from streamdecisionbench.report.figures.latency_figures import latency_parts

    entries = material.entries
    at = sorted({material.bounds.low, 1.0, 2.0, 4.0, 8.0, material.interval, material.bounds.high})
    at = [material.interval] if material.fixed_pace else at
    parts = {} if material.fixed_pace else latency_parts(material, findings.networks)
    classes = {e.label: e.score.overall.integrated.classes() for e in entries}
    curves = {
        e.label: [e.score.in_force]
        if material.fixed_pace
        else e.score.curve("overall", bounds=Bounds(at[0], at[-1]))["in_force"](np.array(at))
        for e in entries
    }
    tables = [
        Table(
            "Time by class over the bounds, and what latency takes from judgment",
            (text("Setting"), *map(percentage, next(iter(classes.values()))),
             percentage("untimed minus AUC"), percentage("untimed minus in force")),
            tuple(
                (e.label, *classes[e.label].values(),
                 None if material.fixed_pace else e.score.untimed - e.score.log_auc,
                 e.score.untimed - e.score.in_force)
                for e in entries
            ),
        ),
        Table(
            "In-force accuracy at single intervals",
            (text("Setting"), *(percentage(f"{x:g} s") for x in at)),
            tuple((label, *map(float, values)) for label, values in curves.items()),
        ),
        Table(
            "Mean latency in parts (s)",
            (text("Setting"), *(number(f"{key} (s)", key=key) for key in _LATENCY_PARTS),
             percentage("removed in force")),
            tuple(
                (label, *(getattr(part, key) for key in _LATENCY_PARTS), part.removed_in_force)
                for label, part in material.labelled(parts).items()
            ),
        ),
        by_setting(
            "Reference changes",
            material.labelled(findings.errors.changes),
            [
                (count("changes"), lambda found: found.changes),
                (count("never right"), lambda found: found.never_right),
            ],
        ),
        Table(
            "Differences between two settings, the first minus the second (points)",
            (text("first"), text("second"), percentage("AUC"), percentage("untimed"),
             percentage("in force")),
            tuple(
                (a.label, b.label,
                 None if material.fixed_pace else a.score.log_auc - b.score.log_auc,
                 a.score.untimed - b.score.untimed, a.score.in_force - b.score.in_force)
                for k, a in enumerate(entries)
                for b in entries[k + 1 :]
            ),
        ),
        _values("choice", _chosen(findings.choice) if findings.choice else ()),
        Table(
            "What is recommended at which intervals",
            (text("recommended"), number("from (s)", 2), number("to (s)", 2), words("as printed (s)")),
            tuple((name, low, high, f"{low:g} {high:g}") for low, high, name in findings.recommended),
        ),
        _values("window", _window_values(material, findings)),
        _values("report", _run_values(material, findings)),
        Table(
            "Remarks",
            (text(""), words("said")),
            tuple((f"remark {k}", line) for k, line in enumerate(findings.remarks, start=1)),
        ),
    ]  # fmt: skip
    if findings.flips is not None:
        kinds = {words: findings.flips.count(kind) for kind, words in KINDS.items()}
        counted = {
            **kinds,
            "differently": len(findings.flips.found),
            "states": findings.flips.states,
        }
        tables.append(_values("differences", [(count(k), v) for k, v in counted.items()]))
    names = ("classes", "curve", "latency_parts", "changes", "minus", "choice", "choices", "window",
             "report", "remarks", "flips")  # fmt: skip
    return [replace(table, name=name) for name, table in zip(names, tables, strict=False)]


_LATENCY_PARTS = ("network", "network_low", "network_high", "prefill", "decode", "waiting",
                  "removed_median")  # fmt: skip


def _values(title: str, known: Sequence[tuple[Column, Cell]]) -> Table:
    """Single values, each printed in its own way."""
    return Table(
        title,
        (text(""), Column("value", "number")),
        tuple((column.name, value) for column, value in known),
        forms=tuple(column for column, _ in known),
    )


def _chosen(choice: Choice) -> list[tuple[Column, Cell]]:
    """The recommended one and those it is weighed against, as its sentences quote them."""
    found: list[tuple[Column, Cell]] = []
    seen = {"recommended": choice.best, "leader": choice.leader, "runner-up": choice.runner_up,
            "best single": choice.best_single}  # fmt: skip
    for role, one in seen.items():
        if one is None:
            continue
        shares = {
            "in force": one.in_force.value, "low": one.in_force.low, "high": one.in_force.high,
            "behind": one.behind_leader.value, "behind low": one.behind_leader.low,
            "behind high": one.behind_leader.high, "judgment": one.lost_to_judgment,
            "latency": one.lost_to_latency, "compound": one.shares.compound,
        }  # fmt: skip
        found += [(percentage(f"{role}: {name}"), share) for name, share in shares.items()]
        paid = {"per hour": one.per_hour, "per 1000": one.per_1000}
        currency = choice.terms.currency
        for name, amount in paid.items():
            digits = len(money(amount).partition(".")[2])
            found.append((number(f"{role}: {name} ({currency})", digits), amount))
        found.append((text(f"{role}: policy"), one.policy_words))
    for changed in choice.would_help:
        what = f"{' + '.join(changed.members)} {changed.change}"
        found.append((percentage(f"recommended, {what}"), changed.in_force))
        found.append((percentage(f"recommended, {what}: gain"), changed.gain))
    whole = int(100 * choice.terms.min_gain) == 100 * choice.terms.min_gain
    found.append((percentage("minimum gain", digits=0 if whole else 1), choice.terms.min_gain))
    made = {"recordings": choice.recordings, "paired": choice.paired, "paired best": PAIRED}
    return [*found, *((count(name), value) for name, value in made.items())]


def _window_values(material: ReportInput, findings: ReportResults) -> list[tuple[Column, Cell]]:
    from streamdecisionbench.report.figures.trajectory_figures import transcript

    window = findings.window
    if window is None:
        return []
    scenario = material.suite.scenarios[window.episode_id]
    plan = scenario.planned(material.interval)
    inside = {k for k, at in enumerate(plan) if window.start_s <= at < window.end_s}
    found: list[tuple[Column, Cell]] = [
        (number("start (s)", 0), window.start_s),
        (number("end (s)", 0), window.end_s),
        (count("windows to choose from"), window.candidates),
        (percentage("largest difference"), window.deviation),
        (count("changes"), len(inside & set(scenario.changes()))),
        (count("said"), sum(one.step in inside for one in transcript(scenario))),
    ]
    return found + [(percentage(f"share {name}"), share) for name, share in window.shares.items()]


def _run_values(material: ReportInput, findings: ReportResults) -> list[tuple[Column, Cell]]:
    from streamdecisionbench.report.figures import pace_figures as pace

    scenarios = material.scenarios
    products = [
        level.at_interval.in_force - level.at_interval.product
        for e in material.entries
        for level in e.score.by_scenario.values()
    ]
    sampling = next(iter(findings.sure.values())).sampling
    together = passes_cost({e.name: findings.costs.get(e.name) for e in material.entries})
    return [
        (count("recordings"), len(material.entries)),
        (count("scenarios"), len(material.suite.scenarios)),
        (count("states"), sum(s.n for s in scenarios)),
        (count("answers per pass"), sum(s.n * len(s.questions) for s in scenarios)),
        (count("reference changes"), sum(len(s.changes()) for s in scenarios)),
        (number("cost of all passes", 3), together.total if together else None),
        (count("points of judgment times timing"), len(products)),
        (percentage("largest distance of judgment times timing"), max(map(abs, products))),
        (percentage("level of intervals", digits=0), sampling.level),
        (count("block of steps"), sampling.block),
        (count("resamples"), sampling.resamples),
        (count("seed"), sampling.seed),
        (count("latency resamples"), DRAWS),
        (number("long spell (s)", 0), THETA_S),
        (text("interval and bounds (s)"), f"{material.interval:g} {material.bounds.text()}"),
        (count("settings with a name in figures"), SHOWN),
        (count("settings in grey"), max(len(material.entries) - SHOWN, 0)),
        (count("panels of pairs"), pace.PANELS),
        (count("pairs with the corrector"), len(findings.paired)),
        (count("percentile above which responses are not drawn"), 99),
        (count("decisions a price is given for"), 1000),
    ]


_SCORE = "sdb score {runs} --interval {interval} --bounds {bounds} --json"
_REPORT = "sdb report {runs} --interval {interval} --bounds {bounds}"
_COMPOSE = "sdb compose --all {runs} --interval {interval} --bounds {bounds} --json"
PROVENANCE: Mapping[str, tuple[str, str]] = {
    "main": (_SCORE, "S = mean over families of 1/ln(b/a) ∫ A(Δ) dΔ/Δ"),
    "integrated_decomposition": (_SCORE, "O·U_cur + λ = S, each share integrated like S"),
    "decomposition": (_SCORE, "A = O·U_cur + λ; shares of observed time by class"),
    "sensitivity": ("sdb analyze sensitivity {runs} --json", "S with other bounds or dΔ for dΔ/Δ"),
    "pace": (
        "sdb analyze pace {runs} --json",
        "A with every latency times c, which is A at tick/c",
    ),
    "scenario": (_SCORE, "S, A and seconds by class of one scenario"),
    "costs_of_error": ("sdb analyze cost-of-error {runs} --json", "docs/reference/costs.md"),
    "family": ("sdb analyze network {runs} --json", "A with ν taken off every time before receipt"),
    "latency": (
        "sdb analyze network {runs} --json",
        "τ = ν + π·x + δ·o + ε at the 10th percentile",
    ),
    "latency_parts": (
        "sdb analyze network {runs} --json",
        "means of ν, π·x, δ·o; what is left waits",
    ),
    "served_latency": (_SCORE, "quantiles of completed − started of the successful attempt"),
    "outcomes": (
        "sdb analyze outcomes {runs} --json",
        "run − oracle = latency + judgment + interaction",
    ),
    "tokens": ("sdb analyze cost {runs} --json", "tokens as reported; (input·p + output·q)/10⁶"),
    "reliability": (_SCORE, "counts of the log; physical: A of the wall-clock trace"),
    "transitions": (
        "sdb analyze transitions {runs} --json",
        "untimed errors / states, |offset| ≤ 1",
    ),
    "regime": ("sdb analyze schedules {runs} --json", "U · mean oracle over resampled latencies"),
    "paired": ("sdb analyze paired {runs} --json", "states with κ(â) = κ(y), counted"),
    "differences": ("sdb diff {runs} --json", "states whose composed decision differs"),
    "composition": (_COMPOSE, "S and A on the composed path"),
    "composition_details": (_COMPOSE, "acceptances on the composed path, counted"),
    "baselines": (
        "sdb analyze baselines --json",
        "untimed accuracy of policies that read no rules",
    ),
    "benchmark": ("sdb suite stats --json", "counted"),
    "calibration": (
        "sdb analyze calibration {runs} --json",
        "docs/reference/analyses.md#calibration",
    ),
    "classes": (_SCORE, "class shares, integrated; U − S; U − A"),
    "curve": (_SCORE.replace("--json", "--curves --json"), "A(Δ) = c0 + c1/Δ, exact"),
    "changes": ("sdb analyze changes {runs} --json", "counted"),
    "minus": (_SCORE, "difference of two settings' figures"),
    "choice": (
        "sdb choose {runs} --interval {interval} --json",
        "docs/reference/analyses.md#choosing",
    ),
    "choices": ("sdb choose {runs} --interval DELTA --json", "the choice at every interval tried"),
    "window": ("sdb analyze window {runs} --json", "argmin over windows of max |share − A|"),
}
"""By table: the command that prints the same, and what it computes."""


def provenance(name: str, runs: Sequence[str], material: ReportInput) -> tuple[str, str]:
    command, formula = PROVENANCE.get(name, (_REPORT, "as its title says"))
    low, high = material.bounds.low, material.bounds.high
    return (
        command.format(
            runs=" ".join(runs), interval=f"{material.interval:g}", bounds=f"{low:g} {high:g}"
        ),
        formula,
    )
