"""Reads a patch until the time for reading is up (F42).

A pipe may never deliver anything, and a device has no end, so every read has that time limit.
"""

import io
import os
import select
from pathlib import Path
from typing import IO, cast

from leadhand.tools.git.process import OutOfTime, reading_time_left_s

_READ_BYTES = 1 << 16
_POLL_S = 3600.0
"""The longest single wait, because `poll` takes no infinite one in milliseconds."""


def open_patch(file: Path) -> IO[bytes]:
    """Open `file` for reading, without blocking on a named pipe. Raises `OSError`."""
    opened = open(  # noqa: SIM115 - the caller closes it
        file, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)
    )
    os.set_blocking(opened.fileno(), True)
    return opened


def within_time(source: IO[bytes]) -> IO[bytes]:
    """`source`, whose reads raise `OutOfTime` once the time for reading is up."""
    return io.BufferedReader(_Timed(source), _READ_BYTES)


class _Timed(io.RawIOBase):
    def __init__(self, source: IO[bytes]) -> None:
        self._source = cast("io.BufferedReader", source)
        self._poll: select.poll | None = None
        try:
            descriptor = source.fileno()
        except (OSError, ValueError):  # a buffer in memory, which never blocks
            return
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        view = memoryview(cast("bytearray", buffer))
        # `read1` leaves nothing in the source's own, smaller buffer, which `poll` would not see.
        self._wait()
        found = self._source.read1(len(view))
        view[: len(found)] = found
        return len(found)

    def _wait(self) -> None:
        while True:
            left_s = reading_time_left_s()
            if left_s <= 0:
                raise OutOfTime
            if self._poll is None or self._poll.poll(min(left_s, _POLL_S) * 1000):
                return
