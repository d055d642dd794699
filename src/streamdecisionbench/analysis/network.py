"""Linear quantile regression, solved exactly and fast enough to be refitted hundreds of times.

Minimise Σ w_i ρ_τ(y_i − x_i·β) with ρ_τ(r) = r·(τ − 1[r < 0]). An optimum passes exactly through p
observations. From one such vertex the loss is followed downhill along an edge, on which all but one
of them stay fitted, past every observation as long as it keeps falling; where no edge leads down,
the vertex is optimal, for the loss is convex. A few edges of O(n log n) each, no tolerance to tune.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamdecisionbench.analysis.bootstrap import resampled_counts
from streamdecisionbench.analysis.table import Cell, Table, number, percentage, readable, text
from streamdecisionbench.errors import InputError
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.scoring.score import Score, score_timelines
from streamdecisionbench.scoring.timeline import Floats, Ints, Timeline, timelines
from streamdecisionbench.suite.scenario import Suite

_MOST_EDGES = 10_000
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, slots=True)
class QuantileFit:
    """β, its loss, and the observations the fit passes through (a start for the next fit)."""

    beta: Floats
    loss: float
    basis: Ints


def fit_quantile(
    X: Floats, y: Floats, tau: float, *, weights: Floats | None = None, start: Ints | None = None
) -> QuantileFit:
    """The τ-quantile regression of y on the columns of X (which include the constant, if wanted).

    >>> x = np.arange(10.0)
    >>> fit = fit_quantile(np.column_stack((np.ones(10), x)), 2 + 3 * x + (x % 3), 0.1)
    >>> [round(float(b), 9) for b in fit.beta]
    [2.0, 3.0]
    """
    if not 0 < tau < 1:
        raise InputError(f"quantile {tau:g} is not between 0 and 1")
    n, p = X.shape
    w = np.ones(n) if weights is None else weights
    if p == 1 and np.ptp(X) == 0:
        return _constant(X, y, tau, w)
    # Observations that tie exactly would make several bases of one vertex; an irregular shift far
    # below the data's resolution tells them apart. β is computed from the data as given.
    scale = float(np.max(np.abs(y))) or 1.0
    shifted = y + scale * 1e-11 * np.modf(np.arange(1, n + 1) * _GOLDEN)[0]
    basis = _usable(X, w, start) if start is not None else None
    if basis is None:
        basis = _first_basis(X, shifted, w)
    basis = _descend(X, shifted, tau, w, basis)
    beta: Floats = np.asarray(np.linalg.solve(X[basis], y[basis]), dtype=np.float64)
    return QuantileFit(beta, pinball_loss(y - X @ beta, tau, w), basis)


def pinball_loss(residuals: Floats, tau: float, weights: Floats | None = None) -> float:
    """Σ w_i ρ_τ(r_i)."""
    loss = residuals * (tau - (residuals < 0))
    return float(loss.sum() if weights is None else loss @ weights)


def _constant(X: Floats, y: Floats, tau: float, w: Floats) -> QuantileFit:
    """Without slopes the optimum is the τ-quantile; of a flat stretch of optima, its middle."""
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(w[order])
    target = tau * reached[-1]
    low = int(np.searchsorted(reached, target * (1 - 1e-12)))
    high = int(np.searchsorted(reached, target * (1 + 1e-12), side="right"))
    middle = (y[order[low]] + y[order[min(high, len(y) - 1)]]) / 2
    beta = np.array([middle / X[0, 0]])
    return QuantileFit(beta, pinball_loss(y - middle, tau, w), order[low : low + 1])


def _descend(X: Floats, y: Floats, tau: float, w: Floats, basis: Ints) -> Ints:
    basis = basis.copy()
    drawn, flat = w > 0, -1e-10 * float(w.sum())
    for _ in range(_MOST_EDGES):
        inverse = np.linalg.inv(X[basis])
        residual = y - X @ (inverse @ y[basis])
        residual[basis] = 0.0
        moves = X @ inverse  # column j: how every fitted value moves when basis point j's does by 1
        pull = w * (tau - (residual < 0))
        pull[basis] = 0.0
        gain = pull @ moves
        up, down = w[basis] * (1 - tau) - gain, w[basis] * tau + gain
        most = np.abs(moves).max(axis=0)
        slopes = np.concatenate((up / most, down / most))
        best = int(slopes.argmin())
        if slopes[best] >= flat:
            return basis
        j, sign = best % len(basis), 1.0 if best < len(basis) else -1.0
        step = sign * moves[:, j]
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = residual / step
        ahead = ((reach > 0) & (reach < np.inf) & drawn).nonzero()[0]
        order = ahead[reach[ahead].argsort(kind="stable")]
        slope = (up if sign > 0 else down)[j] + (w[order] * np.abs(step[order])).cumsum()
        stop = int(slope.searchsorted(0.0))
        if stop == len(order):
            return basis  # cannot happen for a full-rank X; never walk off to infinity
        basis[j] = order[stop]
    raise InputError("the quantile regression does not settle", fix="are its columns independent?")


def _usable(X: Floats, w: Floats, basis: Ints) -> Ints | None:
    """A basis from another fit, when it fits this one."""
    if len(basis) != X.shape[1] or np.any(w[basis] <= 0):
        return None
    return basis if np.linalg.cond(X[basis]) < 1e12 else None


def _first_basis(X: Floats, y: Floats, w: Floats) -> Ints:
    """Independent observations, those near a least-squares fit first."""
    root = np.sqrt(w)
    beta = np.linalg.lstsq(X * root[:, None], y * root, rcond=None)[0]
    order = np.argsort(np.where(w > 0, np.abs(y - X @ beta), np.inf), kind="stable")
    scaled = X / np.abs(X).max(axis=0)
    chosen: list[int] = []
    for i in order:
        if w[i] > 0 and np.linalg.matrix_rank(scaled[[*chosen, int(i)]], tol=1e-9) > len(chosen):
            chosen.append(int(i))
            if len(chosen) == X.shape[1]:
                return np.array(chosen, dtype=np.int64)
    raise InputError(
        "the columns of the regression are not independent",
        fix="drop a column that is constant or a multiple of another",
    )


# The network-removed estimate: how much latency no token accounts for, and the score without it.
#
#     τ_i = ν + π·x_i + δ·o_i + ε_i,   ε_i ≥ 0
#
# τ_i runs from the start of the successful attempt to the receipt of the response; x_i are uncached
# input tokens in thousands (prefill), o_i output tokens including reasoning (decode). Waiting only
# adds time, so the remainder ν is the intercept of a 10th-percentile regression: the fast envelope. A
# slope that comes out below zero is dropped and the rest refitted. ν also holds fixed server time and
# the average cost of a dropped term, so it bounds the network delay from above.
#
# Services count reasoning within `output_tokens`; `reasoning_tokens` is a part of them, not an extra.


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
            number("ms/tok", 1, "decode_ms_per_tok"), number("floor s", key="floor_s"), number("R1"), percentage("below"),
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
        (text("", "recording"), text("level"), percentage("recorded"), percentage("removed"), percentage("low"),
         percentage("high")),
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
