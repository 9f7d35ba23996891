"""A person's own prices and names: what they change in the book, and what is refused, and where."""

from datetime import date

import pytest

from etl.errors import UsageError
from etl.prices import shipped
from etl.prices.book import Book
from etl.prices.layers import OWN
from etl.prices.names import NamedModel, named
from etl.prices.overrides import with_overrides
from etl.prices.rates import rates_of

OPUS = "claude-opus-4-5"
HEAD = f'# mine\n[[price]]\nmodel = "{OPUS}"\n'
ALIAS = '[[alias]]\nname = "gateway/big"\n'


def own(text: str) -> Book:
    return with_overrides(shipped(), text, "/etc/cclake/prices.toml")


def price(text: str, day: str, component: str = "input", model: str = OPUS) -> int | None:
    card = own(text).card_for(model, "standard", 5, date.fromisoformat(day))
    return card.pico_usd.get(component) if card else None


def read_name(book: Book, name: str) -> NamedModel:
    return named(name, book.models(), aliases=book.aliases)


def refusal(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        own(text)
    assert caught.value.hint
    return str(caught.value).removeprefix("/etc/cclake/")


# ---- Prices.


def test_an_own_price_holds_for_its_days_alone() -> None:
    text = HEAD + 'from = 2026-02-01\nto = 2026-03-01\ninput = "4"\n'
    days = ("2026-01-31", "2026-02-01", "2026-02-28", "2026-03-01")
    assert [price(text, day) for day in days] == [5_000_000, 4_000_000, 4_000_000, 5_000_000]
    assert price(text, "2026-02-01", "output") == 25_000_000


def test_an_own_price_without_days_holds_for_ever() -> None:
    text = HEAD + 'cache_read = "0.25"\nnote = "our contract"\n'
    assert [price(text, day, "cache_read") for day in ("2020-01-01", "2030-01-01")] == [250_000] * 2
    card = own(text).card_for(OPUS, "standard", 5, date(2026, 1, 1))
    assert card
    assert (card.evidence, card.note) == (OWN, "our contract")
    assert card.source.startswith("prices.toml, line 2 (cache_read); ")


def test_the_later_of_two_own_prices_wins_where_both_hold() -> None:
    text = HEAD + 'input = "1"\noutput = "1"\n' + HEAD + 'from = 2026-02-01\ninput = "2"\n'
    assert [price(text, day) for day in ("2026-01-31", "2026-02-01")] == [1_000_000, 2_000_000]
    assert price(text, "2026-02-01", "output") == 1_000_000


def test_an_own_price_of_a_stranger_is_all_that_is_known_of_it() -> None:
    text = '[[price]]\nmodel = "Glow-1.5_Preview"\ninput = "1"\n'
    book = own(text)
    found = read_name(book, " glow-1.5_PREVIEW ")
    assert found.model == "glow-1.5_preview"
    assert price(text, "2026-01-01", "input", found.model) == 1_000_000
    assert price(text, "2026-01-01", "output", found.model) is None
    (rate,) = [rate for rate in rates_of(book) if rate.model == found.model]
    assert (rate.provider, rate.batch_hundredths, rate.web_search_pico_usd) == (OWN, None, None)


def test_every_model_of_the_book_can_have_an_own_price() -> None:
    models = sorted(shipped().models())
    book = own("".join(f'[[price]]\nmodel = "{model}"\ninput = "7"\n' for model in models))
    cards = [book.card_for(model, "standard", 0, date(2026, 11, 1)) for model in models]
    assert {card and card.pico_usd["input"] for card in cards} == {7_000_000}
    assert (book.models(), book.aliases) == (shipped().models(), {})


def test_searches_are_priced_by_the_thousand() -> None:
    text = HEAD + 'web_search = "12.50"\n[[price]]\nmodel = "glow-1"\nweb_search = "1"\n'
    rates = {rate.model: rate for rate in rates_of(own(text))}
    assert rates[OPUS].web_search_pico_usd == 12_500_000_000
    assert rates["glow-1"].web_search_pico_usd == 1_000_000_000
    assert rates["claude-opus-5"].web_search_pico_usd == 10_000_000_000


@pytest.mark.parametrize(
    ("written", "pico_usd"),
    [
        ("0", 0),
        ("007", 7_000_000),
        ("0.000001", 1),
        ("1.500000000", 1_500_000),
        ("1000", 10**9),
    ],
)
def test_a_price_is_a_plain_number(written: str, pico_usd: int) -> None:
    assert price(f'{HEAD}input = "{written}"\n', "2026-01-01") == pico_usd


def test_a_book_with_own_prices_is_another_book_and_a_file_without_any_is_not() -> None:
    texts = (HEAD + 'input = "4"\n', HEAD + 'input = "5"\n', ALIAS + f'model = "{OPUS}"\n')
    hashes = {own(text).content_hash for text in texts}
    assert len(hashes | {shipped().content_hash}) == 4
    assert own("# nothing yet\n") is shipped()


# ---- Names.


def test_an_alias_is_looked_at_before_any_rule() -> None:
    text = ALIAS + f'model = "{OPUS}"\n[[alias]]\nname = "us.anthropic.claude-opus-4-8-fast"\n'
    book = own(text + 'model = "Claude-Sonnet-4-5"\n')
    for name in ("gateway/big", " Gateway/BIG "):
        assert read_name(book, name) == NamedModel(name, OPUS)
    name = "us.anthropic.claude-opus-4-8-fast"
    assert read_name(book, name) == NamedModel(name, "claude-sonnet-4-5")
    assert read_name(book, "gateway/bigger").model is None
    assert read_name(book, "us.anthropic.claude-opus-4-8").is_regional


def test_an_alias_may_name_a_model_that_only_the_file_prices() -> None:
    text = ALIAS + 'model = "glow-1"\n[[price]]\nmodel = "glow-1"\ninput = "1"\n'
    assert read_name(own(text), "gateway/big").model == "glow-1"


# ---- Refusals, each with its line.


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("input = 0.3", 'line 4: input: a price is written as text, such as "0.30", not 0.3'),
        ("input = 3", 'line 4: input: a price is written as text, such as "0.30", not 3'),
        ("input = true", 'such as "0.30", not true'),
        ('input = "-3"', 'line 4: input: "-3" is no price'),
        ('input = "dear"', 'line 4: input: "dear" is no price'),
        ('input = ""', 'line 4: input: "" is no price'),
        ('input = "1e3"', 'line 4: input: "1e3" is no price'),
        ('input = "1e999999999999"', "is no price"),
        ('input = "1_000"', "is no price"),
        ('input = "٣"', "is no price"),
        ('input = "NaN"', "is no price"),
        ('input = "$3"', "is no price"),
        ('input = ".5"', "is no price"),
        ('input = "0.0000001"', 'line 4: input: "0.0000001" has more than 6 decimals'),
        (f'input = "0.3{"0" * 40}1"', "has more than 6 decimals"),
        ('input = "1000.000001"', "is above 1,000"),
        (f'input = "{"9" * 9999}"', "is above 1,000"),
        ('web_search = "1000001"', "line 4: web_search: "),
        ('imput = "3"', "line 4: imput: nobody reads this; known are cache_read, "),
        ('input = "3"\nspeed = "warp"', 'line 5: speed: "warp" is not known; it is standard or'),
        ('input = "3"\nprompt_over = "1"', "line 5: prompt_over: it is a number of tokens"),
        ('input = "3"\n\nfrom = "2026-01-01"', "line 6: from: a day is written as 2026-11-18"),
        ('input = "3"\nfrom = 2026-01-01T00:00:00Z', "line 5: from: a day is written as"),
        ('input = "3"\nfrom = 2026-02-30', "line 5: "),
        (
            'from = 2026-02-01\nto = 2026-01-01\ninput = "3"',
            "line 5: to: 2026-01-01 is not after 2026-02-01",
        ),
        ('input = "3"\nnote = 1', "line 5: note: it is some text in quotes, not 1"),
        ("", "line 2: it has no price; name one of input, output, "),
    ],
)
def test_an_own_price_that_is_wrong_is_refused_with_its_line(line: str, told: str) -> None:
    said = refusal(f"{HEAD}{line}\n")
    assert said.startswith("prices.toml, line ")
    assert told in said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[[price]]\ninput = "3"\n', "line 1: it has no model"),
        ('[[price]]\ninput = "3"\nmodel = ""\n', "line 3: model: it is some text in quotes"),
        (
            '[[price]]\nmodel = "claude-opus-4-5-20251101"\ninput = "3"\n',
            'line 2: model: "claude-opus-4-5-20251101" is a name of claude-opus-4-5; write "claude',
        ),
        (
            '[[price]]\nmodel = "GLM-4.6"\ninput = "3"\n',
            'line 2: model: "GLM-4.6" is a name of zai/glm-4.6; write "zai/glm-4.6"',
        ),
        (ALIAS, "line 1: it has no model"),
        (f'[[alias]]\nmodel = "{OPUS}"\n', "line 1: it has no name"),
        (ALIAS + "model = 1\n", "line 3: model: it is some text in quotes, not 1"),
        (
            ALIAS + 'model = "claude-opus-4-9"\n',
            'line 3: model: the book has no "claude-opus-4-9"; ',
        ),
        (ALIAS + 'model = "zzz"\n', "; cclake prices lists what it has"),
        (ALIAS + f'model = "{OPUS}"\nwhy = "z"\n', "line 4: why: nobody reads this"),
        (
            f'{ALIAS}model = "{OPUS}"\n[[alias]]\nname = " Gateway/Big"\nmodel = "{OPUS}"\n',
            'line 5: name: "Gateway/Big" is an alias already',
        ),
        (
            ALIAS + f'model = "{OPUS}"\n[[price]]\nmodel = "gateway/big"\ninput = "1"\n',
            'line 2: name: "gateway/big" has a price of its own in this file',
        ),
        ("\n[[prices]]\n", "line 2: prices: nobody reads this; known are alias, price"),
        ("\n[price]\ninput = '3'\n", "line 2: price: it is written [[price]], in double brackets"),
        ("\n[[price]\n", "line 2: "),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(text: str, told: str) -> None:
    assert told in refusal(text)
