"""The history lens: problems that the commits before a change reveal.

Reads the history that leads up to the change through leadhand's own bare repository. It judges only
the lines that this change writes, and reports nothing about older code.
"""

from collections.abc import Iterator, Sequence

from leadhand import LeadhandError
from leadhand.extension.findings import NotAssessed
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lens import ONLY_A_PATCH, Seen, lens
from leadhand_teams.review.lenses.history.reintroduced import reintroduced
from leadhand_teams.review.lenses.history.reverted import reverted


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Fixes that are undone, and fixed lines that come back."""
    if change.head is None or change.git_dir is None:
        yield NotAssessed(lens="history", why=ONLY_A_PATCH)
        return
    if change.history is None:
        yield NotAssessed(lens="history", why="this is the first commit", idle=True)
        return
    if (change.git_dir / "shallow").exists():
        why = "the clone is shallow: older commits are missing"
        yield NotAssessed(lens="history", why=why)
    undone: set[str] = set()
    try:
        yield from reverted(change, files, undone)
        yield from reintroduced(change, files, known=undone)
    except LeadhandError as error:
        yield NotAssessed(lens="history", why=f"not all earlier fixes were checked: {error}")
