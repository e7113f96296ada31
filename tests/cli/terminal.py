"""A terminal in which `leadhand` runs, for tests: what it shows is read, keys are typed into it."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from types import TracebackType

CTRL_C, CTRL_D = "\x03", "\x04"
PATIENCE_S = 30.0
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\r")
# The terminal becomes the program's own, or its Ctrl-C would reach nobody.
_OWN = "import fcntl,os,sys,termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, [sys.executable, '-m', 'leadhand', *sys.argv[1:]])"  # noqa: E501


class Terminal:
    """A process of `leadhand ARGUMENTS` in a terminal of its own, 100 columns wide."""

    def __init__(self, *arguments: str, folder: Path, env: dict[str, str]) -> None:
        self._main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 100, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-c", _OWN, *arguments],
            cwd=folder,
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color", **env},
        )
        os.close(other)
        self._read = ""
        self._looked_at = 0

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._main)

    @property
    def text(self) -> str:
        """All that was shown, without colours and movements."""
        return _ESCAPES.sub("", self._read)

    def shows(self, text: str) -> None:
        """Wait until `text` is shown, after what was waited for before."""
        until_s = time.monotonic() + PATIENCE_S
        while (place := self.text.find(text, self._looked_at)) < 0:
            assert time.monotonic() < until_s, f"{text!r} is not in:\n{self.text}"
            assert self._more(until_s), f"it ended without {text!r}:\n{self.text}"
        self._looked_at = place + len(text)

    def types(self, keys: str) -> None:
        """Press these keys, and Enter where they are no control character."""
        line = keys if keys in (CTRL_C, CTRL_D) else f"{keys}\n"
        os.write(self._main, line.encode())

    def ended(self) -> int:
        """Its exit status, once it has ended."""
        until_s = time.monotonic() + PATIENCE_S
        while self._more(until_s):
            assert time.monotonic() < until_s, f"it goes on:\n{self.text}"
        return self._process.wait(timeout=PATIENCE_S)

    def _more(self, until_s: float) -> bool:
        """Read what is shown next; false where nothing will be any more."""
        left_s = max(until_s - time.monotonic(), 0)
        if not select.select([self._main], [], [], left_s)[0]:
            return True
        piece = b""
        with contextlib.suppress(OSError):  # Linux says so where the other end is closed
            piece = os.read(self._main, 65_536)
        self._read += piece.decode("utf-8", "replace")
        return bool(piece)
