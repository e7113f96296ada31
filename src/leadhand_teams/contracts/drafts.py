"""What the workers of the team do by code: each returns a part of a `ContractReview` as JSON."""

from collections.abc import Sequence

from pydantic import BaseModel, JsonValue

from leadhand import Escalated, Handoff, Result
from leadhand_teams.contracts.checks import check
from leadhand_teams.contracts.clauses import by_words, find
from leadhand_teams.contracts.comparing import compare
from leadhand_teams.contracts.documents import Contract, contract, reading
from leadhand_teams.contracts.output import ContractReview, PartySides, be, counted
from leadhand_teams.contracts.playbook import handed_in, ready_made
from leadhand_teams.contracts.risks import rank


class Job(BaseModel):
    """The payload of a task."""

    names: tuple[str, ...]
    """What its files are called in the report."""
    categories: tuple[str, ...] = ()
    playbook: str = ""
    side: str = ""
    sides: PartySides = PartySides()


def clauses(handoff: Handoff) -> Result | Escalated:
    """The clauses of a contract, quoted."""
    job, found = _read(handoff)
    if isinstance(found, Escalated):
        return found
    one = found[0]
    listed = tuple(by_words(one, name) for name in job.categories) or find(one)
    return _result(
        ContractReview(contracts=(one.about,), clauses=listed),
        f"{sum(c.present for c in listed)} of {len(listed)} clauses found in {one.text.name}",
        [c.quotes[0].ref for c in listed if c.quotes],
    )


def compliance(handoff: Handoff) -> Result | Escalated:
    """The verdict on each rule of a playbook."""
    job, found = _read(handoff)
    if isinstance(found, Escalated):
        return found
    own = handoff.artifacts[len(job.names) :]
    book = handed_in(own[0]) if own else ready_made(job.playbook)
    checks = check(found[0], book, job.side)
    concerns = sum(one.concern for one in checks)
    return _result(
        ContractReview(playbook=book.name, side=job.side, checks=checks),
        f"{concerns} of {len(checks)} rules of {book.name} {be(concerns)} a concern in "
        f"{job.names[0]}",
        [one.quotes[0].ref for one in checks if one.quotes],
    )


def risk(handoff: Handoff) -> Result | Escalated:
    """The ranked risks of a contract, or of two versions what changed."""
    job, found = _read(handoff)
    if isinstance(found, Escalated):
        return found
    if len(found) == 2:
        changes = compare(*found)
        told = counted(changes)
        return _result(
            ContractReview(
                compared=tuple(one for one in changes if one.kind != "reworded"),
                reworded=tuple(one for one in changes if one.kind == "reworded"),
                versions=job.names,
            ),
            f"{job.names[1]} since {job.names[0]}: {told or 'no difference'}",
            [one.ref_after for one in changes if one.ref_after],
        )
    parts = [part for output in handoff.inputs.values() if (part := review_of(output)) is not None]
    listed = [one for part in parts for one in part.clauses]
    risks = rank(found[0], listed, [one for part in parts for one in part.checks], job.sides)
    high = sum(one.severity == "high" for one in risks)
    return _result(
        ContractReview(risks=risks),
        f"{len(risks)} risks in {job.names[0]}, {high} of them high",
        [one.ref for one in risks if one.ref],
    )


def review_of(output: JsonValue) -> ContractReview | None:
    """What code put into the output of a task, without what a model added."""
    if not isinstance(output, dict):
        return None
    return ContractReview.model_validate({k: v for k, v in output.items() if k != "added"})


def _read(handoff: Handoff) -> tuple[Job, list[Contract] | Escalated]:
    job = Job.model_validate(handoff.payload)
    found: list[Contract] = []
    for path, name in zip(handoff.artifacts, job.names, strict=False):
        one = contract(path, name)
        if one is None:
            unread = reading(path).unread
            why = unread[0].why if unread else "it has no text"
            message = f"{name} can't be read: {why}. Hand in a copy with text"
            return job, Escalated(reason="ambiguous_input", message=message)
        if not one.is_english and handoff.to_agent != "clauses":
            message = f"{name} is not in English, and the rules are for English"
            return job, Escalated(reason="out_of_scope", message=message)
        found.append(one)
    return job, found


def _result(review: ContractReview, summary: str, evidence: Sequence[str]) -> Result:
    output = review.model_dump(mode="json", exclude_defaults=True)
    return Result(output=output, summary=summary, evidence=list(dict.fromkeys(evidence))[:50])
