"""The guidelines lens: rules from the project's own documents and settings that code can check.

Every finding quotes the rule and its place. The lens knows a fixed catalogue of rules and ignores
everything else in a document: documents are data, like the code.
"""

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from leadhand.contracts.finding import Finding, NotAssessed
from leadhand.errors import LeadhandError
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import Seen, lens
from leadhand.teams.review.lenses.guidelines import ban_checks, syntax_checks, text_checks
from leadhand.teams.review.lenses.guidelines.catalogue import guidelines
from leadhand.teams.review.lenses.guidelines.documents import Project, folder_of, read_project
from leadhand.teams.review.lenses.guidelines.editorconfig import effective, read_editorconfig
from leadhand.teams.review.lenses.guidelines.guideline import BY_KIND, Guideline, Kind
from leadhand.teams.review.lenses.guidelines.hits import Check, GuidelineHit, applies
from leadhand.teams.review.lenses.guidelines.prose import sentences
from leadhand.teams.review.lenses.guidelines.ruff_checks import ruff_hits
from leadhand.teams.review.lenses.guidelines.style_settings import FORMATTER, read_style_settings

RULES = tuple(BY_KIND.values())

_CHECKS: dict[Kind, Check] = {
    "banned-import": ban_checks.banned_imports,
    "banned-name": ban_checks.banned_names,
    "docstring-style": syntax_checks.docstring_style,
    "file-length": text_checks.file_length,
    "function-length": syntax_checks.function_length,
    "import-placement": syntax_checks.import_placement,
    "indentation": text_checks.indent_size,
    "line-length": text_checks.long_lines,
    "required-import": syntax_checks.required_import,
    "type-hints": syntax_checks.type_hints,
}
_Texts = tuple[tuple[str, str], ...]
_Guidelines = tuple[Guideline, ...]
_MAX_GUIDELINES = 300


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Places where the change breaks a rule of the project's own documents or settings."""
    try:
        project = read_project(change)
    except LeadhandError as error:
        yield NotAssessed(lens="guidelines", why=f"the project's documents can't be read: {error}")
        return
    if project is None:
        why = "no repository: its guideline documents can't be read"
        yield NotAssessed(lens="guidelines", why=why)
        return
    stated, editor = _guidelines(project)
    if not stated and not editor:
        yield NotAssessed(lens="guidelines", why=_why_no_rules(project))
        return
    changed = [file for file in files if file.status != "deleted" and file.added]
    wanted = [(file, _for_file(stated, editor, file)) for file in changed]
    hits: defaultdict[tuple[str, Guideline], list[GuidelineHit]] = defaultdict(list)
    suppressed: defaultdict[str, int] = defaultdict(int)
    for file, hit in _hits(project, wanted):
        if hit is None:
            suppressed[file.path] += 1
        else:
            hits[file.path, hit.guideline].append(hit)
    for (path, one), found in hits.items():
        yield _finding(change.by_path[path], one, found)
    logs = [one for one in stated if one.kind == "changelog"]
    missing = text_checks.changelog(project.paths, change.files, logs) if logs else None
    if missing and missing[0] in files:
        yield _finding(missing[0], missing[1].guideline, [missing[1]])
    for path, count in suppressed.items():
        why = f"{count} line(s) break a guideline but have a mark such as `# noqa`"
        yield NotAssessed(lens="guidelines", path=path, why=why)


def _hits(
    project: Project, wanted: Sequence[tuple[ChangedFile, Sequence[Guideline]]]
) -> Iterator[tuple[ChangedFile, GuidelineHit | None]]:
    """Every hit with its file; `None` for one that the code suppresses."""
    yield from ruff_hits(wanted)
    for file, own in wanted:
        by_kind: defaultdict[Kind, list[Guideline]] = defaultdict(list)
        for one in own:
            by_kind[one.kind].append(one)
        for kind, found in by_kind.items():
            if kind == "test-location":
                located = text_checks.test_location(project.paths, file, found)
                yield from ((file, hit) for hit in located)
            elif kind in _CHECKS:
                yield from ((file, hit) for hit in _CHECKS[kind](file, _for_check(kind, found)))
        for one in own:
            yield from ((file, hit) for hit in _by_value(file, one))


def _for_check(kind: Kind, found: Sequence[Guideline]) -> Sequence[Guideline]:
    """The guidelines of one kind; for indentation only those that set a size."""
    if kind != "indentation":
        return found
    sizes = [one for one in found if not one.value.startswith("indent_style:")]
    return sizes or [Guideline(kind, "indent_size:unset", found[0].source)]


def _by_value(file: ChangedFile, one: Guideline) -> Iterator[GuidelineHit]:
    """Hits of the kinds whose check depends on the guideline's value."""
    if one.kind == "naming" and one.value == "constant" and file.language == "python":
        yield from syntax_checks.constants(file, one)
    elif one.kind == "naming":
        yield from text_checks.file_names(file, one)
    elif file.language == "text":
        return
    elif one.kind == "final-newline":
        yield from text_checks.final_newline(file, one)
    elif one.kind == "trailing-whitespace":
        yield from text_checks.trailing_whitespace(file, one)
    elif one.value.startswith("indent_style:") and file.language != "markdown":
        yield from text_checks.indent_style(file, one)


@functools.lru_cache(maxsize=2)
def _parsed(guides: _Texts, styles: _Texts, mostly_python: bool) -> tuple[_Guidelines, _Guidelines]:
    stated: dict[tuple[Kind, str, str], Guideline] = {}
    editor: list[Guideline] = []
    for path, text in styles:
        folder = folder_of(path)
        if path.endswith(".editorconfig"):
            editor += read_editorconfig(path, text, folder)
            continue
        for one in read_style_settings(path, text, folder):
            stated.setdefault((one.kind, one.value, folder), one)
    configured = {one.kind for one in stated.values()}
    for path, text in guides:
        for sentence in sentences(path, text):
            for one in guidelines(sentence, mostly_python=mostly_python, folder=folder_of(path)):
                if one.kind not in ("line-length", "quotes") or one.kind not in configured:
                    stated.setdefault((one.kind, one.value, one.folder), one)
    return tuple(stated.values())[:_MAX_GUIDELINES], tuple(editor[:_MAX_GUIDELINES])


def _guidelines(project: Project) -> tuple[_Guidelines, _Guidelines]:
    """The guidelines of documents and settings, and those of `.editorconfig` files."""
    guides, styles = sorted(project.guides.items()), sorted(project.styles.items())
    return _parsed(tuple(guides), tuple(styles), project.mostly_python)


def _for_file(
    stated: Sequence[Guideline], editor: Sequence[Guideline], file: ChangedFile
) -> list[Guideline]:
    """The guidelines for one file; those of documents and settings override `.editorconfig`."""
    own = [one for one in stated if applies(one, file.path)]
    kinds = {one.kind for one in own}
    for one in effective(list(editor), file.path).values():
        if one.kind == "line-length":
            if one.kind not in kinds and one.value.isdigit():
                own.append(Guideline(one.kind, f"{FORMATTER}{one.value}", one.source, one.folder))
        elif one.kind != "indentation" or one.kind not in kinds:
            own.append(one)
    return own


def _finding(file: ChangedFile, one: Guideline, found: Iterable[GuidelineHit]) -> Finding:
    """One finding for all places in a file that break one guideline."""
    hits = sorted({hit.line: hit for hit in found}.values(), key=lambda hit: hit.line)
    first = hits[0]
    more = f" (and {len(hits) - 1} more in this file)" if len(hits) > 1 else ""
    what = f"{first.what[:1].upper()}{first.what[1:]}{more}"
    return BY_KIND[one.kind].finding(
        file,
        first.line,
        end_line=first.end_line,
        message=f"{what}, which breaks the rule in {one.source.cite}.",
        evidence=first.evidence or None,
        severity="info" if one.soft else None,
    )


def _why_no_rules(project: Project) -> str:
    if not project.guides and not project.styles:
        return "the project has no guideline documents and declares no style"
    return "none of the project's guideline documents states a rule that code can check"
