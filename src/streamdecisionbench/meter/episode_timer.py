"""Wrong spells as they happen: how long it has been wrong, how often, how much beyond a limit.

A stretch of time is *wrong* while the decision in force is not what is known to be right, *calm* while
it is right or nobody will ever know, and *pending* while the current step may still be judged. Adjacent
wrong stretches are one spell, whatever the order in which they were judged. So a lane keeps what borders
on its pending steps, a few entries for each of them, and joins entries as steps are judged; a spell with
calm on both sides is over and forgotten.

With ℓ the lengths of spells so far, every counter is one of

    E₁(κ) = Σ max(0, ℓ − κ)        E₂(κ) = Σ max(0, ℓ − κ)²/2

at some κ: the age integral is E₂(0), the time beyond θ is E₁(θ), and the penalties of a cost file are
made of them. Joining spells only makes both larger, so no counter goes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Protocol

WRONG, CALM, PENDING = range(3)
OPEN = -1
"""The end of what still runs."""

Part = tuple[int, int, int]
"""Kind, begin and end of a stretch."""


class TimedStep(Protocol):
    """A step of a lane, which keeps its run while that is pending."""

    run: Run | None


class Run:
    """A wrong spell so far, a calm stretch, or a pending step; linked in the order of time."""

    __slots__ = ("after", "before", "begin", "counted", "end", "kind", "step")

    def __init__(self, kind: int, begin: int, end: int, step: TimedStep | None = None) -> None:
        self.kind = kind
        self.begin = begin
        self.end = end
        self.step = step
        self.counted = False
        self.before: Run | None = None
        self.after: Run | None = None


class Excess:
    """E₁(κ) and E₂(κ) at any moment, of spells that are over and of those that run."""

    __slots__ = (
        "_first", "_heap", "_knee", "_number", "_past", "_running", "_second", "_since", "_squares",
    )  # fmt: skip

    def __init__(self, knee: int) -> None:
        self._knee = knee
        self._first = self._second = 0
        self._running = self._number = 0
        self._past: dict[Run, int] = {}
        """Running spells longer than κ, and since when they are."""
        self._since = self._squares = 0
        """Σ of these moments, and of their squares."""
        self._heap: list[tuple[int, int, Run]] = []
        """When running spells will be that long, the first one first; some no longer run."""

    def add(self, run: Run) -> None:
        """A spell counts as it stands."""
        if run.end != OPEN:
            self._counts(run, 1)
            return
        self._running += 1
        at = run.begin + self._knee
        if self._knee == 0:
            self._passes(run, at)
            return
        self._number += 1
        heappush(self._heap, (at, self._number, run))
        if len(self._heap) > 64 + 4 * self._running:
            self._heap = [one for one in self._heap if self._comes(one)]
            heapify(self._heap)

    def remove(self, run: Run) -> None:
        """As it stands it does not."""
        if run.end != OPEN:
            self._counts(run, -1)
            return
        self._running -= 1
        at = self._past.pop(run, None)
        if at is not None:
            self._since -= at
            self._squares -= at * at

    def read(self, now: int) -> tuple[int, int]:
        """E₁ in grains, and twice E₂ in squares of them."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            one = heappop(heap)
            if self._comes(one):
                self._passes(one[2], one[0])
        past = len(self._past)
        return (
            self._first + past * now - self._since,
            self._second + past * now * now - 2 * now * self._since + self._squares,
        )

    def _counts(self, run: Run, times: int) -> None:
        over = run.end - run.begin - self._knee
        if over > 0:
            self._first += times * over
            self._second += times * over * over

    def _passes(self, run: Run, at: int) -> None:
        self._past[run] = at
        self._since += at
        self._squares += at * at

    def _comes(self, one: tuple[int, int, Run]) -> bool:
        at, _, run = one
        return run.end == OPEN and at == run.begin + self._knee and run not in self._past


class SpellSums:
    """Spells of one component over all its streams: how many, and E₁ and E₂ by owner and κ."""

    __slots__ = ("_excess", "_fresh", "_fresh_at", "_spells")

    def __init__(self) -> None:
        self._excess: dict[tuple[object, int], Excess] = {}
        self._spells = self._fresh = 0
        self._fresh_at = OPEN
        """When the youngest spells began: at that very moment they may still turn out to be none."""

    def excess(self, owner: object, knee: int) -> Excess:
        return self._excess.setdefault((owner, knee), Excess(knee))

    def spells(self, now: int) -> int:
        return self._spells - (self._fresh if now == self._fresh_at else 0)

    def begins(self, run: Run) -> None:
        self._spells += 1
        if run.end == OPEN and run.begin > self._fresh_at:
            self._fresh_at, self._fresh = run.begin, 0
        if run.end == OPEN and run.begin == self._fresh_at:
            self._fresh += 1

    def never_was(self, run: Run) -> None:
        """It ended at the moment it began."""
        self._spells -= 1
        if run.begin == self._fresh_at:
            self._fresh -= 1


class LaneSpells:
    """The spells of one component on one stream. Times are grains, never decreasing."""

    __slots__ = ("_excess", "_sums", "_tail")

    def __init__(self, sums: SpellSums, excess: Sequence[Excess]) -> None:
        self._sums = sums
        self._excess = excess
        self._tail: Run | None = None

    def goes_on(self, kind: int, step: TimedStep, now: int) -> None:
        """From `now` on it is wrong, or calm, or not known yet because of `step`."""
        tail = self._without_empty(now, kind, step)
        if tail is not None and _alike(tail, kind, step):
            if kind == WRONG and tail.end != OPEN:
                self._reaches(tail, OPEN)
            return
        self._closes(tail, now)
        run = Run(kind, now, OPEN, step if kind == PENDING else None)
        if kind == PENDING:
            step.run = run
        self._link(tail, run, None)

    def ends(self, now: int) -> None:
        """The stream is over."""
        self._closes(self._without_empty(now), now)

    def turns_out(self, step: TimedStep, parts: Sequence[Part]) -> None:
        """What a pending step was, in the order of time, now that it is judged or given up."""
        run = step.run
        if run is None:
            return
        last, right = run.before, run.after
        self._unlink(run)
        new: list[Run | None] = []
        for kind, begin, end in parts:
            if begin == end:
                continue
            if last is not None and last.kind == kind:
                if kind == WRONG:
                    self._reaches(last, end)
            else:
                one = Run(kind, begin, end)
                self._link(last, one, right)
                last = one
                new.append(one)
        if last is not None and right is not None and last.kind == right.kind != PENDING:
            end = right.end
            self._unlink(right)
            if last.kind == WRONG:
                self._reaches(last, end)
            right = last.after
        if right is not None:
            self._counts(right)
        for found in (*new, right, right.after if right is not None else None):
            if found is not None and found.kind == CALM and found.after is not None:
                self._forgets_before(found)

    def _without_empty(
        self, now: int, kind: int = OPEN, step: TimedStep | None = None
    ) -> Run | None:
        """The last entry, once those that lasted for nothing are gone."""
        tail = self._tail
        while tail is not None and tail.begin == now and not _alike(tail, kind, step):
            self._unlink(tail)
            tail = self._tail
        return tail

    def _closes(self, tail: Run | None, now: int) -> None:
        if tail is not None and tail.kind == WRONG and tail.end == OPEN:
            self._reaches(tail, now)
        elif tail is not None and tail.kind == CALM:
            self._forgets_before(tail)

    def _reaches(self, run: Run, end: int) -> None:
        for excess in self._excess:
            excess.remove(run)
        run.end = end
        for excess in self._excess:
            excess.add(run)

    def _counts(self, run: Run) -> None:
        """A spell is counted once it is known where it began."""
        before = run.before
        if run.kind == WRONG and not run.counted and (before is None or before.kind == CALM):
            run.counted = True
            self._sums.begins(run)

    def _forgets_before(self, calm: Run) -> None:
        """A spell between this and other calm, or the stream's beginning, is over."""
        spell = calm.before
        if spell is None or spell.kind != WRONG:
            return
        earlier = spell.before
        if earlier is not None and earlier.kind == PENDING:
            return
        calm.before = None if earlier is None else earlier.before
        if calm.before is not None:
            calm.before.after = calm

    def _link(self, before: Run | None, run: Run, after: Run | None) -> None:
        run.before, run.after = before, after
        if before is not None:
            before.after = run
        if after is not None:
            after.before = run
        else:
            self._tail = run
        if run.kind == WRONG:
            for excess in self._excess:
                excess.add(run)
            self._counts(run)

    def _unlink(self, run: Run) -> None:
        """Takes out an entry and what it counted for."""
        if run.before is not None:
            run.before.after = run.after
        if run.after is not None:
            run.after.before = run.before
        else:
            self._tail = run.before
        if run.step is not None:
            run.step.run = None
        if run.kind == WRONG:
            for excess in self._excess:
                excess.remove(run)
            run.end = run.begin
            if run.counted:
                self._sums.never_was(run)


def _alike(run: Run, kind: int, step: TimedStep | None) -> bool:
    return run.kind == kind and (kind != PENDING or run.step is step)
