"""Names on a screen of 80 columns: cut where they must be, distinct always, never broken."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamdecisionbench.report.terminal import cut_names, cut_words, fit_widths

NAMES = st.lists(st.text("ab-/_.", min_size=1, max_size=60), min_size=1, max_size=12, unique=True)


@given(NAMES, st.integers(8, 40))
def test_cut_names_fit_and_stay_distinct(names: list[str], width: int) -> None:
    cuts = cut_names(names, width)
    assert list(cuts) == names
    assert all(len(text) <= width for text in cuts.values())
    assert len(set(cuts.values())) == len(names)
    if all(len(name) <= width for name in names):
        assert cuts == {name: name for name in names}


@given(st.lists(st.lists(st.text("ab", max_size=40), min_size=1), min_size=1, max_size=6))
def test_columns_fit_or_are_as_narrow_as_may_be(columns: list[list[str]]) -> None:
    widths = fit_widths(columns, 80)
    fits = sum(widths) + 2 * (len(widths) - 1) <= 80
    assert fits or max(widths) <= 8
    natural = [max(map(len, texts)) for texts in columns]
    assert all(w <= n for w, n in zip(widths, natural, strict=True))
    if sum(natural) + 2 * (len(natural) - 1) <= 80:
        assert widths == natural


def test_only_long_words_are_cut() -> None:
    assert cut_words("jev + a-long-name", {"a-long-name": "…name"}) == "jev + …name"
