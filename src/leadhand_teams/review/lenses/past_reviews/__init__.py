"""The past reviews lens: what reviewers said earlier about code like that of the change.

Code finds their comments in an export that the user gives, and a model judges whether they apply
here, so that without a model nothing is assessed.
"""

import functools
from collections.abc import Set as AbstractSet
from pathlib import Path

from leadhand import Handoff
from leadhand.extension.findings import LensReport, NotAssessed
from leadhand_teams.review.change import Change
from leadhand_teams.review.lenses.past_reviews.export import PastComment, load_export
from leadhand_teams.shared.search import Index

MAX_CHARS = 8_000
"""The most text of comments for one part of the change."""
_MAX_COMPARED = 5_000
"""The newest comments of an export are compared."""
_MAX_HUNKS = 50
_PER_HUNK = 3
_MIN_SHARE = 0.3
"""How much of the words of a hunk a comment and its code must have, by their rarity."""


def review(handoff: Handoff, *, change: str, past_reviews: str | None = None) -> LensReport:
    """That earlier comments were not compared with the change."""
    del handoff, change
    why = "no export of earlier reviews was given; pass one with --past-reviews FILE"
    if past_reviews is not None:
        why = "only a model compares earlier comments with the change (--model)"
    note = NotAssessed(lens="past_reviews", why=why, idle=past_reviews is None)
    return LensReport(not_assessed=(note,))


def earlier_comments(change: Change, paths: AbstractSet[str], export: Path) -> str:
    """The comments in `export` on code like that of the change to `paths`, the most similar first.

    At most `MAX_CHARS`. Raises `InputError`.
    """
    comments, index = _indexed(export)
    best: dict[int, float] = {}
    files = [change.by_path[path] for path in sorted(paths & change.by_path.keys())]
    hunks = [(file, hunk) for file in files for hunk in file.hunks if hunk.new_count]
    for file, hunk in hunks[:_MAX_HUNKS]:
        code = "\n".join(file.added_in(hunk)[:_MAX_HUNKS])
        for hit in index.search(f"{file.path}\n{code}", _PER_HUNK):
            if hit.share >= _MIN_SHARE or comments[hit.item].path == file.path:
                best[hit.item] = max(hit.score, best.get(hit.item, 0.0))
    shown: list[str] = []
    room = MAX_CHARS
    for number in sorted(best, key=lambda number: (-best[number], number)):
        room -= len(str(comments[number])) + 1
        shown += [str(comments[number])] if room > 0 else []
    return "\n".join(shown)


@functools.lru_cache(maxsize=2)
def _indexed(export: Path) -> tuple[tuple[PastComment, ...], Index]:
    given = sorted(load_export(export), key=lambda one: one.created_at or "", reverse=True)
    newest = given[:_MAX_COMPARED]
    return tuple(newest), Index(
        (one.path or "", "\n".join([*one.lines, one.body or ""])) for one in newest
    )
