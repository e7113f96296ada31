"""What researcher and analyst hand to the writer: sections of a report, and what is missing.

Data only. Everything in it but gaps is Markdown that was made safe, see `quoting`.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from leadhand.tools.text import by_reason


class ReportSection(BaseModel):
    """What was found in one file."""

    model_config = ConfigDict(frozen=True)

    title: str
    body: str


class MissingInput(BaseModel):
    """Something that was handed in and is not, or not wholly, in the findings."""

    model_config = ConfigDict(frozen=True)

    name: str
    """As it is, not as Markdown."""
    why: str
    by_choice: bool = False
    """True where leaving it out is right, such as a hidden file: the answer is whole without it."""


class Findings(BaseModel):
    """What one worker found."""

    model_config = ConfigDict(frozen=True)

    about: Literal["sources", "tables"]
    answer: tuple[str, ...] = ()
    """What answers the request, before all else, a paragraph each."""
    groups: tuple[str, ...] = ()
    """What the answer names, such as a region: texts are searched for it. As it is."""
    others: tuple[str, ...] = ()
    """What stands beside `groups` and is not meant."""
    lead: tuple[str, ...]
    """What matters most, a line each."""
    sections: tuple[ReportSection, ...] = ()
    found: bool = True
    """Whether anything here bears on the request."""
    unknown: tuple[str, ...] = ()
    """Words of the request that nothing was found on."""
    gaps: tuple[MissingInput, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The gaps that make an answer partial, a line for each reason."""
        gaps = [(gap.name, gap.why) for gap in self.gaps if not gap.by_choice]
        return tuple(f"{names}: {why}" for names, why in by_reason(gaps))
