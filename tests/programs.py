"""Programs for tests: processes like any others, but forked from one that has imported everything.

    ended = forkserver().run("-m", "leadhand", "teams", "list", folder=tmp_path)

does what `python -m leadhand teams list` does, without some seconds of imports. What only a fresh
interpreter can show, such as what is imported and when, is tested with `subprocess` as ever.
"""

import atexit
import contextlib
import fcntl
import functools
import json
import os
import select
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Literal, Self

from tests.in_process import Ended as Ended
from tests.patience import HANG_S, wait_until

Stream = Literal["out", "err"]
ROOT = Path(__file__).parent.parent
_FOLDER = "LEADHAND_TESTS_FORKSERVERS"
"""The variable that names the folder of the servers' sockets."""
_LATER = ("PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONPATH", "PYTHONUNBUFFERED")
"""Variables that count for each program, or need not."""
_COMMAND = """\
#!{python} -IS
import json, os, signal, socket, sys

streams = []
for number in range(3):
    try:
        os.fstat(number)
        streams.append(number)
    except OSError:
        pass
request = dict(argv=[{argv}*sys.argv[1:]], folder=os.getcwd(), env={{**os.environ}})
message = json.dumps({{**request, "streams": streams}}).encode()
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [len(message).to_bytes(4)], streams)
    server.sendall(message)
    _, status = server.makefile()
status = int(status)
if status < 0:
    os.kill(os.getpid(), -status)
os._exit(status)
"""
"""A program for shells, which has another one forked and ends as that one does."""


class Program:
    """A program under way. As a context it is killed at the end, if it has not ended."""

    def __init__(self, server: socket.socket, written: dict[str, IO[bytes]]) -> None:
        server.settimeout(HANG_S)
        self._server, self._written = server, written
        self._answers = server.makefile()
        self._ended: Ended | None = None
        self.pid = int(self._answers.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill(signal.SIGKILL)
        self.ended()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._ended is None and not select.select([self._server], [], [], 0)[0]

    def kill(self, number: int) -> None:
        if self.running:
            with contextlib.suppress(ProcessLookupError):  # it ended just now
                os.kill(self.pid, number)

    def said(self, stream: Stream = "out") -> str:
        """What it has written so far."""
        if self._ended is not None:
            return self._ended.out if stream == "out" else self._ended.err
        file = self._written.get(stream)
        if file is None:  # the test reads it
            return ""
        return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode("utf-8")

    def says(self, text: str, stream: Stream = "out") -> None:
        """Wait until it has written `text`."""
        wait_until(lambda: not self.running or text in self.said(stream))
        assert text in self.said(stream), f"it ended without {text!r}: {self.ended()}"

    def ended(self) -> Ended:
        """What it leaves behind, once it has ended."""
        if self._ended is None:
            status = int(self._answers.readline())
            self._ended = Ended(status, self.said("out"), self.said("err"))
            for one in (self._answers, self._server, *self._written.values()):
                one.close()
        return self._ended


class Forkserver:
    """A process that forks programs, for all processes of the tests, until these end."""

    def __init__(self, *, hash_seed: int) -> None:
        """`hash_seed` is Python's: with another, sets come in another order."""
        self._folder = Path(os.environ[_FOLDER], str(hash_seed))
        self._address = str(self._folder / "socket")
        self._env = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
        self._programs: list[Program] = []
        with (self._folder.parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._folder.exists():
                self._folder.mkdir()
                self._start()

    def _start(self) -> None:
        reader, writer = os.pipe()
        argv = [sys.executable, str(ROOT / "tests" / "forkserver.py"), self._address]
        life = (os.POSIX_SPAWN_OPEN, 0, str(self._folder.parent / "life"), os.O_RDONLY, 0)
        ready = (os.POSIX_SPAWN_DUP2, writer, 1)
        # In a session of its own: Ctrl-C is for the tests.
        os.posix_spawn(argv[0], argv, self._env, file_actions=[life, ready], setsid=True)
        os.close(writer)
        with open(reader, "rb") as said:
            is_ready = said.readline() == b"ready\n"
        if not is_ready:
            shutil.rmtree(self._folder)  # so that the next one fails by itself, too
            raise AssertionError("it did not start")

    def clear(self) -> None:
        """End whatever is left, as a test that failed may have left it."""
        while self._programs:
            with self._programs.pop():
                pass

    @functools.cached_property
    def commands(self) -> str:
        """A folder for the PATH of a shell, with a `leadhand` and a `python` that are forked."""
        folder = Path(tempfile.mkdtemp(prefix="bin-", dir=self._folder))
        for name, argv in {"leadhand": "'-m', 'leadhand', ", "python": ""}.items():
            command = folder / name
            command.write_text(
                _COMMAND.format(python=sys.executable, argv=argv, address=self._address)
            )
            command.chmod(0o700)
        return str(folder)

    def shell_env(self, env: Mapping[str, str]) -> dict[str, str]:
        """That environment, with `commands` first on its PATH."""
        return {**env, "PATH": f"{self.commands}{os.pathsep}{env['PATH']}"}

    def start(
        self,
        *argv: str,
        folder: Path,
        env: Mapping[str, str] | None = None,
        given: str | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> Program:
        """What `python ARGV` does in `folder`, with the environment of the tests, or just `env`.

        What is `given` is piped into it; else `stdin`, or nothing, is what it reads. What it writes
        is kept, unless there is a place for it.
        """
        env = dict(os.environ if env is None else env)
        self._check(env)
        written: dict[str, IO[bytes]] = {}
        with contextlib.ExitStack() as ours:
            if given is not None:
                stdin = ours.enter_context(_piped(given)).fileno()
            elif stdin is None:
                stdin = ours.enter_context(open(os.devnull, "rb")).fileno()
            files = [stdin]
            for name, file in (("out", stdout), ("err", stderr)):
                if file is None:
                    written[name] = tempfile.TemporaryFile()  # noqa: SIM115
                    file = written[name].fileno()
                files.append(file)
            request = {"argv": argv, "folder": str(folder), "env": env, "streams": [0, 1, 2]}
            message = json.dumps(request).encode()
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._address)
            socket.send_fds(server, [len(message).to_bytes(4)], files)
            server.sendall(message)
            program = Program(server, written)
        self._programs = [one for one in self._programs if one.running] + [program]
        return program

    def run(
        self,
        *argv: str,
        folder: Path,
        env: Mapping[str, str] | None = None,
        given: str | None = None,
    ) -> Ended:
        return self.start(*argv, folder=folder, env=env, given=given).ended()

    def _check(self, env: Mapping[str, str]) -> None:
        """Refuse what an interpreter looks at only when it starts."""
        for name in {*env, *self._env}:
            if name.startswith(("PYTHON", "LC_", "LANG")) and name not in _LATER:
                own = self._env.get(name)
                assert env.get(name) == own, f"{name} is {own} here: start an interpreter"


def _piped(text: str) -> IO[bytes]:
    """A pipe out of which the text comes."""
    reader, writer = os.pipe()

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), open(writer, "wb") as file:
            file.write(text.encode())

    threading.Thread(target=write).start()
    return open(reader, "rb")


def share_forkservers() -> None:
    """Have this process, and the tests' processes that it starts, use the same ones."""
    if _FOLDER not in os.environ:
        folder = os.environ[_FOLDER] = tempfile.mkdtemp(prefix="forkservers-")
        atexit.register(shutil.rmtree, folder)
        os.mkfifo(f"{folder}/life")
        os.open(f"{folder}/life", os.O_RDWR)  # they end once it is closed, as this process ends


@functools.cache
def forkserver(*, hash_seed: int = 1) -> Forkserver:
    server = Forkserver(hash_seed=hash_seed)
    atexit.register(server.clear)
    return server
