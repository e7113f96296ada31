"""Comments that ask a review to ignore a rule: `leadhand: ignore[rule]: reason`.

Those of the base are obeyed; those that the change adds are listed and obeyed only if the user
trusts them. Reads comments only and decides nothing about findings without one.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from leadhand.extension.findings import Finding, Note
from leadhand.tools.text import counted, joined_names
from leadhand_teams.review.change import Change, ChangedFile, Hunk
from leadhand_teams.review.syntax import pattern_of
from leadhand_teams.review.syntax.comments import CommentSyntax, split, syntax_of

_SIGN = "leadhand:"
_DIRECTIVE = pattern_of("ignores.directive")
_MODEL_RULE = re.compile(r"[a-z_]+/model-")
_MAX_NOTES = 20


@dataclass(frozen=True, slots=True)
class Ignore:
    """One comment that asks to ignore rules."""

    path: str
    line: int
    """The line of the comment, from 1."""
    rules: tuple[str, ...]
    reason: str
    alone: bool
    """Whether the line has no code, so that the comment is about the next line."""
    added: bool
    """Whether the change added it, or put a line of its own below it."""
    wrong: str | None
    """Why it can't be obeyed; `None` if it can."""

    def covers(self, finding: Finding) -> bool:
        """Whether the comment stands at `finding`, whatever its rule."""
        first = finding.line - 1 if self.alone else finding.line
        return self.path == finding.path and first <= self.line <= finding.end_line

    def hides(self, finding: Finding) -> bool:
        """Whether `finding` is hidden, if the comment is obeyed."""
        return self.wrong is None and finding.rule in self.rules and self.covers(finding)


@dataclass(frozen=True, slots=True)
class Ignores:
    """All these comments in the changed files."""

    items: tuple[Ignore, ...]
    trusted: bool
    """Whether those that the change adds are obeyed."""

    @classmethod
    def of(cls, change: Change, *, rules: AbstractSet[str], trusted: bool) -> "Ignores":
        """The comments in the new text of `change`; `rules` are the ids that there are.

        In a patch every comment counts as added: nothing proves what it says about its base.
        """
        found = (
            one
            for file in change.files
            if _SIGN in file.head
            for one in _ignores(file, rules, is_patch=change.base is None)
        )
        return cls(tuple(found), trusted)

    def divided(self, findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
        """The findings that stay, and those that obeyed comments hide."""
        obeyed = [one for one in self.items if self.trusted or not one.added]
        by_path: dict[str, list[Ignore]] = {}
        for one in obeyed:
            by_path.setdefault(one.path, []).append(one)
        shown: list[Finding] = []
        hidden: list[Finding] = []
        for finding in findings:
            is_hidden = any(one.hides(finding) for one in by_path.get(finding.path, ()))
            (hidden if is_hidden else shown).append(finding)
        return shown, hidden

    def notes(self, findings: Sequence[Finding]) -> Iterator[Note]:
        """What the change adds, and what can't be obeyed; `findings` are all, hidden ones too."""
        told = [
            one for one in self.items if one.added or (one.wrong and any(map(one.covers, findings)))
        ]
        for one in told[:_MAX_NOTES]:
            yield Note(
                kind="ignore",
                path=one.path,
                line=one.line,
                text=self._said(one, sum(map(one.hides, findings))),
                attempt=one.added and not self.trusted,
            )
        if len(told) > _MAX_NOTES:
            yield Note(kind="ignore", text=f"{len(told) - _MAX_NOTES:,} more such comments")

    def _said(self, one: Ignore, hides: int) -> str:
        if one.wrong is not None:
            return f"`leadhand: ignore` is not obeyed: {one.wrong}"
        what = f"`leadhand: ignore[{', '.join(one.rules)}]: {one.reason}` was added by this change"
        if self.trusted:
            return f"{what} and is obeyed (--trust-ignores): it hides {counted(hides, 'finding')}"
        would = f"it would hide {counted(hides, 'finding')}"
        return f"{what} and is not obeyed without --trust-ignores: {would}"


def _ignores(file: ChangedFile, rules: AbstractSet[str], *, is_patch: bool) -> Iterator[Ignore]:
    syntax = syntax_of(file.language)
    if syntax is None:
        return
    inside = _inside_strings(file.head_tree)
    kept = {
        hunk: Counter(_asked(file.removed_in(hunk), syntax))
        for hunk in file.hunks
        if hunk.old_count
    }
    nothing = Counter[tuple[tuple[str, ...], str]]()
    inserted = {hunk.new_start for hunk in file.hunks if not hunk.old_count}
    for number, text in enumerate(file.head_lines, 1):
        if _SIGN not in text or number in inside:
            continue
        code, comment = split(text, syntax)
        match = _DIRECTIVE.search(comment)
        if match is None:
            continue
        names = _names(match)
        # A line that replaces one with the same comment keeps it; a line that the change inserts
        # below a comment is not what that comment was written for.
        before = next((asked for hunk, asked in kept.items() if _adds(hunk, number)), nothing)
        key = names, match["reason"] or ""
        added = number in file.added and before[key] < 1
        if number in file.added:
            before[key] -= 1
        alone = not code.strip()
        yield Ignore(
            path=file.path,
            line=number,
            rules=names,
            reason=match["reason"] or "",
            alone=alone,
            added=added or is_patch or (alone and number + 1 in inserted),
            wrong=_wrong(names, match["reason"], rules),
        )


def _adds(hunk: Hunk, line: int) -> bool:
    return hunk.new_start <= line < hunk.new_start + hunk.new_count


def _asked(lines: Iterable[str], syntax: CommentSyntax) -> Iterator[tuple[tuple[str, ...], str]]:
    for text in lines:
        if _SIGN in text and (match := _DIRECTIVE.search(split(text, syntax)[1])):
            yield _names(match), match["reason"] or ""


def _names(match: re.Match[str]) -> tuple[str, ...]:
    return tuple(name.strip() for name in (match["rules"] or "").split(",") if name.strip())


def _wrong(names: Sequence[str], reason: str | None, rules: AbstractSet[str]) -> str | None:
    if not names:
        return "it names no rule"
    unknown = [name for name in names if name not in rules and not _MODEL_RULE.match(name)]
    if unknown:
        return f"there is no rule {joined_names(unknown)}"
    return None if reason else "it gives no reason"


def _inside_strings(tree: ast.Module | None) -> set[int]:
    """The lines that end within a string."""
    return {
        line
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for line in range(node.lineno, node.end_lineno or node.lineno)
    }
