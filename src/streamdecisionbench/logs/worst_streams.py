"""Single streams of a log, kept while it is scored: those with the most wrong time, or one by its name;
and which decision was in force while which was right, in seconds.

Seconds are the score's: at its pace, times the stream's weight. What the streams lost adds up to what
the score lost, and the seconds of all pairs of decisions to its judged time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from streamdecisionbench.errors import InputError
from streamdecisionbench.kernel.arrays import (
    Floats,
    Ints,
    JoinedTimelines,
)
from streamdecisionbench.kernel.classes import (
    CORRECT,
    UNJUDGED,
)
from streamdecisionbench.kernel.shares import classify_time
from streamdecisionbench.kernel.trajectory import activations_of
from streamdecisionbench.logs.stream_arrays import (
    StreamArrays,
    plain_array,
    shown_values,
    text_column,
)
from streamdecisionbench.text import (
    decision_text,
    printable,
)

if TYPE_CHECKING:
    import pyarrow as pa

Key = tuple[Any, ...]
"""The values of the columns that streams are grouped by."""
Mix = tuple[str | None, str]
"""What was in force (None: nothing yet) while what was right."""
NOTHING_YET = "no decision"
_MOST_MIXES = 100_000


@dataclass(frozen=True, slots=True)
class StreamsAsked:
    """Which streams are kept: at most so many, by wrong time or by the time of one mix-up; or those of one
    name."""

    most: int = 5
    stream: str | None = None
    mix: Mix | None = None
    states: bool = False
    """With the states themselves."""


@dataclass(frozen=True, slots=True)
class ShownStream:
    """One stream, at the pace of the score; times in seconds since its first state."""

    name: str
    group: Key
    began: str
    """When, as the log has it."""
    seconds: Floats
    """By class, columns as in `ALL_CLASSES`, times its weight."""
    rank: float
    """By what it is among those kept."""
    weight: float
    release: tuple[float, ...]
    latency: tuple[float, ...]
    references: tuple[str | None, ...]
    decisions: tuple[str | None, ...]
    end: float
    states: tuple[str | None, ...] | None = None
    taken: tuple[tuple[float, int, str | None], ...] | None = None
    """Where a policy decided: from when on the decision of which step was in force; None: nothing was."""

    @property
    def judged_s(self) -> float:
        return float(self.seconds.sum() - self.seconds[UNJUDGED])

    @property
    def wrong_s(self) -> float:
        return self.judged_s - float(self.seconds[list(CORRECT)].sum())


@dataclass
class StreamsShown:
    """The streams kept so far, the worst first, and the seconds of every mix-up by group."""

    asked: StreamsAsked = field(default_factory=StreamsAsked)
    kept: list[ShownStream] = field(default_factory=list)
    mixes: dict[Key, dict[Mix, float]] = field(default_factory=dict)
    wrong: list[Floats] = field(default_factory=list)
    """The wrong seconds of all streams."""

    def take(
        self,
        found: StreamArrays,
        table: pa.Table,
        flats: Iterable[tuple[slice, JoinedTimelines]],
        groups: Sequence[tuple[Key, Ints]],
        seconds: Floats,
        interval: float | None,
    ) -> None:
        """Adds streams of a batch; `seconds` are theirs by class."""
        texts: list[str] = found.texts if isinstance(found.texts, list) else found.texts.to_pylist()
        of: Ints = np.zeros(len(found.n), dtype=np.int64)
        for k, (_, streams) in enumerate(groups):
            of[streams] = k
        scale = np.ones(len(found.n)) if interval is None else interval / found.tick
        wrong = seconds.sum(axis=1) - seconds[:, UNJUDGED] - seconds[:, CORRECT].sum(axis=1)
        self.wrong.append(np.maximum(wrong, 0.0))
        rank = wrong
        keys = [key for key, _ in groups]
        mixed = self._add_mixes(flats, interval, found.weight * scale, of, keys, texts)
        if self.asked.mix is not None:
            rank = mixed
        names = [str(n) for n in plain_array(table.column("stream").take(found.row)).to_pylist()]
        chosen = [k for k, name in enumerate(names) if name == self.asked.stream]
        if self.asked.stream is None:
            chosen = np.flatnonzero(rank > 1e-12 if self.asked.mix else rank > -np.inf).tolist()
            chosen.sort(key=lambda k: (-rank[k], names[k]))
            chosen = chosen[: self.asked.most]
            if len(self.kept) == self.asked.most:
                chosen = [k for k in chosen if rank[k] >= self.kept[-1].rank]
        begins = np.cumsum(found.n) - found.n
        for k in chosen:
            span = slice(int(begins[k]), int(begins[k] + found.n[k]))
            rows = table.take(found.rows[span])
            self.kept.append(
                ShownStream(
                    name=names[k],
                    group=groups[int(of[k])][0],
                    began=str(
                        shown_values(plain_array(rows.column("published_at").slice(0, 1)))[0]
                    ),
                    seconds=seconds[k],
                    rank=float(rank[k]),
                    weight=float(found.weight[k]),
                    release=tuple((found.r[span] * scale[k]).tolist()),
                    latency=tuple(found.L[span].tolist()),
                    references=_words(texts, found.y[span]),
                    decisions=_words(texts, found.p[span]),
                    end=float(found.H[k] * scale[k]),
                    states=tuple(text_column(plain_array(rows.column("state"))).to_pylist())
                    if self.asked.states
                    else None,
                    taken=_taken(found, k, int(begins[k]), float(scale[k]), texts),
                )
            )
        self._prune()

    def merge(self, other: StreamsShown) -> None:
        self.kept += other.kept
        self.wrong += other.wrong
        for key, seconds in other.mixes.items():
            own = self.mixes.setdefault(key, {})
            for mix, one in seconds.items():
                own[mix] = own.get(mix, 0.0) + one
        self._prune()

    def mixes_of(self, key: Key | None = None) -> dict[Mix, float]:
        """Seconds in force against right, of one group or of all; the longest first."""
        total: dict[Mix, float] = {}
        for group, seconds in self.mixes.items():
            if key is None or group == key:
                for mix, one in seconds.items():
                    total[mix] = total.get(mix, 0.0) + one
        return dict(sorted(total.items(), key=lambda item: (-item[1], str(item[0]))))

    def require(self, where: str) -> None:
        """Refuses where what was asked for is not in the log."""
        asked = self.asked
        if not self.kept and asked.stream is not None:
            raise InputError(
                f"has no stream {asked.stream!r} that can be used",
                where=where,
                fix="names are those of the column `stream`; --worst 5 shows some",
            )
        if self.kept or asked.mix is None:
            return
        wrong = [mix for mix in self.mixes_of() if mix[0] != mix[1]][:3]
        raise InputError(
            f"{mix_shown(asked.mix)} never happened",
            where=where,
            fix="the most time went to " + "; ".join(map(mix_shown, wrong))
            if wrong
            else "nothing was wrong",
        )

    def _add_mixes(
        self,
        flats: Iterable[tuple[slice, JoinedTimelines]],
        interval: float | None,
        weight: Floats,
        of: Ints,
        keys: Sequence[Key],
        texts: Sequence[str],
    ) -> Floats:
        """Adds the seconds of every pair of decisions; of each stream those of the pair asked for."""
        asked = self.asked.mix
        found = np.zeros(len(of))
        width = len(texts) + 1
        for streams, flat in flats:
            effects = activations_of(flat, flat.arrivals(flat.scale(interval)))
            cut = classify_time(flat, effects)
            judged = np.flatnonzero(flat.y[cut.step] >= 0)
            stream = cut.scenario[judged] + streams.start
            # Ids of the batch again, as `texts` has them; −1 before the first answer.
            offset = flat.offset[cut.scenario[judged]]
            held = np.append(effects.decision, -1)[cut.piece[judged]]
            held = np.where(held < 0, -1, held - offset)
            right = flat.y[cut.step[judged]] - offset
            seconds = (cut.end - cut.begin)[judged] * weight[stream]
            code = (of[stream] * width + held + 1) * width + right
            codes, place = np.unique(code, return_inverse=True)
            sums = np.bincount(place, seconds, len(codes))
            for one, total in zip(codes.tolist(), sums.tolist(), strict=True):
                rest, y = divmod(one, width)
                group, p = divmod(rest, width)
                own = self.mixes.setdefault(keys[group], {})
                mix = (texts[p - 1] if p else None, texts[y])
                if mix in own or len(own) < _MOST_MIXES:
                    own[mix] = own.get(mix, 0.0) + total
            if asked is not None:
                wanted = [k for k, text in enumerate(texts) if text == asked[0]] or [-2]
                same = np.isin(held, wanted if asked[0] is not None else [-1])
                same &= np.isin(right, [k for k, text in enumerate(texts) if text == asked[1]])
                found += np.bincount(stream[same], seconds[same], len(found))
        return found

    def _prune(self) -> None:
        self.kept.sort(key=lambda one: (-one.rank, one.name, str(one.group)))
        if self.asked.stream is None:
            del self.kept[self.asked.most :]


def mix_asked(in_force: str, right: str) -> Mix:
    """Two decisions as a user writes them."""
    one, two = decision_text(in_force), decision_text(right)
    if one is None or two is None:
        given = in_force if one is None else right
        raise InputError(
            f"--confusion {given}: begins like JSON and is none", fix="write the decision whole"
        )
    return None if one == NOTHING_YET else one, two


def mix_shown(mix: Mix) -> str:
    """For people.

    >>> mix_shown((None, "stop")), mix_shown(("hold", "stop"))
    ('no decision in force while stop was right', 'hold in force while stop was right')
    """
    return f"{printable(mix[0] or NOTHING_YET)} in force while {printable(mix[1])} was right"


def group_name(key: Sequence[Any]) -> str:
    """For people, without what a terminal might obey."""
    return printable(", ".join("–" if v is None else str(v) for v in key) or "all")


def _taken(
    found: StreamArrays, k: int, begin: int, scale: float, texts: Sequence[str]
) -> tuple[tuple[float, int, str | None], ...] | None:
    trace = found.policy
    if trace is None or not trace.decided[k]:
        return None
    mine = np.flatnonzero(trace.stream == k)
    said = _words(texts, trace.decision[mine])
    at = (trace.begin[mine] * scale).tolist()
    return tuple(zip(at, (trace.source[mine] - begin).tolist(), said, strict=True))


def _words(texts: Sequence[str], ids: Ints) -> tuple[str | None, ...]:
    return tuple(texts[k] if k >= 0 else None for k in ids.tolist())


def wrong_shares(wrong: Sequence[Floats]) -> Mapping[str, float]:
    """How wrong time lies in streams: how many there are, how many hold half of it, how many have none."""
    every = np.sort(np.concatenate([*wrong, np.zeros(0)]))[::-1]
    half = int(np.searchsorted(np.cumsum(every), every.sum() / 2)) + 1 if every.sum() > 0 else 0
    return {
        "streams": len(every),
        "half": half,
        "without": int(np.count_nonzero(every <= 1e-12)),
        "wrong_s": float(every.sum()),
    }
