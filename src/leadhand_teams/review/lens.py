"""Defines a lens: a generator over changed files, which `@lens` turns into a worker function.

A lens gets a `Change` and the files of its task, and yields findings and what it could not assess.
It knows nothing about the plan, other lenses, or confidence.
"""

import functools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from leadhand import Handoff, InputError
from leadhand.extension.findings import Finding, LensReport, NotAssessed, Severity
from leadhand.tools.child_process import limit_data
from leadhand_teams.review.change import Change, ChangedFile

ONLY_A_PATCH = "only a patch was given, no repository"
"""Why lenses that need the repository assess nothing."""
Seen = Finding | NotAssessed
Look = Callable[[Change, Sequence[ChangedFile]], Iterator[Seen]]


@dataclass(frozen=True, slots=True)
class LensRule:
    """One kind of problem that a lens finds."""

    id: str
    """`lens/name`, kebab case."""
    family: str
    """`lens/family`: rules that work alike share a family, and its measured precision if they
    have too few labelled hits of their own."""
    severity: Severity
    why: str
    """Why it matters: one sentence that fits any change."""
    fix: str
    """What to do, one sentence."""
    fact: bool = False
    """Whether a hit needs no judgement: its confidence is 100. The severity is `critical`."""
    removal: bool = False
    """Whether it finds protections that the change removed: one without enough confidence for a
    finding needs a look."""

    def finding(
        self,
        file: ChangedFile,
        line: int,
        *,
        message: str,
        evidence: str | None = None,
        end_line: int | None = None,
        suggestion: str | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding of this rule in `file`; `why` is added to `message`, what is wrong here.

        `evidence` defaults to the text of `line`.
        """
        return Finding(
            path=file.path,
            line=max(1, line),
            end_line=max(1, line, end_line or 0),
            severity=severity or self.severity,
            category=self.id.split("/", 1)[0],
            rule=self.id,
            message=f"{message} {self.why}".strip(),
            suggestion=self.fix if suggestion is None else suggestion,
            evidence=file.head_lines[line - 1].strip() if evidence is None else evidence,
        )


class LensWorker(Protocol):
    """A worker function that runs one lens over the files of a handoff."""

    def __call__(self, handoff: Handoff, *, change: str, limited: bool = False) -> LensReport: ...


def lens(look: Look) -> LensWorker:
    """Turn a lens into a worker function: artifacts are paths, `change` is the snapshot folder.

    If `limited`, in a process of its own, it may take `data_limit` bytes of memory. In a thread it
    is not limited: the limit would hold for the whole program, whose next threads could not start.
    """

    @functools.wraps(look)
    def work(handoff: Handoff, *, change: str, limited: bool = False) -> LensReport:
        if limited and threading.current_thread() is threading.main_thread():
            limit_data(os.getpid(), data_limit())
        whole = Change.load(change)
        files = [whole.by_path[path] for path in handoff.artifacts if path in whole.by_path]
        seen = _seen(look, whole, files, handoff.to_agent)
        return LensReport(
            findings=tuple(item for item in seen if isinstance(item, Finding)),
            not_assessed=tuple(item for item in seen if isinstance(item, NotAssessed)),
        )

    return work


def data_limit() -> int:
    """The most bytes of data for an analyser in a process of its own; 1 GB by default.

    `LEADHAND_REVIEW_MB` sets it, in MiB. Raises `InputError` if that is no number.
    """
    given = os.environ.get("LEADHAND_REVIEW_MB") or "1024"
    if not given.isdecimal() or not int(given):
        raise InputError(f"LEADHAND_REVIEW_MB is {given!r}: give a number of MiB, such as 1024")
    return int(given) << 20


def _seen(look: Look, change: Change, files: Sequence[ChangedFile], lens: str) -> list[Seen]:
    """What a lens sees; where memory runs out, of half the files at a time, to find the one."""
    try:
        return list(look(change, files))
    except MemoryError:
        if len(files) > 1:
            half = len(files) // 2
            return [
                *_seen(look, change, files[:half], lens),
                *_seen(look, change, files[half:], lens),
            ]
    why = "it needs more memory than an analyser may take"
    return [NotAssessed(lens=lens, path=file.path, why=why) for file in files]
