"""A database in a private folder, which only child processes open, from any number of threads.

Each request runs in a new process (see `child`), which ends with its reply or by its limits.
"""

import json
import signal
import subprocess
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, Final, Literal, Unpack, cast

from leadhand.tools.child_process import exit_description, python_command
from leadhand.tools.scratch import new_scratch_folder, remove_scratch_folder
from leadhand.tools.sql.messages import MEMORY_LIMIT_BYTES, Row, SqlDetails, SqlReply, SqlRequest
from leadhand.tools.text import is_binary, size_text

_COPY_BYTES: Final = 1 << 20
_THREADS: Final = 2


RunRequest = Callable[[SqlRequest, Path, float], tuple[int, bytes]]
"""Returns the exit status and the output. Raises `subprocess.TimeoutExpired` and `OSError`."""


class RequestFailed(Exception):
    """A request failed; the message is one line."""


def in_new_process(request: SqlRequest, folder: Path, timeout_s: float) -> tuple[int, bytes]:
    done = subprocess.run(
        python_command("from leadhand.tools.sql.child import main; main()", "-W", "ignore"),
        input=json.dumps(request).encode(),
        capture_output=True,
        cwd=folder,
        # Without our environment, which queries could read.
        env={"HOME": str(folder)},
        timeout=timeout_s,
        start_new_session=True,
        check=False,
    )
    return done.returncode, done.stdout


class Database:
    def __init__(self, answer: RunRequest = in_new_process) -> None:
        self._answer = answer
        self._folder = new_scratch_folder("leadhand-sql-")
        self._file = self._folder / "tables.duckdb"
        self._closed = threading.Event()
        # Deleted when the program ends, if it was not closed.
        self._remove = weakref.finalize(self, remove_scratch_folder, self._folder)

    def load(
        self, table: str, kind: str, source: BinaryIO, *, max_bytes: int, timeout_s: float
    ) -> SqlReply:
        """Raises `RequestFailed`."""
        copy = self._folder / f"{table}.{kind}"
        try:
            _copy(source, copy, kind=kind, max_bytes=max_bytes)
            return self._ask("load", timeout_s, file=str(copy), kind=kind, table=table)
        finally:
            copy.unlink(missing_ok=True)

    def query(self, statement: str, *, timeout_s: float) -> SqlReply:
        """Raises `RequestFailed`."""
        return self._ask("query", timeout_s, statements=[statement])

    def select(self, statements: Sequence[str], *, timeout_s: float) -> list[list[Row]]:
        """The rows of each of leadhand's own statements. Raises `RequestFailed`."""
        return self._ask("select", timeout_s, statements=list(statements)).get("results", [])

    def close(self) -> None:
        """Delete the folder; running requests fail."""
        self._closed.set()
        self._remove()

    def _ask(
        self, job: Literal["load", "query", "select"], timeout_s: float, **more: Unpack[SqlDetails]
    ) -> SqlReply:
        if self._closed.is_set():
            raise RequestFailed("the tables are closed")
        cpu_s = int(timeout_s * _THREADS) + 2
        request = SqlRequest(job=job, database=str(self._file), cpu_s=cpu_s, **more)
        try:
            status, output = self._answer(request, self._folder, timeout_s)
        except subprocess.TimeoutExpired:
            raise RequestFailed(
                f"it was not done after {timeout_s:.3g} s and was stopped"
            ) from None
        except OSError as error:
            raise RequestFailed(f"no process could be started for it: {error.strerror}") from error
        try:
            reply = cast("SqlReply", json.loads(output))
        except ValueError:
            raise RequestFailed(_lost(status, cpu_s)) from None
        if "error" in reply:
            raise RequestFailed(reply["error"])
        return reply


def _lost(status: int, cpu_s: int) -> str:
    if status == -signal.SIGXCPU:
        return f"it takes more than {cpu_s} s of processor time"
    limits = f"{size_text(MEMORY_LIMIT_BYTES)} of memory and {cpu_s} s of processor time"
    return f"its process {exit_description(status)}; its limits are {limits}"


def _copy(source: BinaryIO, copy: Path, *, kind: str, max_bytes: int) -> None:
    size = 0
    with copy.open("xb") as target:
        while chunk := source.read(_COPY_BYTES):
            if not size and kind != "parquet" and is_binary(chunk):
                raise RequestFailed("it is not UTF-8 text")
            size += len(chunk)
            if size > max_bytes:
                raise RequestFailed(f"it is larger than {max_bytes >> 20} MiB")
            target.write(chunk)
    if not size:
        raise RequestFailed("it is empty")
