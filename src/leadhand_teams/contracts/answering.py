"""Puts a review together: every quote is checked against its text, then the report is written."""

from collections.abc import Iterable, Sequence
from itertools import chain

from leadhand import Plan
from leadhand.contracts.answer import Gap, Source
from leadhand.extension.roles import Conflict, Synthesis, TaskResult
from leadhand_teams.contracts.documents import contract
from leadhand_teams.contracts.output import ContractFinding, ContractReview
from leadhand_teams.contracts.playbook import RANK, contradictions
from leadhand_teams.contracts.report import report
from leadhand_teams.contracts.work import Job, review_of
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.statements import Added, check


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The review of all contracts, from the results that there are."""
    done = [(one.task, one.result) for one in results if one.result is not None]
    texts = _texts(results)
    review, untrue = _merged([review_of(result.output) for _, result in done], texts)
    clashes = [*contradictions(review.clauses)]
    rules = {one.statement for one in review.checks}
    outputs = [result.output for _, result in done if isinstance(result.output, dict)]
    added = [Added.model_validate(one["added"]) for one in outputs if one.get("added")]
    held = check(
        chain.from_iterable(one.statements for one in added),
        texts,
        allows=lambda one: "it is a rule of the playbook" if one.text in rules else None,
    )
    risks = tuple(sorted((*review.risks, *clashes), key=lambda one: RANK[one.severity]))
    update = {"risks": risks, "added": held.kept, "removed": len(held.removed)}
    review = review.model_copy(update=update)
    first = plan.tasks[0].id
    why = f"{untrue} left out: their quotes are not in the text"
    places = [", ".join(f"{two.ref} ({two.place})" for two in one.quotes) for one in clashes]
    return Synthesis(
        answer=report(review, plan.goal).markdown(title=False),
        output=review.model_dump(mode="json"),
        conflicts=tuple(
            Conflict(task_ids=(first,), kind="contradiction", about=f"Governing Law: {one}")
            for one in places
        ),
        sources=tuple(Source(task_id=one.id, ref=ref) for one, two in done for ref in two.evidence),
        gaps=(
            *(Gap(task_id="inputs", why=one) for one in plan.instruction.splitlines()),
            *([Gap(task_id=first, why=why)] if untrue else []),
        ),
    )


def _texts(results: Sequence[TaskResult]) -> list[Text]:
    jobs = [(one.task.artifacts, Job.model_validate(one.task.payload).names) for one in results]
    named = {pair for paths, names in jobs for pair in zip(paths, names, strict=False)}
    read = [contract(path, name) for path, name in sorted(named)]
    return [one.text for one in read if not isinstance(one, str)]


def _merged(parts: Sequence[ContractReview], texts: Sequence[Text]) -> tuple[ContractReview, int]:
    """One review of the findings whose words are in the texts, and how many are not."""

    def holds(one: object) -> bool:
        quotes = one.quotes if isinstance(one, ContractFinding) else ()
        return all(any(text.text[q.start : q.end] == q.text for text in texts) for q in quotes)

    def joined(named: Iterable[str | None]) -> str | None:
        return ", ".join(dict.fromkeys(filter(None, named))) or None

    lists = ("problems", "versions", "clauses", "checks", "risks", "compared", "reworded")
    every = {name: [*chain.from_iterable(getattr(one, name) for one in parts)] for name in lists}
    kept = {name: tuple(filter(holds, listed)) for name, listed in every.items()}
    untrue = sum(map(len, every.values())) - sum(map(len, kept.values()))
    playbook, side = joined(one.playbook for one in parts), joined(one.side for one in parts)
    return ContractReview().model_copy(update={**kept, "playbook": playbook, "side": side}), untrue
