"""Tables of analyses: pace, sensitivity, schedules, transitions, states two settings decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from streamdecisionbench.analysis.calibration import Calibration
from streamdecisionbench.analysis.flips import KINDS, Flips, decision_words, flipped_states
from streamdecisionbench.analysis.network import NetworkEstimate
from streamdecisionbench.analysis.paper import (
    Baselines,
    Pace,
    Paired,
    Projection,
    Sensitivity,
    Transitions,
)
from streamdecisionbench.analysis.repacing import Repacing
from streamdecisionbench.analysis.table import fixed, percent
from streamdecisionbench.analysis.token_cost import Cost
from streamdecisionbench.in_force import spelled
from streamdecisionbench.report.figures.pairs import pair_label
from streamdecisionbench.report.gate import flip_summary
from streamdecisionbench.report.material import (
    Entry,
    ErrorCosts,
    Material,
    family_name,
    letter,
    scenario_name,
)
from streamdecisionbench.report.render import Cell, Number, Row, Table, count, pct, sec, turned
from streamdecisionbench.scoring.cost import THETA_S
from streamdecisionbench.scoring.pairs import PairScore
from streamdecisionbench.scoring.score import Level, Score, score_timelines
from streamdecisionbench.suite.scenario import INACTIVE, DecisionSpec, Scenario, Suite


def pace_table(material: Material, found: Mapping[str, Sequence[Pace]]) -> Table:
    """In-force accuracy with every latency scaled, equivalent to the interval shown."""
    first = next(iter(found.values()))
    rows = tuple(
        Row(
            (
                row.label,
                Number(row.interval, 2),
                *(pct(found[e.name][k].in_force) for e in material.entries),
            )
        )
        for k, row in enumerate(first)
    )
    return turned(
        Table(
            "pace",
            "In-force accuracy by time-step interval (%)",
            ("Scale", "Interval (s)", *material.labels),
            rows,
            material.notes(
                f"Every recorded latency scaled, equivalent to the interval shown; ×1 is"
                f" {material.interval:g} s."
            ),
            text_columns=2,
        )
    )


def sensitivity(material: Material, found: Mapping[str, Sensitivity]) -> Table:
    """The integrated score under other bounds and weightings."""
    first = next(iter(found.values()))
    rows = tuple(
        Row((e.label, *(pct(v) for v in found[e.name].aucs.values()), pct(found[e.name].in_force)))
        for e in material.entries
    )
    return Table(
        "sensitivity",
        "Normalised AUC by bounds and weighting (%)",
        (
            "Setting",
            *(text[0].upper() + text[1:] for text in first.aucs),
            f"At {first.interval:g} s",
        ),
        rows,
        material.notes("Log 0.5–8 s is the primary score; the last column is in-force accuracy."),
    )


def regime(material: Material, found: Mapping[str, Sequence[Projection]], draws: int) -> Table:
    """Untimed accuracy times the mean oracle on other reference schedules."""
    first = next(iter(found.values()))
    rows = tuple(
        Row(
            (
                row.schedule,
                count(row.changes),
                *(pct(found[e.name][k].projected) for e in material.entries),
            ),
            rule_above=k == 1,
        )
        for k, row in enumerate(first)
    )
    return turned(
        Table(
            "regime",
            "Projected in-force accuracy by reference schedule (%)",
            ("Reference schedule", "Changes", *material.labels),
            rows,
            material.notes(
                f"Untimed accuracy times the mean oracle over {draws} resamples of each setting's"
                f" latencies, 60 steps of {material.interval:g} s; the first row uses the suite's own"
                " schedules."
            ),
            text_columns=2,
        )
    )


def transitions(material: Material, found: Mapping[str, Transitions]) -> Table:
    """Untimed errors within one tick of a reference change, and farther away."""
    rows = []
    for entry in material.entries:
        near, far = found[entry.name].near["overall"], found[entry.name].far["overall"]
        rows.append(
            Row(
                (
                    entry.label, pct(near.rate), count(near.errors), count(near.states),
                    pct(far.rate), count(far.errors), count(far.states),
                )
            )
        )  # fmt: skip
    return Table(
        "transitions",
        "Judgment errors near and far from reference changes",
        (
            "Setting", "Near error (%)", "Near errors", "Near states",
            "Far error (%)", "Far errors", "Far states",
        ),
        tuple(rows),
        material.notes("Near: at most one tick from a change; every state counts once."),
    )  # fmt: skip


def paired(material: Material, found: Sequence[Paired]) -> Table:
    """States at which both, one or neither of two settings decided correctly."""
    labels = {e.name: e.label for e in material.entries}
    rows = []
    for pair in found:
        section = f"{labels[pair.first]} (first) vs. {labels[pair.second]} (second)"
        for k, each in enumerate(pair.counts):
            name = "All" if each.level == "all" else family_name(each.level)
            numbers = (each.both, each.only_first, each.only_second, each.neither)
            rows.append(Row((name, *(count(n) for n in numbers)), section, rule_above=k == 0))
    return Table(
        "paired",
        "States decided correctly by two settings, latency ignored",
        ("", "Both", "First only", "Second only", "Neither"),
        tuple(rows),
        material.notes(),
    )


def baseline_table(material: Material, found: Baselines) -> Table:
    """What policies that read no rules would score."""
    rows = []
    for key, each in found.by_scenario.items():
        shares = (
            None if n is None else n / each.states
            for n in (each.first_option, each.lexical_overlap, each.best_constant)
        )
        name = scenario_name(material.suite, material.suite.scenarios[key])
        rows.append(Row((name, count(each.states), *(pct(s) for s in shares))))
    whole = (found.first_option, found.lexical_overlap, found.best_constant)
    states = sum(each.states for each in found.by_scenario.values())
    rows.append(Row(("All", count(states), *(pct(s) for s in whole)), rule_above=True))
    return Table(
        "baselines",
        "Trivial baselines, latency ignored (%)",
        ("Scenario", "States", "First option", "Lexical overlap", "Best constant"),
        tuple(rows),
        ("Policies that read no rules. – : an imported suite carries no states to read.",),
    )


# Table of calibration in force: what confidence says, what the time says.


def calibration_table(material: Material, found: Mapping[str, Calibration]) -> Table:
    """One row per recording whose answers carry confidences, at the report's interval."""
    rows = []
    for entry in material.entries:
        c = found.get(entry.name)
        if c is not None:
            rows.append(
                Row(
                    (
                        entry.label, pct(c.brier), pct(c.confidence), pct(c.right),
                        pct(c.confidence - c.right), pct(c.risk_at(0.8)), pct(c.risk_at(0.5)),
                        pct(c.decided),
                    )
                )
            )  # fmt: skip
    without = [e.name for e in material.entries if e.name not in found]
    left_out = [f"No confidences: {', '.join(without)}."] if without else []
    return Table(
        "calibration",
        f"Calibration in force at {material.interval:g} s",
        (
            "Setting", "Brier %", "Confidence %", "Right %", "Overconfident", "Risk at 80 %",
            "Risk at 50 %", "Decided %",
        ),
        tuple(rows),
        material.notes(
            "Weighted by time in force; confidence: the least sure of the answers a decision consumes;"
            " right: of the decision now, not when it was asked. Risk at 80 %: how much of the time is"
            " wrong among the surest decisions that cover at least 80 % of the decided time.",
            *left_out,
        ),
    )  # fmt: skip


# Table of what being wrong costs: spells, delays after changes, cost a second.


def costs_of_error(material: Material, found: ErrorCosts) -> Table:
    """One row per recording, at the report's interval."""
    rows = []
    names = [e.name for e in material.entries]
    cost = {name: found.scores[name].overall.at_interval.total for name in names}
    by_time = sorted(names, key=lambda n: (found.spells[n].wrong_share, n))
    by_cost = sorted(names, key=lambda n: (cost[n], n))
    for entry in material.entries:
        spells, changes = found.spells[entry.name], found.changes[entry.name]
        rates = found.scores[entry.name].overall.at_interval
        rows.append(
            Row(
                (
                    entry.label, count(by_time.index(entry.name) + 1),
                    count(by_cost.index(entry.name) + 1), pct(spells.wrong_share), count(spells.count),
                    sec(spells.mean_length_s), sec(spells.longest_s, 1), sec(spells.mean_age_s),
                    pct(spells.beyond_share), sec(changes.median_delay_s),
                    pct(changes.never_right_share), Number(rates.wrong, 3), Number(rates.age, 3),
                    Number(rates.acts, 3), Number(rates.total, 3),
                )
            )
        )  # fmt: skip
    first = next(iter(found.scores.values()))
    return Table(
        "costs_of_error",
        f"What being wrong costs at {material.interval:g} s",
        (
            "Setting", "# time", "# cost", "Wrong %", "Spells", "Mean s", "Longest s", "Age s", f"> {THETA_S:g} s %",
            "Median delay s", "Never right %", "Wrong", "Age", "Acts", "Cost",
        ),
        tuple(rows),
        material.notes(
            "# time, # cost: places by in-force accuracy and by cost. Age s: mean over time of how long it has been wrong. Median delay after a reference"
            " change by Kaplan and Meier; never right: the next change came first. Cost: seconds of an"
            f" ordinary wrong decision per second ({first.costs}, {first.dated}).",
            *found.words,
        ),
    )  # fmt: skip


# The table of states two recordings decide differently.


def flips_of(material: Material) -> Flips | None:
    """Of a report about two recordings of the same scenarios; None otherwise."""
    if len(material.entries) != 2:
        return None
    first, second = material.entries
    if set(first.recording.episodes) != set(second.recording.episodes):
        return None
    names = (first.label, second.label)
    return flipped_states(first.recording, second.recording, material.suite, names)


def differences(material: Material, flips: Flips) -> Table:
    """Every such state, with what each answered, the reference and the evidence."""
    return Table(
        "differences",
        "States decided differently",
        ("state", "what", "reference", flips.first, flips.second, "evidence", "s before", "s now"),
        tuple(
            Row(
                (
                    f"{flip.scenario} {flip.step}", KINDS[flip.kind], decision_words(flip.reference),
                    decision_words(flip.first), decision_words(flip.second),
                    "; ".join(flip.evidence), sec(flip.first_latency_s), sec(flip.second_latency_s),
                )
            )
            for flip in flips.found
        ),
        material.notes(
            f"{flip_summary(flips)}. Latency is ignored for what differs; {flips.first} is before."
        ),
        text_columns=6,
    )  # fmt: skip


# Tables of pairs: what two components are worth together, and where one is right alone.


def composition(material: Material, pairs: Sequence[PairScore], note: str = "") -> Table:
    """Every pair and rule at 1 s, at the interval, and integrated."""
    at = sorted(
        {1.0, material.interval} & {x for x in (1.0, material.interval) if _inside(material, x)}
    )
    rows = []
    before = ""
    for pair in pairs:
        curve = pair.curve(bounds=material.bounds)["in_force"]
        label = pair_label(pair)
        cells: list[Cell] = [pair.fast, _marked(pair), spelled(pair.rule)]
        for interval in at:
            exact = pair.in_force if interval == pair.interval else float(curve(interval))
            cells.append(pct(exact))
        rows.append(Row((*cells, pct(pair.log_auc)), rule_above=label != before))
        before = label
    return Table(
        "composition",
        f"Fast and slow together, integrated {material.bounds.text()} (%)",
        ("Fast", "Slow", "Arbitration", *(f"{x:g} s" for x in at), "AUC"),
        tuple(rows),
        material.notes(
            "In-force accuracy at fixed intervals and integrated; replay of separate recordings on"
            " one nominal clock, so contention between the two is not measured.",
            *([note] if note else []),
        ),
        text_columns=3,
    )


def composition_details(material: Material, pairs: Sequence[PairScore]) -> Table:
    """What arbitration did at the interval: exposure, corrections, regressions, the worst loss."""
    rows = []
    for pair in pairs:
        loss, done = pair.longest_stale_loss, pair.counts
        cells: tuple[Cell, ...] = (
            pair.fast,
            _marked(pair),
            spelled(pair.rule),
            pct(pair.slow_share),
            count(done.slow_accepted),
            count(done.corrections),
            count(done.regressions),
            count(done.refusals),
            f"{loss.seconds:.3f} ({loss.episode_id}, step {loss.slow_source})" if loss else "–",
        )
        rows.append(Row(cells))
    return Table(
        "composition_details",
        f"What arbitration did at {material.interval:g} s",
        (
            "Fast", "Slow", "Arbitration", "Slow share (%)", "Slow accepted", "Corrections",
            "Regressions", "Refused", "Longest stale loss (s)",
        ),
        tuple(rows),
        material.notes(
            "Corrections: slow answers for the step whose fast answer was active; regressions: slow"
            " answers of an older source; the loss is the longest stretch one override made stale."
        ),
        text_columns=3,
    )  # fmt: skip


def _inside(material: Material, interval: float) -> bool:
    return material.bounds.low <= interval <= material.bounds.high


def _marked(pair: PairScore) -> str:
    return f"{pair.slow} (sim.)" if pair.simulated else pair.slow


# Table of measured conditions beside what the lowest rate predicts for them.


def repacing_table(material: Material, found: Repacing) -> Table:
    """One row per pace and load, from the lowest rate to the highest."""
    predicted = {(p.target, p.target_streams): p for p in found.from_base}
    rows = []
    for c in found.conditions:
        p = predicted.get((c.interval, c.streams))
        verdict = (
            "left out" if not c.held else "base" if p is None else "fails" if p.fails else "holds"
        )
        rows.append(
            Row(
                (
                    verdict, sec(c.interval), count(c.streams), Number(c.rate, 2), pct(c.in_force),
                    pct(p.predicted if p else None), Number(100 * p.low if p else None),
                    Number(100 * p.high if p else None), pct(c.oracle), sec(c.latency_p50_s, 3),
                    sec(c.latency_p95_s, 3), sec(c.latency_p99_s, 3),
                )
            )
        )  # fmt: skip
    return Table(
        "repacing",
        "Measured at each pace and load, and predicted from the lowest rate",
        (
            "Prediction", "Interval s", "Streams", "Requests/s", "In force %", "Predicted %", "Low",
            "High", "Oracle %", "p50 s", "p95 s", "p99 s",
        ),
        tuple(rows),
        material.notes(
            found.sentence,
            "In force as it ran. Low and high: 95 % interval of measured minus predicted, in points,"
            " simultaneous. A prediction fails when that excludes zero and is off by more than a point.",
        ),
    )  # fmt: skip


# Tables of how recordings went: reliability, latency, tokens and cost, network removed.


def reliability(material: Material) -> Table:
    """Counts of the pass, and the replay beside the physical trace, at each recording's own pace."""
    own = {e.name: _at_own_pace(e.score) for e in material.entries}

    def line(label: str, value: Callable[[Entry], Cell]) -> Row:
        return Row((label, *(value(e) for e in material.entries)))

    def of(name: str, digits: int = 0) -> Callable[[Entry], Cell]:
        def get(entry: Entry) -> Cell:
            found = entry.score.reliability
            return Number(getattr(found, name) if found else None, digits)

        return get

    rows = (
        line("Valid responses", of("valid_responses")),
        line("Attempts", of("attempts")),
        line("Failed attempts", of("failed_attempts")),
        line("Retried requests", of("retried_requests")),
        line("Accepted updates", lambda e: count(own[e.name].accepted)),
        line("Discarded: after horizon", lambda e: count(own[e.name].discarded_after_horizon)),
        line("Discarded: superseded", lambda e: count(own[e.name].discarded_older)),
        line("Dispatch wait, total (s)", of("dispatch_wait_s", 2)),
        line("In force: recorded replay", lambda e: pct(own[e.name].in_force)),
        line("In force: physical", lambda e: _physical(e.score)),
        line("Recorded interval (s)", lambda e: _own_pace(e.score)),
    )
    return turned(
        Table(
            "reliability",
            "Reliability of the recordings",
            ("", *material.labels),
            rows,
            material.notes(
                "Acceptances, discards and in-force accuracy (%) at the interval each pass was"
                " recorded at; failed over all attempts, retried over all requests."
            ),
        )
    )


def latency(material: Material, networks: Mapping[str, NetworkEstimate]) -> Table:
    """The non-token remainder with its range, slopes per token, and quantiles."""
    rows = []
    for entry in material.entries:
        found, known = networks.get(entry.name), entry.score.latency
        fit = found.fit if found else None
        no_text = fit is not None and fit.dropped.get("decode") == "returns no text"
        decode: Cell = "–" if no_text else Number(1000 * fit.decode_s_per_tok if fit else None)
        rows.append(
            Row(
                (
                    entry.label,
                    sec(fit.remainder_s if fit else None),
                    f"({fixed(found.low_s, 2)}–{fixed(found.high_s, 2)})" if found else "–",
                    Number(1000 * fit.prefill_s_per_ktok if fit else None),
                    decode,
                    sec(known.p50 if known else None),
                    sec(known.p95 if known else None),
                )
            )
        )
    return Table(
        "latency",
        "Latency and what tokens explain of it",
        ("Setting", "Net. (s)", "Range (s)", "Pre. (ms/1k tok)", "Dec. (ms/tok)", "p50 (s)", "p95 (s)"),
        tuple(rows),
        material.notes(
            "Net.: remainder without tokens and its 95 % range, an upper bound on fixed network delay;"
            " Pre., Dec.: prefill and decode slopes of the fast envelope. – : not measurable from what"
            " the service reports."
        ),
    )  # fmt: skip


def family(material: Material, networks: Mapping[str, NetworkEstimate]) -> Table:
    """Family means at the interval, with the remainder removed."""
    rows = []
    for name in material.families:
        first = True
        for entry in material.entries:
            level = entry.score.by_family.get(name)
            if level is None:
                continue
            found = networks.get(entry.name)
            removed = found.estimate.by_family.get(name) if found else None
            span = "–"
            if found and name in found.low.by_family:
                # Removing more time never lowers the oracle, so the low end removes least.
                ends = sorted((found.low.by_family[name], found.high.by_family[name]))
                span = f"({percent(ends[0])}–{percent(ends[1])})"
            cells: tuple[Cell, ...] = (
                entry.label, pct(level.untimed), pct(level.in_force), pct(removed), span,
            )  # fmt: skip
            rows.append(Row(cells, family_name(name), rule_above=first))
            first = False
    return Table(
        "family",
        f"Families at {material.interval:g} s, and with the non-token remainder removed (%)",
        ("Setting", "Untimed", "In force", "Removed: est.", "Removed: range"),
        tuple(rows),
        material.notes("Range: ends of the remainder's 95 % range."),
    )


def tokens(material: Material, costs: Mapping[str, Cost]) -> Table:
    """Tokens as reported, latency, list prices and what one pass costs at them."""
    request, whole = "Tokens per request (median)", "Tokens per pass (total)"
    times, price = "Latency per request (s)", "List price (per million tokens)"
    paid = "Cost per pass at list prices"

    def token(name: str) -> Callable[[Entry], Cell]:
        return lambda e: count(getattr(costs[e.name].tokens, name) if e.name in costs else None)

    def money(get: Callable[[Cost], float | None]) -> Callable[[Entry], Cell]:
        return lambda e: Number(get(costs[e.name]) if e.name in costs else None, 3)

    lines: list[tuple[str, str, Callable[[Entry], Cell]]] = [
        (request, "Input", token("input_median")),
        (request, "Output", token("output_median")),
        (request, "Reasoning", token("reasoning_median")),
        (whole, "Input", token("input_total")),
        (whole, "Cached input", token("cached_total")),
        (whole, "Output", token("output_total")),
        (times, "Mean", lambda e: sec(e.score.latency.mean if e.score.latency else None)),
        (times, "Max", lambda e: sec(e.score.latency.max if e.score.latency else None)),
        (price, "Input", money(lambda c: c.price.input if c.price else None)),
        (price, "Output", money(lambda c: c.price.output if c.price else None)),
        (paid, "Input", money(lambda c: c.input)),
        (paid, "Output", money(lambda c: c.output)),
        (paid, "Total", money(lambda c: c.total)),
    ]
    rows, before = [], ""
    for section, label, get in lines:
        cells = (label, *(get(e) for e in material.entries))
        rows.append(Row(cells, section, rule_above=section != before))
        before = section
    some = next(iter(costs.values()), None)
    dated = f"List prices in {some.currency}, read on {some.as_of}." if some else ""
    return turned(
        Table(
            "tokens",
            "Tokens, latency and cost",
            ("", *material.labels),
            tuple(rows),
            material.notes(
                "Token counts as each service reported them over one pass. – : none reported, or no"
                " list price known. " + dated
            ),
        )
    )


def served_latency(material: Material) -> Table:
    """Where each component ran and how long a decision took: for servers of one's own."""
    rows = []
    for entry in material.entries:
        known, config = entry.score.latency, entry.recording.config
        where = str(
            config.get("base_url_host") or ("in this process" if config.get("in_process") else "–")
        )
        served = ", ".join(entry.recording.served_models) or "–"
        rows.append(
            Row(
                (
                    entry.label, served, where, _machine(entry),
                    sec(known.p50 if known else None, 3), sec(known.p95 if known else None, 3),
                )
            )
        )  # fmt: skip
    return Table(
        "served_latency",
        "Latency of the complete decision runtime",
        ("Setting", "Served model", "Server", "Client machine", "p50 (s)", "p95 (s)"),
        tuple(rows),
        material.notes("Durations of successful attempts, queueing in the runtime included."),
        text_columns=4,
    )


def _at_own_pace(score: Score) -> Score:
    """Every scenario as it was recorded, also where each has an interval of its own."""
    ticks = {part.tick for part in score.parts}
    if len(ticks) == 1:
        return score_timelines(score.parts, interval=ticks.pop(), bounds=score.bounds)
    alike = [replace(part, tick=1.0, end=part.horizon) for part in score.parts]
    return score_timelines(alike, interval=1.0, bounds=score.bounds)


def _own_pace(score: Score) -> Cell:
    low, high = (limit(part.tick for part in score.parts) for limit in (min, max))
    return sec(low) if low == high else f"{low:.2f}–{high:.2f}"


def _physical(score: Score) -> Cell:
    found = score.overall.physical
    return pct(found.in_force if found else None)


def _machine(entry: Entry) -> str:
    found = entry.recording.run.get("environment")
    if not isinstance(found, Mapping):
        return "–"
    cores = found.get("cpu_count")
    words = [str(found[key]) for key in ("cpu", "machine", "platform") if found.get(key)][:1]
    if cores:
        words.append(f"{cores} cores")
    return ", ".join(words) or "–"


# Tables of what recordings scored: integrated, at one interval, by family and by scenario.


def main(material: Material, ranges: dict[str, tuple[float, float]] | None = None) -> Table:
    """The integrated score by family, its equal mean, and accuracy with latency ignored."""
    bounds = material.bounds.text()
    ranges = ranges or {}
    rows = []
    for entry in material.entries:
        score = entry.score
        cells = [_auc(score.by_family.get(family)) for family in material.families]
        found = ranges.get(entry.name)
        interval = f"{pct(found[0])}–{pct(found[1])}" if found else "–"
        rows.append(Row((entry.label, *cells, _auc(score.overall), pct(score.untimed), interval)))
    short = [family_name(f).split()[0] for f in material.families]
    columns = ("Setting", *short, "Macro", "Untimed", "Macro interval")
    if not ranges:
        columns, rows = columns[:-1], [Row(row.cells[:-1]) for row in rows]
    return Table(
        "main",
        f"In-force accuracy integrated over intervals, {bounds} (%)",
        columns,
        tuple(rows),
        material.notes(
            "Macro averages the families equally. Untimed is decision accuracy with latency ignored."
        ),
    )


def scenario(material: Material) -> Table:
    """Every scenario and setting: integrated, at the interval, error time in seconds, latency."""
    rows = []
    for each in material.scenarios:
        name = scenario_name(material.suite, each)
        length = each.n * material.interval
        first = True
        for entry in material.entries:
            level = entry.score.by_scenario.get(each.episode_id)
            if level is None:
                continue
            at, known = level.at_interval, entry.score.latency_by_scenario or {}
            latency = known.get(each.episode_id)
            rows.append(
                Row(
                    (
                        name if first else "",
                        entry.label,
                        pct(level.untimed),
                        pct(level.log_auc),
                        pct(level.in_force),
                        pct(level.segment_in_force),
                        sec(length * at.no_decision, 1),
                        sec(length * at.stale, 1),
                        sec(length * at.judgment, 1),
                        sec(length * at.compound, 1),
                        sec(latency.p50 if latency else None),
                    ),
                    rule_above=first,
                )
            )
            first = False
    return Table(
        "scenario",
        f"Scenario by scenario, at {material.interval:g} s",
        (
            "Scenario", "Setting", "Untimed", "Log-AUC", "In force", "Seg.-bal.",
            "None (s)", "Stale (s)", "Judg. (s)", "Comp. (s)", "p50 (s)",
        ),
        tuple(rows),
        material.notes(
            f"Log-AUC over {material.bounds.low:g}–{material.bounds.high:g} s; in-force and"
            f" segment-balanced accuracy (%) and error time (seconds of the scenario) at"
            f" {material.interval:g} s; p50: median latency."
        ),
        text_columns=2,
    )  # fmt: skip


def decomposition(material: Material) -> Table:
    """Error classes and factors at the fixed interval: A = O·U_cur + λ."""
    time = "Share of observed time (%)"
    factors = "Factors (%)"
    lines: list[tuple[str, str, Callable[[Level], float | None]]] = [
        (time, "Judgment", lambda v: v.at_interval.judgment),
        (time, "Stale", lambda v: v.at_interval.stale),
        (time, "Compound", lambda v: v.at_interval.compound),
        (time, "No decision", lambda v: v.at_interval.no_decision),
        (time, "Lucky", lambda v: v.at_interval.outdated_correct),
        (factors, "Untimed U", lambda v: v.untimed),
        (factors, "Current U_cur", lambda v: v.at_interval.u_current),
        (factors, "Oracle O", lambda v: v.at_interval.oracle),
        (factors, "U O", lambda v: v.at_interval.product),
        (factors, "In force A", lambda v: v.at_interval.in_force),
    ]
    table = Table(
        "decomposition",
        f"Judgment and latency at {material.interval:g} s",
        ("", *material.labels),
        by_setting(lines, [e.score.overall for e in material.entries], pct),
        material.notes(
            "Equal-family means. O·U_cur + λ is A; U O averages the scenarios' own products, so it"
            " differs from the product of the rows above."
        ),
    )
    return turned(table)


def integrated_decomposition(material: Material) -> Table:
    """The same identity carried through the integral: O_log·U_cur,log + λ_log = S."""
    rows = []
    for entry in material.entries:
        over = entry.score.overall.integrated
        rows.append(
            Row(
                (
                    entry.label,
                    pct(over.oracle),
                    pct(over.u_current),
                    pct(over.outdated_correct),
                    pct(over.product),
                    pct(over.in_force),
                )
            )
        )
    return Table(
        "integrated_decomposition",
        f"The decomposition integrated, {material.bounds.text()} (%)",
        ("Setting", "O_log", "U_cur,log", "λ_log", "P", "S"),
        tuple(rows),
        material.notes("P averages the scenarios' U·O; S is the integrated score."),
    )


def by_setting(
    lines: Sequence[tuple[str, str, Callable[[Level], float | None]]],
    levels: Sequence[Level],
    form: Callable[[float | None], Number],
) -> tuple[Row, ...]:
    """Quantities as rows, settings as columns; a rule above every section."""
    rows, before = [], ""
    for section, label, value in lines:
        rows.append(
            Row((label, *(form(value(v)) for v in levels)), section, rule_above=section != before)
        )
        before = section
    return tuple(rows)


def _auc(level: Level | None) -> Number:
    return pct(level.log_auc if level else None)


# Tables about the suite: what is asked, and which decision comes of it.


def benchmark(suite: Suite) -> Table:
    """Scenarios with their questions, routes, options and changes of the composed reference."""
    rows = []
    for family, group in suite.families().items():
        for place, scenario in enumerate(group):
            cells: tuple[Cell, ...] = (
                family_name(family) if place == 0 else "",
                letter(group, scenario),
                count(len(scenario.questions)),
                count(_routes(scenario)),
                _span(_options(scenario)),
                count(len(scenario.changes())),
            )
            rows.append(Row(cells, rule_above=place == 0))
    everything = list(suite)
    rows.append(
        Row(
            (
                "All",
                "",
                _span([len(s.questions) for s in everything]),
                _span([_routes(s) for s in everything]),
                _span([n for s in everything for n in _options(s)]),
                count(sum(len(s.changes()) for s in everything)),
            ),
            rule_above=True,
        )
    )
    steps = sum(s.n for s in everything)
    return Table(
        "benchmark",
        f"Scenarios of {suite.name}",
        ("Family", "Sc.", "Qs", "Routes", "Options", "Trans."),
        tuple(rows),
        (
            f"Sc.: scenario; Qs: questions per step; Routes: route options; Options: options per"
            f" question; Trans.: changes of the composed reference decision. {steps} states.",
        ),
        text_columns=2,
    )


def specifications(suite: Suite) -> Table:
    """How answers become one decision; scenarios that share a specification share a row."""
    rows = []
    for family, group in suite.families().items():
        seen: dict[tuple[object, ...], list[Scenario]] = {}
        for scenario in group:
            seen.setdefault(_key(scenario.decision_spec), []).append(scenario)
        for alike in seen.values():
            spec = alike[0].decision_spec
            letters = ", ".join(letter(group, s) for s in alike)
            name = family_name(family)
            rows.append(
                Row(
                    (
                        f"{name} ({letters})" if len(group) > 1 else name,
                        ", ".join(_words(route) for route in spec.branches),
                        ", ".join(_words(q) for q in spec.always) or INACTIVE,
                        _branches(spec),
                    )
                )
            )
    return Table(
        "specifications",
        "Decision specifications",
        ("Scenarios", "Route options", "Used in every branch", "Branch questions"),
        tuple(rows),
        ("A composed decision is the route, the questions of every branch and those of its own.",),
        text_columns=4,
    )


def _routes(scenario: Scenario) -> int:
    return len(scenario.decision_spec.branches)


def _options(scenario: Scenario) -> list[int]:
    return [len(q.criteria) for q in scenario.questions.values()]


def _span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low}–{high}"


def _key(spec: DecisionSpec) -> tuple[object, ...]:
    return (spec.route_question, spec.always, tuple(sorted(spec.branches.items())))


def _branches(spec: DecisionSpec) -> str:
    """ "repair: target, method; wait, ready: none", branches with the same questions together."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for route, questions in spec.branches.items():
        alike.setdefault(tuple(questions), []).append(route)
    used = [
        f"{', '.join(map(_words, routes))}: {', '.join(map(_words, questions))}"
        for questions, routes in alike.items()
        if questions
    ]
    unused = [f"{', '.join(map(_words, routes))}: none" for q, routes in alike.items() if not q]
    return "; ".join(used + unused)


def _words(name: str) -> str:
    return name.replace("_", " ")
