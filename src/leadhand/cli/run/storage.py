"""Where a command keeps the run that it begins: its journal, and a folder of the run's own."""

import os
import shutil
from pathlib import Path
from typing import Self

from leadhand.cli.home import home_of, obstacle, state_folder
from leadhand.cli.views.terminal import sentence
from leadhand.errors import InputError, JournalError
from leadhand.journal import MemoryJournal, open_journal
from leadhand.ports import Journal
from leadhand.untrusted.redaction import Redactor


class RunStorage:
    """The journal of a command, and what it needs beside it. Open until the `with` block ends."""

    def __init__(self, home: str | None, *, options: str = "") -> None:
        """`home` is what `--home` says; `options` are those that later commands need besides.

        Where nobody named a place and the usual one can't be written, the run stays in memory and
        `lost` says so: a review in a read-only container is a review all the same. Of a place that
        was named, raises `InputError` for a folder that can't be used, `JournalError` for a journal
        that can't be read or a database that is away.
        """
        self.named = home
        self._options = options
        where = home_of(home, os.environ)
        self.home = where
        self._folder = where if isinstance(where, Path) else state_folder(os.environ)
        self.lost: str | None = None
        """Why the run can't be resumed; none where it can."""
        self.journal: Journal = MemoryJournal()
        try:
            if isinstance(where, Path):
                _writable(where)
            self.journal = open_journal(where, redact=Redactor.of(os.environ))
            self.journal.has("")  # whether it can be read at all is known only now
        except (JournalError, InputError, OSError) as error:
            if home is not None or "LEADHAND_HOME" in os.environ:
                if isinstance(error, OSError):
                    raise JournalError(str(error)) from error
                raise
            self.journal.close()
            self.journal = MemoryJournal()
            self.lost = f"this run can't be resumed: {sentence(str(error))}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.journal.close()

    def folder(self, run_id: str) -> Path:
        """The folder for what belongs to a run and is no event; it need not exist."""
        return self._folder / "runs" / run_id

    def forget(self, run_id: str) -> None:
        """Delete that folder, once nothing can go on with what is in it."""
        shutil.rmtree(self.folder(run_id), ignore_errors=True)

    def command(self, verb: str, run_id: str) -> str:
        """What to type to do something with a run: `leadhand resume RUN`."""
        from leadhand.cli.runs.views import home_options

        return f"leadhand {verb} {run_id}{home_options(self.named)}{self._options}"


def _writable(folder: Path) -> None:
    """Make the folder unless it is there. Raises `InputError` where nothing can be kept in it."""
    why = obstacle(folder)
    if why is None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            why = f"it can't be made ({error.strerror})"
        else:
            if os.access(folder, os.W_OK):
                return
            why = "it can't be written"
    raise InputError(f"no runs can be kept in {folder}: {why}; name another folder with --home")
