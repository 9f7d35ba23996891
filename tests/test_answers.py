"""One query over the views, and its result in every form."""

import csv
import io
import json
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from etl import views
from etl.answers import Answer, answer_of, ask, statements_in
from etl.commit import Warehouse
from etl.errors import UsageError
from tests.sessions import assistant, run_sync, tool_result, tool_use, user, write_log

ODD = 'a "quoted", \n long — 🚢'
EVERY_KIND = f"""
select
    9007199254740993 as large,
    -1::tinyint as small,
    0.5::double as half,
    true as yes,
    '{ODD}' as words,
    null::varchar as nothing,
    date '2026-03-01' as day,
    [1, 2] as list,
    {{'a': 1}} as struct
"""

# What a log may hold that a spreadsheet would run, or a terminal obey.
STEERING = {
    "equals": "=cmd|' /C calc'!A0",
    "plus": "+1+1",
    "minus": "-2+3",
    "at": "@SUM(A1:A2)",
    "tab": "\t=1",
    "return": "\r=1",
    "newline": "\n=1",
    "wide": "\uff1d1+1",
    "link": '=HYPERLINK("http://127.0.0.1/?"&A1,"go")',
    "escape": "\x1b[2J\x1b]52;c;eA==\x07",
    "c1": "\x9b2J\x85\x90",
    "delete": "\x7f\x08",
    "turned": "\u202egnp.exe\u202c \u2066a\u2069 \u200e\u200f\u061c",
    "lines": "a\u2028b\u2029c",
    "words": 'café 🚢, "quoted"\nnext\tcell — 1 = 1',
    "joined": "👨\u200d👩\u200d👧",
    "plain": "a = 1 - 2 + @b",
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse that these tests only read."""
    folder = tmp_path_factory.mktemp("answers")
    write_log(folder / "logs", [user(ODD), assistant(tool_use()), tool_result()])
    run_sync(folder / "logs", folder / "lake")
    return Warehouse(folder / "lake")


@pytest.fixture(scope="module")
def every_kind(lake: Warehouse) -> Answer:
    return ask(lake, EVERY_KIND, time_zone="UTC")


def test_columns_come_in_select_order(every_kind: Answer) -> None:
    assert every_kind.names() == [
        *("large", "small", "half", "yes", "words", "nothing", "day", "list", "struct")
    ]


def test_json_has_integers_as_numbers_and_keeps_them_exact(every_kind: Answer) -> None:
    (row,) = json.loads(every_kind.json())
    assert list(row) == every_kind.names()
    assert row == {
        "large": 9007199254740993,
        "small": -1,
        "half": 0.5,
        "yes": True,
        "words": ODD,
        "nothing": None,
        "day": "2026-03-01",
        "list": [1, 2],
        "struct": {"a": 1},
    }


def test_a_counted_result_is_a_number_in_json(lake: Warehouse) -> None:
    answer = ask(
        lake, "select count(*) as n, max(output_tokens) as most from usage", time_zone=None
    )
    assert json.loads(answer.json()) == [{"n": 1, "most": 10}]


def test_csv_is_read_back_by_a_reader_of_csv(lake: Warehouse) -> None:
    answer = ask(lake, f"select '{ODD}' as words, 1 as n, null as nothing", time_zone=None)
    assert list(csv.reader(io.StringIO(answer.csv()))) == [
        ["words", "n", "nothing"],
        [ODD, "1", ""],
    ]


def test_csv_holds_no_formula_and_steers_nothing(lake: Warehouse) -> None:
    sql = f'select kind, told as "=kind\u202e" from ({_values(STEERING)}) as t(kind, told)'  # noqa: S608 - our own words
    shown = ask(lake, sql, time_zone=None).csv()
    assert shown == (Path(__file__).parent / "csv_of_steering_text.csv").read_text()
    cells = list(csv.reader(io.StringIO(shown)))
    assert cells[0] == ["kind", r"'=kind\u202e"]
    assert [cell[0] for cell in cells[1:]] == list(STEERING)
    assert not any(cell[1].startswith(("=", "+", "-", "@", "\t")) for cell in cells[1:])
    assert {letter for letter in shown if not letter.isprintable()} == {"\n", "\t", "\u200d"}


def _values(texts: dict[str, str]) -> str:
    quoted = ((kind, text.replace("'", "''")) for kind, text in texts.items())
    return "values " + ", ".join(f"('{kind}', '{text}')" for kind, text in quoted)


def test_a_nul_in_a_csv_cell_is_told_by_its_escape(lake: Warehouse) -> None:
    answer = ask(lake, "select chr(0) || 'a' as a, '=' || chr(0) as b", time_zone=None)
    assert answer.csv() == "a,b\n'\\x00a,'=\\x00\n"


def test_numbers_in_csv_stay_numbers_and_emptiness_stays_a_row(lake: Warehouse) -> None:
    sql = "select -1 as i, -1.50::decimal(4, 2) as d, -0.5::double as f, date '2026-03-01' as day"
    assert ask(lake, sql, time_zone=None).csv() == "i,d,f,day\n-1,-1.50,-0.5,2026-03-01\n"
    nothing = "select unnest([null, 'a', ''])::varchar as a"
    assert ask(lake, nothing, time_zone=None).csv() == 'a\n""\na\n""\n'


def test_parquet_keeps_the_types(every_kind: Answer) -> None:
    sink = io.BytesIO()
    every_kind.write_parquet(sink)
    table = pq.read_table(io.BytesIO(sink.getvalue()))
    assert table.schema.field("large").type == pa.int64()
    assert table.schema.field("small").type == pa.int8()
    assert table.schema.field("day").type == pa.date32()
    assert table.column("words").to_pylist() == [ODD]


def test_a_result_without_rows_keeps_its_columns_in_every_form(lake: Warehouse) -> None:
    answer = ask(lake, "select turn_id, line_no from usage where false", time_zone=None)
    assert (answer.names(), answer.rows()) == (["turn_id", "line_no"], [])
    assert json.loads(answer.json()) == []
    assert answer.csv() == "turn_id,line_no\n"
    sink = io.BytesIO()
    answer.write_parquet(sink)
    assert pq.read_table(io.BytesIO(sink.getvalue())).column_names == ["turn_id", "line_no"]


def test_a_question_without_words_gives_an_empty_answer(lake: Warehouse) -> None:
    answer = ask(lake, "-- hm", time_zone=None)
    assert (answer.names(), answer.rows(), json.loads(answer.json())) == ([], [], [])


def test_every_table_and_view_is_listed(lake: Warehouse) -> None:
    listed = {row[0] for row in ask(lake, "show tables", time_zone=None).rows()}
    assert {"entries", "usage", "turns", "daily_spend", "source_files"} <= listed


@pytest.mark.parametrize(("zone", "hour"), [("UTC", 8), ("Asia/Kolkata", 13)])
def test_instants_are_told_in_the_zone_asked_for(lake: Warehouse, zone: str, hour: int) -> None:
    ask_for = "select hour(occurred_at) as hour from usage"
    assert ask(lake, ask_for, time_zone=zone).rows() == [(hour,)]


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("selec 1", "syntax error"),
        ("select nothing from usage", "nothing"),
        ("select * from nowhere", "nowhere"),
        ("select error('out of ink')", "out of ink"),
    ],
)
def test_sql_that_does_not_work_is_a_usage_error(lake: Warehouse, sql: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        ask(lake, sql, time_zone=None)
    assert "show tables" in str(caught.value.hint)


@pytest.mark.parametrize(
    "sql",
    [
        "install httpfs",
        "select 1; /* then */ LOAD httpfs; select 2",
        "set extension_directory = '/tmp'; install httpfs; select 1",
        "update extensions",
        "from 'https://127.0.0.1:9/x.parquet'",
    ],
)
def test_a_question_that_asks_for_the_network_is_refused_at_once(lake: Warehouse, sql: str) -> None:
    with pytest.raises(UsageError, match="reaches no network and loads no extension") as caught:
        ask(lake, sql, time_zone=None)
    assert "bring the file" in str(caught.value.hint)
    assert "extensions.duckdb" not in caught.value.what


def test_a_question_to_no_warehouse_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no warehouse at") as caught:
        ask(Warehouse(tmp_path / "lake"), "select 1", time_zone=None)
    assert "cclake sync" in str(caught.value.hint)
    assert not (tmp_path / "lake").exists()


def test_nothing_asked_can_change_the_next_answer(lake: Warehouse) -> None:
    ask(lake, "create or replace view main.usage as select 1 as output_tokens", time_zone=None)
    assert ask(lake, "select output_tokens from usage", time_zone=None).rows() == [(10,)]


def test_a_sum_of_integers_is_a_number_in_every_form(lake: Warehouse) -> None:
    answer = ask(lake, "select sum(line_no) as s from entries", time_zone=None)
    assert answer.rows() == [(6,)]
    assert (json.loads(answer.json()), answer.csv()) == ([{"s": 6}], "s\n6\n")


def test_bytes_lists_and_spans_have_a_text_in_json_and_csv(lake: Warehouse) -> None:
    sql = r"select '\xFFa'::blob as b, [1, 2] as l, interval 1 day as i, 'nan'::double as n"
    answer = ask(lake, sql, time_zone=None)
    (row,) = json.loads(answer.json())
    assert (row["b"], row["l"], row["n"]) == (r"\xffa", [1, 2], None)
    assert answer.csv().startswith('b,l,i,n\n\\xffa,"[1,2]",')


def test_every_column_of_every_table_can_be_printed(lake: Warehouse) -> None:
    for name in ("entries", "source_files", "rejects", "turns", "sync_runs"):
        answer = ask(lake, f"select * from {name}", time_zone=None)  # noqa: S608 - our own names
        assert len(json.loads(answer.json())) == len(answer.rows())
        assert answer.csv().count("\n") >= len(answer.rows())


@pytest.mark.parametrize("sql", ["select 'infinity'::timestamp", "select '99999-01-01'::date"])
def test_a_value_out_of_range_is_a_usage_error(lake: Warehouse, sql: str) -> None:
    with pytest.raises(UsageError, match="out of range"):
        ask(lake, sql, time_zone=None)


def test_a_zone_that_is_not_known_is_a_usage_error(lake: Warehouse) -> None:
    with pytest.raises(UsageError, match="'Nowhere' is not known"):
        ask(lake, "select 1", time_zone="Nowhere")


def test_decimals_are_written_with_all_their_digits_and_never_as_floats(lake: Warehouse) -> None:
    sql = (
        "select 12345678901234.000000000001::decimal(38, 12) as big, 3e-7::decimal(12, 12) as small"
    )
    answer = ask(lake, sql, time_zone=None)
    assert answer.json() == '[{"big":12345678901234.000000000001,"small":0.000000300000}]'
    assert answer.csv() == "big,small\n12345678901234.000000000001,0.000000300000\n"


def test_a_refusal_is_short_whatever_it_quotes(lake: Warehouse) -> None:
    for sql in (f"select '{'x' * 100_000}'::integer", "select error(repeat('x' || chr(10), 1000))"):
        with pytest.raises(UsageError) as caught:
            ask(lake, sql, time_zone=None)
        assert len(caught.value.what) < 700
        assert "…" in caught.value.what


def test_the_first_rows_are_asked_for_alone(lake: Warehouse) -> None:
    with closing(views.connect(lake)) as con:
        some = answer_of(con, "from range(1000000000000)", most=3)
        assert some.rows() == [(0,), (1,), (2,)]
        assert answer_of(con, "select $a as a", values={"a": 7}).rows() == [(7,)]


def test_the_statements_of_a_text_are_told_apart(lake: Warehouse) -> None:
    with closing(views.connect(lake)) as con:
        told = statements_in(con, "select ';';\n select 2")
        assert [one.strip() for one in told] == ["select ';';", "select 2"]
        with pytest.raises(UsageError, match="Parser Error"):
            statements_in(con, "selec")
