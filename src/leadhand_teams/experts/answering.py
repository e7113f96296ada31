"""The synthesis: one answer of the experts, with what they contradict and what is missing."""

from collections.abc import Iterator, Sequence
from typing import Final, cast

from pydantic import JsonValue, ValidationError

from leadhand import Plan
from leadhand.contracts.answer import Conflict, Gap, Source
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand_teams.experts.fields import EXPERTS
from leadhand_teams.experts.output import Answered, Disagreement, ExpertOpinion
from leadhand_teams.experts.report import report
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.statements import Added, check

_NONE: Final = "No expert was asked: this is a question of none of the four fields."


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    found = _choice(plan)
    opinions = {one.task.id: said for one in results if (said := _opinion(one))}
    experts = {task: one for task, one in opinions.items() if one.field is not None}
    found.opinions = sorted(experts.values(), key=lambda one: one.field != found.expert)
    shown: set[str] = set()
    for one in found.opinions:
        if one.answered and one.answer in shown:  # the same words do not answer another part too
            one.answered, one.citations = False, []
            one.lack = f"no other passage answers “{one.question.strip(' ?')}”"
            one.ask = f"N{one.lack[1:]}. Which document has it, or in what words?"
        shown.add(one.answer)
    pairs = {(d.one.ref, d.other.ref): d for one in opinions.values() for d in one.disagreements}
    found.disagreements = [*pairs.values()]
    _add(found, results)
    asked = [one for one in (found.expert, found.secondary) if one is not None]
    answering = {one.field for one in found.opinions if one.answered}
    found.answered = bool(asked) and answering >= {*asked}
    moderated = [one for one in opinions.values() if one.field is None]
    found.answer = "\n\n".join(_lines(found, moderated))
    found.citations = [cited for one in found.opinions for cited in one.citations]
    checks = (check for one in found.opinions for check in one.checks)
    found.professional_check = [*dict.fromkeys(checks)]
    asks = [one.ask for one in opinions.values() if one.ask]
    found.question = " ".join(dict.fromkeys(asks)) or None
    first = next(iter(opinions), "experts")
    return Synthesis(
        answer=report(plan.goal, found, alone=False).markdown(title=False),
        output=cast("JsonValue", found.model_dump(mode="json")),
        confidence=found.confidence,
        conflicts=tuple(_conflict(one, opinions) for one in found.disagreements),
        sources=tuple(
            Source(task_id=task, ref=ref)
            for task, one in experts.items()
            for ref in dict.fromkeys(cited.ref for cited in one.citations)
        ),
        gaps=(Gap(task_id=first, why=found.question),) if found.question else (),
    )


def _choice(plan: Plan) -> Answered:
    """The experts that the plan has tasks for, and how sure it is of them."""
    named = dict.fromkeys(task.worker for task in plan.tasks if task.worker in EXPERTS)
    first, second, *_ = [*named, None, None]
    payloads = (task.payload for task in plan.tasks if isinstance(task.payload, dict))
    sure = next((one["confidence"] for one in payloads if "confidence" in one), 0)
    return Answered.model_validate({"expert": first, "secondary": second, "confidence": sure})


def _opinion(one: TaskResult) -> ExpertOpinion | None:
    try:
        return ExpertOpinion.model_validate(one.result.output) if one.result is not None else None
    except ValidationError:
        return None  # of a person, or of a worker that is not the team's


def _lines(found: Answered, moderated: Sequence[ExpertOpinion]) -> Iterator[str]:
    """The answer in a sentence for each expert, labelled, and where documents differ."""
    for one in found.opinions:
        said = f"{one.lack or 'there are no documents to answer from'}."
        if one.citations and not one.answered:
            near = "; ".join(f"“{cited.quote}” ({cited.ref})" for cited in one.citations[:4])
            said += f" What is nearest to it: {near}"
        said = " ".join([one.answer, *one.notes]) if one.answered else said
        yield f"{str(one.field).capitalize()}: {said}"
    yield from (_NONE for one in moderated if one.ask)
    for one in found.disagreements:
        if one.settled:
            yield f"{one.other.ref} differs ({one.what}), but {one.one.ref} holds. {one.why}"
        else:
            yield f"The documents contradict each other ({_both(one)}). {one.why}"


def _both(one: Disagreement) -> str:
    return f"{one.what}: {one.one.ref} and {one.other.ref}"


def _conflict(one: Disagreement, opinions: dict[str, ExpertOpinion]) -> Conflict:
    return Conflict(
        task_ids=tuple(task for task, found in opinions.items() if one in found.disagreements),
        kind="contradiction",
        about=_both(one),
        resolution=f"{one.one.ref} holds" if one.settled else None,
        why=one.why,
    )


def _add(found: Answered, results: Sequence[TaskResult]) -> None:
    """What models added, if its citation holds; the rest is counted."""
    cited = [one for opinion in found.opinions for one in opinion.citations]
    texts = [Text(one.ref, one.quote, id=one.ref) for one in cited]
    for one in results:
        output = one.result.output if one.result is not None else None
        if isinstance(output, dict) and output.get("added"):
            checked = check(Added.model_validate(output["added"]).statements, texts)
            found.added += checked.kept
            found.removed += len(checked.removed)
