"""Parses PDF, Word and HTML files in processes of their own: a hostile file harms no other (F23).

The parsers are pure Python and a crafted file of a few kilobytes can keep them busy for hours. So
they run in `child`, a few processes at once, with little memory, and each file has a share of the
time that is left (F43); what was printed until then is kept. Nothing is parsed in this process but
the lines that the child prints.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from types import TracebackType
from typing import IO, BinaryIO, Final, Self, TypedDict, cast

from leadhand.engine.time_left import time_left_s
from leadhand.errors import ToolError
from leadhand.tools.child_process import exit_description
from leadhand.tools.files.child import DONE, NO_MEMORY, READY
from leadhand.tools.files.kinds import FileKind
from leadhand.tools.text import size_text

PARSED_KINDS: Final[tuple[FileKind, ...]] = ("pdf", "docx", "html")
"""The kinds that are parsed here."""

_KEPT: Final = ("LD_LIBRARY_PATH", "PYTHONHOME", "TMPDIR")
_SHARE: Final = 1 / 3
"""Of the time that is left, what one file may take."""
_FILES_PER_PROCESS: Final = 16
"""Then a new one takes its place, with all of its memory."""
_LOOK_S: Final = 0.25
"""How often it is looked at whether the attempt that reads has ended."""


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """What the processes may use."""

    cpu_s: float = 20.0
    """Of processor time for one file: a thousand pages of an honest PDF."""
    file_s: float = 30.0
    """Of time for one file, and never more than a third of what is left for all."""
    memory_bytes: int = 1 << 30
    """Of each process."""
    output_bytes: int = 256 << 20
    """Printed for one file."""
    processes: int = min(os.cpu_count() or 1, 4)
    """At work at once."""


class _Line(TypedDict, total=False):
    """One line that the child prints: a page, or how a file ended."""

    page: str
    cut: str
    error: str
    done: bool


@dataclass(slots=True)
class ParsedFile:
    """What came of one file."""

    pages: list[str] = field(default_factory=list[str])
    """One for each page of a PDF, in order; otherwise one in all."""
    cut: str | None = None
    """Why there may be more than `pages` hold, if so."""
    error: str | None = None
    """Why there is nothing, if so."""


@dataclass(slots=True, eq=False)
class ParseJob:
    """One file to be parsed."""

    kind: FileKind
    stream: BinaryIO
    parsed: ParsedFile | None = None


class ParserPool:
    """Parses files in up to `limits.processes` processes; none is left after the block.

    Belongs to one thread. The work goes on between calls, but only a call hands out the next file.
    """

    def __init__(
        self, limits: ParserLimits, *, timeout_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """What is not read after `timeout_s`, by `clock`, is given up."""
        self._limits = limits
        self._clock = clock
        self._until_s = clock() + timeout_s
        self._queue: deque[ParseJob] = deque()
        self._idle: list[_Process] = []
        self._busy: list[_Process] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in (*self._busy, *self._idle):
            process.kill()

    def add(self, kind: FileKind, stream: BinaryIO) -> ParseJob:
        """Parse `stream` as soon as a process is free; it must stay open until the result."""
        job = ParseJob(kind, stream)
        self._queue.append(job)
        self._hand_out()
        return job

    def result(self, job: ParseJob) -> ParsedFile:
        """What came of `job`; a file that kills its process costs only itself.

        Raises `ToolError` where the attempt that reads has ended.
        """
        while job.parsed is None:
            self._hand_out()
            self._look()
        return job.parsed

    def _hand_out(self) -> None:
        while self._queue and (self._idle or len(self._busy) < self._limits.processes):
            job = self._queue.popleft()
            if self._until_s <= self._clock():
                job.parsed = ParsedFile(error="not read: the files before it took too long")
                continue
            process = self._idle.pop() if self._idle else self._started()
            self._busy.append(process)
            process.give(job, self._until_s)

    def _started(self) -> "_Process":
        return _Process(self._limits, self._until_s, self._clock)

    def _look(self) -> None:
        """Wait for news of a process, or for the end of its time."""
        if time_left_s() <= 0:
            raise ToolError("reading was stopped, as the task that it was for has ended")
        now_s = self._clock()
        left_s = min([process.due_s for process in self._busy], default=now_s) - now_s
        ready = wait([one.channel for one in self._busy], min(max(left_s, 0), _LOOK_S))
        for process in tuple(self._busy):
            if process.channel in ready:
                process.hear(self._until_s)
            elif process.due_s <= self._clock():
                process.stop()
            if process.job is None:
                self._busy.remove(process)
                if process.is_usable:
                    self._idle.append(process)
                else:
                    process.kill()


class _Process:
    """One child, the channel to it, and the file that it is at."""

    def __init__(self, limits: ParserLimits, until_s: float, clock: Callable[[], float]) -> None:
        self.job: ParseJob | None = None
        self.due_s = until_s
        self.is_usable = True
        self._limits = limits
        self._clock = clock
        self._budget_s: float | None = None
        """What the file has; none until the child is there."""
        self._is_there = False
        self._files = 0
        self._output: IO[bytes] | None = None
        self.channel, theirs = socket.socketpair()
        with theirs:
            amounts = map(str, (limits.cpu_s, limits.memory_bytes, limits.output_bytes))
            # -P: the folder that the user is in may hold a module of any name.
            module = [sys.executable, "-P", "-m", "leadhand.tools.files.child"]
            try:
                self._child = subprocess.Popen(
                    [*module, str(theirs.fileno()), *amounts],
                    env=_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            except OSError as error:
                self.channel.close()
                raise ToolError(f"the reader of documents could not be started: {error}") from error

    def give(self, job: ParseJob, until_s: float) -> None:
        """Have it parse `job`."""
        self.job, self.due_s = job, until_s
        self._files += 1
        self._output = tempfile.TemporaryFile(prefix="leadhand-text-")  # noqa: SIM115
        numbers = [job.stream.fileno(), self._output.fileno()]
        with suppress(ConnectionError):  # It has ended, which `hear` finds out.
            socket.send_fds(self.channel, [job.kind.encode()], numbers)
        if self._is_there:
            self._begin(until_s)

    def hear(self, until_s: float) -> None:
        """Take what it says: that it is there, that the file is done, or that it has ended."""
        try:
            said = self.channel.recv(16)
        except ConnectionError:
            said = b""
        if READY in said:
            self._is_there = True
            self._begin(until_s)
        if DONE in said:
            self.is_usable = self._files < _FILES_PER_PROCESS
            self._finish("")
        elif not said:
            status = self._child.wait()
            if not self._is_there:
                raise ToolError(f"the reader of documents did not start (exit status {status})")
            self._fail(self._why(status))

    def stop(self) -> None:
        """End it: the time for its file is up. What it printed is kept."""
        self._child.kill()
        if self._budget_s is None:
            self._fail("its reader did not start in time")
        else:
            self._fail(f"it was not done after the {self._budget_s:.3g} s that it had")

    def kill(self) -> None:
        """End it, if it has not ended."""
        self._child.kill()
        self._child.wait()
        self.channel.close()
        if self._output is not None:
            self._output.close()

    def _begin(self, until_s: float) -> None:
        now_s = self._clock()
        self._budget_s = min(self._limits.file_s, _SHARE * (until_s - now_s))
        self.due_s = now_s + self._budget_s

    def _why(self, status: int) -> str:
        """What the child came to its end of, in words."""
        if status == -signal.SIGPROF:
            return f"it takes more than {self._limits.cpu_s:g} s of work"
        if status == NO_MEMORY:
            return f"it takes more than {size_text(self._limits.memory_bytes)} of memory"
        return f"its reader {exit_description(status)}"

    def _fail(self, why: str) -> None:
        self.is_usable = False
        self._finish(why)

    def _finish(self, why: str) -> None:
        """Read what was printed of the file; `why` is there unless it was done."""
        assert self.job is not None
        assert self._output is not None
        with self._output as output:
            output.seek(0)
            parsed = _read(output)
        if why and parsed.pages:
            parsed.cut = f"the rest was not read: {why}"
        elif why:
            parsed.error = f"it could not be read: {why}"
        self.job.parsed = parsed
        self.job = self._output = self._budget_s = None


def parse_file(
    kind: FileKind, stream: BinaryIO, *, limits: ParserLimits, timeout_s: float
) -> ParsedFile:
    """What comes of one file, which has all of `timeout_s` for itself."""
    with ParserPool(limits, timeout_s=timeout_s / _SHARE) as parsers:
        return parsers.result(parsers.add(kind, stream))


def _environment() -> dict[str, str]:
    """What Python needs to find its modules; the keys and tokens of the user stay here."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _read(output: IO[bytes]) -> ParsedFile:
    """What was printed."""
    result = ParsedFile()
    for line in _lines(output):
        if "page" in line:
            result.pages.append(line["page"])
        result.cut = line.get("cut", result.cut)
        result.error = line.get("error", result.error)
    return result


def _lines(output: IO[bytes]) -> Iterator[_Line]:
    for line in output:
        if not line.endswith(b"\n"):
            return  # The child was stopped in the middle of it.
        yield cast("_Line", json.loads(line))
