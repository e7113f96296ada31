"""Questions of two halves, and documents that differ."""

from pathlib import Path

import pytest

from tests.leadhand_teams.research.samples import asked

NOTE = "The mill\n\nThe wheel stopped on 3 March 2026 because a beam had cracked.\n"
COSTS = "work,firm,amount\nWheel,Orso,400\nRoof,Vale,300\nWheel,Vale,250\n"


@pytest.mark.parametrize(
    ("question", "words", "missing"),
    [
        ("When did the wheel stop, and why?", "because a beam", ""),
        ("How many beams stopped the wheel, and why did it stop?", "because a beam", "How many"),
        ("How much did the roof cost and who oiled it?", "300", "who oiled it"),
        ("How much did the roof cost, and why?", "300", "No reason"),
    ],
)
def test_the_half_without_an_answer_is_said(
    question: str, words: str, missing: str, tmp_path: Path
) -> None:
    (tmp_path / "mill.txt").write_text(NOTE, encoding="utf-8")
    (tmp_path / "costs.csv").write_text(COSTS, encoding="utf-8")
    made = asked(question, tmp_path)
    assert words in made.answer
    assert missing in made.answer
    assert ("Not answered" in made.answer) == (missing not in ("", "No reason"))


def test_lines_that_differ_in_a_number_alone_are_changes(tmp_path: Path) -> None:
    old = "# Yard rules 2024\n\nNotice 30 days\nKey deposit 20 euros\n\n- Boats: 40 euros\n"
    new = old.replace("2024", "2026").replace("30", "45").replace("40", "44")
    for year, text in ((2024, old), (2026, new)):
        (tmp_path / f"yard_{year}.md").write_text(text, encoding="utf-8")
    made = asked("What changed between 2024 and 2026?", tmp_path)
    for words in ("Notice 30", "Notice 45", "40 euros", "44 euros"):
        assert words in made.answer
