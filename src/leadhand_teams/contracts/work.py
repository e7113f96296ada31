"""What the workers of the team do by code: each returns a part of a `ContractReview` as JSON."""

from collections.abc import Sequence

from pydantic import BaseModel, JsonValue

from leadhand import Escalated, Handoff, Result
from leadhand.tools.text import counted
from leadhand_teams.contracts.checks import check, rank
from leadhand_teams.contracts.clauses import by_words, find
from leadhand_teams.contracts.comparing import compare
from leadhand_teams.contracts.documents import Contract, contract, reading
from leadhand_teams.contracts.output import ContractReview, ContractSides
from leadhand_teams.contracts.playbook import handed_in, ready_made


class Job(BaseModel):
    """The payload of a task."""

    names: tuple[str, ...]
    """What its files are called in the report."""
    categories: tuple[str, ...] = ()
    playbook: str = ""
    sides: ContractSides = ContractSides()


def clauses(handoff: Handoff) -> Result | Escalated:
    """The clauses of a contract, quoted."""
    read = _read(handoff)
    if isinstance(read, Escalated):
        return read
    job, (one, *_) = read
    listed = tuple(by_words(one, name) for name in job.categories) or find(one)
    present = [clause for clause in listed if clause.present]
    summary = f"{len(present)} of {len(listed)} clauses found in {job.names[0]}"
    review = ContractReview(contracts=(one.about,), clauses=listed)
    return _result(review, summary, [clause.quotes[0].ref for clause in present])


def compliance(handoff: Handoff) -> Result | Escalated:
    """The verdict on each rule of a playbook."""
    read = _read(handoff)
    if isinstance(read, Escalated):
        return read
    job, (one, *_) = read
    own = handoff.artifacts[len(job.names) :]
    book = handed_in(own[0]) if own else ready_made(job.playbook)
    checks = tuple(check(one, book, job.sides))
    concerns = counted(sum(verdict.concern for verdict in checks), "concern")
    summary = f"{concerns} by the {len(checks)} rules of {book.name} in {job.names[0]}"
    review = ContractReview(playbook=book.name, side=job.sides.reader, checks=checks)
    return _result(review, summary, [verdict.quotes[0].ref for verdict in checks if verdict.quotes])


def risk(handoff: Handoff) -> Result | Escalated:
    """The ranked risks of a contract, or of two versions what changed."""
    read = _read(handoff)
    if isinstance(read, Escalated):
        return read
    job, contracts = read
    if len(contracts) == 2:
        changes = compare(*contracts)
        compared = tuple(one for one in changes if one.kind != "reworded")
        reworded = tuple(one for one in changes if one.kind == "reworded")
        review = ContractReview(compared=compared, reworded=reworded, versions=job.names)
        summary = f"{counted(len(changes), 'change')} in {job.names[1]} since {job.names[0]}"
        return _result(review, summary, [one.ref_after for one in changes if one.ref_after])
    parts = [review_of(output) for output in handoff.inputs.values()]
    listed = [one for part in parts for one in part.clauses]
    checks = [one for part in parts for one in part.checks]
    risks = rank(contracts[0], listed, checks, job.sides)
    summary = f"{counted(len(risks), 'risk')} in {job.names[0]}"
    return _result(ContractReview(risks=risks), summary, [one.ref for one in risks if one.ref])


def review_of(output: JsonValue) -> ContractReview:
    """What code put into the output of a task, without what a model added."""
    fields = output if isinstance(output, dict) else {}
    return ContractReview.model_validate({k: v for k, v in fields.items() if k != "added"})


def _read(handoff: Handoff) -> tuple[Job, list[Contract]] | Escalated:
    job = Job.model_validate(handoff.payload)
    found: list[Contract] = []
    for path, name in zip(handoff.artifacts, job.names, strict=False):
        one = contract(path, name)
        if one is None:
            why = next((one.why for one in reading(path).unread), "it has no text")
            message = f"{name} can't be read: {why}. Hand in a copy with text"
            return Escalated(reason="ambiguous_input", message=message)
        if not one.is_english and handoff.to_agent != "clauses":
            message = f"{name} is not in English, and the rules are for English"
            return Escalated(reason="out_of_scope", message=message)
        found.append(one)
    return job, found


def _result(review: ContractReview, summary: str, evidence: Sequence[str]) -> Result:
    output = review.model_dump(mode="json", exclude_defaults=True)
    return Result(output=output, summary=summary, evidence=list(dict.fromkeys(evidence))[:50])
