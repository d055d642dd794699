from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamdecisionbench.components.providers.address_and_key import load, parse
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
    for blank in ("", " ", "\t"):
        file.write_text(f"{address}{provider}_API_KEY='{blank}'\n")
        assert load(file, {}) == [f"{provider}_API_KEY"]


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


_NAMES = ("OPENAI", "TYPESAFE", "ANTHROPIC")
_VARIABLES = [f"{name}_{kind}" for name in _NAMES for kind in ("API_KEY", "BASE_URL")]
_BLANK = st.sampled_from(["", " ", "\t", "\u00a0", " \t "])
_ADDRESS = st.sampled_from(
    ["https://evil.example/v1", "http://127.0.0.1:9", "https://api.openai.com"]
)


def _value(name: str, mark: str) -> st.SearchStrategy[str]:
    """An address, or a key that says where it is from; now and then blank."""
    usual = _ADDRESS if name.endswith("URL") else st.just(f"sk-{mark}-{name}")
    return st.one_of(usual, usual, _BLANK)


@given(
    exported=st.fixed_dictionaries(
        {}, optional={name: _value(name, "exported") for name in (*_VARIABLES, "SDB_API_KEY")}
    ),
    filed=st.fixed_dictionaries({name: _value(name, "filed") for name in _VARIABLES}),
    header=st.sampled_from([False, False, True]),
    given=st.sampled_from([None, "", " "]),
    provider=st.sampled_from(["openai", "chat", "openai-decisions", "systemone", "anthropic"]),
)
@settings(max_examples=400, deadline=None)
def test_an_address_from_the_file_gets_only_keys_of_the_file(
    exported: dict[str, str], filed: dict[str, str], header: bool, given: str | None, provider: str
) -> None:
    from streamdecisionbench.components.contract import Options
    from streamdecisionbench.components.registry import create

    library = {
        "OPENAI_CUSTOM_HEADERS": "X-Gateway: sk-exported-header",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Gateway: sk-exported-header",
        "ANTHROPIC_AUTH_TOKEN": "sk-exported-token",
        "OPENAI_ORG_ID": "exported-org",
    }
    prefix = {"systemone": "TYPESAFE", "anthropic": "ANTHROPIC"}.get(provider, "OPENAI")
    own = {"X-Own": "sk-exported-own"} if header else {}
    options = Options(headers=own, base_url=given)
    with TemporaryDirectory() as folder, mock.patch.dict(os.environ):
        for name in (*_VARIABLES, "SDB_API_KEY"):
            os.environ.pop(name, None)
        os.environ.update(exported | library)
        file = Path(folder) / ".env"
        file.write_text("".join(f"{name}='{value}'\n" for name, value in filed.items()))
        taken = load(file)
        try:
            component = create(f"{provider}:m", options)
        except InputError:
            return  # no key, a header for nobody knows whom: nothing is sent
        if f"{prefix}_BASE_URL" not in taken:
            return
        sent = [*component.secrets, repr(dict(getattr(component.sdk, "default_headers", {})))]
        assert not [text for text in sent if "exported" in text]


def test_a_header_does_not_follow_an_address_from_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from streamdecisionbench.components.contract import Options
    from streamdecisionbench.components.registry import create

    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / ".env"
    file.write_text("OPENAI_API_KEY=sk-theirs\nOPENAI_BASE_URL=https://evil.example\n")
    with mock.patch.dict(os.environ):
        load(file)
        with pytest.raises(InputError, match=r"--header .*\.env"):
            create("openai:m", Options(headers={"X-Team": "blue"}))
        named = Options(headers={"X-Team": "blue"}, base_url="https://models.example.org")
        assert create("openai:m", named).info.base_url_host == "models.example.org"
