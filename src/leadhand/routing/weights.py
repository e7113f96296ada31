"""What a trained router has learnt, and its file format: JSON, never pickle. Pure."""

import json
import zlib
from typing import Annotated, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from leadhand.errors import InputError

FORMAT = "leadhand trained router"
VERSION = 2
MAX_BYTES = 64 * 1024 * 1024
"""The largest file, and the largest table of weights in it."""
_AGAIN = "train it again with `leadhand router train`"


class Weights(BaseModel):
    """What was learnt from examples. A label is a worker's name, or `None` for no worker."""

    model_config = ConfigDict(
        frozen=True, allow_inf_nan=False, ser_json_bytes="base64", val_json_bytes="base64"
    )

    format: Literal["leadhand trained router"] = FORMAT
    version: Literal[2] = VERSION
    threshold: float
    """The router abstains if the probability that its worker is right is lower."""
    slope: float
    offset: float
    """`1 / (1 + exp(-(slope * score + offset)))` is that probability."""
    labels: Annotated[tuple[str | None, ...], Field(min_length=2)]
    bias: tuple[float, ...]
    """Of each label."""
    examples: Annotated[int, Field(gt=0, lt=2**53)]
    """How many examples there were."""
    ngrams: tuple[Annotated[str, Field(min_length=1)], ...]
    counts: tuple[Annotated[int, Field(gt=0)], ...]
    """In how many examples each n-gram occurred."""
    step: float
    packed: bytes
    """For each n-gram one signed byte a label, its weight in units of `step`; compressed."""

    @property
    def table(self) -> memoryview:
        """The weights, n-gram by n-gram."""
        # One byte more than it may have, to see whether it has more.
        size = len(self.labels) * len(self.ngrams)
        return memoryview(zlib.decompressobj().decompress(self.packed, size + 1)).cast("b")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Columns have the same length, so that every text has a score."""
        labels, ngrams = len(self.labels), len(self.ngrams)
        try:
            fits = labels * ngrams <= MAX_BYTES and len(self.table) == labels * ngrams
        except zlib.error:
            fits = False
        fits = fits and labels == len(set(self.labels)) == len(self.bias)
        if not fits or ngrams != len(self.counts) or max(self.counts, default=0) > self.examples:
            raise ValueError("its columns do not fit together")
        return self


def from_json(text: str | bytes, source: str) -> Weights:
    """The weights in the text of a file. `source` names it in errors. Raises `InputError`."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    content = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    if content.get("format") != FORMAT:
        raise InputError(f"{source} is not a trained router: make one with `leadhand router train`")
    if content.get("version") != VERSION:
        raise InputError(
            f"{source} has version {content.get('version')!r} of the format, and this leadhand "
            f"reads version {VERSION}: {_AGAIN}"
        )
    try:
        return Weights.model_validate_json(text)
    except ValidationError as error:
        raise InputError(f"{source} is damaged: restore it, or {_AGAIN}") from error
