"""Defines a lens: a generator over changed files, which `@lens` turns into a worker function.

A lens gets a `Change` and the files of its task, and yields findings and what it could not assess.
It knows nothing about the plan, other lenses, or confidence.
"""

import contextlib
import functools
import os
import resource
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from leadhand import Handoff, InputError
from leadhand.extension.findings import Finding, LensReport, NotAssessed
from leadhand.tools.child_process import limit_resource
from leadhand_teams.review.change import Change, ChangedFile

ONLY_A_PATCH = "only a patch was given, no repository"
"""Why lenses that need the repository assess nothing."""
Seen = Finding | NotAssessed
Look = Callable[[Change, Sequence[ChangedFile]], Iterator[Seen]]


class LensWorker(Protocol):
    """A worker function that runs one lens over the files of a handoff."""

    def __call__(self, handoff: Handoff, *, change: str) -> LensReport: ...


def lens(look: Look) -> LensWorker:
    """Turn a lens into a worker function: artifacts are paths, `change` is the snapshot folder."""

    @functools.wraps(look)
    def work(handoff: Handoff, *, change: str) -> LensReport:
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


@contextlib.contextmanager
def limited_data() -> Generator[None]:
    """A block in which this process may take `data_limit()` more, and processes that it starts
    then inherit the limit (Linux)."""
    if sys.platform != "linux":
        yield
        return
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[5])
    most = pages * resource.getpagesize() + data_limit()
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit_resource(resource.RLIMIT_DATA, most, hard)
    try:
        yield
    finally:
        limit_resource(resource.RLIMIT_DATA, before, hard)


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
