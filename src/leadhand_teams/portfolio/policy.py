"""The user's policy: what `policy.yaml` may say, and every mistake in it as one line."""

import difflib
import re
from typing import Annotated, Literal, Self, cast, get_args

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

MAX_CHARS = 200_000
"""A longer policy is refused."""
Target = Literal[
    "min_volatility",
    "max_sharpe",
    "efficient_return",
    "efficient_risk",
    "quadratic_utility",
    "hrp",
    "risk_parity",
    "weights",
]


def _number(value: object) -> object:
    """A number as people write it: 0.6, "60 %", "0,6", 10_000."""
    if not isinstance(value, str):
        return value
    text = value.strip().replace("−", "-").replace("_", "")
    found = re.fullmatch(r"([+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:e[+-]?\d+)?)\s*(%?)", text)
    if not found:
        raise ValueError(f"{value!r} is not a number: write 0.6 or 60 %")
    number = float(found[1].replace(",", "."))
    return number / 100 if found[2] else number


def _limit(value: object) -> object:
    """A number, or none for no limit."""
    return None if value in ("", "null", "~", "None", "none") else _number(value)


Number = Annotated[float, BeforeValidator(_number), Field(allow_inf_nan=False)]
Money = Annotated[float, BeforeValidator(_number), Field(ge=0, allow_inf_nan=False)]
Part = Annotated[float, BeforeValidator(_number), Field(ge=0, le=1)]
Limit = Annotated[float | None, BeforeValidator(_limit)]


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Band(_Data):
    """The weight that an asset should have, and how far it may be from it."""

    target: Limit = None
    min: Limit = None
    max: Limit = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        least = -1e9 if self.min is None else self.min
        most = 1e9 if self.max is None else self.max
        if least > most:
            raise ValueError(f"min {least:g} is above max {most:g}: exchange them")
        if self.target is not None and not least - 1e-9 <= self.target <= most + 1e-9:
            raise ValueError(f"target {self.target:g} is not between min and max: change one")
        if self.target is None and (self.min is None or self.max is None):
            raise ValueError("write a target, or both min and max")
        return self


class Fees(_Data):
    """What an order costs."""

    rate: Part = 0.0
    """A part of its value."""
    bps: Money = 0.0
    """The same in hundredths of a percent."""
    fixed: Money = 0.0
    minimum: Money = 0.0


class Cash(_Data):
    """Money at hand, and what of it stays: a part of the portfolio's value if below 1."""

    amount: Money | None = None
    reserve: Money = 0.0


class Taxes(_Data):
    """Tax on a gain when a lot is sold, as a part of it; `long` if it was held for `days`."""

    short: Part
    long: Part
    days: Annotated[int, Field(ge=0)] = 365


def _target(value: object) -> object:
    return re.sub(r"[\s-]+", "_", value.strip().lower()) if isinstance(value, str) else value


def _fees(value: object) -> object:
    if isinstance(value, (str, float, int)):
        rate = cast("float", _number(value))
        if rate >= 1:
            raise ValueError(f"{rate:g} is more than an order: write fees: {{fixed: {rate:g}}}")
        return {"rate": rate}
    return value


def _weights(value: dict[str, object]) -> object:
    """A number is the target of a band; cash is what the others leave."""
    value = {asset: one for asset, one in value.items() if asset.casefold() != "cash"}
    numbers = {asset: {"target": one} for asset, one in value.items() if isinstance(one, str)}
    return value | numbers


def _bounds(value: object) -> object:
    """Bounds by asset; "*" stands for all others."""
    given = cast("dict[str, object]", value) if isinstance(value, dict) else {"*": value}
    for asset, pair in given.items():
        if not isinstance(pair, (list, tuple)) or len(cast("list[object]", pair)) != 2:
            place = "" if asset == "*" else f"{asset}: "
            raise ValueError(f"{place}write the least and the largest weight, such as [0, 0.3]")
    return given


def _shocks(value: dict[str, object]) -> object:
    """Shocks by name; without names they are one scenario."""
    return value if any(isinstance(one, dict) for one in value.values()) else {"as given": value}


class Policy(_Data):
    """What the user wants; every key of `policy.yaml` is a field here."""

    target: Annotated[Target, BeforeValidator(_target)]
    target_return: Number | None = None
    target_volatility: Money | None = None
    risk_aversion: Annotated[float, BeforeValidator(_number), Field(gt=0)] = 1.0
    risk_free: Number = 0.02
    days: Annotated[float, BeforeValidator(_number), Field(gt=0, le=100_000)] = 252.0
    """Rows of prices in a year."""
    weights: Annotated[
        dict[str, Band], Field(validate_default=False), BeforeValidator(_weights, dict[str, object])
    ] = {}
    bounds: Annotated[dict[str, tuple[Limit, Limit]], BeforeValidator(_bounds)] = {}
    """The least and the largest weight; without them from 0 to 1."""
    band: Part | None = None
    """How far a weight may be from its target before it is traded."""
    cash: Annotated[
        Cash,
        BeforeValidator(lambda one: {"amount": one} if isinstance(one, (str, float, int)) else one),
    ] = Cash()
    fees: Annotated[Fees, BeforeValidator(_fees)] = Fees()
    min_trade: Money = 0.0
    max_turnover: Part | None = None
    """The largest half of all orders' value, as a part of the portfolio's."""
    taxes: Taxes | None = None
    allocation: Literal["greedy", "optimal"] = "optimal"
    shocks: Annotated[
        dict[str, dict[str, Number]], BeforeValidator(_shocks, dict[str, object])
    ] = {}
    """Scenarios by name: how much each asset changes; "*" stands for all others."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needs = {"efficient_return": "target_return", "efficient_risk": "target_volatility"}
        needed = needs.get(self.target, "target")
        if getattr(self, needed) is None:
            raise ValueError(f"target {self.target} needs {needed}: add it, for example 0.15")
        if bool(self.weights) != (self.target == "weights"):
            raise ValueError("weights and target: weights belong together: add one, or remove one")
        total = sum(band.target or 0.0 for band in self.weights.values())
        if total > 1 + 1e-6:
            advice = "write 0.6 or 60 % for 60 %" if total > 2 else "lower some"
            raise ValueError(f"weights add up to {total:.4g}, over 1: {advice}")
        return self

    def bounds_of(self, asset: str) -> tuple[float, float]:
        """The least and the largest weight that an asset may have."""
        low, high = self.bounds.get(asset, self.bounds.get("*", (0.0, 1.0)))
        if (band := self.weights.get(asset)) is not None:
            low = low if band.min is None else max(low or 0.0, band.min)
            high = high if band.max is None else min(1.0 if high is None else high, band.max)
        return (float("-inf") if low is None else low, float("inf") if high is None else high)


def read_policy(text: str, file: str) -> tuple[Policy | None, list[str]]:
    """The policy, or every problem of it as a line `file: key: what to do`."""
    if len(text) > MAX_CHARS:
        return None, [f"{file}: it has {len(text):,} characters: a policy has a page at most"]
    try:
        # Every scalar is text: the assets ON, NO and Y are no booleans.
        given = cast("object", yaml.load(text, Loader=yaml.BaseLoader))  # pyright: ignore[reportUnknownMemberType]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        return None, [f"{file}{line}: this is not YAML: write one `key: value` a line"]
    if not isinstance(given, dict):
        return None, [f"{file}: it has no keys: write `target: min_volatility`, or another target"]
    keys = cast("dict[object, object]", given)
    try:
        return Policy.model_validate({key: one for key, one in keys.items() if one != ""}), []
    except ValidationError as error:
        return None, [
            f"{file}: {_line(one['loc'], one['type'], one['msg'])}"
            for one in error.errors(include_url=False, include_context=False)
        ]


def _line(place: tuple[int | str, ...], kind: str, message: str) -> str:
    """One mistake as `key: what to do`."""
    key = ".".join(str(part) for part in place)
    if kind == "extra_forbidden":
        inner = {"fees": Fees, "cash": Cash, "taxes": Taxes, "weights": Band}
        known = list(
            inner.get(str(place[0]), Policy).model_fields if place[1:] else Policy.model_fields
        )
        near = difflib.get_close_matches(str(place[-1]), known, 1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
        return f"{key}: unknown key: {hint}"
    if kind == "missing":
        return f"{key}: it is missing: add {'one of ' + ', '.join(get_args(Target))}"
    text = message.removeprefix("Value error, ").replace("Input should", "it should")
    return f"{key}: {text}" if key else text
