"""The tests lens: tests that no longer run or check nothing.

Works from text and syntax alone: it runs no tests and reads no test configuration. What
ruff finds in tests (assertions on tuples, two tests with one name) is in the lens `bugs`.
"""

from collections.abc import Iterator, Sequence

from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lens import Seen, lens
from leadhand_teams.review.lenses.tests import skipped
from leadhand_teams.review.ruff_rules import ruff_findings


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Problems of the tests that the change adds or alters."""
    for file in files:
        yield from skipped.find(file)
    yield from ruff_findings("tests", files)
