from __future__ import annotations

from pathlib import Path

import pytest

from streamdecisionbench.components.providers.dotenv import load, parse
from streamdecisionbench.errors import InputError


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("KEY=plain", "plain"),
        ("  KEY = spaced  ", "spaced"),
        ("export KEY=exported", "exported"),
        ("KEY=", ""),
        ("KEY=#nothing", ""),
        ("KEY=a#b", "a#b"),
        ("KEY=a # comment", "a"),
        ("KEY='single # \\n kept'", "single # \\n kept"),
        ('KEY="two\\nlines" # comment', "two\nlines"),
        ('KEY="say \\"yes\\""', 'say "yes"'),
        ("KEY=with=equals", "with=equals"),
    ],
)
def test_a_line(line: str, value: str) -> None:
    assert parse(line) == {"KEY": value}


def test_comments_blank_lines_and_the_last_word() -> None:
    assert parse("# head\n\nA=1\r\nB=2\nA=3\n") == {"A": "3", "B": "2"}


@pytest.mark.parametrize("line", ["just text", "1KEY=x", "KEY='open", 'KEY="open', "=x"])
def test_a_bad_line_is_named_but_not_quoted(line: str) -> None:
    with pytest.raises(InputError, match=r"\.env:2") as raised:
        parse(f"A=1\n{line}")
    assert "open" not in str(raised.value)
    assert "just text" not in str(raised.value)


def test_exported_variables_win(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("\ufeffOPENAI_API_KEY=from-file\nOTHER=from-file\nEMPTY=from-file\n")
    environment = {"OPENAI_API_KEY": "exported", "EMPTY": ""}
    assert load(file, environment) == ["OTHER"]
    assert environment == {"OPENAI_API_KEY": "exported", "EMPTY": "", "OTHER": "from-file"}
    assert load(tmp_path / "absent", environment) == []


def test_a_binary_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_bytes(b"\xff\xfe\x00KEY")
    with pytest.raises(InputError, match="UTF-8"):
        load(file, {})
