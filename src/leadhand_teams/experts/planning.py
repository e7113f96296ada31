"""Plans by the request and the documents: the experts it is for, each with its part of it."""

from collections.abc import Sequence

from leadhand import Plan, Task, Team
from leadhand.contracts.task import PlanRequest
from leadhand.errors import InputError
from leadhand_teams.experts.asking import is_open, parts_of, wanted
from leadhand_teams.experts.fields import EXPERTS, Expert, FieldChoice, choose, weights
from leadhand_teams.experts.finding import find, meanings
from leadhand_teams.experts.sentences import KnownLines, known_documents
from leadhand_teams.experts.words import has_words, weight

_SEVERAL = 3
"""A question that names nothing is asked back if so many sections of one document answer it."""
_CLEAR = 60
"""Confidence from which a part of a question may have an expert of its own."""


def plan(request: PlanRequest, team: Team) -> Plan:
    """A task for one expert or two, or one that asks back. Raises `InputError`."""
    paths = tuple(path for batch in request.batches.get("inputs", ()) for path in batch.artifacts)
    chosen, confidence = _experts(request.text, team, _known(paths))
    tasks = [
        Task(
            id=expert,
            worker=expert,
            intent=f"Answer from the documents as the {expert} expert: {part}",
            payload={"confidence": confidence, "question": part},
            artifacts=paths,
        )
        for expert, part in chosen.items()
    ]
    if len(tasks) != 1:
        what = "Judge where the experts contradict each other" if tasks else "Ask what is meant"
        judge = Task(
            id="moderator",
            worker="moderator",
            intent=f"{what}: {request.text}",
            payload={"confidence": confidence, "question": request.text},
            artifacts=() if tasks else paths,
            depends_on=tuple(task.id for task in tasks),
            tolerates_missing=True,
        )
        tasks.append(judge)
    return Plan(goal=request.text, tasks=tasks)


def _known(paths: Sequence[str]) -> KnownLines | None:
    try:
        known = known_documents(paths) if paths else None
    except InputError:
        return None  # the expert says so
    return known if known and known.sentences else None


def _experts(question: str, team: Team, known: KnownLines | None) -> tuple[dict[Expert, str], int]:
    """The part of the question that is for each expert, and the confidence in the choice."""
    if known and is_open(question):
        may_be = meanings(question, known)
        files = dict.fromkeys(one.file for one in may_be)
        fields: dict[Expert, str] = {}
        for file in files:
            if field := known.kinds[file].field:
                fields[field] = question
        if len(files) == len(fields) == 2:
            return fields, _CLEAR
        if len(files) > 1 or len({one.heading for one in may_be}) >= _SEVERAL:
            return {}, 0
    choice = _choice(question, question, team, known)
    parts: dict[Expert, list[str]] = {}
    for part in parts_of(question):
        own = _choice(part, question, team, known, choice.expert)
        expert = own.expert if own.expert and own.confidence >= _CLEAR else choice.expert
        if expert:
            parts.setdefault(expert, []).append(part)
    if choice.secondary and len(parts) == 1:
        parts |= {one: [question] for one in (*parts, choice.secondary)}
    chosen = [*parts.items()][:2]
    whole = len(chosen) == 1  # it says most of the case
    said: dict[Expert, str] = {one: question if whole else " ".join(found) for one, found in chosen}
    return said, round(choice.confidence)


def _choice(
    part: str,
    question: str,
    team: Team,
    known: KnownLines | None,
    first: Expert | None = None,
) -> FieldChoice:
    evidence = _evidence(part, question, known) if known else dict[Expert, float]()
    choice = choose(part, team.trained_router, evidence=evidence)
    if (
        known
        and not evidence
        and max(weights(part)[one] for one in EXPERTS) <= weight("field_word")
    ):
        return FieldChoice(None, None, choice.confidence)
    # A part stays with the first expert if a document of that field answers it best.
    if first and evidence.get(first, 0.0) > evidence.get(choice.expert or first, 0.0):
        return FieldChoice(first, None, choice.confidence)
    # Of a second field there must be a document, if there are documents.
    lacks = known is not None and choice.secondary not in evidence
    return choice._replace(secondary=None) if lacks else choice


def _evidence(part: str, question: str, known: KnownLines) -> dict[Expert, float]:
    """For each field how well its documents answer, 0 to 1."""
    answer = find(part, question, known, None)
    found: dict[Expert, float] = {}
    for one in answer.near:
        field = known.kinds[one.sentence.file].field
        share = answer.known * one.share * (one.score / answer.near[0].score) ** 2
        if one.sentence.title and has_words(part, one.sentence.title):
            share = 1.0
        if field and share >= weight("evidence"):
            found[field] = max(found.get(field, 0.0), share)
    for word in wanted(part, question, known):
        named = [file for file, top in known.tops.items() if word.is_in(top, exactly=True)]
        fields = {field for file in named if (field := known.kinds[file].field)}
        if (word.is_subject or word.is_name) and len(fields) == 1:
            found |= {
                one: max(found.get(one, 0.0), weight("named")) for one in EXPERTS if one in fields
            }
    return found
