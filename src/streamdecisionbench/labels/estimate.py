"""What a log is worth, from answers of people about some of its moments, with intervals that hold.

Within a stratum h moments are drawn independently, every second alike, so of n_h answered ones the number
e_h that has some class is binomial, and its share of a group's time is

    p = Σ_h W_h · e_h / n_h,

unbiased whatever silver says, since W_h is what the log says exactly. The interval melds exact bounds: per
stratum a lower one, Beta(e_h, n_h − e_h + 1), and an upper one, Beta(e_h + 1, n_h − e_h), both drawn; the
2.5 % quantile of Σ W_h · lower_h and the 97.5 % quantile of Σ W_h · upper_h. With one stratum that is
Clopper and Pearson's interval. A stratum without an error in its sample still contributes what it may
hide, up to about 3/n_h of it; a normal approximation takes it for certain, which is where intervals of
corrected silver fail. Differences of groups take lower minus upper and upper minus lower.

In-force accuracy is right time over judged time. Where people cannot tell, a stratum has three kinds of
moments, right, wrong and unjudged, and the Betas become Dirichlet(right, wrong + 1, unjudged) and
Dirichlet(right + 1, wrong, unjudged).

While an audit is not finished, open items are taken as missing at random: items are ordered by a hash. A
moment whose decision was given for an older state needs two answers. If only the first is there, it is
known whether the decision was right, but not the class. Such moments get the classes of those with both
answers, by time, the right ones and the wrong ones each for themselves. Their bounds are drawn in two
steps: how much time is of this kind, and which part of it has the class. Moments that share an item are
answered together or not at all, so they count as fewer (`_effective`).

All of this is about this log. Sessions like these vary too: the second interval draws streams again, each
k ~ Poisson(1) times with its time and its moments, and is never narrower than the first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamdecisionbench.analysis.agreement import LabelAgreement
from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Floats,
    Ints,
)
from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CAUSES,
    CORRECT,
    NO_DECISION,
    UNJUDGED,
    UNKNOWN,
    class_of,
)
from streamdecisionbench.labels.label_files import (
    SAMPLE_FILE,
    AuditFolder,
    AuditLabels,
    Consensus,
)
from streamdecisionbench.labels.sample import (
    NONE,
    SCHEMA,
    AuditSample,
    Stratum,
    digest_of,
)
from streamdecisionbench.logs.log_references import SAMPLED
from streamdecisionbench.scoring.intervals import (
    poisson_weights,
    stream_keys,
)
from streamdecisionbench.suite.file_io import read_json_as
from streamdecisionbench.text import (
    plural,
    printable,
)

ESTIMATE_SCHEMA = "sdb-estimate/1"
REFERENCES_FILE = "references.parquet"
DRAWS = 40_000
"""Of every bound. A quantile is then right to 0.1 % of probability, a hundredth of the width."""
FEWEST_STREAMS = 20
"""Fewer streams say nothing about others."""
OPEN = -1
"""The class of a moment whose state nobody has answered for yet."""
_SIDES = (
    list(CORRECT),
    [ALL_CLASSES.index(name) for name in ("judgment", "stale", "compound", "unattributed")],
)
"""The classes that a decision for an older state can have if it is right, and if it is wrong."""
_WIDTH = len(ALL_CLASSES)

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ShareEstimate:
    """A share of time, or a difference of two."""

    value: float | None
    """None where a part of the time has no answer yet."""
    interval_95: Range | None
    """About this log: what would labelling all of it have said?"""
    interval_95_streams: Range | None = None
    """About sessions like these."""

    def to_json(self, name: str = "share") -> dict[str, Any]:
        return {
            name: self.value,
            "interval_95": _listed(self.interval_95),
            "interval_95_streams": _listed(self.interval_95_streams),
        }


@dataclass(frozen=True, slots=True)
class SilverHelp:
    """What silver was good for."""

    agreement: float | None
    """The share of judged time in which it says what people say."""
    moments_without: int | None
    """Moments that an interval as narrow would have taken without it."""
    saved: int | None


@dataclass(frozen=True, slots=True)
class GroupEstimate:
    """One group of streams."""

    by: Mapping[str, Any]
    streams: int
    """In the log."""
    streams_drawn: int
    """That answered moments lie in."""
    moments: int
    answered: int
    labels: int
    """Items that its answered moments need and somebody answered."""
    in_force: ShareEstimate
    streams_reason: str
    """Why there is no interval over streams, where there is none."""
    classes: Mapping[str, ShareEstimate]
    bounds: Range | None
    """In-force accuracy if every dispute and every "cannot tell" went against it, and if for it."""
    bounds_95: Range | None
    """The same with its intervals."""
    unclear: int
    """Moments that hang on a dispute or a "cannot tell"."""
    more: int | None
    """Further moments for the width asked for."""
    silver: SilverHelp | None

    @property
    def name(self) -> str:
        shown = ", ".join("–" if v is None else str(v) for v in self.by.values()) or "all"
        return printable(shown)


@dataclass(frozen=True, slots=True)
class GroupDifference:
    """One group against the first; causes add up to the whole."""

    group: GroupEstimate
    against: GroupEstimate
    in_force: ShareEstimate
    causes: Mapping[str, ShareEstimate]
    classes: Mapping[str, ShareEstimate]


@dataclass(frozen=True, slots=True)
class LogEstimate:
    """Everything `sdb logs estimate` says."""

    source: str
    by: tuple[str, ...]
    census: bool
    groups: tuple[GroupEstimate, ...]
    differences: tuple[GroupDifference, ...]
    agreement: LabelAgreement
    items: int
    answered: int
    """Items that somebody answered."""
    answers: int
    people: int
    disputes: tuple[str, ...]
    cannot_tell: int
    within: float
    """Half the width that `more` is about."""
    silver: Mapping[str, str] | None
    notes: tuple[str, ...]
    signature: str

    def to_json(self) -> dict[str, Any]:
        """Schema `sdb-estimate/1`: full precision, shares as fractions."""
        return {
            "schema": ESTIMATE_SCHEMA,
            "groups": [_group_json(group) for group in self.groups],
            "differences": [
                {
                    "by": dict(one.group.by),
                    "against": dict(one.against.by),
                    "in_force": one.in_force.to_json("value"),
                    "causes": {name: v.to_json("value") for name, v in one.causes.items()},
                    "classes": {name: v.to_json("value") for name, v in one.classes.items()},
                }
                for one in self.differences
            ],
            "agreement": {
                "items": self.agreement.items,
                "share": self.agreement.share,
                "alpha": self.agreement.alpha,
                "interval_95": _listed(self.agreement.interval_95),
                "reason": self.agreement.reason or None,
            },
            "census": self.census,
            "items": self.items,
            "answered": self.answered,
            "answers": self.answers,
            "people": self.people,
            "disputes": list(self.disputes),
            "cannot_tell": self.cannot_tell,
            "within": self.within,
            "silver": None if self.silver is None else dict(self.silver),
            "notes": list(self.notes),
            "signature": self.signature,
        }


def _group_json(group: GroupEstimate) -> dict[str, Any]:
    found: dict[str, Any] = {
        "by": dict(group.by),
        "moments": group.moments,
        "labels": group.labels,
        "in_force": group.in_force.value,
        "interval_95": _listed(group.in_force.interval_95),
        "interval_95_streams": _listed(group.in_force.interval_95_streams),
        "interval_95_streams_reason": group.streams_reason or None,
        "classes": {name: share.to_json() for name, share in group.classes.items()},
        "answered": group.answered,
        "streams": group.streams,
        "streams_drawn": group.streams_drawn,
        "bounds": _listed(group.bounds),
        "bounds_95": _listed(group.bounds_95),
        "unclear": group.unclear,
        "more_moments": group.more,
    }
    if group.silver is not None:
        found["silver"] = {
            "agreement": group.silver.agreement,
            "moments_without": group.silver.moments_without,
            "saved": group.silver.saved,
        }
    return found


def read_sample(audit: Path) -> AuditSample:
    """How an audit was drawn."""
    path = audit / SAMPLE_FILE
    found = read_json_as(path, AuditSample, fix="restore it, or draw the sample again")
    if found.schema != SCHEMA:
        raise InputError(f"schema is {found.schema!r:.60}, not {SCHEMA!r}", where=path)
    return found


def estimate_audit(
    folder: str | Path, *, within: float = 0.02, draws: int = DRAWS, seed: int = 0
) -> LogEstimate:
    """Reads an audit with everything answered so far, and says what its log is worth.

    `within` is the half width that "how many more" is about. Also writes `references.parquet`.
    """
    if not 0 < within < 0.5:
        raise InputError("--within is no number of points", fix="for example --within 2")
    audit = AuditFolder.open(folder)
    sample = read_sample(audit.path)
    notes = [*sample.notes, *_require_unchanged(sample, audit)]
    _require_items(sample, audit)
    labels = audit.read_labels()
    said = audit.said(labels)
    if not said:
        raise InputError(
            "nobody has answered anything yet",
            where=audit.path,
            fix=f"sdb label {audit.path} --as NAME, or sdb label {audit.path} --import TABLE",
        )
    judged = JudgedMoments.of(sample, said)
    rng = np.random.default_rng([seed, len(sample.moments)])
    groups = [
        _group(sample, judged, said, k, within, rng, draws) for k in range(len(sample.groups))
    ]
    write_references(audit.path / REFERENCES_FILE, sample, said)
    return LogEstimate(
        source=sample.source.name,
        by=tuple(sample.by),
        census=sample.census,
        groups=tuple(found for found, _ in groups),
        differences=tuple(_difference(one, groups[0]) for one in groups[1:]),
        agreement=audit.agreement(labels, seed),
        items=len(audit.items),
        answered=len(said),
        answers=labels.count,
        people=sum(bool(own) for own in labels.by_person.values()),
        disputes=tuple(name for name, one in said.items() if one.disputed),
        cannot_tell=sum(one.decision is None and not one.disputed for one in said.values()),
        within=within,
        silver=sample.silver,
        notes=(*notes, *labels.notes(), *_notes(sample, audit, labels, said, judged)),
        signature=f"{sample.signature} answered:{len(said)}/{len(audit.items)} draws:{draws}",
    )


@dataclass(frozen=True, slots=True)
class JudgedMoments:
    """The moments of an audit with what people say of them."""

    stratum: Ints
    column: Ints
    """The class, or `OPEN`."""
    unclear: NDArray[np.bool_]
    """Hangs on a dispute or a "cannot tell"."""
    older: NDArray[np.bool_]
    """Judged, and its class also needs the answer for an older state."""
    pending: NDArray[np.bool_]
    """That answer is open."""
    item: Ints
    source: Ints
    """The items it needs, numbered; −1: no second one."""
    share: Floats
    streams: tuple[str, ...]

    @classmethod
    def of(cls, sample: AuditSample, said: Mapping[str, Consensus]) -> JudgedMoments:
        """The class of a moment as the scorer has it: from the decision in force, what was right for
        the state it was given for, and what is right for the one that is current."""
        column, unclear, older, pending = [], [], [], []
        number: dict[str | None, int] = {None: -1}
        for moment in sample.moments:
            now = said.get(moment.item)
            own = now if moment.source is None else said.get(moment.source)
            column.append(
                OPEN
                if now is None
                else class_of(moment.decision, own and own.decision, now.decision)
            )
            unclear.append(now is not None and (now.disputed or now.decision is None))
            older.append(
                moment.source not in (None, moment.item)
                and moment.decision is not None
                and now is not None
                and now.decision is not None
            )
            pending.append(older[-1] and own is None)
            for name in (moment.item, moment.source):
                number.setdefault(name, len(number) - 1)
        return cls(
            np.array([m.stratum for m in sample.moments], dtype=np.int64),
            np.array(column, dtype=np.int64),
            np.array(unclear, dtype=bool),
            np.array(older, dtype=bool),
            np.array(pending, dtype=bool),
            np.array([number[m.item] for m in sample.moments], dtype=np.int64),
            np.array([number[m.source] for m in sample.moments], dtype=np.int64),
            np.array([m.share for m in sample.moments]),
            tuple(m.stream for m in sample.moments),
        )

    def take(self, keep: Ints) -> JudgedMoments:
        """These moments."""
        arrays = {
            name: getattr(self, name)[keep]
            for name in self.__dataclass_fields__
            if name != "streams"
        }
        return JudgedMoments(**arrays, streams=tuple(self.streams[k] for k in keep.tolist()))

    def of_group(self, strata: Sequence[int]) -> JudgedMoments:
        found = self.take(np.flatnonzero(np.isin(self.stratum, strata)))
        return replace(found, stratum=np.searchsorted(np.array(strata), found.stratum))

    @property
    def cell(self) -> Ints:
        """Of answered moments: the class; 8 + the class where two answers gave it; 16 where the second
        answer is open and the decision right, 17 where it is wrong."""
        right = np.isin(self.column, CORRECT)
        known = self.column + _WIDTH * self.older
        found: Ints = np.where(self.pending, np.where(right, 2 * _WIDTH, 2 * _WIDTH + 1), known)
        return found


def _classified(cells: Floats, weight: Floats) -> Floats:
    """Counts by class from counts by cell: what is pending is spread as what has both answers, by time.

    Leading axes are replicates. Without any that has both answers, a wrong decision is unattributed.
    """
    answered = cells.sum(axis=-1)
    per_count = weight / np.where(answered > 0, answered, 1.0)
    known, pending = cells[..., _WIDTH : 2 * _WIDTH], cells[..., 2 * _WIDTH :]
    found: Floats = cells[..., :_WIDTH] + known
    for side, classes in enumerate(_SIDES):
        time = np.einsum("...h,...hc->...c", per_count, known[..., classes])
        total = time.sum(axis=-1, keepdims=True)
        unknown = np.isin(classes, [CORRECT[0], ALL_CLASSES.index("unattributed")])
        part = np.where(total > 0, time / np.where(total > 0, total, 1.0), unknown)
        found[..., classes] += pending[..., side, None] * part[..., None, :]
    return found


@dataclass(frozen=True, slots=True)
class StratumCounts:
    """Answered moments of a group by stratum (row) and class (column), in shares of each stratum.

    `possible` says which classes time of a stratum can have: where nothing is in force, no decision is
    right.
    """

    weight: Floats
    """W of every stratum."""
    counts: Floats
    possible: NDArray[np.bool_]
    census: bool = False
    cells: Floats | None = None
    """Counts by `JudgedMoments.cell`; None where no answer is pending."""
    effective: tuple[Floats, Floats] | None = None
    """What a moment counts for in an interval, as one of the answered, and as one with both answers."""

    @property
    def shares(self) -> Floats | None:
        """Σ W·p by class; None where a stratum has no answer, and what it holds is not known anyway."""
        n = self.counts.sum(axis=1)
        p = self.counts / np.where(n > 0, n, 1.0)[:, None]
        silent = n == 0
        if silent.any():
            if self.possible[silent][:, :UNJUDGED].sum(axis=1).max() > 1:
                return None
            p[silent, self.possible[silent][:, :UNJUDGED].argmax(axis=1)] = 1.0
        found: Floats = self.weight @ p
        return found


def counted(strata: Sequence[Stratum], judged: JudgedMoments, *, census: bool) -> StratumCounts:
    """Answered moments, counted; in a census by how long they are."""
    keep = np.flatnonzero(judged.column != OPEN)
    weights = judged.share[keep] if census else np.ones(len(keep))
    width = 2 * _WIDTH + len(_SIDES)
    place = judged.stratum[keep] * width + judged.cell[keep]
    flat: Floats = np.bincount(place, weights, len(strata) * width).astype(np.float64)
    cells = flat.reshape(len(strata), width)
    weight = np.array([one.share for one in strata])
    nothing = np.array([one.says == NONE for one in strata])
    possible = np.ones((len(strata), _WIDTH), dtype=bool)
    possible[nothing] = False
    possible[:, NO_DECISION] = nothing
    possible[:, UNJUDGED] = True
    finished = len(keep) == len(judged.column) and not judged.pending.any()
    return StratumCounts(
        weight,
        _classified(cells, weight),
        possible,
        census,
        cells if judged.pending.any() else None,
        None if finished or census else _effective(judged, len(strata)),
    )


def _effective(judged: JudgedMoments, strata: int) -> tuple[Floats, Floats]:
    """What a moment counts for, by stratum: 1 unless several need the same item.

    With m moments of each answered item and a share f of the items answered, n moments are worth
    n / (1 + (1 − f)·(Σm²/n − 1)). With all items answered they are n independent draws.
    """
    answered = judged.column != OPEN
    found = []
    for items, keep in (
        (judged.item, answered),
        (judged.source, judged.older & ~judged.pending),
    ):
        needed = np.ones_like(answered) if items is judged.item else judged.older
        worth = np.ones(strata)
        for h in range(strata):
            own = items[keep & (judged.stratum == h)]
            if not len(own):
                continue
            moments = np.unique(own, return_counts=True)[1]
            share = len(moments) / len(np.unique(items[needed & (judged.stratum == h)]))
            together = float((moments.astype(np.float64) ** 2).sum()) / len(own) - 1
            worth[h] = 1 / (1 + (1 - share) * together)
        found.append(worth)
    return found[0], found[1]


@dataclass(frozen=True, slots=True)
class Melded:
    """Draws of a lower and an upper bound."""

    low: Floats
    high: Floats

    @property
    def interval_95(self) -> Range:
        return float(np.quantile(self.low, 0.025)), float(np.quantile(self.high, 0.975))

    def minus(self, other: Melded) -> Melded:
        return Melded(self.low - other.high, self.high - other.low)


def melded(
    found: StratumCounts,
    classes: Sequence[int],
    rng: np.random.Generator,
    draws: int = DRAWS,
    *,
    of_judged: bool = True,
) -> Melded:
    """Bounds of the share of time that has one of these classes; of judged time, or of all of it."""
    hits = found.counts[:, classes].sum(axis=1)
    unjudged = found.counts[:, UNJUDGED] if of_judged else np.zeros(len(hits))
    others = found.counts.sum(axis=1) - hits - unjudged
    if found.census:
        judged = (hits + others).sum()
        exact = np.full(1, hits.sum() / judged if judged > 0 else np.nan)
        return Melded(exact, exact)
    partly: list[tuple[Floats, Floats, Floats]] = []
    answered, with_both = found.effective or (np.ones(len(hits)), np.ones(len(hits)))
    if found.cells is not None:
        hits, others, partly = _with_pending(found.cells, classes, unjudged)
    hits, others, unjudged = hits * answered, others * answered, unjudged * answered
    partly = [(kind * answered, yes * with_both, no * with_both) for kind, yes, no in partly]
    # Whether anybody can tell is not asked again where nobody could not.
    settled = of_judged or not found.counts[:, UNJUDGED].any()
    rest = [k for k in range(_WIDTH) if k not in classes and not (k == UNJUDGED and settled)]
    can_hit = found.possible[:, classes].any(axis=1)
    can_miss = found.possible[:, rest].any(axis=1)
    nothing = hits + others + sum(kind for kind, _, _ in partly) == 0
    low = (hits + (nothing & ~can_miss), others + can_miss)
    high = (hits + can_hit, others + (nothing & ~can_hit))
    return Melded(
        _ratio(
            found.weight, *low, unjudged, rng, draws, [(kind, y, n + 1) for kind, y, n in partly]
        ),
        _ratio(
            found.weight, *high, unjudged, rng, draws, [(kind, y + 1, n) for kind, y, n in partly]
        ),
    )


def _with_pending(
    cells: Floats, classes: Sequence[int], unjudged: Floats
) -> tuple[Floats, Floats, list[tuple[Floats, Floats, Floats]]]:
    """Moments by stratum that have one of these classes for sure, that do not, and of each kind of which
    some are pending: how many there are, and with both answers how many have one of the classes and not."""
    hits = cells[:, :_WIDTH][:, classes].sum(axis=1)
    partly = []
    for side, of_side in enumerate(_SIDES):
        known, pending = cells[:, _WIDTH : 2 * _WIDTH][:, of_side], cells[:, 2 * _WIDTH + side]
        inside = np.isin(of_side, classes)
        yes, no = known[:, inside].sum(axis=1), known[:, ~inside].sum(axis=1)
        unsure = (pending > 0) & inside.any() & (not inside.all())
        hits = hits + np.where(unsure, 0.0, yes + pending * inside.all())
        kind = np.where(unsure, yes + no + pending, 0.0)
        partly.append((kind, np.where(unsure, yes, 0.0), np.where(unsure, no, 0.0)))
    others = cells.sum(axis=1) - hits - unjudged - sum(kind for kind, _, _ in partly)
    return hits, np.maximum(others, 0.0), partly


def _ratio(
    weight: Floats,
    hits: Floats,
    others: Floats,
    unjudged: Floats,
    rng: np.random.Generator,
    draws: int,
    partly: Sequence[tuple[Floats, Floats, Floats]] = (),
) -> Floats:
    """Σ W·hit / Σ W·(hit + other), the shares of every stratum drawn from their Dirichlet distribution.

    Of a kind in `partly` a part hits, drawn from its Beta distribution.
    """
    size = (draws, len(weight))
    hit, other = rng.standard_gamma(hits, size=size), rng.standard_gamma(others, size=size)
    for kind, yes, no in partly:
        if kind.any():
            time = rng.standard_gamma(kind, size=size)
            one, two = rng.standard_gamma(yes, size=size), rng.standard_gamma(no, size=size)
            part = one / np.where(one + two > 0, one + two, 1.0)
            hit, other = hit + time * part, other + time * (1 - part)
    judged = hit + other
    total = judged + rng.standard_gamma(unjudged, size=size) if unjudged.any() else judged
    found: Floats = ((hit / total) @ weight) / ((judged / total) @ weight)
    return found


def stream_replicates(
    strata: Sequence[Stratum], judged: JudgedMoments, found: StratumCounts, seed: int
) -> Floats | None:
    """Shares by class (column) in replicates of the log (row): a stream drawn k times brings its time
    and its moments k times. None where a stratum has no answer."""
    whole = found.shares
    if whole is None:
        return None
    time = np.array([one.replicates for one in strata]).T
    answered = np.flatnonzero(judged.column != OPEN)
    width = 2 * _WIDTH + len(_SIDES)
    one_hot = np.zeros((len(answered), len(strata) * width))
    place = judged.stratum[answered] * width + judged.cell[answered]
    one_hot[np.arange(len(answered)), place] = judged.share[answered]
    keys = stream_keys([judged.streams[k] for k in answered.tolist()], seed)
    cells = (poisson_weights(keys, len(time)).T @ one_hot).reshape(len(time), len(strata), width)
    counts = _classified(cells, time)
    n = counts.sum(axis=2, keepdims=True)
    own = found.counts / np.maximum(found.counts.sum(axis=1, keepdims=True), 1e-300)
    p = np.where(n > 0, counts / np.where(n > 0, n, 1.0), own[None])
    with np.errstate(invalid="ignore"):
        shares: Floats = np.einsum("bh,bhc->bc", time, p) / time.sum(axis=1)[:, None]
    return shares


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Bounds and replicates of a group, to take differences of."""

    counted: StratumCounts
    correct: Melded
    causes: Mapping[str, Melded]
    classes: Mapping[str, Melded]
    replicates: Floats | None


_OF_CAUSE = {cause: [ALL_CLASSES.index(name) for name in names] for cause, names in CAUSES.items()}


def _group(
    sample: AuditSample,
    every: JudgedMoments,
    said: Mapping[str, Consensus],
    group: int,
    within: float,
    rng: np.random.Generator,
    draws: int,
) -> tuple[GroupEstimate, _Drawn]:
    places = [k for k, one in enumerate(sample.strata) if one.group == group]
    strata = [sample.strata[k] for k in places]
    judged = every.of_group(places)
    census = sample.census
    found = counted(strata, judged, census=census)
    correct = melded(found, CORRECT, rng, draws)
    causes = {
        name: melded(found, columns, rng, draws)
        for name, columns in _OF_CAUSE.items()
        if name != UNKNOWN
    }
    classes = {
        name: melded(found, [k], rng, draws, of_judged=False) for k, name in enumerate(ALL_CLASSES)
    }
    causes[UNKNOWN] = melded(found, _OF_CAUSE[UNKNOWN], rng, draws)
    answered = judged.column != OPEN
    drawn = len({stream for stream, yes in zip(judged.streams, answered, strict=True) if yes})
    replicates, reason = None, ""
    if drawn < FEWEST_STREAMS:
        reason = f"answers from {plural(drawn, 'stream')}; below {FEWEST_STREAMS} they say little about others"
    else:
        replicates = stream_replicates(strata, judged, found, sample.seed)
        if replicates is None:
            reason = "a part of the time has no answer yet"
    unfinished = census and bool((~answered | judged.pending).any())
    shares = found.shares
    accuracy = _estimate(
        None if shares is None else _in_force(shares),
        None if unfinished else correct,
        None if replicates is None else _in_force(replicates),
    )
    needed = {
        name
        for moment, own in zip(sample.moments, np.isin(every.stratum, places), strict=True)
        if own
        for name in (moment.item, moment.source)
        if name is not None
    }
    bounds, bounds_95 = _bounds(strata, judged, census, rng, draws)
    return (
        GroupEstimate(
            by=sample.groups[group].by,
            streams=sample.groups[group].streams,
            streams_drawn=drawn,
            moments=len(answered),
            answered=int(answered.sum()),
            labels=sum(name in said for name in needed),
            in_force=accuracy,
            streams_reason=reason,
            classes={
                name: _estimate(
                    None if shares is None else float(shares[k]),
                    None if unfinished else classes[name],
                    None if replicates is None else replicates[:, k],
                )
                for k, name in enumerate(ALL_CLASSES)
            },
            bounds=bounds,
            bounds_95=None if unfinished else bounds_95,
            unclear=int(judged.unclear.sum()),
            more=_more(accuracy.interval_95, int(answered.sum()), within),
            silver=_silver_help(sample, said, places, found, accuracy, rng, draws),
        ),
        _Drawn(found, correct, causes, classes, replicates),
    )


def _estimate(
    value: float | Floats | None, bounds: Melded | None, replicates: Any
) -> ShareEstimate:
    interval = None
    if bounds is not None and np.isfinite(bounds.low).any():
        interval = bounds.interval_95
    streams = None
    if replicates is not None:
        known = replicates[np.isfinite(replicates)]
        if len(known):
            low, high = np.quantile(known, [0.025, 0.975])
            if interval is not None:
                low, high = min(low, interval[0]), max(high, interval[1])
            streams = float(low), float(high)
    number = None if value is None or not np.isfinite(value) else float(value)
    return ShareEstimate(number, interval, streams)


def _in_force(shares: Floats) -> Any:
    """Right over judged, along the last axis."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return shares[..., list(CORRECT)].sum(axis=-1) / (
            shares.sum(axis=-1) - shares[..., UNJUDGED]
        )


def _bounds(
    strata: Sequence[Stratum],
    judged: JudgedMoments,
    census: bool,
    rng: np.random.Generator,
    draws: int,
) -> tuple[Range | None, Range | None]:
    """Every dispute and every "cannot tell" against the decision in force, and for it."""
    nothing = np.array([one.says == NONE for one in strata])[judged.stratum]
    ends, intervals = [], []
    for column in (ALL_CLASSES.index("unattributed"), CORRECT[0]):
        turned = np.where(nothing, NO_DECISION, column)
        one = replace(judged, column=np.where(judged.unclear, turned, judged.column))
        found = counted(strata, one, census=census)
        shares = found.shares
        if shares is None or not np.isfinite(_in_force(shares)):
            return None, None
        ends.append(float(_in_force(shares)))
        intervals.append(melded(found, CORRECT, rng, draws).interval_95)
    return (ends[0], ends[1]), (intervals[0][0], intervals[1][1])


def _more(interval: Range | None, moments: int, within: float) -> int | None:
    """Widths shrink with the root of the number of moments."""
    if interval is None or not moments:
        return None
    half = (interval[1] - interval[0]) / 2
    return max(0, math.ceil(moments * ((half / within) ** 2 - 1) - 1e-9))


def _silver_help(
    sample: AuditSample,
    said: Mapping[str, Consensus],
    places: Sequence[int],
    found: StratumCounts,
    accuracy: ShareEstimate,
    rng: np.random.Generator,
    draws: int,
) -> SilverHelp | None:
    if sample.silver is None or sample.census:
        return None
    agreed = judged = 0.0
    for moment in sample.moments:
        now = said.get(moment.item)
        if moment.stratum in places and now and now.decision is not None and moment.silver:
            judged += moment.share
            agreed += moment.share * (moment.silver == now.decision)
    agreement = agreed / judged if judged else None
    shares = found.shares
    if accuracy.interval_95 is None or shares is None:
        return SilverHelp(agreement, None, None)
    # The same answers as far as they go, drawn from all time with a decision in force alike.
    n = found.counts.sum(axis=1)
    nothing = found.possible[:, NO_DECISION]
    own = shares - found.weight[nothing] @ (
        found.counts[nothing] / np.maximum(n[nothing], 1)[:, None]
    )
    decided = float(found.weight[~nothing].sum())
    if not decided:
        return SilverHelp(agreement, None, None)
    alike = StratumCounts(
        np.array([decided, *found.weight[nothing]]),
        np.array([own / decided * n[~nothing].sum(), *found.counts[nothing]]),
        np.array([found.possible[~nothing][0], *found.possible[nothing]]),
    )
    low, high = melded(alike, CORRECT, rng, draws).interval_95
    width = accuracy.interval_95[1] - accuracy.interval_95[0]
    if width <= 0:
        return SilverHelp(agreement, None, None)
    without = round(float(n.sum()) * ((high - low) / width) ** 2)
    return SilverHelp(agreement, without, without - int(n.sum()))


def _difference(
    one: tuple[GroupEstimate, _Drawn], two: tuple[GroupEstimate, _Drawn]
) -> GroupDifference:
    (group, own), (against, other) = one, two
    now, then = own.counted.shares, other.counted.shares
    whole = group.in_force.interval_95 is not None and against.in_force.interval_95 is not None

    def of_judged(shares: Floats | None) -> Floats | None:
        if shares is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = shares / (shares.sum(axis=-1) - shares[..., UNJUDGED])[..., None]
        return found

    values, before = of_judged(now), of_judged(then)
    drawn, drawn_before = of_judged(own.replicates), of_judged(other.replicates)

    def change(columns: Sequence[int], bounds: Melded, sign: float = 1.0) -> ShareEstimate:
        value = replicates = None
        if values is not None and before is not None:
            value = sign * float((values - before)[list(columns)].sum())
        if drawn is not None and drawn_before is not None:
            replicates = sign * (drawn - drawn_before)[:, list(columns)].sum(axis=1)
        signed = bounds if sign > 0 else Melded(-bounds.high, -bounds.low)
        return _estimate(value, signed if whole else None, replicates)

    return GroupDifference(
        group=group,
        against=against,
        in_force=change(CORRECT, own.correct.minus(other.correct)),
        causes={
            cause: change(columns, own.causes[cause].minus(other.causes[cause]), -1.0)
            for cause, columns in _OF_CAUSE.items()
        },
        classes={
            name: change([k], own.classes[name].minus(other.classes[name]))
            for k, name in enumerate(ALL_CLASSES)
            if k != UNJUDGED
        },
    )


def write_references(path: Path, sample: AuditSample, said: Mapping[str, Consensus]) -> None:
    """What people say was right, for `sdb logs score --references`; unless all of the log was asked,
    marked as a sample."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows: dict[tuple[str, float | int], str] = {}
    for moment in sample.moments:
        for name, published in (
            (moment.item, moment.published_at),
            (moment.source, moment.source_published_at),
        ):
            told = said.get(name) if name is not None else None
            if told is not None and told.decision is not None and published is not None:
                rows[moment.stream, published] = told.decision
    keys = sorted(rows)
    published_at = pa.array([at for _, at in keys])
    kind, *how = sample.source.clock
    if kind == "timestamp":
        published_at = published_at.cast(pa.int64()).cast(
            pa.timestamp(how[0], tz=how[1] if how[1:] else None)
        )
    else:
        published_at = published_at.cast(pa.float64())
    table = pa.table(
        {
            "stream": pa.array([stream for stream, _ in keys], pa.string()),
            "published_at": published_at,
            "reference": pa.array([rows[key] for key in keys], pa.string()),
        }
    )
    if not sample.census:
        table = table.append_column(SAMPLED, pa.array([True] * len(keys)))
    partial = path.with_name(f".{path.name}.partial")
    pq.write_table(table, partial)
    partial.replace(path)


def _require_unchanged(sample: AuditSample, audit: AuditFolder) -> list[str]:
    """Refuses a source that is there and not what it was; says where that cannot be found out."""
    source = sample.source
    unseen = [f"not checked whether {source.name} is still what was sampled"]
    if source.digest is None:
        return unseen if source.files else []
    try:
        now = digest_of(source.files)
    except (InputError, OSError):
        return unseen
    if now != source.digest:
        raise InputError(
            f"{source.name} has changed since the sample was drawn",
            where=audit.path,
            fix="bring it back as it was, or draw a new sample and import these answers",
        )
    return []


def _require_items(sample: AuditSample, audit: AuditFolder) -> None:
    needed = {m.item for m in sample.moments} | {m.source for m in sample.moments if m.source}
    missing = sorted(needed - set(audit.items))
    if missing or len(audit.items) != sample.items:
        raise InputError(
            f"items.jsonl is not the one that was drawn: {plural(len(audit.items), 'item')}, not"
            f" {sample.items}" + (f", and {missing[0]} is missing" if missing else ""),
            where=audit.path,
            fix="bring both files back as they were",
        )
    places = range(len(sample.strata))
    if any(m.stratum not in places for m in sample.moments) or any(
        one.group not in range(len(sample.groups)) for one in sample.strata
    ):
        raise InputError(
            "has moments of strata that it does not name",
            where=audit.path / SAMPLE_FILE,
            fix="restore it, or draw the sample again",
        )


def _notes(
    sample: AuditSample,
    audit: AuditFolder,
    labels: AuditLabels,
    said: Mapping[str, Consensus],
    judged: JudgedMoments,
) -> list[str]:
    """What every reader of the figures must be told."""
    found = []
    left = len(audit.items) - len(said)
    if left:
        found.append(
            f"{left} of {plural(len(audit.items), 'item')} are open: "
            + (
                "a census counts when every one is answered"
                if sample.census
                else "the figures are from the moments that are answered"
            )
        )
    if waiting := int(judged.pending.sum()):
        found.append(
            f"{waiting} of {plural(int(judged.older.sum()), 'moment')} whose decision was for an older state wait for"
            " the answer about that state: their classes are estimated from the others"
        )
    if sum(bool(own) for own in labels.by_person.values()) == 1:
        found.append("one person answered: nobody knows how far another would agree")
    return found


def _listed(interval: Range | None) -> list[float] | None:
    return None if interval is None else [interval[0], interval[1]]
