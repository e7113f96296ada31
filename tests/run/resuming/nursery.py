"""Processes of their own that start in no time: forked from one that has imported everything.

    python -m tests.run.resuming.nursery

takes a command a line as JSON: `start` forks, and the child calls a function as a program would be
called; `wait` gives what it ended with. Tests use it through `Nursery`; whom they kill is as much a
process as any other.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from leadhand.cli import start_time

PRELOADED = (
    "leadhand.cli.app",
    "leadhand.cli.run.command",
    "leadhand.cli.resume.actions",
    "leadhand.journal.sqlite",
    "leadhand.models.calls",
    "leadhand.models.connections",
    "leadhand.planners.ahead",
    "leadhand.planners.choosing",
    "leadhand.planners.revision",
    "leadhand.synthesis.critic",
    "leadhand.synthesis.judge",
    "leadhand.synthesis.model",
    "leadhand.workers.agent",
    "leadhand.workers.loop",
    "anyio._backends._asyncio",
    "genai_prices.data",
    "openai.resources.chat",
    "pydantic_ai.models.openai",
    "pydantic_ai.providers.openai",
    "tests.run.resuming.killed",
    "tests.run.resuming.thinkers",
)
"""What takes long to import."""
CLI = "leadhand.cli.app:main"


def until(condition: Callable[[], bool]) -> None:
    """Return once it holds, as it will by what another process does."""
    give_up_s = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < give_up_s, "it never came to that"
        time.sleep(0.005)


@dataclass(frozen=True, slots=True)
class Ended:
    """What a process left behind."""

    status: int
    """Its exit status; less than 0: the signal that it died of."""
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Child:
    """A process under way."""

    pid: int
    nursery: "Nursery"
    folder: Path

    def kill(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def ended(self) -> Ended:
        """What it left behind, once it has ended."""
        status = self.nursery.wait(self.pid)
        return Ended(status, self.said("out"), self.said("err"))

    def said(self, stream: str) -> str:
        """What it has written so far."""
        path = self.folder / f"{self.pid}.{stream}"
        return path.read_text(encoding="utf-8") if path.exists() else ""


class Nursery:
    """A process that forks others, for as long as its block lasts."""

    def __init__(self, *, hash_seed: int) -> None:
        """`hash_seed` is Python's: with another, sets come in another order."""
        env = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "COLUMNS": "80", "NO_COLOR": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=env,
        )
        self._line()
        self._alive: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def start(
        self, function: str, *arguments: str, folder: Path, env: dict[str, str] | None = None
    ) -> Child:
        """A process that calls `module:function` with these arguments of the command line.

        It works in `folder`, where what it writes to stdout and stderr is kept.
        """
        pid = self.command(
            do="start",
            function=function,
            arguments=arguments,
            folder=str(folder),
            env={"LEADHAND_HOME": str(folder / "home"), **(env or {})},
        )
        self._alive.add(pid)
        return Child(pid, self, folder)

    def wait(self, pid: int) -> int:
        """What a process ended with."""
        self._alive.discard(pid)
        return self.command(do="wait", pid=pid)

    def clear(self) -> None:
        """End whatever is left, as a test that failed may have left it."""
        for pid in [*self._alive]:
            os.kill(pid, signal.SIGKILL)
            self.wait(pid)

    def run(
        self, function: str, *arguments: str, folder: Path, env: dict[str, str] | None = None
    ) -> Ended:
        """What such a process leaves behind."""
        return self.start(function, *arguments, folder=folder, env=env).ended()

    def command(self, **words: object) -> int:
        """What the process answers."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


def main() -> None:
    """Carry out commands until there are no more."""
    # A shell that starts the tests in the background has SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in PRELOADED:
        importlib.import_module(name)
    start_time.begin()  # so that a deadline counts from when each child is forked, not from here
    print("ready", flush=True)
    for line in sys.stdin:
        words: dict[str, object] = json.loads(line)
        if words["do"] == "wait":
            _, status = os.waitpid(cast("int", words["pid"]), 0)
            answer = os.waitstatus_to_exitcode(status)
        else:
            answer = os.fork()
            if not answer:
                _child(words)
        print(answer, flush=True)


def _child(words: dict[str, object]) -> None:
    """The life of a forked process."""
    status = 70
    try:
        os.chdir(cast("str", words["folder"]))
        os.environ.update(cast("dict[str, str]", words["env"]))
        for number, stream in ((1, "out"), (2, "err")):
            file = os.open(f"{os.getpid()}.{stream}", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            os.dup2(file, number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        module, _, name = cast("str", words["function"]).partition(":")
        sys.argv = ["leadhand", *cast("list[str]", words["arguments"])]
        cast("Callable[[], object]", getattr(importlib.import_module(module), name))()
        status = 0
    except SystemExit as ending:
        status = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
