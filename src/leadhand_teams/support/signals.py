"""What a request wants, by the expressions of `signals.yaml`: kinds, reasons, questions. Pure."""

from typing import Final

from leadhand_teams.support.output import Kind
from leadhand_teams.support.words import DATA, carrying, compiled, pattern, stems

PERSON: Final = ("rights", "money", "urgent", "leak")
"""Why a person is needed, whatever the kind."""
_READ: Final = 2_000


def reasons(text: str) -> list[str]:
    """Why only a person can help; empty: another worker may, as for how long refunds take."""
    about = pattern("asks_only").sub(" ", text)
    return [one for one in PERSON if pattern(one).search(about)]


def wish_in(text: str) -> bool:
    """Whether a request, of whatever kind, asks for something new."""
    signals = DATA["kinds"]["feature"]
    return any(weight > 1 and compiled(one).search(text) for weight, one in signals)


def points(kind: Kind, text: str) -> int:
    """The signals of a kind; those in the title, or a request of one line, count twice."""
    text = pattern("salutation").sub("", text[:_READ].strip())
    title, _, body = text.strip().partition("\n")
    return sum(
        weight * (2 * bool(one.search(title)) + bool(one.search(body)))
        for weight, one in ((weight, compiled(signal)) for weight, signal in DATA["kinds"][kind])
    )


def concerns(request: str, *, reports: bool = False) -> tuple[str, list[str]]:
    """What a request is about, and the questions that it has besides.

    A single question is about all that is written, unless that is a problem of its own, by its
    words or because it `reports` one that is known.
    """
    sentences = [one.strip() for one in pattern("sentence_end").split(request)]
    asked = [one for one in sentences if pattern("question").search(one)]
    parts = list[str]()
    for one in asked:
        for number, part in enumerate(pattern("and_question").split(one)):
            if number and not pattern("asks_first").search(parts[-1]):
                parts[-1] += f", {part}"  # What came before was no question.
            else:
                parts.append(part.strip())
    questions = [
        one if one.endswith((".", "!", "?")) else f"{one}?"
        for one in parts
        if len(carrying(stems(one))) > 1 and not pattern("problem").search(one)
    ]
    rest = " ".join(one for one in sentences if one not in asked)
    reports = reports or points("bug", rest) > 0 or pattern("problem").search(rest) is not None
    if questions and reports and len(carrying(stems(rest))) > 1:
        return rest, questions
    return request, questions if len(parts) > 1 else []
