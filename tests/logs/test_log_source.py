"""One object says where a log comes from; commands and the API build the same one."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest
from typer.main import get_params_convertors_ctx_param_name_from_function as options_of

import streamdecisionbench as sdb
from streamdecisionbench.cli import logs_command
from streamdecisionbench.errors import InputError
from streamdecisionbench.logs.log_source import LogSource
from tests.logs.made_logs import rows_of, table_of
from tests.logs.test_score_log import drawn

READS = ("score", "show", "check", "pace", "suite", "import")


def _parameters(command: object) -> dict[str, object]:
    return {one.name: one for one in options_of(command)[0]}


@pytest.mark.parametrize("name", READS)
def test_commands_share_options_and_defaults(name: str) -> None:
    found = _parameters(logs_command.COMMANDS[name])
    for field in fields(LogSource):
        if field.name in ("table", "progress", "references") or (
            name == "check" and field.name == "allow_unusable"
        ):
            continue
        assert found[field.name].default == field.default, field.name
    assert {"sources", "references", "quiet"} <= found.keys()
    assert "source" not in found


def test_no_public_function_of_a_log_has_more_than_twelve_parameters() -> None:
    for function in (sdb.score_log, LogSource.open, LogSource.opened):
        own = inspect.signature(function).parameters
        assert sum(one.kind is not one.VAR_KEYWORD for one in own.values()) <= 12


def test_keywords_and_a_log_source_score_the_same(tmp_path) -> None:
    table = table_of(rows_of(drawn(4)))
    mapping = tmp_path / "mapping.sql"
    mapping.write_text("SELECT * FROM source")
    want = sdb.score_log(table, resamples=0).to_json()
    for source in (LogSource(table, sql=mapping), LogSource(table, sql="SELECT * FROM source")):
        assert sdb.score_log(source, resamples=0).to_json() == want
    assert sdb.score_log(LogSource(table), sql=mapping, resamples=0).to_json() == want
    with pytest.raises(TypeError, match="squl"):
        sdb.score_log(table, squl="SELECT 1")


def test_an_error_in_a_query_names_its_file(tmp_path) -> None:
    mapping = tmp_path / "mapping.sql"
    mapping.write_text("SELECT nothing FROM source")
    with pytest.raises(InputError, match=r"mapping\.sql"):
        sdb.score_log(table_of(rows_of(drawn(2))), sql=mapping)
