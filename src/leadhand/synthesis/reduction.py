"""Fits texts of any length into one request: chunks are condensed repeatedly, nothing is
dropped."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from leadhand.errors import LeadhandError

MAX_CONCURRENT = 16
BYTES_A_TOKEN = 4
_LEAST_BYTES = 2_000
_LABEL = re.compile(r"\[[^\]\n]*\] ")

Condense = Callable[[str], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class TextBudget:
    """Limits in bytes of UTF-8, which are proportional to tokens in any script."""

    chunk: int
    """The most that one request may contain."""

    @property
    def condensed(self) -> int:
        return self.chunk // 8

    @property
    def most(self) -> int:
        """The most that a condensed chunk may have, so that each level halves the chunks."""
        return self.chunk // 2 - 1


def budget_of(context_tokens: int) -> TextBudget:
    """The limits for a model's context: half of it, because prompt and answer need the rest."""
    return TextBudget(max(context_tokens // 2 * BYTES_A_TOKEN, _LEAST_BYTES))


def size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


async def reduced(entries: Sequence[str], *, budget: TextBudget, condense: Condense) -> str:
    """The entries as one text that fits. `condense` returns at most `budget.most` bytes for a
    chunk; its exceptions propagate."""
    chunks = grouped(entries, budget.chunk)
    while len(chunks) > 1:
        chunks = grouped(await _level(chunks, budget, condense), budget.chunk)
    return "".join(chunks)


async def _level(chunks: Sequence[str], budget: TextBudget, condense: Condense) -> list[str]:
    slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def short(chunk: str) -> str:
        if size(chunk) <= budget.condensed:
            return chunk
        async with slots:
            return await condense(chunk)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(short(chunk)) for chunk in chunks]
    except* LeadhandError as failed:
        failure = failed.exceptions[0]
    else:
        return [task.result() for task in tasks]
    raise failure


def grouped(entries: Sequence[str], limit: int) -> list[str]:
    """The entries in order, joined with line breaks."""
    chunks: list[str] = []
    chunk: list[str] = []
    used = 0
    for entry in entries:
        for piece in pieces(entry, limit):
            more = size(piece) + 1
            if chunk and used + more > limit + 1:
                chunks.append("\n".join(chunk))
                chunk, used = [], 0
            chunk.append(piece)
            used += more
    return [*chunks, "\n".join(chunk)] if chunk else chunks


def pieces(entry: str, limit: int) -> list[str]:
    """Parts of at most `limit` bytes that each have the entry's label."""
    if size(entry) <= limit:
        return [entry]
    found = _LABEL.match(entry)
    label = found[0] if found and size(found[0]) <= limit // 2 else ""
    room = limit - size(label) - len("(part 1000000 of 1000000) ")
    parts = list(_cut(entry[len(label) :], room))
    return [f"{label}(part {n} of {len(parts)}) {part}" for n, part in enumerate(parts, start=1)]


def _cut(text: str, limit: int) -> Iterator[str]:
    """Split at the end of a line or word if possible."""
    data = text.encode("utf-8", "replace")
    start = 0
    while start < len(data):
        part = data[start : start + limit].decode("utf-8", "ignore")
        if start + limit < len(data):
            end = max(part.rfind("\n"), part.rfind(" "))
            if end > len(part) * 3 // 4:
                part = part[: end + 1]
        yield part
        start += len(part.encode())
