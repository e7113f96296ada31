"""Which sections the words of a question find."""

from leadhand_teams.shared.search import Index

SECTIONS = [
    ("Installing", "Download the package and run the installer."),
    ("Virtual environments", "Create an environment before you install packages into it."),
    ("Time limits", "A script that runs too long is stopped. Raise the timeout."),
    ("", "Nothing of interest."),
]


def test_words_are_found_in_any_form_and_headings_weigh_more() -> None:
    index = Index(SECTIONS)
    assert index.search("how do I create virtual environments?")[0].item == 1
    assert index.search("timeouts of scripts")[0].item == 2
    assert index.search("installation")[0].item == 0


def test_the_share_says_how_much_of_the_question_is_there() -> None:
    index = Index(SECTIONS)
    assert index.search("raise the timeout")[0].share == 1
    assert index.search("timeout of the dishwasher and the oven")[0].share < 0.5
    assert index.search("dishwasher") == []
    assert Index([]).search("dishwasher") == []
