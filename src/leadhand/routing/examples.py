"""Examples for a router, and how good guesses about them are. Pure."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, NamedTuple

from pydantic import Field, JsonValue, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from leadhand.contracts.role import Guess
from leadhand.errors import InputError

_MOST_NAMED = 5
_GROUP_SIZE = 50
"""Guesses in a group of the calibration error, at least: in fewer, shares differ by chance."""
_FORM = '{"text": "...", "worker": "NAME"}'


@dataclass(frozen=True)
class Example:
    text: Annotated[str, Field(pattern=r"\S")]
    worker: str | None
    """`None`: it is for no worker of the team."""
    also: tuple[str, ...] | None = None
    """The workers that should get it beside the first; `None`: the example does not say."""


def read_examples(
    lines: Iterable[str],
    workers: Collection[str],
    *,
    source: str,
    kinds: Mapping[str, str] = MappingProxyType({}),
) -> list[Example]:
    """Raises an `InputError` that names every kind of mistake with its lines. Skips empty lines."""
    examples: list[Example] = []
    wrong: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines, 1):
        if line.strip():
            read = _example(line, workers, kinds)
            if isinstance(read, Example):
                examples.append(read)
            else:
                wrong[read].append(number)
    if wrong:
        raise InputError("; ".join(f"{source}, {_lines(at)}: {why}" for why, at in wrong.items()))
    if not examples:
        raise InputError(f"{source} has no examples: write one a line, {_FORM}")
    return examples


def distinct(examples: Iterable[Example]) -> list[Example]:
    """The examples without repetitions but for spaces and case."""
    seen = {(" ".join(one.text.split()).casefold(), one.worker): one for one in examples}
    return [*seen.values()]


def too_few(examples: Iterable[Example], names: Iterable[str | None], least: int) -> dict[str, int]:
    """Of whom there are fewer different examples than `least`, and how many."""
    counts = Counter(example.worker for example in distinct(examples))
    return {name or "no worker": counts[name] for name in names if counts[name] < least}


def _example(line: str, workers: Collection[str], kinds: Mapping[str, str]) -> Example | str:
    try:
        if kinds and '"kind"' in line:
            row = TypeAdapter(dict[str, JsonValue]).validate_json(line)
            if "worker" not in row and (kind := row.get("kind")) is not None:
                if not isinstance(kind, str) or kind not in kinds:
                    return f"there is no kind {kind!r:.99} in the team: they are {', '.join(kinds)}"
                line = json.dumps({**row, "worker": kinds[kind]})
        found = TypeAdapter(Example).validate_json(line)
    except ValidationError as error:
        problem = error.errors()[0]
        if problem["type"] == "json_invalid":
            return f"it is not JSON: write {_FORM}"
        where = f'its "{problem["loc"][0]}" is wrong: ' if problem["loc"] else ""
        return f"{where}{problem['msg']}: write {_FORM}, or null for no worker"
    for name in (found.worker, *(found.also or ())):
        if name is not None and name not in workers:
            close = get_close_matches(name, workers, n=1)
            known = f"did you mean {close[0]!r}?" if close else f"they are {', '.join(workers)}"
            return f"there is no worker {name!r:.99} in the team: {known}"
    wrong = found.also and found.worker in (None, *found.also)
    return 'its "also" is wrong: it names workers beside the one in "worker"' if wrong else found


def _lines(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:_MOST_NAMED]))
    more = len(numbers) - _MOST_NAMED
    return f"line{'s' * (len(numbers) > 1)} {shown}" + (f" and {more} more" if more > 0 else "")


class Figures(NamedTuple):
    """Shares are from 0 to 1, and `None` if there is nothing to take a share of."""

    examples: int
    """Examples that are for a worker."""
    out_of_scope: int
    """Examples that are for none."""
    accuracy: float | None
    """Share of `examples` whose likeliest worker is right, accepted or not."""
    accepted: float | None
    """Share of `examples` that are accepted."""
    right: float | None
    """Share of the accepted ones of `examples` whose worker is right."""
    out_of_scope_accepted: float | None
    """Share of `out_of_scope` that are accepted, which is always wrong."""
    confused: tuple[tuple[str | None, str, int], ...]
    """The worker that an example is for, the one that it was given to, and how often."""

    @property
    def named(self) -> dict[str, float | None]:
        return {
            "right worker, accepted or not": self.accuracy,
            "requests accepted": self.accepted,
            "accepted requests with the right worker": self.right,
            "requests for no worker accepted": self.out_of_scope_accepted,
        }


def figures(examples: Sequence[Example], guesses: Sequence[Guess]) -> Figures:
    pairs = list(zip(examples, guesses, strict=True))
    inside = [(example, guess) for example, guess in pairs if example.worker is not None]
    outside = [guess.accepted for example, guess in pairs if example.worker is None]
    confused = Counter(
        (example.worker, guess.worker)
        for example, guess in pairs
        if guess.accepted and guess.worker is not None and guess.worker != example.worker
    )
    return Figures(
        examples=len(inside),
        out_of_scope=len(outside),
        accuracy=mean([guess.worker == example.worker for example, guess in inside]),
        accepted=mean([guess.accepted for _, guess in inside]),
        right=mean([guess.worker == one.worker for one, guess in inside if guess.accepted]),
        out_of_scope_accepted=mean(outside),
        confused=tuple((*pair, count) for pair, count in confused.most_common()),
    )


def calibration_error(examples: Sequence[Example], guesses: Sequence[Guess]) -> float | None:
    """The average distance of the confidence from the share that is right, in examples of
    workers: expected calibration error over up to ten groups of the same size (Nixon et al.
    2019)."""
    # Guesses of the same confidence have no order: each counts as their share that is right.
    alike: defaultdict[float, list[bool]] = defaultdict(list)
    for example, guess in zip(examples, guesses, strict=True):
        if example.worker is not None:
            alike[guess.confidence].append(guess.worker == example.worker)
    gaps = [one - (mean(alike[one]) or 0) for one in sorted(alike) for _ in alike[one]]
    groups = max(1, min(10, len(gaps) // _GROUP_SIZE))
    bounds = pairwise(len(gaps) * n // groups for n in range(groups + 1))
    return sum(abs(sum(gaps[start:end])) for start, end in bounds) / len(gaps) if gaps else None


def mean(hits: Sequence[bool]) -> float | None:
    return sum(hits) / len(hits) if hits else None
