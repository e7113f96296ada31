"""When an answer that is being written is cut off: after 2,000 characters that say nothing new."""

import pytest

from leadhand.models.endless import MAX_BLANK_PIECES, MAX_IDLE_CHARS, Endless

MANY = MAX_IDLE_CHARS


def cut(*pieces: str, in_call: bool = False) -> bool:
    """Whether an answer in these pieces is cut off."""
    watched = Endless()
    found = [watched.seen(0, piece, in_call=in_call) for piece in pieces]
    return found[-1]


@pytest.mark.parametrize(
    "text",
    [
        "\n" * MANY,
        "Well:" + " \n\t" * MANY,
        '{"answer": "blue"}' + "\n" * MANY,
        "```json\n{}\n```" + "\n" * MANY,
        '{"answer": ' + "\n" * MANY,
        "I do not know. " * MANY,
        'He said "no" and "never". ' * MANY,
        '{"a": [' + "0, " * MANY,
        '{"a":' + "[" * MANY,
        '{"a": "it is' + "\n" * 2 * MANY,
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_white_space_and_repetition_without_end_are_cut_off(text: str, size: int) -> None:
    """F54"""
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert cut(*pieces)
    assert cut(*pieces, in_call=True)


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "' + "na " * 3 * MANY + '"}',
        '{"answer": "' + r"\" " * MANY + '"}',
        '{"rows": [' + ", ".join('{"name": "x", "n": 1}' for _ in range(MANY)) + "]}",
        " ".join(f"Sentence {number}." for number in range(MANY)),
        f"{' ' * 15}\n" * (MANY // 16 - 1) + "x" + f"{' ' * 15}\n" * (MANY // 16 - 1),
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.parametrize("size", [13, 100_000])
def test_what_says_something_new_is_not(text: str, size: int) -> None:
    assert not cut(*(text[start : start + size] for start in range(0, len(text), size)))


def test_so_many_pieces_of_white_space_are_enough() -> None:
    """A small model takes minutes for 2,000 line breaks, each a piece. F54"""
    assert cut("{}", *"\n" * MAX_BLANK_PIECES)
    assert not cut("{}", *"\n" * (MAX_BLANK_PIECES - 1), "x", *"\n" * (MAX_BLANK_PIECES - 1))
    assert not cut('{"a": "', *" " * MAX_BLANK_PIECES)


def test_words_are_not_looked_at_once_a_call_has_begun() -> None:
    watched = Endless()
    assert not watched.seen(0, "Let me see.")
    assert not watched.seen(1, '{"month": ', in_call=True)
    assert not watched.seen(0, "\n" * 3 * MANY)
    assert not watched.seen(1, '"May"}', in_call=True)
    assert watched.chars == 11 + 10 + 3 * MANY + 6
