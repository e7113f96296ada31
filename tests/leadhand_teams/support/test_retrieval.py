"""Finding the section that answers, and saying that none does."""

import pytest

from leadhand_teams.support.retrieval import ANSWERS_FROM, Index, Ticket
from leadhand_teams.support.sections import Section

SECTIONS = [
    Section(
        "manual#pairing", "Pairing the remote control", (), "Hold both buttons until it blinks."
    ),
    Section("manual#sleep", "Sleep timer", (), "The sleep timer turns the set off after an hour."),
    Section(
        "manual#no-sound", "There is no sound", (), "If you hear no sound, see whether it is muted."
    ),
    Section("manual#sound", "Sound mode", (), "Choose a sound mode for speech or music."),
    Section("manual#wireless", "Wireless network", (), "Connect to a wireless network by WPS."),
    Section("manual#update", "Updating the software", (), "Download the update and restart."),
]


def best(question: str, index: Index | None = None) -> str:
    ranked = (index or Index(SECTIONS)).ranked(question)
    return ranked[0].section.ref if ranked else ""


@pytest.mark.parametrize(
    ("question", "ref"),
    [
        ("How do I set the sleep timer?", "manual#sleep"),
        ("how can i pair my remotes controll", "manual#pairing"),
        ("The sound isn't working", "manual#no-sound"),
        ("Which sound mode is best for music?", "manual#sound"),
        ("Can I use wifi?", "manual#wireless"),
    ],
)
def test_the_right_section_comes_first(question: str, ref: str) -> None:
    assert best(question) == ref


def test_a_question_about_something_else_is_not_answered() -> None:
    ranked = Index(SECTIONS).ranked("How do I bake bread with the sleep function of the oven?")
    assert not ranked or ranked[0].score < ANSWERS_FROM


def test_a_question_of_words_that_no_section_has_finds_nothing() -> None:
    assert Index(SECTIONS).ranked("¿Dónde está la biblioteca?") == []
    assert Index([]).ranked("anything") == []


def test_a_section_that_answered_a_like_ticket_before_comes_first() -> None:
    asked = "It goes dark every evening"
    index = Index(SECTIONS, [Ticket(asked, ("manual#sleep",)), Ticket("x", ("manual#gone",))])
    assert best(asked) == ""
    assert best("The set turns dark in the evening", index) == "manual#sleep"
