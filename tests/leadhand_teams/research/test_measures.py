"""Which figures are taken where a question names none, and what they are of."""

from pathlib import Path

import pytest

from tests.leadhand_teams.research.samples import asked

FILES = {
    "gardens.csv": (
        "plot,tenant,crop,bed",
        "14,Meyer,beans,3", "22,Okafor,lettuce,4", "37,Lindt,beans,9", "41,Meyer,carrots,2",
    ),
    "cellar.csv": (
        "wine,litres,guest",
        "Gavi,0.75,Adams", "Soave,1.5,Brill", "Gavi,0.75,Cohen", "Soave,1.5,Adams",
    ),
    "outlay.csv": (
        "cost,2023,2024,2025",
        "Heat,400,450,600", "Water,90,95,100", "Cleaners,300,290,330", "House,790,835,1030",
    ),
    "bills.csv": (
        "bill,supplier,kind of cost,amount",
        "B1,Orso,Repairs,400", "B2,Orso,Linen,300", "B3,Vale,Repairs,200", "B4,Lux,Fuel,550",
    ),
    "loans.csv": (
        "loan,painting,museum,amount",
        "L1,Sea,Oslo,90", "L2,Hill,Bonn,70", "L3,Sea,Bonn,40",
    ),
}  # fmt: skip


def written(path: Path, *names: str) -> Path:
    """These files."""
    for name in names:
        (path / name).write_text("\n".join(FILES[name]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("gardens.csv", "How much do beans cost?"),
        ("gardens.csv", "What is the average for Meyer?"),
        ("gardens.csv", "What is the total of Meyer?"),
        ("cellar.csv", "What is the total of Adams?"),
        ("cellar.csv", "How many bottles did Adams drink?"),
        ("cellar.csv", "What is the average fee of Adams?"),
        ("cellar.csv", "What are the total litres of grappa?"),
    ],
)
def test_numbers_that_name_or_describe_things_are_not_added_up(
    name: str, question: str, tmp_path: Path
) -> None:
    made = asked(question, written(tmp_path, name))
    assert not made.answered
    assert made.value is None


def test_figures_that_are_named_are_added_up(tmp_path: Path) -> None:
    made = asked("What are the total litres of Gavi?", written(tmp_path, "cellar.csv"))
    assert made.value == 1.5


def test_a_count_that_no_word_asks_for_is_a_doubt(tmp_path: Path) -> None:
    made = asked("Which tenant has the most?", written(tmp_path, "gardens.csv"))
    assert "rows were counted" in " ".join(made.doubts)


@pytest.mark.parametrize(
    ("name", "question", "words", "doubt"),
    [
        ("outlay.csv", "What went up most?", "Heat grew fastest", "No column"),
        ("outlay.csv", "Which cost rose least?", "Cleaners grew least", ""),
        ("outlay.csv", "What did we spend in total in 2024?", "835: ", ""),
        ("outlay.csv", "What is water now?", "100: ", "“now” is read as “2025”"),
        ("outlay.csv", "What share of it all was heat in 2025?", "58.3 % (600 of 1,030)", ""),
        ("bills.csv", "What did we spend most on?", "Repairs has the highest amount: 600", ""),
        (
            "bills.csv",
            "Which cost is the highest, and what share of the lot is it?",
            "41.4 % (600 of 1,450)",
            "",
        ),
        ("loans.csv", "What are the top 2 by amount?", "L1", "each loan was taken"),
    ],
)
def test_what_is_ranked_is_what_the_question_names(
    name: str, question: str, words: str, doubt: str, tmp_path: Path
) -> None:
    made = asked(question, written(tmp_path, name))
    assert words in made.answer
    assert doubt in " ".join(made.doubts)
