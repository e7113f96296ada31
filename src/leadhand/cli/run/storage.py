"""Where a command stores its run: in a journal, and in a folder of the run's own."""

import datetime as dt
import os
import shutil
from pathlib import Path
from typing import Self

from leadhand.cli.home import home_of, home_options, run_folder, why_no_folder
from leadhand.cli.views.consoles import print_note
from leadhand.cli.views.terminal import sentence
from leadhand.errors import InputError, JournalError, JournalLocked
from leadhand.journal import MemoryStore, StoreJournal, open_store
from leadhand.journal.store import Store
from leadhand.redaction import Redactor
from leadhand.run.waiting import new_run_id


class RunStorage:
    """Open until the `with` block ends."""

    def __init__(self, home: str | None, *, options: str = "", new: bool = False) -> None:
        """`home` is the value of `--home`; `options` are others that later commands need.

        If the default folder can't be written, the run stays in memory and `lost` says so: a review
        works in a read-only container. So does a `new` run if another process has locked the
        journal. For a place that was named, raises `InputError` if the folder can't be used,
        `JournalError` if the journal or database can't.
        """
        self.named = home
        self._options = options
        where = home_of(home, os.environ)
        self.home = where
        self.lost: str | None = None
        """Why the run can't be resumed; None if it can."""
        self.store: Store = MemoryStore()
        try:
            if isinstance(where, Path):
                _writable(where)
            self.store = open_store(where, redact=Redactor.of(os.environ))
            self.store.check()
        except (JournalError, InputError, OSError) as error:
            self.store.close()
            named = home is not None or "LEADHAND_HOME" in os.environ
            if not new if isinstance(error, JournalLocked) else named:
                if isinstance(error, OSError):
                    raise JournalError(str(error)) from error
                raise
            self.store = MemoryStore()
            self.lost = f"this run can't be resumed: {sentence(str(error))}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    @property
    def journal(self) -> StoreJournal:
        """For a supervisor: its runs stop if they can't be kept, or a resume would repeat work."""
        return StoreJournal(self.store)

    @property
    def read_only_journal(self) -> StoreJournal:
        """For read-only work, which ends also if it can't be kept."""
        return _PatientJournal(self)

    def new_run_id(self) -> str:
        return new_run_id(dt.datetime.now(dt.UTC))

    def folder(self, run_id: str) -> Path:
        """For a run's files besides its events; it need not exist."""
        return run_folder(self.home, run_id, os.environ)

    def forget(self, run_id: str) -> None:
        """Delete that folder, once the run can't be resumed any more."""
        shutil.rmtree(self.folder(run_id), ignore_errors=True)

    def command(self, verb: str, run_id: str) -> str:
        """A command about a run, as in `leadhand resume RUN`."""
        return f"leadhand {verb} {run_id}{home_options(self.named)}{self._options}"


class _PatientJournal(StoreJournal):
    def __init__(self, storage: RunStorage) -> None:
        super().__init__(storage.store)
        self._storage = storage

    async def commit(self, run_id: str | None = None) -> None:
        try:
            await super().commit(run_id)
        except JournalError as error:
            if self._storage.lost is None:
                self._storage.lost = f"the rest of this run is not kept: {error}"
                print_note(self._storage.lost)


def _writable(folder: Path) -> None:
    """Raises `InputError` if nothing can be stored there."""
    why = why_no_folder(folder)
    if why is None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            why = f"it can't be made ({error.strerror})"
        else:
            if os.access(folder, os.W_OK):
                return
            why = "it can't be written"
    raise InputError(f"no runs can be stored in {folder}: {why}; name another folder with --home")
