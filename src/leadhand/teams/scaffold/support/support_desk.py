"""What this team does without a model, and the tool that it uses with one.

These are plain functions. A worker's `offline` function takes a handoff and returns a value, or a
`Result` to add a summary, a confidence or evidence. A tool takes the arguments that the model fills
in, so it needs types and a docstring; the model reads what it returns.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from leadhand import Handoff, Result

HANDBOOK = Path(__file__).parent / "handbook.md"
URGENT = ("charged twice", "double charge", "stolen", "hacked", "lost", "today", "urgent", "danger")
COMMON = ("about", "after", "been", "customer", "does", "from", "have", "into", "that", "there")
TROUBLE = ("crash", "broken", "damaged", "wrong", "error", "can't", "cannot", "doesn't", "not work")


@dataclass(frozen=True)
class Section:
    """A part of the handbook."""

    heading: str
    text: str
    place: str
    """Its place, as `file:line`."""

    @property
    def passage(self) -> str:
        """The section as a quotation."""
        return f"**{self.heading}** ({self.place}): {self.text}"


def search_handbook(words: str) -> str:
    """Find the three sections of the handbook that match `words` best, each with its place."""
    found = search(words)
    if not found:
        headings = ", ".join(section.heading for section in sections())
        return f"Nothing about that. The handbook has sections on: {headings}."
    return "\n\n".join(section.passage for section in found)


def triage(handoff: Handoff) -> Result:
    """The topic and the urgency of a message, judged by its words."""
    message = message_of(handoff)
    found = search(message)
    topic = found[0].heading if found else "something that the handbook does not cover"
    urgency, why = "low", ""
    for level, signs in (("normal", TROUBLE), ("high", URGENT)):
        sign = next((sign for sign in signs if sign in message.lower()), None)
        if sign is not None:
            urgency, why = level, sign
    return Result(
        output={"topic": topic, "urgency": urgency, "why": why},
        summary=f"{topic}; urgency: {urgency}.",
    )


def look_up(handoff: Handoff) -> Result:
    """What the handbook says about a message."""
    found = search(message_of(handoff))
    if not found:
        return Result(output="The handbook says nothing about this.", confidence=50)
    return Result(
        output="\n\n".join(section.passage for section in found),
        summary=f"The handbook covers this under {', '.join(one.heading for one in found)}.",
        evidence=tuple(section.place for section in found),
    )


def write_reply(handoff: Handoff) -> str:
    """A reply that quotes what the handbook says and leaves the rest to a person."""
    found = search(message_of(handoff))
    if not found:
        return "Hello,\n\nI have passed your message on to a colleague, who will write to you."
    quoted = "\n\n".join(section.text for section in found)
    return (
        f"Hello,\n\nthis is what applies here:\n\n{quoted}\n\nIf that does not settle it, just "
        "answer this message: a colleague will look at it."
    )


def message_of(handoff: Handoff) -> str:
    """What the customer wrote: the part of the intent after its first colon."""
    return handoff.intent.partition(": ")[2] or handoff.intent


def search(message: str, most: int = 3) -> list[Section]:
    """The sections that share the rarest words with `message`, the best first."""
    known = {section: stems(f"{section.heading} {section.text}") for section in sections()}
    scores: dict[Section, float] = {}
    for word in stems(message):
        having = [section for section, words in known.items() if word in words]
        for section in having:
            in_heading = word in stems(section.heading)
            scores[section] = scores.get(section, 0) + (3 if in_heading else 1) / len(having)
    ranked = sorted(scores, key=lambda section: -scores[section])
    return [section for section in ranked[:most] if scores[section] >= 1]


def stems(text: str) -> set[str]:
    """The words of `text` that are longer than three letters, without their usual endings."""
    words = set(re.findall(r"[a-z]{4,}", text.lower())) - set(COMMON)
    return {re.sub(r"(ing|es|ed|s|e)$", "", word) for word in words}


def sections() -> list[Section]:
    """The sections of the handbook, one per heading."""
    found: list[Section] = []
    lines = HANDBOOK.read_text(encoding="utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("## ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        text = " ".join(" ".join(lines[start + 1 : end]).split())
        place = f"{HANDBOOK.name}:{start + 1}"
        found.append(Section(lines[start].removeprefix("## "), text, place))
    return found
