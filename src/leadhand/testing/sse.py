"""Splits texts into pieces for the streams of both protocols."""

_PIECE_CHARS = 40
_MOST_PIECES = 50


def pieces(text: str) -> list[str]:
    """`text` in pieces of 40 characters; a long one in at most 50."""
    size = max(_PIECE_CHARS, -(-len(text) // _MOST_PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]
