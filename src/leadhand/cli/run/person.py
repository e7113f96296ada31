"""The person at the terminal: sees a question, and types the reply. The event loop waits for it,
not a thread: other work goes on, and the end of the run ends the wait."""

import asyncio
import contextlib
import json
import os
import select
import shlex
import signal
import sys
import tempfile
import termios
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from rich.console import Console

from leadhand.cli.run.arguments import parse_plan
from leadhand.cli.views.plan import show_plan
from leadhand.cli.views.terminal import encodable, safe_block
from leadhand.contracts.people import CallReply, Question, Reply
from leadhand.contracts.task import Plan
from leadhand.errors import InputError
from leadhand.plans.routes import named_workers

Pause = Callable[[], AbstractContextManager[object]]
"""During the block nothing else is drawn on the terminal."""
Problems = Callable[[Plan], Sequence[str]]
MAX_PROBLEMS = 20
MAX_TYPED_BYTES = 1_000_000
_CHOICES = "[a]pprove, [e]dit or [r]efuse? "
_PASTE_S = 0.05
"""To wait for the next line of a pasted text."""


def at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


class TerminalPerson:
    def __init__(self, console: Console, pause: Pause, problems: Problems) -> None:
        """`problems` gives the errors of an edited plan."""
        self._console = console
        self._pause = pause
        self._problems = problems
        self._turn = asyncio.Lock()
        self._draft: str | None = None
        """The plan as they edited it last, valid or not."""

    async def __call__(self, question: Question) -> Reply | None:
        """None if they end their input (Ctrl-D)."""
        async with self._turn:
            with self._pause():
                if question.plan is not None:
                    return await self._on_plan(question, question.plan)
                self._say(question.text)
                if question.calls:
                    return await self._on_calls(question)
                allow = "y: allow it; else w" if question.call else "W"
                asked = f"{allow}hat should the worker know? (empty: continue without) "
                text = (await self._line(asked) or "").strip()
                verdict = "answered" if text else "declined"
                if question.call and text.lower() in ("y", "yes"):
                    return Reply(task_id=question.task_id, verdict="approved")
                return Reply(task_id=question.task_id, verdict=verdict, text=text)

    async def _on_calls(self, question: Question) -> Reply | None:
        """None if they end their input (Ctrl-D)."""
        replies: dict[str, CallReply] = {}
        for number, call in enumerate(question.calls, start=1):
            which = f"{number}. {call.tool}: " if len(question.calls) > 1 else ""
            self._console.print(which, end="", markup=False, highlight=False)
            said = await self._line("y: approve it; else why not? (empty: no reason) ")
            if said is None:
                return None
            approved = said.strip().lower() in ("y", "yes")
            reason = "" if approved or said.strip().lower() in ("n", "no") else said.strip()
            replies[call.id] = CallReply(approved=approved, reason=reason)
        return Reply(task_id=question.task_id, calls=replies)

    async def _on_plan(self, question: Question, shown: Plan) -> Reply | None:
        plan = shown
        show_plan(plan, self._console)
        self._say(question.text)
        workers, route = question.workers, bool(question.workers)
        asked = "[a]pprove, [r]efuse, or the worker's name: "
        while (said := await self._line(asked if route else _CHOICES)) is not None:
            match said.strip().lower():
                case "a" | "approve" | "y" | "yes":
                    changed = plan if plan != shown else None
                    return Reply(task_id=question.task_id, verdict="approved", plan=changed)
                case "r" | "refuse" | "n" | "no":
                    why = "" if route else await self._line("Why? (empty: no reason) ")
                    return Reply(
                        task_id=question.task_id, verdict="refused", text=(why or "").strip()
                    )
                case "e" | "edit" if not route:
                    plan = await self._edited(plan)
                case name if route and named_workers(name, workers):
                    return Reply(task_id=question.task_id, verdict="refused", text=said.strip())
                case name if route and name:
                    self._say(f"That names no worker: {', '.join(workers)}")
                case _:
                    pass  # asked again
        return None

    async def _edited(self, plan: Plan) -> Plan:
        """Unless the person's plan has errors; they can go on editing it, but not approve it."""
        fields = plan.model_dump(mode="json", exclude_defaults=True)
        try:
            text = self._draft or json.dumps(fields, indent=2, ensure_ascii=False) + "\n"
            self._draft = await _in_editor(text)
            edited = parse_plan(self._draft.encode(), "the file")
        except InputError as error:
            self._refuse("This is not a plan", [str(error)])
        except (OSError, ValueError) as error:
            self._say(f"The plan can't be edited ({error}). EDITOR names the editor to use.")
        else:
            if not (wrong := self._problems(edited)):
                show_plan(edited, self._console)
                return edited
            more = [f"and {len(wrong) - MAX_PROBLEMS:,} more"] if wrong[MAX_PROBLEMS:] else []
            self._refuse("This plan can't be carried out", [*wrong[:MAX_PROBLEMS], *more])
        return plan

    def _refuse(self, what: str, wrong: Sequence[str]) -> None:
        lines = "\n".join(f"- {problem}" for problem in wrong)
        self._say(f"{what}:\n{lines}\nEdit it again, or approve the plan as it was before.")

    def _say(self, text: str) -> None:
        shown = encodable(safe_block(text), self._console.encoding)
        self._console.print(shown, markup=False, highlight=False, soft_wrap=True)

    async def _line(self, prompt: str) -> str | None:
        """The line that they type, or the lines that they paste; None at the end of their input."""
        file = sys.stdin.fileno()
        # A key that was pressed before the question is no answer.
        termios.tcflush(file, termios.TCIFLUSH)
        self._console.print(prompt, end="", markup=False, highlight=False)
        typed = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(file, typed.set)
        try:
            await typed.wait()
        finally:
            loop.remove_reader(file)
        # Not through `sys.stdin`, which would buffer what comes after this line.
        said = os.read(file, MAX_TYPED_BYTES)
        while said and select.select([file], [], [], _PASTE_S)[0]:
            more = os.read(file, MAX_TYPED_BYTES)
            if not more:
                break
            said += more
        return said.decode("utf-8", "replace") if said else None


async def _in_editor(text: str) -> str:
    """Raises `OSError` or `ValueError` if there is no editor, it fails, or leaves no text."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="leadhand-") as folder, _without_interrupts():
        file = Path(folder) / "plan.json"
        file.write_text(text, encoding="utf-8")
        process = await asyncio.create_subprocess_exec(*shlex.split(editor), str(file))
        try:
            status = await process.wait()
        except asyncio.CancelledError:
            process.terminate()
            raise
        if status != 0:
            raise ValueError(f"{editor} ended with status {status}")
        return file.read_text(encoding="utf-8")


@contextlib.contextmanager
def _without_interrupts() -> Generator[None]:
    """During the block Ctrl-C reaches the editor alone."""
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
