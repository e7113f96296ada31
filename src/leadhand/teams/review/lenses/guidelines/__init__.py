"""The guidelines lens: rules that the project's documents and settings state and code can check.

Every finding quotes the rule with its place. Nothing is said that no document asks for, and what a
document says beyond a fixed catalogue is not acted on: documents are data, like the code.
"""

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from leadhand.contracts.finding import Finding, NotAssessed
from leadhand.errors import LeadhandError
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import Seen, lens
from leadhand.teams.review.lenses.guidelines import forbidden, layout, syntax
from leadhand.teams.review.lenses.guidelines.catalogue import guidelines
from leadhand.teams.review.lenses.guidelines.declared import declared
from leadhand.teams.review.lenses.guidelines.documents import Project, folder_of, project
from leadhand.teams.review.lenses.guidelines.editorconfig import editorconfig, effective
from leadhand.teams.review.lenses.guidelines.guideline import Guideline, Kind
from leadhand.teams.review.lenses.guidelines.hit import Check, GuidelineHit, applies
from leadhand.teams.review.lenses.guidelines.linted import linted
from leadhand.teams.review.lenses.guidelines.prose import sentences
from leadhand.teams.review.lenses.guidelines.rules import BY_KIND

RULES = tuple(BY_KIND.values())

_CHECKS: dict[Kind, tuple[Check, ...]] = {
    "banned-import": (forbidden.banned_imports,),
    "banned-name": (forbidden.banned_names,),
    "docstring-style": (syntax.docstring_style,),
    "file-length": (layout.file_length,),
    "function-length": (syntax.function_length,),
    "import-placement": (syntax.import_placement,),
    "indentation": (layout.indent_size,),
    "line-length": (layout.long_lines,),
    "required-import": (syntax.required_import,),
    "test-location": (layout.test_location,),
    "type-hints": (syntax.type_hints,),
}
_Texts = tuple[tuple[str, str], ...]
_Stated = tuple[Guideline, ...]
_MAX_GUIDELINES = 300
_NO_CODE = ("text", "markdown")


@lens
def review(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Where the change goes against what the project's own documents ask for."""
    try:
        about = project(change)
    except LeadhandError as error:
        yield NotAssessed(lens="guidelines", why=f"the project's documents can't be read: {error}")
        return
    if about is None:
        yield NotAssessed(
            lens="guidelines", why="no repository: its guideline documents can't be read"
        )
        return
    stated, editor = _stated(about)
    if not stated and not editor:
        yield NotAssessed(lens="guidelines", why=_nothing(about))
        return
    alive = [file for file in files if file.status != "deleted" and file.added]
    wanted = [(file, _for_file(stated, editor, file)) for file in alive]
    hits: defaultdict[tuple[str, Guideline], list[GuidelineHit]] = defaultdict(list)
    marked: defaultdict[str, int] = defaultdict(int)
    for file, hit in _look(about, wanted):
        if hit is None:
            marked[file.path] += 1
        else:
            hits[file.path, hit.guideline].append(hit)
    for (path, one), found in hits.items():
        yield _finding(change.by_path[path], one, found)
    logs = [one for one in stated if one.kind == "changelog"]
    if logs and (lacking := layout.changelog(about, change.files, logs)) and lacking[0] in files:
        yield _finding(lacking[0], lacking[1].guideline, [lacking[1]])
    for path, count in marked.items():
        why = (
            f"{count} line(s) against a guideline carry a mark such as `# noqa` and are passed over"
        )
        yield NotAssessed(lens="guidelines", path=path, why=why)


def _look(
    about: Project, wanted: Sequence[tuple[ChangedFile, Sequence[Guideline]]]
) -> Iterator[tuple[ChangedFile, GuidelineHit | None]]:
    yield from linted(wanted)
    for file, mine in wanted:
        by_kind: defaultdict[Kind, list[Guideline]] = defaultdict(list)
        for one in mine:
            by_kind[one.kind].append(one)
        for kind, found in by_kind.items():
            for check in _CHECKS.get(kind, ()):
                yield from ((file, hit) for hit in check(about, file, _plain(kind, found)))
        for one in mine:
            yield from ((file, hit) for hit in _by_value(about, file, one))


def _plain(kind: Kind, found: Sequence[Guideline]) -> Sequence[Guideline]:
    """The guidelines of one kind; of indentation, those that give a size."""
    if kind != "indentation":
        return found
    sizes = [one for one in found if not one.value.startswith("indent_style:")]
    return sizes or [Guideline(kind, "indent_size:unset", found[0].source)]


def _by_value(about: Project, file: ChangedFile, one: Guideline) -> Iterator[GuidelineHit]:
    if one.kind == "naming" and one.value == "constant" and file.language == "python":
        yield from syntax.constants(about, file, (one,))
    elif one.kind == "naming":
        yield from layout.file_names(file, one)
    elif file.language in _NO_CODE and file.language != "markdown":
        return
    elif one.kind == "final-newline":
        yield from layout.final_newline(file, one)
    elif one.kind == "trailing-whitespace":
        yield from layout.trailing_whitespace(file, one)
    elif (
        one.kind == "indentation"
        and one.value.startswith("indent_style:")
        and file.language not in _NO_CODE
    ):
        yield from layout.indent_style(file, one)


@functools.lru_cache(maxsize=2)
def _parsed(guides: _Texts, styles: _Texts, mostly_python: bool) -> tuple[_Stated, _Stated]:
    stated: dict[tuple[Kind, str, str], Guideline] = {}
    editor: list[Guideline] = []
    for path, text in styles:
        folder = folder_of(path)
        if path.endswith(".editorconfig"):
            editor += editorconfig(path, text, folder)
            continue
        for one in declared(path, text, folder):
            stated.setdefault((one.kind, one.value, folder), one)
    fixed = {one.kind for one in stated.values()}
    for path, text in guides:
        for sentence in sentences(path, text):
            for one in guidelines(sentence, mostly_python=mostly_python, folder=folder_of(path)):
                if one.kind not in ("line-length", "quotes") or one.kind not in fixed:
                    stated.setdefault((one.kind, one.value, one.folder), one)
    kept = tuple(stated.values())[:_MAX_GUIDELINES]
    return kept, tuple(editor[:_MAX_GUIDELINES])


def _stated(about: Project) -> tuple[_Stated, _Stated]:
    """What the documents and settings state, and what `.editorconfig` files set."""
    return _parsed(
        tuple(sorted(about.guides.items())),
        tuple(sorted(about.styles.items())),
        about.mostly_python,
    )


def _for_file(
    stated: Sequence[Guideline], editor: Sequence[Guideline], file: ChangedFile
) -> list[Guideline]:
    mine = [one for one in stated if applies(one, file.path)]
    kinds = {one.kind for one in mine}
    for one in effective(list(editor), file.path).values():
        if one.kind == "line-length":
            if one.kind not in kinds and one.value.isdigit():
                mine.append(Guideline(one.kind, f"formatter:{one.value}", one.source, one.folder))
        elif one.kind != "indentation" or one.kind not in kinds:
            mine.append(one)
    return mine


def _finding(file: ChangedFile, one: Guideline, found: Iterable[GuidelineHit]) -> Finding:
    """One finding for all places of a file that go against one guideline."""
    hits = sorted({hit.line: hit for hit in found}.values(), key=lambda hit: hit.line)
    first = hits[0]
    more = f" (and {len(hits) - 1} more in this file)" if len(hits) > 1 else ""
    message = f"{first.what[:1].upper()}{first.what[1:]}{more}, against {one.source.cite}."
    return BY_KIND[one.kind].finding(
        file,
        first.line,
        end_line=first.end_line,
        message=message,
        evidence=first.evidence or file.head_lines[first.line - 1].strip(),
        severity="info" if one.soft else None,
    )


def _nothing(about: Project) -> str:
    if not about.guides and not about.styles:
        return "the project has no guideline documents and declares no style"
    return "none of the project's guideline documents states a rule that code can check"
