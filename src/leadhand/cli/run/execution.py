"""One run on the command line: its progress, its events, and Ctrl-C."""

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Coroutine, Generator, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TextIO, cast

from leadhand.cli.live.lines import PlainLines
from leadhand.cli.live.tree import LiveTree
from leadhand.cli.options import OutputOptions, is_debugging
from leadhand.cli.run.storage import RunStorage
from leadhand.cli.views.consoles import error_console, print_note
from leadhand.cli.views.terminal import InertStream, inert_json, safe_block, sentence
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event, TaskFailed, dump, parse
from leadhand.engine.recorder import Listener
from leadhand.errors import InputError
from leadhand.models.writing import watching
from leadhand.redaction import Redactor
from leadhand.supervisor import Supervisor
from leadhand.tools.scratch import remove_scratch_folders
from leadhand.trace.otel import spans_from_environment

INTERRUPTED = 130
"""The exit status after Ctrl-C."""
LEAVING_S = 0.3
"""How long a second signal may take to tell the journal and delete temporary folders."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


Work = Callable[[Listener], Coroutine[object, object, Answer]]
"""Does a run, and calls the listener with its events."""


class LiveRun:
    def __init__(
        self,
        storage: RunStorage,
        run_id: str,
        title: str,
        output: OutputOptions,
        *,
        past: Sequence[Event] = (),
        replied: Collection[str | None] = (),
        append: bool = False,
    ) -> None:
        """`past` are the events of a resumed run; `replied` are the tasks, or `None` for the
        plan, whose questions have a reply. With `append`, events follow those of the run before."""
        if storage.lost is not None and not output.quiet:
            print_note(storage.lost)
        self._title, self._output, self._append = title, output, append
        self._past, self._replied = past, replied
        self._how_to_resume = storage.command("resume", run_id) if storage.lost is None else None
        self._how_to_answer = storage.command("answer", run_id)
        self._tree: LiveTree | None = None

    def follow(self, supervisor: Supervisor, work: Work) -> Answer:
        """The answer of `work`, with progress on stderr and events in their file. The first
        SIGINT or SIGTERM stops the work and keeps what is done; the second ends the process."""
        output, redact = self._output, Redactor.of(os.environ)
        with contextlib.ExitStack() as stack:
            listeners: list[Listener] = []
            if output.events is not None:
                listeners.append(stack.enter_context(_event_lines(output.events, self._append)))
            if not sys.stdout.isatty():
                # What workers print is not part of the answer, and commands no runner.
                inert_stderr = cast("TextIO", InertStream(sys.stderr))
                stack.enter_context(contextlib.redirect_stderr(inert_stderr))
                stack.enter_context(contextlib.redirect_stdout(inert_stderr))
            spans = stack.enter_context(spans_from_environment(warn=_warn, redact=redact))
            if spans is not None:
                listeners.append(spans)
            if is_debugging():
                listeners.append(_show_traceback)
            if not output.quiet:
                listeners.append(stack.enter_context(self._progress()))

            def tell(event: Event) -> None:
                line = dump(event)
                clean = redact(line)
                shown = event if clean is line else parse(clean)
                for listener in listeners:
                    listener(shown)

            async def main() -> Answer:
                with _signals(supervisor, self._how_to_resume):
                    return await work(tell if listeners else _nobody)

            document = asyncio.run(main()).model_dump_json()
            # The command prints this copy, so that no secret is printed.
            return Answer.model_validate_json(redact(document))

    @contextlib.contextmanager
    def paused(self) -> Generator[None]:
        if self._tree is None:
            yield
            return
        with self._tree.paused():
            yield

    @contextlib.contextmanager
    def _progress(self) -> Generator[Listener]:
        console, how_to_answer = error_console(), self._how_to_answer
        # Tracebacks would be printed into a live tree.
        if console.is_terminal and not console.is_dumb_terminal and not is_debugging():
            with LiveTree(
                console, self._title, past=self._past, how_to_answer=how_to_answer
            ) as tree:
                self._tree = tree
                with watching(tree.reads):
                    yield tree
        else:
            yield PlainLines(
                console, past=self._past, how_to_answer=how_to_answer, replied=self._replied
            )


def _nobody(event: Event) -> None:
    pass


def _show_traceback(event: Event) -> None:
    if isinstance(event, TaskFailed) and event.raised is not None and event.raised.traceback:
        text = safe_block(event.raised.traceback.rstrip("\n"))
        sys.stderr.write(
            f"{safe_block(f'task {event.task_id}, attempt {event.attempt}')}:\n{text}\n"
        )


def _warn(line: str) -> None:
    said = sentence(Redactor.of(os.environ)(line))
    print_note(said)


@contextlib.contextmanager
def _event_lines(events: str, append: bool) -> Generator[Callable[[Event], None]]:
    """`-` is stdout."""
    try:
        # Stdout stays open after the block.
        file = sys.stdout.buffer if events == "-" else Path(events).open("ab" if append else "wb")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"can't write events to {events}: {error.strerror}") from error
    failed: list[OSError] = []

    def write(event: Event) -> None:
        if not failed:
            try:
                # Flushed after each line, for programs that follow the file.
                line = dump(event)
                line = inert_json(json.loads(line)) if events == "-" else line
                file.write(line.encode() + b"\n")
                file.flush()
            except OSError as error:
                failed.append(error)

    sys.stdout.flush()
    yield write
    if events != "-":
        with contextlib.suppress(OSError):
            file.close()
    # A reader that has left is no error; others are reported after the run has ended.
    if failed and not isinstance(failed[0], BrokenPipeError):
        why = f"the events in {events} are not complete: {failed[0].strerror}"
        print_note(why)


def _leave(supervisor: Supervisor) -> None:
    supervisor.post_interruption()
    remove_scratch_folders()


@contextlib.contextmanager
def _signals(supervisor: Supervisor, how_to_resume: str | None) -> Generator[None]:
    """The first signal cancels the runs, the second ends the process. The interpreter handles
    them, not the loop, which a worker may block."""
    loop = asyncio.get_running_loop()
    told = False

    def interrupted(number: int, frame: FrameType | None) -> None:
        nonlocal told
        if told:
            # In a thread, because the interrupted code may hold a lock of the journal.
            leaving = threading.Thread(target=_leave, args=(supervisor,), daemon=True)
            leaving.start()
            leaving.join(LEAVING_S)
            if how_to_resume is not None:
                os.write(2, f"\nleadhand: continue with: {how_to_resume}\n".encode())
            os._exit(INTERRUPTED)
        told = True
        loop.call_soon_threadsafe(partial(supervisor.cancel, reason="interrupted"))

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    before = {number: signal.signal(number, interrupted) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
