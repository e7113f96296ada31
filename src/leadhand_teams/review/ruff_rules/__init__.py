"""Rules that ruff checks: one table, one run of ruff for all lenses, and judges.

A judge decides which of ruff's hits matter in their context. Ruff runs isolated: neither settings
nor `noqa` comments of the reviewed code change what it reports.
"""

import contextlib
import fcntl
import functools
import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from pydantic import ConfigDict, TypeAdapter, ValidationError

from leadhand.extension.findings import NotAssessed
from leadhand.tools.ruff import UNKNOWN_RULE, UNREADABLE, Diagnostic, check
from leadhand.tools.text import joined_names
from leadhand_teams.review.change import ChangedFile
from leadhand_teams.review.lens import Seen, data_limit
from leadhand_teams.review.ruff_rules import closures, judges, names
from leadhand_teams.review.ruff_rules.hits import TARGET, Judge, RuffHit, finding, ruff_message
from leadhand_teams.review.rules import LensRule, rules
from leadhand_teams.review.syntax import is_test

BROKEN = ("invalid-syntax", UNREADABLE)
"""The codes of diagnostics that tell that a file can't be read as Python."""
NOT_COMPILED = (
    "F404", "F407", "F621", "F622", "F701", "F702", "F704", "F706", "F707", "PLE0115",
    "PLE0117", "PLE0118", "PLE1142",
)  # fmt: skip
"""The codes of what Python parses but may not compile, such as `return` outside a function."""

_DIAGNOSTICS = TypeAdapter(tuple[Diagnostic, ...], config=ConfigDict(defer_build=True))
_ONE_RUN = threading.Lock()
_BY_CODE: defaultdict[str, list[LensRule]] = defaultdict(list)
for _rule in rules():
    for _code in _rule.codes.split():
        _BY_CODE[_code].append(_rule)
CODES = tuple(_BY_CODE)
"""The codes of ruff's rules that one run checks."""


def diagnostics(files: Sequence[ChangedFile]) -> dict[ChangedFile, list[Diagnostic]]:
    """What ruff says about the complete Python files among `files`; lenses share one run."""
    python = [
        file
        for file in files
        if file.language == "python" and file.complete and file.status != "deleted"
    ]
    by_disk = {file.head_file: file for file in python}
    found: defaultdict[ChangedFile, list[Diagnostic]] = defaultdict(list)
    with _ONE_RUN:  # the lenses of a small change are threads, which ask at the same time
        shown = _run(tuple(by_disk))
    for one in shown:
        found[by_disk[one.file]].append(one)
    return found


@functools.lru_cache(maxsize=2)
def _run(files: tuple[Path, ...]) -> tuple[Diagnostic, ...]:
    """The diagnostics, kept in the snapshot's folder: lenses of a large change are processes."""
    if not files:
        return ()
    name = f"ruff-{files[0].stem}-{files[-1].stem}-{len(files)}.json"
    with (files[0].parents[1] / name).open("a+b") as kept:
        fcntl.flock(kept, fcntl.LOCK_EX)
        kept.seek(0)
        with contextlib.suppress(ValidationError):  # empty, or half written
            return _DIAGNOSTICS.validate_json(kept.read())
        found = check(
            files,
            select=[*_BY_CODE, *NOT_COMPILED],
            target=TARGET,
            preview=True,
            data_bytes=data_limit(),
        )
        kept.truncate(0)
        kept.write(_DIAGNOSTICS.dump_json(tuple(found)))
        return tuple(found)


def ruff_findings(lens: str, files: Sequence[ChangedFile]) -> Iterator[Seen]:
    """Findings of one lens's rules on the lines that the change adds."""
    for file, found in diagnostics(files).items():
        unknown = [one.message for one in found if one.code == UNKNOWN_RULE]
        if lost := [
            code for code in unknown if any(r.lens == lens for r in _BY_CODE.get(code, ()))
        ]:
            why = f"the installed ruff does not know {joined_names(lost, most=20)}"
            yield NotAssessed(lens=lens, why=why)
        if any(one.code in BROKEN for one in found):
            continue
        wanted = [
            (rule, one)
            for one in found
            if file.touches(one.line, one.end_line)
            for rule in _BY_CODE.get(one.code, ())
            if rule.lens == lens
        ]
        if not wanted:
            continue
        if file.head_tree is None:
            why = "leadhand's Python does not parse it, so diagnostics were not checked"
            yield NotAssessed(lens=lens, path=file.path, why=why)
            continue
        try:
            yield from list(_judged(file, wanted, found))
        except RecursionError:
            yield NotAssessed(lens=lens, path=file.path, why="its code is nested too deeply")


def _judged(
    file: ChangedFile, wanted: Sequence[tuple[LensRule, Diagnostic]], found: Sequence[Diagnostic]
) -> Iterator[Seen]:
    in_test = is_test(file.path)
    reported: set[tuple[str, int | str]] = set()
    for rule, one in wanted:
        hit = RuffHit(file, file.head_syntax, one, found)
        if in_test and (not rule.in_tests or hit.is_expected()):
            continue
        if (rule.lens != "bugs" or one.code == "B006") and _is_restyled(file, one):
            continue
        message = _judge(rule)(hit)
        key = (rule.id, hit.name if one.code == "F821" else one.line)
        if message is not None and key not in reported:
            reported.add(key)
            yield finding(rule, file, one.line, one.end_line, message)


def _is_restyled(file: ChangedFile, one: Diagnostic) -> bool:
    """Whether the lines were there before, in another form."""
    text = _plain("\n".join(file.head_lines[one.line - 1 : one.end_line]))
    return _plain(file.head).count(text) <= _plain(file.base).count(text)


@functools.lru_cache(maxsize=8)
def _plain(text: str) -> str:
    """`text` without white space, commas before brackets, and differences of quotes."""
    return re.sub(r",(?=[)\]}])", "", re.sub(r"\s+", "", text)).replace("'", '"')


_MODULES = {"closures": closures, "judges": judges, "names": names}


def _judge(rule: LensRule) -> Judge:
    """What decides on the hits of a rule."""
    module, _, name = rule.judge.partition(":")
    return cast("Judge", getattr(_MODULES[module], name)) if name else ruff_message
