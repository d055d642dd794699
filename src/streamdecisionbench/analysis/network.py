"""How much latency no token accounts for, and the score without it: a quantile regression, refitted often.

Minimise Σ w_i ρ_τ(y_i − x_i·β) with ρ_τ(r) = r·(τ − 1[r < 0]). An optimum passes exactly through p
observations. From one such vertex the loss is followed downhill along an edge, on which all but one
of them stay fitted, past every observation as long as it keeps falling; where no edge leads down,
the vertex is optimal, for the loss is convex. A few edges of O(n log n) each, no tolerance to tune.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from streamdecisionbench.analysis.bootstrap import Sampling, resampled_counts
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Floats,
    Ints,
    Timeline,
)
from streamdecisionbench.recording.recording import Recording
from streamdecisionbench.render.sentences import without_tokens
from streamdecisionbench.render.table import (
    Cell,
    Table,
    number,
    percentage,
    readable,
    text,
)
from streamdecisionbench.scoring.score import Score, score_timelines
from streamdecisionbench.scoring.timelines import timelines
from streamdecisionbench.suite.scenario import Suite

_MOST_EDGES = 10_000
_AT_ONCE = 1 << 15
"""Observations times weightings whose arrays lie near the processor together."""
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
    w = np.ones(len(y)) if weights is None else weights
    betas, bases = fit_quantiles(X, y, tau, w[None, :], start)
    return QuantileFit(betas[0], pinball_loss(y - X @ betas[0], tau, w), bases[0])


def fit_quantiles(
    X: Floats, y: Floats, tau: float, weights: Floats, start: Ints | None = None
) -> tuple[Floats, Ints]:
    """The same for many weightings of the observations, a row each: β and basis by row."""
    if not 0 < tau < 1:
        raise InputError(f"quantile {tau:g} is not between 0 and 1")
    n, p = X.shape
    if p == 1 and np.ptp(X) == 0:
        return _constants(X, y, tau, weights)
    # Observations that tie exactly would make several bases of one vertex; a shift far below the data's
    # resolution tells them apart. It follows the squares: multiples would leave evenly spaced
    # observations on a line. β is computed from the data as given.
    scale = float(np.max(np.abs(y))) or 1.0
    shifted = y + scale * 1e-11 * np.modf(np.arange(1.0, n + 1) ** 2 * _GOLDEN)[0]
    bases = np.empty((len(weights), p), dtype=np.int64)
    at_once = max(1, _AT_ONCE // n)
    for first in range(0, len(weights), at_once):
        some = weights[first : first + at_once]
        begin = _first_basis(X, shifted, some[0]) if start is None else start
        bases[first : first + at_once] = _descend(X, shifted, tau, some, begin)
    betas = np.linalg.solve(X[bases], y[bases][..., None])[..., 0]
    return np.asarray(betas, dtype=np.float64), bases


def pinball_loss(residuals: Floats, tau: float, weights: Floats | None = None) -> float:
    """Σ w_i ρ_τ(r_i)."""
    loss = residuals * (tau - (residuals < 0))
    return float(loss.sum() if weights is None else loss @ weights)


def _constants(X: Floats, y: Floats, tau: float, w: Floats) -> tuple[Floats, Ints]:
    """Without slopes the optimum is the τ-quantile; of a flat stretch of optima, its middle."""
    order = np.argsort(y, kind="stable")
    reached = np.cumsum(w[:, order], axis=1)
    target = tau * reached[:, -1:]
    low = (reached < target * (1 - 1e-12)).sum(axis=1)
    high = (reached <= target * (1 + 1e-12)).sum(axis=1)
    middle = (y[order[low]] + y[order[np.minimum(high, len(y) - 1)]]) / 2
    return middle[:, None] / X[0, 0], order[low][:, None]


def _descend(X: Floats, y: Floats, tau: float, weights: Floats, start: Ints) -> Ints:
    """From one vertex to the optimum of every row of weights, all rows an edge at a time."""
    p = len(start)
    found = np.tile(start, (len(weights), 1))
    left = np.arange(len(weights))
    for _ in range(_MOST_EDGES):
        w, basis = weights[left], found[left]
        every = np.arange(len(left))
        inverse = np.linalg.inv(X[basis])
        residual = y - (inverse @ y[basis][..., None])[..., 0] @ X.T
        np.put_along_axis(residual, basis, 0.0, axis=1)
        moves = X @ inverse  # [..., j]: how every fitted value moves when basis point j's does by 1
        pull = w * (tau - (residual < 0))
        np.put_along_axis(pull, basis, 0.0, axis=1)
        gain = (pull[:, None, :] @ moves)[:, 0]
        own = np.take_along_axis(w, basis, axis=1)
        slopes = np.concatenate((own * (1 - tau) - gain, own * tau + gain), axis=1)
        most = np.abs(moves).max(axis=1)
        best = (slopes / np.concatenate((most, most), axis=1)).argmin(axis=1)
        down = slopes[every, best] / most[every, best % p] < -1e-10 * w.sum(axis=1)
        left, w, residual, best = left[down], w[down], residual[down], best[down]
        if not left.size:
            return found
        every = np.arange(len(left))
        step = moves[down][every, :, best % p] * np.where(best < p, 1.0, -1.0)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = residual / step
        ahead = (reach > 0) & (reach < np.inf) & (w > 0)
        order = np.where(ahead, reach, np.inf).argsort(axis=1, kind="stable")
        cost = np.where(ahead, w * np.abs(step), 0.0)
        slope = slopes[down][every, best, None] + np.take_along_axis(cost, order, 1).cumsum(axis=1)
        stop = (slope < 0).sum(axis=1)
        # For a full-rank X the slope always turns; never walk off to infinity.
        turns = stop < ahead.sum(axis=1)
        left, best = left[turns], best[turns]
        found[left, best % p] = order[turns, stop[turns]]
    raise InputError("the quantile regression does not settle", fix="are its columns independent?")


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
    tau, tokens = measured(recording, parts)
    if not (has_decode(recording) if decode is None else decode):
        tokens = {"prefill": tokens["prefill"]}
    fit = _fit(tau, tokens, quantile)
    drawn = resampled_counts([p.n for p in parts], Sampling(block, resamples, seed))
    remainders = np.concatenate([_remainders(tau, tokens, quantile, some) for some in drawn])
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
        replays = (r.recorded, r.estimate, r.low, r.high)
        scores.append((name, "overall", *(x.in_force for x in replays)))
        for family, label in readable(r.recorded.by_family).items():
            scores.append(("", label, *(x.by_family[family] for x in replays)))
        scores.append(("", "segment-balanced", *(x.segment_in_force for x in replays)))
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


def measured(recording: Recording, parts: Sequence[Timeline]) -> tuple[Floats, dict[str, Floats]]:
    """Of every response τ, and its tokens by term: fresh input in thousands, output."""
    responses = [r for p in parts for r in recording.episodes[p.episode_id].responses]
    usage = [r.usage for r in responses if r.usage is not None]
    if len(usage) < len(responses):
        raise InputError(
            without_tokens(len(responses) - len(usage), len(responses)),
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
    residual = tau - _with_constant(tau, used.values()) @ found.beta
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
    tau: Floats, tokens: Mapping[str, Floats], quantile: float
) -> tuple[QuantileFit, dict[str, Floats], dict[str, str]]:
    """The regression, the terms in it, and why others are not."""
    dropped = {} if "decode" in tokens else {"decode": "returns no text"}
    dropped |= {name: "does not vary" for name, values in tokens.items() if np.ptp(values) == 0}
    while True:
        used = {name: values for name, values in tokens.items() if name not in dropped}
        found = fit_quantile(_with_constant(tau, used.values()), tau, quantile)
        negative = [name for name, slope in zip(used, found.beta[1:], strict=True) if slope < 0]
        if not negative:
            return found, used, dropped
        dropped |= dict.fromkeys(negative, "below zero")


def _remainders(
    tau: Floats, tokens: Mapping[str, Floats], quantile: float, drawn: Floats
) -> Floats:
    """The intercept of the same regression for every resample, those with the same terms together."""
    terms = np.array(list(tokens.values()))
    varies = np.array([[np.ptp(x[w > 0]) > 0 for x in terms] for w in drawn])
    found = np.zeros(len(drawn))
    left, starts = np.arange(len(drawn)), {}
    while left.size:
        kinds, kind_of = np.unique(varies[left], axis=0, return_inverse=True)
        again = []
        for k, used in enumerate(kinds):
            rows = left[kind_of.ravel() == k]
            X = _with_constant(tau, terms[used])
            key = tuple(used.tolist())
            if key not in starts:
                starts[key] = fit_quantile(X, tau, quantile).basis
            betas, _ = fit_quantiles(X, tau, quantile, drawn[rows], starts[key])
            found[rows] = betas[:, 0]
            negative = betas[:, 1:] < 0
            varies[np.ix_(rows, np.flatnonzero(used))] &= ~negative
            again.append(rows[negative.any(axis=1)])
        left = np.concatenate(again)
    return found


def _with_constant(tau: Floats, terms: Iterable[Floats]) -> Floats:
    return np.column_stack((np.ones(len(tau)), *terms))


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
