"""What the model of a lens sees first: its part of the change, and what decides about it.

All of it is found and quoted by code, limited in size, and passed on as data.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from pathlib import Path

from leadhand import Handoff
from leadhand.extension.findings import Finding, LensReport
from leadhand.extension.roles import MaterialFunction
from leadhand_teams.review.change import Change
from leadhand_teams.review.diff_rows import Chunks, fitting
from leadhand_teams.review.lenses.comments import written_beside
from leadhand_teams.review.lenses.guidelines import documents, stated_rules
from leadhand_teams.review.lenses.past_reviews import earlier_comments
from leadhand_teams.review.precision import Confidence
from leadhand_teams.review.refutations import is_shown, short_id
from leadhand_teams.review.reported import ChangeQuotes
from leadhand_teams.review.rules import rules
from leadhand_teams.review.usages import Usages

REMOVED = frozenset({"security", "bugs"})
"""The lenses that judge removed protections, which the security analyser finds."""
CALLERS = frozenset({"security", "bugs", "performance"})
"""The lenses that are given the callers of what changed."""
TESTS = frozenset({"security", "bugs", "tests"})
"""The lenses that are given the tests that name what changed."""
ONLY_MODELS = frozenset({"guidelines", "past_reviews"})
"""The lenses without an analyser: code only collects what their models read."""
_MAX_KNOWN_CHARS = 6_000


def analysers_of(lens: str) -> tuple[str, ...]:
    """The analysers whose findings the model of `lens` sees, its own first."""
    if lens in ONLY_MODELS:
        return ()
    return tuple(dict.fromkeys((lens, "security"))) if lens in REMOVED else (lens,)


class Material:
    """What the models see of one change."""

    def __init__(
        self, change: Change, chunks: Chunks, *, threshold: int, past_reviews: Path | None = None
    ) -> None:
        self._change = change
        self._past_reviews = past_reviews
        self._chunks = chunks
        self._threshold = threshold
        self._confidence = Confidence.of(rules())
        self._removals = frozenset(rule.id for rule in rules() if rule.removal)
        self._quotes = ChangeQuotes(change)
        self._usages = Usages.of(change)

    def of(self, lens: str) -> MaterialFunction:
        """What the model of `lens` sees of its task's part."""

        def texts(handoff: Handoff) -> dict[str, str]:
            return {name: text for name, text in self._part(lens, handoff).items() if text}

        return texts

    def not_needed(self) -> frozenset[str]:
        """The lenses for which there is nothing to compare the change with."""
        change = self._change
        there = {
            "guidelines": bool(documents(change)),
            "past_reviews": self._past_reviews is not None,
            "history": change.history is not None,
        }
        return frozenset(lens for lens in there if not there[lens])

    def _part(self, lens: str, handoff: Handoff) -> dict[str, str]:
        pieces = self._chunks.of(handoff.artifacts)
        paths = {piece.path for piece in pieces}
        # From the inputs, because a digest has only the first findings, of any files.
        found = [
            one.model_copy(update=self._confidence(one.rule)._asdict())
            for output in handoff.inputs.values()
            for one in LensReport.model_validate(output).findings
            if one.path in paths
        ]
        removed = [one for one in found if one.rule in self._removals]
        others = [one for one in found if one.category == lens and one not in removed]
        missing = [digest.task_id for digest in handoff.context if digest.why_missing is not None]
        title = f"Title: {self._change.title}"
        return {
            "change": "\n\n".join([title, *(piece.text for piece in pieces)]),
            "removed protections": _lines(self._removal(one, lens) for one in removed),
            "reported already": _lines(
                f"{self._name(one, lens)}: {one.message}" for one in others if self._is_shown(one)
            ),
            "suspected by analysers": _lines(
                f"{self._name(one, lens)}: {one.message}"
                for one in others
                if not self._is_shown(one)
            ),
            "callers": self._usages.about(paths, "callers") if lens in CALLERS else "",
            "tests": self._usages.about(paths, "tests") if lens in TESTS else "",
            **self._collected(lens, paths),
            "analysers that gave nothing": ", ".join(missing),
        }

    def _collected(self, lens: str, paths: AbstractSet[str]) -> dict[str, str]:
        """What the model of one lens alone is given."""
        change, export = self._change, self._past_reviews
        if lens == "comments":
            return {"written beside the change": written_beside(change, paths)}
        if lens == "guidelines":
            return {"documents that may state rules": stated_rules(change, paths)}
        if lens == "past_reviews" and export is not None:
            return {"earlier comments": earlier_comments(change, paths, export)}
        return {}

    def _is_shown(self, finding: Finding) -> bool:
        return is_shown(finding, self._threshold)

    def _name(self, finding: Finding, lens: str) -> str:
        """`[3fa9c2d1] a.py:1 bugs/undefined-name`; only what this lens may refute has an id."""
        refutable = finding.basis != "fact" and finding.category == lens and self._is_shown(finding)
        id = f"[{short_id(finding)}] " if refutable else ""
        return f"{id}{finding.path}:{finding.line} {finding.rule}"

    def _removal(self, finding: Finding, lens: str) -> str:
        """The question about a removed protection, and its line word for word."""
        quote = self._quotes.quoted(finding)
        line = f"line {quote.lines[0]} before" if quote is not None else "before"
        return f"{self._name(finding, lens)}: {finding.message}\n  {line}: {finding.evidence}"


def _lines(entries: Iterable[str]) -> str:
    """The distinct entries that fit."""
    return fitting([*dict.fromkeys(entries)], _MAX_KNOWN_CHARS)
