"""Guidelines that ruff can check: one run for all files for which the project asks for the same.

Ruff runs isolated, with exactly the rules that a document states. A line that carries a mark such
as `# noqa` for style is the project's own agreed exception and is left alone, but counted.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lenses.guidelines.declared import FORMATTER
from leadhand.teams.review.lenses.guidelines.guideline import Guideline, Kind
from leadhand.teams.review.lenses.guidelines.hit import (
    GuidelineHit,
    aside,
    generated,
    in_tests,
    nearest,
    string_ends,
)
from leadhand.tools.ruff import Diagnostic, check, suppression

_PATH_CODES = (
    "PTH100", "PTH110", "PTH111", "PTH112", "PTH113", "PTH114", "PTH117", "PTH118", "PTH119",
    "PTH120", "PTH121", "PTH122", "PTH202", "PTH203", "PTH204", "PTH205",
)  # fmt: skip
_TARGETS = {"function": "D103", "method": "D102", "class": "D101", "module": "D100"}
_CASES = {"function": ("N802",), "class": ("N801",), "variable": ("N803", "N806", "N815", "N816")}
_ONE_VALUE: frozenset[Kind] = frozenset({"quotes", "line-length"})
_MIXED = re.compile(r"`([a-z]+(?:[A-Z][a-z0-9]*)+)`")
_WHOLE_FILE = re.compile(r"^#\s{0,4}(?:ruff|flake8)\s?:\s?noqa|^\s{0,40}# fmt: ?off", re.MULTILINE)
_SCRIPT = re.compile(r"(?:^|/)(?:__main__|cli|main|console|command\w*|\w*_cli|demo\w*)(?:\.py|/)")


@dataclass(frozen=True, slots=True)
class _Lint:
    look: re.Pattern[str]
    """An added line must match it, or the file is not looked at."""
    keep: Callable[[ChangedFile, Diagnostic], bool]
    say: str


def _always(file: ChangedFile, found: Diagnostic) -> bool:
    return True


def _in_product(file: ChangedFile, found: Diagnostic) -> bool:
    return not in_tests(file.path) and not aside(file.path)


def _no_package(file: ChangedFile, found: Diagnostic) -> bool:
    """Not in an `__init__`, whose business it is to hand names on."""
    return not file.path.endswith("__init__.py")


def _printed(file: ChangedFile, found: Diagnostic) -> bool:
    """A print in the product's code, not in what a person starts by hand and reads."""
    if not _in_product(file, found) or _SCRIPT.search(file.path):
        return False
    return not any(
        isinstance(node, ast.If)
        and node.lineno <= found.line <= (node.end_lineno or node.lineno)
        and "__name__" in ast.dump(node.test)
        for node in (file.head_tree.body if file.head_tree else ())
    )


def _documented(file: ChangedFile, found: Diagnostic) -> bool:
    """A missing docstring of something whose contract is not a base class's."""
    if not _in_product(file, found):
        return False
    if found.code == "D100":
        return (
            file.status == "added"
            and bool(file.head.strip())
            and not file.path.endswith("__init__.py")
        )
    if found.code != "D102":
        return True
    owner = _class_at(file, found.line)
    return owner is None or not (owner.bases or owner.name.startswith("_"))


def _named(file: ChangedFile, found: Diagnostic) -> bool:
    """A name of the project's own choosing, not one that a base class or another API gives."""
    if in_tests(file.path) and found.code == "N802":
        return False
    if found.code == "N801":
        return True
    owner = _class_at(file, found.line)
    if owner is not None and (owner.bases or owner.keywords):
        return False
    return found.code == "N802" or _MIXED.search(found.message) is not None


_LINTS: dict[Kind, _Lint] = {
    "print": _Lint(re.compile(r"\bprint\s*\("), _printed, "`print` is called"),
    "bare-except": _Lint(
        re.compile(r"\bexcept\s*:"), _always, "a bare `except:` catches everything"
    ),
    "wildcard-import": _Lint(
        re.compile(r"\bimport\s+\*"), _no_package, "everything is imported by `*`"
    ),
    "relative-import": _Lint(re.compile(r"^\s*from\s+\."), _always, "the import is relative"),
    "os-path": _Lint(re.compile(r"\bpath\b"), _in_product, "`os.path` is used"),
    "docstring": _Lint(re.compile(r"\b(?:def|class)\s"), _documented, "a docstring is missing"),
    "naming": _Lint(re.compile(r"\b(?:def|class)\s|="), _named, ""),
    "quotes": _Lint(re.compile(r"[\"']"), _always, "the string has other quotes"),
    "line-length": _Lint(re.compile(r".{61}"), _always, ""),
}


def linted(
    wanted: Sequence[tuple[ChangedFile, Sequence[Guideline]]],
) -> Iterator[tuple[ChangedFile, GuidelineHit | None]]:
    """Every place that goes against a guideline which ruff can check; none for a marked line."""
    groups: defaultdict[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], list[ChangedFile]] = (
        defaultdict(list)
    )
    asked: dict[int, list[Guideline]] = {}
    for file, guidelines in wanted:
        if file.language != "python" or not file.complete or generated(file.path):
            continue
        mine = [one for one in _settled(guidelines) if _may_hit(file, one)]
        if mine:
            asked[file.index] = mine
            codes = tuple(sorted({code for one in mine for code in _codes(one)}))
            groups[codes, tuple(sorted({pair for one in mine for pair in _settings(one)}))].append(
                file
            )
    marks = _Marks()
    for (codes, settings), files in groups.items():
        by_disk = {file.head_file: file for file in files}
        for found in check(list(by_disk), select=codes, settings=dict(settings)):
            file = by_disk[found.file]
            for one in asked[file.index]:
                if found.code in _codes(one) and _is_hit(file, found, one):
                    yield file, None if marks.covers(file, found) else _hit(file, found, one)
                    break


class _Marks:
    """Marks such as `# noqa` by which a project says that a line is an agreed exception."""

    def __init__(self) -> None:
        self._strings: dict[int, dict[int, int]] = {}

    def covers(self, file: ChangedFile, found: Diagnostic) -> bool:
        """Whether the line, the string that it is in, or the whole file is marked."""
        if _excuses(file, found.line, found.code) or _WHOLE_FILE.search(file.head):
            return True
        if found.code != "E501":
            return False
        if file.index not in self._strings:
            self._strings[file.index] = string_ends(file.head_tree)
        end = self._strings[file.index].get(found.line)
        return end is not None and _excuses(file, end, found.code)


def _excuses(file: ChangedFile, line: int, code: str) -> bool:
    """Whether `line` carries a `# noqa` for every rule, or for this one."""
    mark = suppression(file.head_lines[line - 1])
    if mark is None or "noqa" not in mark.lower():
        return False
    named = mark.partition(":")[2]
    return not named or code in named or (code == "E501" and "B950" in named)


def _settled(guidelines: Sequence[Guideline]) -> Iterator[Guideline]:
    """The guidelines that ruff can check; where several set one value, the one that holds."""
    by_kind: defaultdict[Kind, list[Guideline]] = defaultdict(list)
    for one in guidelines:
        if one.kind in _LINTS:
            by_kind[one.kind].append(one)
    for kind, found in by_kind.items():
        if kind in _ONE_VALUE:
            found = nearest(found)
            if len({one.value for one in found}) > 1 or not found[0].value.isalnum():
                continue
        yield from (found[:1] if kind in _ONE_VALUE else found)


def _may_hit(file: ChangedFile, one: Guideline) -> bool:
    if one.value.startswith(FORMATTER) or not _codes(one):
        return False
    if one.kind == "line-length":
        return any(len(line) > one.number for line in file.added.values())
    look = _LINTS[one.kind].look
    return any(look.search(line[:1000]) for line in file.added.values())


def _codes(one: Guideline) -> tuple[str, ...]:
    match one.kind:
        case "print":
            return ("T201",)
        case "bare-except":
            return ("E722",)
        case "wildcard-import":
            return ("F403",)
        case "relative-import":
            return ("TID252",)
        case "os-path":
            return _PATH_CODES
        case "docstring":
            return (_TARGETS[one.value],)
        case "naming":
            return _CASES.get(one.value, ())
        case "quotes":
            return ("Q000",)
        case "line-length":
            return ("E501",)
        case _:
            return ()


def _settings(one: Guideline) -> Iterator[tuple[str, str]]:
    if one.kind == "quotes":
        yield "lint.flake8-quotes.inline-quotes", f'"{one.value}"'
    elif one.kind == "relative-import":
        yield "lint.flake8-tidy-imports.ban-relative-imports", '"all"'
    elif one.kind == "line-length":
        yield "lint.pycodestyle.max-line-length", one.value


def _is_hit(file: ChangedFile, found: Diagnostic, one: Guideline) -> bool:
    if found.code == "D100":
        return bool(file.added) and _documented(file, found)
    return file.touches(found.line) and _LINTS[one.kind].keep(file, found)


def _hit(file: ChangedFile, found: Diagnostic, one: Guideline) -> GuidelineHit:
    line = found.line
    if found.code == "D100":
        line = next((number for number, text in file.added.items() if text.strip()), 1)
    what = _LINTS[one.kind].say or found.message.rstrip(".")
    named = re.search(r"(?:def|class)\s+(\w+)", file.head_lines[line - 1])
    if one.kind == "docstring":
        what = (
            f"`{named[1]}` has no docstring"
            if named and found.code != "D100"
            else "the module has no docstring"
        )
    elif one.kind == "line-length":
        what = f"the line has {len(file.head_lines[line - 1])} characters"
    return GuidelineHit(one, line, line, what)


def _class_at(file: ChangedFile, line: int) -> ast.ClassDef | None:
    """The innermost class whose body holds `line`."""
    inner: ast.ClassDef | None = None
    waiting: list[ast.stmt] = list(file.head_tree.body) if file.head_tree else []
    while waiting:
        node = waiting.pop()
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            if isinstance(node, ast.ClassDef):
                inner = node
            waiting = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
    return inner
