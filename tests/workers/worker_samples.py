"""Worker functions for tests, in a module that a worker process can import."""

import asyncio
import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import cast

from pydantic import BaseModel

from leadhand.contracts.outcome import Escalated, Failed, Handoff, Outcome, Result
from leadhand.workers.processes import ProcessPool

BOUND_S = 300
"""More than anything in these tests should take, on a slow machine."""


def make_handoff(intent: str = "do it", *, task_id: str = "t1") -> Handoff:
    """A first attempt at a task, for a worker called `worker`."""
    return Handoff(
        run_id="run",
        task_id=task_id,
        attempt=1,
        from_agent="lead",
        to_agent="worker",
        intent=intent,
        return_to="lead",
    )


def message_of(outcome: Outcome) -> str:
    """The message of a failure."""
    assert isinstance(outcome, Failed), outcome
    assert outcome.kind == "error"
    return outcome.message


def echo(handoff: Handoff) -> str:
    return handoff.intent


async def echo_async(handoff: Handoff) -> Result:
    await asyncio.sleep(0)
    return Result(output=handoff.intent, confidence=90)


def with_option(handoff: Handoff, *, option: object) -> dict[str, object]:
    return {"intent": handoff.intent, "option": option}


def where(handoff: Handoff) -> int:
    return os.getpid()


def meet(handoff: Handoff) -> int:
    """Ends when the other of two calls at once has come as far as this one."""
    folder = Path(handoff.intent)
    say_pid(str(folder / str(os.getpid())))
    while len(list(folder.glob("*[0-9]"))) < 2:
        time.sleep(0.005)
    return os.getpid()


def wait_until_there(path: str) -> None:
    while not Path(path).exists():
        time.sleep(0.005)


def talk(handoff: Handoff) -> str:
    print("printed by the worker")
    os.write(1, b"written to descriptor 1\n")
    subprocess.run([sys.executable, "-c", "print('printed by its child')"], check=True)
    return f"{os.environ['LEADHAND_SAMPLE']}, {sys.stdin.read()!r}"


class Invoice(BaseModel):
    number: int


def meant(handoff: Handoff) -> None:
    """Sends a letter, perhaps."""


def forgotten(handoff: Handoff) -> str:
    return cast("str", None)


def escalate(handoff: Handoff) -> Escalated:
    return Escalated(reason="out_of_scope", message="ask billing")


def fail(handoff: Handoff) -> None:
    raise ValueError("no such invoice")


def exit_politely(handoff: Handoff) -> None:
    raise SystemExit(3)


def exit_at_once(handoff: Handoff) -> None:
    os._exit(3)


def crash(handoff: Handoff) -> None:
    ctypes.string_at(0)


def die_of_memory(handoff: Handoff) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fork_and_crash(handoff: Handoff) -> None:
    """Dies at once, but leaves a fork behind that inherited everything it had open."""
    pid = os.fork()
    if pid == 0:
        time.sleep(3600)
    say_pid(handoff.intent, pid)
    os._exit(3)


def never_return(handoff: Handoff) -> None:
    """Writes down its process id, then holds the interpreter's lock as long as it lives."""
    say_pid(handoff.intent)
    re.match(r"(a+)+$", "a" * 80 + "b")


def start_a_child_and_wait(handoff: Handoff) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    say_pid(handoff.intent, child.pid)
    child.wait()


def much(handoff: Handoff) -> str:
    return "x" * int(handoff.intent)


def unserialisable(handoff: Handoff) -> object:
    return {"lock": threading.Lock()}


def open_pool(handoff: Handoff) -> str:
    ProcessPool(1)
    return "opened"


async def never_return_async(handoff: Handoff) -> None:
    say_pid(handoff.intent)
    await asyncio.Event().wait()


def say_pid(path: str, pid: int | None = None) -> None:
    """Write a process id to `path` in one step, so that a reader sees all of it or nothing."""
    draft = Path(f"{path}.draft")
    draft.write_text(str(pid or os.getpid()))
    draft.rename(path)


class Billing:
    """Something with a method that is a worker function."""

    @staticmethod
    def look_up(handoff: Handoff) -> str:
        return f"looked up {handoff.intent}"
