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
