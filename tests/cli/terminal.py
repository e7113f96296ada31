"""A terminal in which `leadhand` runs, for tests: what it shows is read, keys are typed into it."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import termios
from pathlib import Path
from types import TracebackType

from tests.cli.program import PROGRAM
from tests.patience import HANG_S, wait_until
from tests.programs import forkserver

CTRL_C, CTRL_D = "\x03", "\x04"
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\r")


class Terminal:
    """A process of `leadhand ARGUMENTS` in a terminal of its own, 100 columns wide."""

    def __init__(self, *arguments: str, folder: Path, env: dict[str, str]) -> None:
        self._main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 100, 0, 0))
        self._program = forkserver().start(
            *PROGRAM,
            *arguments,
            folder=folder,
            env={**os.environ, "TERM": "xterm-256color", **env},
            stdin=other,
            stdout=other,
            stderr=other,
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
        self._program.__exit__(kind, error, traceback)
        os.close(self._main)

    @property
    def text(self) -> str:
        """All that was shown, without colours and movements."""
        return _ESCAPES.sub("", self._read)

    def shows(self, text: str) -> None:
        """Wait until `text` is shown, after what was waited for before."""
        while (place := self.text.find(text, self._looked_at)) < 0:
            assert self._more(), f"it ended without {text!r}:\n{self.text}"
        self._looked_at = place + len(text)

    def waits(self) -> None:
        """Wait until the program waits for a key: Python overlooks a signal just before that."""
        stat = Path(f"/proc/{self._program.pid}/stat")
        if stat.exists():
            wait_until(lambda: stat.read_text().rpartition(") ")[2].startswith("S"))

    def types(self, keys: str) -> None:
        """Press these keys, and Enter where they are no control character."""
        line = keys if keys in (CTRL_C, CTRL_D) else f"{keys}\n"
        os.write(self._main, line.encode())

    def gets(self, number: int) -> None:
        os.kill(self._program.pid, number)

    def ended(self) -> int:
        """Its exit status, once it has ended."""
        while self._more():
            pass
        return self._program.ended().status

    def _more(self) -> bool:
        """Read what is shown next; false where nothing will be any more."""
        assert select.select([self._main], [], [], HANG_S)[0], f"it hangs:\n{self.text}"
        piece = b""
        with contextlib.suppress(OSError):  # Linux says so where the other end is closed
            piece = os.read(self._main, 65_536)
        self._read += piece.decode("utf-8", "replace")
        return bool(piece)
