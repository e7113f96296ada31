"""Results that contradict each other are never a complete answer (F56)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import pytest
from pydantic import BaseModel, JsonValue, TypeAdapter

from leadhand import Answer, Completed, Result, Route, Supervisor, Task, Team, Worker
from leadhand.contracts.answer import Conflict
from leadhand.contracts.outcome import Escalated, Handoff
from leadhand.contracts.team import TaskTemplate
from leadhand.errors import TeamError
from leadhand.synthesis.conflicts import MAX_FOUND, MAX_RESULTS, MAX_TASKS
from tests.models.in_process import InProcess

ASK = "Find the port that the service listens on"


def gives(output: object) -> Callable[[Handoff], object]:
    return lambda handoff: output


BESIDE = (Worker("x", "Something else", run=gives("fine")),)


def entries(**intents: str) -> list[TaskTemplate]:
    return [TaskTemplate(id, id, intent) for id, intent in intents.items()]


def asked(one: object, other: object, name: str = "i", **settings: object) -> Team:
    """A team with two workers that are asked the same."""
    return Team(
        name,
        workers=[
            Worker("a", "Reads files", run=gives(one)),
            Worker("b", "Asks the host", run=gives(other)),
        ],
        template=entries(a=ASK, b=ASK),
        planner="template",
        **settings,  # pyright: ignore[reportArgumentType]
    )


def around(team: Team, name: str) -> Worker:
    return Worker(name, "Finds ports", team=team)


def answered(team: Team, request: str = "Which port?") -> Answer:
    return Supervisor(team).run_sync(request)


def kinds(answer: Answer) -> list[str]:
    return [conflict.kind for conflict in answer.conflicts]


def test_a_contradiction_that_no_one_resolves_is_a_gap_and_a_sentence_of_the_answer() -> None:
    """F56."""
    answer = answered(asked({"port": 80}, {"port": 443}))
    assert answer.status == "partial"
    assert answer.conflicts == (
        Conflict(task_ids=("a", "b"), kind="contradiction", about="port is 80 in a and 443 in b"),
    )
    why = "a and b ask the same and contradict each other: port is 80 in a and 443 in b"
    assert [gap.why for gap in answer.gaps] == [why]
    assert why in answer.answer
    assert answer.output == {"a": {"port": 80}, "b": {"port": 443}}


def test_contradictions_of_nested_teams_rise_with_their_path() -> None:
    """F56."""
    inner = asked({"port": 80}, {"port": 443})
    middle = Team("m", workers=[around(inner, "net"), *BESIDE], planner="template")
    answer = answered(Team("o", workers=[around(middle, "far"), *BESIDE], planner="template"))
    assert answer.status == "partial"
    assert [one.task_ids for one in answer.conflicts] == [("far/net/a", "far/net/b")]
    assert [(gap.task_id, gap.why.split(":")[0]) for gap in answer.gaps] == [
        ("far/net/a", "far/net/a and far/net/b ask the same and contradict each other")
    ]


def test_what_is_missing_in_a_nested_team_is_said_once_with_its_path() -> None:
    inner = around(asked({"port": 80}, {"port": 443}), "net")
    for workers in ([inner], [inner, *BESIDE]):
        answer = answered(Team("o", workers=workers, planner="template"))
        assert answer.answer.count("What is missing") == 1
        assert answer.answer.count("contradict each other") == 1
        assert "## a (a)" in answer.answer


def finding(output: object, *, ends: int) -> Team:
    """A team of two tasks, of which the last finds the `output`, or which are both last."""
    workers = [
        Worker("read", "Reads", run=gives({"files": 3})),
        Worker("find", "Finds", run=gives(output)),
    ]
    after = ["read"] if ends == 1 else []
    template = [
        TaskTemplate("read", "read", "Read"),
        TaskTemplate("find", "find", "Find", depends_on=after),
    ]
    return Team("inner", workers=workers, template=template, planner="template")


def both(one: Team, other: Team) -> Team:
    """A team of two teams that are asked the same."""
    workers = [around(one, "net"), around(other, "host")]
    template = entries(net=ASK, host=ASK)
    return Team("both", workers=workers, template=template, planner="template")


def test_nested_teams_contradict_each_other_in_what_their_last_tasks_found() -> None:
    """F56."""
    one, other = (finding({"port": port}, ends=1) for port in (80, 443))
    middle = Team("m", workers=[around(other, "deep")], planner="template")
    for second in (other, middle):
        answer = answered(both(one, second))
        assert (answer.status, kinds(answer)) == ("partial", ["contradiction"])
        assert answer.conflicts[0].about == "port is 80 in net and 443 in host"
    for value in ({"port": 80}, "another text"):
        answer = answered(both(one, finding(value, ends=1)))
        assert (answer.status, answer.conflicts) == ("complete", ())
        assert "not compared" not in answer.answer


def test_nested_teams_with_several_last_tasks_are_compared_where_each_gave_one_value() -> None:
    """F56."""
    answer = answered(both(*(finding({"port": port}, ends=2) for port in (80, 443))))
    assert (answer.status, kinds(answer)) == ("partial", ["contradiction"])
    assert answer.conflicts[0].about == "port is 80 in net and 443 in host"
    assert "not compared" not in answer.answer
    workers = [Worker(f"find{port}", "Finds", run=gives({"port": port})) for port in (1, 2)]
    template = entries(find1="Find web's port", find2="Find db's port")
    two = Team("inner", workers=workers, template=template, planner="template")
    answer = answered(both(two, finding({"port": 443}, ends=2)))
    assert answer.status == "complete"
    assert "net and host ask the same; their results were not compared" in answer.answer


class Port(BaseModel):
    port: int


@pytest.mark.parametrize("synthesis", ["merge", "select", "reduce", "last"])
@pytest.mark.parametrize("typed", [False, True], ids=["untyped", "typed"])
@pytest.mark.parametrize("ends", [False, True], ids=["two", "joined"])
def test_no_strategy_and_no_type_hides_a_contradiction(
    synthesis: str, typed: bool, ends: bool
) -> None:
    """F56."""
    team = asked({"port": 80}, {"port": 443})
    last = [TaskTemplate("c", "c", "Report it", depends_on=["a", "b"])] if ends else []
    worker = [Worker("c", "Reports", run=gives({"port": 80}), output=Port if typed else None)]
    whole = Team(
        "t",
        workers=[*team.workers, *(worker if ends else [])],
        template=[*team.template, *last],
        planner="template",
        synthesis=synthesis,
        output=Port if typed else None,
    )
    answer = answered(whole)
    assert answer.status == "partial"
    assert ("a", "b") in [c.task_ids for c in answer.conflicts if c.kind == "contradiction"]
    assert any("80 in a and 443 in b" in gap.why for gap in answer.gaps)


DIFFER: Sequence[tuple[object, object, str]] = (
    (80, 443, "output is 80 in a and 443 in b"),
    (True, False, "output is true in a and false in b"),
    ([80], [], "output is [80] in a and [] in b"),
    ({"port": 8080}, {"port": 8081}, "port is 8080 in a and 8081 in b"),
    ({"port": "80"}, {"port": 443}, "port is 80 in a and 443 in b"),
    ({"share": 0.912}, {"share": 0.915}, "share is 0.912 in a and 0.915 in b"),
    ({"up": True}, {"up": 0}, "up is true in a and false in b"),
    ({"total": 1}, {"total": 2}, "total is 1 in a and 2 in b"),
    ({"Status": "in progress"}, {"Status": "done"}, "Status is in progress in a and done in b"),
    ({"grade": "A+"}, {"grade": "A-"}, "grade is A+ in a and A- in b"),
    ({"year": 2023}, {"year": 2024}, "year is 2023 in a and 2024 in b"),
    ({"name": "x", "n": 1}, {"name": "x", "n": 2}, "n is 1 in a and 2 in b"),
    ({"web": {"port": 1}}, {"web": {"port": 2}}, "web.port is 1 in a and 2 in b"),
    ({"ports": [1, 2]}, {"ports": [1, 3]}, "ports is [1, 2] in a and [1, 3] in b"),
    ({"ports": [1]}, {"ports": []}, "ports is [1] in a and [] in b"),
    (
        {"on": [{"name": "web", "port": 1}]},
        {"on": [{"name": "web", "port": 2}]},
        "on[web].port is 1 in a and 2 in b",
    ),
    (
        {"on": [{"port": 1, "confidence": 3}]},
        {"on": [{"port": 2}]},
        "on is [{port: 1}] in a and [{port: 2}] in b",
    ),
    (Port(port=80), Port(port=443), "port is 80 in a and 443 in b"),
)


@pytest.mark.parametrize(("one", "other", "about"), DIFFER, ids=str)
def test_answers_to_one_question_contradict_each_other_under_any_key(
    one: object, other: object, about: str
) -> None:
    """F56."""
    answer = answered(asked(one, other))
    assert (answer.status, [c.about for c in answer.conflicts]) == ("partial", [about])


AGREE: Sequence[tuple[object, object]] = (
    (80, 80.0),
    ("Paris", "London"),
    ({"port": 80}, {"port": 80.0}),
    ({"port": 80}, {"port": " 80 "}),
    ({"port": 80}, {"port": None}),
    ({"port": 80}, {"host": "x"}),
    ({"port": 80}, {"port": "unknown"}),
    ({"up": True}, {"up": 1}),
    ({"tests": True}, {"tests": 12}),
    ({"sum": 0.1 + 0.2}, {"sum": 0.3}),
    ({"sum": 12.345}, {"sum": 12.35}),
    ({"state": "in_progress"}, {"state": "In progress"}),
    ({"why": "it broke"}, {"why": "no idea"}),
    ({"text": "It is the first port."}, {"text": "The service listens on another one"}),
    ({"texts": ["It is the first port"]}, {"texts": ["The service has another one"]}),
    ({"ports": [1, 2, 2]}, {"ports": [2, 1.0, 2]}),
    ({"tags": ["a", "B"]}, {"tags": ["b", "A"]}),
    ({"on": [{"name": "web", "port": 1}]}, {"on": [{"name": "db", "port": 2}]}),
    ({"on": [{"port": 1}, {"port": 2}]}, {"on": [{"port": 2}, {"port": 1}]}),
    ({"confidence": 10}, {"confidence": 90}),
    ({"web": {"port": 1}}, {"web": "port 1"}),
)


@pytest.mark.parametrize(("one", "other"), AGREE, ids=str)
def test_equal_values_and_texts_do_not_contradict_each_other(one: object, other: object) -> None:
    answer = answered(asked(one, other))
    assert (answer.status, answer.conflicts, answer.gaps) == ("complete", (), ())


WEB = {"port": 80}
DB = {"port": 5432}


def planned(*tasks: Task, workers: Mapping[str, object] | None = None, **settings: object) -> Team:
    given = workers or {"a": WEB, "b": DB}
    return Team(
        "t",
        workers=[Worker(name, f"Knows {name}", run=gives(one)) for name, one in given.items()],
        template=[
            TaskTemplate(
                one.id, one.worker, one.intent, depends_on=one.depends_on, payload=one.payload
            )
            for one in tasks
        ],
        planner="template",
        **settings,  # pyright: ignore[reportArgumentType]
    )


@pytest.mark.parametrize(
    "tasks",
    [
        (Task(id="a", worker="a", intent="Find web"), Task(id="b", worker="b", intent="Find db")),
        (
            Task(id="a", worker="a", intent="Find the C port"),
            Task(id="b", worker="b", intent="Find the C++ port"),
        ),
        (
            Task(id="a", worker="a", intent=ASK, payload="web"),
            Task(id="b", worker="b", intent=ASK, payload="db"),
        ),
        (
            Task(id="a", worker="a", intent="{request}"),
            Task(id="b", worker="b", intent="{request}"),
        ),
        (),
    ],
    ids=["intents", "symbols", "payloads", "request", "no template"],
)
def test_values_that_differ_in_tasks_about_different_things_are_only_differences(
    tasks: Sequence[Task],
) -> None:
    answer = answered(planned(*tasks))
    assert (answer.status, answer.gaps, kinds(answer)) == ("complete", (), ["difference"])
    assert answer.conflicts[0].about == "port is 80 in a and 5432 in b"


def test_what_depends_on_other_tasks_has_other_inputs() -> None:
    answer = answered(
        planned(
            Task(id="a", worker="a", intent="Check it"),
            Task(id="b", worker="b", intent="Check it", depends_on=["a"]),
        )
    )
    assert (answer.status, answer.conflicts) == ("complete", ())


def test_a_request_that_is_routed_to_two_workers_is_not_the_same_question() -> None:
    workers = [Worker("a", "Web", run=gives(WEB)), Worker("b", "Databases", run=gives(DB))]
    routes = [Route("a", words=["port"], also=["b"])]
    answer = answered(Team("t", workers=workers, routes=routes, planner="routed"))
    assert (answer.status, kinds(answer)) == ("complete", ["difference"])


def test_workers_of_one_subject_contradict_each_other_in_any_words() -> None:
    """F56."""
    tasks = (Task(id="a", worker="a", intent="Read"), Task(id="b", worker="b", intent="Ask"))
    answer = answered(planned(*tasks, same_subject=[["a", "b"]]))
    assert (answer.status, kinds(answer)) == ("partial", ["contradiction"])
    several = (*tasks, Task(id="a2", worker="a", intent="Read more"))
    answer = answered(planned(*several, same_subject=[["a", "b"]]))
    assert answer.status == "complete"  # the results of one worker are about many things


def test_a_subject_names_workers_of_the_team() -> None:
    with pytest.raises(TeamError, match="`same_subject` has 'c', who is not in the team"):
        Supervisor(planned(same_subject=[["a", "c"]]))


@pytest.mark.parametrize("second", ["sure", "unsure"])
def test_two_opinions_that_no_judge_compared_are_a_gap(second: Literal["sure", "unsure"]) -> None:
    """F56."""

    def b(handoff: Handoff) -> object:
        result = Result(output={"port": 443}, confidence=90 if second == "sure" else 30)
        if second == "sure":
            return Completed(result=result)
        return Escalated(reason="low_confidence", message="not sure", partial=result)

    first = Completed(result=Result(output={"port": 80}, confidence=20))
    workers = [
        Worker("a", "Reads", run=gives(first), min_confidence=50, fallback="b"),
        Worker("b", "Asks", run=b),
    ]
    team = Team("t", workers=workers, template=entries(a=ASK), planner="template")
    nested = Team("o", workers=[around(team, "net")], planner="template")
    for answer, path in ((answered(team), ""), (answered(nested), "net/")):
        assert (answer.status, kinds(answer)) == ("partial", ["contradiction"])
        assert answer.conflicts[0].task_ids == (f"{path}a",)
        said = [gap.why for gap in answer.gaps if "two results" in gap.why]
        assert len(said) == 1
        assert "port is 80 by a and 443 by b" in said[0]


def test_too_many_results_to_compare_are_said_and_leave_the_status() -> None:
    def count(handoff: Handoff) -> dict[str, int]:
        return {"n": int(handoff.task_id)}

    workers = [Worker("w", "Counts", run=count)]
    for number, intent in ((MAX_TASKS + 1, "Count"), (MAX_RESULTS + 1, "Count {}")):
        entries = [TaskTemplate(str(n), "w", intent.replace("{}", str(n))) for n in range(number)]
        answer = answered(Team("t", workers=workers, template=entries, planner="template"))
        assert (answer.status, answer.conflicts) == ("complete", ())
        assert "not compared" in answer.answer
        assert "too many" in answer.answer


def test_more_contradictions_than_are_listed_are_said() -> None:
    one: dict[str, JsonValue] = {f"k{n}": n for n in range(MAX_FOUND + 1)}
    answer = answered(asked(one, dict.fromkeys(one, -1)))
    assert len(answer.conflicts) == len(answer.gaps) == MAX_FOUND
    assert "disagree on more than 20 values" in answer.answer


JUDGED = {"confidence": 90, "contradict": True, "winners": ["a"], "resolution": "80", "why": "seen"}


@pytest.mark.parametrize("synthesis", ["merge", "select", "reduce", "last"])
@pytest.mark.parametrize("judged", ["settled", "open", "none"])
def test_what_a_judge_settles_is_no_gap_and_what_it_leaves_open_is_one(
    synthesis: str, judged: str
) -> None:
    """F56."""
    verdict = {
        "settled": JUDGED,
        "open": {**JUDGED, "winners": [], "resolution": None},
        "none": {**JUDGED, "winners": [], "contradict": False, "resolution": None},
    }[judged]
    chosen = {"choice": "a", "confidence": 90, "why": "seen"}
    reply = chosen if synthesis == "select" else verdict
    model = InProcess(script=[{"match": {"role": "judge"}, "reply": {"json": reply}}])
    team = asked({"port": 80}, {"port": 443}, synthesis=synthesis, model=model.model)
    nested = Team("o", workers=[around(team, "net")], planner="template")
    answers = ((answered(team), ""), (answered(nested), "net/"))
    for answer, path in answers:
        wanted = "partial" if judged == "open" and synthesis != "select" else "complete"
        dismissed = judged == "none" and synthesis != "select"
        ids = [] if dismissed else [(f"{path}a", f"{path}b")]
        assert answer.status == wanted
        assert [one.task_ids for one in answer.conflicts] == ids
        assert kinds(answer) == ["contradiction"] * len(ids)


def test_conflicts_of_older_releases_are_read_as_differences() -> None:
    stored = {"task_ids": ["a", "b"], "about": "port is 80 in a and 443 in b"}
    assert TypeAdapter(Conflict).validate_python(stored).kind == "difference"
