"""The history lens: what earlier commits say about the change in hand.

Reads the history that leads up to the change through leadhand's own bare repository. It looks at
the past only to judge lines that this change writes; it reports nothing about the past itself.
"""

from collections.abc import Iterator, Sequence

from leadhand.contracts.finding import NotAssessed
from leadhand.errors import LeadhandError
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule, Seen, lens
from leadhand.teams.review.lenses.history.companions import MISSING_COMPANION, missing_companions
from leadhand.teams.review.lenses.history.reintroduced import REINTRODUCED, reintroduced

RULES: tuple[LensRule, ...] = (REINTRODUCED, MISSING_COMPANION)


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Findings that rest on the commits before the change."""
    why = _without_history(change)
    if why:
        yield NotAssessed(lens="history", why=why)
        return
    if change.git_dir is not None and (change.git_dir / "shallow").exists():
        cut = "a shallow clone: commits before its cut were not looked at"
        yield NotAssessed(lens="history", why=cut)
    try:
        yield from reintroduced(change, files)
    except LeadhandError as error:
        yield NotAssessed(lens="history", why=f"not all earlier fixes were compared: {error}")
    try:
        yield from missing_companions(change, files)
    except LeadhandError as error:
        yield NotAssessed(lens="history", why=f"files that change together: {error}")


def _without_history(change: Change) -> str:
    if change.head is None or change.git_dir is None:
        return "no history: only a patch was handed in"
    if change.history is None:
        return "no history: this is a first commit"
    return ""
