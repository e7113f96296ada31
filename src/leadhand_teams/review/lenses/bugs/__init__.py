"""The bugs lens: code that fails or does not do what it says, on lines that the change adds.

Bugs that one file shows are rules of ruff, with judges (`ruff_rules`). The lens itself finds what
the change breaks elsewhere: definitions, methods, signatures and modules that code still uses, and
coroutines that nothing awaits.
"""

from collections.abc import Iterator, Sequence

from leadhand.errors import ToolError
from leadhand.extension.findings import Finding, NotAssessed
from leadhand_teams.review.change import Change, ChangedFile
from leadhand_teams.review.lens import Seen, lens
from leadhand_teams.review.lenses.bugs import behaviour, coroutines, crossfile, syntax
from leadhand_teams.review.ruff_rules import diagnostics, names, ruff_findings


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Bugs in the Python files of a task, and conflict markers in all."""
    for file in files:
        if file.language != "python":
            yield from syntax.conflicts(file)
        if file.language == "python" and not (file.complete or file.status == "deleted"):
            why = "only a patch was given, not the whole file"
            yield NotAssessed(lens="bugs", path=file.path, why=why)
    complete = [file for file in files if file.language == "python" and file.complete]
    diagnosed = diagnostics(files)
    for file in complete:
        found = diagnosed.get(file, [])
        if syntax.is_suspect(file, found):
            yield from syntax.find(file, found)
        elif found and file.removed:
            yield from names.removed(file, found)
    try:
        yield from (one for one in ruff_findings("bugs", files) if not _is_provided(change, one))
        for file in complete:
            yield from coroutines.find(file)
        yield from behaviour.find(change, complete)
        yield from list(crossfile.find(change, complete))
    except (ToolError, RecursionError) as error:
        why = f"uses in other files could not be searched: {error}"
        yield NotAssessed(lens="bugs", why=why)


def _is_provided(change: Change, seen: Seen) -> bool:
    """Whether an undefined name is one that something provides."""
    if not isinstance(seen, Finding) or seen.rule != "bugs/undefined-name":
        return False
    return names.is_injected(change, seen.path, seen.message.split("`")[1])
