"""The price book as tables: what tokens cost, and which model a logged name means."""

import pyarrow as pa

from etl.tables.shape import BOOLEAN, INTEGER, SMALL, STRING, Column, Table

RATE_CARDS = Table(
    "rate_cards",
    "what one model costs, for some days and some sizes of prompt",
    ("model", "speed", "prompt_min", "valid_from"),
    (
        Column("model", STRING, "Model, by the price book's name."),
        Column("provider", STRING, "Whose model it is, and whose price."),
        Column("speed", STRING, "standard or fast."),
        Column("prompt_min", INTEGER, "Smallest prompt it prices, in tokens, cache included."),
        Column("prompt_max", INTEGER, "Largest prompt it prices."),
        Column("valid_from", pa.date32(), "First day it holds, UTC."),
        Column("valid_to", pa.date32(), "Day on which it no longer holds, UTC."),
        Column("input_pico_usd", INTEGER, "Pico-dollars for an input token."),
        Column("output_pico_usd", INTEGER, "Pico-dollars for an output token."),
        Column("cache_write_5m_pico_usd", INTEGER, "For a token written to the 5-minute cache."),
        Column("cache_write_1h_pico_usd", INTEGER, "For a token written to the 1-hour cache."),
        Column("cache_read_pico_usd", INTEGER, "For a token read from the cache."),
        Column("web_search_pico_usd", INTEGER, "Pico-dollars for a web search."),
        Column("batch_hundredths", SMALL, "Share of the price in a batch, in 1/100; null if none."),
        Column("us_hundredths", SMALL, "Share of the price for inference in the US, in 1/100."),
        Column("regional_hundredths", SMALL, "Share for a cloud's regional endpoint, in 1/100."),
        Column("source", STRING, "Where the price is from."),
        Column("evidence", STRING, "official, quoted, excerpt, library, fallback, derived or own."),
    ),
)

MODEL_NAMES = Table(
    "model_names",
    "one model name that is logged",
    ("name",),
    (
        Column("name", STRING, "Name as logged."),
        Column("model", STRING, "The price book's model; null if it has none."),
        Column("is_regional", BOOLEAN, "It was reached by a cloud's regional endpoint."),
        Column("speed", STRING, "fast where the name says so."),
    ),
)
