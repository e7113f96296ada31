"""Examples for a trained router: one JSON object a line, `{"text": ..., "worker": ...}`. Pure."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple, cast

from leadhand.errors import InputError

_MOST_NAMED = 5
_FORM = '{"text": "...", "worker": "NAME"}'


class Example(NamedTuple):
    """A text, and the worker that it is for."""

    text: str
    worker: str | None
    """`None`: it is for no worker of the team."""


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


def written(examples: Iterable[Example]) -> str:
    """The examples as the lines of a file."""
    rows = (json.dumps(example._asdict(), ensure_ascii=False) for example in examples)
    return "".join(f"{row}\n" for row in rows)


def plain(example: Example) -> Example:
    """The example without differences of spaces and case, to find repeated ones."""
    return example._replace(text=" ".join(example.text.split()).casefold())


def contradictions(examples: Iterable[Example]) -> list[str]:
    """The texts that are for more than one worker, in the words of the first of each."""
    first: dict[str, Example] = {}
    found: dict[str, str] = {}
    for example in examples:
        before = first.setdefault(plain(example).text, example)
        if before.worker != example.worker:
            found.setdefault(plain(example).text, before.text)
    return [*found.values()]


def too_few(examples: Sequence[Example], workers: Iterable[str], *, least: int) -> dict[str, int]:
    """The workers with fewer examples than `least`, and how many they have."""
    counts = Counter(example.worker for example in examples)
    return {worker: counts[worker] for worker in workers if counts[worker] < least}


def _example(line: str, workers: Collection[str]) -> Example | str:
    """The example in a line, or what is wrong with it."""
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        return f"it is not JSON: write {_FORM}"
    fields = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    text, worker = fields.get("text"), fields.get("worker", "")
    if not isinstance(text, str) or not text.strip():
        return f'it has no "text": write {_FORM}'
    if worker is None:
        return Example(text, None)
    if not isinstance(worker, str) or not worker:
        return 'it has no "worker": name one of the team, or write null if it is for none of them'
    if worker not in workers:
        close = get_close_matches(worker, workers, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"its workers are {', '.join(workers)}"
        return f"there is no worker {worker!r} in the team: {hint}"
    return Example(text, worker)


def _lines(numbers: Sequence[int]) -> str:
    """Line numbers in words."""
    shown = ", ".join(map(str, numbers[:_MOST_NAMED]))
    more = len(numbers) - _MOST_NAMED
    return f"line{'s' * (len(numbers) > 1)} {shown}" + (f" and {more} more" if more > 0 else "")
