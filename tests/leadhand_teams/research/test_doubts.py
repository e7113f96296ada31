"""What an answer does not account for is a doubt, and another kind of answer is none."""

from pathlib import Path

import pytest

from tests.leadhand_teams.research.samples import asked


def ferries(path: Path) -> Path:
    """A file a year, keys in a text with tabs, names with initials, days that are still open."""
    for year, takings in ((2024, (900, 700, 800)), (2025, (600, 500, 1000))):
        days = zip(("03-01", "03-02", "07-05"), takings, ("S1", "S2", "S9"), strict=True)
        rows = [f"{year}-{day},{ship},{taken}" for day, taken, ship in days]
        text = "\n".join(("date,ship,takings", *rows))
        (path / f"crossings_{year}.csv").write_text(text, encoding="utf-8")
    ships = "ship\tcaptain\tharbour\nS1\tP. Novak\tPula\nS2\tMara Ilic\tRijeka\n"
    (path / "ships.txt").write_text(ships, encoding="utf-8")
    bills = "Shipyard,Amount,Paid on\nUljanik,4000,2025-02-01\nViktor,2500,\nViktor Lenac,1500,\n"
    (path / "bills.csv").write_text(bills, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("question", "words", "doubt"),
    [
        ("takings - how much did we lose against 2024?", "fell by 12.5 %, from 2,400", "newest"),
        ("takings in july this year vs july last year, what changed?", "rose by 200", "2025"),
        ("What were the takings of Petar Novak in 2024?", "900: ", "“Petar” is read as"),
        ("What were the takings in Pula in 2025?", "600: ", "does not have “S9”"),
        ("Who still hasn't been paid?", "Viktor; Viktor Lenac", ""),
        ("Which shipyard do we owe the most?", "Viktor has the highest Amount", "may be the same"),
        ("How many crossings were sold in 2025?", "3 crossings", "“sold” was not used"),
        ("Which ship is the newest?", "latest date", "No column was named"),
        ("What were the takings of the late ships in 2025?", "2,100: ", "“late” was not used"),
    ],
)
def test_what_a_figure_does_not_account_for_is_a_doubt(
    question: str, words: str, doubt: str, tmp_path: Path
) -> None:
    made = asked(question, ferries(tmp_path))
    assert words in made.answer
    assert doubt in " ".join(made.doubts)


@pytest.mark.parametrize(
    "question",
    [
        "Who is the takings?",
        "Which harbour is the heaviest?",
        "What did Viktor deliver?",
        "How many people crossed in 2025?",
        "Which Viktor do we owe the most?",
    ],
)
def test_a_figure_of_another_kind_is_no_answer(question: str, tmp_path: Path) -> None:
    assert not asked(question, ferries(tmp_path)).answered
