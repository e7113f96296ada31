"""New public code that no test mentions, in places where the project tests the other code.

Does not measure coverage: a name that any test file mentions counts as tested, and so does a new
function that other code already uses.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from leadhand.contracts.finding import NotAssessed
from leadhand.errors import LeadhandError
from leadhand.teams.review.change import Change, ChangedFile
from leadhand.teams.review.lens import LensRule, Seen
from leadhand.teams.review.syntax import Function, last_name, tree_paths
from leadhand.tools.git.trees import grep

RULE = LensRule(
    "tests/untested-change", "tests/coverage", "info",
    "The code beside it is tested, so the project probably expects a test for it too.",
    "Add a test for it beside the other tests.",
)  # fmt: skip

_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests)\.py$")
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
    "cache", "lru_cache", "contextmanager", "asynccontextmanager", "deprecated", "wraps",
    "dataclass", "final",
}  # fmt: skip
"""Decorators after which a function is still called by its name."""

_Definition = Function | ast.ClassDef


@dataclass(frozen=True, slots=True)
class _NewCode:
    """A module, function or class that the change adds."""

    file: ChangedFile
    node: _Definition
    """The function or class; in a new module its first one."""
    is_module: bool
    words: tuple[str, ...]
    """A test that mentions one of these tests it."""
    siblings: tuple[str, ...]
    """The public names that its module had before; empty for a new module."""


def find(change: Change, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """The new public code in `files` that no test mentions although its siblings are tested."""
    code = [file for file in files if _is_code(file)]
    if not code:
        return
    if change.git_dir is None or change.head is None:
        why = "no repository: can't check whether new code has tests"
        yield NotAssessed(lens="tests", why=why)
        return
    try:
        paths = tree_paths(change.git_dir, change.head)
        tests = [path for path in paths if _TEST_FILE.search(path)]
        if not tests:
            yield NotAssessed(lens="tests", why="the project has no Python test files")
            return
        # Last, because it takes the most time: it parses both sides of each file.
        new = [one for file in code for one in _added(file)]
        if new:
            yield from _judge(change.git_dir, change.head, new, paths, tests)
    except LeadhandError as error:
        yield NotAssessed(lens="tests", why=f"can't check whether new code has tests: {error}")


def _judge(
    git_dir: Path, head: str, new: Sequence[_NewCode], paths: Sequence[str], tests: Sequence[str]
) -> Iterator[Seen]:
    words = {word for one in new for word in one.words}
    unmentioned = _unmentioned(git_dir, head, words)
    suspects = [one for one in new if unmentioned.issuperset(one.words)]
    if not suspects:
        return
    added = {one.file.path for one in new if one.is_module}
    members = [one for one in suspects if not one.is_module]
    names = {word for one in members for word in (*one.words, *one.siblings)}
    unmentioned = _unmentioned(git_dir, head, names)
    used = _used(git_dir, head, members)
    stems = _stems(tests)
    for one in suspects:
        if one.is_module:
            yield from _module(one, [path for path in paths if path not in added], stems)
        elif one.words[0] not in used:
            yield from _member(one, [name for name in one.siblings if name not in unmentioned])


def _module(one: _NewCode, paths: Sequence[str], stems: dict[str, str]) -> Iterator[Seen]:
    path = PurePosixPath(one.file.path)
    if _test_of(str(path), stems):
        return
    folder = f"{path.parent}/" if len(path.parts) > 1 else ""
    siblings = [
        other for other in paths
        if other.startswith(folder) and other.endswith(".py") and "/" not in other[len(folder) :]
        and not _ASIDE.search(other) and not _TEST_FILE.search(other)
    ]  # fmt: skip
    tested = [other for other in siblings if _test_of(other, stems)]
    if len(siblings) < _MIN_SIBLINGS or len(tested) < _MIN_MODULES_TESTED * len(siblings):
        return
    example = f"for example `{_test_of(tested[0], stems)}` for `{PurePosixPath(tested[0]).name}`"
    message = (
        f"`{path}` is new, but has no test file, and no test mentions what it defines; "
        f"{len(tested)} of the {len(siblings)} modules beside it have a test file, {example}."
    )
    yield _finding(one, message)


def _member(one: _NewCode, tested: Sequence[str]) -> Iterator[Seen]:
    if len(one.siblings) < _MIN_SIBLINGS or len(tested) < _MIN_NAMES_TESTED * len(one.siblings):
        return
    message = (
        f"No test mentions the new `{one.node.name}`; {len(tested)} of the {len(one.siblings)} "
        f"other public names of `{one.file.path}` are mentioned, for example `{tested[0]}`."
    )
    yield _finding(one, message)


def _finding(one: _NewCode, message: str) -> Seen:
    return RULE.finding(one.file, one.node.lineno, message=message)


def _is_code(file: ChangedFile) -> bool:
    return (
        file.language == "python"
        and file.path.endswith(".py")
        and file.status in ("added", "modified")
        and not _TEST_FILE.search(file.path)
        and not _ASIDE.search(file.path)
        and any("def " in line or "class " in line for line in file.added.values())
    )


def _added(file: ChangedFile) -> Iterator[_NewCode]:
    public = list(_public(file.head_tree))
    if file.status == "added":
        first = next((one for one in public if file.touches(one.lineno)), None)
        if first is not None:
            words = (PurePosixPath(file.path).stem, *(one.name for one in public))
            yield _NewCode(file, first, is_module=True, words=words, siblings=())
        return
    before = {one.name for one in _public(file.base_tree)}
    siblings = tuple(one.name for one in public if one.name in before)
    for one in public:
        if one.name in before or not file.touches(one.lineno):
            continue
        long = (one.end_lineno or one.lineno) - one.lineno >= _MIN_LINES
        if long and all(_name(mark) in _HARMLESS for mark in one.decorator_list):
            yield _NewCode(file, one, is_module=False, words=(one.name,), siblings=siblings)


def _name(decorator: ast.expr) -> str:
    return last_name(decorator.func if isinstance(decorator, ast.Call) else decorator)


def _public(tree: ast.Module | None) -> Iterator[_Definition]:
    for node in tree.body if tree else ():
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node


def _unmentioned(git_dir: Path, head: str, words: set[str]) -> set[str]:
    """Those of `words` that no test file mentions."""
    left = set(words)
    for _ in range(_MAX_ROUNDS):
        hits = grep(git_dir, head, sorted(left), pathspecs=("*test*.py",), max_hits=_MAX_HITS)
        left -= {word for _, _, text in hits for word in re.findall(r"\w+", text)}
        if len(hits) < _MAX_HITS or not left:
            return left
    return set()


def _used(git_dir: Path, head: str, new: Sequence[_NewCode]) -> set[str]:
    """Names that other code already uses, whose tests may cover them."""
    names = {one.words[0] for one in new}
    hits = grep(git_dir, head, sorted(names), max_hits=_MAX_HITS)
    if len(hits) >= _MAX_HITS:
        return names
    own = {(one.file.path, one.node.lineno) for one in new}
    used: set[str] = set()
    for path, line, text in hits:
        exported = path.endswith("__init__.py") or re.match(r"\s*[\"']\w+[\"'],?$", text)
        if (path, line) not in own and not exported:
            used |= names.intersection(re.findall(r"\w+", text))
    return used


def _stems(tests: Sequence[str]) -> dict[str, str]:
    """Name of a tested module -> its test file: `io` -> `tests/test_io.py`."""
    stems: dict[str, str] = {}
    for test in tests:
        path = PurePosixPath(test)
        stem = path.stem.removeprefix("test_").removesuffix("_test")
        for name in (stem, f"{path.parent.name}_{stem}", path.parent.name.removeprefix("test_")):
            stems.setdefault(name, test)
    return stems


def _test_of(path: str, stems: dict[str, str]) -> str:
    """The test file that is named after the module at `path`; empty if there is none."""
    module = PurePosixPath(path)
    stem = module.stem.strip("_")
    return stems.get(stem) or stems.get(f"{module.parent.name}_{stem}") or ""
