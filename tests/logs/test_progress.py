"""Long work says how far it is on standard error; standard output belongs to the result."""

from __future__ import annotations

import io
import sys

import pytest

from streamdecisionbench.cli import progress_bar as module
from streamdecisionbench.cli.progress_bar import telling
from streamdecisionbench.logs.engines.duck import DuckEngine


def test_the_engine_tells_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    heard: list[tuple[str, float | None]] = []
    with DuckEngine(told=lambda doing, share: heard.append((doing, share))) as engine:
        setting = engine._con.execute("SELECT current_setting('enable_progress_bar_print')")
        assert setting.fetchall() == [(False,)]
        with engine._watched("sorting"):
            engine._con.execute("SELECT count(*) FROM range(300000000) WHERE hash(range) % 7 = 1")
    assert {doing for doing, _ in heard} <= {"sorting"}
    assert capfd.readouterr() == ("", "")


def test_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    err = io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setattr(module, "_FIRST_S", 0.0)
    monkeypatch.setattr(module, "_EVERY_S", 0.0)
    with telling(quiet=False) as told:
        told("sorting", 0.5)
        told("scoring", None)
    assert err.getvalue().splitlines() == ["sorting  50%, 0 s", "scoring, 0 s"]
    with telling(quiet=True) as told:
        told("sorting", 0.5)
    assert len(err.getvalue().splitlines()) == 2
