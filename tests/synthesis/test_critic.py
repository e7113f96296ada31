"""The critic over real HTTP: what it reads, and how far it can hold an answer up."""

import pytest

from leadhand.contracts.events import CritiqueGiven, ModelCalled
from leadhand.contracts.team import Role
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json
from tests.models.in_process import InProcess
from tests.synthesis.deliberation import REQUEST, Outcome, ran, rule, script

TEXTS: dict[str, Json] = {"ledger": "It earned forty.", "press": "It earned forty in March."}
MUST: Json = {"point": "Name the year.", "severity": "must", "where": "It earned 40"}
SHOULD: Json = {"point": "Say it shorter.", "severity": "should", "where": ""}
DRAFT: Json = {"answer": "It earned 40 [t1].", "confidence": 80}


def critiques(run: Outcome) -> list[CritiqueGiven]:
    """What the critic said, in order."""
    return [event for event in run.events if isinstance(event, CritiqueGiven)]


def verdicts(run: Outcome) -> list[str]:
    """What it came to, in order."""
    return [event.verdict for event in critiques(run)]


def gap(run: Outcome) -> str:
    """What the answer says of the critic."""
    (one,) = run.answer.gaps
    assert one.task_id == "critic"
    return one.why


def test_a_team_without_a_critic_asks_none(model_server: ScriptedServer) -> None:
    run = ran(model_server, TEXTS)
    assert run.stats.by_role == {"synthesizer": 1}
    assert critiques(run) == []


def test_a_draft_without_a_must_goes_out_as_it_is(model_server: ScriptedServer) -> None:
    script(model_server, rule("synthesizer", json=DRAFT), rule("critic", json={"points": [SHOULD]}))
    run = ran(model_server, TEXTS, critic=Role())
    assert run.answer.answer == "It earned 40 [t1]."
    (given,) = critiques(run)
    assert (given.round, given.verdict, given.why) == (1, "approved", None)
    assert [point.point for point in given.points] == ["Say it shorter."]
    assert run.named(ModelCalled, CritiqueGiven) == ["synthesizer", "critic", "critique_given"]


def test_the_critic_reads_request_and_draft_and_nothing_of_the_work(
    model_server: ScriptedServer,
) -> None:
    script(model_server, rule("synthesizer", json=DRAFT))
    own = Role(model="openai-chat:strict", instructions="Mind the numbers.")
    run = ran(model_server, {**TEXTS, "archive": None}, critic=own)
    asked = run.asked("critic")
    assert asked.startswith("# How you criticise an answer")
    for shown in (
        f"Request: {REQUEST}",
        "It earned 40 [t1].",
        "Mind the numbers.",
        "look it up, 3",
    ):
        assert shown in asked
    assert not [word for word in ("ledger", "press", "archive", "in March") if word in asked]
    assert {one["body"]["model"] for one in run.stats.bodies if one["role"] == "critic"} == {  # pyright: ignore
        "strict"
    }


def test_a_must_sends_the_draft_back_with_all_points_and_the_critic_reads_it_again(
    model_server: ScriptedServer,
) -> None:
    script(
        model_server,
        rule("synthesizer", times=1, json=DRAFT),
        rule("synthesizer", json={"answer": "In 2025 it earned 40 [t1]."}),
        rule("critic", times=1, json={"points": [MUST, SHOULD]}),
    )
    run = ran(model_server, TEXTS, critic=Role())
    assert run.answer.answer == "In 2025 it earned 40 [t1]."
    assert run.answer.confidence == 80
    assert verdicts(run) == ["sent_back", "approved"]
    asked = run.asked("synthesizer", 1)
    assert '- must: Name the year. (at: "It earned 40")\n- should: Say it shorter.' in asked
    assert "It earned 40 [t1]." in asked
    assert "It earned forty in March." in asked
    assert "In 2025 it earned 40 [t1]." in run.asked("critic", 1)


def test_after_two_revisions_the_answer_goes_out_with_what_is_held_against_it(
    model_server: ScriptedServer,
) -> None:
    script(
        model_server,
        rule("synthesizer", json=DRAFT),
        rule("critic", json={"points": [MUST, SHOULD]}),
    )
    run = ran(model_server, TEXTS, critic=Role())
    assert gap(run) == "the critic objects: Name the year."
    assert run.answer.answer == (
        "## What is missing\n\n- `critic`: the critic objects: Name the year.\n\n"
        "## What was found\n\nIt earned 40 [t1]."
    )
    assert verdicts(run) == ["sent_back", "sent_back", "objected"]
    assert run.stats.by_role == {"synthesizer": 3, "critic": 3}
    assert run.answer.status == "partial"


def test_a_draft_that_can_not_be_revised_keeps_the_objection_as_a_gap(
    model_server: ScriptedServer,
) -> None:
    script(
        model_server,
        rule("synthesizer", times=1, json=DRAFT),
        rule("synthesizer", misbehave={"400": True}),
        rule("critic", json={"points": [MUST]}),
    )
    run = ran(model_server, TEXTS, critic=Role())
    assert gap(run) == "the critic objects: Name the year."
    assert verdicts(run) == ["sent_back", "objected"]
    assert str(critiques(run)[-1].why).startswith("the draft was not revised: ")


@pytest.mark.parametrize(
    "reply", [{"misbehave": {"400": True}}, {"json": {"points": [{"point": "so so"}]}}], ids=str
)
def test_a_critic_that_gives_no_critique_is_passed_over_and_that_is_said(
    model_server: ScriptedServer, reply: dict[str, Json]
) -> None:
    script(
        model_server, rule("synthesizer", json=DRAFT), {"match": {"role": "critic"}, "reply": reply}
    )
    run = ran(model_server, TEXTS, critic=Role())
    assert gap(run).startswith("the critic did not read the answer: ")
    assert run.answer.status == "partial"
    assert run.answer.answer.endswith("\n\nIt earned 40 [t1].")
    assert verdicts(run) == ["skipped"]
    assert critiques(run)[0].why


def test_where_the_time_is_short_the_critic_is_not_asked_and_that_is_said() -> None:
    """Of 30 s the draft takes 12 s: too little is left for a critique and a revision."""
    model = InProcess()
    script(model, rule("synthesizer", json=DRAFT, misbehave={"latency_ms": 12_000}))
    run = ran(model, TEXTS, critic=Role(), deadline_s=30.0)
    assert gap(run).startswith("the critic did not read the answer: ")
    assert run.answer.status == "partial"
    assert run.answer.answer.endswith("\n\nIt earned 40 [t1].")
    assert "critic" not in run.stats.by_role
    assert [(one.verdict, one.why) for one in critiques(run)] == [
        ("skipped", "there is no time left for it")
    ]


def test_a_critic_that_hangs_does_not_cost_the_answer() -> None:
    model = InProcess()
    script(
        model, rule("synthesizer", json=DRAFT), rule("critic", misbehave={"latency_ms": 3_600_000})
    )
    run = ran(model, TEXTS, critic=Role(), deadline_s=20.0)
    assert gap(run).startswith("the critic did not read the answer: ")
    assert run.answer.status == "partial"
    assert run.answer.answer.endswith("\n\nIt earned 40 [t1].")
    assert verdicts(run) == ["skipped"]
    assert run.answer.metrics.makespan_s <= 20.0


def test_a_single_text_is_criticised_as_well_and_written_again_where_it_must(
    model_server: ScriptedServer,
) -> None:
    script(
        model_server,
        rule("critic", times=1, json={"points": [MUST]}),
        rule("synthesizer", json={"answer": "In 2025 it earned 40."}),
    )
    run = ran(model_server, {"ledger": "It earned forty."}, critic=Role())
    assert run.answer.answer == run.answer.output == "In 2025 it earned 40."
    assert verdicts(run) == ["sent_back", "approved"]


def test_an_unchanged_result_is_not_criticised(model_server: ScriptedServer) -> None:
    run = ran(model_server, TEXTS, synthesis="select", critic=Role())
    assert run.stats.by_role == {"judge": 1}


def test_a_team_without_a_model_has_no_critic(model_server: ScriptedServer) -> None:
    run = ran(model_server, TEXTS, model=None, critic=Role())
    assert (run.stats.requests, critiques(run)) == (0, [])


def test_the_objection_is_one_line_however_much_there_is_to_say(
    model_server: ScriptedServer,
) -> None:
    long: Json = {"point": "one\ntwo " * 400, "severity": "must", "where": ""}
    script(
        model_server, rule("synthesizer", json=DRAFT), rule("critic", json={"points": [long, long]})
    )
    objection = gap(ran(model_server, TEXTS, critic=Role()))
    assert "\n" not in objection
    assert len(objection) < 600
