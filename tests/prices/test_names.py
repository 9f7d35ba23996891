"""Model names as they are logged, and the models they mean."""

import pytest

from etl.prices import shipped
from etl.prices.book import ANTHROPIC
from etl.prices.names import named

ROUTES = [
    ("claude-opus-4-5-20251101", "claude-opus-4-5", False),
    ("claude-opus-4-5", "claude-opus-4-5", False),
    ("claude-3-5-haiku-latest", "claude-3-5-haiku", False),
    ("claude-opus-4@20250514", "claude-opus-4", False),
    ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5", False),
    ("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5", False),
    ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", True),
    ("eu.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5", True),
    ("global.anthropic.claude-opus-4-6-v1", "claude-opus-4-6", False),
    ("anthropic.claude-3-sonnet-20240229-v1:0", "claude-3-sonnet", True),
    (
        "arn:aws:bedrock:eu-west-1:1:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0",
        "claude-opus-4-1",
        True,
    ),
    (
        "projects/harbour/locations/us-east5/publishers/anthropic/models/claude-opus-4-8@default",
        "claude-opus-4-8",
        True,
    ),
    (
        "projects/harbour/locations/global/publishers/anthropic/models/claude-opus-4-8",
        "claude-opus-4-8",
        False,
    ),
    ("anthropic/claude-opus-4.5", "claude-opus-4-5", False),
    ("openrouter/anthropic/claude-3.5-sonnet", "claude-3-5-sonnet", False),
    ("claude-4.5-sonnet", "claude-sonnet-4-5", False),
    ("claude-4-sonnet", "claude-sonnet-4", False),
    ("claude-sonnet-4-0", "claude-sonnet-4", False),
    ("claude-3-7-sonnet-20250219", "claude-3-7-sonnet", False),
    ("Claude-Opus-4-7 (high)", "claude-opus-4-7", False),
]
STRANGERS = [
    "claude-opus-4-9",
    "claude-sonnet-6",
    "claude-opus",
    "claude-opus-4-5-preview",
    "claude-opus-45",
    "claude-opus-4-55",
    "claude-3-opus-9",
    "xclaude-opus-4-5",
    "claude-opus-4-5x",
    "gpt-7",
    "<synthetic>",
    "",
    "-" * 10_000,
    "@" * 10_000,
]


@pytest.mark.parametrize(("name", "model", "is_regional"), ROUTES)
def test_a_name_means_a_model_by_whichever_route(
    name: str, model: str, *, is_regional: bool
) -> None:
    found = named(name, shipped().models())
    assert (found.name, found.model, found.is_regional) == (name, model, is_regional)
    assert found.speed is None


def test_a_name_may_say_how_fast() -> None:
    for name in (
        "claude-opus-4-8-fast",
        "claude-opus-4-8-20260528-fast",
        "claude-opus-4-8-fast[1m]",
    ):
        found = named(name, shipped().models())
        assert (found.model, found.speed) == ("claude-opus-4-8", "fast")


@pytest.mark.parametrize("name", STRANGERS, ids=lambda name: name[:20])
def test_a_version_that_is_not_in_the_book_is_no_model_of_it(name: str) -> None:
    assert named(name, shipped().models()).model is None


def test_every_key_of_the_book_means_itself() -> None:
    models = shipped().models(ANTHROPIC)
    assert {named(model, models).model for model in models} == models
