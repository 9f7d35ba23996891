"""Two lines a hit, with the words in the middle."""

from dataclasses import replace
from datetime import UTC, datetime

from etl.pages.hits import lines_of
from etl.pages.lines import Line, columns_of
from etl.search import Hit

HIT = Hit(
    occurred_at=datetime(2026, 3, 1, 8, tzinfo=UTC),
    project="/home/ada/kiln",
    session_id="11111111-1111-4111-8111-111111111111",
    agent_id=None,
    area="answers",
    tool_name=None,
    tool_use_id=None,
    uuid="a1",
    before="The door of ",
    hit="the kiln",
    after=" sticks.",
)


def words_of(line: Line) -> str:
    return "".join(words for words, _ in line)


def shown(hit: Hit, columns: int = 80) -> list[str]:
    return [words_of(line) for line in lines_of(hit, columns)]


def test_a_hit_says_when_where_and_what() -> None:
    assert shown(HIT) == [
        "2026-03-01 08:00  kiln · 11111111 · answer",
        "  The door of the kiln sticks.",
    ]
    _, snippet = lines_of(HIT, 60)
    assert [words for words, style in snippet if style == "hit"] == ["the kiln"]


def test_a_hit_in_a_tool_names_it_and_the_agent_that_called_it() -> None:
    (first, _) = shown(replace(HIT, area="results", tool_name="Bash", agent_id="a1b2"))
    assert first.endswith("kiln · 11111111 · Bash result of agent a1b2")
    (first, _) = shown(replace(HIT, area="inputs", tool_name=None))
    assert first.endswith("tool input")


def test_what_is_missing_is_left_out() -> None:
    (first, _) = shown(replace(HIT, occurred_at=None, project=None))
    assert first == "no date           11111111 · answer"


def test_the_words_stand_in_the_middle_of_what_fits() -> None:
    hit = replace(HIT, before="before " * 20, after=" after" * 20)
    (_, snippet) = shown(hit, 62)
    assert columns_of(snippet) == 62
    assert snippet.index("the kiln") == 28
    assert snippet.startswith("  …")
    assert snippet.endswith("…")


def test_room_that_one_side_leaves_is_the_others() -> None:
    (_, snippet) = shown(replace(HIT, before="a ", after=" after" * 20), 40)
    assert snippet.startswith("  a the kiln after")
    assert columns_of(snippet) == 40


def test_a_hit_stays_on_its_line_and_steers_nothing() -> None:
    (_, snippet) = shown(replace(HIT, before="\x1b[2J\n\n", hit="the\tkiln\u202e", after="\r"))
    assert snippet == "  \\x1b[2J the kiln\\u202e "


def test_what_went_into_a_tool_is_read_as_it_was_meant() -> None:
    before, after = '{"command":"echo \\"', '\\"\\n\\u0007\\\\ \\/"}'
    (_, snippet) = shown(replace(HIT, area="inputs", before=before, after=after))
    assert snippet == '  {"command":"echo "the kiln" \\x07\\ /"}'


def test_a_hit_longer_than_the_line_is_cut() -> None:
    for line in shown(replace(HIT, hit="kiln " * 50, project="/" + "p" * 90), 60):
        assert columns_of(line) <= 60
