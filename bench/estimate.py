"""Whether intervals of `sdb logs estimate` hold, and what moments and silver are worth.

    python bench/estimate.py                 # 2,000 audits of each kind of log
    python bench/estimate.py --audits 200
    python bench/estimate.py --unfinished --audits 1000    # audits of which a part is answered

Logs are made with what is right for every state; people are taken as right. An audit draws moments from
the log's own strata, counts, and melds, by the functions of the product. Coverage is the share of audits
whose 95 % interval contains the truth of the log. Beside it: the stratified normal interval, from the same
moments, and the interval of prediction-powered inference, from as many moments drawn alike from all time,
by its formula (silver's verdict on all time plus the mean difference to people's) and, where it is
installed, by the package `ppi_py`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CORRECT,
    NO_DECISION,
    UNJUDGED,
    class_of,
)
from streamdecisionbench.labels.estimate import (
    OPEN,
    JudgedMoments,
    StratumCounts,
    counted,
    melded,
    stream_replicates,
)
from streamdecisionbench.labels.label_files import Consensus
from streamdecisionbench.labels.sample import (
    NONE,
    AuditSample,
    allocate,
    draw_sample,
)

OPTIONS = ("a", "b", "c", "d")
DRAWS = 10_000
Z = 1.959963984540054


@dataclass(frozen=True)
class MadeLog:
    """A log with what was right, and what silver says."""

    streams: int
    states: int
    """Of every stream, on average."""
    wrong: float = 0.15
    """Of answers."""
    silver: float = 0.9
    """Of states silver is right about."""
    burst: int = 1
    """Wrong answers come in runs of so many."""
    only: tuple[int, ...] = ()
    """Streams that are wrong throughout, all others never."""
    late: float = 0.3
    """Median latency, in seconds; states come about every two."""
    adversarial: bool = False
    """Silver agrees with every wrong answer, and is wrong where the answer is right as often."""
    groups: tuple[float, ...] = (1.0,)
    """What share of streams each group has."""
    distinct: int | None = None
    """So many states per option come again and again; None: every state comes once."""


KINDS: Mapping[str, MadeLog] = {
    "few long streams": MadeLog(6, 600),
    "thousands of short streams": MadeLog(2000, 4),
    "rare errors": MadeLog(100, 60, wrong=0.008, silver=0.95, late=0.002),
    "rare errors that silver hides": MadeLog(100, 60, wrong=0.008, late=0.002, adversarial=True),
    "errors in bursts": MadeLog(60, 60, burst=25),
    "one stream all wrong": MadeLog(40, 60, only=(7,)),
    "no error at all": MadeLog(100, 40, wrong=0.0, late=0.0),
    "silver good": MadeLog(100, 40, silver=0.97),
    "silver useless": MadeLog(100, 40, silver=0.25),
    "silver adversarial": MadeLog(100, 40, wrong=0.1, adversarial=True),
    "groups of very different size": MadeLog(404, 12, groups=(0.99, 0.01)),
}


@dataclass(frozen=True)
class Cells:
    """All time of one group: which stratum, how much of it, what people say of it, what silver does."""

    says: NDArray[np.int64]
    names: tuple[str, ...]
    share: NDArray[np.float64]
    column: NDArray[np.int64]
    silver_right: NDArray[np.float64]
    stream: NDArray[np.int64]
    older: NDArray[np.bool_]
    """Whether the decision in force was given for an older state."""
    states: int

    @property
    def truth(self) -> float:
        return float(self.share[np.isin(self.column, CORRECT)].sum())


LATE: Mapping[str, MadeLog] = {
    "late": MadeLog(100, 40, late=1.5),
    "late, few long streams": MadeLog(6, 600, late=1.5),
    "late and often wrong": MadeLog(100, 40, late=1.5, wrong=0.5),
    "late, 200 states that repeat": MadeLog(100, 40, late=1.5, distinct=50),
}


def census_of(kind: MadeLog, seed: int = 1) -> tuple[AuditSample, dict[str, str]]:
    """All time of a made log, and what is right for every item."""
    rng = np.random.default_rng(seed)
    rows: dict[str, list[object]] = {
        n: [] for n in ("stream", "published_at", "answered_at", "decision", "reference", "state")
    }
    ended: list[float] = []
    group: list[str] = []
    right_of: dict[str, str] = {}
    edges = np.cumsum(kind.groups) * kind.streams
    for stream in range(kind.streams):
        n = max(2, int(rng.poisson(kind.states)))
        gaps = rng.exponential(2.0, n) + 0.05
        at = np.concatenate(([0.0], np.cumsum(gaps)[:-1]))
        right = OPTIONS[0]
        bad_for = 0
        for i in range(n):
            if rng.random() < 0.3:
                right = OPTIONS[rng.integers(4)]
            other = OPTIONS[(OPTIONS.index(right) + 1 + rng.integers(3)) % 4]
            if not bad_for and rng.random() < kind.wrong / kind.burst:
                bad_for = kind.burst
            wrong = stream in kind.only if kind.only else bad_for > 0
            bad_for = max(0, bad_for - 1)
            decision = other if wrong else right
            silver = right if rng.random() < kind.silver else OPTIONS[rng.integers(4)]
            if kind.adversarial:
                silver = decision if wrong or rng.random() < 0.9 else other
            state = f"{stream}/{i}"
            if kind.distinct is not None:
                state = f"{right}/{rng.integers(kind.distinct)}"
            right_of[state] = right
            rows["stream"].append(f"s{stream}")
            rows["published_at"].append(float(at[i]))
            late = kind.late * rng.lognormal(0.0, 0.5)
            rows["answered_at"].append(float(at[i] + late))
            rows["decision"].append(decision)
            rows["reference"].append(silver)
            rows["state"].append(state)
            ended.append(float(at[-1] + gaps[-1]))
            group.append(f"g{int(np.searchsorted(edges, stream, side='right'))}")
    table = pa.table({**rows, "ended_at": ended, "release": group})
    sample, items = draw_sample(table, moments=None, by="release", silver="column")
    return sample, {item.item: right_of[str(item.state)] for item in items}


def make(kind: MadeLog, seed: int = 1) -> list[Cells]:
    """The groups of a made log, cut by the product."""
    sample, right_of = census_of(kind, seed)
    found = []
    for g in range(len(sample.groups)):
        strata = [k for k, one in enumerate(sample.strata) if one.group == g]
        own = [m for m in sample.moments if m.stratum in strata]
        names = {name: k for k, name in enumerate(dict.fromkeys(m.stream for m in own))}
        now = [right_of[m.item] for m in own]
        source = [right_of[m.source or m.item] for m in own]
        found.append(
            Cells(
                says=np.array([strata.index(m.stratum) for m in own]),
                names=tuple(sample.strata[k].says for k in strata),
                share=np.array([m.share for m in own]),
                column=np.array(
                    [class_of(m.decision, s, n) for m, s, n in zip(own, source, now, strict=True)]
                ),
                silver_right=np.array([float(m.decision == m.silver) for m in own]),
                stream=np.array([names[m.stream] for m in own]),
                older=np.array([m.source is not None for m in own]),
                states=len({(m.stream, m.published_at) for m in own}),
            )
        )
    return found


def without_silver(cells: Cells) -> Cells:
    """The same time, told apart only by whether anything is in force."""
    nothing = np.array([name == NONE for name in cells.names])
    names = ("decided", NONE) if nothing.any() else ("decided",)
    return Cells(
        nothing[cells.says].astype(np.int64), names, cells.share, cells.column,
        cells.silver_right, cells.stream, cells.older, cells.states,
    )  # fmt: skip


def audits(
    cells: Cells, moments: int, count: int, rng: np.random.Generator
) -> Iterator[StratumCounts]:
    """Moments drawn uniformly in the time of every stratum, and counted by class."""
    weight = np.bincount(cells.says, cells.share, len(cells.names)).astype(np.float64)
    shares = dict(zip(cells.names, weight.tolist(), strict=True))
    given = allocate(shares, moments)
    drawn = []
    for k, name in enumerate(cells.names):
        inside = np.flatnonzero(cells.says == k)
        reached = np.cumsum(cells.share[inside])
        at = np.searchsorted(reached, rng.random((count, given[name])) * reached[-1])
        drawn.append(cells.column[inside[np.minimum(at, len(inside) - 1)]])
    width = len(ALL_CLASSES)
    possible = np.ones((len(cells.names), width), dtype=bool)
    nothing = np.array([name == NONE for name in cells.names])
    possible[nothing] = False
    possible[:, NO_DECISION] = nothing
    possible[:, UNJUDGED] = True
    for audit in range(count):
        counts = np.array([np.bincount(one[audit], minlength=width) for one in drawn], dtype=float)
        yield StratumCounts(weight, counts, possible)


def right_of(found: StratumCounts) -> NDArray[np.float64]:
    hits: NDArray[np.float64] = found.counts[:, list(CORRECT)].sum(axis=1)
    return hits


class Intervals:
    """Melded intervals, each count's once."""

    def __init__(self) -> None:
        self._known: dict[tuple[float, ...], tuple[float, float]] = {}

    def __call__(self, found: StratumCounts) -> tuple[float, float]:
        key = (
            *found.weight.tolist(),
            *found.counts.sum(axis=1).tolist(),
            *right_of(found).tolist(),
        )
        if key not in self._known:
            bounds = melded(found, CORRECT, np.random.default_rng(0), DRAWS)
            self._known[key] = bounds.interval_95
        return self._known[key]


def normal(found: StratumCounts) -> tuple[float, float]:
    """Σ W·p ± z·√(Σ W²·p(1 − p)/(n − 1))."""
    n = found.counts.sum(axis=1)
    p = right_of(found) / n
    middle = float(found.weight @ p)
    spread = float(np.sqrt((found.weight**2 * p * (1 - p) / np.maximum(n - 1, 1)).sum()))
    return middle - Z * spread, middle + Z * spread


def prediction_powered(
    cells: Cells,
    moments: int,
    count: int,
    rng: np.random.Generator,
    package: Callable[..., Any] | None,
) -> tuple[float, float | None]:
    """Coverage of the interval by the formula, and by the package."""
    reached = np.cumsum(cells.share)
    at = np.minimum(
        np.searchsorted(reached, rng.random((count, moments)) * reached[-1]), len(reached) - 1
    )
    y = np.isin(cells.column, CORRECT).astype(float)[at]
    f = cells.silver_right[at]
    over_all = float(cells.share @ cells.silver_right)
    middle = over_all + (y - f).mean(axis=1)
    half = Z * (y - f).std(axis=1, ddof=1) / np.sqrt(moments)
    covered = float(np.mean(np.abs(middle - cells.truth) <= half + 1e-12))
    if package is None:
        return covered, None
    many = rng.choice(len(cells.share), size=20_000, p=cells.share / cells.share.sum())
    unlabeled = cells.silver_right[many]
    hits = 0
    for k in range(min(count, 500)):
        low, high = package(y[k], f[k], unlabeled, alpha=0.05)
        hits += bool(np.squeeze(low) - 1e-12 <= cells.truth <= np.squeeze(high) + 1e-12)
    return covered, hits / min(count, 500)


def covers(intervals: Sequence[tuple[float, float]], truth: float) -> float:
    return float(np.mean([low - 1e-9 <= truth <= high + 1e-9 for low, high in intervals]))


def mean_width(intervals: Sequence[tuple[float, float]]) -> float:
    return float(np.mean([high - low for low, high in intervals]))


def coverage(count: int, moments: int) -> float:
    """The table of coverage; the worst of ours."""
    package = ppi_mean()
    told = "installed" if package else "ppi_py is not installed: its column is empty"
    print(f"Coverage of 95 % intervals (%) in {count} audits of {moments} moments each; {told}\n")
    print(
        f"{'':31}{'truth':>6}  {'without silver':^15} {'with silver':^23}   {'pred.-powered':^13}\n"
        f"{'kind of log':31}{'':>6}  {'ours':>7} {'normal':>7} {'ours':>7} {'normal':>7} {'saves':>7}"
        f"   {'formula':>7} {'ppi_py':>6}"
    )
    worst = 1.0
    for name, kind in KINDS.items():
        for g, cells in enumerate(make(kind)):
            rng = np.random.default_rng([2, len(name), g])
            ours = Intervals()
            plain = list(audits(without_silver(cells), moments, count, rng))
            helped = list(audits(cells, moments, count, rng))
            one, two = [ours(a) for a in plain], [ours(a) for a in helped]
            truth = cells.truth
            found = (
                covers(one, truth),
                covers([normal(a) for a in plain], truth),
                covers(two, truth),
                covers([normal(a) for a in helped], truth),
            )
            worst = min(worst, found[0], found[2])
            saves = 1 - (mean_width(two) / mean_width(one)) ** 2
            formula, outside = prediction_powered(cells, moments, count, rng, package)
            label = name if len(kind.groups) == 1 else f"{name}, {g + 1}"
            print(
                f"{label:31}{100 * truth:6.1f}  "
                + " ".join(f"{100 * v:7.1f}" for v in (*found, saves))
                + f"   {100 * formula:7.1f} {'' if outside is None else f'{100 * outside:6.1f}'}"
            )
    print("\nsaves: of the moments that an interval as narrow takes without silver.")
    return worst


def ppi_mean() -> Callable[..., Any] | None:
    try:
        from ppi_py import ppi_mean_ci  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    found: Callable[..., Any] = ppi_mean_ci
    return found


def widths(count: int) -> float:
    """How wide, with silver that agrees with people in nine states of ten and without; the ratio at 300."""
    print("\nMean width of the interval (points), silver right in 90 % of states\n")
    print(f"{'moments':>8} {'without':>8} {'with':>8} {'ratio':>7}")
    cells = make(MadeLog(150, 40, wrong=0.15, silver=0.9 - 0.1 / 3))[0]
    ratio = 1.0
    for moments in (100, 150, 300, 600):
        rng = np.random.default_rng([3, moments])
        ours = Intervals()
        wide, narrow = (
            mean_width([ours(a) for a in audits(c, moments, count, rng)])
            for c in (without_silver(cells), cells)
        )
        print(f"{moments:8} {100 * wide:8.2f} {100 * narrow:8.2f} {narrow / wide:7.2f}")
        ratio = narrow / wide if moments == 300 else ratio
    return ratio


def whole_streams(count: int) -> None:
    """At as many answers: moments against whole streams, as the root of the mean squared error."""
    print("\nError of the estimate (points, root of mean square), at as many answers\n")
    print(f"{'kind of log':31}{'answers':>8} {'moments':>8} {'streams':>8} {'ratio':>7}")
    kinds = {n: k for n, k in KINDS.items() if len(k.groups) == 1 and not n.startswith("silver")}
    # Where moments lose: every stream has the same little error at every change.
    kinds["late everywhere, hardly wrong"] = MadeLog(100, 60, wrong=0.008)
    for name, kind in kinds.items():
        cells = make(kind)[0]
        rng = np.random.default_rng([4, len(name)])
        per_stream = cells.states / (cells.stream.max() + 1)
        drawn = max(1, round(400 / per_stream))
        answers = drawn * per_stream
        # A moment takes one answer, and a second where the decision in force is an older state's.
        moments = round(answers / (1 + float(cells.share[cells.older].sum())))
        right = np.isin(cells.column, CORRECT)
        seconds = np.bincount(cells.stream, cells.share)
        good = np.bincount(cells.stream, cells.share * right)
        picked = rng.integers(0, len(seconds), (count, drawn))
        by_stream = good[picked].sum(axis=1) / seconds[picked].sum(axis=1)
        by_moment = np.array(
            [float(a.weight @ (right_of(a) / a.counts.sum(axis=1)))
             for a in audits(without_silver(cells), moments, count, rng)]
        )  # fmt: skip
        one, two = (float(np.sqrt(np.mean((e - cells.truth) ** 2))) for e in (by_moment, by_stream))
        ratio = f"{one / two:7.2f}" if two > 1e-9 else f"{'':>7}"
        print(f"{name:31}{answers:8.0f} {100 * one:8.2f} {100 * two:8.2f} {ratio}")


class UnfinishedAudits:
    """Audits of one log whose items were answered in part, in random order."""

    def __init__(self, kind: MadeLog, moments: int, *, silver: bool) -> None:
        sample, right_of = census_of(kind)
        said = {name: Consensus(right, False, ("",), ()) for name, right in right_of.items()}
        self.strata = sample.strata
        whole = JudgedMoments.of(sample, said)
        if not silver:
            decided = [one for one in sample.strata if one.says != NONE]
            nothing = [one for one in sample.strata if one.says == NONE]
            both = msgspec.structs.replace(
                decided[0], says="decided", share=sum(one.share for one in decided)
            )
            self.strata = [both, *nothing]
            of_none = np.array([one.says == NONE for one in sample.strata])
            whole = replace(whole, stratum=of_none[whole.stratum].astype(np.int64))
        self.whole = whole
        truth = counted(self.strata, whole, census=True).shares
        assert truth is not None
        self.truth = truth
        self.given = allocate({one.says: one.share for one in self.strata}, moments)

    def draw(self, share: float, rng: np.random.Generator) -> JudgedMoments:
        """Moments drawn in the time of every stratum, this share of their items answered."""
        chosen = []
        for h, one in enumerate(self.strata):
            inside = np.flatnonzero(self.whole.stratum == h)
            reached = np.cumsum(self.whole.share[inside])
            at = np.searchsorted(reached, rng.random(self.given[one.says]) * reached[-1])
            chosen.append(inside[np.minimum(at, len(inside) - 1)])
        return answered_in_part(self.whole.take(np.concatenate(chosen)), share, rng)


def answered_in_part(
    judged: JudgedMoments, share: float, rng: np.random.Generator
) -> JudgedMoments:
    """With this share of the items that these moments need."""
    items = np.setdiff1d(np.union1d(judged.item, judged.source), [-1])
    return with_answers(judged, rng.permutation(items)[: max(1, round(share * len(items)))])


def with_answers(judged: JudgedMoments, known: NDArray[np.int64]) -> JudgedMoments:
    """As `JudgedMoments.of` has it with answers to these items."""
    now, own = np.isin(judged.item, known), np.isin(judged.source, known)
    right = np.isin(judged.column, CORRECT)
    unsure = np.where(right, CORRECT[0], ALL_CLASSES.index("unattributed"))
    older = judged.older & now
    pending = older & ~own
    column = np.where(pending, unsure, judged.column)
    return replace(
        judged, column=np.where(now, column, OPEN), older=older, pending=pending,
        unclear=judged.unclear & now,
    )  # fmt: skip


def without_pending(judged: JudgedMoments) -> JudgedMoments:
    """An open second answer taken as "cannot tell"."""
    none = np.zeros_like(judged.pending)
    return replace(judged, older=none, pending=none)


UNFINISHED_CLASSES = ("stale", "judgment", "compound")


def unfinished(count: int, moments: int) -> float:
    """The table of audits answered in part; the worst coverage."""
    print(
        f"Mean estimate, and coverage of 95 % intervals (%), {count} audits of {moments} moments\n"
    )
    heads = " | ".join(f"{name}: truth | estimate | covers" for name in UNFINISHED_CLASSES)
    print(f"| log | answered | {heads} | in force covers | stale before: estimate | covers |")
    print("|---|---:|" + "---:|" * (3 * len(UNFINISHED_CLASSES) + 3))
    worst = 1.0
    for number, (name, kind) in enumerate(LATE.items()):
        made = UnfinishedAudits(kind, moments, silver=True)
        for share in (0.25, 0.5, 0.75, 1.0):
            rng = np.random.default_rng([7, number, round(100 * share)])
            means, covered, usable = unfinished_rates(made, share, count, rng)
            cells = []
            for one in UNFINISHED_CLASSES:
                k = ALL_CLASSES.index(one)
                cells += [made.truth[k], means[one], covered[one]]
            cells += [covered["in force"], means["before"], covered["before"]]
            worst = min(worst, *(covered[one] for one in (*UNFINISHED_CLASSES, "in force")))
            shown = " | ".join(f"{100 * v:.1f}" for v in cells)
            left = "" if usable == count else f" ({usable} audits)"
            print(f"| {name}{left} | {100 * share:.0f} % | {shown} |", flush=True)
    return worst


def unfinished_rates(
    made: UnfinishedAudits, share: float, count: int, rng: np.random.Generator, draws: int = 2000
) -> tuple[dict[str, float], dict[str, float], int]:
    """Mean estimates and coverage by class, `before` for stale without `pending`; of so many audits in
    which every stratum has an answer."""
    truth = {name: float(made.truth[ALL_CLASSES.index(name)]) for name in UNFINISHED_CLASSES}
    truth["in force"] = float(made.truth[list(CORRECT)].sum())
    truth["before"] = truth["stale"]
    sums, hits, usable = dict.fromkeys(truth, 0.0), dict.fromkeys(truth, 0), 0
    for _ in range(count):
        judged = made.draw(share, rng)
        found = counted(made.strata, judged, census=False)
        before = counted(made.strata, without_pending(judged), census=False)
        if found.shares is None:
            continue
        usable += 1
        for name, true in truth.items():
            own = before if name == "before" else found
            columns = {"in force": list(CORRECT), "before": [ALL_CLASSES.index("stale")]}.get(
                name
            ) or [ALL_CLASSES.index(name)]
            assert own.shares is not None
            sums[name] += float(own.shares[columns].sum())
            bounds = melded(own, columns, rng, draws, of_judged=name == "in force")
            low, high = bounds.interval_95
            hits[name] += low - 1e-9 <= true <= high + 1e-9
    means = {name: value / usable for name, value in sums.items()}
    return means, {name: n / usable for name, n in hits.items()}, usable


def sessions(count: int) -> None:
    """Logs drawn anew from one population of sessions: which interval covers the population?"""
    print(
        f"\nCoverage of the population of sessions (%), {count} logs of 60 streams, 200 moments each\n"
    )
    truth = _population(np.random.default_rng(5), 20_000)[1]
    own = over_streams = 0
    for k in range(count):
        table, _ = _population(np.random.default_rng([6, k]), 60)
        sample, items = draw_sample(table, moments=200, silver="column", seed=k)
        said = {
            item.item: Consensus(str(item.state).rpartition("/")[2], False, ("",), ())
            for item in items
        }
        judged = JudgedMoments.of(sample, said)
        found = counted(sample.strata, judged, census=False)
        low, high = melded(found, CORRECT, np.random.default_rng(k), DRAWS).interval_95
        own += low <= truth <= high
        drawn = stream_replicates(sample.strata, judged, found, sample.seed)
        assert drawn is not None
        ends = np.quantile(drawn[:, list(CORRECT)].sum(axis=1), [0.025, 0.975])
        over_streams += min(low, ends[0]) <= truth <= max(high, ends[1])
    print(
        f"interval_95_streams {100 * over_streams / count:.1f}, interval_95 {100 * own / count:.1f}"
    )


def _population(rng: np.random.Generator, streams: int) -> tuple[pa.Table, float]:
    """Sessions that differ in how good they are, answered at once; and the share of time right."""
    rows: list[dict[str, object]] = []
    right_s = all_s = 0.0
    for stream in range(streams):
        good = rng.beta(4, 1)
        gaps = rng.exponential(2.0, int(rng.integers(5, 25))) + 0.1
        at = np.cumsum(gaps) - gaps
        for i, (begin, lasts) in enumerate(zip(at.tolist(), gaps.tolist(), strict=True)):
            now = OPTIONS[rng.integers(4)]
            right = rng.random() < good
            right_s, all_s = right_s + lasts * right, all_s + lasts
            other = OPTIONS[(OPTIONS.index(now) + 1 + rng.integers(3)) % 4]
            rows.append(
                {
                    "stream": f"s{stream}",
                    "published_at": begin,
                    "answered_at": begin,
                    "decision": now if right else other,
                    "reference": now if rng.random() < 0.9 else OPTIONS[0],
                    "state": f"{stream}/{i}/{now}",
                    "ended_at": float(gaps.sum()),
                }
            )
    return pa.Table.from_pylist(rows), right_s / all_s


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--audits", type=int, default=2000)
    parser.add_argument("--moments", type=int, default=300)
    parser.add_argument("--unfinished", action="store_true", help="audits answered in part")
    given = parser.parse_args()
    if given.unfinished:
        worst = unfinished(given.audits, given.moments)
        print(f"\nworst coverage {100 * worst:.1f} %")
        return
    began = time.monotonic()
    worst = coverage(given.audits, given.moments)
    ratio = widths(max(100, given.audits // 5))
    whole_streams(given.audits)
    sessions(max(50, given.audits // 5))
    print(
        f"\nworst coverage of ours {100 * worst:.1f} %, width with silver {ratio:.2f} of without;"
        f" {time.monotonic() - began:.0f} s"
    )


if __name__ == "__main__":
    main()
