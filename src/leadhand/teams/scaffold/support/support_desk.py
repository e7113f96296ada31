"""What this team does without a model, and the tool that it uses with one.

These are plain functions. A worker's `offline` function takes a handoff and returns a value, or a
`Result` to add a summary, a confidence or evidence. A tool takes the arguments that the model fills
in, so it needs types and a docstring; the model reads what it returns.
"""

from pathlib import Path

from leadhand import Handoff, Result
from leadhand.tools.files import (
    Documents,
    Inputs,
    Passage,
    SearchIndex,
    best_passages,
    split_into_passages,
)

HANDBOOK = Path(__file__).parent / "handbook.md"
URGENT = ("charged twice", "double charge", "stolen", "hacked", "lost", "today", "urgent", "danger")
TROUBLE = ("crash", "broken", "damaged", "wrong", "error", "can't", "cannot", "doesn't", "not work")


def search_handbook(words: str) -> str:
    """Find the three sections of the handbook that match `words` best, each with its place."""
    found = search(words)
    if not found:
        sections = split_into_passages(handbook().read(HANDBOOK.name))
        headings = ", ".join(section.heading for section in sections)
        return f"Nothing about that. The handbook has sections on: {headings}."
    return "\n\n".join(map(quotation, found))


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
        output="\n\n".join(map(quotation, found)),
        summary=f"The handbook covers this under {', '.join(one.heading for one in found)}.",
        evidence=tuple(f"{section.name}:{section.line}" for section in found),
    )


def write_reply(handoff: Handoff) -> str:
    """A reply that quotes what the handbook says and leaves the rest to a person."""
    found = search(message_of(handoff))
    if not found:
        return "Hello,\n\nI have passed your message on to a colleague, who will write to you."
    quoted = "\n\n".join(map(text_of, found))
    return (
        f"Hello,\n\nthis is what applies here:\n\n{quoted}\n\nIf that does not settle it, just "
        "answer this message: a colleague will look at it."
    )


def message_of(handoff: Handoff) -> str:
    """What the customer wrote: the part of the intent after its first colon."""
    return handoff.intent.partition(": ")[2] or handoff.intent


def handbook() -> Documents:
    """The handbook, to be read or searched."""
    return Documents(Inputs.of([HANDBOOK]))


def search(message: str) -> list[Passage]:
    """The sections that have words of `message`, the best first."""
    return best_passages(SearchIndex(handbook()), message, 3)


def quotation(section: Passage) -> str:
    """A section with its heading and place."""
    return f"**{section.heading}** ({section.name}:{section.line}): {text_of(section)}"


def text_of(section: Passage) -> str:
    """A section on one line, without its heading."""
    return " ".join(section.text.removeprefix(f"## {section.heading}").split())
