"""The result of checking a stored run: what can be read, and whether it is intact."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from leadhand.contracts.events import Event

InspectionVerdict = Literal["sound", "damaged", "not verifiable"]


@dataclass(frozen=True, slots=True)
class Inspection:
    """A stored run, up to its first damaged event."""

    run_id: str
    events: "tuple[Event, ...]" = ()
    """All events before the damage, or all of them."""
    damage: str = ""
    """What is wrong, and where; empty if nothing is."""
    unread: str = ""
    """Why an undamaged run could not be read to its end; empty if it was."""
    unverified: int = 0
    """Events without a checksum, written by leadhand 0.1."""

    @property
    def verdict(self) -> InspectionVerdict:
        """`not verifiable`: all events can be read, but some have no checksum."""
        return "damaged" if self.damage else "not verifiable" if self.unverified else "sound"
