"""Workers with a draft: code does the task first, and a model may only add to its result."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel

from leadhand import Escalated, Handoff, Ladder, Limits, Result, Supervisor, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.errors import TeamError
from leadhand.testing import ScriptedModel, run_virtual
from leadhand.testing.json_data import Json, Object
from tests.cli.program import leadhand
from tests.team_folders import WORK, problems, warnings, write_team

NO_HELP = Ladder(failed=(), low_confidence=())
CODE = """\
from leadhand import Handoff, Result


def count(handoff: Handoff) -> Result:
    words = len(handoff.intent.split())
    return Result(output={"words": words}, summary=f"{words} words")
"""


class Notes(BaseModel):
    """What a model adds."""

    notes: list[str]


ADDS: list[Json] = [{"reply": {"json": {"answer": {"notes": ["clear"]}, "evidence": ["line 1"]}}}]


def count(handoff: Handoff) -> Result:
    """Counts the words of the intent."""
    words = len(handoff.intent.split())
    return Result(output={"words": words}, summary=f"{words} words")


def long(_: Handoff) -> Object:
    return {"text": "word " * 100_000}


def numbers(_: Handoff) -> list[int]:
    return [1, 2]


def team(model: ScriptedModel | None, **fields: object) -> Team:
    given: dict[str, object] = {"draft": count, "output": Notes, **fields}
    worker = Worker("counter", "Counts", **given)  # pyright: ignore[reportArgumentType, reportCallIssue]
    chosen = model.model if model is not None else None
    return Team("desk", workers=[worker], planner="template", model=chosen)


def answered(model: ScriptedModel | None, **fields: object) -> Answer:
    return run_virtual(Supervisor(team(model, **fields)).run("one two three"))


def asked(model: ScriptedModel) -> str:
    """The only request to the model of the worker."""
    (body,) = [one for one in model.stats().bodies if one["role"] == "worker"]
    return json.dumps(body)


def test_without_a_model_the_draft_is_the_result() -> None:
    answer = answered(None)
    assert (answer.status, answer.engine) == ("complete", "deterministic")
    assert answer.output == {"words": 3}


def test_a_model_sees_the_draft_as_data_and_adds_to_it() -> None:
    model = ScriptedModel(script=ADDS)
    answer = answered(model)
    assert (answer.status, answer.engine) == ("complete", "model")
    assert answer.output == {"words": 3, "added": {"notes": ["clear"]}}
    assert re.search(r"<data-\w+ from=\W+draft\W+>\W+n3 words.*words\W+3.*</data-", asked(model))


def test_a_long_draft_is_cut_for_the_model_alone() -> None:
    model = ScriptedModel(script=ADDS)
    answer = answered(model, draft=long)
    assert "[cut here]" in asked(model)
    assert len(asked(model)) < 30_000
    assert isinstance(answer.output, dict)
    assert len(str(answer.output["text"])) == 500_000


def test_what_is_added_to_a_draft_that_is_no_object_stands_beside_it() -> None:
    answer = answered(ScriptedModel(script=ADDS), draft=numbers)
    assert answer.output == {"draft": [1, 2], "added": {"notes": ["clear"]}}


HANDS_BACK: Object = {"name": "escalate", "arguments": {"reason": "out_of_scope", "message": "no"}}


@pytest.mark.parametrize(
    "reply",
    [
        {"misbehave": {"401": True}},
        {"misbehave": {"invalid_schema": True}},
        {"tool_calls": [HANDS_BACK]},
        {"misbehave": {"latency_ms": 1_000_000}},
    ],
    ids=["fails", "invalid", "hands back", "slow"],
)
def test_a_model_that_adds_nothing_leaves_the_draft_complete(reply: Object) -> None:
    model = ScriptedModel(script=[{"reply": reply}])
    answer = answered(model, limits=Limits(timeout_s=60))
    assert (answer.status, answer.engine, answer.gaps) == ("complete", "deterministic", ())
    assert answer.output == {"words": 3}
    assert model.stats().requests > 0
    (task,) = answer.tasks
    assert (task.attempts, task.error) == (1, None)
    assert answer.metrics.makespan_s < 60


def test_a_deadline_that_ends_the_model_leaves_the_draft() -> None:
    model = ScriptedModel(script=[{"reply": {"misbehave": {"latency_ms": 1_000_000}}}])
    answer = run_virtual(Supervisor(team(model), deadline_s=20).run("one two three"))
    assert answer.output == {"words": 3}
    assert answer.metrics.makespan_s <= 20.5


@pytest.mark.parametrize("ends", ["fails", "escalates"])
def test_a_draft_that_is_no_result_is_the_outcome_and_no_model_is_asked(ends: str) -> None:
    model = ScriptedModel(script=ADDS)

    def draft(_: Handoff) -> Escalated:
        if ends == "fails":
            raise ValueError("no table")
        return Escalated(reason="low_confidence", message="the table is doubtful")

    supervisor = Supervisor(replace(team(model, draft=draft), ladder=NO_HELP))
    answer = run_virtual(supervisor.run("one two three"))
    assert answer.status == "failed"
    assert answer.tasks[0].error is not None
    assert "table" in answer.tasks[0].error
    assert model.stats().requests == 0


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"offline": len}, "leave out `offline`"),
        ({"run": count}, "leave out `run`"),
        ({"isolate": "process"}, "and `isolate`"),
    ],
)
def test_what_a_draft_cannot_be_combined_with_is_refused(fields: Object, why: str) -> None:
    with pytest.raises(TeamError, match=why):
        Supervisor(team(None, **fields))


def test_views_say_why_only_the_draft_is_there(tmp_path: Path) -> None:
    solo = "---\ndescription: Counts\ndraft: drafting:count\n---\n"
    write_team(tmp_path / "desk", "planner: template\n", solo=solo)
    (tmp_path / "desk" / "drafting.py").write_text(CODE, encoding="utf-8")
    no_server = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "k"}
    words = ("run", "one two", "--team", "desk", "--model", "openai-chat:m", "--home", "home")
    done = leadhand(*words, "--deadline", "10s", folder=tmp_path, env=no_server)
    assert done.status == 0, done.err
    assert "engine: deterministic" in done.out
    assert "solo: completed" in done.err
    assert "no model added to its draft" in done.err
    shown = leadhand("trace", "last", "--home", "home", "--format", "html", folder=tmp_path)
    assert "no model added to its draft" in shown.out


def test_a_folders_draft_is_checked_and_shown(tmp_path: Path) -> None:
    both = f"---\ndescription: D\ndraft: {WORK}\noffline: {WORK}\n---\n"
    (problem,) = problems(write_team(tmp_path / "both", solo=both))
    assert problem.startswith("workers/solo.md:3: 'solo' has a draft, which is its offline code")
    folder = write_team(tmp_path / "one", solo=f"---\ndescription: D\ndraft: {WORK}\n---\n")
    assert warnings(folder) == []
