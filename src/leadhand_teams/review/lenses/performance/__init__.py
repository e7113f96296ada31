"""The performance lens: calls that block the event loop, and queries in loops over queries."""

from collections.abc import Iterator, Sequence

from leadhand.extension.findings import NotAssessed
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lens import Seen, lens
from leadhand_teams.review.lenses.performance import queries
from leadhand_teams.review.ruff_rules import ruff_findings


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Slow work in the Python files of a task."""
    for file in files:
        if file.language == "python" and not (file.complete or file.status == "deleted"):
            why = "only a patch was given, not the whole file"
            yield NotAssessed(lens="performance", path=file.path, why=why)
        elif file.language == "python":
            yield from queries.find(change, file)
    yield from ruff_findings("performance", files)
