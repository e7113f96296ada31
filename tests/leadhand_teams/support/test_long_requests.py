"""Tables of which rows are asked for, and stories around questions."""

from pathlib import Path

import pytest

from tests.leadhand_teams.support.test_replies import run

LIMITS = (
    "# Readers\n\n## Limits of a gate\n\n| What | Most |\n|---|---|\n| Badges | 4,000 |\n"
    "| Length of the cable | 30 m |\n| Openings a minute | 20 |\n| Visitors at once | 12 |\n"
    "| Names stored offline | 900 |\n\n## Limits of the hub\n\n| What | Most |\n|---|---|\n"
    "| Gates | 16 |\n| Size of an uploaded photo | 2 MB |\n| Open sessions | 8 |\n\n"
    "## Upload photos of visitors\n\nChoose **Photos** and upload a photo of the visitor. The gate "
    "shows the photo.\n"
)


def test_a_table_is_shown_whole_as_other_words_may_ask_for_its_rows(tmp_path: Path) -> None:
    _, found = run(
        "What is the limit of openings a minute at a gate, and how many people can it remember?",
        tmp_path,
        **{"limits.md": LIMITS},
    )
    assert "| Openings a minute | 20 |" in found.reply
    assert "| Names stored offline | 900 |" in found.reply


def test_the_table_that_has_the_label_of_a_row_wins(tmp_path: Path) -> None:
    asked = "What is the largest size of an uploaded photo at the gate?"
    _, found = run(asked, tmp_path, **{"limits.md": LIMITS})
    assert "This is described in “Limits of the hub”, below." in found.reply
    assert "| Size of an uploaded photo | 2 MB |" in found.reply


@pytest.mark.parametrize("more", ["", " Which colours do badges have?"])
def test_the_story_around_a_question_does_not_hide_its_section(more: str, tmp_path: Path) -> None:
    _, found = run(
        "We moved to a new hall. Since then we upload photos of visitors by hand, and the gate "
        f"shows the photo. The choir sings on Monday. How do I print a badge again?{more}",
        tmp_path,
        **{"limits.md": LIMITS},
    )
    assert found.answered
    assert "“Print again”" in found.reply
    assert ("Badges are green" in found.reply) is bool(more)
    assert "Upload photos" not in found.reply
