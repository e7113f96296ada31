"""The comments lens: what is written about the code, where a change made it untrue.

Compares text with text and docstrings with signatures. It never judges how comments are written,
only whether the change in hand left one behind that now says something false.
"""

from collections.abc import Iterator, Sequence

from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule, Seen, lens
from leadhand.teams.review.lenses.comments.numbers import STALE_NUMBER, stale_numbers
from leadhand.teams.review.lenses.comments.parameters import (
    PARAMETER_GONE,
    PARAMETER_UNDOCUMENTED,
    STALE_DEFAULT,
    stale_docstrings,
)
from leadhand.teams.review.lenses.comments.sync import KEEP_IN_SYNC, broken_ties

RULES: tuple[LensRule, ...] = (
    STALE_NUMBER,
    PARAMETER_GONE,
    PARAMETER_UNDOCUMENTED,
    STALE_DEFAULT,
    KEEP_IN_SYNC,
)


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Findings for comments and docstrings that the change left behind."""
    for file in files:
        yield from stale_numbers(file)
        yield from stale_docstrings(file)
    yield from broken_ties(change, files)
