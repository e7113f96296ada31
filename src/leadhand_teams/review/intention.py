"""What shows that a change means to alter what the code does."""

import re
from collections.abc import Iterable

from leadhand.extension.findings import Finding
from leadhand_teams.review.change import Change
from leadhand_teams.review.rules import LensRule
from leadhand_teams.review.syntax import is_test, pattern_of, words

_CHECK = re.compile(r"\bassert|\bdef test|raises\b|\bexpect")
_PROSE = pattern_of("intention.prose")
_SAYS_SO = pattern_of("intention.says_so")
_OTHER_WORK = pattern_of("intention.other_work")
_FIX = re.compile(r"\b(?:fix(?:e[sd]|ing)?|bug(?:fix)?)\b", re.IGNORECASE)


def meant(change: Change, rules: Iterable[LensRule]) -> frozenset[str]:
    """The rules whose questions about what is gone the change answers by itself."""
    reverts, deliberate = change.title.startswith("Revert"), is_deliberate(change)
    other_work = _OTHER_WORK.search(change.title) is not None
    return frozenset(
        rule.id for rule in rules if rule.removal
        if reverts or (deliberate and not rule.sure) or (other_work and rule.weak)
    )  # fmt: skip


def names(change: Change, finding: Finding) -> bool:
    """Whether the title of a commit has a word of the code that a finding is about."""
    if ".." in change.title:
        return False  # a range
    code = (finding.evidence, *finding.message.split("`")[1:2])
    said, removed = ({_stem(word) for one in texts for word in words(one)}
                     for texts in (re.findall(r"\w+", change.title),
                                   re.findall(r"\w+", " ".join(code))))  # fmt: skip
    return any(len(word) > 3 for word in said & removed)


def _stem(word: str) -> str:
    return re.sub(r"(?:ing|ed|es|s)$", "", word)


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
