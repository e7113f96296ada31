"""Redaction of a text that is still being written: never more than the whole would show."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadhand.redaction.growing import HELD_CHARS, GrowingText
from leadhand.redaction.redactor import REDACTED, Redactor

KEY = "sk-proj-" + "aB3dE6gH9jK2" * 4
PASSPHRASE = "correct horse 42 battery staple of nine words"
PEM = "-----BEGIN PRIVATE KEY-----\n" + "MIIEvQIBADANBgkqh\n" * 20 + "-----END PRIVATE KEY-----"
WORDS = "the quick brown fox jumps over the lazy dog and writes it down. " * 4
SECRETS = [KEY, PASSPHRASE, PEM, f"password = {KEY[8:]}", f"Authorization: Bearer {KEY[8:]}"]


def written(text: str, cuts: list[int]) -> list[str]:
    growing = GrowingText(Redactor([PASSPHRASE]))
    pieces = [growing.next(text[:cut], ended=False) for cut in sorted(cuts)]
    return [*pieces, growing.next(text, ended=True)]


@settings(max_examples=60, deadline=None)
@given(
    secret=st.sampled_from(SECRETS),
    before=st.integers(0, len(WORDS)),
    after=st.integers(0, len(WORDS)),
    cuts=st.lists(st.integers(0, 1_000), max_size=30),
)
def test_a_secret_is_redacted_wherever_the_text_is_cut(
    secret: str, before: int, after: int, cuts: list[int]
) -> None:
    """F58"""
    text = f"{WORDS[:before]}\n{secret} {WORDS[:after]}"
    shown = "".join(written(text, [min(cut, len(text)) for cut in cuts]))
    assert shown == Redactor([PASSPHRASE])(text)
    assert REDACTED in shown


def test_ordinary_text_is_shown_as_it_comes() -> None:
    pieces = written(WORDS, [*range(0, len(WORDS), 40)])
    assert "".join(pieces) == WORDS
    for number, end in enumerate(range(0, len(WORDS), 40), start=1):
        assert end - len("".join(pieces[:number])) <= HELD_CHARS + len("brown ")


@pytest.mark.parametrize("text", ["\u65e5\u672c\u8a9e" * 100, "x" * 20_000])
def test_text_without_spaces_is_shown_too(text: str) -> None:
    pieces = written(text, [*range(0, len(text), 50)])
    assert "".join(pieces) == text
    assert len("".join(pieces[:-1])) > 0
