"""Puts a review together: every quote is checked against its text, then the report is written."""

from collections.abc import Sequence
from itertools import chain

from leadhand import Plan
from leadhand.contracts.answer import Gap, Source
from leadhand.extension.roles import Conflict, Synthesis, TaskResult
from leadhand_teams.contracts.checks import RANK, contradictions
from leadhand_teams.contracts.documents import contract
from leadhand_teams.contracts.output import ContractQuote, ContractReview
from leadhand_teams.contracts.report import report
from leadhand_teams.contracts.work import Job, review_of
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.statements import Added, check


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The review of all contracts, from the results that there are."""
    done = [(one.task, one.result) for one in results if one.result is not None]
    texts = _texts(results)
    review, untrue = _true(_merged([review_of(result.output) for _, result in done]), texts)
    rules = {one.statement for one in review.checks}
    held = check(
        [
            statement
            for _, result in done
            if isinstance(result.output, dict) and result.output.get("added")
            for statement in Added.model_validate(result.output["added"]).statements
        ],
        texts,
        allows=lambda one: "it is a rule of the playbook" if one.text in rules else None,
    )
    review = review.model_copy(update={"added": held.kept, "removed": len(held.removed)})
    first = plan.tasks[0].id
    gaps = [f"{untrue} left out: their quotes are not in the text"] if untrue else []
    return Synthesis(
        answer=report(review, plan.goal).markdown(title=False),
        output=review.model_dump(mode="json"),
        conflicts=tuple(
            Conflict(
                task_ids=(first,),
                kind="contradiction",
                about=f"{clause.category}: {one.ref} ({one.place}), {other.ref} ({other.place})",
            )
            for clause, one, other in contradictions(review.clauses)
        ),
        sources=tuple(
            Source(task_id=task.id, ref=ref) for task, result in done for ref in result.evidence
        ),
        gaps=tuple(Gap(task_id=first, why=why) for why in gaps),
    )


def _texts(results: Sequence[TaskResult]) -> list[Text]:
    jobs = [(one.task.artifacts, Job.model_validate(one.task.payload).names) for one in results]
    named = {pair for paths, names in jobs for pair in zip(paths, names, strict=False)}
    read = [contract(path, name) for path, name in sorted(named)]
    return [one.text for one in read if one is not None]


def _merged(parts: Sequence[ContractReview]) -> ContractReview:
    """One review: lists joined, names listed once."""
    lists = ("contracts", "clauses", "checks", "risks", "compared", "reworded", "versions")
    update: dict[str, object] = {
        name: tuple(chain.from_iterable(getattr(part, name) for part in parts)) for name in lists
    }
    for name in ("playbook", "side"):
        named = dict.fromkeys(getattr(part, name) for part in parts if getattr(part, name))
        update[name] = ", ".join(named) or None
    risks = sorted((one for part in parts for one in part.risks), key=lambda o: RANK[o.severity])
    return ContractReview().model_copy(update={**update, "risks": tuple(risks)})


def _true(review: ContractReview, texts: Sequence[Text]) -> tuple[ContractReview, int]:
    """The review without what quotes words that are not in its text, and how much that was."""
    by_name = {text.name: text.text for text in texts}
    every = "\0".join(by_name.values())

    def holds(contract: str, *quotes: ContractQuote | None) -> bool:
        text = by_name.get(contract, "")
        return all(text[one.start : one.end] == one.text for one in quotes if one)

    def said(*words: str | None) -> bool:
        return all((one or "") in every for one in words)

    kept = {
        "clauses": [one for one in review.clauses if holds(one.contract, *one.quotes)],
        "checks": [one for one in review.checks if holds(one.contract, *one.quotes)],
        "risks": [one for one in review.risks if holds(one.contract, one.quote)],
        "compared": [one for one in review.compared if said(one.before, one.after)],
    }
    untrue = sum(len(getattr(review, name)) - len(one) for name, one in kept.items())
    return review.model_copy(update={name: tuple(one) for name, one in kept.items()}), untrue
