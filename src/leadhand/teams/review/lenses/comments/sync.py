"""Places that a comment ties together, of which the change moved only one.

Looks for the marks people leave ("keep in sync with X", "also update X", `LINT.ThenChange(X)`)
above or beside what the change touches, and for X in the tree. Where X can't be found nothing is
said.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leadhand.contracts.finding import Finding
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.comments.partners import Partner, Partners
from leadhand.teams.review.lenses.comments.syntax import Syntax, indent, split, syntax_of

KEEP_IN_SYNC = LensRule(
    id="comments/keep-in-sync",
    family="comments/sync",
    severity="warning",
    why="The comment asks for both to change together.",
    fix="Change the other place as well, or say in the comment why it may now differ.",
)

_MARK = re.compile(
    r"(?:\b(?:keep|kept|stay|be|remain)\s(?:this\s|these\s|it\s|them\s|up\s|both\s)?"
    r"(?:in[ -]sync|in step|synchroni[sz]ed|synced|consistent|identical)\s(?:with|to)"
    r"|\bin[ -]sync with"
    r"|\b(?:must|needs? to|has to|have to)\s(?:always\s|exactly\s|also\s)?"
    r"(?:match|mirror|agree with)\b"
    r"|\b(?:(?:please|also|remember to|(?:do not|don't) forget to|make sure to|must|then)\s){1,2}"
    r"(?:also\s)?(?:update|change|edit|adapt|adjust)"
    r"|\bLINT\.ThenChange\()",
    re.IGNORECASE,
)
_HINTS = (
    "sync", "in step", "match", "mirror", "agree with", "update", "change", "edit",
    "adapt", "adjust", "consistent", "identical",
)  # fmt: skip
_VALUE = re.compile(r"\"[^\"]*\"|'[^']*'|\b\d[\w.]*")
_DEFINITION = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|static|async|pub)\s+){0,4}"
    r"(?:def|class|func|function|fn|struct|enum|interface|trait|type|impl)\b"
)
_FUNCTION_LINES = 200
_DATA_LINES = 40
_MOST_MARKS = 50
_COMMENT_LINES = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """A comment that ties the code below or beside it to something else."""

    line: int
    words: str
    """What it says from the mark on, across lines."""
    first: int
    last: int
    """The lines of code that it is about."""


def broken_ties(change: Change, files: Sequence[ChangedFile]) -> Iterator[Finding]:
    """Findings for marked places in `files` that changed without their partners."""
    partners = Partners(change)
    for file in files:
        syntax = syntax_of(file.path)
        if syntax is None or not file.hunks or file.status in ("added", "deleted"):
            continue
        for mark in _marks(file, syntax):
            line = _changed_code(file, mark, syntax)
            if line is None:
                continue
            partner = partners.of(file, mark.words, scope=(mark.line, mark.last))
            if partner is None:
                continue
            finding = _finding(file, line, mark, partner, syntax)
            if finding is not None:
                yield finding


def _marks(file: ChangedFile, syntax: Syntax) -> Iterator[Mark]:
    lines = file.head_lines
    seen = 0
    for number in _hinted(file.head):
        if number in file.added:
            continue
        code, comment = split(lines[number - 1], syntax)
        found = _MARK.search(comment)
        if not found:
            continue
        seen += 1
        if seen > _MOST_MARKS:
            return
        words, last = _sentence(lines, number, comment[found.start() :], syntax)
        if code.strip():
            yield Mark(number, words, number, number)
            continue
        first = _first_code(lines, last + 1, syntax)
        if first is not None:
            yield Mark(number, words, first, _scope_end(lines, first, syntax))


def _hinted(text: str) -> list[int]:
    """The lines of `text` that have a word in them without which there is no mark.

    Plain searches over the whole text: a pattern tried on each line costs 50 times as much.
    """
    low = text.lower()
    found = sorted({at for hint in _HINTS for at in _offsets(low, hint)})
    numbers: list[int] = []
    number, before = 1, 0
    for at in found:
        number += low.count("\n", before, at)
        before = at
        if not numbers or numbers[-1] != number:
            numbers.append(number)
    return numbers


def _offsets(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + 1)


def _sentence(lines: list[str], number: int, start: str, syntax: Syntax) -> tuple[str, int]:
    """What the comment says from its mark on, to the end of the sentence, and its last line."""
    words, last = start, number
    for after in range(number + 1, min(len(lines), number + _COMMENT_LINES) + 1):
        code, comment = split(lines[after - 1], syntax)
        if code.strip() or not comment:
            break
        words, last = f"{words} {comment}", after
    end = re.search(r"[.;!?](?:\s|$)|\s(?:if|when|because|so that|otherwise)\s", words[10:])
    return (words[: end.start() + 10] if end else words), last


def _first_code(lines: list[str], start: int, syntax: Syntax) -> int | None:
    for number in range(start, min(len(lines), start + 8) + 1):
        text = lines[number - 1]
        if not text.strip():
            return None
        if split(text, syntax)[0].strip():
            return number
    return None


def _scope_end(lines: list[str], first: int, syntax: Syntax) -> int:
    """The last line of the block that starts at `first`.

    It ends before a shallower line, and at its own depth before a blank line or a new comment.
    """
    depth = indent(lines[first - 1])
    most = _FUNCTION_LINES if _DEFINITION.match(lines[first - 1]) else _DATA_LINES
    last, blank = first, False
    for number in range(first + 1, min(len(lines), first + most) + 1):
        text = lines[number - 1]
        if not text.strip():
            blank = True
            continue
        ends = blank or not split(text, syntax)[0].strip()
        if indent(text) < depth or (ends and indent(text) == depth):
            break
        last, blank = number, False
    return last


def _changed_code(file: ChangedFile, mark: Mark, syntax: Syntax) -> int | None:
    """The first line of the marked code where the change did more than comments or white space."""
    for hunk in file.hunks:
        end = hunk.new_start + max(hunk.new_count, 1) - 1
        start = hunk.new_start if hunk.new_count else hunk.new_start + 1
        if start > mark.last or max(end, start) < mark.first:
            continue
        was = [split(text, syntax)[0] for text in file.removed_in(hunk)]
        now = [split(text, syntax)[0] for text in file.added_in(hunk)]
        if _matters(was, now, whole=bool(_DEFINITION.match(file.head_lines[mark.first - 1]))):
            return min(max(start, mark.first), mark.last)
    return None


def _matters(was: Sequence[str], now: Sequence[str], *, whole: bool) -> bool:
    """Whether code differs; in data, not in a `whole` function, whether its values do."""
    if whole:
        return "".join("".join(was).split()) != "".join("".join(now).split())
    return _values(was) != _values(now)


def _values(lines: Sequence[str]) -> Counter[str]:
    return Counter(value for line in lines for value in _VALUE.findall(line))


def _finding(
    file: ChangedFile, line: int, mark: Mark, partner: Partner, syntax: Syntax
) -> Finding | None:
    quote = _quote(file, line, mark, syntax)
    if quote is None:
        return None
    words = " ".join(mark.words.split())[:120]
    return KEEP_IN_SYNC.finding(
        file,
        quote[0],
        message=f"This changed, but {partner.shown} did not: the comment on line {mark.line} says "
        f'"{words}".',
        evidence=quote[1],
    )


def _quote(file: ChangedFile, line: int, mark: Mark, syntax: Syntax) -> tuple[int, str] | None:
    """The first code that the change adds in the marked lines, else what it removes there."""
    for at in range(max(line, mark.first), mark.last + 1):
        if split(file.added.get(at, ""), syntax)[0].strip():
            return at, file.added[at].strip()
    for hunk in file.hunks:
        if hunk.new_start in (line, line - 1):
            for text in file.removed_in(hunk):
                if split(text, syntax)[0].strip():
                    return line, text.strip()
    return None
