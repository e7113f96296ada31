"""A stored run as a program or a command reads it: once."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from leadhand.contracts.events import Event
from leadhand.errors import InputError
from leadhand.ports import Journal
from leadhand.state.fold import RunState, fold


@dataclass(slots=True, eq=False)
class StoredRun:
    """The events of a stored run and the state that follows from them."""

    run_id: str
    events: Sequence[Event] = ()
    state: RunState = field(default_factory=RunState)
    """While the run is resumed, its live state."""

    @classmethod
    def of(cls, journal: Journal, run_id: str) -> "StoredRun":
        """The run as `journal` has it now. Raises `InputError` if there is no such run."""
        stored = cls(run_id)
        stored.read(journal)
        return stored

    def read(self, journal: Journal) -> None:
        """Read the run, unless nothing was added since it was read last.

        Raises `InputError` if there is no such run.
        """
        if self.events and journal.last_seq(self.run_id) == self.events[-1].seq:
            return
        self.events = journal.events(self.run_id)
        self.state = fold(self.events)
        if not self.events:
            raise InputError(f"there is no run {self.run_id!r}")
