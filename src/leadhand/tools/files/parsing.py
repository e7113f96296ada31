"""Parses documents (`PARSED_KINDS`) in child processes, so that a hostile one harms no other (F23).

A crafted file of a few kilobytes can keep a parser busy for hours. Each file gets a share of the
remaining time (F43); pages parsed until then are kept. This process parses only JSON lines.
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
from typing import IO, BinaryIO, Final, Self, TypedDict, cast

from leadhand.engine.current_attempt import time_left_s
from leadhand.errors import ToolError
from leadhand.tools.child_process import exit_description
from leadhand.tools.files.child import DONE, NO_MEMORY, READY
from leadhand.tools.files.kinds import FileKind
from leadhand.tools.text import size_text

PARSED_KINDS: Final[tuple[FileKind, ...]] = ("pdf", "docx", "xlsx", "html")

_KEPT: Final = ("LD_LIBRARY_PATH", "PYTHONHOME", "TMPDIR")
_SHARE: Final = 1 / 3
"""The part of the remaining time that one file may take."""
_FILES_PER_PROCESS: Final = 16
"""Files after which a process is replaced, to free its memory."""
_POLL_S: Final = 0.25
"""How often to check whether the reading attempt has ended."""


@dataclass(frozen=True, slots=True)
class ParserLimits:
    cpu_s: float = 20.0
    """Processor time for one file: enough for a normal PDF of a thousand pages."""
    file_s: float = 30.0
    """Time for one file; never more than a third of the remaining time."""
    memory_bytes: int = 1 << 30
    processes: int = min(os.cpu_count() or 1, 4)


class _Line(TypedDict, total=False):
    page: str
    cut: str
    error: str
    done: bool


@dataclass(slots=True)
class ParsedFile:
    pages: list[str] = field(default_factory=list[str])
    """The pages of a PDF or the sheets of a spreadsheet, in order; one for other formats."""
    cut: str | None = None
    error: str | None = None


@dataclass(slots=True, eq=False)
class ParseJob:
    kind: FileKind
    stream: BinaryIO
    parsed: ParsedFile | None = None


class ParserPool:
    """Up to `limits.processes` processes, which end with the block. For one thread."""

    def __init__(
        self, limits: ParserLimits, *, timeout_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Files that are not parsed after `timeout_s`, by `clock`, are abandoned."""
        self._limits = limits
        self._clock = clock
        self._until_s = clock() + timeout_s
        self._queue: deque[ParseJob] = deque()
        self._idle: list[_Process] = []
        self._busy: list[_Process] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in (*self._busy, *self._idle):
            process.kill()

    def add(self, kind: FileKind, stream: BinaryIO) -> ParseJob:
        """Parse `stream` as soon as a process is free; keep it open until the result."""
        job = ParseJob(kind, stream)
        self._queue.append(job)
        self._hand_out()
        return job

    def result(self, job: ParseJob) -> ParsedFile:
        """A file that kills its process affects no other. Raises `ToolError` at its end."""
        while job.parsed is None:
            self._hand_out()
            self._wait()
        return job.parsed

    def _hand_out(self) -> None:
        while self._queue and (self._idle or len(self._busy) < self._limits.processes):
            job = self._queue.popleft()
            if self._until_s <= self._clock():
                job.parsed = ParsedFile(error="not read: the files before it took too long")
                continue
            if self._idle:
                process = self._idle.pop()
            else:
                process = _Process(self._limits, self._until_s, self._clock)
            self._busy.append(process)
            process.give(job, self._until_s)

    def _wait(self) -> None:
        if time_left_s() <= 0:
            raise ToolError("reading was stopped, as the task that it was for has ended")
        now_s = self._clock()
        left_s = min([process.due_s for process in self._busy], default=now_s) - now_s
        ready = wait([one.channel for one in self._busy], min(max(left_s, 0), _POLL_S))
        for process in tuple(self._busy):
            if process.channel in ready:
                process.receive(self._until_s)
            elif process.due_s <= self._clock():
                process.stop()
            if process.job is None:
                self._busy.remove(process)
                if process.is_usable:
                    self._idle.append(process)
                else:
                    process.kill()


class _Process:
    def __init__(self, limits: ParserLimits, until_s: float, clock: Callable[[], float]) -> None:
        self.job: ParseJob | None = None
        self.due_s = until_s
        self.is_usable = True
        self._limits = limits
        self._clock = clock
        self._budget_s: float | None = None
        """The time limit of the file; None until the child has started."""
        self._is_started = False
        self._files = 0
        self._output: IO[bytes] | None = None
        self.channel, theirs = socket.socketpair()
        with theirs:
            amounts = map(str, (limits.cpu_s, limits.memory_bytes))
            # -P, because the current folder may hold a module of any name.
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
        self.job, self.due_s = job, until_s
        self._files += 1
        self._output = tempfile.TemporaryFile(prefix="leadhand-text-")  # noqa: SIM115
        numbers = [job.stream.fileno(), self._output.fileno()]
        with suppress(ConnectionError):  # It has ended, which `receive` finds out.
            socket.send_fds(self.channel, [job.kind.encode()], numbers)
        if self._is_started:
            self._start_timer(until_s)

    def receive(self, until_s: float) -> None:
        """Read its message: it has started, the file is done, or it ended."""
        try:
            message = self.channel.recv(16)
        except ConnectionError:
            message = b""
        if READY in message:
            self._is_started = True
            self._start_timer(until_s)
        if DONE in message:
            self.is_usable = self._files < _FILES_PER_PROCESS
            self._finish("")
        elif not message:
            status = self._child.wait()
            if not self._is_started:
                raise ToolError(f"the reader of documents did not start (exit status {status})")
            self._fail(self._why(status))

    def stop(self) -> None:
        """End it because the time for its file is up; its output so far is kept."""
        self._child.kill()
        if self._budget_s is None:
            self._fail("its reader did not start in time")
        else:
            self._fail(f"it was not done after the {self._budget_s:.3g} s that it had")

    def kill(self) -> None:
        self._child.kill()
        self._child.wait()
        self.channel.close()
        if self._output is not None:
            self._output.close()

    def _start_timer(self, until_s: float) -> None:
        now_s = self._clock()
        self._budget_s = min(self._limits.file_s, _SHARE * (until_s - now_s))
        self.due_s = now_s + self._budget_s

    def _why(self, status: int) -> str:
        if status == -signal.SIGPROF:
            return f"it takes more than {self._limits.cpu_s:g} s of work"
        if status == NO_MEMORY:
            return f"it takes more than {size_text(self._limits.memory_bytes)} of memory"
        return f"its reader {exit_description(status)}"

    def _fail(self, why: str) -> None:
        self.is_usable = False
        self._finish(why)

    def _finish(self, why: str) -> None:
        """Read the output for the file; `why` says why it is incomplete, or is empty."""
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
    """The result for a single file, which may take all of `timeout_s`."""
    with ParserPool(limits, timeout_s=timeout_s / _SHARE) as parsers:
        return parsers.result(parsers.add(kind, stream))


def _environment() -> dict[str, str]:
    """The variables that Python needs, without the user's keys and tokens."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def _read(output: IO[bytes]) -> ParsedFile:
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
            return  # The child was stopped in the middle of the line.
        yield cast("_Line", json.loads(line))
