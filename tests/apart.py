"""Functions that tests run in processes of their own, which import this module alone."""

from pathlib import Path

from pydantic import BaseModel

from leadhand import Handoff, Result


class Order(BaseModel):
    """An order to look at."""

    id: int
    note: str = ""


class Busy(LookupError):
    """Permanent, unless a worker says otherwise."""


def look(handoff: Handoff) -> str:
    """Says what it was handed."""
    payload = handoff.payload
    return f"{type(payload).__name__} {payload.id if isinstance(payload, Order) else payload}"


def half_sure(handoff: Handoff) -> Result:
    return Result(output=41, summary="41, perhaps", confidence=50)


def busy_twice(handoff: Handoff) -> str:
    """Counts its attempts in the file that the intent names."""
    file = Path(handoff.intent)
    file.write_text(file.read_text() + "x")
    if len(file.read_text()) < 3:
        raise Busy("come back later")
    return "done"
