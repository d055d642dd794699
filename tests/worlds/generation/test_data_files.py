"""Data files of the generators: errors name the file and the key, and digests cover every file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import streamdecisionbench
from streamdecisionbench.errors import InputError
from streamdecisionbench.families.registry import FAMILY_MODULES
from streamdecisionbench.worlds.generate import generator_digests
from streamdecisionbench.worlds.generation.data_files import read_data
from streamdecisionbench.worlds.generation.world import read_outcomes

ROOT = Path(streamdecisionbench.__file__).parent


def package(folder: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> str:
    home = folder / "data_of_a_test"
    home.mkdir()
    (home / "__init__.py").touch()
    for name, text in files.items():
        (home / f"{name}.toml").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, home.name, raising=False)
    read_data.cache_clear()
    return home.name


def test_a_missing_key_names_the_file_the_table_and_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = package(tmp_path, monkeypatch, words="[talk]\nhost = ['Hello.']\n")
    table = read_data(name, "words.toml")
    assert table["talk"]["host"] == ("Hello.",)
    for broken, where in ((table, "words.toml"), (table["talk"], r"words.toml \[talk\]")):
        with pytest.raises(InputError, match=rf"^{where}: there is no 'guest'\n  fix: "):
            broken["guest"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("people = ['Ada', 7]", r"people: Expected `str`, got `int` - at `\$\[1\]`"),
        ("people = 'Ada'", "people: Expected `array`, got `str`"),
    ],
)
def test_a_value_of_another_type_names_its_place(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = read_data(package(tmp_path, monkeypatch, names=text), "names.toml")
    with pytest.raises(InputError, match=f"^names.toml: {message}"):
        table.pool("people", str)


def test_a_file_that_is_missing_or_malformed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = package(tmp_path, monkeypatch, broken="people = [")
    for file in ("broken.toml", "absent.toml"):
        with pytest.raises(InputError, match=f"^{name}/{file}: "):
            read_data(name, file)


def test_a_rate_needs_its_outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "[[outcomes]]\nname = 'late'\nunit = 's'\nabout = 'too late'\nfields = ['route']\n"
    name = package(tmp_path, monkeypatch, outcomes=text)
    (outcome,) = read_outcomes(name, late=lambda _, panel: True)
    assert (outcome.fields, outcome.cost, outcome.rate is None) == (("route",), 1.0, False)
    with pytest.raises(InputError, match=r"^outcomes.toml: outcomes has no early"):
        read_outcomes(name, early=lambda _, panel: True)


@pytest.mark.parametrize("family", FAMILY_MODULES)
def test_digests_cover_every_file_of_a_generator(family: str) -> None:
    home = ROOT / "worlds" / FAMILY_MODULES[family]
    files = {
        p.relative_to(ROOT).as_posix() for p in home.rglob("*") if "__pycache__" not in p.parts
    }
    sources = files & set(generator_digests((family,)))
    assert sources == {name for name in files if (ROOT / name).is_file()}
    assert any(name.endswith(".toml") for name in sources)
