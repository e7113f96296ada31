"""The security lens: untrusted data in dangerous places, safeguards off or gone, secrets in text.

Reads text and syntax trees only. A file is parsed where its text has something that a rule could be
about, and of its functions only those are followed that the change touches.
"""

import ast
import bisect
import re
from collections.abc import Iterator, Sequence

from leadhand.contracts.finding import NotAssessed
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule, Seen, lens
from leadhand.teams.review.lenses.security import (
    credentials,
    crypto,
    deserialization,
    hints,
    injection,
    safeguards,
    secrets,
    transport,
    web,
)  # fmt: skip
from leadhand.teams.review.lenses.security import (
    files as paths,
)
from leadhand.teams.review.lenses.security.events import Event, ResolvedCall, SecurityHit
from leadhand.teams.review.lenses.security.findings import place
from leadhand.teams.review.lenses.security.flow import Flow
from leadhand.teams.review.lenses.security.names import ImportedNames, listed

_TOPICS = (
    injection.TOPIC, deserialization.TOPIC, transport.TOPIC, crypto.TOPIC, web.TOPIC, paths.TOPIC,
    credentials.TOPIC,
)  # fmt: skip
RULES: tuple[LensRule, ...] = (
    *(rule for topic in _TOPICS for rule in topic.rules), *secrets.RULES, *safeguards.RULES,
)  # fmt: skip

_BY_CALL = {
    name: tuple(topic for topic in _TOPICS if name in topic.calls)
    for name in frozenset(name for topic in _TOPICS for name in topic.calls)
}
_BY_KIND = {
    kind: tuple(topic for topic in _TOPICS if kind in topic.others)
    for topic in _TOPICS
    for kind in topic.others
}
_HINTS: hints.Hints = {
    **hints.SOURCES, **{word: after for topic in _TOPICS for word, after in topic.hints.items()},
}  # fmt: skip
_TEST_PATH = re.compile(
    r"(?:^|/)(?:tests?|testing|test_[^/]*|[^/]*_tests?\.\w+|conftest\.py|fixtures)(?:/|$)"
)
_PROGRAMS = listed(
    "javascript typescript go ruby php java kotlin scala c cpp csharp rust swift shell perl lua r"
    " objective-c dart elixir erlang haskell clojure powershell groovy vue"
)


def _review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    moved = safeguards.Moves(change)
    for file in files:
        known: set[int] = set()
        if file.added:
            for finding in secrets.find(file, fixture=is_test(file.path)):
                known.add(finding.line)
                yield finding
        if file.language == "python":
            try:
                yield from _python(file, known)
                for finding in () if is_test(file.path) else safeguards.find(file, moved):
                    # An escape that is gone shows in where the data goes now: said once.
                    if finding.rule != safeguards.ESCAPE.id or finding.line not in known:
                        yield finding
            except RecursionError:
                yield _not_assessed(file, "its code is nested too deeply to be followed")
        elif file.added and file.language in _PROGRAMS:
            yield _not_assessed(file, f"only secrets are looked for in {file.language}")


def _python(file: ChangedFile, known: set[int]) -> Iterator[Seen]:
    """What is wrong in the code of `file`; lines with a finding are added to `known`.

    A secret found by its shape is not reported again for the name it is assigned to.
    """
    if not file.added:
        return
    if not file.complete:
        yield _not_assessed(file, "only a patch is known, so only secrets were looked for")
        return
    lines = [] if is_test(file.path) else hints.lines(file.head, _HINTS)
    if not lines:
        return
    tree = file.head_tree
    if tree is None:
        yield _not_assessed(file, "it does not parse as Python, so only secrets were looked for")
        return
    seen: set[tuple[str, int]] = set()
    secret = frozenset(known)
    for hit in _hits(file, tree, lines):
        finding = place(file, hit)
        if finding is None or (finding.rule, finding.line) in seen:
            continue
        if hit.rule is credentials.HARD_CODED and finding.line in secret:
            continue
        seen.add((finding.rule, finding.line))
        known.add(finding.line)
        yield finding


def _hits(file: ChangedFile, tree: ast.Module, lines: list[int]) -> Iterator[SecurityHit]:
    def wanted(first: int, last: int) -> bool:
        index = bisect.bisect_left(lines, first)
        return index < len(lines) and lines[index] <= last and file.touches(first, last + 1)

    found: list[SecurityHit] = []

    def record(event: Event) -> None:
        if isinstance(event, ResolvedCall):
            topics = _BY_CALL.get(event.last, ())
        else:
            topics = _BY_KIND.get(type(event), ())
        for topic in topics:
            found.extend(topic.look(event))

    Flow(ImportedNames(tree), wanted, record).read(tree)
    yield from found


def is_test(path: str) -> bool:
    """Whether the file at `path` is a test or belongs to one."""
    return bool(_TEST_PATH.search(path))


def _not_assessed(file: ChangedFile, why: str) -> NotAssessed:
    return NotAssessed(lens="security", path=file.path, why=why)


review = lens(_review)

__all__ = ["RULES", "review"]
