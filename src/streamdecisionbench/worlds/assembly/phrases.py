"""Names and lines of assembly stations, from the data file of this package."""

from __future__ import annotations

from streamdecisionbench.worlds.generation.data_files import read_data

_DATA = read_data(__package__, "phrases.toml")

PEOPLE = _DATA.pool("people", str)
STATIONS = _DATA.pool("stations", str)
COMPLAINTS = _DATA.texts("complaints")
NOT_THERE = _DATA.texts("not_there")
NOT_THERE_AGAIN: str = _DATA["not_there_again"]
LABEL = _DATA.texts("label")
AGAIN = _DATA.texts("again")
CHANGE = _DATA.texts("change")
COMING = _DATA.texts("coming")
MEANWHILE = _DATA.texts("meanwhile")
TALK = _DATA.texts("talk")
TALK_OF_NEXT = _DATA.texts("talk_of_next")
TALK_OF_DONE = _DATA.texts("talk_of_done")
TALK_OF_FAILED = _DATA.texts("talk_of_failed")
HALF_SENTENCES: dict[str, str] = _DATA["half_sentences"]
