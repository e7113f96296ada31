"""What a call used and what it cost. An unknown price is unknown, never zero.

Looking up a price takes longer than our other work on a call, so a model's rates for plain tokens
are looked up once.
"""

import math
import warnings
from dataclasses import dataclass, replace
from decimal import Decimal

from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from leadhand.contracts.outcome import Usage

MAX_TOKENS = 1_000_000_000
"""A higher token count of one response counts as wrong."""
_RATES_FOR_S = 900
"""Seconds for which rates are cached: some providers change prices every quarter of an hour."""
_LINEAR_BELOW = 32_000
"""Input tokens below which rates are linear; long contexts may cost more per token."""
_MAX_RATES = 1_000
_NOT_PRICED = {"input_tokens", "output_tokens", "details", "cost"}

_Key = tuple[str, str | None, str | None, int, frozenset[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class _Rate:
    input: Decimal
    output: Decimal


# We report invalid counts ourselves, once; libraries print pages of warnings about each.
warnings.filterwarnings("ignore", "Failed to extract usage")
warnings.filterwarnings("ignore", r"(?s)Pydantic serializer warnings:.*'\w+_tokens'")

_rates: dict[_Key, _Rate | None] = {}
"""By model, time and terms; None if each call's price has to be looked up."""
_without_price: set[tuple[str, str | None, str | None]] = set()


def usage_of(model: str, response: ModelResponse, duration_s: float) -> Usage:
    """The usage of one answered call to `model`. If one count is unknown, both are 0."""
    used = response.usage
    known = is_known(used)
    return Usage(
        model=model,
        requests=1,
        input_tokens=used.input_tokens if known else 0,
        output_tokens=used.output_tokens if known else 0,
        cost_usd=cost_usd(response),
        duration_s=duration_s,
    )


def is_known(used: RequestUsage) -> bool:
    """Whether an endpoint reported its usage: plausible counts that are not both 0."""
    counts: tuple[object, object] = (used.input_tokens, used.output_tokens)
    return any(counts) and all(type(n) is int and 0 <= n <= MAX_TOKENS for n in counts)


def cost_usd(response: ModelResponse) -> float | None:
    """The price, from pydantic-ai's price data."""
    used = response.usage
    if used.cost is not None:
        reported = float(used.cost)  # by a gateway
        return reported if 0 <= reported < math.inf else None
    if not response.model_name or not is_known(used):
        return None
    model = (response.model_name, response.provider_name, response.provider_url)
    if model in _without_price:
        return None
    try:
        rate = _rate_of(response) if _is_plain(used) else None
        if rate is None:
            return float(response.cost().total_price)
        return float(used.input_tokens * rate.input + used.output_tokens * rate.output)
    except LookupError:
        _without_price.add(model)
    except ValueError:
        pass  # the response doesn't state its usage
    return None


def _is_plain(used: RequestUsage) -> bool:
    """Whether only plain tokens were used: no cache, audio or search."""
    extra = any(value for name, value in vars(used).items() if name not in _NOT_PRICED)
    return not extra and 0 <= used.input_tokens < _LINEAR_BELOW and used.output_tokens >= 0


def _rate_of(response: ModelResponse) -> _Rate | None:
    details = response.provider_details or {}
    key = (
        response.model_name or "",
        response.provider_name,
        response.provider_url,
        int(response.timestamp.timestamp() // _RATES_FOR_S),
        # For example the service tier, which has its own price.
        frozenset((name, value) for name, value in details.items() if isinstance(value, str)),
    )
    if key not in _rates:
        if len(_rates) >= _MAX_RATES:
            _rates.clear()
        _rates[key] = _looked_up(response)
    return _rates[key]


def _looked_up(response: ModelResponse) -> _Rate | None:
    """The rates, if the price is linear in tokens and nothing else is charged; else None."""
    few, many = (
        replace(response, usage=RequestUsage(input_tokens=count, output_tokens=count)).cost()
        for count in (1, _LINEAR_BELOW - 1)
    )
    rate = _Rate(few.input_price, few.output_price)
    linear = _Rate(many.input_price / (_LINEAR_BELOW - 1), many.output_price / (_LINEAR_BELOW - 1))
    return rate if linear == rate and few.total_price == rate.input + rate.output else None
