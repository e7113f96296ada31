"""The right to write a run: a lock on a file, which ends with the process however that ends.

Within one process it keeps out a second one too. What the file holds is for people to read.
"""

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
"""How long a hold is tried again while others look whether there is one, a moment each."""


class Locks:
    """The locks of the runs that are kept in one folder."""

    def __init__(self, folder: Path) -> None:
        """The folder is made with the first lock."""
        self._folder = folder

    @contextlib.contextmanager
    def hold(self, run_id: str) -> Generator[None]:
        """Hold a run for as long as the block lasts. Raises `RunTaken`, or `JournalError`."""
        path = self._path(run_id)
        try:
            self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            descriptor = _locked(path)
        except OSError as error:
            raise JournalError(f"run {run_id!r} can't be locked: {error}") from None
        if descriptor is None:
            raise RunTaken(run_id, _named(path))
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                if _is(descriptor, path):  # whoever opened it meanwhile will see that it is gone
                    path.unlink()
            os.close(descriptor)

    def holder(self, run_id: str) -> str | None:
        """Who holds a run, in words; none where nobody does. Takes nothing."""
        path = self._path(run_id)
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise JournalError(f"who has run {run_id!r} can't be told: {error}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _words(path)
        finally:
            os.close(descriptor)
        return None  # left behind by a process that was killed

    def held(self) -> frozenset[str]:
        """The runs that somebody holds; much faster than to ask about each of many."""
        try:
            names = os.listdir(self._folder)
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            raise JournalError(f"who has which run can't be told: {error}") from None
        ids = {urllib.parse.unquote(name[: -len(_SUFFIX)]) for name in names}
        return frozenset(id for id in ids if self.holder(id) is not None)

    def _path(self, run_id: str) -> Path:
        return self._folder / (urllib.parse.quote(run_id, safe=":") + _SUFFIX)


def _locked(path: Path) -> int | None:
    """A descriptor of the file, locked, with this process in it; none where another has it."""
    give_up_s = time.monotonic() + _PATIENCE_S
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            taken = not _only_looked_at(descriptor)
            os.close(descriptor)
            if taken or time.monotonic() > give_up_s:
                return None
            time.sleep(0.001)
            continue
        if _is(descriptor, path):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, _this_process(), 0)
            return descriptor
        os.close(descriptor)  # it was taken away meanwhile


def _only_looked_at(descriptor: int) -> bool:
    """Whether those who lock a file only look at it, as `holder` does for a moment."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _this_process() -> bytes:
    since = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}).encode()


def _named(path: Path) -> str:
    """Who a lock's file names, as soon as the holder, who has only just locked it, is written."""
    give_up_s = time.monotonic() + _PATIENCE_S
    with contextlib.suppress(FileNotFoundError):  # the holder has ended
        while not path.stat().st_size and time.monotonic() < give_up_s:
            time.sleep(0.001)
    return _words(path)


def _words(path: Path) -> str:
    """Who a lock's file names."""
    try:
        who = json.loads(path.read_bytes())
        since = dt.datetime.fromisoformat(who["since"]).astimezone()
        return describe_holder(who["pid"], who["host"], since)
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"  # it has only just begun, or is about to end


def describe_holder(pid: int, host: str, since: dt.datetime) -> str:
    """Who holds a run, as people are told; the day only where it is another one."""
    today = since.date() == dt.datetime.now(since.tzinfo).date()
    return f"process {pid} on {host}, since {since:{'%H:%M' if today else '%Y-%m-%d %H:%M'}}"
