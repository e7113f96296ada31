"""The comments lens: comments and docstrings that the change made wrong.

Code compares docstrings with signatures; a model compares everything else that is written.
"""

from collections.abc import Iterator, Sequence

from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lens import Seen, lens
from leadhand_teams.review.lenses.comments.parameters import stale_docstrings


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Findings for docstrings that no longer agree with the code."""
    for file in files:
        yield from stale_docstrings(file)
