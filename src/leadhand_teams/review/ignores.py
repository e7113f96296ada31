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
from typing import NamedTuple

from leadhand.extension.findings import Finding, Note
from leadhand.tools.text import counted, joined_names
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.syntax import pattern_of
from leadhand_teams.review.syntax.comments import split

_SIGN = "leadhand:"
_DIRECTIVE = pattern_of("ignores.directive")
_MODEL_RULE = re.compile(r"[a-z_]+/model-")
_MAX_NOTES = 20


class Ignore(NamedTuple):
    """One comment that asks to ignore rules."""

    path: str
    line: int
    """The line of the comment, from 1."""
    rules: tuple[str, ...]
    reason: str
    wrong: str
    """Why it can't be obeyed; empty if it can."""
    alone: bool
    """Whether the line has no code, so that the comment is about the next line."""
    added: bool = False
    """Whether the change added it, or put a line of its own below it."""

    def covers(self, finding: Finding) -> bool:
        """Whether the comment stands at `finding`, whatever its rule."""
        first = finding.line - 1 if self.alone else finding.line
        return self.path == finding.path and first <= self.line <= finding.end_line

    def hides(self, finding: Finding) -> bool:
        """Whether `finding` is hidden, if the comment is obeyed."""
        return not self.wrong and finding.rule in self.rules and self.covers(finding)

    def said(self, hides: int, *, trusted: bool) -> str:
        """What the report says of it; `hides` is the number of findings."""
        if self.wrong:
            return f"`leadhand: ignore` is not obeyed: {self.wrong}"
        what = (
            f"`leadhand: ignore[{', '.join(self.rules)}]: {self.reason}` was added by this change"
        )
        number = counted(hides, "finding")
        if trusted:
            return f"{what} and is obeyed (--trust-ignores): it hides {number}"
        return f"{what} and is not obeyed without --trust-ignores: it would hide {number}"


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
        files = (file for file in change.files if _SIGN in file.head)
        found = (one for file in files for one in _ignores(file, rules))
        is_patch = change.base is None
        return cls(tuple(one._replace(added=one.added or is_patch) for one in found), trusted)

    def divided(self, findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
        """The findings that stay, and those that obeyed comments hide."""
        by_path: dict[str, list[Ignore]] = {}
        for one in self.items:
            if self.trusted or not one.added:
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
                text=one.said(sum(map(one.hides, findings)), trusted=self.trusted),
                attempt=one.added and not self.trusted,
            )
        if len(told) > _MAX_NOTES:
            yield Note(kind="ignore", text=f"{len(told) - _MAX_NOTES:,} more such comments")


def _ignores(file: ChangedFile, rules: AbstractSet[str]) -> Iterator[Ignore]:
    """The comments in the new text of a file."""
    inside = _inside_strings(file.head_tree)
    old_hunks = [hunk for hunk in file.hunks if hunk.old_count]
    before = {
        hunk: Counter((one.rules, one.reason) for one in _asked(file, file.removed_in(hunk), rules))
        for hunk in old_hunks
    }
    inserted = {hunk.new_start for hunk in file.hunks if not hunk.old_count}
    for one in _asked(file, file.head_lines, rules):
        if one.line in inside:
            continue
        # A line that replaces one with the same comment keeps it; a line that the change inserts
        # below a comment is not what that comment was written for.
        added = one.line in file.added
        for hunk in old_hunks:
            if hunk.new_start <= one.line < hunk.new_start + hunk.new_count:
                added = before[hunk][one.rules, one.reason] < 1
                before[hunk][one.rules, one.reason] -= 1
        yield one._replace(added=added or (one.alone and one.line + 1 in inserted))


def _asked(file: ChangedFile, lines: Iterable[str], known: AbstractSet[str]) -> Iterator[Ignore]:
    """What comments in `lines` of a file ask for; `known` are the rules that there are."""
    for number, text in enumerate(lines, 1):
        code, comment = split(text, file.language) if _SIGN in text else (text, "")
        if match := _DIRECTIVE.search(comment):
            named = (name.strip() for name in (match["rules"] or "").split(","))
            rules = tuple(name for name in named if name)
            unknown = [one for one in rules if one not in known and not _MODEL_RULE.match(one)]
            wrong = "" if match["reason"] else "it gives no reason"
            if unknown:
                wrong = f"there is no rule {joined_names(unknown)}"
            elif not rules:
                wrong = "it names no rule"
            alone = not code.strip()
            yield Ignore(file.path, number, rules, match["reason"] or "", wrong, alone)


def _inside_strings(tree: ast.Module | None) -> set[int]:
    """The lines that end within a string."""
    return {
        line
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Constant | ast.JoinedStr)
        for line in range(node.lineno, node.end_lineno or node.lineno)
    }
