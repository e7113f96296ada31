"""What shows that a change means to alter what the code does."""

import re

from leadhand_teams.review.change import Change
from leadhand_teams.review.syntax import is_test, pattern_of

_CHECK = re.compile(r"\bassert|\bdef test|raises\b|\bexpect")
_PROSE = pattern_of("intention.prose")
_SAYS_SO = pattern_of("intention.says_so")
_FIX = re.compile(r"\b(?:fix(?:e[sd]|ing)?|bug(?:fix)?)\b", re.IGNORECASE)


def is_deliberate(change: Change) -> bool:
    """Whether a change shows that its author means what it alters.

    It writes tests or documentation, or its title says that something goes. What it only takes
    away does not count: a fix that is undone with its tests shows no intention.
    """
    if _SAYS_SO.search(change.title):
        return True
    for file in change.files:
        gone = {text.strip() for text in file.removed.values()}
        for text in file.added.values():
            tells = _CHECK.search(text) if is_test(file.path) else _PROSE.search(file.path)
            if tells and text.strip() and text.strip() not in gone:
                return True
    return False


def states_fix(change: Change) -> bool:
    """Whether the title of a change says that it fixes something."""
    return bool(_FIX.search(change.title))
