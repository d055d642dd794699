"""Names, phrases and lines of support calls, from the data files of this package."""

from __future__ import annotations

from dataclasses import dataclass

from streamdecisionbench.worlds.generation.data_files import read_data

_NAMES = read_data(__package__, "names.toml")
_PHRASES = read_data(__package__, "phrases.toml")
_LINES = read_data(__package__, "lines.toml")


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that count, and whole sentences that hold them."""

    words: str
    sentences: tuple[str, ...]
    by_others: str
    """The words from a speaker from whom they do not count."""

    def about(self, name: str) -> Phrase:
        """The phrase as it is for one card, parcel or device."""
        return Phrase(
            self.words.format(name=name),
            tuple(s.format(name=name) for s in self.sentences),
            self.by_others.format(name=name),
        )


PEOPLE = _NAMES.pool("people", str)
PLANS = _NAMES.pool("plans", str)
ROUTERS = _NAMES.pool("routers", str)
STREETS = _NAMES.pool("streets", str)
CARDS = _NAMES.pool("cards", tuple[str, str])
PARCELS = _NAMES.pool("parcels", tuple[str, str, str])
DEVICES = _NAMES.pool("devices", tuple[str, str, str, str])
OTHER_PARCELS = _NAMES.pool("other_parcels", str)

POOLS = {purpose: _PHRASES["phrases"].pool(purpose, Phrase) for purpose in _PHRASES["phrases"]}
"""Purpose → its phrases."""
INTENTS: dict[str, str] = _PHRASES["intents"]
TOPICS: dict[str, str] = _PHRASES["topics"]
SLIP_KINDS: dict[str, str] = _PHRASES["slip_kinds"]
SLIPS: dict[str, tuple[str, ...]] = _PHRASES["slips"]

NUMBER = _LINES.texts("number")
DIGITS_AFTER: dict[str, tuple[str, ...]] = _LINES["digits_after"]
DIGITS_AFTER_SUM: str = _LINES["digits_after_sum"]
DIGITS_IN_THE_BACKGROUND: str = _LINES["digits_in_the_background"]
DIGITS_FINAL_AT_ONCE: str = _LINES["digits_final_at_once"]
SHOUTED = _LINES.texts("shouted")
CORRECTIONS = _LINES.texts("corrections")
ROUTER_SEEN: dict[str, str] = _LINES["router_seen"]
DOUBT: str = _LINES["doubt"]
AFTER_CALL = _LINES.texts("after_call")
TOOLS = _LINES.texts("tools")
HOLD_TONES = _LINES.texts("hold_tones")
ACCOUNT = _LINES.texts("account")
DEVICE_LINES = _LINES.texts("device_lines")
DRIVER = _LINES.texts("driver")
FEES = _LINES.texts("fees")
PURCHASES = _LINES.texts("purchases")
TALK: dict[str, tuple[str, ...]] = _LINES["talk"]
LEAVE: dict[str, tuple[str, ...]] = _LINES["leave"]
LEFT: dict[str, str] = _LINES["left"]
LINES: dict[str, tuple[str, ...]] = _LINES["lines"]
NOTES: dict[str, str] = _LINES["notes"]
BANK_LINES: dict[str, tuple[str, ...]] = _LINES["bank_lines"]
