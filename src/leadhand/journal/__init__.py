"""Where events are kept: one contract (`leadhand.ports.Journal`), one module each."""

from leadhand.journal.memory import MemoryJournal

__all__ = ["MemoryJournal"]
