"""Batches, places, web searches, names of models, and counts told in odd ways."""

from tests.prices.examples import (
    NO_MODEL,
    NO_VARIANT,
    PRICED,
    Example,
    Json,
    example,
    item,
    logged,
    used,
)

DAY = "2026-10-20"
OPUS = "claude-opus-5"
ALL = {"w5": 1_000, "w1": 1_000, "read": 10_000}  # with 1000 and 100 tokens of Opus 5: 28750

BATCH = [
    # half of 1000*5 + 100*25 + 1000*6.25 + 1000*10 + 10000*0.50
    example(
        "a batch costs half, its cache too",
        logged(OPUS, DAY, used(1_000, 100, **ALL, service_tier="batch")),
        "0.014375",
    ),
    example(
        "half of the smallest price is exact",
        logged("claude-haiku-5-5", DAY, used(w5=1, service_tier="batch")),
        "0.0000000625",
    ),
    # half of 100001*0.50
    example(
        "a long prompt in a batch costs half of the higher price",
        logged("claude-haiku-5-5", DAY, used(100_001, service_tier="batch")),
        "0.02500025",
    ),
    example(
        "the priority tier is priced by the list",
        logged(OPUS, DAY, used(1_000, 100, service_tier="priority")),
        "0.0075",
    ),
    *(
        example(
            f"a service tier that says {tier!r} is the standard one",
            logged(OPUS, DAY, used(1_000, 100, service_tier=tier)),
            "0.0075",
        )
        for tier in (None, "", "standard")
    ),
    example(
        "a service tier that nobody knows has no price",
        logged(OPUS, DAY, used(1_000, 100, service_tier="flex")),
        "0",
        NO_VARIANT,
    ),
]

PLACE = [
    # 28750 * 1.1
    example(
        "inference in the US costs a tenth more, for all tokens",
        logged(OPUS, DAY, used(1_000, 100, **ALL, inference_geo="us")),
        "0.031625",
    ),
    example(
        "a batch in the US costs half of a tenth more",
        logged(OPUS, DAY, used(1_000, 100, **ALL, inference_geo="us", service_tier="batch")),
        "0.0158125",
    ),
    example(
        "the rule for the US begins with Claude 4.6",
        logged("claude-opus-4-5", DAY, used(1_000, 100, inference_geo="us")),
        "0.0075",
    ),
    example(
        "Opus 4.6 is the first in the US",
        logged("claude-opus-4-6", "2026-06-01", used(1_000, 100, inference_geo="us")),
        "0.00825",
    ),
    *(
        example(
            f"a place that says {place!r} costs nothing more",
            logged(OPUS, DAY, used(1_000, 100, inference_geo=place)),
            "0.0075",
        )
        for place in (None, "", "global", "not_available")
    ),
    example(
        "a place that nobody knows has no price",
        logged(OPUS, DAY, used(1_000, 100, inference_geo="eu")),
        "0",
        NO_VARIANT,
    ),
    # 1.1 times 1000*3 + 100*15
    example(
        "a regional endpoint costs a tenth more",
        logged("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "2026-01-05", used(1_000, 100)),
        "0.00495",
    ),
    example(
        "an endpoint without a region in its name is a regional one",
        logged("anthropic.claude-opus-4-6-v1", "2026-06-01", used(1_000, 100)),
        "0.00825",
    ),
    example(
        "the global endpoint costs what the list says",
        logged("global.anthropic.claude-sonnet-4-5-20250929-v1:0", "2026-01-05", used(1_000, 100)),
        "0.0045",
    ),
    # 1000*15 + 100*75
    example(
        "the rule for regions begins with Claude 4.5",
        logged("us.anthropic.claude-opus-4-1-20250805-v1:0", "2026-01-05", used(1_000, 100)),
        "0.0225",
    ),
    # 7500 * 1.1 * 1.1
    example(
        "both rules on one response multiply",
        logged("eu.anthropic.claude-opus-5-v1:0", DAY, used(1_000, 100, inference_geo="us")),
        "0.009075",
    ),
]


def searching(count: int | None, **more: object) -> Json:
    """Usage of 7500 millionths under Opus 5, and what the API says of its own searches."""
    told = {"web_search_requests": count, "web_fetch_requests": 5}
    return used(1_000, 100, server_tool_use=told) | more


SEARCHES = [
    example("a web search costs a cent", logged(OPUS, DAY, searching(3)), "0.0375"),
    example("fetching a page is free", logged(OPUS, DAY, searching(0)), "0.0075"),
    example("a thousand searches cost ten dollars", logged(OPUS, DAY, searching(1000)), "10.0075"),
    # 7500 / 2 * 1.1 and three cents
    example(
        "no rule for tokens changes what a search costs",
        logged(OPUS, DAY, searching(3, service_tier="batch", inference_geo="us")),
        "0.034125",
    ),
    example(
        "searches that only a tool's answer tells are charged",
        logged(OPUS, DAY, searching(0), "tool_use", 3),
        "0.0375",
    ),
    example(
        "searches of several calls add up",
        logged(OPUS, DAY, searching(None), "tool_use", 1, 3),
        "0.0475",
    ),
    example(
        "searches that both tell are charged once",
        logged(OPUS, DAY, searching(4), "tool_use", 3),
        "0.0475",
    ),
    # 1000*5 + 100*25 and 2000*5 + 200*25, and two cents
    example(
        "searches of a response with items are charged once",
        logged(
            OPUS,
            DAY,
            used(
                3_000,
                300,
                server_tool_use={"web_search_requests": 2},
                iterations=[item("message", 1_000, 100), item("message", 2_000, 200)],
            ),
        ),
        "0.0425",
        PRICED * 2,
    ),
    example(
        "searches do not give a price to a model that has none",
        logged("claude-opus-9", DAY, searching(3)),
        "0",
        NO_MODEL,
    ),
]

NAMES = [
    *(
        example(f"{name} is nobody's sibling", logged(name, DAY, used(1_000, 100)), "0", NO_MODEL)
        for name in (
            "claude-opus-4-9",
            "claude-opus-5-6-20261201",
            "claude-sonnet-6",
            "claude-haiku-5",
            "claude-fable-5-3",
            "claude-opus",
            "us.anthropic.claude-opus-6-v1:0",
        )
    ),
    *(
        example(f"{name} is Opus 5", logged(name, DAY, used(1_000, 100)), "0.0075")
        for name in ("claude-opus-5", "claude-opus-5-20260724", "claude-opus-5[1m]")
    ),
    example("a made-up message has no piece", logged("<synthetic>", DAY, used(0, 0)), "0", ()),
]

COUNTS = [
    # 1000*6.25
    example(
        "writes that do not say their kind live five minutes",
        logged(OPUS, DAY, {"output_tokens": 0, "cache_creation_input_tokens": 1_000}),
        "0.00625",
    ),
    # 300*6.25 + 700*10
    example(
        "writes told by kind alone count",
        logged(OPUS, DAY, used(w5=300, w1=700) | {"cache_creation_input_tokens": 0}),
        "0.008875",
    ),
    # 500*6.25 + 500*10
    example(
        "writes beyond those told by kind live five minutes",
        logged(OPUS, DAY, used(w5=300, w1=500) | {"cache_creation_input_tokens": 1_000}),
        "0.008125",
    ),
    example(
        "thinking is part of the output",
        logged(OPUS, DAY, used(0, 100, output_tokens_details={"thinking_tokens": 90})),
        "0.0025",
    ),
    # 1000*5
    example(
        "a count that is null is none",
        logged(OPUS, DAY, {"input_tokens": 1_000, "output_tokens": None}),
        "0.005",
    ),
]

EXAMPLES: list[Example] = [*BATCH, *PLACE, *SEARCHES, *NAMES, *COUNTS]
