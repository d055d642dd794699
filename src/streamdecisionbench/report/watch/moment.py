"""What the page shows at one moment: the running score, and the streams that have changed.

Of a recording, scenarios count alike within their family and families alike, as in `sdb score`; of a
meter's log every second counts alike, as in `sdb logs score`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from streamdecisionbench.report.watch.lanes import StreamView, view_of
from streamdecisionbench.report.watch.source import Source
from streamdecisionbench.scoring.classes import ALL_CLASSES
from streamdecisionbench.scoring.timeline import Floats

__all__ = ["Watcher"]

SHOWN = 60
"""Streams the page gets, the newest; all of them count."""

_HISTORY = 400
_RIGHT = [ALL_CLASSES.index(name) for name in ("current_correct", "outdated_correct")]
_UNJUDGED = ALL_CLASSES.index("unjudged")


class Watcher:
    """Reads a source again and again, and remembers what the page needs."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._views: dict[str, StreamView] = {}
        self._versions: dict[str, int] = {}
        self._history: list[tuple[float, dict[str, float]]] = []
        self._before: tuple[object, ...] = ()
        self.version = 0
        """Grows whenever there is something new to show."""

    def look(self) -> bool:
        """Reads on; whether anything is new."""
        streams = self._source.poll()
        if self._source.forgotten():
            self._views.clear()
            self._versions.clear()
            self._history.clear()
        facts = tuple(self._source.facts().items())
        if not streams and facts == self._before:
            return False
        self._before = facts
        self.version += 1
        for stream in streams:
            view = view_of(stream)
            if view is not None:
                self._views[stream.id] = view
                self._versions[stream.id] = self.version
        self._remember()
        return True

    def moment(self, since: int = 0) -> dict[str, Any]:
        """The page's JSON; of streams only what has changed after version `since`."""
        ordered = sorted(self._views.values(), key=lambda view: view.stream.began)
        shown = ordered[-SHOWN:]
        return {
            "version": self.version,
            "kind": self._source.kind,
            "pooled": self._source.pooled,
            "facts": self._source.facts(),
            "streams": len(ordered),
            "components": [self._component(name) for name in self._names()],
            "order": [view.stream.id for view in shown],
            "changed": [view.json for view in shown if self._versions[view.stream.id] > since],
            "history": self._history,
        }

    def _names(self) -> list[str]:
        names: dict[str, None] = {}
        for view in self._views.values():
            names |= dict.fromkeys(view.seconds)
        return list(names)

    def _component(self, name: str) -> dict[str, Any]:
        views = [view for view in self._views.values() if name in view.seconds]
        classes = self._classes(name, views)
        latencies = np.sort([x for view in views for x in view.latencies[name]])
        return {
            "name": name,
            "in_force": _in_force(classes),
            "classes": classes.tolist(),
            "observed_s": float(sum(view.seconds[name].sum() for view in views)),
            "streams": len(views),
            "states": sum(len(view.stream.release) for view in views),
            "answers": sum(
                lane["answers"]
                for view in views
                for lane in view.json["lanes"]
                if lane["component"] == name
            ),
            "latency": _quantiles(latencies),
        }

    def _classes(self, name: str, views: list[StreamView]) -> Floats:
        """Shares of observed time, columns as in `ALL_CLASSES`."""
        if self._source.pooled:
            seconds = np.sum([view.seconds[name] for view in views], axis=0)
            pooled: Floats = seconds / seconds.sum()
            return pooled
        families: dict[str, list[Floats]] = {}
        for view in views:
            seconds = view.seconds[name]
            families.setdefault(view.stream.group, []).append(seconds / seconds.sum())
        macro: Floats = np.mean([np.mean(f, axis=0) for f in families.values()], axis=0)
        return macro

    def _remember(self) -> None:
        """The running score over observed time; every other point goes when there are many."""
        now: dict[str, float] = {}
        observed = 0.0
        for name in self._names():
            part = self._component(name)
            if part["in_force"] is not None:
                now[name] = part["in_force"]
                observed = max(observed, part["observed_s"])
        if now and (not self._history or self._history[-1] != (observed, now)):
            self._history.append((observed, now))
        if len(self._history) > _HISTORY:
            del self._history[1:-1:2]


def _in_force(classes: Floats) -> float | None:
    judged = 1.0 - float(classes[_UNJUDGED])
    return float(classes[_RIGHT].sum()) / judged if judged > 1e-12 else None


def _quantiles(values: Floats) -> Mapping[str, float] | None:
    if not len(values):
        return None
    names = {"min": 0.0, "p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "max": 1.0}
    ranks = np.array(list(names.values())) * (len(values) - 1)
    found = np.interp(ranks, np.arange(len(values)), values)
    return dict(zip(names, map(float, found), strict=True))
