"""Cuts texts to a length, but never within a secret, which redaction would then miss. Pure."""

_AROUND = 2_000
"""Characters on each side of a cut that are searched for secrets."""


def cut(text: str, max_chars: int, mark: str = "") -> str:
    """`mark` follows if something is left out."""
    return text if len(text) <= max_chars else f"{text[: around(text, max_chars)[0]]}{mark}"


def cut_line(text: str, max_chars: int) -> str:
    """One line, with an ellipsis if it is cut."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else cut(line, max_chars - 1, "…")


def around(text: str, place: int) -> tuple[int, int]:
    """The start and the end of the secrets of `text` around `place`; it twice if there are none."""
    if not 0 < place < len(text):
        return place, place
    # Imported here because its patterns take long to compile, and most texts are short.
    from leadhand.redaction import encodings, scanner

    first = max(0, place - _AROUND)
    part = text[first : place + _AROUND]
    start = end = place - first
    for left, right in sorted(scanner.spans(part, encodings.EncodedWords.of(part))):
        if left < end and right > start:
            start, end = min(start, left), max(end, right)
    return first + start, first + end
