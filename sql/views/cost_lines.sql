-- How every cost comes about, line by line: units times the price of the card times its share.
-- grain: one component of a billed piece that has a price
-- key           key of the response
-- message_id    response id given by the API
-- piece_no      place of the piece among the response's pieces, from 0
-- piece         message, advisor, compaction, fallback, or what a newer kind is called
-- model         model that did it, as logged
-- price_model   the price book's name for it
-- card_speed    speed of the card
-- card_from     first day of the card
-- component     input, output, cache_read, cache_write_5m, cache_write_1h or web_search
-- units         tokens, or searches
-- unit_usd      price of one unit in dollars; null if the card has none
-- price_share   share of the price: batch, inference in the US, regional endpoint; 1 for searches
-- amount_usd    the product, exact; null if the card has no such price
-- source        where the price is from
-- evidence      how well it is known
with

components as (
    select
        pieces.key,
        pieces.message_id,
        pieces.piece_no,
        pieces.piece,
        pieces.model,
        pieces.price_model,
        pieces.card_speed,
        pieces.card_from,
        pieces.price_share,
        cards.source,
        cards.evidence,
        unnest(
            [
                ('input', pieces.input_tokens, cards.input_pico_usd),
                ('output', pieces.output_tokens, cards.output_pico_usd),
                ('cache_read', pieces.cache_read_tokens, cards.cache_read_pico_usd),
                ('cache_write_5m', pieces.cache_write_5m_tokens, cards.cache_write_5m_pico_usd),
                ('cache_write_1h', pieces.cache_write_1h_tokens, cards.cache_write_1h_pico_usd),
                ('web_search', pieces.web_search_requests, cards.web_search_pico_usd)
            ]::struct(component varchar, units bigint, pico_usd bigint)[]
        ) as line
    from token_spend as pieces
    join rate_cards as cards
        on pieces.price_model = cards.model
        and pieces.card_speed = cards.speed
        and pieces.card_from = cards.valid_from
        and pieces.card_prompt_min = cards.prompt_min
    where pieces.cost_status <> 'not_billable'
),

lines as (
    select
        components.* exclude (line)
        replace (
            case
                when line.component = 'web_search'
                    then 1
                else price_share
            end::decimal(8, 6) as price_share
        ),
        line.component as component,
        line.units as units,
        line.pico_usd::decimal(20, 0) * 0.000000000001::decimal(12, 12) as unit_usd
    from components
    where line.units > 0
)

select
    key,
    message_id,
    piece_no,
    piece,
    model,
    price_model,
    card_speed,
    card_from,
    component,
    units,
    unit_usd,
    price_share,
    (units::decimal(12, 0) * unit_usd::decimal(18, 12) * price_share)::decimal(38, 18)
        as amount_usd,
    source,
    evidence
from lines
