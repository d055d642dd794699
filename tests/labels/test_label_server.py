"""`sdb label` without a browser: what is saved, asked next, refused, and what a kill leaves."""

from __future__ import annotations

import json
import random
import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from streamdecisionbench.analysis.agreement import (
    check,
    read_answers,
)
from streamdecisionbench.errors import InputError
from streamdecisionbench.labels.label_files import (
    AuditFolder,
    LabelFile,
    label_lines,
)
from streamdecisionbench.labels.label_server import (
    Given,
    LabelSession,
    for_everybody,
)
from streamdecisionbench.suite.suite_files import builtin_suite_path, read_suite
from tests.cli.command import sdb
from tests.labels.person import audit, killed_while_answering, labelling


def test_an_answer_is_on_disk_when_the_next_state_is_shown(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit")
    with labelling(folder.path, "--as", "ana") as page:
        asked = page.next()
        assert (asked["done"], asked["of"], asked["item"]["item"]) == (0, 12, "i0000")
        status, following = page.answer(asked, {"decision": "wait"}, note="  because ")
        assert status == 200
        ((_, label),) = label_lines(folder.label_path("ana"))[0]
        assert (label.item, label.answer, label.note) == ("i0000", {"decision": "wait"}, "because")
        assert (following["done"], following["item"]["item"]) == (1, "i0001")


def test_the_page_is_told_what_the_item_says_and_nothing_else(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit")
    with labelling(folder.path, "--as", "ana") as page:
        asked = page.next()
    line = json.loads((folder.path / "items.jsonl").read_text().splitlines()[0])
    assert asked["item"] == line
    assert set(asked) == {"id", "item", "answer", "note", "views", "undo", "done", "of", "left_s"}
    assert asked["views"] is None


def test_going_on_later_starts_at_the_first_open_state(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit", 3)
    for expected in ("i0000", "i0001", "i0002", None):
        with labelling(folder.path, "--as", "ana") as page:
            asked = page.next()
            assert (asked["item"] and asked["item"]["item"]) == expected
            if expected:
                page.answer(asked, None)


def test_an_answer_that_is_sent_again_is_written_once(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit")
    with labelling(folder.path, "--as", "ana") as page:
        asked = page.next()
        assert page.answer(asked, {"decision": "wait"})[0] == 200
        assert page.answer(asked, {"decision": "wait"})[0] == 200
        assert len(label_lines(folder.label_path("ana"))[0]) == 1


def test_a_second_window_is_joined_and_goes_on_with_the_next(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit")
    with labelling(folder.path, "--as", "ana") as page:
        one, two = page.next(), page.next()
        assert one["item"] == two["item"]
        assert page.answer(one, {"decision": "wait"})[0] == 200
        status, said = page.answer(two, {"decision": "lookup"})
        assert status == 409
        assert "another window" in said["error"]
        assert said["next"]["item"]["item"] == "i0001"
        assert [x.answer for _, x in label_lines(folder.label_path("ana"))[0]] == [
            {"decision": "wait"}
        ]


def test_a_second_session_of_one_person_is_refused(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit")
    with labelling(folder.path, "--as", "ana") as page:
        page.answer(page.next(), {"decision": "wait"})
        done = sdb("label", folder.path, "--as", "ana")
        assert done.returncode == 2
        assert "ana is answering already, in another session" in done.stderr
        with labelling(folder.path, "--as", "ben") as other:
            assert other.next()["done"] == 0


def test_undo_asks_again_with_what_was_said(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit")
    with labelling(folder.path, "--as", "ana") as page:
        assert page.ask("/undo", {}) == (422, {"error": "there is no answer to take back"})
        page.answer(page.next(), {"decision": "wait"}, note="hm")
        status, asked = page.ask("/undo", {})
        assert status == 200
        assert (asked["item"]["item"], asked["answer"], asked["note"]) == (
            "i0000",
            {"decision": "wait"},
            "hm",
        )
        assert folder.read_labels().count == 0
        page.answer(asked, {"decision": "lookup"})
        assert folder.read_labels().by_person["ana"]["i0000"].answer == {"decision": "lookup"}
        assert page.next()["item"]["item"] == "i0001"


def test_states_go_to_whoever_comes_first_and_some_to_everybody(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit", 40)
    shared = {name for name in folder.items if for_everybody(name, 0.3)}
    assert 0 < len(shared) < 40
    asked = {}
    for who in ("ana", "ben"):
        with labelling(folder.path, "--as", who, "--overlap", "0.3") as page:
            asked[who] = []
            while (following := page.next())["item"] is not None:
                asked[who].append(following["item"]["item"])
                page.answer(following, {"decision": "wait"})
    assert asked["ana"] == list(folder.items)
    assert asked["ben"] == [name for name in folder.items if name in shared]


def test_disputes_are_settled_without_names(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit", 3)
    for who, said in (("ana", "wait"), ("ben", "lookup")):
        with labelling(folder.path, "--as", who, "--overlap", "1") as page:
            page.answer(page.next(), {"decision": said})
            page.answer(page.next(), {"decision": "wait"})
    with labelling(folder.path, "--as", "chair", "--disputes") as page:
        asked = page.next()
        assert (asked["item"]["item"], asked["views"]) == ("i0000", ["lookup", "wait"])
        assert "ana" not in json.dumps(asked)
        assert page.answer(asked, {"decision": "lookup"})[1]["item"] is None
    said = folder.said(folder.read_labels())["i0000"]
    assert (said.decision, said.disputed) == ("lookup", False)
    done = sdb("label", folder.path, "--as", "ana", "--disputes")
    assert done.returncode == 2
    assert "takes a name for that alone" in done.stderr


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/next", None, {"X-Token": None}, 403),
        ("/next", None, {"X-Token": "another"}, 403),
        ("/next", None, {"Origin": "http://elsewhere.example"}, 403),
        ("/next", None, {"Host": "elsewhere.example"}, 400),
        ("/", None, {}, 403),
        ("/?token=wrong", None, {}, 403),
        ("/answer", {"item": "i0000", "id": "x", "answer": None}, {"Origin": None}, 403),
        ("/answer", {"item": "i0000", "id": "x", "answer": None}, {"Origin": "null"}, 403),
        ("/answer", {"item": "i0000", "id": "x", "answer": None}, {"X-Token": None}, 403),
        ("/answer", {"item": "i0000", "id": "x", "answer": None}, {"Host": "10.0.0.1"}, 400),
        ("/undo", {}, {"Origin": "http://127.0.0.1:1"}, 403),
        ("/answer", {"item": "i0000"}, {}, 400),
        ("/answer", {"item": "i9999", "id": "x", "answer": None}, {}, 422),
        ("/answer", {"item": "i0000", "id": "x", "answer": {"decision": "dance"}}, {}, 422),
        ("/answer", {"item": "i0000", "id": "x", "answer": {}}, {}, 422),
        ("/answer", {"item": "i0000", "id": "x", "answer": {"other": "  "}}, {}, 422),
        ("/answer", {"item": "i0000", "id": "x", "answer": {"other": "y" * 300_000}}, {}, 413),
    ],
)
def test_whoever_is_not_the_page_and_whatever_is_no_answer_is_refused(
    tmp_path: Path, path: str, body: object, headers: dict[str, str | None], status: int
) -> None:
    folder = audit(tmp_path / "audit", 2)
    with labelling(folder.path, "--as", "ana") as page:
        assert page.ask(path, body, headers)[0] == status
        assert page.next()["done"] == 0
    assert folder.read_labels().count == 0


def test_kills_while_answers_come_in_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """`bench/kills.py --label` does the same a thousand times."""
    draw = random.Random(0)
    counts = killed_while_answering(audit(tmp_path / "audit", 200), draw, kills=6, at_most_s=0.05)
    assert counts["kills"] == 6
    assert counts["acknowledged"] > 0
    assert (counts["lost"], counts["twice"]) == (0, 0)


def test_a_stop_says_how_many_there_are(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit", 2)
    with labelling(folder.path, "--as", "ana") as page:
        page.answer(page.next(), {"decision": "wait"})
        page.process.send_signal(signal.SIGINT)
        said = page.process.stdout.read() if page.process.stdout else ""
        assert page.process.wait(30) == 0
    assert said.startswith("answers by ana: 1, in ")


def test_a_scenario_asked_blind_gives_the_sheet_that_audit_check_accepts(tmp_path: Path) -> None:
    scenario = read_suite(builtin_suite_path()).scenarios["support_a"]
    with labelling("--scenario", "support_a", "--as", "ana", cwd=tmp_path) as page:
        while (asked := page.next())["item"] is not None:
            t = int(asked["item"]["item"][1:])
            assert asked["item"]["state"] == scenario.request(t)["state"]
            assert page.answer(asked, scenario.steps[t].gold)[0] == 200
    sheet = tmp_path / "label-support_a" / "ana.json"
    found = check(scenario, read_answers(sheet, scenario))
    assert (found.consumed, found.disagreements) == (60, ())
    done = sdb("audit", "check", "support_a", sheet)
    assert done.returncode == 0
    assert "60 of 60" in done.stdout


def test_a_folder_of_another_scenario_is_refused(tmp_path: Path) -> None:
    with labelling("--scenario", "support_a", "--as", "ana", "--out", tmp_path / "x"):
        pass
    done = sdb("label", "--scenario", "support_b", "--as", "ana", "--out", tmp_path / "x")
    assert done.returncode == 2
    assert "something else than support_b" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give an audit or a scenario"),
        (("AUDIT",), "who answers?"),
        (("AUDIT", "--as", "../x"), "cannot name a file of answers"),
        (("AUDIT", "--as", "ana", "--suite", "x"), "go with --scenario"),
        (("AUDIT", "--scenario", "support_a", "--as", "ana"), "one of them"),
        (("--scenario", "support_a"), "who answers?"),
        (("--scenario", "nobody", "--as", "ana"), "no scenario is called"),
        (("--scenario", "support_a", "--as", "ana", "--disputes"), "is only asked"),
        (("nowhere", "--as", "ana"), "is no audit"),
    ],
)
def test_bad_words_are_told(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    folder = audit(tmp_path / "audit", 2)
    done = sdb("label", *(folder.path if word == "AUDIT" else word for word in words))
    assert done.returncode == 2
    assert said in done.stderr


def test_items_go_to_a_spreadsheet_and_answers_come_back(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit", 3)
    table = tmp_path / "items.csv"
    assert sdb("label", folder.path, "--csv", table).returncode == 0
    lines = table.read_text().splitlines()
    assert lines[0].startswith("item,state")
    (tmp_path / "back.csv").write_text("item,answer,by\ni0000,wait,ana\ni0001,,ana\n")
    done = sdb("label", folder.path, "--import", tmp_path / "back.csv")
    assert done.returncode == 0, done.stderr
    assert "answers by ana: 2" in done.stdout
    assert AuditFolder.open(folder.path).read_labels().count == 2


def test_an_answer_or_undo_whose_sheet_cannot_be_written_is_not_written_either(
    tmp_path: Path,
) -> None:
    """What was reported as not written is not there, and the same answer is taken when there is room."""
    folder = audit(tmp_path / "audit")
    full = [True]

    def write_sheet() -> None:
        if full[0]:
            raise InputError("cannot be written (No space left on device)", where="sheet.json")

    with LabelFile(folder, "ana") as file:
        session = LabelSession(folder, file, when_answered=write_sheet)
        asked = session.next()
        given = Given(asked["item"].item, asked["id"], {"decision": "wait"})
        for _ in range(3):
            with pytest.raises(InputError, match="cannot be written"):
                session.answer(given)
            assert file.path.read_bytes() == b""
        full[0] = False
        assert session.answer(given)["done"] == 1
        assert session.answer(given)["done"] == 1
        assert len(label_lines(file.path)[0]) == 1
        full[0] = True
        before = file.path.read_bytes()
        with pytest.raises(InputError, match="cannot be written"):
            session.undo()
        assert file.path.read_bytes() == before
        full[0] = False
        assert session.undo()["done"] == 0


def test_a_sheet_in_a_folder_that_is_gone_gets_the_answer_a_second_time(tmp_path: Path) -> None:
    """Over the wire: 422 and nothing written, then 200 once the sheet can be written."""
    out = tmp_path / "label"
    with labelling("--scenario", "support_b", "--as", "ana", "--out", out) as page:
        asked = page.next()
        answer = {q: next(iter(o["options"])) for q, o in asked["item"]["questions"].items()}
        (out / "ana.json").mkdir()
        status, refused = page.answer(asked, answer)
        assert status == 422, refused
        assert "ana.json" in refused["error"]
        assert label_lines(out / "labels" / "ana.jsonl")[0] == []
        (out / "ana.json").rmdir()
        assert page.answer(asked, answer)[0] == 200
        assert len(label_lines(out / "labels" / "ana.jsonl")[0]) == 1


def test_a_large_head_is_refused(tmp_path: Path) -> None:
    folder = audit(tmp_path / "audit")
    with labelling(folder.path, "--as", "ana") as page:
        place = urlsplit(page.origin)
        with socket.create_connection((place.hostname, place.port), timeout=60) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\nX-Large: " + b"a" * 1_000_000)
            assert sock.recv(4096).startswith(b"HTTP/1.1 431 ")
        assert page.next()["done"] == 0
