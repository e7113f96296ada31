"""The person at the terminal: shown what is asked, and asked for a word."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console

from leadhand.cli.plan import show_plan
from leadhand.cli.terminal import encodable, safe_block
from leadhand.contracts.people import Question, Reply
from leadhand.contracts.task import Plan
from leadhand.workers.threads import DaemonThreads

Pause = Callable[[], AbstractContextManager[object]]
"""Takes what is drawn on the terminal off it, as long as the block lasts."""


def is_here() -> bool:
    """Whether somebody sits at a terminal, to read on stderr and type on stdin."""
    return sys.stdin.isatty() and sys.stderr.isatty()


class TerminalPerson:
    """Puts questions to whoever sits there, one after the other."""

    def __init__(self, console: Console, pause: Pause) -> None:
        self._console = console
        self._pause = pause
        # A thread of its own, which is never joined: nobody may ever press a key.
        self._threads = DaemonThreads()

    async def __call__(self, question: Question) -> Reply:
        """What they say."""
        return await self._threads.call(self.ask, question, name="a question to a person")

    def ask(self, question: Question) -> Reply:
        """What they say. Blocks until they do."""
        with self._pause():
            if question.plan is not None:
                return self._on_plan(question, question.plan)
            self._say(question.text)
            said = self._line("What should the worker know? (empty: go on without) ").strip()
            verdict = "answered" if said else "declined"
            return Reply(task_id=question.task_id, verdict=verdict, text=said)

    def _on_plan(self, question: Question, shown: Plan) -> Reply:
        plan = shown
        while True:
            show_plan(plan, self._console)
            self._say(question.text)
            said = self._line("[a]pprove, [e]dit or [r]efuse? ").strip().lower()
            if said in ("a", "approve", "y", "yes"):
                changed = plan if plan != shown else None
                return Reply(verdict="approved", plan=changed)
            if said in ("r", "refuse", "n", "no"):
                return Reply(verdict="refused", text=self._line("Why? (empty: no reason) ").strip())
            if said in ("e", "edit"):
                plan = self._edited(plan)

    def _edited(self, plan: Plan) -> Plan:
        """The plan as it was changed in the person's editor; as it is where that makes no plan."""
        before = json.dumps(plan.model_dump(mode="json", exclude_defaults=True), indent=2)
        try:
            return Plan.model_validate_json(_in_editor(before))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the plan"
            self._say(f"This is no plan: {place}: {first['msg']}. It stays as it was.")
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self._say(f"The plan can't be edited ({error}): set EDITOR. It stays as it was.")
        return plan

    def _say(self, text: str) -> None:
        shown = encodable(safe_block(text), self._console.encoding)
        self._console.print(shown, markup=False, highlight=False)

    def _line(self, prompt: str) -> str:
        self._console.print(prompt, end="", markup=False, highlight=False)
        return sys.stdin.readline()


def _in_editor(text: str) -> str:
    """`text` as it is after the person's editor has closed."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="leadhand-") as folder:
        file = Path(folder) / "plan.json"
        file.write_text(text, encoding="utf-8")
        subprocess.run([*shlex.split(editor), str(file)], check=True)
        return file.read_text(encoding="utf-8")
