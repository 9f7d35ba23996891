"""The price book for people: its cards, and why a name is priced as it is, or is not."""

import json
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from etl import cards
from etl.cards import Explanation, Request
from etl.cli import main
from etl.prices import shipped
from etl.prices.overrides import with_overrides
from tests.sessions import assistant, run_sync, user, write_log

DAY = date(2026, 11, 1)
OWN = """\
[[price]]
model = "claude-opus-4-8"
from = 2026-09-01
input = "4"
note = "our contract"

[[price]]
model = "glow-1"
prompt_over = 1000
to = 2026-12-01
input = "0.000001"

[[alias]]
name = "gateway/big"
model = "claude-opus-4-8"
"""
BOOK = with_overrides(shipped(), OWN, "prices.toml")


@pytest.fixture(autouse=True)
def own_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prices.toml").write_text(OWN)
    monkeypatch.setenv("CCLAKE_PRICES", str(tmp_path / "prices.toml"))


def explained(name: str, day: date = DAY, speed: str = "standard", prompt: int = 1) -> Explanation:
    return cards.explained(BOOK, Request(name, day, speed, prompt))


def prices(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["prices", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


# ---- Dollars.


@pytest.mark.parametrize(
    ("pico_usd", "shown"),
    [
        (5_000_000, "5.00"),
        (300_000, "0.30"),
        (125_000, "0.125"),
        (1, "0.000001"),
        (0, "0.00"),
        (10**12, "1000000.00"),
        (10**12 - 1, "999999.999999"),
    ],
)
def test_dollars_are_exact_and_have_cents(pico_usd: int, shown: str) -> None:
    assert f"{cards.usd(pico_usd):f}" == shown
    assert cards.usd(None) is None


# ---- What a name means.


@pytest.mark.parametrize(
    ("name", "model", "how"),
    [
        ("claude-opus-5", "claude-opus-5", "the name as it is"),
        (" Gateway/BIG", "claude-opus-4-8", "by an alias of your own"),
        ("claude-opus-4-5-20251101", "claude-opus-4-5", "without '-20251101'"),
        (
            "us.anthropic.claude-opus-4-6-v1:0",
            "claude-opus-4-6",
            "without 'us.anthropic.' and '-v1:0'",
        ),
        (
            "claude-4.5-sonnet[1m]",
            "claude-sonnet-4-5",
            "without '[1m]', spelled 'claude-4.5-sonnet'",
        ),
        ("claude-sonnet-4-0", "claude-sonnet-4", "spelled 'claude-sonnet-4-0'"),
        ("openrouter/glow-1", "glow-1", "without 'openrouter/'"),
        ("claude-opus-4-9", None, None),
    ],
)
def test_it_is_said_by_which_rule_a_name_means_a_model(
    name: str, model: str | None, how: str | None
) -> None:
    found = explained(name)
    assert (found.model, found.how) == (model, how)


def test_an_unknown_model_has_close_names_and_no_price() -> None:
    found = explained("us.anthropic.claude-opus-4-9-v1")
    assert (found.card, found.multipliers) == (None, ())
    assert found.unpriced == (
        "no model of the price book has this name, and none is priced as its neighbour"
    )
    assert found.closest == ("claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6")
    assert explained("zzz").closest == ()


# ---- Which card, and why none.


def test_a_card_is_that_of_day_speed_and_prompt() -> None:
    found = explained("claude-opus-4-6-fast", date(2026, 2, 10), prompt=200_001)
    assert found.card
    assert (found.speed, found.card.prompt_over) == ("fast", 200_000)
    assert found.card.usd_per_million_tokens["output"] == Decimal(225)
    assert found.card.days() == "from 2026-02-07, before 2026-02-21"


def test_fast_mode_without_a_card_says_when_there_was_one() -> None:
    assert explained("claude-opus-4-6", speed="fast").unpriced == (
        "claude-opus-4-6 has no card for fast speed on 2026-11-01,"
        " but from 2026-02-07, before 2026-06-29"
    )
    unpriced = explained("claude-haiku-4-5-fast").unpriced
    assert unpriced == "claude-haiku-4-5 has no card for fast speed"


def test_an_own_price_has_its_days_and_sizes_and_no_others() -> None:
    alone = "glow-1 has a card for prompts over 1,000 tokens alone"
    assert explained("glow-1", prompt=1000).unpriced == alone
    over = explained("glow-1", date(2026, 12, 1), prompt=1001).unpriced
    assert over == "glow-1 has no card for standard speed on 2026-12-01, but before 2026-12-01"
    card = explained("glow-1", prompt=1001).card
    assert card
    assert (card.provider, card.valid_from, card.usd_per_1000_searches) == ("own", None, None)


def test_remarks_tell_of_days_before_the_first_card_and_of_larger_prompts() -> None:
    assert explained("claude-haiku-5-5", date(2020, 1, 1)).remarks == (
        "the model's first card prices the days before 2026-10-07, too",
    )
    assert explained("claude-haiku-5-5").remarks == (
        "prompts over 100,000 tokens have a card of their own",
    )


# ---- Shares of the price.


def test_it_is_said_which_multipliers_apply_and_why() -> None:
    regional, plain, older = (
        explained(name)
        for name in ("us.anthropic.claude-opus-4-6-v1", "claude-opus-4-6", "claude-opus-4")
    )
    assert [(rule.multiplier, rule.applies, rule.why) for rule in regional.multipliers] == [
        (Decimal("0.50"), None, "for a request whose service_tier is batch"),
        (Decimal("1.10"), None, "for a request whose inference_geo is us"),
        (Decimal("1.10"), True, "applies: the name says a regional endpoint"),
    ]
    assert plain.multipliers[2].why == "does not apply: the name says no region"
    assert older.multipliers[2].why == "no surcharge: the rule names other models"


def test_multipliers_that_there_are_none_of_say_so() -> None:
    fast = explained("claude-opus-5-fast").multipliers[0]
    assert (fast.multiplier, fast.why) == (None, "no price: fast mode has no batches")
    own = explained("glow-1", prompt=1001).multipliers
    told = (None, False, "not known: it is a rule of Anthropic's prices")
    assert {(rule.multiplier, rule.applies, rule.why) for rule in own} == {told}


# ---- The command.


def test_the_cards_are_a_table_in_the_order_of_their_names() -> None:
    result = prices("claude-opus-4-8", "GLOW")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "model            speed     from        to          prompts over     input  output"
        "  write 5m  write 1h  read  evidence\n"
        "───────────────  ────────  ──────────  ──────────  ────────────  ────────  ──────"
        "  ────────  ────────  ────  ────────\n"
        "claude-opus-4-8  standard  2026-05-28  2026-09-01                    5.00   25.00"
        "      6.25     10.00  0.50  official\n"
        "claude-opus-4-8  standard  2026-09-01                                4.00   25.00"
        "      6.25     10.00  0.50  own\n"
        "claude-opus-4-8  fast      2026-05-28                               10.00   50.00"
        "     12.50     20.00  1.00  derived\n"
        "glow-1           standard              2026-12-01         1,000  0.000001        "
        "                            own\n"
    )


def test_the_cards_of_claude_and_own_ones_are_listed_unless_told() -> None:
    listed = json.loads(prices("--json").stdout)
    assert listed == json.loads(prices("list", "--json").stdout)
    assert {card["model"] for card in listed} == BOOK.models("anthropic") | BOOK.models("own")
    assert len(prices().stdout.splitlines()) == len(listed) + 2


def test_the_cards_of_a_vendor_are_listed_by_its_name() -> None:
    assert {one.provider for one in cards.listed(BOOK, ["zai/"])} == {"zai"}


def test_a_card_as_json_has_its_dollars_with_all_digits() -> None:
    (card,) = json.loads(prices("glow", "--json").stdout, parse_float=str)
    assert card == {
        "model": "glow-1",
        "provider": "own",
        "speed": "standard",
        "valid_from": None,
        "valid_to": "2026-12-01",
        "prompt_over": 1000,
        "usd_per_million_tokens": {
            "input": "0.000001",
            "output": None,
            "cache_write_5m": None,
            "cache_write_1h": None,
            "cache_read": None,
        },
        "usd_per_1000_searches": None,
        "evidence": "own",
        "source": "prices.toml, line 7",
        "note": None,
    }


def test_no_card_is_no_result_and_a_word() -> None:
    result = prices("opus", "x\x1b")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "no model begins with opus or x\\x1b; cclake prices lists them all\n"
    assert json.loads(prices("opus", "--json").stdout) == []


def test_a_price_is_explained_in_words() -> None:
    result = prices("explain", "gateway/big", "--on", "2026-11-01", "--prompt", "1234")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == """\
name               gateway/big
means              claude-opus-4-8, by an alias of your own
on                 2026-11-01, at standard speed, a prompt of 1,234 tokens
card               anthropic, from 2026-09-01
input               4.00 USD for a million
output             25.00 USD for a million
cache_write_5m      6.25 USD for a million
cache_write_1h     10.00 USD for a million
cache_read          0.50 USD for a million
web_search         10.00 USD for a thousand
source             prices.toml, line 1 (input); pricing page (own)
note               our contract
batch              times 0.50  for a request whose service_tier is batch
us_inference       times 1.10  for a request whose inference_geo is us
regional_endpoint  times 1.10  does not apply: the name says no region
"""
    )


def test_what_has_no_price_is_a_result_too() -> None:
    result = prices("explain", "claude-opus-4-9\x1b", "--on", "2026-11-01")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == """\
name               claude-opus-4-9\\x1b
means              nothing in the price book
on                 2026-11-01, at standard speed
no price           no model of the price book has this name, and none is priced as its neighbour
closest            claude-opus-4-8, claude-opus-4-7, claude-opus-4-6
"""
    )


def test_an_explanation_as_json_has_the_same_members_with_and_without_a_price() -> None:
    known, unknown = (
        json.loads(prices("explain", name, "--speed", "fast", "--json").stdout, parse_float=str)
        for name in ("claude-opus-5", "claude-opus-9")
    )
    assert list(known) == list(unknown)
    assert known["card"]["usd_per_million_tokens"]["input"] == "10.00"
    assert [rule["multiplier"] for rule in known["multipliers"]] == [None, "1.10", "1.10"]
    assert unknown["card"] is None


def test_a_day_is_today_unless_told() -> None:
    before = datetime.now(tz=UTC).date()
    told = json.loads(prices("explain", "claude-opus-5", "--json").stdout)["day"]
    assert before <= date.fromisoformat(told) <= datetime.now(tz=UTC).date()


@pytest.mark.parametrize("day", ["2026-02-30", "today", "2026-11", ""])
def test_an_impossible_day_is_exit_2(day: str) -> None:
    result = prices("explain", "claude-opus-5", "--on", day)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"cclake: '{day}' is no day\nhint: write it as 2026-11-18\n"


BILL = """\
piece    model                       priced as          component       units    unit_usd  share  amount_usd
───────  ──────────────────────────  ─────────────────  ──────────────  ─────  ──────────  ─────  ──────────
message  claude-sonnet-4-5-20250929  claude-sonnet-4-5  input               3    0.000003      1    0.000009
message  claude-sonnet-4-5-20250929  claude-sonnet-4-5  cache_write_5m    100  0.00000375      1    0.000375
message  claude-sonnet-4-5-20250929  claude-sonnet-4-5  cache_read      1,000   0.0000003      1      0.0003
message  claude-sonnet-4-5-20250929  claude-sonnet-4-5  output              8    0.000015      1     0.00012
message: claude-sonnet-4-5-20250929, priced, ttl_assumed_5m
msg_1: 0.000804 USD at list price
"""  # noqa: E501 - as it is printed


def test_the_id_of_a_message_shows_its_cost_line_by_line(tmp_path: Path) -> None:
    write_log(tmp_path, [user("Hi"), assistant(message_id="msg_1", output=8, stop="end_turn")])
    run_sync(tmp_path, tmp_path / "lake")
    asked = ["explain", "msg_1", "--warehouse", str(tmp_path / "lake")]
    assert prices(*asked).stdout == BILL
    assert (
        json.loads(prices(*asked, "--json").stdout, parse_float=str)["cost_usd"] == "0.000804000000"
    )


def test_a_sync_that_must_be_priced_fails_by_name_and_is_committed(tmp_path: Path) -> None:
    write_log(tmp_path, [user("Hi"), assistant(model="glow-9")])
    asked = ["--logs", str(tmp_path), "--warehouse", str(tmp_path / "lake")]
    result = CliRunner().invoke(main, ["sync", *asked, "--strict"])
    assert result.exit_code == 4
    assert "something has no price: glow-9: unpriced_model, 1,113 tokens" in result.stderr
    assert CliRunner().invoke(main, ["sync", *asked]).exit_code == 0


def test_help_tells_of_both_commands() -> None:
    result = prices("--help")
    assert result.exit_code == 0
    assert re.findall(r"^  (explain|list)\b", result.stdout, re.MULTILINE) == ["explain", "list"]
