"""The user's policy: what `policy.yaml` may say, and every mistake in it as one line."""

from contextlib import suppress
from typing import Annotated, Literal, Self, cast

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    NonNegativeFloat,
    ValidationError,
    model_validator,
)

from leadhand import InputError
from leadhand_teams.shared import values

MAX_CHARS = 200_000
"""A longer policy is refused."""
Target = Literal[
    "min_volatility", "max_sharpe", "efficient_return", "efficient_risk", "quadratic_utility",
    "hrp", "risk_parity", "weights",
]  # fmt: skip
Part = Annotated[float, Field(ge=0, le=1)]


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Band(_Data):
    """The weight that an asset should have, and how far it may be from it."""

    target: float | None = None
    min: float = 0.0
    max: float = 1.0

    @property
    def is_open(self) -> bool:
        """Whether it has no limits of its own."""
        return (self.min, self.max) == (0, 1)

    @property
    def aim(self) -> float:
        """The target, or the middle of the band."""
        return (self.min + self.max) / 2 if self.target is None else self.target

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not self.min <= self.aim <= self.max:
            ends = f"{self.min:g} to {self.max:g}"
            raise ValueError(f"target {self.aim:g} is not within {ends}: write 0.6 or 60 %")
        return self


NOT_LISTED = Band(target=0, max=0)
"""The band of an asset that a policy with weights does not list."""


class Fees(_Data):
    """What an order costs: a part of its value, and a fixed sum."""

    rate: Part = 0.0
    fixed: NonNegativeFloat = 0.0


class Taxes(_Data):
    """Tax on a gain when a lot is sold, as a part of it; `long` if it was held for `days`."""

    short: Part
    long: Part
    days: float = 365


def _under(key: str, value: object) -> object:
    """`value` under its usual key, if it is written without one."""
    return cast("object", value) if isinstance(value, dict) else {key: value}


class Policy(_Data):
    """What the user wants; every key of `policy.yaml` is a field here."""

    target: Target
    target_return: float | None = None
    target_volatility: NonNegativeFloat | None = None
    risk_aversion: Annotated[float, Field(gt=0)] = 1.0
    risk_free: float = 0.02
    days: Annotated[float, Field(gt=0, le=100_000)] = 252.0
    """Rows of prices in a year."""
    weights: dict[str, Annotated[Band, BeforeValidator(lambda one: _under("target", one))]] = {}
    bounds: Annotated[
        dict[str, tuple[float | None, float | None]], BeforeValidator(lambda one: _under("*", one))
    ] = {}
    """The least and the largest weight of an asset, "*" of all others; without them 0 and 1."""
    cash: NonNegativeFloat = 0.0
    fees: Annotated[Fees, BeforeValidator(lambda one: _under("rate", one))] = Fees()
    min_trade: NonNegativeFloat = 0.0
    taxes: Taxes | None = None
    allocation: Literal["greedy", "optimal"] = "optimal"
    shocks: dict[str, dict[str, float]] = {}
    """Scenarios by name: how much each asset changes; "*" stands for all others."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needs = {"efficient_return": "target_return", "efficient_risk": "target_volatility"}
        needed = needs.get(self.target)
        if needed and getattr(self, needed) is None:
            raise ValueError(f"target {self.target} needs {needed}: add it, for example 0.15")
        if bool(self.weights) != (self.target == "weights"):
            raise ValueError("weights and target: weights belong together: add one, or remove one")
        total = sum(band.target or 0.0 for band in self.weights.values())
        if total > 1 + 1e-6:
            raise ValueError(f"weights add up to {total:.4g}, over 1: write 0.6 or 60 % for 60 %")
        return self

    def bounds_of(self, asset: str) -> tuple[float, float]:
        """The least and the largest weight that an asset may have."""
        low, high = self.bounds.get(asset, self.bounds.get("*", (0.0, 1.0)))
        least, most = -float("inf") if low is None else low, float("inf") if high is None else high
        if not self.weights:
            return least, most
        band = self.weights.get(asset, NOT_LISTED)
        return max(least, band.min), min(most, band.max)


def read_policy(text: str, file: str) -> Policy:
    """The policy. Raises `InputError` with every problem of it, `file: key: what is wrong`."""
    if len(text) > MAX_CHARS:
        raise InputError(f"{file}: it has {len(text):,} characters: a policy has a page at most")
    try:
        # Every scalar is text: the assets ON, NO and Y are no booleans.
        given = cast("object", yaml.load(text, Loader=yaml.BaseLoader))  # pyright: ignore[reportUnknownMemberType]
        return Policy.model_validate(_plain(given))
    except ValidationError as error:
        known = f"unknown key: known are {', '.join(Policy.model_fields)}"
        lines = [
            f"{file}: {'.'.join(map(str, one['loc']))}: "
            + (known if one["type"] == "extra_forbidden" else one["msg"])
            for one in error.errors()
        ]
        raise InputError("; ".join(lines)) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: this is not YAML: write one `key: value` a line") from error


def _plain(value: object, levels: int = 4) -> object:
    """The same with numbers for what people write as such: 0.6, "60 %", "0,6"; deeper `levels`
    stay as they are, because YAML's aliases make a few lines endless."""
    match value:
        case dict() if levels:
            items = cast("dict[str, object]", value).items()
            return {key: _plain(one, levels - 1) for key, one in items}
        case list() if levels:
            return [_plain(one, levels - 1) for one in cast("list[object]", value)]
        case "null" | "~" | "":
            return None
        case str():
            with suppress(ValueError):
                return float(value)
            found = values.number(value)
            is_part = found is not None and values.unit_of(value) == "%"
            return value if found is None else found / 100 if is_part else found
        case _:
            return value
