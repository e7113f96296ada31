"""Puts a review together: every quote is checked against its text, then the report is written."""

from collections.abc import Sequence
from itertools import chain

from pydantic import ValidationError

from leadhand import Plan
from leadhand.contracts.answer import Gap, Source
from leadhand.extension.roles import Conflict, Synthesis, TaskResult
from leadhand_teams.contracts.clauses import unanswered
from leadhand_teams.contracts.documents import contract
from leadhand_teams.contracts.drafts import Job, review_of
from leadhand_teams.contracts.output import ContractQuote, ContractReview
from leadhand_teams.contracts.report import report
from leadhand_teams.contracts.risks import RANK, contradictions
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.statements import Added, Statement, check


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The review of all contracts, from the results that there are."""
    parts = {one.task.id: part for one in results if (part := _part(one)) is not None}
    done = [one for one in results if one.task.id in parts]
    texts = _texts(done)
    review, untrue = _true(_merged(list(parts.values())), texts)
    rules = {one.statement for one in review.checks}
    held = check(
        chain.from_iterable(map(_added, done)),
        texts,
        allows=lambda one: "it is a rule of the playbook" if one.text in rules else None,
    )
    review = review.model_copy(update={"added": held.kept, "removed": len(held.removed)})
    first = plan.tasks[0].id
    why = f"{untrue} left out: their quotes are not in the text"
    only = all(task.worker == "clauses" for task in plan.tasks)
    left = unanswered(plan.goal, review.clauses) if only else []
    owners = {one.file: task for task, part in parts.items() for one in part.contracts}
    conflicts = tuple(
        Conflict(
            task_ids=(owners.get(clause.contract, first),),
            kind="contradiction",
            about=f"{clause.category}: {one.ref} ({one.place}), {other.ref} ({other.place})",
        )
        for clause, one, other in contradictions(review.clauses)
    )
    return Synthesis(
        answer=report(review, plan.goal).markdown(title=False),
        output=review.model_dump(mode="json"),
        conflicts=conflicts,
        sources=tuple(
            Source(task_id=one.task.id, ref=ref)
            for one in done
            for ref in (one.result.evidence if one.result else ())
        ),
        gaps=tuple(Gap(task_id=first, why=one) for one in (*([why] if untrue else []), *left)),
    )


def _part(result: TaskResult) -> ContractReview | None:
    try:
        return review_of(result.result.output) if result.result else None
    except ValidationError:
        return None


def _texts(results: Sequence[TaskResult]) -> list[Text]:
    jobs = [(one.task.artifacts, Job.model_validate(one.task.payload).names) for one in results]
    named = {pair for paths, names in jobs for pair in zip(paths, names, strict=False)}
    read = [contract(path, name) for path, name in sorted(named)]
    return [one.text for one in read if one is not None]


def _added(result: TaskResult) -> Sequence[Statement]:
    output = result.result.output if result.result else None
    try:
        found = output.get("added") if isinstance(output, dict) else None
        return Added.model_validate(found or {}).statements
    except ValidationError:
        return ()


def _merged(parts: Sequence[ContractReview]) -> ContractReview:
    """One review: lists joined, names listed once."""
    lists = ("contracts", "clauses", "checks", "risks", "compared", "reworded", "versions")
    joined = {
        name: tuple(chain.from_iterable(getattr(part, name) for part in parts)) for name in lists
    }
    review = ContractReview().model_copy(update=joined)
    return review.model_copy(
        update={
            "playbook": ", ".join(dict.fromkeys(p.playbook for p in parts if p.playbook)) or None,
            "side": ", ".join(dict.fromkeys(p.side for p in parts if p.side)) or None,
            "risks": tuple(sorted(review.risks, key=lambda one: RANK[one.severity])),
        }
    )


def _true(review: ContractReview, texts: Sequence[Text]) -> tuple[ContractReview, int]:
    """The review without what quotes words that are not in its text, and how much that was."""
    by_name = {text.name: text.text for text in texts}
    every = "\0".join(by_name.values())

    def holds(contract: str, *quotes: ContractQuote | None) -> bool:
        text = by_name.get(contract, "")
        return all(text[one.start : one.end] == one.text for one in quotes if one)

    kept = {
        "clauses": tuple(one for one in review.clauses if holds(one.contract, *one.quotes)),
        "checks": tuple(one for one in review.checks if holds(one.contract, *one.quotes)),
        "risks": tuple(one for one in review.risks if holds(one.contract, one.quote)),
        "compared": tuple(
            one
            for one in review.compared
            if all((words or "") in every for words in (one.before, one.after))
        ),
    }
    untrue = sum(len(getattr(review, name)) - len(one) for name, one in kept.items())
    return review.model_copy(update=kept), untrue
