"""What researcher and analyst hand to the writer: sections of a report, and what is missing.

Data only. Everything in it is Markdown that was made safe, see `quoting`.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """What was found in one file."""

    model_config = ConfigDict(frozen=True)

    title: str
    body: str


class Gap(BaseModel):
    """Something that was handed in and is not, or not wholly, in the findings."""

    model_config = ConfigDict(frozen=True)

    name: str
    why: str


class Findings(BaseModel):
    """What one worker found."""

    model_config = ConfigDict(frozen=True)

    about: Literal["sources", "tables"]
    lead: tuple[str, ...]
    """What matters most, a line each."""
    sections: tuple[Section, ...] = ()
    unknown: tuple[str, ...] = ()
    """Words of the request that nothing was found on."""
    gaps: tuple[Gap, ...] = ()
