"""Numbers that a comment states and that the code beside it no longer has.

A pair of a removed and an added line that differ in numbers only, and a comment beside them that
the change left alone: where it states the old number and not the new one, it is now wrong.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence

from leadhand.contracts.finding import Finding
from leadhand.teams.review.change import ChangedFile, Hunk
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.comments.quantities import (
    Literal,
    Statement,
    masked,
    statements,
)
from leadhand.teams.review.lenses.comments.syntax import (
    MAX_LINE,
    Comment,
    Syntax,
    above,
    opener,
    split,
    syntax_of,
)

STALE_NUMBER = LensRule(
    id="comments/stale-number",
    family="comments/numbers",
    severity="warning",
    why="Whoever reads the comment is told the old value.",
    fix="Bring the comment up to date, or leave the number to the code alone.",
)

_HISTORIC = re.compile(
    r"\b(?:was|were|previously|formerly|originally|used to|instead of|rather than|no longer|"
    r"(?:changed|increased|reduced|raised|lowered|bumped) from|e\.g\.|example|"
    r"such as)\b",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r"(?:\bbetween|\bfrom|\brange:?|\bin|[\[(])\s?(?P<low>-?\d{1,9}(?:\.\d{1,6})?)\s?"
    r"(?:-|–|\.\.\.?|to|and|,)\s?(?P<high>-?\d{1,9}(?:\.\d{1,6})?)(?!\w|\.\d)",
    re.IGNORECASE,
)
_TARGET = re.compile(
    r"\s*(?:\w+ ){0,3}[\"']?(?P<name>[\w.-]{1,60})[\"']?\s?(?::[^=(]{0,80})?(?::|=|:=)\s"
)
_WORD = re.compile(r"[A-Za-z]{3,}")
_QUOTES = ('"""', "'''")
_MOST_LITERALS = 3


def stale_numbers(file: ChangedFile) -> Iterator[Finding]:
    """Findings for comments in `file` that still state a number that the change replaced."""
    syntax = syntax_of(file.path)
    if syntax is None:
        return
    for hunk in file.hunks:
        if not hunk.old_count or not hunk.new_count:
            continue
        for line, was, now in _altered(file, hunk, syntax):
            finding = _judge(file, line, was, now, syntax)
            if finding is not None:
                yield finding


def _altered(
    file: ChangedFile, hunk: Hunk, syntax: Syntax
) -> Iterator[tuple[int, Sequence[Literal], Sequence[Literal]]]:
    """Lines of `hunk` that stayed the same but for numbers: line, old numbers, new numbers."""
    before: defaultdict[tuple[str, str], deque[tuple[Literal, ...]]] = defaultdict(deque)
    for text in file.removed_in(hunk):
        if len(text) <= MAX_LINE and any(character.isdigit() for character in text):
            code, comment = split(text, syntax)
            mask, found = masked(code)
            before[mask, comment].append(found)
    if not before:
        return
    for line, text in enumerate(file.added_in(hunk), start=hunk.new_start):
        if len(text) > MAX_LINE:
            continue
        code, comment = split(text, syntax)
        mask, found = masked(code)
        if not before[mask, comment] or not any(character.isalpha() for character in mask):
            continue
        old = before[mask, comment].popleft()
        pairs = [
            (was, now)
            for was, now in zip(old, found, strict=True)
            if (was.value, was.unit) != (now.value, now.unit)
        ]
        if 1 <= len(pairs) <= _MOST_LITERALS:
            yield line, [was for was, _ in pairs], [now for _, now in pairs]


def _judge(
    file: ChangedFile,
    line: int,
    was: Sequence[Literal],
    now: Sequence[Literal],
    syntax: Syntax,
) -> Finding | None:
    code, beside = split(file.head_lines[line - 1], syntax)
    words = {word.lower() for word in _WORD.findall(_parted(code))}
    for comments, near in (
        ([Comment(line, beside)], True),
        (_standing(above(file.head_lines, line, syntax), file), True),
        (_field_docstring(file, line), True),
        (_over_the_bracket(file, line, syntax), False),
    ):
        told = " ".join(comment.text for comment in comments)
        if not told or _HISTORIC.search(told):
            continue
        stated = list(statements(told))
        for old, new in zip(was, now, strict=True):
            said = _still_said(told, stated, old, new)
            if said is None or any(other.states(fresh) for other in stated for fresh in now):
                continue
            alone = comments[0].line == line
            named = alone or bool(words & {word.lower() for word in _WORD.findall(told)})
            if _about(said, near=near, named=named, only=masked(code)[1] == (new,)):
                return STALE_NUMBER.finding(
                    file,
                    line,
                    message=f"`{_name(code)}` went from {old.text} to {new.text}, but the comment "
                    f"on {_where(comments, line)} still says {_quote(said)!r}.",
                    evidence=file.head_lines[line - 1].strip(),
                )
    return None


def _standing(comments: list[Comment], file: ChangedFile) -> list[Comment]:
    """The comments where the change wrote none of them anew, else none."""
    return [] if any(comment.line in file.added for comment in comments) else comments


def _over_the_bracket(file: ChangedFile, line: int, syntax: Syntax) -> list[Comment]:
    """The comment above the call or list in which `line` stands."""
    first = opener(file.head_lines, line)
    return _standing(above(file.head_lines, first, syntax), file) if first else []


def _field_docstring(file: ChangedFile, line: int) -> list[Comment]:
    """The string that documents the Python field on `line`, which stands right below it."""
    lines = file.head_lines
    if file.language != "python" or line >= len(lines) or "=" not in lines[line - 1]:
        return []
    first = lines[line].strip()
    if not first.startswith(_QUOTES):
        return []
    found: list[Comment] = []
    for number in range(line + 1, min(len(lines), line + 6) + 1):
        text = lines[number - 1].strip()
        found.append(Comment(number, text.strip("\"'")))
        if text.endswith(_QUOTES) and (number > line + 1 or len(text) > 3):
            return _standing(found, file)
    return []


def _still_said(told: str, stated: Sequence[Statement], was: Literal, now: Literal) -> str | None:
    for statement in stated:
        if statement.states(was):
            return statement.text
    for span in _RANGE.finditer(told):
        low, high = float(span["low"]), float(span["high"])
        if low <= was.value <= high and not low <= now.value <= high:
            return span[0]
    return None


def _about(said: str, *, near: bool, named: bool, only: bool) -> bool:
    """Whether the comment is about this number: small ones turn up in comments by chance."""
    if any(statement.kind for statement in statements(said)):
        return near or named
    if sum(character.isdigit() for character in said) >= 2:
        return near
    return near and named and only


def _parted(code: str) -> str:
    """`maxRetryCount` and `MAX_RETRY_COUNT` in single words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", code).replace("_", " ")


def _name(code: str) -> str:
    """What the line is about, short: the name it sets where there is one."""
    target = _TARGET.match(code)
    return target["name"] if target else code.strip()[:60]


def _where(comments: Sequence[Comment], line: int) -> str:
    return "the same line" if comments[0].line == line else f"line {comments[0].line}"


def _quote(said: str) -> str:
    return " ".join(said.split())[:60]
