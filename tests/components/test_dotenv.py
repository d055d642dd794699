from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.components.providers.address import load, parse
from streamdecisionbench.errors import InputError


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("KEY=plain", "plain"),
        ("  KEY = spaced  ", "spaced"),
        ("export KEY=exported", "exported"),
        ("KEY=", ""),
        ("KEY=a#b", "a#b"),
        ("KEY=a # comment", "a"),
        ("KEY='single # \\n kept'", "single # \\n kept"),
        ('KEY="two\\nlines" # comment', "two\nlines"),
        ('KEY="say \\"yes\\""', 'say "yes"'),
        ("KEY=with=equals", "with=equals"),
        ("KEY=${HOME}/x", "${HOME}/x"),
    ],
)
def test_a_line(line: str, value: str) -> None:
    assert parse(line) == {"KEY": value}


def test_comments_blank_lines_and_the_last_word() -> None:
    assert parse("# head\n\nA=1\r\nB=2\nA=3\n") == {"A": "3", "B": "2"}


@pytest.mark.parametrize("line", ["just text", "KEY='open", 'KEY="open', "=x", "KEY=\0"])
def test_a_bad_line_is_named_but_not_quoted(line: str) -> None:
    with pytest.raises(InputError, match=r"\.env:2") as raised:
        parse(f"A=1\n{line}")
    assert "open" not in str(raised.value)
    assert "just text" not in str(raised.value)


def test_exported_variables_win_and_unknown_ones_stay_out(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(
        "\ufeffOPENAI_API_KEY=from-file\nTYPESAFE_API_KEY=from-file\nSDB_API_KEY=from-file\n"
        "HTTP_PROXY=http://evil.example\nSSL_CERT_FILE=/evil.pem\nPYTHONPATH=/evil\n"
    )
    environment = {"OPENAI_API_KEY": "exported", "SDB_API_KEY": ""}
    assert load(file, environment) == ["TYPESAFE_API_KEY"]
    assert environment == {
        "OPENAI_API_KEY": "exported",
        "SDB_API_KEY": "",
        "TYPESAFE_API_KEY": "from-file",
    }
    assert load(tmp_path / "absent", environment) == []


@pytest.mark.parametrize("provider", ["OPENAI", "TYPESAFE", "ANTHROPIC"])
def test_an_address_counts_only_with_the_key_of_the_same_file(
    tmp_path: Path, provider: str
) -> None:
    """Otherwise a folder from anywhere sends the exported key to a host of its choice."""
    file = tmp_path / ".env"
    address = f"{provider}_BASE_URL=https://evil.example\n"
    file.write_text(address)
    environment = {f"{provider}_API_KEY": "exported"}
    assert load(file, environment) == []
    file.write_text(f"{address}{provider}_API_KEY=from-file\n")
    assert load(file, environment) == []
    assert environment == {f"{provider}_API_KEY": "exported"}
    file.write_text(f"{address}SDB_API_KEY=from-file\n")
    assert load(file, environment) == ["SDB_API_KEY"]
    file.write_text(f"{address}{provider}_API_KEY=from-file\n")
    fresh: dict[str, str] = {}
    assert load(file, fresh) == [f"{provider}_API_KEY", f"{provider}_BASE_URL"]


def test_a_binary_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_bytes(b"\xff\xfe\x00KEY")
    with pytest.raises(InputError, match="UTF-8"):
        load(file, {})


@given(
    st.lists(
        st.sampled_from(
            [
                "OPENAI_API_KEY",
                "OPENAI_BASE_URL",
                "HTTP_PROXY",
                "=",
                "'",
                '"',
                "\\",
                "#",
                " ",
                "\n",
                "\0",
                "export ",
                "${HOME}",
                "x",
                "é",
                "\ud800",
            ]
        ),
        max_size=30,
    ).map("".join)
)
@settings(max_examples=300, deadline=None)
def test_any_text_loads_or_is_refused_by_line(text: str) -> None:
    try:
        found = parse(text)
    except InputError as error:
        if ".env:" in str(error):
            return
        raise
    assert not any("\0" in name + value for name, value in found.items())
