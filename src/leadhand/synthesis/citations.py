"""Results under the ids of their tasks, and answers that cite these ids: `[t1]`, `[t1, t3]`. Pure.

Results are fenced as `[id] result`; only code writes ids in brackets at the start of a line, so no
text can pass for another task's result. Wrong citations in an answer are removed. Code, links,
footnotes, array indexes and brackets that don't look like a list of this plan's ids stay.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from leadhand.contracts.outcome import Result, TaskResult
from leadhand.untrusted.cutting import cut

MAX_WHY_CHARS = 300
REMOVED = re.compile(r"^\*(\d+) citations? of tasks without a result removed\.\*$", re.MULTILINE)
"""What an answer says of the wrong citations that it had."""
_LINE_START_BRACKET = re.compile("(?<=[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])\\[")
_TOKENS = re.compile(
    r"""
    ^[ \t]*(?P<fence>`{3,}+|~{3,}+)[^\n]*\n(?s:.*?)(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)
  | (?<!`)(?P<ticks>`++)(?s:.+?)(?<!`)(?P=ticks)(?!`)
  | \[[^\[\]\n]*\]\([^()\n]*\)                                # a link or an image
  | ^[ ]{0,3}\[[^\[\]\n]+\]:[ \t]*<?[^\s>]*[/.\#][^\s>]*>?    # the target of a reference link
  | https?://[^\s<>)]+
  | \[(?P<inside>[^\[\]\n]{1,20000})\](?!\()
    """,
    re.VERBOSE | re.MULTILINE,
)
_REMOVED = "\0"
_TIDY = (
    (re.compile(r"[ \t]{0,8}\([ \t]{0,8}(?:\0[,;]?[ \t]{0,8})+\)"), ""),
    (re.compile(r"^([ \t]*)(?:\0[,;]?[ \t]{0,8})+:?[ \t]{0,8}", re.MULTILINE), r"\1"),
    (re.compile(r"(?<=\])(?:[,;][ \t]{0,8}\0)+"), ""),
    (re.compile(r"\0+(?:[,;][ \t]{0,8})?(?=[\[\0])"), ""),
    (re.compile(r"[ \t]{0,8}\0"), ""),
)
_SEPARATOR = re.compile(r"\s*[,;]\s*")
_ID_LIKE = re.compile(r"[^\W_][\w.:/#-]{0,199}")
_DIGIT = re.compile(r"\d")
_COMMON = re.compile(r"t(?:ask)?[ _-]?\d+", re.IGNORECASE)
_ENDS_CLAUSE = re.compile(r"[ \t]{0,8}(?:[.,;:!?)|\[]|$)", re.MULTILINE)
_EDITORIAL = frozenset({"sic", "x"})


@dataclass(frozen=True, slots=True)
class CitedText:
    text: str
    cited: tuple[str, ...]
    """The distinct ids of the cited tasks, in the order of their first mention."""
    removed: int


def check_citations(text: str, *, known: Collection[str], given: Collection[str]) -> CitedText:
    """Keeps citations of tasks with a result only; `known` are all ids of the plan."""
    ids = _Ids(known)
    holds = frozenset(given)
    cited: dict[str, None] = {}
    removed = 0
    last = -1  # where the last citation ended: `[t1][t2]` are two, not a reference link

    def replace(match: re.Match[str]) -> str:
        nonlocal last, removed
        inside = match["inside"]
        if inside is None:
            return match[0]
        glued = match.start() != last and _ends_in_word(match.string, match.start())
        placed = not glued and _ENDS_CLAUSE.match(match.string, match.end()) is not None
        parts = ids.in_brackets(inside, glued=glued, placed=placed)
        if parts is None:
            return match[0]
        last = match.end()
        kept = [id for id in parts if id in holds]
        cited.update(dict.fromkeys(kept))
        removed += len(parts) - len(kept)
        if len(kept) == len(parts):
            return match[0]
        return f"[{', '.join(kept)}]" if kept else _REMOVED

    replaced = _TOKENS.sub(replace, text.replace(_REMOVED, ""))
    if removed:
        for pattern, tidy in _TIDY:
            replaced = pattern.sub(tidy, replaced)
    return CitedText(replaced, tuple(cited), removed)


def _ends_in_word(text: str, end: int) -> bool:
    """Whether a bracket at `end` looks like an index or a reference, by the character before it."""
    before = text[end - 1 : end]
    return before.isalnum() or before in ("_", "]", ")")


class _Ids:
    def __init__(self, known: Collection[str]) -> None:
        self._by_fold = {id.casefold(): id for id in known} | {id: id for id in known}
        self._shapes = {_shape(id) for id in known}

    def in_brackets(self, inside: str, *, glued: bool, placed: bool) -> list[str] | None:
        """The ids in these brackets, known or not; None if they are not a citation.

        If none is known, they have to look like the plan's ids, and words without a digit have to
        be where citations are. `glued`: the brackets follow a word without a space; `placed`: they
        end a clause.
        """
        parts = [inside] if self._find(inside) else _SEPARATOR.split(inside.strip())
        found = [self._find(part) for part in parts]
        if any(found):
            like = all(
                id or _ID_LIKE.fullmatch(part) for id, part in zip(found, parts, strict=True)
            )
        else:
            like = not glued and all(self._alike(part, placed) for part in parts)
        return [id or part for id, part in zip(found, parts, strict=True)] if like else None

    def _find(self, part: str) -> str | None:
        part = part.strip()
        return self._by_fold.get(part) or self._by_fold.get(part.casefold())

    def _alike(self, part: str, placed: bool) -> bool:
        if _COMMON.fullmatch(part):
            return True
        if not _ID_LIKE.fullmatch(part) or part in _EDITORIAL:
            return False
        return _shape(part) in self._shapes and (placed or _DIGIT.search(part) is not None)


def _shape(id: str) -> str:
    """The common form of similar ids: of `t1` and `t23`, or of `prices` and `market`."""
    if _DIGIT.search(id):
        return re.sub(r"\d+", "0", id.casefold())
    return re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", id))


def entries(results: Sequence[TaskResult]) -> list[str]:
    """`[id] result`, or why there is none."""
    return [_entry(one) for one in results]


def _entry(one: TaskResult) -> str:
    label = f"[{_line(one.task.id)}]"
    why = cut(_line(one.why or ""), MAX_WHY_CHARS)
    said = f"{one.status}: {why}" if why else one.status
    if one.result is None:
        return f"{label} no result ({said})"
    text = _LINE_START_BRACKET.sub(" [", _shown(one.result))
    return f"{label} {text}" if said == "completed" else f"{label} ({said}) {text}"


def _shown(result: Result) -> str:
    """The content of a result, without repetition or formatting."""
    output = result.output
    if output is None:
        text = result.summary
    else:
        text = output
        if not isinstance(text, str):
            text = json.dumps(output, ensure_ascii=False, separators=(",", ":"))
        if result.summary.strip() not in text:
            text = f"{result.summary}\n{text}"
    if result.missing:
        text = "\n".join([text, *(f"Not done: {_line(line)}" for line in result.missing)])
    # Lone surrogates can't be encoded.
    return text.strip().encode("utf-8", "replace").decode()


def _line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())
