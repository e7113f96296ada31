"""Plans by the request and the documents: the experts it is for, each with its part of it."""

import math
from collections import defaultdict
from collections.abc import Sequence

from leadhand import Plan, Task, Team
from leadhand.contracts.task import PlanRequest
from leadhand.errors import InputError
from leadhand_teams.experts.asking import parts_of
from leadhand_teams.experts.fields import EXPERTS, Expert, FieldChoice, choose, weights
from leadhand_teams.experts.finding import find
from leadhand_teams.experts.sentences import KnownLines, known_documents
from leadhand_teams.experts.words import codes, has_words, weight

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
            payload={"confidence": round(confidence), "question": part, "case": request.text},
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
            payload={"confidence": round(confidence), "question": request.text},
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


def _experts(
    question: str, team: Team, known: KnownLines | None
) -> tuple[dict[Expert, str], float]:
    """The parts of the question that are for each expert, and the confidence in the first one."""
    whole = _choice(question, question, team, known)
    parts = parts_of(question)
    choices = [_choice(one, question, team, known, whole.expert) for one in parts]
    choices = choices if parts[1:] else [whole]
    sure = [one for one in choices if one.expert and one.confidence >= _CLEAR] or [whole]
    said: dict[Expert, list[str]] = {}
    for part, choice in zip(parts, choices, strict=True):
        if expert := (choice if choice in sure else sure[0]).expert:
            said.setdefault(expert, []).append(part)
    if len(said) == 1 and whole.secondary:
        said.setdefault(whole.secondary, parts)
    is_one = len(said) == 1  # it reads the whole question
    experts: dict[Expert, str] = {
        expert: question if is_one else " ".join(of) for expert, of in [*said.items()][:2]
    }
    return experts, sure[0].confidence


def _choice(
    part: str,
    question: str,
    team: Team,
    known: KnownLines | None,
    first: Expert | None = None,
) -> FieldChoice:
    if known is None:
        return choose(part, team.trained_router)
    asks = parts_of(part)  # without what only tells something
    evidence = _evidence(part if asks[1:] else asks[0], question, known)
    for number in known.coded(codes(part)):
        evidence[known.kinds[known.sentences[number].file].field or "technical"] = weight("coded")
    choice = choose(part, team.trained_router, evidence=evidence)
    if not evidence and max(weights(part)[one] for one in EXPERTS) <= weight("field_word"):
        return FieldChoice(None, None, choice.confidence)
    # A part stays with the expert of the whole if a document of that field answers it best.
    if first and evidence.get(first, 0.0) > evidence.get(choice.expert or first, 0.0):
        return FieldChoice(first, None, choice.confidence)
    # Of a second field there must be a document.
    return choice if choice.secondary in evidence else choice._replace(secondary=None)


def _evidence(part: str, question: str, known: KnownLines) -> dict[Expert, float]:
    """For each field how well its documents answer, 0 to 1, or more if they have its codes."""
    answer = find(part, question, known, None)
    found: defaultdict[Expert, float] = defaultdict(float)
    for one in answer.near:
        share = answer.known**2 * one.share * math.sqrt(one.score / answer.near[0].score)
        if one.sentence.title and has_words(part, one.sentence.title):
            share = 1.0
        if (field := known.kinds[one.sentence.file].field) and share >= weight("evidence"):
            found[field] = max(found[field], share)
    for word in answer.asks:
        named = [file for file, top in known.tops.items() if word.is_in(top, exactly=True)]
        fields: set[Expert | None] = {known.kinds[file].field for file in named}
        field = fields.pop() if len(fields) == 1 else None
        if field and (word.is_subject or word.is_name):
            found[field] = max(found[field], weight("named"))
    return found
