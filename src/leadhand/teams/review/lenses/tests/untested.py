"""New public code that no test mentions, where the project tests the code beside it.

Says nothing of coverage as such: a name that any test file mentions counts as tested, and so does a
new function that other code already uses.
"""

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from leadhand.contracts.finding import NotAssessed
from leadhand.errors import LeadhandError
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import Seen
from leadhand.teams.review.lenses.tests import rules
from leadhand.teams.review.lenses.tests.functions import Function, is_test_file, name_of
from leadhand.tools.git import grep, list_tree

_TEST_PATHS = ("*test*.py",)
_ASIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|docs?|examples?|samples?|scripts?|tools|bench\w*|migrations|alembic|vendor|_vendor|"
    r"third_party|node_modules|templates?|conftest\.py|setup\.py|noxfile\.py|tasks\.py|_?version\.py|__\w+__\.py)(?:/|$)"
)
_MIN_SIBLINGS = 4
_MIN_MODULES_TESTED = 0.75
_MIN_NAMES_TESTED = 0.8
_MIN_LINES = 4
_MAX_ROUNDS = 20
_MAX_HITS = 10_000
_HARMLESS = {
    "cache",
    "lru_cache",
    "contextmanager",
    "asynccontextmanager",
    "deprecated",
    "wraps",
    "dataclass",
    "final",
}

_Definition = Function | ast.ClassDef


@dataclass(frozen=True, slots=True)
class _New:
    """Something public that the change adds."""

    file: ChangedFile
    node: _Definition
    module: bool
    """Whether the whole module is new; `node` is then the first thing it defines."""
    words: tuple[str, ...]
    """A test that mentions one of these tests it."""
    siblings: tuple[str, ...]
    """The public names beside it, where it is a name in a module that was there before."""


def untested(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """What of the new public code in `files` no test mentions though its siblings are tested."""
    code = [file for file in files if _is_code(file)]
    if not code:
        return
    if change.git_dir is None or change.head is None:
        yield NotAssessed(
            lens="tests", why="no repository: whether new code has tests can't be looked up"
        )
        return
    try:
        paths = _paths(change.git_dir, change.head)
        tests = [path for path in paths if is_test_file(path)]
        if not tests:
            yield NotAssessed(
                lens="tests", why="the project has no Python test files to compare new code with"
            )
            return
        # Last, since it is what takes time: both sides of each file are parsed.
        new = [one for file in code for one in _added(file)]
        if new:
            yield from _judge(change.git_dir, change.head, new, paths, tests)
    except LeadhandError as error:
        yield NotAssessed(
            lens="tests", why=f"whether new code has tests can't be looked up: {error}"
        )


def _judge(
    git_dir: Path, head: str, new: Sequence[_New], paths: Sequence[str], tests: Sequence[str]
) -> Iterator[Seen]:
    words = {word for one in new for word in one.words}
    unknown = _unmentioned(git_dir, head, words, _TEST_PATHS)
    open_cases = [one for one in new if unknown.issuperset(one.words)]
    if not open_cases:
        return
    added = {one.file.path for one in new if one.module}
    names = {word for one in open_cases if not one.module for word in (*one.words, *one.siblings)}
    silent = _unmentioned(git_dir, head, names, _TEST_PATHS)
    used = _used(git_dir, head, [one for one in open_cases if not one.module])
    stems = _stems(tests)
    for one in open_cases:
        if one.module:
            yield from _module(one, [path for path in paths if path not in added], stems)
        elif one.words[0] not in used:
            yield from _name(one, [name for name in one.siblings if name not in silent])


def _module(one: _New, paths: Sequence[str], stems: dict[str, str]) -> Iterator[Seen]:
    path = PurePosixPath(one.file.path)
    if _test_of(str(path), stems):
        return
    folder = f"{path.parent}/" if len(path.parts) > 1 else ""
    siblings = [
        other for other in paths
        if other.startswith(folder) and other.endswith(".py") and "/" not in other[len(folder) :]
        and not _ASIDE.search(other) and not is_test_file(other)
    ]  # fmt: skip
    tested = [other for other in siblings if _test_of(other, stems)]
    if len(siblings) < _MIN_SIBLINGS or len(tested) < _MIN_MODULES_TESTED * len(siblings):
        return
    example = f"`{PurePosixPath(tested[0]).name}` has `{_test_of(tested[0], stems)}`"
    message = (
        f"`{path}` is new and has no test file, and no test mentions what it defines; "
        f"{len(tested)} of its {len(siblings)} sibling modules have one ({example})."
    )
    yield _finding(one, message)


def _name(one: _New, tested: Sequence[str]) -> Iterator[Seen]:
    if len(one.siblings) < _MIN_SIBLINGS or len(tested) < _MIN_NAMES_TESTED * len(one.siblings):
        return
    message = (
        f"No test mentions the new `{one.node.name}`; {len(tested)} of the {len(one.siblings)} "
        f"other public names of `{one.file.path}` are mentioned in tests, `{tested[0]}` for one."
    )
    yield _finding(one, message)


def _finding(one: _New, message: str) -> Seen:
    line = one.node.lineno
    evidence = one.file.head_lines[line - 1].strip()
    return rules.UNTESTED.finding(one.file, line, message=message, evidence=evidence)


def _is_code(file: ChangedFile) -> bool:
    return (
        file.language == "python"
        and file.path.endswith(".py")
        and file.status in ("added", "modified")
        and not is_test_file(file.path)
        and not _ASIDE.search(file.path)
        and any("def " in line or "class " in line for line in file.added.values())
    )


def _added(file: ChangedFile) -> Iterator[_New]:
    public = list(_public(file.head_tree))
    if file.status == "added":
        first = next((one for one in public if file.touches(one.lineno)), None)
        if first is not None:
            words = (PurePosixPath(file.path).stem, *(one.name for one in public))
            yield _New(file, first, module=True, words=words, siblings=())
        return
    before = {one.name for one in _public(file.base_tree)}
    siblings = tuple(one.name for one in public if one.name in before)
    for one in public:
        if one.name in before or not file.touches(one.lineno):
            continue
        long = (one.end_lineno or one.lineno) - one.lineno >= _MIN_LINES
        if long and all(name_of(decorator) in _HARMLESS for decorator in one.decorator_list):
            yield _New(file, one, module=False, words=(one.name,), siblings=siblings)


def _public(tree: ast.Module | None) -> Iterator[_Definition]:
    for node in tree.body if tree else ():
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node


@functools.lru_cache(maxsize=2)
def _paths(git_dir: Path, head: str) -> tuple[str, ...]:
    return tuple(list_tree(git_dir, head))


def _unmentioned(git_dir: Path, head: str, words: set[str], pathspecs: Sequence[str]) -> set[str]:
    """Those of `words` that stand nowhere in the files that `pathspecs` name."""
    left = set(words)
    for _ in range(_MAX_ROUNDS):
        hits = grep(git_dir, head, sorted(left), pathspecs=pathspecs, max_hits=_MAX_HITS)
        left -= {word for _, _, text in hits for word in re.findall(r"\w+", text)}
        if len(hits) < _MAX_HITS or not left:
            return left
    return set()


def _used(git_dir: Path, head: str, new: Sequence[_New]) -> set[str]:
    """Names that other code already uses, so that its tests may well reach them."""
    places: dict[str, set[tuple[str, int]]] = {one.words[0]: set() for one in new}
    hits = grep(git_dir, head, sorted(places), max_hits=_MAX_HITS)
    if len(hits) >= _MAX_HITS:
        return set(places)
    own = {(one.file.path, one.node.lineno) for one in new}
    for path, line, text in hits:
        if (
            (path, line) in own
            or path.endswith("__init__.py")
            or re.match(r"\s*[\"']\w+[\"'],?$", text)
        ):
            continue
        for word in re.findall(r"\w+", text):
            if word in places:
                places[word].add((path, line))
    return {word for word, found in places.items() if found}


def _stems(tests: Sequence[str]) -> dict[str, str]:
    """What each test file is named for -> its path: `tests/test_io.py` is named for `io`."""
    stems: dict[str, str] = {}
    for test in tests:
        path = PurePosixPath(test)
        stem = path.stem.removeprefix("test_").removesuffix("_test")
        for name in (stem, f"{path.parent.name}_{stem}", path.parent.name.removeprefix("test_")):
            stems.setdefault(name, test)
    return stems


def _test_of(path: str, stems: dict[str, str]) -> str:
    """The test file that is named for the module at `path`; empty where there is none."""
    module = PurePosixPath(path)
    stem = module.stem.strip("_")
    return stems.get(stem) or stems.get(f"{module.parent.name}_{stem}") or ""
