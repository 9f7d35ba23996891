"""Every price of every model, as the price pages print it: a copy of its own, beside the book."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from tests.prices.examples import Example, example, used
from tests.prices.responses import Response

# model, from, to, speed, prompts over; dollars a million: input, output, write 5m, write 1h, read
PRICES = """
claude-3-opus          2024-03-04  -           standard       0  15    75     18.75  30    1.50
claude-3-sonnet        2024-03-04  -           standard       0  3     15     3.75   6     0.30
claude-3-haiku         2024-03-13  -           standard       0  0.25  1.25   0.30   0.50  0.03
claude-3-5-sonnet      2024-06-20  -           standard       0  3     15     3.75   6     0.30
claude-3-5-haiku       2024-11-04  -           standard       0  0.80  4      1      1.60  0.08
claude-3-7-sonnet      2025-02-24  -           standard       0  3     15     3.75   6     0.30
claude-opus-4          2025-05-22  -           standard       0  15    75     18.75  30    1.50
claude-sonnet-4        2025-05-22  -           standard       0  3     15     3.75   6     0.30
claude-sonnet-4        2025-05-22  -           standard  200000  6     22.50  7.50   12    0.60
claude-opus-4-1        2025-08-05  -           standard       0  15    75     18.75  30    1.50
claude-sonnet-4-5      2025-09-29  -           standard       0  3     15     3.75   6     0.30
claude-sonnet-4-5      2025-09-29  -           standard  200000  6     22.50  7.50   12    0.60
claude-haiku-4-5       2025-10-15  -           standard       0  1     5      1.25   2     0.10
claude-opus-4-5        2025-11-24  -           standard       0  5     25     6.25   10    0.50
claude-opus-4-6        2026-02-05  -           standard       0  5     25     6.25   10    0.50
claude-opus-4-6        2026-02-05  2026-03-13  standard  200000  10    37.50  12.50  20    1.00
claude-opus-4-6        2026-02-07  2026-06-29  fast           0  30    150    37.50  60    3.00
claude-opus-4-6        2026-02-07  2026-02-21  fast      200000  60    225    75     120   6.00
claude-sonnet-4-6      2026-02-17  -           standard       0  3     15     3.75   6     0.30
claude-sonnet-4-6      2026-02-17  2026-03-13  standard  200000  6     22.50  7.50   12    0.60
claude-mythos-preview  2026-04-07  -           standard       0  25    125    31.25  50    2.50
claude-opus-4-7        2026-04-16  -           standard       0  5     25     6.25   10    0.50
claude-opus-4-7        2026-05-12  2026-07-24  fast           0  30    150    37.50  60    3.00
claude-opus-4-8        2026-05-28  -           standard       0  5     25     6.25   10    0.50
claude-opus-4-8        2026-05-28  -           fast           0  10    50     12.50  20    1.00
claude-fable-5         2026-06-09  -           standard       0  10    50     12.50  20    1.00
claude-mythos-5        2026-06-09  -           standard       0  10    50     12.50  20    1.00
claude-sonnet-5        2026-06-30  -           standard       0  2     10     2.50   4     0.20
claude-opus-5          2026-07-24  -           standard       0  5     25     6.25   10    0.50
claude-opus-5          2026-07-24  -           fast           0  10    50     12.50  20    1.00
claude-fable-5-1       2026-09-01  -           standard       0  10    50     12.50  20    0.25
claude-mythos-5-1      2026-09-01  -           standard       0  10    50     12.50  20    0.25
claude-opus-5-5        2026-09-22  -           standard       0  4     20     5      8     0.20
claude-opus-5-5        2026-09-22  -           fast           0  8     40     10     16    0.40
claude-sonnet-5-5      2026-09-28  2026-10-07  standard       0  2     10     2.50   4     0.20
claude-sonnet-5-5      2026-10-07  -           standard       0  2     10     2.50   4     0.10
claude-haiku-5-5       2026-10-07  -           standard       0  0.10  0.50   0.125  0.20  0.01
claude-haiku-5-5       2026-10-07  -           standard  100000  0.50  2.50   0.625  1     0.05
claude-fable-5-2       2026-11-09  -           standard       0  8     40     10     16    0.20
claude-mythos-5-2      2026-11-09  -           standard       0  8     40     10     16    0.20
"""
ROWS = [line.split() for line in PRICES.strip().splitlines()]
AS_OF = "2026-11-18"


def of_row(row: list[str]) -> list[Example]:
    """Price a response of the first instant of a row, and one of the last."""
    model, first, end, speed, over, *prices = row
    # No two components have the same count, so that no two prices can stand in for each other.
    prompt, output, for_5m, for_1h, read = counts = (int(over) + 11, 1_300, 170, 1_900, 23_000)
    usage = used(prompt, output, w5=for_5m, w1=for_1h, read=read, speed=speed)
    usd = sum(count * Decimal(price) for count, price in zip(counts, prices, strict=True))
    begin = datetime.combine(date.fromisoformat(first), time(0), UTC)
    stop = datetime.fromisoformat(f"{AS_OF if end == '-' else end}T00:00:00+00:00")
    instants = (begin, stop - timedelta(milliseconds=1))
    return [
        example(
            f"{model} at {speed} speed over {over} on {at:%Y-%m-%d}",
            Response(model, at, usage),
            str(usd / 1_000_000),
        )
        for at in instants
    ]


EXAMPLES = [one for row in ROWS for one in of_row(row)]
