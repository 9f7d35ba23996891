"""Long prompts, days on which prices changed, and fast mode."""

from tests.prices.examples import NO_VARIANT, PRICED, example, item, logged, used

TWO_SMALL = [item("message", 55_000, 1_000), item("message", 65_000, 1_000)]
SHORT = [TWO_SMALL[1], item("compaction", 10_000, 500)]

LONG_PROMPTS = [
    # 120000*0.10 + 2000*0.50
    example(
        "two prompts of 55k and 65k are below 100k twice",
        logged("claude-haiku-5-5", "2026-10-20", used(120_000, 2_000, iterations=TWO_SMALL)),
        "0.013",
        PRICED * 2,
    ),
    # 120000*0.50 + 2000*2.50
    example(
        "one prompt of 120k is above",
        logged("claude-haiku-5-5", "2026-10-20", used(120_000, 2_000)),
        "0.065",
    ),
    # 65000, and the compaction 10000*0.10 + 500*0.50
    example(
        "iterations that leave something out give way to the top level",
        logged("claude-haiku-5-5", "2026-10-20", used(120_000, 2_000, iterations=SHORT)),
        "0.06625",
        PRICED * 2,
    ),
    # 101000*0.50 + 100*2.50 and 5000*0.10 + 100*0.50
    example(
        "one long prompt does not make its neighbour long",
        logged(
            "claude-haiku-5-5",
            "2026-10-20",
            used(
                106_000,
                200,
                iterations=[item("message", 101_000, 100), item("message", 5_000, 100)],
            ),
        ),
        "0.0513",
        PRICED * 2,
    ),
    example(
        "a prompt on the edge is still below it",
        logged("claude-haiku-5-5", "2026-10-20", used(100_000)),
        "0.01",
    ),
    example(
        "a token over the edge all tokens cost more",
        logged("claude-haiku-5-5", "2026-10-20", used(100_001)),
        "0.0500005",
    ),
    # 99999*0.10 + 50000*0.50
    example(
        "an answer makes no prompt longer",
        logged("claude-haiku-5-5", "2026-10-20", used(99_999, 50_000)),
        "0.0349999",
    ),
    # 1*0.50 + 50000*0.625 + 25000*1 + 25000*0.05
    example(
        "what is written to the cache and read from it counts as prompt",
        logged("claude-haiku-5-5", "2026-10-20", used(1, w5=50_000, w1=25_000, read=25_000)),
        "0.0575005",
    ),
    # 200000*3 + 1000*15
    example(
        "Sonnet 4 up to 200k",
        logged("claude-sonnet-4-20250514", "2025-09-01", used(200_000, 1_000)),
        "0.615",
    ),
    # 200001*6 + 1000*22.50
    example(
        "Sonnet 4 above 200k, its output too",
        logged("claude-sonnet-4-20250514", "2025-09-01", used(200_001, 1_000)),
        "1.222506",
    ),
    example(
        "Sonnet 4.5 above 200k, with the window in its name",
        logged("claude-sonnet-4-5-20250929[1m]", "2026-01-05", used(200_001, 1_000)),
        "1.222506",
    ),
    example(
        "Opus 4.6 above 200k on the last day of the premium",
        logged("claude-opus-4-6", "2026-03-12T23:59:59.999", used(300_000)),
        "3",
    ),
    example(
        "Opus 4.6 above 200k once it is flat",
        logged("claude-opus-4-6", "2026-03-13T00:00:00.000", used(300_000)),
        "1.5",
    ),
    example(
        "Sonnet 4.6 above 200k on the last day of the premium",
        logged("claude-sonnet-4-6", "2026-03-12", used(300_000)),
        "1.8",
    ),
    example(
        "Sonnet 4.6 above 200k once it is flat",
        logged("claude-sonnet-4-6", "2026-03-13", used(300_000)),
        "0.9",
    ),
    example(
        "the models after it are flat to a million",
        logged("claude-opus-4-7", "2026-06-01", used(1_000_000)),
        "5",
    ),
]

DAYS = [
    example(
        "Sonnet 5.5 reads its cache for 0.20 to the last instant before the cut",
        logged("claude-sonnet-5-5", "2026-10-06T23:59:59.999", used(read=1_000_000)),
        "0.20",
    ),
    example(
        "Sonnet 5.5 reads its cache for 0.10 from the first instant of 2026-10-07 on",
        logged("claude-sonnet-5-5", "2026-10-07T00:00:00.000", used(read=1_000_000)),
        "0.10",
    ),
    example(
        "Sonnet 5 did not rise in September 2026",
        logged("claude-sonnet-5", "2026-09-01", used(1_000_000, 100_000)),
        "3",
    ),
    example(
        "what is older than its model is priced by the first card",
        logged("claude-sonnet-5", "2026-05-01", used(1_000_000, 100_000)),
        "3",
    ),
    example(
        "what is older than its model has the first card's tiers, too",
        logged("claude-opus-4-6", "2026-01-01", used(300_000)),
        "3",
    ),
    example(
        "a retired model keeps its price",
        logged("claude-opus-4-1-20250805", "2026-11-01", used(1_000_000)),
        "15",
    ),
]

FAST = [
    example(
        "Opus 4.6 had no fast mode on its first days",
        logged("claude-opus-4-6", "2026-02-06", used(1_000, 100, speed="fast")),
        "0",
        NO_VARIANT,
    ),
    # 1000*30 + 100*150
    example(
        "Opus 4.6 is fast from 2026-02-07 on, without the launch discount",
        logged("claude-opus-4-6", "2026-02-07", used(1_000, 100, speed="fast")),
        "0.045",
    ),
    # 200001*60
    example(
        "Opus 4.6 is dearer when fast and long, for two weeks",
        logged("claude-opus-4-6", "2026-02-20", used(200_001, speed="fast")),
        "12.00006",
    ),
    example(
        "Opus 4.6 is flat when fast, then",
        logged("claude-opus-4-6", "2026-02-21", used(200_001, speed="fast")),
        "6.00003",
    ),
    example(
        "Opus 4.6 is fast for the last time",
        logged("claude-opus-4-6", "2026-06-28T23:59:59.999", used(1_000, 100, speed="fast")),
        "0.045",
    ),
    example(
        "Opus 4.6 has no price for fast any more",
        logged("claude-opus-4-6", "2026-06-29T00:00:00.000", used(1_000, 100, speed="fast")),
        "0",
        NO_VARIANT,
    ),
    # 1000*5 + 100*25
    example(
        "what answered at standard speed is priced so, whatever was asked for",
        logged("claude-opus-4-6", "2026-07-01", used(1_000, 100, speed="standard")),
        "0.0075",
    ),
    example(
        "Opus 4.7 is fast from 2026-05-12 on",
        logged("claude-opus-4-7", "2026-05-11", used(1_000, 100, speed="fast")),
        "0",
        NO_VARIANT,
    ),
    example(
        "Opus 4.7 is fast until 2026-07-24",
        logged("claude-opus-4-7", "2026-07-24", used(1_000, 100, speed="fast")),
        "0",
        NO_VARIANT,
    ),
    example(
        "Sonnet was never fast",
        logged("claude-sonnet-5", "2026-10-01", used(1_000, 100, speed="fast")),
        "0",
        NO_VARIANT,
    ),
    example(
        "a speed that nobody knows has no price",
        logged("claude-opus-5", "2026-10-01", used(1_000, 100, speed="warp")),
        "0",
        NO_VARIANT,
    ),
    # 1000*10 + 100*50
    example(
        "a name may say fast mode",
        logged("claude-opus-4-8-fast", "2026-07-01", used(1_000, 100)),
        "0.015",
    ),
    # 1.1 times 1000*8 + 1000*10 + 1000*16 + 10000*0.40
    example(
        "cache and place come on top of fast mode",
        logged(
            "claude-opus-5-5",
            "2026-10-01",
            used(1_000, w5=1_000, w1=1_000, read=10_000, speed="fast", inference_geo="us"),
        ),
        "0.0418",
    ),
    example(
        "fast mode has no batches",
        logged(
            "claude-opus-5-5",
            "2026-10-01",
            used(1_000, 100, speed="fast", service_tier="batch"),
        ),
        "0",
        NO_VARIANT,
    ),
]

EXAMPLES = [*LONG_PROMPTS, *DAYS, *FAST]
