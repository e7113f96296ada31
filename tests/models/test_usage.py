"""Usage: every token is counted, and a price only if it is known."""

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from leadhand.models.usage import cost_usd, usage_of

NOW = dt.datetime(2026, 3, 4, 5, 6, tzinfo=dt.UTC)
MODELS = [
    ("gpt-4o", "openai"),
    ("gpt-5", "openai"),
    ("claude-sonnet-4-5", "anthropic"),
    ("claude-opus-4-5", "anthropic"),
    ("gemini-2.5-pro", "google"),
    ("deepseek-chat", "deepseek"),
    ("qwen3-coder-plus", "openrouter"),
]


def response(model: str, provider: str, **used: int) -> ModelResponse:
    return ModelResponse(
        [TextPart("x")],
        usage=RequestUsage(details=None, **used),
        model_name=model,
        provider_name=provider,
        timestamp=NOW,
    )


@given(
    st.sampled_from(MODELS), st.integers(1, 300_000), st.integers(0, 100_000), st.integers(0, 1_000)
)
def test_a_price_that_is_multiplied_out_is_the_one_that_is_looked_up(
    model: tuple[str, str], input_tokens: int, output_tokens: int, cached: int
) -> None:
    for cache_read_tokens in (0, min(cached, input_tokens)):
        given = response(
            *model,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cache_read_tokens=cache_read_tokens,
        )
        try:
            looked_up = float(given.cost().total_price)
        except LookupError:
            looked_up = None
        assert cost_usd(given) == (None if looked_up is None else pytest.approx(looked_up))


def test_most_of_these_models_have_a_price_at_all() -> None:
    priced = [cost_usd(response(*model, input_tokens=10, output_tokens=10)) for model in MODELS]
    assert sum(cost is not None and cost > 0 for cost in priced) >= 5


def test_an_unknown_model_has_no_price_however_often_it_is_asked_for() -> None:
    unknown = response("my-own-model", "openai", input_tokens=10, output_tokens=10)
    assert [cost_usd(unknown) for _ in range(3)] == [None] * 3


def test_an_answer_that_does_not_say_what_it_used_has_no_price() -> None:
    silent = response("gpt-4o", "openai", unmeasured_requests=1)
    assert cost_usd(silent) is None


def test_the_price_of_a_gateway_is_used() -> None:
    told = response("gpt-4o", "openai", input_tokens=10)
    told.usage.cost = Decimal("0.125")
    assert cost_usd(told) == 0.125


def test_a_service_tier_with_a_price_of_its_own_is_not_mixed_up_with_another() -> None:
    def at(tier: str) -> ModelResponse:
        given = response("gpt-5", "openai", input_tokens=1_000, output_tokens=1_000)
        given.provider_details = {"service_tier": tier}
        return given

    for tier in ("default", "flex", "priority", "default"):
        assert cost_usd(at(tier)) == pytest.approx(float(at(tier).cost().total_price))


def test_counts_below_zero_make_the_usage_unknown() -> None:
    used = usage_of("m", response("x", "y", input_tokens=-5, output_tokens=7), 1.5)
    assert (used.input_tokens, used.output_tokens, used.requests, used.duration_s) == (0, 0, 1, 1.5)
