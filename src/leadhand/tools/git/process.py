"""Runs git so that the repository that it reads can't make it run anything (F25).

Git runs in leadhand's own bare repository, with a new environment and no other configuration: no
fsmonitor, external diff, text conversion, filter, hook or promisor remote can start.
"""

import contextlib
import contextvars
import io
import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import IO, cast

from leadhand.errors import InputError, ToolError
from leadhand.tools.child_process import exit_description, limit_data
from leadhand.untrusted.cutting import cut

STREAM_BYTES = 1 << 16
ALLOC_LIMIT = "512m"
"""The most memory that git allocates at once: an object of gigabytes is an error."""
DATA_LIMIT = 2 << 30
"""Bytes of memory of a git process, without packs mapped from disk. Only Linux has such a limit."""
_until_s: contextvars.ContextVar[float] = contextvars.ContextVar("until_s", default=math.inf)
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_STDERR_BYTES = 4000
_MAX_OUTPUT_BYTES = 1 << 28
_MISSING = re.compile(
    r"unable to read|bad object|could not read|missing (?:blob|tree|commit|object)"
    r"|unable to find|not a valid object|cannot read|could not fetch|invalid object",
    re.IGNORECASE,
)


class GitFailed(ToolError):
    def __init__(self, command: str, status: int, stderr: str) -> None:
        self.command = command
        self.status = status
        self.stderr = stderr
        first = stderr.strip().split("\n", 1)[0] or f"exit status {status}"
        how = exit_description(status) if status < 0 else f"failed: {first}"
        super().__init__(f"git {command} {how}")


class OutOfTime(ToolError):
    """The time that the deadline leaves for reading the change is up."""

    def __init__(self) -> None:
        super().__init__(
            "the change was not read within the time that the deadline leaves for reading; "
            "try a smaller one or a longer deadline"
        )


class GitTimeout(ToolError):
    """Git was stopped because it took too long, or because the time for reading was up."""

    def __init__(self, command: str, timeout_s: float, *, time_up: bool = False) -> None:
        self.command = command
        self.timeout_s = timeout_s
        self.time_up = time_up
        if time_up:
            how = "did not end within the time that the deadline leaves for reading"
        else:
            how = f"was stopped after {timeout_s:.3g} s"
        super().__init__(f"git {command} {how}; try a smaller range or a longer deadline")


@contextlib.contextmanager
def reading_until(until_s: float) -> Generator[None]:
    """A block in which git and the reading of patches end at `until_s` of `time.monotonic`."""
    token = _until_s.set(min(until_s, _until_s.get()))
    try:
        yield
    finally:
        _until_s.reset(token)


def reading_time_left_s() -> float:
    """Seconds until the end of `reading_until`; infinite outside of it."""
    return _until_s.get() - time.monotonic()


def checked_id(text: str) -> str:
    """`text`, if it is a full object id; git gets no other text as an argument."""
    if not _ID.match(text):
        raise InputError(f"{cut(text, 80)!r} is not a full object id; resolve it to one first")
    return text


def environment(git_dir: Path) -> dict[str, str]:
    """All environment variables of git; only the search path is the user's."""
    home = str(git_dir)
    return {
        "PATH": os.pathsep.join(_search_path()),
        "LC_ALL": "C",
        "HOME": home,  # git before 2.32 does not know GIT_CONFIG_GLOBAL
        "XDG_CONFIG_HOME": home,
        "GIT_DIR": home,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_ALLOC_LIMIT": ALLOC_LIMIT,
    }


@contextlib.contextmanager
def stream_git(
    git_dir: Path,
    *args: str,
    stdin: bytes = b"",
    timeout_s: float = 60.0,
    ok: Sequence[int] = (0,),
    extra: dict[str, str] | None = None,
    warnings: list[str] | None = None,
) -> Generator[IO[bytes]]:
    """The standard output of `git *args`; the last lines of its errors are added to `warnings`.

    Leaving the block early stops git without an error. Raises `GitTimeout`, `GitFailed`, or
    `InputError` if objects are missing.
    """
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as source:
        source.write(stdin)
        source.seek(0)
        with _running(git_dir, args, source, errors, extra or {}, timeout_s) as process:
            run_git = cast("IO[bytes]", process.stdout)
            yield run_git
            early = bool(run_git.read(1))
            if early:
                process.kill()
        if not early and process.returncode not in ok:
            raise _failure(args[0], process.returncode, _tail(errors))
        if warnings is not None:
            warnings.extend(_tail(errors).splitlines())


@contextlib.contextmanager
def conversation(
    git_dir: Path, *args: str, timeout_s: float = 60.0
) -> Generator[tuple[IO[bytes], IO[bytes]]]:
    """The standard input and output of `git *args`, stopped at the end. Raises `GitTimeout`.
    Write at most what a pipe holds (64 KiB) before reading."""
    with (
        tempfile.TemporaryFile() as errors,
        _running(git_dir, args, subprocess.PIPE, errors, {}, timeout_s) as process,
    ):
        requests, answers = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        try:
            yield requests, answers
        except BrokenPipeError:
            process.wait()
            raise _failure(args[0], process.returncode, _tail(errors)) from None
        finally:
            process.kill()
            with contextlib.suppress(OSError):
                requests.close()


@contextlib.contextmanager
def _running(
    git_dir: Path,
    args: Sequence[str],
    source: IO[bytes] | int,
    errors: IO[bytes],
    extra: dict[str, str],
    timeout_s: float,
) -> Generator[subprocess.Popen[bytes]]:
    """A git process with limits of time and memory."""
    left_s = reading_time_left_s()
    timeout = GitTimeout(args[0], timeout_s, time_up=left_s < timeout_s)
    timeout_s = min(timeout_s, left_s)
    if timeout_s <= 0:
        raise timeout
    program = shutil.which("git", path=os.pathsep.join(_search_path()))
    if program is None:
        raise ToolError("git is not installed, or not on PATH: install git 2.25 or later")
    process = subprocess.Popen(
        [program, "--no-pager", *args],
        cwd=git_dir,
        env=environment(git_dir) | extra,
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=errors,
        bufsize=STREAM_BYTES,
    )
    _limit(process.pid, timeout_s)
    late = threading.Event()

    def stop() -> None:
        late.set()
        process.kill()

    watchdog = threading.Timer(timeout_s, stop)
    watchdog.daemon = True
    watchdog.start()
    try:
        yield process
    except BaseException as error:
        process.kill()
        if late.is_set() and isinstance(error, Exception):
            raise timeout from error
        raise
    finally:
        cast("IO[bytes]", process.stdout).close()
        process.wait()
        watchdog.cancel()
    if late.is_set():
        raise timeout


def _limit(pid: int, timeout_s: float) -> None:
    """Limit memory and CPU time, so that git ends even if we are killed."""
    limit_data(pid, DATA_LIMIT)
    if sys.platform == "linux":
        seconds = math.ceil(timeout_s) + 1
        with contextlib.suppress(OSError):  # it may have ended already
            resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds))


def run_git(
    git_dir: Path,
    *args: str,
    stdin: bytes = b"",
    timeout_s: float = 60.0,
    ok: Sequence[int] = (0,),
    extra: dict[str, str] | None = None,
    warnings: list[str] | None = None,
) -> bytes:
    """The output of `git *args`, see `stream_git`. Raises `ToolError` if it is too long."""
    max_bytes = _MAX_OUTPUT_BYTES
    chunks: list[bytes] = []
    with stream_git(
        git_dir, *args, stdin=stdin, timeout_s=timeout_s, ok=ok, extra=extra, warnings=warnings
    ) as printed:
        while chunk := printed.read(STREAM_BYTES):
            chunks.append(chunk)
            max_bytes -= len(chunk)
            if max_bytes < 0:
                raise ToolError(f"git {args[0]} printed too much; try a smaller range")
    return b"".join(chunks)


def split_stream(source: IO[bytes], end: bytes, rest: bytes = b"") -> Iterator[bytes]:
    """The parts of a stream that `end` separates, after `rest`, which was read already."""
    while chunk := source.read(STREAM_BYTES):
        *whole, rest = (rest + chunk).split(end)
        yield from whole
    yield from rest.split(end) if rest else ()


def _search_path() -> list[str]:
    """The absolute folders of PATH; relative ones could find programs of the reviewed tree."""
    given = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [folder for folder in given if os.path.isabs(folder)]


def _tail(errors: IO[bytes]) -> str:
    size = errors.seek(0, io.SEEK_END)
    errors.seek(max(0, size - _STDERR_BYTES))
    return errors.read().decode("utf-8", errors="replace")


def missing_objects_error(what: str) -> InputError:
    """The error for objects that the clone lacks; `what` ends in `is` or `are`."""
    return InputError(
        f"{what} missing in this repository (a partial, shallow or damaged clone), and leadhand "
        "fetches nothing: run `git fetch --unshallow` or `git fetch --refetch` there, or review "
        "a range that is complete"
    )


def _failure(command: str, status: int, stderr: str) -> Exception:
    if _MISSING.search(stderr):
        return missing_objects_error("objects that this needs are")
    return GitFailed(command, status, stderr)
