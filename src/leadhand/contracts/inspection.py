"""What can be read of a stored run, and whether it is what was written."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from leadhand.contracts.events import Event

InspectionVerdict = Literal["sound", "damaged", "not verifiable"]


@dataclass(frozen=True, slots=True)
class Inspection:
    """A stored run as far as it is sound."""

    run_id: str
    events: "tuple[Event, ...]" = ()
    """From the first up to where it is damaged, or to the last."""
    damage: str = ""
    """What is wrong, and where; empty: nothing is."""
    unread: str = ""
    """Why no more can be read of a run that is sound; empty: all was read."""
    unverified: int = 0
    """Events without a checksum: leadhand 0.1 wrote them."""

    @property
    def verdict(self) -> InspectionVerdict:
        """`not verifiable`: all of it can be read, and part of it has no checksums."""
        return "damaged" if self.damage else "not verifiable" if self.unverified else "sound"
