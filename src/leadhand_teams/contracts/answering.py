"""Puts a review together: every quote is checked against its text, then the report is written."""

from collections.abc import Mapping, Sequence
from itertools import chain

from leadhand import Plan
from leadhand.contracts.answer import Gap, Source
from leadhand.extension.roles import Conflict, Synthesis, TaskResult
from leadhand_teams.contracts.checks import RANK, contradictions
from leadhand_teams.contracts.documents import contract
from leadhand_teams.contracts.output import ContractFinding, ContractReview
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
    risks = sorted((*review.risks, *clashes), key=lambda one: RANK[one.severity])
    update = {"risks": tuple(risks), "added": held.kept, "removed": len(held.removed)}
    review = review.model_copy(update=update)
    first = plan.tasks[0].id
    gaps = [f"{untrue} left out: their quotes are not in the text"] if untrue else []
    return Synthesis(
        answer=report(review, plan.goal).markdown(title=False),
        output=review.model_dump(mode="json"),
        conflicts=tuple(
            Conflict(
                task_ids=(first,),
                kind="contradiction",
                about="Governing Law: " + ", ".join(f"{o.ref} ({o.place})" for o in one.quotes),
            )
            for one in clashes
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
    return [one.text for one in read if not isinstance(one, str)]


def _merged(parts: Sequence[ContractReview], texts: Sequence[Text]) -> tuple[ContractReview, int]:
    """One review of the findings whose words are in the texts, and how many are not."""
    by_name = {text.name: text.text for text in texts}
    update: dict[str, object] = {}
    untrue = 0
    for name in ("contracts", "versions", "clauses", "checks", "risks", "compared", "reworded"):
        every = [*chain.from_iterable(getattr(part, name) for part in parts)]
        kept = [
            one for one in every if not isinstance(one, ContractFinding) or _holds(one, by_name)
        ]
        update[name], untrue = tuple(kept), untrue + len(every) - len(kept)
    for name in ("playbook", "side"):
        named = dict.fromkeys(getattr(part, name) for part in parts if getattr(part, name))
        update[name] = ", ".join(named) or None
    return ContractReview().model_copy(update=update), untrue


def _holds(one: ContractFinding, texts: Mapping[str, str]) -> bool:
    """Whether the quotes of a finding are in the texts that they name."""
    return all(
        any(
            quote.ref.startswith(name) and text[quote.start : quote.end] == quote.text
            for name, text in texts.items()
        )
        for quote in one.quotes
    )
