"""Responses of several requests: advisors, compactions, fallbacks; and refusals."""

from tests.prices.examples import FREE, NO_MODEL, PRICED, Json, example, item, logged, used

ADVICE = [
    item("message", 412, 89),
    item("advisor_message", 823, 1612, model="claude-opus-5"),
    item("message", 1348, 442, read=412),
]
NAMELESS = [ADVICE[0], item("advisor_message", 823, 1612), ADVICE[2]]
ONE_ADVICE = [item("advisor_message", 2_000, 50, model="claude-fable-5-2")]
COMPACTED = [item("compaction", 180_000, 3_500), item("message", 23_000, 1_000)]
SERVED = item("fallback_message", 412, 264, model="claude-opus-5")


def kindless(written: int, kind: str = "message") -> Json:
    """An item that does not say how long its cache writes live."""
    counts = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": written}
    return {"type": kind, **counts}


ADVISOR = [
    # Sonnet 5: 1760*2 + 531*10 + 412*0.20 = 8912.4; Opus 5: 823*5 + 1612*25 = 44415
    example(
        "an advisor is billed beside the top level, at its own model",
        logged("claude-sonnet-5", "2026-10-01", used(1760, 531, read=412, iterations=ADVICE)),
        "0.0533274",
        PRICED * 3,
    ),
    example(
        "a top level with the input of its first item alone is billed item by item",
        logged("claude-sonnet-5", "2026-10-01", used(412, 531, iterations=ADVICE)),
        "0.0533274",
        PRICED * 3,
    ),
    example(
        "without its iterations the same response is the top level",
        logged("claude-sonnet-5", "2026-10-01", used(1760, 531, read=412)),
        "0.0089124",
    ),
    example(
        "an advisor whose model is not told has no price, the rest has",
        logged("claude-sonnet-5", "2026-10-01", used(1760, 531, read=412, iterations=NAMELESS)),
        "0.0089124",
        PRICED * 2 + NO_MODEL,
    ),
    # fast Opus 5.5: 1000*8 + 100*40 = 12000; Fable 5.2: 2000*8 + 50*40 = 18000
    example(
        "an advisor runs at standard speed, and alone it comes on top",
        logged(
            "claude-opus-5-5",
            "2026-11-10",
            used(1_000, 100, speed="fast", iterations=ONE_ADVICE),
        ),
        "0.03",
        PRICED * 2,
    ),
    # Opus 5.5 and Fable 5.2: (1000*4 + 100*20 + 18000) * 1.1
    example(
        "an advisor runs where its executor does",
        logged(
            "claude-opus-5-5",
            "2026-11-10",
            used(1_000, 100, inference_geo="us", iterations=ONE_ADVICE),
        ),
        "0.0264",
        PRICED * 2,
    ),
]

COMPACTION = [
    # 180000*5 + 3500*25 = 987500 and 23000*5 + 1000*25 = 140000
    example(
        "a compaction is billed beside the top level",
        logged("claude-opus-4-6", "2026-06-01", used(23_000, 1_000, iterations=COMPACTED)),
        "1.1275",
        PRICED * 2,
    ),
    example(
        "a compaction that is the only item comes on top",
        logged("claude-opus-4-6", "2026-06-01", used(23_000, 1_000, iterations=COMPACTED[:1])),
        "1.1275",
        PRICED * 2,
    ),
    # 180000*0.50 + 3500*2.50 = 98750 and 23000*0.10 + 1000*0.50 = 2800
    example(
        "a compaction has a prompt of its own size",
        logged("claude-haiku-5-5", "2026-10-20", used(23_000, 1_000, iterations=COMPACTED)),
        "0.10155",
        PRICED * 2,
    ),
    # six times the standard price: 1127500 * 6
    example(
        "a compaction runs at the speed of its response",
        logged(
            "claude-opus-4-6",
            "2026-06-01",
            used(23_000, 1_000, speed="fast", iterations=COMPACTED),
        ),
        "6.765",
        PRICED * 2,
    ),
]

ITEMS = [
    # 1000*5 + 100*25
    example(
        "a single item says nothing that the top level does not say better",
        logged(
            "claude-opus-5", "2026-10-01", used(1_000, 100, iterations=[item("message", 900, 1)])
        ),
        "0.0075",
    ),
    # 1000*5 and 2000*5 + 100*25
    example(
        "an item without a word is charged like any other",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(3_000, 100, iterations=[item("message", 1_000, 0), item("message", 2_000, 100)]),
        ),
        "0.0175",
        PRICED * 2,
    ),
    # 20*5 + 10*25 + 10000*10
    example(
        "writes of unknown kind are of the only kind that the top level has",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(20, 10, w1=10_000, iterations=[kindless(4_000), kindless(6_000)]),
        ),
        "0.10035",
        PRICED * 2,
    ),
    # 20*5 + 10*25 + 4000*6.25 + 6000*10
    example(
        "items that do not share out writes of two kinds give way to the top level",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(20, 10, w5=4_000, w1=6_000, iterations=[kindless(4_000), kindless(6_000)]),
        ),
        "0.08535",
    ),
    # 1000*6.25 + 1000*10 and 10*5 + 5*25 + 1000*6.25
    example(
        "writes of unknown kind live five minutes where the top level has both kinds",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(w5=1_000, w1=1_000, iterations=[kindless(1_000, "compaction")]),
        ),
        "0.022675",
        PRICED * 2,
    ),
]

FALLBACK = [
    # Opus 5: 412*5 + 264*25 = 8660
    example(
        "an attempt that was declined before a word is not charged",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(412, 264, iterations=[item("message", 408, 0, model="claude-fable-5"), SERVED]),
        ),
        "0.00866",
        FREE + PRICED,
    ),
    # and Fable 5: 408*10 + 100*50 = 9080
    example(
        "an attempt that was declined after words is billed at its own model",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(412, 264, iterations=[item("message", 408, 100, model="claude-fable-5"), SERVED]),
        ),
        "0.01774",
        PRICED * 2,
    ),
    # 9080 of Fable 5, none of Sonnet 5, 8660 of Opus 5
    example(
        "every attempt is judged on its own",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(
                412,
                264,
                iterations=[
                    item("message", 408, 100, model="claude-fable-5"),
                    item("fallback_message", 410, 0, model="claude-sonnet-5"),
                    SERVED,
                ],
            ),
        ),
        "0.01774",
        PRICED * 2 + FREE,
    ),
    example(
        "an attempt at a model without a price leaves the others theirs",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(412, 264, iterations=[item("message", 408, 100, model="claude-fable-9"), SERVED]),
        ),
        "0.00866",
        NO_MODEL + PRICED,
    ),
    # 150000*0.50 + 10*2.50 = 75025 and 90000*0.10 + 10*0.50 = 9005
    example(
        "every attempt has a prompt of its own size",
        logged(
            "claude-haiku-5-5",
            "2026-10-20",
            used(
                90_000,
                10,
                iterations=[item("message", 150_000, 10), item("fallback_message", 90_000, 10)],
            ),
        ),
        "0.08403",
        PRICED * 2,
    ),
    # 9080 of Fable 5 and 412*5
    example(
        "the last attempt is charged without a word, too, if it did not refuse",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(
                412,
                0,
                iterations=[
                    item("message", 408, 100, model="claude-fable-5"),
                    item("fallback_message", 412, 0, model="claude-opus-5"),
                ],
            ),
        ),
        "0.01114",
        PRICED * 2,
    ),
    example(
        "a single fallback item is the top level, as far as that was told",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(412, 264, iterations=[item("fallback_message", 412, 1)]),
        ),
        "0.00866",
    ),
    example(
        "where every attempt was declined nothing is charged",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(
                412,
                0,
                iterations=[
                    item("message", 408, 0, model="claude-fable-5"),
                    item("fallback_message", 412, 0, model="claude-opus-5"),
                ],
            ),
            "refusal",
        ),
        "0",
        FREE * 2,
    ),
]

REFUSAL = [
    example(
        "a refusal before a word is told and not charged",
        logged("claude-opus-5", "2026-10-01", used(5_000, 0, w1=9_000), "refusal"),
        "0",
        FREE,
    ),
    # 1000*5 + 100*25
    example(
        "a refusal after words is charged",
        logged("claude-opus-5", "2026-10-01", used(1_000, 100), "refusal"),
        "0.0075",
    ),
    example(
        "no word without a refusal is charged",
        logged("claude-opus-5", "2026-10-01", used(1_000, 0), "end_turn"),
        "0.005",
    ),
    # the advisor: 2000*8 + 50*40
    example(
        "a refusal spares no advisor",
        logged("claude-opus-5", "2026-11-10", used(1_000, 0, iterations=ONE_ADVICE), "refusal"),
        "0.018",
        FREE + PRICED,
    ),
    # the compaction: 1000*5
    example(
        "a refusal spares no compaction, not even one without a word",
        logged(
            "claude-opus-5",
            "2026-10-01",
            used(2_000, 0, iterations=[item("compaction", 1_000, 0), item("message", 2_000, 0)]),
            "refusal",
        ),
        "0.005",
        FREE + PRICED,
    ),
]

EXAMPLES = [*ADVISOR, *COMPACTION, *ITEMS, *FALLBACK, *REFUSAL]
