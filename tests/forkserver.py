"""An interpreter that has imported everything and forks programs in milliseconds.

    python tests/forkserver.py SOCKET

Each connection to SOCKET asks for one program: what `python ARGV` would do, in a folder, with an
environment and with the streams that come along. The answers are a line each: the process's id, and
later its exit status. It ends, with what it has forked, when its stdin does. Tests use it through
`tests.programs`; it must not import anything of `tests`, which a program would then find imported.
"""

import atexit
import codecs
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import threading
import traceback
import warnings
from contextlib import suppress
from types import ModuleType
from typing import NamedTuple, NoReturn, TextIO, TypedDict, cast

from pydantic import BaseModel

LAZY = (
    "aiohttp",
    "anyio._backends._asyncio",
    "genai_prices.data",
    "openai.lib.streaming.chat",
    "openai.resources.chat",
    "openai.resources.responses",
    "pydantic_ai.models.openai",
    "pydantic_ai.providers.openai",
    "typer.rich_utils",
)
"""What leadhand uses imports late, and takes long."""
BUILT = ("leadhand", "openai.types.chat", "pydantic_ai")
"""Packages whose pydantic models would be built at their first use, in each program again."""


class Request(TypedDict):
    """The program that a connection asks for."""

    argv: list[str]
    """As for the interpreter: `-m NAME`, `-c CODE` or `FILE`, with arguments; `-W error` before."""
    folder: str
    env: dict[str, str]
    """All of its environment."""
    streams: list[int]
    """Which of 0, 1 and 2 came along, in this order; others are closed."""


class Asked(NamedTuple):
    """A request, with what came along."""

    request: Request
    files: list[int]


def preload() -> None:
    """Import all of leadhand and of the ready-made teams, and what they import late."""
    import leadhand
    import leadhand_teams

    walk = pkgutil.walk_packages
    for module in (
        *walk(leadhand.__path__, "leadhand."),
        *walk(leadhand_teams.__path__, "leadhand_teams."),
    ):
        if module.name.endswith((".__main__", ".child")):  # a program of its own
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("leadhand"):
                raise
            # Else it is for an extra that is not installed.
    for name in LAZY:
        importlib.import_module(name)
    from leadhand.cli import start_time
    from leadhand.models.clients import model_client
    from leadhand.models.replay import load_response

    _build(BaseModel)
    load_response({"parts": []})
    model_client()  # reads the certificates
    start_time.begin()  # so that a deadline counts from when a program is forked
    assert threading.active_count() == 1, "a process with threads must not fork"
    gc.collect()
    gc.freeze()  # or a collection in a program would copy all of this memory


def _build(kind: type[BaseModel]) -> None:
    for model in kind.__subclasses__():
        if model.__module__.startswith(BUILT):
            model.model_rebuild(raise_errors=False)
        _build(model)


def serve(listener: socket.socket) -> Asked:
    """Fork programs until stdin ends. Returns in each program, and nowhere else."""
    selector, running = selectors.DefaultSelector(), dict[int, socket.socket]()
    ended, notice = socket.socketpair()
    for end in (ended, notice):
        end.setblocking(False)
    signal.set_wakeup_fd(notice.fileno())
    signal.signal(signal.SIGCHLD, _notice)
    for source in (listener, ended, sys.stdin):
        selector.register(source, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is sys.stdin:
                _end(running)
            elif key.fileobj is ended:
                ended.recv(4_096)
                _tell_ended(running)
            else:
                connection, _ = listener.accept()
                asked = _received(connection)
                pid = os.fork()
                if not pid:
                    signal.set_wakeup_fd(-1)
                    selector.close()
                    for one in (listener, ended, notice, connection, *running.values()):
                        one.close()
                    return asked
                for file in asked.files:
                    os.close(file)
                running[pid] = connection
                connection.sendall(b"%d\n" % pid)


def _notice(number: int, frame: object) -> None:
    """Do nothing: that the signal is handled wakes the selector."""


def _received(connection: socket.socket) -> Asked:
    header, files, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as reader:
        return Asked(json.loads(reader.read(int.from_bytes(header))), files)


def _tell_ended(running: dict[int, socket.socket]) -> None:
    """Tell of every program that has ended."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            with running.pop(ended[0]) as connection, suppress(OSError):  # it may have gone
                connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(ended[1]))


def _end(running: dict[int, socket.socket]) -> NoReturn:
    for pid in running:
        os.kill(pid, signal.SIGKILL)
    os._exit(0)


def become(asked: Asked, path: list[str]) -> None:
    """Be the program that was asked for; `path` is where modules are found anyway."""
    request, files = asked
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["folder"])
    _take(request["streams"], files)
    more = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [*(os.path.abspath(one) for one in more if one), *path]
    status = 1
    try:
        _interpret(request["argv"])
        status = 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            status = end.code or 0
        else:
            print(end.code, file=sys.stderr)
    except KeyboardInterrupt:
        traceback.print_exc()
        status = -signal.SIGINT
    except BaseException:
        traceback.print_exc()
    _leave(status)


def _leave(status: int) -> None:
    """End as Python does, but for taking apart every module, which takes longer than many tests."""
    threading._shutdown()  # pyright: ignore
    atexit._run_exitfuncs()  # pyright: ignore
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _take(streams: list[int], files: list[int]) -> None:
    """Give the process these files as its stdin, stdout and stderr, as at a start of Python."""
    for number in range(3):
        os.close(number)  # none of `files` has such a number
    for number, file in zip(streams, files, strict=True):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    if 0 in streams and os.isatty(0):
        _own_terminal()
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        old = cast("TextIO", getattr(sys, name))
        new = _opened(number, old) if number in streams else None
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def _opened(number: int, old: TextIO) -> TextIO:
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "").partition(":")
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    if number:
        raw = open(number, "wb", buffering=0 if unbuffered else -1, closefd=False)  # noqa: SIM115
    else:
        raw = open(number, "rb", closefd=False)  # noqa: SIM115
    if number == 2 or not (errors or encoding):
        errors = old.errors
    return io.TextIOWrapper(
        raw,
        encoding=codecs.lookup(encoding or old.encoding).name,
        errors=errors or "strict",
        newline="\n",
        line_buffering=not unbuffered and (number == 2 or raw.isatty()),
        write_through=unbuffered,
    )


def _own_terminal() -> None:
    """Make the terminal at stdin the program's own, or its Ctrl-C would reach nobody."""
    import fcntl
    import termios

    with suppress(OSError):  # it is another's
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _interpret(argv: list[str]) -> None:
    """Do what `python ARGV` does."""
    while argv[0] == "-W":
        assert argv[1] == "error", f"no such programs are forked: {argv}"
        sys.warnoptions.append("error")
        warnings.simplefilter("error")
        argv = argv[2:]
    match argv:
        case ["-m", name, *arguments]:
            sys.path.insert(0, os.getcwd())
            sys.argv[:] = [name, *arguments]
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        case ["-c", code, *arguments]:
            sys.path.insert(0, "")
            sys.argv[:] = ["-c", *arguments]
            main = sys.modules["__main__"] = ModuleType("__main__")
            exec(compile(code, "<string>", "exec"), vars(main))
        case [file, *arguments] if not file.startswith("-"):
            sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
            sys.argv[:] = [file, *arguments]
            runpy.run_path(file, run_name="__main__")
        case _:
            raise AssertionError(f"no such programs are forked: {argv}")


def main() -> None:
    """Serve, and in each program be that program."""
    # A shell that starts the tests in the background has SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    path = sys.path[1:]  # without the folder of this file
    sys.path[:] = path
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    preload()
    listener.listen()
    print("ready", flush=True)
    asked = serve(listener)
    become(asked, path)


if __name__ == "__main__":
    main()
