"""Words of everyday speech that no file has, and words that are part of longer ones."""

from pathlib import Path

import pytest

from tests.leadhand_teams.research.samples import asked


def harbour(path: Path) -> Path:
    """Bills and a note."""
    bills = "supplier,kind,amount\nOrso,Ropes,400\nVale,Fuel,300\nVale,Ropes,250\n"
    (path / "bills.csv").write_text(bills, encoding="utf-8")
    note = "The limestone quay is washed every week.\nThe crane was painted in May.\n"
    (path / "note.txt").write_text(note, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("question", "words", "doubt"),
    [
        ("Which supplier left us with the highest amount?", "Vale", "“left”"),
        ("What total amount did Orso, poke as you like, bill?", "400", "“poke”"),
        ("How often is the lime washed?", "limestone", "“lime” is read as “limestone”"),
    ],
)
def test_words_that_name_nothing_refuse_nothing(
    question: str, words: str, doubt: str, tmp_path: Path
) -> None:
    made = asked(question, harbour(tmp_path))
    assert made.answered
    assert words in made.answer
    assert doubt in " ".join(made.doubts)


@pytest.mark.parametrize(
    "question",
    [
        "What amount is left of the ropes?",
        "What is the total amount of drill?",
        "What is the total amount of the lift?",
    ],
)
def test_words_that_name_something_still_refuse(question: str, tmp_path: Path) -> None:
    assert not asked(question, harbour(tmp_path)).answered
