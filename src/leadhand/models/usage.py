"""What a call used and what it cost. An unknown price is unknown, never zero.

Looking a price up costs more than all the rest of our work on a call. So a model's rates are looked
up once, and calls that used nothing but plain tokens are multiplied out from them.
"""

from dataclasses import dataclass, replace
from decimal import Decimal

from pydantic_ai.messages import ModelResponse
from pydantic_ai.usage import RequestUsage

from leadhand.contracts.outcome import Usage

_RATES_FOR_S = 900
"""Seconds for which rates hold: providers change prices with the time of day, on the quarter."""
_LINEAR_BELOW = 32_000
"""Input tokens below which rates were found to hold; long contexts may cost more a token."""
_MAX_RATES = 1_000
_NOT_PRICED = {"input_tokens", "output_tokens", "details", "cost"}

_Key = tuple[str, str | None, str | None, int, frozenset[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class _Rate:
    """US dollars for a token."""

    input: Decimal
    output: Decimal


_rates: dict[_Key, _Rate | None] = {}
"""By model, time and terms; none where only a look at the single call tells the price."""
_without_price: set[tuple[str, str | None, str | None]] = set()


def usage_of(model: str, response: ModelResponse, duration_s: float) -> Usage:
    """The usage of one answered call to `model`."""
    used = response.usage
    return Usage(
        model=model,
        requests=1,
        input_tokens=max(used.input_tokens, 0),
        output_tokens=max(used.output_tokens, 0),
        cost_usd=cost_usd(response),
        duration_s=duration_s,
    )


def cost_usd(response: ModelResponse) -> float | None:
    """The price in US dollars, from pydantic-ai's price data; none where that has no such model."""
    used = response.usage
    if used.cost is not None:
        return float(used.cost)  # a gateway's own word
    if not response.model_name:
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
        pass  # the answer doesn't say what it used
    return None


def _is_plain(used: RequestUsage) -> bool:
    """Whether nothing but so many tokens in and out was used: no cache, sound or search."""
    extra = any(value for name, value in vars(used).items() if name not in _NOT_PRICED)
    return not extra and 0 <= used.input_tokens < _LINEAR_BELOW and used.output_tokens >= 0


def _rate_of(response: ModelResponse) -> _Rate | None:
    details = response.provider_details or {}
    key = (
        response.model_name or "",
        response.provider_name,
        response.provider_url,
        int(response.timestamp.timestamp() // _RATES_FOR_S),
        # Such as the service tier, which has a price of its own.
        frozenset((name, value) for name, value in details.items() if isinstance(value, str)),
    )
    if key not in _rates:
        if len(_rates) >= _MAX_RATES:
            _rates.clear()
        _rates[key] = _looked_up(response)
    return _rates[key]


def _looked_up(response: ModelResponse) -> _Rate | None:
    """The rates, where few tokens and many cost the same each and nothing else is charged."""
    few, many = (
        replace(response, usage=RequestUsage(input_tokens=count, output_tokens=count)).cost()
        for count in (1, _LINEAR_BELOW - 1)
    )
    rate = _Rate(few.input_price, few.output_price)
    linear = _Rate(many.input_price / (_LINEAR_BELOW - 1), many.output_price / (_LINEAR_BELOW - 1))
    return rate if linear == rate and few.total_price == rate.input + rate.output else None
