"""A log's score as one self-contained page: groups, where the time went, day by day, what was mixed up, and
single streams as lanes, the worst first. Everything was added up when the log was scored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from streamdecisionbench.kernel.classes import (
    ALL_CLASSES,
    CLASSES,
)
from streamdecisionbench.logs.lanes import (
    logged_stream,
    view_of,
)
from streamdecisionbench.logs.log_score import (
    LogGroup,
    LogScore,
    causes_json,
)
from streamdecisionbench.logs.log_sums import DAY
from streamdecisionbench.logs.log_tables import difference_lines, log_tables, lost_words
from streamdecisionbench.logs.worst_streams import (
    ShownStream,
    StreamsAsked,
    group_name,
    wrong_shares,
)
from streamdecisionbench.render.html_page import (
    Json,
    asset,
    classes,
    one_file,
)
from streamdecisionbench.render.table import Table

MOST_STREAMS = 5000
"""Streams on a page, those with the most wrong time."""
_MOST_STATES = 60_000
"""States whose lanes are drawn, over all streams: about five megabytes."""
_MOST_TEXT = 4_000_000
"""Characters of states."""
_MIXES = 400
"""Pairs of decisions of a group, those with the most time."""
UNJUDGED_CLASS = "unjudged"
"""Left out of the bars: their shares are of judged time, as in the terminal."""
_SCRIPTS = ("axes.js", "tracks.js", "streams.js")


def streams_on_page(*, states: bool) -> StreamsAsked:
    """What a score must keep for its page."""
    return StreamsAsked(most=MOST_STREAMS, states=states)


def log_page(score: LogScore) -> str:
    """The page as HTML. Text from the log is data: none of it is markup."""
    title = f"Decisions in force: {score.source}"
    body = (
        "  <h1>How much of the time is the decision in force right?</h1>\n"
        f'  <p class="source"><bdi>{escape(score.source)}</bdi></p>\n'
        '  <nav aria-label="Sections"><ul id="contents"></ul></nav>\n</header>\n'
        '<main id="main"><noscript><section><p>This page draws its figures in the browser, so it needs'
        " JavaScript. It loads nothing from anywhere.</p></section></noscript></main>"
    )
    return one_file(
        body,
        _payload(score),
        title=title,
        skip="streams",
        scripts=[*map(asset, _SCRIPTS), asset("log_page.js", "logs")],
    )


def _payload(score: LogScore) -> Json:
    known = all(group.judged_share > 1 - 1e-12 for group in score.groups)
    places = {tuple(group.by.values()): k for k, group in enumerate(score.groups)}
    first, second, third, *others = log_tables(score)
    words: dict[str, int] = {}
    streams = [_stream(one, places, words) for one in _drawn(score.shown.kept)]
    return {
        "classes": classes(CLASSES if known else ALL_CLASSES),
        "source": score.source,
        "by": " and ".join(score.settings.by),
        "what": first.title,
        "differences": difference_lines(score),
        "notes": list(score.notes),
        "signature": score.signature,
        "groups": [_group(group) for group in score.groups],
        "tables": [_table(table) for table in (first, second, third)],
        "costs": [_table(table) for table in others],
        "days": [_day(day, places) for day in score.days],
        "mixes": [
            [[_word(p, words), _word(y, words), s] for (p, y), s in _longest(score, key)]
            for key in places
        ],
        "wrong": dict(wrong_shares(score.shown.wrong)),
        "streams": streams,
        "words": list(words),
        "states": score.settings.show is not None and score.settings.show.states,
    }


def _group(group: LogGroup) -> Json:
    return {
        "name": group.name,
        "inForce": group.in_force,
        "interval": group.interval_95,
        "classes": [
            0.0 if name == UNJUDGED_CLASS else group.of_judged(name) or 0.0 for name in ALL_CLASSES
        ],
        "causes": causes_json(group.causes),
        "lost": lost_words(group),
        "streams": group.streams,
        "judgedStreams": group.judged_streams,
        "states": group.decisions,
        "judged": group.judged_share,
        "untimed": group.untimed,
        "seconds": group.seconds,
        "p50": group.latency.get("p50"),
        "p95": group.latency.get("p95"),
        "cascade": group.cascade > 0,
        "members": [
            {"name": name, "p50": took["p50"], "p95": took["p95"]}
            for name, took in group.member_latency.items()
        ],
        "simulated": group.marks["simulated"] > 0,
        "virtual": group.marks["virtual_clock"] > 0,
    }


def _table(table: Table) -> Json:
    return {
        "title": table.title,
        "columns": [{"label": c.name, "text": c.kind == "text"} for c in table.columns],
        "rows": [list(row) for row in table.texts()],
        "notes": list(table.notes),
    }


def _day(day: LogGroup, places: dict[tuple[object, ...], int]) -> Json:
    """A day of a group, or the day that is a group."""
    key = tuple(value for name, value in day.by.items() if name != DAY)
    return {
        "day": day.by[DAY],
        "group": places.get(key, 0),
        "inForce": day.in_force,
        "interval": day.interval_95,
        "streams": day.streams,
    }


def _longest(
    score: LogScore, key: tuple[object, ...]
) -> Iterable[tuple[tuple[str | None, str], float]]:
    return list(score.shown.mixes_of(key).items())[:_MIXES]


def _drawn(kept: Sequence[ShownStream]) -> Iterable[tuple[ShownStream, bool]]:
    """Streams with whether there is room for their lanes."""
    states = text = 0
    for one in kept:
        states += len(one.release)
        text += sum(len(state or "") for state in one.states or ())
        yield one, states <= _MOST_STATES and text <= _MOST_TEXT


def _stream(
    given: tuple[ShownStream, bool], places: dict[tuple[object, ...], int], words: dict[str, int]
) -> Json:
    """A stream as scripts draw it, decisions by their place among all words."""
    one, drawn = given
    found: Json = {
        "id": one.name,
        "group": places.get(one.group, 0),
        "groupName": group_name(one.group),
        "began": one.began,
        "wrong": one.wrong_s,
        "judged": one.judged_s,
        "seconds": one.seconds.tolist(),
        "states": len(one.release),
        "to": one.end,
    }
    view = view_of(logged_stream(one)) if drawn else None
    if view is not None:
        (lane,) = view.json["lanes"]
        found["pieces"] = [[*p[:4], _word(p[4], words)] for p in lane["pieces"]]
        found["reference"] = [[a, b, _word(y, words), k] for a, b, y, k in view.json["reference"]]
        if one.states is not None:
            found["published"] = [round(at, 6) for at in one.release]
            found["said"] = list(one.states)
    return found


def _word(text: str | None, words: dict[str, int]) -> int:
    return -1 if text is None else words.setdefault(text, len(words))
