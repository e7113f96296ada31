"""What the workers of the team do by code: each returns a part of a `ContractReview` as JSON."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, JsonValue

from leadhand import Escalated, Handoff, Result
from leadhand.tools.text import counted
from leadhand_teams.contracts.clauses import categories, clause
from leadhand_teams.contracts.comparing import compare
from leadhand_teams.contracts.documents import Contract, contract
from leadhand_teams.contracts.output import ContractReview
from leadhand_teams.contracts.playbook import check, handed_in, rank, ready_made


class Job(BaseModel):
    """The payload of a task."""

    names: tuple[str, ...]
    """What its files are called in the report."""
    categories: tuple[str, ...] = ()
    playbook: str = ""
    roles: Mapping[str, str] = {}
    """Of the playbook: the side that reads, and the words for it and for the others."""


def draft(handoff: Handoff) -> Result | Escalated:
    """The part of the review that a task asks for, if its contracts can be reviewed."""
    job = Job.model_validate(handoff.payload)
    contracts: list[Contract] = []
    for path, name in zip(handoff.artifacts, job.names, strict=False):
        one = contract(path, name)
        if isinstance(one, str):
            return Escalated(reason="ambiguous_input", message=f"{name} changed: {one}")
        contracts.append(one)
    review, summary = _part(job, contracts, handoff)
    findings = (*review.clauses, *review.checks, *review.risks, *review.compared)
    refs = dict.fromkeys(quote.ref for one in findings for quote in one.quotes[:1])
    output = review.model_dump(mode="json", exclude_defaults=True)
    return Result(output=output, summary=f"{summary} in {job.names[-1]}", evidence=[*refs][:50])


def _part(job: Job, contracts: Sequence[Contract], handoff: Handoff) -> tuple[ContractReview, str]:
    """A worker's part of the review, and what it has."""
    first, *others = contracts
    side = job.roles.get("side", "")
    if handoff.to_agent == "clauses":
        listed = tuple(clause(first, name, ()) for name in job.categories)
        listed = listed or tuple(clause(first, name) for name in categories())
        count = sum(one.present for one in listed)
        review = ContractReview(problems=first.problems, clauses=listed)
        return review, f"{count} of {len(listed)} clauses found"
    if handoff.to_agent == "compliance":
        own = handoff.artifacts[len(job.names) :]
        book = handed_in(own[0]) if own else ready_made(job.playbook)
        checks = tuple(check(first, book, side))
        concerns = counted(sum(verdict.concern for verdict in checks), "concern")
        review = ContractReview(playbook=book.name, side=side, checks=checks)
        return review, f"{concerns} by the {len(checks)} rules of {book.name}"
    if others:
        changes = compare(first, others[0])
        compared = tuple(one for one in changes if one.kind != "reworded")
        reworded = tuple(one for one in changes if one.kind == "reworded")
        review = ContractReview(compared=compared, reworded=reworded, versions=job.names)
        return review, f"{counted(len(changes), 'change')} since {job.names[0]}"
    known = [review_of(output) for output in handoff.inputs.values()]
    checks = [one for review in known for one in review.checks]
    changes = [one for review in known for one in review.compared]
    risks = tuple(rank(first, checks, changes, job.roles))
    return ContractReview(risks=risks), counted(len(risks), "risk")


def review_of(output: JsonValue) -> ContractReview:
    """What code put into the output of a task, without what a model added."""
    fields = output if isinstance(output, dict) else {}
    return ContractReview.model_validate({k: v for k, v in fields.items() if k != "added"})
