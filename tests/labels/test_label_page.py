"""The label page in a real browser: by keyboard alone, by touch, in the dark, with a screen reader's tree."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from streamdecisionbench.labels.label_files import (
    AuditFolder,
    ItemQuestion,
    write_items,
)
from tests.labels.person import Page, audit, labelling
from tests.report.browser import CHROMIUM, NO_BROWSER, Browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=NO_BROWSER)

MARKUP = '<img src=x onerror="window.hit=1"><script>window.hit=2</script>&amp;'
TWO = {
    "route": ItemQuestion(f"Which route? {MARKUP}", {"hold": "wait on", MARKUP: MARKUP}),
    "recorder": ItemQuestion("Recorder?", {"record": "keep it", "pause": "x" * 2000}),
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as found:
        yield found


def go(browser: Browser, page: Page) -> None:
    browser.call("Page.navigate", url=page.url)
    until(browser, "document.querySelectorAll('fieldset').length > 0")


def until(browser: Browser, condition: str) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if browser.run(f"Boolean({condition})"):
            return
        time.sleep(0.02)
    raise AssertionError(f"never true: {condition}")


def answers(folder: AuditFolder) -> dict[str, Any]:
    own = folder.read_labels().by_person.get("ana", {})
    return {name: label.answer for name, label in own.items()}


def test_by_keyboard_alone(browser: Browser, tmp_path: Path) -> None:
    """Number keys, Enter, undo, none of these with words, cannot tell, a note; to the end."""
    folder = audit(
        tmp_path / "audit", 4, {**TWO, "route": ItemQuestion("Route?", {"a": "", "b": ""})}
    )
    with labelling(folder.path, "--as", "ana") as page:
        go(browser, page)
        browser.press("Enter")  # nothing is chosen yet
        browser.press("2")
        browser.press("1")
        browser.press("Enter")
        until(browser, "document.getElementById('far').textContent.startsWith('1 of 4')")
        assert answers(folder) == {"i0000": {"route": "b", "recorder": "record"}}
        browser.press("u")
        until(browser, "document.getElementById('far').textContent.startsWith('0 of 4')")
        assert answers(folder) == {}
        assert browser.run("document.querySelectorAll('input:checked').length") == 2
        browser.press("ArrowUp")
        browser.press("1")
        browser.press("Enter")
        until(browser, "document.getElementById('far').textContent.startsWith('1 of 4')")
        assert answers(folder) == {"i0000": {"route": "a", "recorder": "record"}}
        browser.press("0")
        until(browser, "document.getElementById('far').textContent.startsWith('2 of 4')")
        browser.press("n")
        for sign in "transfer":
            browser.press(sign)
        browser.press("Enter")
        until(browser, "document.getElementById('far').textContent.startsWith('3 of 4')")
        browser.press("1")
        browser.press("2")
        for _ in range(40):  # to the note
            browser.press("Tab")
            if browser.run("document.activeElement.id") == "note":
                break
        for sign in "why":
            browser.press(sign)
        browser.press("Enter")
        until(browser, "document.getElementById('done')")
    own = folder.read_labels().by_person["ana"]
    assert own["i0001"].answer is None
    assert own["i0002"].answer == {"other": "transfer"}
    assert (own["i0003"].answer, own["i0003"].note) == ({"route": "a", "recorder": "pause"}, "why")
    assert browser.seen.errors == []


def test_text_is_inert_and_nothing_comes_from_elsewhere(browser: Browser, tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit", 2, TWO, said=MARKUP, **{MARKUP: [MARKUP, {"x": MARKUP}]})
    (folder.path / "guide.md").write_text(f"# Guide {MARKUP}")
    with labelling(folder.path, "--as", "ana") as page:
        browser.seen.requests.clear()
        go(browser, page)
        assert browser.run("window.hit") is None
        assert browser.run("document.querySelectorAll('img').length") == 0
        assert MARKUP in browser.run("document.querySelector('.state').textContent")
        assert MARKUP in browser.run("document.querySelector('.guide').textContent")
        browser.press("2")
        browser.press("1")
        browser.press("Enter")
        until(browser, "document.getElementById('far').textContent.startsWith('1 of 2')")
        assert all(url.startswith((page.origin, "data:")) for url in browser.seen.requests)
    assert answers(folder) == {"i0000": {"route": MARKUP, "recorder": "record"}}
    assert browser.seen.errors == []


def test_by_touch_on_a_narrow_screen_with_a_large_state(browser: Browser, tmp_path: Path) -> None:
    long = [{"speaker": "caller", "text": f"sentence {k} " + "word " * 12} for k in range(2500)]
    folder = audit(tmp_path / "audit", 2, TWO, transcript=long, unbroken="y" * 5000)
    assert len((folder.path / "items.jsonl").read_text()) > 2 * 200_000
    try:
        browser.resize(390, 844)
        browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
        with labelling(folder.path, "--as", "ana") as page:
            go(browser, page)
            assert browser.run("document.documentElement.scrollWidth") <= 390
            for selector in ("[data-name=route] label", "[data-name=recorder] label", "#save"):
                box = browser.box(selector)
                assert box["height"] >= 40
                x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
                for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
                    browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
                browser.settle()
            until(browser, "document.getElementById('far').textContent.startsWith('1 of 2')")
            browser.theme("dark")
            dark = browser.run("getComputedStyle(document.body).backgroundColor")
            browser.theme("light")
            assert dark != browser.run("getComputedStyle(document.body).backgroundColor")
    finally:
        browser.call("Emulation.setTouchEmulationEnabled", enabled=False)
        browser.resize(1280, 900)
    assert answers(folder) == {"i0000": {"route": "hold", "recorder": "record"}}


def test_a_screen_reader_finds_a_name_for_everything(browser: Browser, tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit", 2, TWO)
    with labelling(folder.path, "--as", "ana") as page:
        go(browser, page)
        nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    named = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node.get("ignored") and "role" in node
    ]
    speaking = {"button", "radio", "textbox", "group", "progressbar", "heading", "region", "link"}
    assert [role for role, name in named if role in speaking and not name] == []
    assert ("group", "Recorder?") in named
    assert any(role == "radio" and name.startswith("hold: wait on") for role, name in named)
    assert any(role == "textbox" and name.startswith("Note") for role, name in named)
    assert any(role == "progressbar" for role, _ in named)


def test_of_a_text_that_goes_on_only_what_is_new_is_marked(
    browser: Browser, tmp_path: Path
) -> None:
    folder = audit(tmp_path / "audit", 1)
    item = folder.items["i0000"]
    said = "caller: hello\nagent: yes?\ncaller: I would like"
    grown = structs.replace(item, state=f"{said} to pay\nagent: of course", before=f"bell\n{said}")
    write_items(folder.path / "items.jsonl", [grown])
    with labelling(folder.path, "--as", "ana") as page:
        go(browser, page)
        marks = browser.run(
            "[...document.querySelectorAll('.state mark')].map((m) => m.textContent)"
        )
    assert marks == ["new:  to pay", "new: agent: of course"]


def test_a_server_that_is_gone_is_said_and_the_answer_stays_on_the_page(
    browser: Browser, tmp_path: Path
) -> None:
    folder = audit(tmp_path / "audit", 2)
    with labelling(folder.path, "--as", "ana") as page:
        go(browser, page)
        page.process.kill()
        page.process.wait()
        browser.press("1")
        browser.press("Enter")
        until(browser, "!document.getElementById('trouble').hidden")
        assert "Not saved" in browser.run("document.getElementById('trouble').textContent")
        assert browser.run("document.querySelectorAll('input:checked').length") == 1
    assert answers(folder) == {}


def test_questions_and_fields_named_like_keys_of_every_object(
    browser: Browser, tmp_path: Path
) -> None:
    """Nothing counts as answered before it is, and every answer arrives; an undo fills all of them in."""
    names = ("constructor", "__proto__", "toString")
    asked = {name: ItemQuestion(name, {"valueOf": "", "constructor": ""}) for name in names}
    folder = audit(tmp_path / "audit", 2, asked, toString={"constructor": 1, "__proto__": {"x": 2}})
    expected, before = dict.fromkeys(names, "constructor"), list(browser.seen.errors)
    with labelling(folder.path, "--as", "ana") as page:
        go(browser, page)
        browser.press("Enter")  # nothing is chosen yet
        for k in range(len(names)):
            assert browser.run("document.getElementById('save').disabled"), k
            browser.press("2")
        browser.press("Enter")
        until(browser, "document.body.textContent.includes('words 1')")
        assert answers(folder) == {"i0000": expected}
        browser.press("u")
        until(browser, "document.querySelectorAll('input:checked').length == 3")
        browser.press("Enter")
        until(browser, "document.querySelectorAll('input:checked').length == 0")
        assert answers(folder) == {"i0000": expected}
        browser.settle()
        assert browser.seen.errors == before
