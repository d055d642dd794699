"""Answers of people: what is read, refused, replaced, lost (nothing), and how far people agree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamdecisionbench.analysis.agreement import agreement_of
from streamdecisionbench.errors import InputError
from streamdecisionbench.labels.label_files import (
    AnswerForm,
    AuditFolder,
    Item,
    ItemQuestion,
    Label,
    LabelFile,
    export_csv,
    import_labels,
    label_lines,
    write_items,
)
from streamdecisionbench.suite.scenario import DecisionSpec

ASKED = ItemQuestion("Which decision is right?", {"hold": "", "resume": "go on"})


def make_audit(folder: Path, *, items: int = 4, form: dict[str, Any] | None = None) -> AuditFolder:
    """An audit of a log whose decisions are plain."""
    plain = {
        "decision_spec": {
            "route_question": "decision",
            "always": [],
            "branches": {"hold": [], "resume": []},
        },
        "plain": True,
    }
    folder.mkdir(exist_ok=True)
    (folder / "sample.json").write_text(json.dumps({"asked": form or plain}))
    asked = {"decision": ASKED}
    write_items(
        folder / "items.jsonl",
        [Item(f"i{k:04d}", {"heard": f"word {k}"}, None, asked) for k in range(1, items + 1)],
    )
    return AuditFolder.open(folder)


def said(item: str, answer: str | None, by: str = "ana", **more: Any) -> Label:
    given = None if answer is None else {"decision": answer}
    return Label(item, by, "2026-01-01T00:00:00Z", given, **more)


def test_answers_come_back_as_they_were_given(tmp_path: Path) -> None:
    audit = make_audit(tmp_path / "audit")
    with LabelFile(audit, "ana") as file:
        file.append(said("i0001", "hold", note="clear"))
        file.append(Label("i0002", "ana", "now", {"other": "hang up"}))
        file.append(said("i0003", None))
    labels = audit.read_labels()
    assert labels.count == 3
    found = audit.said(labels)
    assert [found[i].decision for i in ("i0001", "i0002", "i0003")] == ["hold", "hang up", None]
    assert "i0004" not in found
    line = json.loads(audit.label_path("ana").read_text().splitlines()[2])
    assert line["answer"] is None


def test_a_later_answer_of_the_same_person_replaces_the_earlier_one(tmp_path: Path) -> None:
    audit = make_audit(tmp_path / "audit")
    with LabelFile(audit, "ana") as file:
        file.append(said("i0001", "hold"))
        file.append(said("i0001", "resume"))
        file.append(said("i0002", "hold"))
        file.append(Label("i0002", "ana", "now", undone=True))
    labels = audit.read_labels()
    assert (labels.count, labels.replaced, labels.undone) == (1, 1, 1)
    assert audit.said(labels)["i0001"].decision == "resume"
    assert "given again by the same person" in labels.notes()[0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"item":"i9999","by":"ana","at":"x","answer":null}', "audit has none of that name"),
        ('{"item":"i0001","by":"ana","at":"x"}', "has no answer"),
        ('{"item":"i0001","by":"ana","at":"x","answer":{"decision":"stop"}}', "is no option"),
        ('{"item":"i0001","by":"ana","at":"x","answer":{}}', "has no answer to 'decision'"),
        ('{"item":"i0001","by":"ana","at":"x","answer":{"mood":"hold"}}', "does not ask"),
        ('{"item":"i0001","by":"ana","at":"x","answer":{"other":" "}}', "not what else"),
        ('{"item":"i0001","by":"bob","at":"x","answer":null}', "in the file of 'ana'"),
        ('{"item":"i0001"', "is no answer"),
    ],
)
def test_a_line_that_cannot_count_is_refused_with_its_place(
    tmp_path: Path, line: str, message: str
) -> None:
    audit = make_audit(tmp_path / "audit")
    audit.label_path("ana").parent.mkdir()
    audit.label_path("ana").write_text(f"{line}\n")
    with pytest.raises(InputError, match=message) as caught:
        audit.read_labels()
    assert "ana.jsonl:1" in str(caught.value)


def test_a_file_cut_at_every_byte_loses_no_whole_answer(tmp_path: Path) -> None:
    audit = make_audit(tmp_path / "audit")
    with LabelFile(audit, "ana") as file:
        for k in range(1, 5):
            file.append(said(f"i{k:04d}", "hold", note="héé"))
    path = audit.label_path("ana")
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        kept = whole[:cut].count(b"\n") + (whole[cut : cut + 1] == b"\n")
        labels = audit.read_labels()
        assert labels.count == kept
        assert bool(labels.torn) == (cut > 0 and whole[cut - 1 : cut + 1] not in (b"}\n", b"\n{"))
        with LabelFile(audit, "ana") as file:
            file.append(said("i0004", "resume"))
        after = audit.read_labels()
        assert not after.torn
        assert set(after.by_person["ana"]) == {f"i{k:04d}" for k in (*range(1, kept + 1), 4)}
        assert audit.said(after)["i0004"].decision == "resume"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads names from /proc")
def test_an_answer_is_on_the_medium_when_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every byte of the file, and the folder that lists it: opened, answered, mended, left for later."""
    audit = make_audit(tmp_path / "audit")
    path = audit.label_path("ana")
    synced: list[tuple[Path, int]] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        real(fd)
        synced.append((Path(f"/proc/self/fd/{fd}").readlink(), os.fstat(fd).st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    with LabelFile(audit, "ana") as file:
        assert [which for which, _ in synced] == [path, path.parent]
        for k in (1, 2):
            file.append(said(f"i{k:04d}", "hold"))
            assert synced[-1] == (path, path.stat().st_size)
        file.append(said("i0003", "hold"), sync=False)
        assert synced[-1][1] < path.stat().st_size
        file.sync()
        assert synced[-1] == (path, path.stat().st_size)
    whole = path.read_bytes()
    for left in (whole[:-1], whole[:-9]):  # without its line break, and torn
        path.write_bytes(left)
        LabelFile(audit, "ana").close()
        assert synced[-2:] == [
            (path, path.stat().st_size),
            (path.parent, path.parent.stat().st_size),
        ]
    table = tmp_path / "answers.csv"
    table.write_text("item,answer,by\ni0001,hold,bob\ni0002,hold,bob\ni0001,resume,cleo\n")
    import_labels(audit, table)
    for name in ("bob", "cleo"):
        assert (audit.label_path(name), audit.label_path(name).stat().st_size) in synced


def test_one_person_answers_in_one_session_at_a_time(tmp_path: Path) -> None:
    audit = make_audit(tmp_path / "audit")
    with LabelFile(audit, "ana"):
        with pytest.raises(InputError, match="ana is answering already"):
            LabelFile(audit, "ana")
        LabelFile(audit, "bob").close()
    LabelFile(audit, "ana").close()


@pytest.mark.parametrize("name", ["", "../ana", "a/b", ".ana", "ana b", "x" * 61])
def test_a_name_that_is_no_file_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot name a file"):
        LabelFile(make_audit(tmp_path / "audit"), name)


def test_people_who_differ_are_in_dispute_until_somebody_settles_it(tmp_path: Path) -> None:
    audit = make_audit(tmp_path / "audit")
    for name, first in (("ana", "hold"), ("bob", "resume")):
        with LabelFile(audit, name) as file:
            file.append(said("i0001", first, name))
            file.append(said("i0002", "hold", name))
    labels = audit.read_labels()
    assert audit.disputes(labels) == ["i0001"]
    assert audit.said(labels)["i0001"].decision is None
    with LabelFile(audit, "cleo") as file:
        file.append(said("i0001", "resume", "cleo"))
    labels = audit.read_labels()
    found = audit.said(labels)["i0001"]
    assert (found.decision, found.disputed) == ("resume", True)
    with LabelFile(audit, "dan") as file:
        file.append(said("i0001", "hold", "dan", settles=True))
        file.append(said("i0002", None, "dan"))
    labels = audit.read_labels()
    assert audit.disputes(labels) == []
    assert audit.said(labels)["i0001"].decision == "hold"
    assert audit.said(labels)["i0002"].decision == "hold"
    assert audit.agreement(labels).items == 2


def test_alpha_is_krippendorffs() -> None:
    """His example with four observers and missing values, for names: 0.743."""
    table = """
        1 1 . 1 ; 2 2 3 2 ; 3 3 3 3 ; 3 3 3 3 ; 2 2 2 2 ; 1 2 3 4 ; 4 4 4 4 ; 1 1 2 1 ; 2 2 2 2 ;
        . 5 5 5 ; . . 1 1 ; . . 3 ."""
    rows = [[v for v in unit.split() if v != "."] for unit in table.split(";")]
    found = agreement_of([row for row in rows if len(row) > 1])
    assert found.alpha == pytest.approx(0.743, abs=5e-4)
    assert found.alpha is not None
    assert found.interval_95 is not None
    assert found.interval_95[0] < found.alpha < found.interval_95[1]


def test_agreement_says_why_there_is_none() -> None:
    assert agreement_of([]).alpha is None
    alike = agreement_of([["a", "a"]] * 3)
    assert (alike.share, alike.alpha) == (1.0, None)
    assert "same answer" in alike.reason


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_answers_made_elsewhere_come_in(tmp_path: Path, ending: str) -> None:
    audit = make_audit(tmp_path / "audit")
    rows = [
        {"item": "i0001", "answer": "hold", "by": "ana"},
        {"item": "i0001", "answer": "resume", "by": "bob"},
        {"item": "i0002", "answer": None, "by": "ana"},
        {"item": "i0003", "answer": '{"other": "hang up"}', "by": "ana"},
    ]
    table = tmp_path / f"answers.{ending}"
    if ending == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(rows), table)
    elif ending == "jsonl":
        table.write_text("\n".join(map(json.dumps, rows)))
    else:
        table.write_text(
            'item,answer,by\ni0001,hold,ana\ni0001,resume,bob\ni0002,,ana\ni0003,"{""other"": ""hang up""}",ana\n'
        )
    assert import_labels(audit, table).people == {"ana": 3, "bob": 1}
    found = audit.said(audit.read_labels())
    assert found["i0001"].disputed
    assert [found[i].decision for i in ("i0002", "i0003")] == [None, "hang up"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,answer,by\ni0002,hold,ana\ni0001,stop,ana\n", "'stop' is no answer to i0001"),
        ("item,answer,by\ni0002,hold,ana\ni0009,hold,ana\n", "none of that name"),
        ("item,answer\ni0001,hold\n", "has no 'by'"),
        ("item,by\ni0001,ana\n", "no column 'answer'"),
        ("item,answer,by\ni0001,hold,../ana\n", "cannot name a file"),
        ("item,answer,by\n", "holds no answer"),
    ],
)
def test_a_table_that_does_not_fit_adds_nothing(tmp_path: Path, text: str, message: str) -> None:
    audit = make_audit(tmp_path / "audit")
    table = tmp_path / "answers.csv"
    table.write_text(text)
    with pytest.raises(InputError, match=message):
        import_labels(audit, table)
    assert audit.read_labels().count == 0


def test_a_spreadsheet_filled_in_comes_back(tmp_path: Path) -> None:
    import csv

    audit = make_audit(tmp_path / "audit")
    sheet = tmp_path / "items.csv"
    export_csv(audit, sheet)
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["item"] for row in rows] == list(audit.items)
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "answer": "hold", "by": "ana"} for row in rows)
    import_labels(audit, sheet)
    assert {c.decision for c in audit.said(audit.read_labels()).values()} == {"hold"}
    with pytest.raises(InputError, match="is there already"):
        export_csv(audit, sheet)


def test_fields_and_answers_are_each_other() -> None:
    form = AnswerForm(
        DecisionSpec("do", ("badge",), {"say": ("word",), "wait": ()}),
        always={"v": "1"},
        values={"v": {"1": 1}, "badge": {"2": 2, "true": True}},
    )
    asked = {
        "do": ItemQuestion("", {"say": "", "wait": ""}),
        "badge": ItemQuestion("", {"2": "", "true": ""}),
        "word": ItemQuestion("", {"go": "", "none": ""}),
    }
    for decision in (
        '{"badge":2,"do":"wait","v":1}',
        '{"badge":true,"do":"say","v":1,"word":"go"}',
    ):
        answer = form.answer(decision, asked)
        assert answer is not None
        assert form.decision(answer) == decision
    assert form.answer('{"badge":2,"do":"wait","v":2}', asked) is None
    assert form.answer('{"badge":3,"do":"wait"}', asked) is None


def _files(audit: AuditFolder) -> dict[str, bytes]:
    folder = audit.path / "labels"
    return {p.name: p.read_bytes() for p in folder.iterdir()} if folder.is_dir() else {}


def test_an_import_while_somebody_answers_adds_nothing(tmp_path: Path) -> None:
    """Whoever is named first must not be in while a later one cannot be."""
    audit, table = make_audit(tmp_path / "audit"), tmp_path / "answers.csv"
    table.write_text("item,answer,by\ni0001,hold,ana\ni0002,hold,bob\ni0003,hold,cleo\n")
    with LabelFile(audit, "bob") as page:
        page.append(said("i0004", "hold", by="bob"))
        before = _files(audit)
        with pytest.raises(InputError, match="bob is answering already"):
            import_labels(audit, table)
        assert _files(audit) == before
        page.append(said("i0003", "hold", by="bob"))
    assert import_labels(audit, table).people == {"ana": 1, "bob": 1, "cleo": 1}


FULL_DISK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
from streamdecisionbench.cli.main import main
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of file sizes as Linux has them")
@pytest.mark.parametrize("most", [1, 60, 200, 300, 700, 1200])
def test_an_import_onto_a_full_disk_adds_all_or_nothing(most: int, tmp_path: Path) -> None:
    """Files may be so large and no larger: the write that goes beyond it fails, wherever it is."""
    audit, table = make_audit(tmp_path / "audit", items=9), tmp_path / "answers.csv"
    rows = [("ana", 2), ("bob", 9), ("cleo", 4)]
    lines = [f"i000{k},hold,{by}" for by, many in rows for k in range(1, many + 1)]
    table.write_text("\n".join(["item,answer,by", *lines]) + "\n")
    with LabelFile(audit, "ana") as file:
        file.append(said("i0009", "resume"))
    before = _files(audit)
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK.format(most=most), "label", str(audit.path), "--import", str(table)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 0:
        assert most > 700
        assert audit.read_labels().count == 16
        return
    assert done.returncode == 2, done.stderr
    assert "cannot be written" in done.stderr
    assert _files(audit) == before
    assert import_labels(audit, table).people == dict(rows)


@pytest.mark.parametrize("call", ["write", "fsync", "ftruncate"])
def test_an_answer_that_cannot_be_written_leaves_no_trace(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A medium that fails in any call, after half a line too; the same answer is taken afterwards."""
    audit = make_audit(tmp_path / "audit")
    real = {name: getattr(os, name) for name in ("write", "fsync", "ftruncate")}
    with LabelFile(audit, "ana") as file:
        file.append(said("i0001", "hold"))
        whole = file.path.read_bytes()

        def fails(fd: int, *more: Any) -> int:
            if call == "write":
                real["write"](fd, more[0][:9])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, call, fails)
        if call == "ftruncate":
            monkeypatch.setattr(os, "fsync", fails)
        with pytest.raises(InputError, match="cannot be written"):
            file.append(said("i0002", "hold"))
        for name, function in real.items():
            monkeypatch.setattr(os, name, function)
        if call != "ftruncate":
            assert file.path.read_bytes() == whole
        file.append(said("i0002", "resume"))
        assert file.path.read_bytes().startswith(whole)
    labels, complete = label_lines(audit.label_path("ana"))
    assert complete
    assert [label.item for _, label in labels] == ["i0001", "i0002"]
