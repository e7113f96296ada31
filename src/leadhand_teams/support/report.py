"""What the team writes as files: the reply, the ticket and the evidence, for the desk."""

from collections.abc import Mapping
from dataclasses import replace

from leadhand import Answer
from leadhand_teams.shared.report import Markdown, Report, Section, TableBlock, saved
from leadhand_teams.support.output import SupportAnswer
from leadhand_teams.support.sections import ANSWERS_FROM


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """`report.html` and `report.md`; `reply.md` is what the customer gets."""
    found = SupportAnswer.model_validate(answer.output)
    missing = [gap.why for gap in answer.gaps]
    below = document(found)
    person = f", severity {found.ticket.severity}: a person is needed" if found.ticket else ""
    reply = Section("Reply to the customer", [Markdown(found.reply.replace("\n## ", "\n### "))])
    made = replace(
        below,
        lead=[f"Kind: {found.kind}{person}."],
        sections=[reply, *below.sections],
        missing=missing,
        missing_first=bool(missing) and not found.answered,
        about=f"Request: {answer.request}",
        footer=[*below.footer, *([saved(answer)] if answer.tasks[1:] else [])],
    )
    return {**made.files, "reply.md": found.reply}


def document(found: SupportAnswer, *, desk: bool = True) -> Report:
    """What comes below the reply; the evidence is for the desk only."""
    sections: list[Section] = []
    if (made := found.ticket) is not None:
        told = {name: text if isinstance(text, str) else "; ".join(text) for name, text in made}
        rows = [(name.replace("_", " ").capitalize(), told[name] or "not stated") for name in told]
        sections.append(Section("Ticket for a person", [TableBlock(("", ""), rows)]))
    if desk and found.signs:
        rows = [(one.text, one.place, f"{one.times}", one.meaning, one.ref) for one in found.signs]
        table = TableBlock(("What", "Where or when", "Times", "Known as", "Found in"), rows)
        sections.append(Section("What went wrong, by the request and logs", [table]))
    if desk and found.sections:
        answers = found.sections[0].score >= ANSWERS_FROM
        shown = found.sections[: None if answers else 3]
        rows = [(one.title, f"{one.score:.2f}", one.ref) for one in shown]
        which = "Sections found" if answers else "Nearest sections, none of which surely answers"
        sections.append(Section(which, [TableBlock(("Section", "Score", "Place"), rows)]))
    footer: list[str] = []
    if found.own_knowledge:
        footer.append("No documents of yours were handed in: this is from the team's own ones.")
    footer += [f"Not read: {one}." for one in found.unread]
    return Report(
        "Support request",
        [],
        sections,
        footer=footer,
        added=found.added if desk else (),
        removed=found.removed,
    )
