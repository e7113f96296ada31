"""Opening an SQLite file: the first process to do so finds out whether its log is damaged (F53).

Each holds a shared lock on the folder meanwhile: closing the file itself would end SQLite's locks.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Generator
from pathlib import Path

from leadhand.errors import JournalError, JournalLocked
from leadhand.journal.sqlite_log import hides_transactions


@contextlib.contextmanager
def opening(path: Path, limit_s: float, *, accept_loss: bool = False) -> Generator[str | None]:
    """Lets the block open the file. Yields what is wrong with a damaged log.

    Then the file may only be read, except with `accept_loss`: the block has it alone. Raises
    `JournalError` if others take longer than `limit_s`, or without a copy of what gets lost.
    """
    with contextlib.ExitStack() as held:
        users = held.enter_context(_folder(path.parent))
        with contextlib.ExitStack() as checking:
            gate = path.parent / "locks"
            gate.mkdir(mode=0o700, exist_ok=True)
            _lock(checking.enter_context(_folder(gate)), path, limit_s)
            damage = None
            with contextlib.suppress(BlockingIOError):  # others have it open: they have checked it
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                damage = _damage(path, copied=accept_loss)
            # Who only reads a damaged file changes nothing, so the next one checks it again.
            fcntl.flock(users, fcntl.LOCK_UN if damage else fcntl.LOCK_SH)
            if damage and accept_loss:
                held.push(checking.pop_all())
        yield damage


@contextlib.contextmanager
def _folder(path: Path) -> Generator[int]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path, limit_s: float) -> None:
    until_s = time.monotonic() + limit_s
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until_s:
                why = "another process checks it; wait for that process, or end it"
                raise JournalLocked(f"{path} can't be opened: {why}") from None
            time.sleep(0.001)


def _damage(path: Path, *, copied: bool) -> str | None:
    """What is wrong with the log, after the file and the log are copied; None if it is sound."""
    log = path.with_name(f"{path.name}-wal")
    # A program that does not know these locks may be writing: what is damage stays so.
    if not log.is_file() or not all(hides_transactions(log.read_bytes()) for _ in range(2)):
        return None
    copy = path.parent / "damaged" / hashlib.sha256(log.read_bytes()).hexdigest()[:8]
    kept = f"a copy is in {copy}"
    try:
        if not copy.exists():
            part = copy.with_suffix(".part")
            part.mkdir(mode=0o700, parents=True, exist_ok=True)
            for file in (path, log):
                shutil.copy(file, part)
            os.sync()
            part.rename(copy)
    except OSError as error:
        kept = f"it can't be copied ({error.strerror})"
        if copied:
            raise JournalError(f"the log of {path} is damaged, and {kept}") from error
    return f"the log of {path} is damaged before its last transactions; {kept}"
