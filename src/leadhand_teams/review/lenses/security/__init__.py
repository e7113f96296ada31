"""The security lens: untrusted data in dangerous places, missing safeguards, secrets in text.

It only reads text and syntax trees, and follows only the functions that the change touches.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from leadhand.extension.findings import Finding, NotAssessed
from leadhand_teams.review import secrets
from leadhand_teams.review.change import Change, ChangedFile, unparsed
from leadhand_teams.review.lens import Seen, lens
from leadhand_teams.review.lenses.security import credentials, removed_protections, settings, sinks
from leadhand_teams.review.lenses.security.events import Event, Scope, SecurityHit
from leadhand_teams.review.lenses.security.flow import Flow
from leadhand_teams.review.ruff_rules import ruff_findings
from leadhand_teams.review.rules import rule
from leadhand_teams.review.secrets import mask_secrets, safe_quote
from leadhand_teams.review.syntax import ImportedNames, is_test


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Holes in the files of a task: what the change adds, and what it removes."""
    gone = list(removed_protections.find(change, files))
    # What turned TLS off says more than that it is off.
    known = _places(gone, "security/removed-tls")
    before = "\n".join(text for file in change.files for text in file.removed.values())
    for seen in _present(files, before):
        if known.isdisjoint(_places([seen], "security/tls-verification-off")):
            yield seen
    yield from gone


def _places(found: Sequence[Seen], rule: str) -> set[tuple[str, int]]:
    """Path and line of the findings of `rule`."""
    return {(one.path, one.line) for one in found if isinstance(one, Finding) and one.rule == rule}


def _present(files: Sequence[ChangedFile], before: str) -> Iterator[Seen]:
    """What the added lines show by themselves; `before` has what the change removes."""
    by_ruff: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for seen in _linted([file for file in files if not _in_test(file)]):
        if isinstance(seen, Finding):
            by_ruff[seen.path].add((seen.rule, seen.line))
        yield seen
    for file in files:
        in_test = _in_test(file)
        known: set[int] = set()
        if file.added:
            for finding in secrets.find(file, is_test=in_test, before=before):
                known.add(finding.line)
                yield finding
        if file.language == "python":
            try:
                yield from _python(file, known, by_ruff[file.path])
            except RecursionError:
                yield _not_assessed(file, "its code is nested too deeply to follow")


def _linted(files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Findings of ruff, without what a secret on their lines would tell."""
    for seen in ruff_findings("security", files):
        if isinstance(seen, Finding):
            quote, message = safe_quote(seen.evidence), mask_secrets(seen.message)
            seen = seen.model_copy(update={"evidence": quote, "message": message})
        yield seen


def _python(file: ChangedFile, known: set[int], seen: set[tuple[str, int]]) -> Iterator[Seen]:
    """Findings in the code of `file` besides those `seen`; adds their lines to `known`.

    A secret that was found by its format is not reported again for the name it is assigned to.
    """
    if not file.complete:
        yield _not_assessed(file, f"{unparsed(file)}, so only secrets were checked")
        return
    if not file.added or _in_test(file):
        return
    tree = file.head_tree
    if tree is None:
        yield _not_assessed(file, f"{unparsed(file)}, so only secrets were checked")
        return
    secret = frozenset(known)
    hits = _hits(file, tree)
    before = _before(file) if hits else Counter[tuple[str, str]]()
    for hit in hits:
        finding = _finding(file, hit)
        if finding is None or (finding.rule, finding.line) in seen:
            continue
        if before[hit.rule, hit.message] > 0:
            before[hit.rule, hit.message] -= 1
            continue
        if hit.rule == "hard-coded-credential" and finding.line in secret:
            continue
        seen.add((finding.rule, finding.line))
        known.add(finding.line)
        yield finding


def _hits(file: ChangedFile, tree: ast.Module) -> list[SecurityHit]:
    found = _read(tree, file.head_names, lambda first, last: file.touches(first, last + 1))
    if any(attribute in file.head for attribute in settings.UNCHECKED):
        found.extend(settings.unchecked_certificates(file.head_syntax))
    return found


def _before(file: ChangedFile) -> Counter[tuple[str, str]]:
    """Rule and message of what was there before the change."""
    tree = file.base_tree
    if tree is None:
        return Counter()
    hits = _read(tree, ImportedNames(tree), lambda first, last: True)
    return Counter((hit.rule, hit.message) for hit in hits)


def _read(
    tree: ast.Module, names: ImportedNames, is_relevant: Callable[[int, int], bool]
) -> list[SecurityHit]:
    found: list[SecurityHit] = []

    def record(event: Event) -> None:
        for topic in (sinks, settings, credentials):
            found.extend(topic.find(event))

    Flow(is_relevant, record).read(Scope(names), tree.body, {}, {})
    return found


def _finding(file: ChangedFile, hit: SecurityHit) -> Finding | None:
    """The finding for `hit`; `None` if the change touches neither it nor what leads to it."""
    first = hit.node.lineno
    last = min(hit.node.end_lineno or first, first + 60)
    for line in (*range(first, last + 1), *reversed(hit.steps)):
        evidence = safe_quote(file.added.get(line, ""))
        if evidence:
            end = last if line == first else line
            return rule(f"security/{hit.rule}").finding(
                file, line, message=mask_secrets(hit.message), evidence=evidence, end_line=end
            )
    return None


def _in_test(file: ChangedFile) -> bool:
    return is_test(file.path) or "fixtures" in file.path.split("/")[:-1]


def _not_assessed(file: ChangedFile, why: str) -> NotAssessed:
    return NotAssessed(lens="security", path=file.path, why=why)
