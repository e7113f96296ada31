"""Examples for a router: one JSON object a line, `{"text": ..., "worker": ...}`. Pure."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from leadhand.errors import InputError

_MOST_NAMED = 5
_FORM = '{"text": "...", "worker": "NAME"}'


@dataclass(frozen=True)
class Example:
    """A text, and the worker that it is for."""

    text: Annotated[str, Field(pattern=r"\S")]
    worker: str | None
    """`None`: it is for no worker of the team."""
    also: tuple[str, ...] | None = None
    """The workers that should get it beside the first; `None`: the example does not say."""


def read_examples(lines: Iterable[str], workers: Collection[str], *, source: str) -> list[Example]:
    """The examples in the lines of a file. Empty lines are skipped.

    Raises an `InputError` that names every kind of mistake with its lines; `source` is the file.
    """
    examples: list[Example] = []
    wrong: defaultdict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines, 1):
        if line.strip():
            read = _example(line, workers)
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
    """The examples without those that repeat one but for spaces and case."""
    return [*{(_plain(one.text), one.worker): one for one in examples}.values()]


def contradictions(examples: Iterable[Example]) -> list[str]:
    """The texts that are for more than one worker."""
    counts = Counter(_plain(one.text) for one in distinct(examples))
    return [text for text, count in counts.items() if count > 1]


def too_few(examples: Iterable[Example], names: Iterable[str | None], least: int) -> dict[str, int]:
    """Of whom there are fewer different examples than `least`, and how many."""
    counts = Counter(example.worker for example in distinct(examples))
    return {name or "no worker": counts[name] for name in names if counts[name] < least}


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _example(line: str, workers: Collection[str]) -> Example | str:
    """The example in a line, or what is wrong with it."""
    try:
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
            return f"there is no worker {name!r} in the team: {known}"
    return found


def _lines(numbers: list[int]) -> str:
    """Line numbers in words."""
    shown = ", ".join(map(str, numbers[:_MOST_NAMED]))
    more = len(numbers) - _MOST_NAMED
    return f"line{'s' * (len(numbers) > 1)} {shown}" + (f" and {more} more" if more > 0 else "")
