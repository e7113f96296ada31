"""The judge over real HTTP: what it is shown, and what becomes of what it says."""

import asyncio

import pytest

from leadhand.contracts.events import ConflictFound, ConflictJudged, ModelCalled
from leadhand.contracts.outcome import JudgedChoice, Result
from leadhand.contracts.team import Role, Team, Worker
from leadhand.errors import ModelError
from leadhand.models.calls import Caller
from leadhand.models.connections import Connections
from leadhand.state.fold import fold
from leadhand.synthesis.judge import Judge
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json
from leadhand.untrusted.fence import Fence
from tests.models.in_process import InProcess
from tests.recorders import LogRecorder
from tests.synthesis.deliberation import REQUEST, ran, rule, script

BOOKS: dict[str, Json] = {"ledger": {"revenue": 40}, "press": {"revenue": 50}}
FOR_T1: Json = {
    "why": "The ledger is the source;\nthe press reports it.",
    "contradict": True,
    "winners": ["t1"],
    "resolution": "The revenue is 40.",
    "confidence": 90,
}
OPEN: Json = {"why": "Nothing decides.", "contradict": True, "winners": [], "resolution": None}
NONE: Json = {"why": "One is net.", "contradict": False, "winners": [], "resolution": None}


def said(resolution: str | None, *taken: str) -> Json:
    """A draft of two tasks' texts that found them to contradict each other."""
    found: Json = {
        "task_ids": ["t1", "t2"],
        "about": "what was earned",
        "resolution": resolution,
        "taken": list(taken),
        "why": "as I see it",
    }
    return {"answer": "A draft [t1].", "confidence": 80, "contradictions": [found]}


TEXTS: dict[str, Json] = {"ledger": "It earned forty.", "press": "It earned fifty."}


def test_contradicting_data_is_judged_before_the_answer_which_says_why(
    model_server: ScriptedServer,
) -> None:
    script(model_server, rule("judge", json=FOR_T1))
    run = ran(model_server, BOOKS, evidence="books.csv:7")
    order = ["conflict_found", "judge", "conflict_judged", "synthesizer"]
    assert run.named(ConflictFound, ConflictJudged, ModelCalled) == order
    (conflict,) = run.answer.conflicts
    assert conflict.about == "revenue is 40 in t1 and 50 in t2"
    assert (conflict.taken, conflict.resolution) == (("t1",), "The revenue is 40.")
    assert conflict.why == "The ledger is the source; the press reports it."
    assert conflict.why in run.asked("synthesizer")
    (judged,) = [event for event in run.events if isinstance(event, ConflictJudged)]
    assert (judged.holds, judged.confidence) == (True, 90)
    assert fold(run.events).conflicts == run.answer.conflicts


def test_the_judge_sees_the_question_and_the_results_and_not_who_gave_them(
    model_server: ScriptedServer,
) -> None:
    asked = ran(model_server, BOOKS, evidence="books.csv:7").asked("judge")
    assert asked.startswith("# How you judge a contradiction")
    assert f"Request: {REQUEST}" in asked
    shown = '{"revenue":40}\n  intent: look it up, 1\n  evidence: books.csv:7\n[t2] '
    assert f"[t1] {shown}" in asked
    assert not [word for word in ("ledger", "press") if word in asked]


def test_an_unresolved_conflict_is_shown_as_open(model_server: ScriptedServer) -> None:
    script(model_server, rule("judge", json=OPEN))
    run = ran(model_server, BOOKS)
    (conflict,) = run.answer.conflicts
    assert (conflict.resolution, conflict.taken, conflict.why) == (None, (), "Nothing decides.")
    assert run.answer.status == "complete"


def test_a_conflict_that_the_judge_rejects_is_not_in_the_answer(
    model_server: ScriptedServer,
) -> None:
    script(model_server, rule("judge", json=NONE))
    run = ran(model_server, BOOKS)
    assert run.answer.conflicts == ()
    (judged,) = [event for event in run.events if isinstance(event, ConflictJudged)]
    assert (judged.holds, judged.conflict.why) == (False, "One is net.")


def test_a_judge_that_names_an_unknown_task_has_to_repair_its_answer(
    model_server: ScriptedServer,
) -> None:
    wrong: list[dict[str, Json]] = [
        {"why": "x", "contradict": True, "winners": ["t9"], "resolution": "x"},
        {"why": "x", "contradict": True, "winners": ["t1", "t2"], "resolution": "x"},
    ]
    script(
        model_server,
        *(rule("judge", times=1, json=one) for one in wrong),
        rule("judge", json=FOR_T1),
    )
    run = ran(model_server, BOOKS)
    assert run.answer.conflicts[0].taken == ("t1",)
    told = str(run.stats.bodies)
    assert "is not one of the tasks: t1, t2." in told
    assert "not all of `winners` can be right" in told


def test_at_most_five_contradictions_are_judged_and_the_rest_are_open(
    model_server: ScriptedServer,
) -> None:
    script(model_server, rule("judge", json=FOR_T1))
    keys = [f"k{number}" for number in range(7)]
    run = ran(model_server, {"ledger": dict.fromkeys(keys, 1), "press": dict.fromkeys(keys, 2)})
    assert run.stats.by_role["judge"] == 5
    assert [one.resolution is None for one in run.answer.conflicts] == [False] * 5 + [True] * 2
    assert run.answer.conflicts[-1].why == "not judged: there are more than 5"
    assert run.named(ConflictFound) == ["conflict_found"] * 7


def test_a_judge_that_can_not_be_asked_leaves_the_contradiction_open_and_the_run_whole(
    model_server: ScriptedServer,
) -> None:
    script(model_server, rule("judge", misbehave={"400": True}))
    run = ran(model_server, BOOKS)
    assert run.answer.status == "complete"
    assert run.answer.conflicts[0].resolution is None
    assert run.answer.conflicts[0].why.startswith("it could not be judged: ")


def test_a_judge_that_hangs_takes_no_more_than_its_share_of_the_time() -> None:
    model = InProcess()
    script(model, rule("judge", misbehave={"latency_ms": 3_600_000}))
    run = ran(model, BOOKS, deadline_s=30.0)
    assert run.answer.status == "complete"
    assert run.answer.conflicts[0].why == "there was no time to judge it"


def test_without_a_model_both_values_are_shown_as_open(model_server: ScriptedServer) -> None:
    run = ran(model_server, BOOKS, model=None)
    (conflict,) = run.answer.conflicts
    assert conflict.about == "revenue is 40 in t1 and 50 in t2"
    assert (conflict.resolution, run.stats.requests) == (None, 0)
    assert run.named(ConflictFound, ConflictJudged) == ["conflict_found"]


def test_a_draft_that_the_judge_agrees_with_goes_out_as_it_is(model_server: ScriptedServer) -> None:
    script(
        model_server,
        rule("synthesizer", json=said("It earned 40.", "t1")),
        rule("judge", json=FOR_T1),
    )
    run = ran(model_server, TEXTS)
    assert run.answer.answer == "A draft [t1]."
    assert run.stats.by_role == {"synthesizer": 1, "judge": 1}
    assert run.answer.conflicts[0].resolution == "The revenue is 40."


@pytest.mark.parametrize(
    ("draft", "verdict"),
    [
        (said(None), FOR_T1),
        (said("It earned 50.", "t2"), FOR_T1),
        (said("It earned 50.", "t2"), OPEN),
        (said(None), NONE),
    ],
    ids=["settled", "the other side", "left open", "none at all"],
)
def test_a_draft_that_says_otherwise_than_the_judge_is_written_again(
    model_server: ScriptedServer, draft: Json, verdict: Json
) -> None:
    script(
        model_server,
        rule("synthesizer", times=1, json=draft),
        rule("synthesizer", json={"answer": "The revised one [t2]."}),
        rule("judge", json=verdict),
    )
    run = ran(model_server, TEXTS)
    assert run.answer.answer == "The revised one [t2]."
    assert run.answer.confidence == 80
    asked = run.asked("synthesizer", 1)
    assert "# How you revise" in asked
    assert "A draft [t1]." in asked
    assert str(verdict["why"]).replace("\n", " ") in asked if isinstance(verdict, dict) else False


def test_where_the_draft_can_not_be_written_again_the_judgement_is_added(
    model_server: ScriptedServer,
) -> None:
    script(
        model_server,
        rule("synthesizer", times=1, json=said(None)),
        rule("synthesizer", misbehave={"400": True}),
        rule("judge", json=FOR_T1),
    )
    text = ran(model_server, TEXTS).answer.answer
    assert text.startswith("A draft [t1].\n\n*Judged after this was written:*\n\n- [t1, t2] what")
    assert "The revenue is 40." in text


def test_a_conflict_that_the_writer_finds_again_is_judged_once(
    model_server: ScriptedServer,
) -> None:
    again: Json = {"task_ids": ["t1", "t2"], "about": "The revenue differs", "why": "two sources"}
    script(
        model_server,
        rule("judge", json=FOR_T1),
        rule("synthesizer", json={"answer": "It is 40 [t1].", "contradictions": [again]}),
    )
    run = ran(model_server, BOOKS)
    assert run.stats.by_role == {"judge": 1, "synthesizer": 1}
    assert len(run.answer.conflicts) == 1


def test_the_best_of_several_results_is_the_judges_choice_by_a_model_of_its_own(
    model_server: ScriptedServer,
) -> None:
    script(model_server, rule("judge", json={"choice": "t2", "why": "It is newer."}))
    own = Role(model="openai-chat:wise", instructions="Prefer what is newer.")
    run = ran(model_server, TEXTS, synthesis="select", judge=own)
    assert run.answer.answer.startswith("It earned fifty.")
    assert "It is newer." in run.answer.answer
    assert run.stats.by_role == {"judge": 1}
    assert "Prefer what is newer." in run.asked("judge")
    assert run.stats.bodies[0]["body"]["model"] == "wise"  # pyright: ignore
    assert run.answer.conflicts == ()


async def _judged(question: str, *candidates: Result) -> JudgedChoice:
    team = Team("t", workers=(Worker("w", "works"),), model="openai-chat:scripted")
    async with Connections(seed=1) as connections:
        caller = Caller(connections, LogRecorder())
        return await Judge(caller, team, Fence("n1")).judge(question, candidates)


def test_a_second_opinion_is_judged_by_the_same_judge(model_server: ScriptedServer) -> None:
    script(
        model_server,
        rule("judge", json={"choice": "2", "why": "It has a source.", "confidence": 70}),
    )
    results = (Result(output="forty", confidence=30), Result(output="fifty", evidence=("p. 3",)))
    choice = asyncio.run(_judged("What was earned?", *results))
    assert choice == JudgedChoice(1, "It has a source.", 70)
    told = str(model_server.stats().bodies)
    assert "Request: What was earned?" in told
    assert "[1] forty\\n[2] fifty\\n  evidence: p. 3" in told


def test_a_judge_that_gives_no_choice_is_an_error(model_server: ScriptedServer) -> None:
    script(model_server, rule("judge", json={"choice": "3"}))
    with pytest.raises(ModelError, match="the judge gave no valid answer"):
        asyncio.run(_judged("What?", Result(output="a"), Result(output="b")))
