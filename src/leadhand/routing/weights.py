"""What a trained router has learnt, and its file format: JSON, never pickle. Pure.

The file is one JSON object: figures that people can read, and three compressed columns. Its
checksum covers everything else in it.
"""

import base64
import binascii
import hashlib
import json
import math
import zlib
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from leadhand.errors import InputError

FORMAT = "leadhand trained router"
VERSION = 1
MAX_BYTES = 64 * 1024 * 1024
"""The largest column that is read."""
MAX_WORKERS = 2_000
MAX_EXAMPLES = 1_000_000_000
_AGAIN = "train it again with `leadhand router train`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What was learnt from examples. A label is a worker's name, or `None` for no worker."""

    labels: tuple[str | None, ...]
    ngrams: tuple[str, ...]
    counts: tuple[int, ...]
    """In how many examples each n-gram occurred."""
    examples: int
    """How many examples there were."""
    rows: bytes
    """For each n-gram one byte a label: its weight, in units of `step`, plus 128."""
    step: float
    bias: tuple[float, ...]
    """Of each label."""
    slope: float
    offset: float
    """`1 / (1 + exp(-(slope * x + offset)))` is the probability that the best label is right, where
    `x` is the log-odds of its share of the scores."""
    threshold: float
    """The router abstains if that probability is lower."""
    figures: Mapping[str, float] = field(default_factory=dict[str, float])
    """What was measured on examples that were held back, by name."""


def to_json(weights: Weights) -> str:
    """The file's text."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "labels": weights.labels,
        "examples": weights.examples,
        "threshold": weights.threshold,
        "figures": dict(weights.figures),
        "step": weights.step,
        "bias": weights.bias,
        "slope": weights.slope,
        "offset": weights.offset,
        "ngrams": _packed("\n".join(weights.ngrams).encode()),
        "counts": _packed(" ".join(map(str, weights.counts)).encode()),
        "rows": _packed(weights.rows),
    }
    return json.dumps({**content, "sha256": _checksum(content)}, indent=1) + "\n"


def from_json(text: str | bytes, source: str) -> Weights:
    """The weights in the text of a file. `source` names it in errors. Raises `InputError`."""
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if (
        not isinstance(found, dict)
        or (content := cast("dict[str, object]", found)).get("format") != FORMAT
    ):
        raise InputError(f"{source} is not a trained router: make one with `leadhand router train`")
    if content.get("version") != VERSION:
        raise InputError(
            f"{source} has version {content.get('version')!r} of the format, and this leadhand "
            f"reads version {VERSION}: {_AGAIN}"
        )
    damaged = InputError(f"{source} is damaged: restore it, or {_AGAIN}")
    if content.pop("sha256", None) != _checksum(content):
        raise damaged
    try:
        weights = _weights(content)
    except (KeyError, TypeError, ValueError, OverflowError, zlib.error, binascii.Error) as error:
        raise damaged from error
    if not _fits(weights):
        raise damaged
    return weights


def _weights(content: Mapping[str, object]) -> Weights:
    numbers = {
        name: float(cast("float", content[name]))
        for name in ("step", "slope", "offset", "threshold")
    }
    counts = array("q", map(int, _unpacked(content["counts"]).split()))
    return Weights(
        labels=tuple(cast("list[str | None]", content["labels"])),
        ngrams=tuple(_unpacked(content["ngrams"]).decode().split("\n")),
        counts=tuple(counts),
        examples=int(cast("int", content["examples"])),
        rows=_unpacked(content["rows"]),
        bias=tuple(float(one) for one in cast("list[float]", content["bias"])),
        figures=dict(cast("dict[str, float]", content["figures"])),
        step=numbers["step"],
        slope=numbers["slope"],
        offset=numbers["offset"],
        threshold=numbers["threshold"],
    )


def _fits(weights: Weights) -> bool:
    """Whether the columns have the same length, as in every file that leadhand wrote, and the
    numbers are such that every text has a score."""
    numbers = (weights.step, weights.slope, weights.offset, weights.threshold, *weights.bias)
    labels, ngrams = len(weights.labels), len(weights.ngrams)
    return (
        1 < labels <= MAX_WORKERS
        and labels == len(set(weights.labels)) == len(weights.bias)
        and all(label is None or isinstance(label, str) for label in weights.labels)  # pyright: ignore[reportUnnecessaryIsInstance]
        and ngrams == len(weights.counts)
        and len(weights.rows) == labels * ngrams
        and all(0 < count <= weights.examples <= MAX_EXAMPLES for count in weights.counts)
        and all(math.isfinite(number) for number in numbers)
    )


def _packed(column: bytes) -> str:
    return base64.b64encode(zlib.compress(column, 9)).decode()


def _unpacked(packed: object) -> bytes:
    """A column. Raises `ValueError` if it is larger than any that leadhand writes."""
    unpacker = zlib.decompressobj()
    column = unpacker.decompress(base64.b64decode(cast("str", packed), validate=True), MAX_BYTES)
    if not unpacker.eof:
        raise ValueError("the column is too large or cut off")
    return column


def _checksum(content: Mapping[str, object]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
