"""A session at the terminal: requests one after the other, each following the last answer."""

import contextlib
import select
import sys
import termios
from collections.abc import Callable

from leadhand.cli import start_time
from leadhand.cli.standard_streams import Terminated
from leadhand.cli.views.consoles import print_note
from leadhand.cli.views.terminal import safe, sentence
from leadhand.contracts.answer import Answer
from leadhand.errors import DamagedRun, InputError, LeadhandError

HOW_TO = "each request follows the answer before it; an empty line ends, Ctrl-C stops an answer"
PASTE_S = 0.05
"""To wait for the next line of a pasted text."""
MAX_NAME_CHARS = 40

Ask = Callable[[str, str | None], Answer]
"""The answer, which is printed, follows the run with that id."""


def hold_session(team: str, ask: Ask, *, after: str | None, quiet: bool) -> None:
    """Read requests until an empty line or the end of the input.

    Each follows the last answered one, the first the run `after`. A run that was stopped, waits or
    can't be read is not followed.
    """
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # pyright: ignore[reportUnusedImport]  # `input` then has a history
    if not quiet:
        print_note(HOW_TO)
    prompt = f"{safe(team)[:MAX_NAME_CHARS]}> "
    while request := _read(prompt):
        start_time.begin()  # the deadline counts from here
        try:
            answer = ask(request, after)
        except LeadhandError as error:
            print_note(sentence(str(error)))
            if after is not None and isinstance(error, InputError | DamagedRun):
                # The run may be deleted or damaged: else no further request could be answered.
                after = None
                print_note("the next request follows none")
            continue
        if answer.status in ("complete", "partial", "failed"):
            after = answer.run_id


def _read(prompt: str) -> str:
    """The next request; empty at the end. Ctrl-C discards what was typed."""
    while True:
        # A key that was pressed during the last answer is no request.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        try:
            lines = [_line(prompt)]
            while select.select([sys.stdin], [], [], PASTE_S)[0]:
                lines.append(_line(""))
        except Terminated:
            raise
        except KeyboardInterrupt:
            print_note("an empty line ends the session")
        except EOFError:
            sys.stderr.write("\n")
            return ""
        else:
            return "\n".join(lines).strip()


def _line(prompt: str) -> str:
    if sys.stdout.isatty():
        return input(prompt)
    # `input` would write the prompt among the data.
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line
