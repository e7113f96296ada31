"""Finding the section that answers, and saying that none does."""

import pytest

from leadhand_teams.support.output import DocSection
from leadhand_teams.support.sections import ANSWERS_FROM, PastTicket, SectionIndex

SECTIONS = [
    DocSection(ref=f"manual#{ref}", title=title, text=text)
    for ref, title, text in (
        ("pairing", "Pairing the remote control", "Hold both buttons until it blinks."),
        ("sleep", "Sleep timer", "The sleep timer turns the set off after an hour."),
        ("no-sound", "There is no sound", "If you hear no sound, see whether it is muted."),
        ("sound", "Sound mode", "Choose a sound mode for speech or music."),
        ("wireless", "Wireless network", "Connect to a wireless network by WPS."),
        ("update", "Updating the software", "Download the update and restart."),
    )
]


def best(question: str, index: SectionIndex | None = None) -> str:
    ranked = (index or SectionIndex(SECTIONS)).ranked(question)
    return ranked[0].ref if ranked else ""


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
    ranked = SectionIndex(SECTIONS).ranked(
        "How do I bake bread with the sleep function of the oven?"
    )
    assert not ranked or ranked[0].score < ANSWERS_FROM


def test_a_question_of_words_that_no_section_has_finds_nothing() -> None:
    assert SectionIndex(SECTIONS).ranked("¿Dónde está la biblioteca?") == []
    assert SectionIndex([]).ranked("anything") == []


def test_a_section_that_answered_a_like_ticket_before_comes_first() -> None:
    asked = "It goes dark every evening"
    index = SectionIndex(
        SECTIONS, [PastTicket(asked, ("manual#sleep",)), PastTicket("x", ("manual#gone",))]
    )
    assert best(asked) == ""
    assert best("The set turns dark in the evening", index) == "manual#sleep"
