"""Reduction: material of any length fits, and every part of it is read (F10)."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadhand.errors import ModelError
from leadhand.synthesis.reduction import (
    MAX_CONCURRENT,
    TextBudget,
    budget_of,
    grouped,
    pieces,
    reduced,
    size,
)


@given(st.lists(st.text(alphabet="ab \n€𝄞", max_size=400), max_size=20), st.integers(200, 1_000))
def test_f10_chunks_hold_every_word_in_order_and_none_is_too_long(
    texts: list[str], limit: int
) -> None:
    entries = [f"[t{number}] {text}" for number, text in enumerate(texts)]
    chunks = grouped(entries, limit)
    assert all(size(chunk) <= limit for chunk in chunks)
    assert "\n".join(chunks) == "\n".join(
        piece for entry in entries for piece in pieces(entry, limit)
    )


@given(st.text(alphabet="ab \n€𝄞", min_size=1, max_size=3_000), st.integers(200, 500))
def test_f10_the_pieces_of_a_long_text_are_the_text(text: str, limit: int) -> None:
    parts = pieces(f"[t1] {text}", limit)
    assert all(size(part) <= limit for part in parts)
    assert all(part.startswith("[t1] ") for part in parts)
    if len(parts) > 1:
        start = f"(part {{}} of {len(parts)}) "
        bare = [
            part.removeprefix("[t1] ").removeprefix(start.format(number))
            for number, part in enumerate(parts, start=1)
        ]
        assert "".join(bare) == text


def test_pieces_end_where_a_word_does() -> None:
    parts = pieces("[t1] " + "word " * 200, 300)
    assert all(part.endswith("word ") for part in parts)


def test_chunks_are_condensed_level_by_level_until_one_is_left() -> None:
    asked: list[str] = []

    async def condense(chunk: str) -> str:
        asked.append(chunk)
        return f"c{len(asked)}".ljust(400, ".")

    entries = [f"[t{number}] ".ljust(1_000, "x") for number in range(8)]
    text = asyncio.run(reduced(entries, budget=TextBudget(1_001), condense=condense))
    assert len(asked) == 8 + 4 + 2
    assert [chunk[:4] for chunk in asked[:2]] == ["[t0]", "[t1]"]
    assert text.split("\n")[0].rstrip(".") == "c13"
    assert text.split("\n")[1].rstrip(".") == "c14"


def test_a_short_chunk_is_not_condensed() -> None:
    asked: list[str] = []

    async def condense(chunk: str) -> str:
        asked.append(chunk)
        return "short"

    text = asyncio.run(
        reduced(["x" * 1_000, "y" * 10], budget=TextBudget(1_000), condense=condense)
    )
    assert (len(asked), text) == (1, "short\n" + "y" * 10)


@pytest.mark.wall_clock
async def test_no_more_than_sixteen_chunks_are_condensed_at_once() -> None:
    started: list[str] = []
    gate = asyncio.Event()

    async def condense(chunk: str) -> str:
        started.append(chunk)
        await gate.wait()
        return "x"

    entries = ["x" * 1_000] * 40
    work = asyncio.create_task(reduced(entries, budget=TextBudget(1_000), condense=condense))
    for _ in range(100):  # turns of the loop: enough for all forty to start, if they could
        await asyncio.sleep(0)
    assert len(started) == MAX_CONCURRENT == 16
    gate.set()
    await work
    assert len(started) == 40


def test_the_first_failure_stops_the_rest_and_propagates() -> None:
    async def condense(chunk: str) -> str:
        if chunk.startswith("a"):
            raise ModelError("no model", transient=True)
        await asyncio.Event().wait()
        return ""

    with pytest.raises(ModelError, match="no model"):
        asyncio.run(
            reduced(["a" * 1_000, "b" * 1_000], budget=TextBudget(1_000), condense=condense)
        )


def test_half_of_the_context_is_for_the_material() -> None:
    assert budget_of(128_000).chunk == 256_000
    assert budget_of(1).chunk >= 1_000
