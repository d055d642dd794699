"""Tables of how recordings went: reliability, latency, tokens and cost, network removed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from streamdecisionbench.analysis.network import NetworkEstimate
from streamdecisionbench.analysis.numbers import fixed, percent
from streamdecisionbench.analysis.token_cost import Cost
from streamdecisionbench.report.material import Entry, Material, family_name
from streamdecisionbench.report.tables.table import (
    Cell,
    Number,
    Row,
    Table,
    count,
    pct,
    sec,
    turned,
)
from streamdecisionbench.scoring.score import Score, score_timelines

__all__ = ["family", "latency", "reliability", "served_latency", "tokens"]


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
