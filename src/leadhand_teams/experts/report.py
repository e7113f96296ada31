"""The report: the answer of each expert, what contradicts it, what a professional must check."""

from collections.abc import Mapping
from typing import Final

from leadhand import Answer
from leadhand.tools.text import counted, joined_names
from leadhand_teams.experts.output import Answered
from leadhand_teams.shared.report import (
    Block,
    Items,
    QuoteBlock,
    Report,
    Section,
    TableBlock,
    saved,
)

NO_ADVICE: Final = (
    "These are the words of your documents, not advice: the experts never advise treatment, "
    "litigation or buying."
)


def files(answer: Answer) -> Mapping[str, str | bytes]:
    """The report as a page and as Markdown."""
    took = saved(answer) if answer.tasks[1:] else ""
    return report(answer.request, Answered.model_validate(answer.output), took=took).files


def report(request: str, found: Answered, *, took: str = "", alone: bool = True) -> Report:
    """What is handed on; not `alone`, it is within an answer that has its gaps already."""
    rows = [
        [cited.ref, cited.quote, *(state if one.settled else ["open"])]
        for one in found.disagreements
        for cited, state in ((one.one, ["holds"]), (one.other, ["replaced"]))
    ]
    shown = {cited.ref for one in found.disagreements for cited in (one.one, one.other)}
    to_reader = {cited.ref: cited for one in found.opinions for cited in one.to_reader}
    sections: dict[str, list[Block]] = {
        "The documents contradict each other": (
            [TableBlock(["Place", "Words", ""], rows)] if rows else []
        ),
        **{
            f"{str(one.field).capitalize()}: the places in your documents": [
                QuoteBlock(cited.quote, cited.ref, about=cited.heading)
                for cited in one.citations
                if cited.ref not in shown
            ]
            for one in found.opinions
        },
        "Added by the model": [f"{one.text} [{one.ref}]" for one in found.added],
        "What a professional must check": [Items(found.professional_check)],
        "Not followed: instructions to the reader": [
            QuoteBlock(cited.quote[:300], cited.ref) for cited in to_reader.values()
        ],
    }
    missing = [found.question] if found.question else []
    missing += dict.fromkeys(f"Not read: {why}" for one in found.opinions for why in one.unread)
    count = counted(max((one.files for one in found.opinions), default=0), "document")
    experts = joined_names([one for one in (found.expert, found.secondary) if one]) or "no"
    left_out = f"{counted(found.removed, 'statement')} of a model left out: no citation holds."
    return Report(
        title="Answer from your documents",
        about=f"{request[:300]} ({count}; {experts} expert)",
        lead=found.answer.split("\n\n") if found.answer else [],
        sections=[Section(title, blocks) for title, blocks in sections.items() if blocks],
        missing=missing if alone else (),
        missing_first=not found.answered,
        footer=[NO_ADVICE, *([left_out] if found.removed else []), *([took] if took else [])],
    )
