"""What keeps runs of one model from looking alike: it goes into every signature, or before it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from streamdecisionbench.recording.retry import RATE_LIMIT
from streamdecisionbench.text import (
    plural,
    printable,
)

if TYPE_CHECKING:
    from streamdecisionbench.recording.recording import Recording

_WORDS = {
    "service_tier": "tier",
    "speed": "speed",
    "cache_control": "cache",
    "prompt_cache_key": "cache_key",
    "input": "input",
    "order": "order",
    "prompt_sha256": "prompt",
}
"""Setting of a component → its word in a signature."""

PROFILE = "answers and latencies were drawn from a declared profile"
SIMULATION = f"simulation: {PROFILE}"
SERVICE_TIMES = "service times measured one by one or declared, queueing simulated"
VIRTUAL_CLOCK = f"virtual clock: {SERVICE_TIMES}"
DECLARED_LATENCY = "declared latency: in place of the time the component takes"
_USUAL = {"input": "json", "order": "questions-first"}
_DIGITS = 12
"""As many as a signature shows of any digest."""


def unusual_settings(config: Mapping[str, Any], failures: Collection[str] = ()) -> dict[str, str]:
    """What of a run's config differs from the usual way to be served; nothing where nothing does.

    `failures` are the kinds that attempts failed with: the paper retries no rate limit, so one that was
    retried is told.

    >>> unusual_settings({"settings": {"service_tier": "flex"}, "retry": {"retried": ["gateway error"]}})
    {'tier': 'flex', 'retried': 'gateway'}
    """
    settings = config.get("settings")
    settings = settings if isinstance(settings, Mapping) else {}
    found = {
        word: _word(settings[name])[: _DIGITS if name.endswith("sha256") else None]
        for name, word in _WORDS.items()
        if isinstance(settings.get(name), str) and settings[name] != _USUAL.get(name)
    }
    stated = config.get("stated")
    for name, word in (("revision", "revision_stated"), ("weights_sha256", "weights_stated")):
        if isinstance(stated, Mapping) and isinstance(stated.get(name), str):
            found[word] = _word(stated[name])[: _DIGITS if name.endswith("sha256") else None]
    if isinstance(config.get("streams"), int) and config["streams"] > 1:
        found["streams"] = str(config["streams"])
    retry = config.get("retry")
    retried = retry.get("retried") if isinstance(retry, Mapping) else None
    told = ["gateway"] if isinstance(retried, list) and "gateway error" in retried else []
    told += ["rate_limit"] if RATE_LIMIT in failures else []
    if told:
        found["retried"] = "+".join(told)
    if isinstance(config.get("latency"), str):
        found["latency"] = _word(config["latency"])
    if isinstance(config.get("world"), Mapping):
        found["world"] = _word(str(config["world"].get("name")))
        for name, key in (("rule", "rule"), ("policy", "policy_name")):
            if isinstance(config.get(key), str):
                found[name] = _word(config[key])
    if isinstance(config.get("limit"), int):
        found["smoke"] = f"{config['limit']}-steps"
    if (part := _part(config)) is not None:
        found["partial"] = f"{part[0]}/{part[1]}"
    return found


def remarks(config: Mapping[str, Any]) -> list[str]:
    """What every reader must be told of numbers that are not about a whole recording, or not measured.

    >>> remarks({"limit": 5})
    ['smoke run: the first 5 steps of each scenario, comparable with no whole run']
    >>> remarks({"latency": "lognormal:0.4,0.3"})
    ['declared latency: lognormal:0.4,0.3, in place of the time the component takes']
    """
    found = []
    if isinstance(config.get("latency"), str):
        found.append(
            f"declared latency: {printable(config['latency'])[:80]}, in place of the time the"
            " component takes"
        )
    if isinstance(config.get("limit"), int):
        found.append(
            f"smoke run: the first {config['limit']} steps of each scenario,"
            " comparable with no whole run"
        )
    if (part := _part(config)) is not None:
        found.append(
            f"partial: {part[0]} of {plural(part[1], 'scenario')}, the complete ones of an incomplete recording"
        )
    return found


def stall_remarks(recording: Recording) -> list[str]:
    """What the recorder's heartbeat found and marked, where it was not recorded again.

    Recordings made by other programs, and those made before the heartbeat, have no marks.
    """
    episodes = recording.episodes.values()
    answers = [r.stalled_s for e in episodes for r in e.responses if r.stalled_s]
    releases = [r.stalled_s for e in episodes for r in e.releases if r.stalled_s]
    if not answers and not releases:
        return []
    found = [
        f"{len(marks)} {words[len(marks) > 1]}"
        for marks, words in (
            (answers, ("latency contains it", "latencies contain it")),
            (releases, ("state came late", "states came late")),
        )
        if marks
    ]
    longest_s = max(answers + releases)
    return [f"the client stood still for up to {longest_s:.2g} s: {', '.join(found)}"]


def source_notes(*, simulated: bool, virtual_clock: bool) -> list[str]:
    """What must be told of numbers that no real service was measured for."""
    found = []
    if simulated:
        found.append(SIMULATION)
    if virtual_clock:
        found.append(VIRTUAL_CLOCK)
    return found


def _part(config: Mapping[str, Any]) -> tuple[int, int] | None:
    part = config.get("partial")
    return (len(part["scored"]), part["of"]) if isinstance(part, Mapping) else None


def _word(text: str) -> str:
    """One word without spaces or colons, which part a signature."""
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in text)[:40]
