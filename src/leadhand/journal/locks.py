"""Locks on files, which end with their process: the right to write a run."""

import contextlib
import datetime as dt
import fcntl
import json
import os
import socket
import time
import urllib.parse
from collections.abc import Generator
from pathlib import Path

from leadhand.errors import JournalError, RunTaken

_SUFFIX = ".lock"
_PATIENCE_S = 5.0
"""How long `hold` retries while other processes only look whether the lock is taken."""


class Locks:
    def __init__(self, folder: Path) -> None:
        """The folder is created with the first lock."""
        self._folder = folder

    @contextlib.contextmanager
    def hold(self, run_id: str) -> Generator[None]:
        """Raises `RunTaken`, or `JournalError`."""
        path = self._path(run_id)
        try:
            self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            descriptor = _locked(path)
        except OSError as error:
            raise JournalError(f"run {run_id!r} can't be locked: {error}") from None
        if descriptor is None:
            raise RunTaken(run_id, _await_holder(path))
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                if _is(descriptor, path):  # others that opened it meanwhile notice this
                    path.unlink()
            os.close(descriptor)

    def holder(self, run_id: str) -> str | None:
        """The process that holds a run, described in words; `None` if none does."""
        path = self._path(run_id)
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise JournalError(
                f"can't find out which process has run {run_id!r}: {error}"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _holder_in(path)
        finally:
            os.close(descriptor)
        return None  # left behind by a process that was killed

    def held(self) -> frozenset[str]:
        """The runs that are held; much faster than `holder` for each of many."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            raise JournalError(f"can't find out which runs are held: {error}") from None
        ids = {urllib.parse.unquote(name[: -len(_SUFFIX)]) for name in names}
        return frozenset(id for id in ids if self.holder(id) is not None)

    def _path(self, run_id: str) -> Path:
        return self._folder / (urllib.parse.quote(run_id, safe=":") + _SUFFIX)


def _locked(path: Path) -> int | None:
    """A locked descriptor of the file, which names this process; `None` if it is taken."""
    until_s = time.monotonic() + _PATIENCE_S
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            taken = not _only_looked_at(descriptor)
            os.close(descriptor)
            if taken or time.monotonic() > until_s:
                return None
            time.sleep(0.001)
            continue
        if _is(descriptor, path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, _this_process(), 0)
            return descriptor
        os.close(descriptor)  # it was deleted meanwhile


def _only_looked_at(descriptor: int) -> bool:
    """Whether a file is locked only by `holder`, which takes a shared lock for a moment."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _this_process() -> bytes:
    since = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}).encode()


def _await_holder(path: Path) -> str:
    """The holder that a lock file names, once a holder that has just locked it is written."""
    until_s = time.monotonic() + _PATIENCE_S
    with contextlib.suppress(FileNotFoundError):  # the holder has ended
        while not path.stat().st_size and time.monotonic() < until_s:
            time.sleep(0.001)
    return _holder_in(path)


def _holder_in(path: Path) -> str:
    try:
        who = json.loads(path.read_bytes())
        since = dt.datetime.fromisoformat(who["since"]).astimezone()
        return describe_holder(who["pid"], who["host"], since)
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"  # it is just locking or unlocking the file


def describe_holder(pid: int, host: str, since: dt.datetime) -> str:
    """The holder of a run in words; with the day if it is not today."""
    today = since.date() == dt.datetime.now(since.tzinfo).date()
    return f"process {pid} on {host}, since {since:{'%H:%M' if today else '%Y-%m-%d %H:%M'}}"
