"""Runs git so that nothing of the repository it reads can make it do anything.

Row F25 of the faults: git is only ever started with leadhand's own bare repository as `GIT_DIR`, in
that folder, with an environment made from nothing. It sees no configuration but that repository's,
so there is no fsmonitor, external diff, text conversion, filter, hook or promisor remote to start.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import IO, cast

from leadhand.errors import InputError, ToolError

STREAM_BYTES = 1 << 16
ALLOC_LIMIT = "512m"
"""The most that git takes at once: an object that unpacks to gigabytes ends in an error."""
_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_STDERR_BYTES = 4000
_MISSING = re.compile(
    r"unable to read|bad object|could not read|missing (?:blob|tree|commit|object)"
    r"|unable to find|not a valid object|cannot read|could not fetch|invalid object",
    re.IGNORECASE,
)


class GitFailed(ToolError):
    """git ended with an error; carries the command's name, its exit status and what it said."""

    def __init__(self, command: str, status: int, said: str) -> None:
        self.command = command
        self.status = status
        self.said = said
        first = said.strip().split("\n", 1)[0] or f"exit status {status}"
        super().__init__(f"git {command} failed: {first}")


class GitTimeout(ToolError):
    """git was stopped because it took too long."""

    def __init__(self, command: str, timeout_s: float) -> None:
        self.command = command
        self.timeout_s = timeout_s
        super().__init__(f"git {command} was stopped after {timeout_s:g} s; try a smaller range")


def checked_id(text: str) -> str:
    """`text` where it is a full object id, so that nothing else ever reaches git as an argument."""
    if not _ID.match(text):
        raise InputError(f"{text[:80]!r} is not a full object id; resolve it to one first")
    return text


def environment(git_dir: Path) -> dict[str, str]:
    """The whole environment git gets; of the user's own there is only where programs are."""
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
def stream(
    git_dir: Path,
    *args: str,
    given: bytes = b"",
    timeout_s: float = 60.0,
    ok: Sequence[int] = (0,),
    extra: dict[str, str] | None = None,
    warnings: list[str] | None = None,
) -> Generator[IO[bytes]]:
    """The standard output of `git *args`, as it comes; `given` is its standard input.

    `warnings` gets the last lines that it writes to standard error. Leaving the block early stops
    git and is no error. Raises `GitTimeout`, `GitFailed`, or, where objects are missing,
    `InputError`.
    """
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        process = _start(git_dir, args, source, errors, extra or {})
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        watchdog = threading.Timer(timeout_s, stop)
        watchdog.daemon = True
        watchdog.start()
        output = cast("IO[bytes]", process.stdout)
        try:
            yield output
            early = bool(output.read(1))
            if early:
                process.kill()
        except BaseException:
            process.kill()
            raise
        finally:
            output.close()
            process.wait()
            watchdog.cancel()
        if late.is_set():
            raise GitTimeout(args[0], timeout_s)
        if not early and process.returncode not in ok:
            raise _failure(args[0], process.returncode, _tail(errors))
        if warnings is not None:
            warnings.extend(_tail(errors).splitlines())


def output(
    git_dir: Path,
    *args: str,
    given: bytes = b"",
    timeout_s: float = 60.0,
    ok: Sequence[int] = (0,),
    extra: dict[str, str] | None = None,
    warnings: list[str] | None = None,
    max_bytes: int = 1 << 28,
) -> bytes:
    """All that `git *args` prints; `ToolError` where it is more than `max_bytes`. See `stream`."""
    chunks: list[bytes] = []
    with stream(
        git_dir, *args, given=given, timeout_s=timeout_s, ok=ok, extra=extra, warnings=warnings
    ) as printed:
        while chunk := printed.read(STREAM_BYTES):
            chunks.append(chunk)
            max_bytes -= len(chunk)
            if max_bytes < 0:
                raise ToolError(f"git {args[0]} printed too much; try a smaller range")
    return b"".join(chunks)


def _start(
    git_dir: Path, args: Sequence[str], source: IO[bytes], errors: IO[bytes], extra: dict[str, str]
) -> subprocess.Popen[bytes]:
    program = shutil.which("git", path=os.pathsep.join(_search_path()))
    if program is None:
        raise ToolError("git is not installed, or not on PATH: install git 2.25 or later")
    return subprocess.Popen(
        [program, "--no-pager", *args],
        cwd=git_dir,
        env=environment(git_dir) | extra,
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=errors,
        bufsize=STREAM_BYTES,
    )


def _search_path() -> list[str]:
    """The absolute folders of PATH: a relative one would find programs of the reviewed tree."""
    given = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [folder for folder in given if os.path.isabs(folder)]


def _tail(errors: IO[bytes]) -> str:
    size = errors.seek(0, io.SEEK_END)
    errors.seek(max(0, size - _STDERR_BYTES))
    return errors.read().decode("utf-8", errors="replace")


def missing_objects(what: str) -> InputError:
    """The error for objects that the clone under review does not have; `what` ends in is or are."""
    return InputError(
        f"{what} missing in this repository (a partial, shallow or damaged clone), and leadhand "
        "fetches nothing: run `git fetch --unshallow` or `git fetch --refetch` there, or review "
        "a range that is complete"
    )


def _failure(command: str, status: int, said: str) -> Exception:
    if _MISSING.search(said):
        return missing_objects("objects that this needs are")
    return GitFailed(command, status, said)
