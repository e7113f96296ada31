"""From a hit to a finding: only where the change has to do with it, quoted without secrets."""

from leadhand.contracts.finding import Finding
from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lenses.security.events import SecurityHit
from leadhand.teams.review.lenses.security.secrets import masked, quote


def place(file: ChangedFile, hit: SecurityHit) -> Finding | None:
    """The finding for `hit`, or none where the change touches neither it nor what leads to it."""
    first = hit.node.lineno
    last = min(hit.node.end_lineno or first, first + 60)
    added = file.added
    for line in (*range(first, last + 1), *reversed(hit.steps)):
        evidence = quote(added[line]) if line in added else ""
        if evidence:
            end = last if line == first else line
            return hit.rule.finding(
                file, line, message=masked(hit.message), evidence=evidence, end_line=end
            )
    return None
