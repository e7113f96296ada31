"""The team in runs: plans by the request, answers, and what models add."""

from pathlib import Path

import pytest

from leadhand import Answer, Supervisor, Team
from leadhand.contracts.outcome import Result, TaskResult
from leadhand.contracts.task import Batch, Plan, PlanRequest
from leadhand.teams.loader import load
from leadhand_teams.experts.answering import answer
from leadhand_teams.experts.output import Answered, Citation, ExpertOpinion
from leadhand_teams.experts.planning import plan
from leadhand_teams.experts.report import files
from tests.leadhand_teams.experts.documents import write

SAMPLES = Path("src/leadhand_teams/experts/samples")
SAMPLE = (SAMPLES.parent / "cases.jsonl").read_text(encoding="utf-8").partition('"request": "')[2]
BOTH = SAMPLE.partition('"')[0]


@pytest.fixture(scope="module")
def team() -> Team:
    return load("experts")


def planned(team: Team, question: str, *paths: str) -> Plan:
    return plan(PlanRequest(question, {"inputs": [Batch(paths)]} if paths else {}), team)


def ran(team: Team, question: str, *paths: str) -> tuple[Answer, Answered]:
    done = Supervisor(team).run_sync(plan=planned(team, question, *paths))
    return done, Answered.model_validate(done.output)


def test_requests_that_want_different_experts_have_different_plans(team: Team) -> None:
    legal = planned(team, "May the tenant sublet under the lease?")
    both = planned(team, BOTH)
    assert [task.worker for task in legal.tasks] == ["legal"]
    assert [task.worker for task in both.tasks] == ["legal", "financial", "moderator"]
    assert both.tasks[2].depends_on == ("legal", "financial")
    assert both.tasks[0].intent == (
        "Answer from the documents as the legal expert: "
        "What late fee does the tenant owe under the lease"
    )
    assert [task.worker for task in planned(team, "Who wrote Faust?").tasks] == ["moderator"]


def test_the_sample_fills_every_list_and_its_report_is_escaped_and_complete(team: Team) -> None:
    done, found = ran(team, BOTH, str(SAMPLES.resolve()))
    assert done.status == "complete"
    assert (found.expert, found.secondary, found.answered) == ("legal", "financial", True)
    assert found.citations[0].ref == "amendment.md:13"
    assert len(found.professional_check) >= 2
    assert [one.settled for one in found.disagreements] == [True]
    assert [one.resolution for one in done.conflicts] == ["amendment.md:13 holds"]
    page = files(done)
    assert str(page["report.html"]).count("not advice") == 1
    assert "387.100" in str(page["report.md"])


def test_an_open_contradiction_makes_the_answer_partial(team: Team, tmp_path: Path) -> None:
    paths = write(tmp_path, "contract.md", "terms.md")
    done, found = ran(team, "Within how many days does the supplier deliver by contract?", *paths)
    assert done.status == "partial"
    assert found.question is None
    [conflict] = done.conflicts
    assert conflict.resolution is None
    assert "contract.md:7" in conflict.about
    assert "terms.md:5" in conflict.about


def test_a_question_for_none_of_the_four_is_asked_back_and_never_waits(team: Team) -> None:
    done, found = ran(team, "Which Greek philosopher wrote about virtue?")
    assert (done.status, found.expert, found.answered) == ("partial", None, False)
    assert str(found.question).startswith("Which expert is this for")


def test_what_a_model_adds_is_kept_only_if_its_citation_holds(team: Team, tmp_path: Path) -> None:
    paths = write(tmp_path, "leaflet.txt")
    made = planned(team, "What is the maximum daily dose of Veltrax for a patient?", *paths)
    done = Supervisor(team).run_sync(plan=made)
    output = Answered.model_validate(done.output).opinions[0].model_dump(mode="json")
    quote = "The maximum daily dose is 15 mg."
    statements = [
        {"text": "At most 15 mg a day.", "ref": "leaflet.txt:4", "quote": quote},
        {"text": "At most 20 mg a day.", "ref": "leaflet.txt:4", "quote": quote},
        {"text": "It is safe.", "ref": "leaflet.txt:9", "quote": "It is safe for all."},
    ]
    result = Result(output={**output, "added": {"statements": statements}})
    task = made.tasks[0]
    written = answer(made, [TaskResult(task, task.worker, "completed", result, None)])
    found = Answered.model_validate(written.output)
    assert [one.text for one in found.added] == ["At most 15 mg a day."]
    assert found.removed == 2
    assert "2 statements of a model left out" in written.answer


def test_a_passage_of_the_first_expert_does_not_answer_the_second_part_too(team: Team) -> None:
    made = planned(team, BOTH)
    cited = Citation("a.md:1", "It is 1.")
    results = list[TaskResult]()
    for task in made.tasks[:2]:
        opinion = ExpertOpinion.model_validate(
            {"field": task.worker, "question": f"Part of {task.worker}?", "answered": True}
        )
        opinion.answer, opinion.citations = "“It is 1.” (a.md:1)", [cited]
        result = Result(output=opinion.model_dump(mode="json"))
        results.append(TaskResult(task, task.worker, "completed", result, None))
    found = Answered.model_validate(answer(made, results).output)
    assert not found.answered
    assert found.answer.count("It is 1.") == 1
    assert "Financial: no other passage answers “Part of financial”." in found.answer
    assert "Part of financial" in str(found.question)


def test_an_answer_stands_when_no_task_has_a_result(team: Team) -> None:
    made = planned(team, BOTH)
    lost = [TaskResult(task, task.worker, "failed", None, "broken") for task in made.tasks]
    found = Answered.model_validate(answer(made, lost).output)
    assert (found.expert, found.answered, found.citations) == ("legal", False, [])
