"""The synthesis checks what it is given: quotes of code and statements of models."""

from collections.abc import Callable

from pydantic import JsonValue

from leadhand import Handoff, Plan, Result
from leadhand.contracts.outcome import TaskResult
from leadhand_teams.contracts import work
from leadhand_teams.contracts.answering import answer
from leadhand_teams.contracts.output import ContractReview
from tests.leadhand_teams.contracts.reviews import SAMPLES, planned

_NDA = SAMPLES / "nda" / "mutual-nda.md"
_LAW = "7.2 This Agreement is governed by the laws of Ireland."


def _drafted(change: Callable[[dict[str, JsonValue]], None]) -> tuple[Plan, TaskResult]:
    """The plan for one question, and the draft of its task after a change."""
    plan = planned("Which governing law applies?", _NDA)
    (task,) = plan.tasks
    handoff = Handoff(
        run_id="run",
        task_id=task.id,
        attempt=1,
        from_agent="supervisor",
        to_agent=task.worker,
        intent=task.intent,
        payload=task.payload,
        artifacts=tuple(task.artifacts),
        return_to="supervisor",
    )
    result = work.draft(handoff)
    assert isinstance(result, Result)
    assert isinstance(result.output, dict)
    change(result.output)
    return plan, TaskResult(task, task.worker, "completed", result, None)


def test_a_clause_whose_quote_is_not_in_the_text_is_left_out_and_named() -> None:
    def forge(output: dict[str, JsonValue]) -> None:
        review = ContractReview.model_validate(output)
        clause = review.clauses[0]
        false = clause.quotes[0].model_copy(update={"text": _LAW.replace("Ireland", "Nevada")})
        forged = clause.model_copy(update={"quotes": (false,)})
        output["clauses"] = [forged.model_dump(mode="json")]

    plan, result = _drafted(forge)
    made = answer(plan, [result])
    review = ContractReview.model_validate(made.output)
    assert review.clauses == ()
    assert "1 left out" in made.gaps[0].why
    assert "Nevada" not in made.answer


def test_a_statement_of_a_model_stays_only_if_the_contract_has_its_quote() -> None:
    true: dict[str, JsonValue] = {
        "text": "Irish law applies.",
        "ref": "mutual-nda.md#7.2",
        "quote": _LAW[4:],
    }
    false: dict[str, JsonValue] = {
        **true,
        "text": "Nevada's does.",
        "quote": "governed by the laws of Nevada",
    }

    def add(output: dict[str, JsonValue]) -> None:
        output["added"] = {"statements": [true, false]}

    plan, result = _drafted(add)
    made = answer(plan, [result])
    review = ContractReview.model_validate(made.output)
    assert [one.text for one in review.added] == ["Irish law applies."]
    assert review.removed == 1
    assert "1 statement of the model" in made.answer
    assert "Nevada" not in made.answer


def test_a_rule_of_the_playbook_is_not_what_the_contract_says() -> None:
    def add(output: dict[str, JsonValue]) -> None:
        rule = {
            "text": "Both sides can end the contract.",
            "ref": "mutual-nda.md#7.2",
            "quote": _LAW[4:],
        }
        checked = {"contract": "mutual-nda.md", "rule": "renewal-term", "statement": rule["text"]}
        checked |= {"verdict": "contradicted"}
        output["added"] = {"statements": [{**rule, "text": "Irish law applies."}, {**rule}]}
        output["checks"] = [{**checked, "concern": True, "quotes": [], "why": "it lasts longer"}]

    plan, result = _drafted(add)
    review = ContractReview.model_validate(answer(plan, [result]).output)
    assert [one.statement for one in review.checks] == ["Both sides can end the contract."]
    assert [one.text for one in review.added] == ["Irish law applies."]
    assert review.removed == 1


def test_without_results_it_says_that_nothing_could_be_reviewed() -> None:
    plan, result = _drafted(lambda _: None)
    lost = TaskResult(result.task, result.worker, "failed", None, "gone")
    made = answer(plan, [lost])
    assert "Nothing could be reviewed" in made.answer
    assert ContractReview.model_validate(made.output) == ContractReview()
