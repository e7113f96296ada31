"""Which sections the words of a question find."""

import sys
from concurrent.futures import ThreadPoolExecutor

from leadhand_teams.shared.search import Index, stem

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


def test_words_are_stemmed_in_many_threads_at_once() -> None:
    """A stemmer of the library is one object that all would write to."""
    words = [
        f"{root}{end}{more}"
        for root in ("run", "connect", "nation", "relat", "hop", "gener", "oper", "sens")
        for end in ("ing", "ation", "ed", "ional", "ities", "ful", "ness", "ive")
        for more in ("", "ly", "s", "ment")
    ]
    stem_uncached = stem.__wrapped__
    alone = [stem_uncached(word) for word in words]

    def stems(these: list[str]) -> list[str]:
        return [stem_uncached(one) for one in these]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            rounds = [words] * 12
            found = threads.map(stems, rounds)
            assert all(one == alone for one in found)
    finally:
        sys.setswitchinterval(before)
