"""F58: a text is cut before or behind a secret, never within one."""

import pytest

from leadhand.untrusted.cutting import around, cut, cut_line

TOKEN = "ghp_" + "a1B2c3D4" * 5
TEXT = f"the key {TOKEN} is used"


@pytest.mark.parametrize("length", range(len(TEXT)))
def test_a_cut_text_has_all_of_a_secret_or_nothing_of_it(length: int) -> None:
    assert cut(TEXT, length).partition("ghp_")[2] in (
        "",
        *(TOKEN[4:] + " is used"[:n] for n in range(9)),
    )
    tail = TEXT[around(TEXT, length)[1] :]
    assert TOKEN in tail or "c3D4" not in tail


def test_a_text_without_secrets_is_cut_where_it_was_asked() -> None:
    assert cut("one two three", 7, "...") == "one two..."
    assert cut_line("one\ntwo  three", 8) == "one two…"
    assert cut("short", 5, "...") == "short"
    assert around("plain", 3) == (3, 3)
    assert cut("é" * 10_000, 5_000) == "é" * 5_000


def test_secrets_that_overlap_are_left_out_together() -> None:
    text = f"postgres://{TOKEN}:pa$$w[1]rd@db.example/app"
    for length in range(12, len(text) - 15):
        assert cut(text, length) in ("postgres://", f"postgres://{TOKEN}", f"postgres://{TOKEN}:")
