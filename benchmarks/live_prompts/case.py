"""What a case is, and what it asks with."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from leadhand.models.calls import Caller
from leadhand.untrusted.fence import Fence


@dataclass(frozen=True, slots=True)
class Lab:
    """What asks the model that is measured."""

    model: object
    caller: Caller
    fence: Fence


@dataclass(frozen=True, slots=True)
class Case:
    """One question to one prompt."""

    prompt: str
    ask: Callable[[Lab], Awaitable[str]]
    """Returns what is wrong with the answer although it could be used; empty if it is right.

    Raises `LeadhandError` if there was no answer that could be used."""
