"""The user's policy: what `policy.yaml` may say, and every mistake in it as one line."""

from typing import Annotated, Any, Literal, Self, cast

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from leadhand import InputError
from leadhand_teams.shared import values

Target = Literal[
    "min_volatility", "max_sharpe", "efficient_return", "efficient_risk", "quadratic_utility",
    "hrp", "risk_parity", "weights",
]  # fmt: skip


def _number(value: object) -> object:
    """The number that people write as `60 %` or `0,6`; None for `null`."""
    found = values.number(value) if isinstance(value, str) else None
    if found is None:
        return None if value in ("", "~", "null") else value
    return found / 100 if values.unit_of(str(value)) == "%" else found


def _under(key: str) -> BeforeValidator:
    """A value under its usual key, if it is written without one."""
    return BeforeValidator(lambda one: cast("object", one) if isinstance(one, dict) else {key: one})


Number = Annotated[float, BeforeValidator(_number)]
Unless = Annotated[float | None, BeforeValidator(_number)]
Sum = Annotated[Number, Field(ge=0)]
Part = Annotated[Number, Field(ge=0, le=1)]


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Band(_Data):
    """The weight that an asset should have, and how far it may be from it."""

    target: Number
    min: Number = 0.0
    max: Number = 1.0


class Fees(_Data):
    """What an order costs: a part of its value, and a fixed sum."""

    rate: Part = 0.0
    fixed: Sum = 0.0


class Taxes(_Data):
    """Tax on a gain when a lot is sold, as a part of it; `long` if it was held for `days`."""

    short: Part
    long: Part
    days: Number = 365


class Policy(_Data):
    """What the user wants; every key of `policy.yaml` is a field here."""

    target: Target
    target_return: Unless = None
    target_volatility: Annotated[Unless, Field(ge=0)] = None
    risk_aversion: Annotated[Number, Field(gt=0)] = 1.0
    risk_free: Number = 0.02
    days: Annotated[Number, Field(gt=0, le=100_000)] = 252.0
    """Rows of prices in a year."""
    weights: dict[str, Annotated[Band, _under("target")]] = {}
    bounds: Annotated[dict[str, tuple[Unless, Unless]], _under("*")] = {}
    """The least and the largest weight of an asset, "*" of all others; without them 0 and 1."""
    cash: Sum = 0.0
    fees: Annotated[Fees, _under("rate")] = Fees()
    min_trade: Sum = 0.0
    taxes: Taxes | None = None
    allocation: Literal["greedy", "optimal"] = "optimal"
    shocks: dict[str, dict[str, Number]] = {}
    """Scenarios by name: how much each asset changes; "*" stands for all others."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needs = {"efficient_return": "target_return", "efficient_risk": "target_volatility"}
        needed = needs.get(self.target)
        if needed and getattr(self, needed) is None:
            raise ValueError(f"target: {self.target} needs {needed}: add it, for example 0.15")
        if bool(self.weights) != (self.target == "weights"):
            raise ValueError("weights: they belong with `target: weights`: add one, or remove one")
        total = sum(band.target for band in self.weights.values())
        if total > 1 + 1e-6:
            raise ValueError(
                f"weights: add up to {total:.2%}, over 100%: write 0.6 or 60 % for 60 %"
            )
        return self

    @property
    def banded(self) -> set[str]:
        """The assets that have a band."""
        return {asset for asset, one in self.weights.items() if (one.min, one.max) != (0, 1)}

    def limits(self, asset: str) -> tuple[float, float]:
        """The least and the largest weight that an asset may have; 0 if `weights` lack it."""
        low, high = self.bounds.get(asset, self.bounds.get("*", (0.0, 1.0)))
        least, most = -float("inf") if low is None else low, float("inf") if high is None else high
        if not self.weights:
            return least, most
        band = self.weights.get(asset, Band(target=0, max=0))
        return max(least, band.min), min(most, band.max)


def read_policy(text: str, file: str) -> Policy:
    """The policy. Raises `InputError` with every problem of it, `file: key: what is wrong`."""
    try:
        # Every scalar is text: the assets ON, NO and Y are no booleans.
        given: Any = yaml.load(text, Loader=yaml.BaseLoader)  # pyright: ignore[reportUnknownMemberType]
        return Policy.model_validate(given)
    except ValidationError as error:
        texts = {"extra_forbidden": f"unknown key: known are {', '.join(Policy.model_fields)}"}
        lines = [
            [file, ".".join(map(str, one["loc"])), texts.get(one["type"], one["msg"])]
            for one in error.errors(include_input=False)
        ]
        said = ";\n".join(": ".join(filter(None, line)) for line in lines)
        raise InputError(said.replace(": Value error, ", ": ")) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: this is not YAML: write one `key: value` a line") from error
