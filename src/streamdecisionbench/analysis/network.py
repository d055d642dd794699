"""The network-removed estimate: how much latency no token accounts for, and the score without it.

    τ_i = ν + π·x_i + δ·o_i + ε_i,   ε_i ≥ 0

τ_i runs from the start of the successful attempt to the receipt of the response; x_i are uncached
input tokens in thousands (prefill), o_i output tokens including reasoning (decode). Waiting only
adds time, so the remainder ν is the intercept of a 10th-percentile regression: the fast envelope. A
slope that comes out below zero is dropped and the rest refitted. ν also holds fixed server time and
the average cost of a dropped term, so it bounds the network delay from above.

Services count reasoning within `output_tokens`; `reasoning_tokens` is a part of them, not an extra.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamdecisionbench.analysis.block_resampling import resampled_counts
from streamdecisionbench.analysis.quantile_regression import (
    QuantileFit,
    fit_quantile,
    pinball_loss,
)
from streamdecisionbench.analysis.result_table import Cell, Table, number, percent, readable, text
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.score import Score, score_timelines
from streamdecisionbench.scoring.timeline import Floats, Ints, Timeline, timelines
from streamdecisionbench.suite.scenario import Suite

__all__ = [
    "NetworkEstimate",
    "NetworkFit",
    "Replayed",
    "has_decode",
    "network_estimate",
    "network_tables",
]

NO_TEXT = ("systemone", "openai-decisions", "gguf", "baseline")
"""Providers whose components return choices, no text: their output tokens cost no decoding."""

_TERMS = ("prefill", "decode")


@dataclass(frozen=True, slots=True)
class NetworkFit:
    """ν in seconds, slopes in seconds per thousand input tokens and per output token."""

    remainder_s: float
    prefill_s_per_ktok: float
    decode_s_per_tok: float
    dropped: Mapping[str, str]
    """Terms that are not in the fit, with the reason."""
    below: float
    """Share of requests below the fit; the quantile asked for, give or take the fitted points."""
    r1: float
    """1 − loss / loss of the plain quantile: what the tokens explain of the fast envelope."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """Scores with `removed_s` taken off every time before receipt, never more than that time."""

    removed_s: float
    clamped: int
    in_force: float
    segment_in_force: float
    by_family: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class NetworkEstimate:
    """Fit, range, and the replays that follow from them."""

    requests: int
    quantile: float
    fit: NetworkFit
    low_s: float
    high_s: float
    """Ends of the 95 % block-bootstrap range of ν."""
    block: int
    resamples: int
    seed: int
    floor_s: float
    """The fastest response before receipt."""
    interval: float
    recorded: Replayed
    estimate: Replayed
    low: Replayed
    high: Replayed

    @property
    def clamped(self) -> int:
        """The most requests clamped, over the estimate and both ends."""
        return max(self.estimate.clamped, self.low.clamped, self.high.clamped)


def network_estimate(
    recording: Recording,
    suite: Suite,
    *,
    decode: bool | None = None,
    quantile: float = 0.1,
    block: int = 10,
    resamples: int = 500,
    seed: int = 0,
    interval: float = 2.0,
) -> NetworkEstimate:
    """Fits and replays one recording. `decode` None decides by the provider (`has_decode`)."""
    parts = timelines(recording, suite)
    tau, tokens = _measured(recording, parts)
    if not (has_decode(recording) if decode is None else decode):
        tokens = {"prefill": tokens["prefill"]}
    fit = _fit(tau, tokens, quantile)
    starts: dict[tuple[str, ...], Ints] = {}
    remainders = [
        _refit(tau, tokens, quantile, weights, starts)
        for weights in resampled_counts([p.n for p in parts], block, resamples, seed)
    ]
    low, high = (float(x) for x in np.quantile(remainders, [0.025, 0.975]))

    def replayed(removed: float) -> Replayed:
        return _replay(parts, tau, removed, interval)

    return NetworkEstimate(
        requests=len(tau),
        quantile=quantile,
        fit=fit,
        low_s=low,
        high_s=high,
        block=block,
        resamples=resamples,
        seed=seed,
        floor_s=float(tau.min()),
        interval=interval,
        recorded=replayed(0.0),
        estimate=replayed(fit.remainder_s),
        low=replayed(low),
        high=replayed(high),
    )


def has_decode(recording: Recording) -> bool:
    """Whether output tokens are generated one after the other: not for decision models."""
    provider = str(recording.config.get("provider", ""))
    return (provider or str(recording.config.get("component", "")).partition(":")[0]) not in NO_TEXT


def network_tables(results: Mapping[str, NetworkEstimate]) -> list[Table]:
    """Components of latency, and what is left when the remainder is removed."""
    fits: list[tuple[Cell, ...]] = []
    scores: list[tuple[Cell, ...]] = []
    notes = []
    for name, r in results.items():
        fit = r.fit
        fits.append(
            (name, fit.remainder_s, r.low_s, r.high_s, 1000 * fit.prefill_s_per_ktok,
             1000 * fit.decode_s_per_tok, r.floor_s, fit.r1, fit.below, r.clamped)
        )  # fmt: skip
        dropped = ", ".join(f"{term} ({why})" for term, why in fit.dropped.items())
        if dropped:
            notes.append(f"{name}: not in the fit: {dropped}")
        levels = {"overall": None, **dict.fromkeys(r.recorded.by_family)}
        for level, label in readable(levels).items():
            scores.append(
                (name if level == "overall" else "", label,
                 *(_in(x, level) for x in (r.recorded, r.estimate, r.low, r.high)))
            )  # fmt: skip
        scores.append(
            ("", "segment-balanced",
             *(x.segment_in_force for x in (r.recorded, r.estimate, r.low, r.high)))
        )  # fmt: skip
    any_result = next(iter(results.values()))
    q = f"{100 * any_result.quantile:g}th percentile"
    first = Table(
        f"Latency before receipt at its {q}: remainder, prefill, decode",
        (
            text("", "recording"), number("net s", key="remainder_s"), number("low", key="low_s"),
            number("high", key="high_s"), number("ms/ktok", 1, "prefill_ms_per_ktok"),
            number("ms/tok", 1, "decode_ms_per_tok"), number("floor s", key="floor_s"), number("R1"), percent("below"),
            number("clamped", 0),
        ),
        tuple(fits),
        (
            f"95 % range: {any_result.resamples} resamples of blocks of {any_result.block} steps,"
            f" seed {any_result.seed}. R1: what tokens explain; clamped: most over estimate and"
            " range.",
            *notes,
        ),
    )  # fmt: skip
    second = Table(
        f"In force at {any_result.interval:g} s with the remainder removed (%)",
        (text("", "recording"), text("level"), percent("recorded"), percent("removed"), percent("low"),
         percent("high")),
        tuple(scores),
        ("An upper bound on what a nearer client could gain; no prediction of another place.",),
    )  # fmt: skip
    return [first, second]


def _in(replayed: Replayed, level: str) -> float:
    return replayed.in_force if level == "overall" else replayed.by_family[level]


def _measured(recording: Recording, parts: Sequence[Timeline]) -> tuple[Floats, dict[str, Floats]]:
    responses = [r for p in parts for r in recording.episodes[p.episode_id].responses]
    usage = [r.usage for r in responses if r.usage is not None]
    if len(usage) < len(responses):
        raise InputError(
            f"{len(responses) - len(usage)} of {len(responses)} responses carry no token counts",
            where=recording.path or recording.name,
            fix="the estimate needs a service that reports its tokens",
        )
    tau = np.array([r.received_s - r.success_started_s for r in responses])
    prefill = np.array([u.fresh_tokens / 1000 for u in usage])
    decode = np.array([float(u.output_tokens) for u in usage])
    return tau, {"prefill": prefill, "decode": decode}


def _fit(tau: Floats, tokens: Mapping[str, Floats], quantile: float) -> NetworkFit:
    found, used, dropped = _envelope(tau, tokens, quantile)
    slopes = dict(zip(used, map(float, found.beta[1:]), strict=True))
    residual = tau - np.column_stack((np.ones(len(tau)), *used.values())) @ found.beta
    plain = fit_quantile(np.ones((len(tau), 1)), tau, quantile)
    return NetworkFit(
        remainder_s=float(found.beta[0]),
        prefill_s_per_ktok=slopes.get("prefill", 0.0),
        decode_s_per_tok=slopes.get("decode", 0.0),
        dropped={name: dropped[name] for name in _TERMS if name in dropped},
        below=float(np.mean(residual < -1e-9)),
        r1=1 - pinball_loss(residual, quantile) / plain.loss if plain.loss > 0 else 0.0,
    )


def _envelope(
    tau: Floats,
    tokens: Mapping[str, Floats],
    quantile: float,
    weights: Floats | None = None,
    starts: dict[tuple[str, ...], Ints] | None = None,
) -> tuple[QuantileFit, dict[str, Floats], dict[str, str]]:
    """The regression, the terms in it, and why others are not."""
    dropped = {} if "decode" in tokens else {"decode": "returns no text"}
    used = dict(tokens)
    drawn = slice(None) if weights is None else weights > 0
    for name in list(used):
        if np.ptp(used[name][drawn]) == 0:
            del used[name]
            dropped[name] = "does not vary"
    while True:
        X = np.column_stack((np.ones(len(tau)), *used.values()))
        key = tuple(used)
        start = starts.get(key) if starts is not None else None
        found = fit_quantile(X, tau, quantile, weights=weights, start=start)
        if starts is not None:
            starts[key] = found.basis
        negative = [name for name, slope in zip(used, found.beta[1:], strict=True) if slope < 0]
        if not negative:
            return found, used, dropped
        for name in negative:
            del used[name]
            dropped[name] = "below zero"


def _refit(
    tau: Floats,
    tokens: Mapping[str, Floats],
    quantile: float,
    weights: Floats,
    starts: dict[tuple[str, ...], Ints],
) -> float:
    return float(_envelope(tau, tokens, quantile, weights, starts)[0].beta[0])


def _replay(parts: Sequence[Timeline], tau: Floats, removed: float, interval: float) -> Replayed:
    cut = np.split(np.minimum(max(removed, 0.0), tau), np.cumsum([p.n for p in parts])[:-1])
    shorter = [
        replace(p, latency=np.maximum(p.latency - c, 0.0), arrival=None)
        for p, c in zip(parts, cut, strict=True)
    ]
    scored: Score = score_timelines(shorter, interval=interval)
    return Replayed(
        removed_s=removed,
        clamped=int(np.sum(tau < removed)),
        in_force=scored.in_force,
        segment_in_force=scored.overall.segment_in_force,
        by_family={name: level.in_force for name, level in scored.by_family.items()},
    )
