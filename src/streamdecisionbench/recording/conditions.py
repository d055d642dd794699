"""Settings under which runs of one model must not look alike: they go into every signature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["conditions"]

_WORDS = {
    "service_tier": "tier",
    "speed": "speed",
    "cache_control": "cache",
    "prompt_cache_key": "cache_key",
    "input": "input",
}
"""Setting of a component → its word in a signature."""

_USUAL = {"input": "json"}


def conditions(config: Mapping[str, Any]) -> dict[str, str]:
    """What of a run's config differs from the usual way to be served; nothing where nothing does.

    >>> conditions({"settings": {"service_tier": "flex"}, "retry": {"retried": ["gateway error"]}})
    {'tier': 'flex', 'retried': 'gateway'}
    """
    settings = config.get("settings")
    settings = settings if isinstance(settings, Mapping) else {}
    found = {
        word: _word(settings[name])
        for name, word in _WORDS.items()
        if isinstance(settings.get(name), str) and settings[name] != _USUAL.get(name)
    }
    retry = config.get("retry")
    retried = retry.get("retried") if isinstance(retry, Mapping) else None
    if isinstance(retried, list) and "gateway error" in retried:
        found["retried"] = "gateway"
    return found


def _word(text: str) -> str:
    """One word without spaces or colons, which part a signature."""
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in text)[:40]
