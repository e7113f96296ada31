"""Hands PDF, Word and HTML files to a process of its own, which a hostile file can only kill (F23).

The parsers are pure Python and a crafted file of a few kilobytes can keep them busy for hours. So
they run in `child`, with little memory and a few seconds of processor time a file; what it printed
until then is kept. Nothing is parsed in this process but the lines that the child prints.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, BinaryIO, Final, TypedDict, cast

from leadhand.errors import ToolError
from leadhand.tools.files.kinds import Kind
from leadhand.tools.text import size_text

RICH: Final[tuple[Kind, ...]] = ("pdf", "docx", "html")
"""The kinds that are parsed here."""

_KEPT: Final = ("LD_LIBRARY_PATH", "PYTHONHOME", "TMPDIR")


@dataclass(frozen=True, slots=True)
class Limits:
    """What the process may use."""

    cpu_s: float = 20.0
    """Of processor time for one file: a thousand pages of an honest PDF."""
    memory_bytes: int = 1 << 30
    output_bytes: int = 256 << 20
    """Printed for all the files of one call."""


class _Line(TypedDict, total=False):
    """One line that the child prints, after its first: a page, or how a file ended."""

    page: str
    cut: str
    error: str
    done: bool


@dataclass(slots=True)
class Parsed:
    """What came of one file."""

    pages: list[str] = field(default_factory=list[str])
    """One for each page of a PDF, in order; otherwise one in all."""
    cut: str | None = None
    """Why there may be more than `pages` hold, if so."""
    error: str | None = None
    """Why there is nothing, if so."""


def parsed(
    files: Sequence[tuple[Kind, BinaryIO]], *, limits: Limits, timeout_s: float
) -> list[Parsed]:
    """What the child makes of `files`, in order; a file that kills it costs only itself.

    What is not read after `timeout_s` is given up.
    """
    deadline = time.monotonic() + timeout_s
    results: list[Parsed] = []
    while len(results) < len(files):
        left_s = deadline - time.monotonic()
        if left_s > 0:
            results += _run(files[len(results) :], limits, left_s)
        else:
            results.append(Parsed(error="not read: the files before it took too long"))
    return results


def _run(files: Sequence[tuple[Kind, BinaryIO]], limits: Limits, timeout_s: float) -> list[Parsed]:
    """The results up to the first file that the child did not survive, at least one."""
    with tempfile.TemporaryFile(prefix="leadhand-text-") as output:
        status = _call(files, output, limits, timeout_s)
        output.seek(0)
        if not output.readline() and status is not None:
            raise ToolError(f"the reader of documents did not start (exit status {status})")
        results, finished = _read(output, len(files))
    if len(results) == len(files) and finished:
        return results
    if finished:
        results.append(Parsed())
    last, why = results[-1], _end(status, limits, timeout_s)
    if last.pages:
        last.cut = f"the rest was not read: {why}"
    else:
        last.error = f"it could not be read: {why}"
    return results


def _end(status: int | None, limits: Limits, timeout_s: float) -> str:
    """What the child came to its end of, in words."""
    match status:
        case None:
            return f"it was not done after {timeout_s:.0f} s"
        case _ if status == -signal.SIGPROF:
            return f"it takes more than {limits.cpu_s:g} s of work"
        case _:
            return f"it takes more than {size_text(limits.memory_bytes)} of memory"


def _call(
    files: Sequence[tuple[Kind, BinaryIO]], output: IO[bytes], limits: Limits, timeout_s: float
) -> int | None:
    """Runs the child over `files` and gives its exit status, none if it was stopped in time."""
    numbers = [stream.fileno() for _, stream in files]
    tasks = [f"{kind}:{number}" for (kind, _), number in zip(files, numbers, strict=True)]
    amounts = [str(limits.cpu_s), str(limits.memory_bytes), str(limits.output_bytes)]
    try:
        return subprocess.run(
            # -P: the folder that the user is in may hold a module of any name.
            [sys.executable, "-P", "-m", "leadhand.tools.files.child", *amounts, *tasks],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            pass_fds=numbers,
            timeout=timeout_s,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise ToolError(f"the reader of documents could not be started: {error}") from error


def _environment() -> dict[str, str]:
    """What Python needs to find its modules; the keys and tokens of the user stay here."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _read(output: IO[bytes], count: int) -> tuple[list[Parsed], bool]:
    """The results that were printed, and whether the last of them is whole."""
    results: list[Parsed] = []
    finished = True
    for line in _lines(output):
        if finished:
            if len(results) == count:
                break
            results.append(Parsed())
            finished = False
        last = results[-1]
        if "page" in line:
            last.pages.append(line["page"])
        last.cut = line.get("cut", last.cut)
        last.error = line.get("error", last.error)
        finished = line.get("done", False)
    return results, finished


def _lines(output: IO[bytes]) -> Iterator[_Line]:
    for line in output:
        if not line.endswith(b"\n"):
            return  # The child was stopped in the middle of it.
        yield cast("_Line", json.loads(line))
