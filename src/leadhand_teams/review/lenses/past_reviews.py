"""The past reviews lens: what reviewers said earlier about code like that of the change.

Code finds their comments in an export that the user gives, and a model judges whether they apply
here, so that without a model nothing is assessed. The export is the JSON that GitHub's REST API
returns for pull request review comments: an array, several arrays in a row (`gh api --paginate`),
or one object per line. It is untrusted data: every field is checked.
"""

import functools
import json
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import cast

from pydantic import BaseModel, ValidationError

from leadhand import Handoff, InputError
from leadhand.extension.findings import LensReport, NotAssessed
from leadhand.extension.output import clip, safe, sentence
from leadhand_teams.review.change import Change
from leadhand_teams.review.diff_rows import fitting
from leadhand_teams.shared.search import Index

MAX_CHARS = 8_000
"""The most text of comments for one part of the change."""
_MAX_COMPARED = 5_000
"""The newest comments of an export are compared."""
_MAX_HUNKS = 50
_PER_HUNK = 3
_MIN_SHARE = 0.3
"""How much of the words of a hunk a comment and its code must have, by their rarity."""
MAX_BYTES = 256 << 20
_SPACE = re.compile(r"[ \t\r\n]*")
_EXPECTED = "expected the JSON that GitHub returns for pull request review comments"
_BODY_CHARS = 800
_MAX_LINES = 12
"""How many lines at the end of a hunk are kept."""


class _User(BaseModel, defer_build=True):
    login: str = "someone"
    type: str = "User"


class PastComment(BaseModel, defer_build=True):
    """One earlier review comment, as far as it is read."""

    path: str | None
    """The file that it is about, under its name at that time."""
    diff_hunk: str | None
    """The change up to the line that it is on."""
    body: str | None
    user: _User | None = None
    created_at: str | None = ""
    side: str | None = None
    in_reply_to_id: int | None = None

    @property
    def lines(self) -> list[str]:
        """The code at the end of its hunk, added and unchanged lines; it is on the last."""
        rows = (self.diff_hunk or "")[-20_000:].split("\n")[1:]
        return [sentence(row[1:]) for row in rows if row[:1] in ("+", " ")][-_MAX_LINES:]

    @property
    def is_usable(self) -> bool:
        """Whether a person began a conversation with it on code that is there after the change."""
        last = (self.diff_hunk or "").rpartition("\n")[2]
        removed = self.side == "LEFT" or last[:1] not in ("+", " ")
        by_bot = self.user is not None and self.user.type == "Bot"
        return bool(self.body) and not (removed or by_bot or self.in_reply_to_id)

    def __str__(self) -> str:
        """What a model sees of it: text of one line each, without control characters."""
        author = self.user.login if self.user else "someone"
        place = sentence(f"{author} on {self.path} ({(self.created_at or '')[:10]})")
        body = clip(sentence(self.body or ""), _BODY_CHARS)
        return "\n".join([f"{place}: {body}", *(f"    {line}" for line in self.lines)])


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
    nearest = sorted(best, key=lambda number: (-best[number], number))
    return fitting([str(comments[number]) for number in nearest], MAX_CHARS)


@functools.lru_cache(maxsize=2)
def _indexed(export: Path) -> tuple[tuple[PastComment, ...], Index]:
    given = sorted(load_export(export), key=lambda one: one.created_at or "", reverse=True)
    newest = given[:_MAX_COMPARED]
    return tuple(newest), Index(
        (one.path or "", "\n".join([*one.lines, one.body or ""])) for one in newest
    )


def load_export(path: Path) -> tuple[PastComment, ...]:
    """The comments on code in the export at `path`; `InputError` if the export is malformed.

    Replies, comments by bots, on removed lines and on whole files are left out.
    """
    name = safe(path.name)
    try:
        with path.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"can't read {safe(str(path))}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not UTF-8 text: {_EXPECTED}") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{name} is larger than {MAX_BYTES >> 20} MiB: split it")
    found: list[PastComment] = []
    for number, item in enumerate(_items(text, name), start=1):
        try:
            found.append(PastComment.model_validate(item))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, ("comment", number, *first["loc"])))
            raise InputError(f"{name}, {where}: {first['msg']}: {_EXPECTED}") from error
    return tuple(one for one in found if one.is_usable)


def _items(text: str, name: str) -> Iterator[object]:
    """The comments of every JSON value in `text`, in order: they themselves, or lists of them."""
    decoder, at = json.JSONDecoder(), _after_space(text, 0)
    if at == len(text):
        raise InputError(f"{name} is empty: {_EXPECTED}")
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:  # also of a number that is too long
            raise InputError(f"{name} is not JSON ({error}): {_EXPECTED}") from error
        yield from _listed(cast("object", value))
        at = _after_space(text, at)


def _after_space(text: str, at: int) -> int:
    return cast("re.Match[str]", _SPACE.match(text, at)).end()


def _listed(value: object) -> Iterator[object]:
    """What is in a list, and in the lists in it (`gh api --paginate --slurp`); else itself."""
    for one in cast("list[object]", value) if isinstance(value, list) else ():
        yield from cast("list[object]", one) if isinstance(one, list) else (one,)
    if not isinstance(value, list):
        yield value
