"""Checks of guidelines by ruff: one run for all files that have the same guidelines.

Ruff runs isolated, with exactly the rules that documents state. A line with a mark such as `# noqa`
is an exception that the project has agreed on: it is counted, not reported.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lenses.guidelines import hits
from leadhand.teams.review.lenses.guidelines.guideline import Guideline, Kind
from leadhand.teams.review.lenses.guidelines.style_settings import FORMATTER
from leadhand.teams.review.syntax import is_test
from leadhand.tools.ruff import Diagnostic, check, suppression

_PATH_CODES = (
    "PTH100 PTH110 PTH111 PTH112 PTH113 PTH114 PTH117 PTH118 PTH119 PTH120 PTH121 PTH122 PTH202 "
    "PTH203 PTH204 PTH205"
)
_CODES_BY_VALUE: dict[tuple[Kind, str], tuple[str, ...]] = {
    ("docstring", "function"): ("D103",),
    ("docstring", "method"): ("D102",),
    ("docstring", "class"): ("D101",),
    ("docstring", "module"): ("D100",),
    ("naming", "function"): ("N802",),
    ("naming", "class"): ("N801",),
    ("naming", "variable"): ("N803", "N806", "N815", "N816"),
}
_ONE_VALUE: frozenset[Kind] = frozenset({"quotes", "line-length"})
_MIXED = re.compile(r"`([a-z]+(?:[A-Z][a-z0-9]*)+)`")
_WHOLE_FILE = re.compile(r"^#\s{0,4}(?:ruff|flake8)\s?:\s?noqa|^\s{0,40}# fmt: ?off", re.MULTILINE)
_SCRIPT = re.compile(r"(?:^|/)(?:__main__|cli|main|console|command\w*|\w*_cli|demo\w*)(?:\.py|/)")


@dataclass(frozen=True, slots=True)
class _RuffCheck:
    codes: tuple[str, ...]
    """Empty if they depend on the guideline's value."""
    trigger: re.Pattern[str]
    """Ruff checks only files with an added line that matches it."""
    accepts: Callable[[ChangedFile, Diagnostic], bool]
    what: str
    """Empty for ruff's own message."""


def _always(file: ChangedFile, found: Diagnostic) -> bool:
    return True


def _in_product(file: ChangedFile, found: Diagnostic) -> bool:
    return not is_test(file.path) and not hits.is_auxiliary(file.path)


def _not_in_package(file: ChangedFile, found: Diagnostic) -> bool:
    """Not in an `__init__`, which may re-export names."""
    return not file.path.endswith("__init__.py")


def _not_in_script(file: ChangedFile, found: Diagnostic) -> bool:
    """In product code that is not a script or a command line."""
    if not _in_product(file, found) or _SCRIPT.search(file.path):
        return False
    return not any(
        isinstance(node, ast.If)
        and node.lineno <= found.line <= (node.end_lineno or node.lineno)
        and "__name__" in ast.dump(node.test)
        for node in (file.head_tree.body if file.head_tree else ())
    )


def _needs_docstring(file: ChangedFile, found: Diagnostic) -> bool:
    """In product code, and not a method that may inherit its docstring."""
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


def _is_own_name(file: ChangedFile, found: Diagnostic) -> bool:
    """A name that the project chose, not one that a base class or another API requires."""
    if is_test(file.path) and found.code == "N802":
        return False
    if found.code == "N801":
        return True
    owner = _class_at(file, found.line)
    if owner is not None and (owner.bases or owner.keywords):
        return False
    return found.code == "N802" or _MIXED.search(found.message) is not None


_ROWS: tuple[tuple[Kind, str, str, Callable[[ChangedFile, Diagnostic], bool], str], ...] = (
    ("print", "T201", r"\bprint\s*\(", _not_in_script, "`print` is called"),
    ("bare-except", "E722", r"\bexcept\s*:", _always, "a bare `except:` catches everything"),
    ("wildcard-import", "F403", r"\bimport\s+\*", _not_in_package, "`*` imports every name"),
    ("relative-import", "TID252", r"^\s*from\s+\.", _always, "the import is relative"),
    ("os-path", _PATH_CODES, r"\bpath\b", _in_product, "`os.path` is used"),
    ("docstring", "", r"\b(?:def|class)\s", _needs_docstring, ""),
    ("naming", "", r"\b(?:def|class)\s|=", _is_own_name, ""),
    ("quotes", "Q000", r"[\"']", _always, "the string uses other quotes"),
    ("line-length", "E501", r".{61}", _always, ""),
)
_CHECKS: dict[Kind, _RuffCheck] = {
    kind: _RuffCheck(tuple(codes.split()), re.compile(trigger), accepts, what)
    for kind, codes, trigger, accepts, what in _ROWS
}


def ruff_hits(
    wanted: Sequence[tuple[ChangedFile, Sequence[Guideline]]],
) -> Iterator[tuple[ChangedFile, hits.GuidelineHit | None]]:
    """Every place that breaks a guideline that ruff can check; `None` for a suppressed one."""
    groups: defaultdict[tuple[tuple[str, ...], tuple[tuple[str, str], ...]], list[ChangedFile]] = (
        defaultdict(list)
    )
    checked: dict[int, list[Guideline]] = {}
    for file, guidelines in wanted:
        if file.language != "python" or not file.complete or hits.is_generated(file.path):
            continue
        own = [one for one in _checkable(guidelines) if _may_hit(file, one)]
        if own:
            checked[file.index] = own
            codes = {code for one in own for code in _codes(one)}
            settings = {pair for one in own for pair in _settings(one)}
            groups[tuple(sorted(codes)), tuple(sorted(settings))].append(file)
    strings: dict[int, dict[int, int]] = {}
    for (codes, settings), files in groups.items():
        by_disk = {file.head_file: file for file in files}
        for found in check(list(by_disk), select=codes, settings=dict(settings)):
            file = by_disk[found.file]
            for one in checked[file.index]:
                if found.code in _codes(one) and _is_hit(file, found, one):
                    suppressed = _is_suppressed(file, found, strings)
                    yield file, None if suppressed else _hit(file, found, one)
                    break


def _is_suppressed(
    file: ChangedFile, found: Diagnostic, strings: dict[int, dict[int, int]]
) -> bool:
    """Whether the line, the string that it is in, or the whole file has a `# noqa`.

    `strings` caches the strings of each file, by its index.
    """
    if _has_noqa(file, found.line, found.code) or _WHOLE_FILE.search(file.head):
        return True
    if found.code != "E501":
        return False
    if file.index not in strings:
        strings[file.index] = hits.string_ends(file.head_tree)
    end = strings[file.index].get(found.line)
    return end is not None and _has_noqa(file, end, found.code)


def _has_noqa(file: ChangedFile, line: int, code: str) -> bool:
    """Whether `line` has a `# noqa` for every rule or for this one."""
    mark = suppression(file.head_lines[line - 1])
    if mark is None or "noqa" not in mark.lower():
        return False
    named = mark.partition(":")[2]
    return not named or code in named or (code == "E501" and "B950" in named)


def _checkable(guidelines: Sequence[Guideline]) -> Iterator[Guideline]:
    """The guidelines that ruff can check; of those that set one value, the innermost."""
    by_kind: defaultdict[Kind, list[Guideline]] = defaultdict(list)
    for one in guidelines:
        if one.kind in _CHECKS:
            by_kind[one.kind].append(one)
    for kind, found in by_kind.items():
        if kind in _ONE_VALUE:
            found = hits.nearest(found)
            if len({one.value for one in found}) > 1 or not found[0].value.isalnum():
                continue
        yield from (found[:1] if kind in _ONE_VALUE else found)


def _may_hit(file: ChangedFile, one: Guideline) -> bool:
    if one.value.startswith(FORMATTER) or not _codes(one):
        return False
    if one.kind == "line-length":
        return any(len(line) > one.number for line in file.added.values())
    trigger = _CHECKS[one.kind].trigger
    return any(trigger.search(line[:1000]) for line in file.added.values())


def _codes(one: Guideline) -> tuple[str, ...]:
    return _CODES_BY_VALUE.get((one.kind, one.value), _CHECKS[one.kind].codes)


def _settings(one: Guideline) -> Iterator[tuple[str, str]]:
    if one.kind == "quotes":
        yield "lint.flake8-quotes.inline-quotes", f'"{one.value}"'
    elif one.kind == "relative-import":
        yield "lint.flake8-tidy-imports.ban-relative-imports", '"all"'
    elif one.kind == "line-length":
        yield "lint.pycodestyle.max-line-length", one.value


def _is_hit(file: ChangedFile, found: Diagnostic, one: Guideline) -> bool:
    if found.code == "D100":
        return bool(file.added) and _needs_docstring(file, found)
    return file.touches(found.line) and _CHECKS[one.kind].accepts(file, found)


def _hit(file: ChangedFile, found: Diagnostic, one: Guideline) -> hits.GuidelineHit:
    line = found.line
    if found.code == "D100":
        line = next((number for number, text in file.added.items() if text.strip()), 1)
    what = _CHECKS[one.kind].what or found.message.rstrip(".")
    if one.kind == "docstring":
        named = re.search(r"(?:def|class)\s+(\w+)", file.head_lines[line - 1])
        subject = f"`{named[1]}`" if named and found.code != "D100" else "the module"
        what = f"{subject} has no docstring"
    elif one.kind == "line-length":
        what = f"the line has {len(file.head_lines[line - 1])} characters"
    return hits.GuidelineHit(one, line, what)


def _class_at(file: ChangedFile, line: int) -> ast.ClassDef | None:
    """The innermost class around `line`."""
    inner: ast.ClassDef | None = None
    waiting: list[ast.stmt] = list(file.head_tree.body) if file.head_tree else []
    while waiting:
        node = waiting.pop()
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            if isinstance(node, ast.ClassDef):
                inner = node
            waiting = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
    return inner
