"""Python looks for a model only where a team says `auto`, and then as the command line does."""

import pytest

from leadhand import Handoff, InputError, Plan, Supervisor, Task, Team, TeamError, Worker
from leadhand.testing import ScriptedServer


def by_code(handoff: Handoff) -> str:
    return f"done by code: {handoff.intent}"


TALKER = Worker("talker", "Talks", instructions="Talk.")
CODER = Worker("coder", "Counts", offline=by_code)


def test_a_team_without_a_model_stays_deterministic_whatever_the_environment_says(
    model_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADHAND_MODEL", "openai-chat:scripted")
    answer = Supervisor(Team("mine", workers=(CODER,))).run_sync("Count the words")
    assert (answer.status, answer.engine) == ("complete", "deterministic")
    assert model_server.stats().requests == 0


def test_a_worker_that_needs_a_model_is_refused_with_the_three_ways_out(
    model_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADHAND_MODEL", "openai-chat:scripted")
    with pytest.raises(TeamError) as refused:
        Supervisor(Team("mine", workers=(TALKER, CODER)))
    said = str(refused.value)
    assert "worker 'talker' needs a model, and there is none" in said
    assert all(way in said for way in ("`model=", '`model="auto"`', "`offline="))
    assert model_server.stats().requests == 0


def test_auto_takes_the_model_that_the_environment_names(
    model_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADHAND_MODEL", "openai-chat:named")
    supervisor = Supervisor(Team("mine", model="auto", workers=(TALKER, CODER)))
    answer = supervisor.run_sync("Count the words of this sentence, then explain the number")
    assert (answer.status, answer.engine) == ("complete", "model")
    assert supervisor.team.model == "openai-chat:named"


def test_auto_takes_the_first_model_of_the_endpoint_that_the_environment_names(
    model_server: ScriptedServer,
) -> None:
    supervisor = Supervisor(Team("mine", model="auto", workers=(TALKER,)))
    plan = Plan(goal="Talk", tasks=(Task(id="a", worker="talker", intent="Say hello"),))
    assert supervisor.run_sync(plan=plan).engine == "model"
    assert supervisor.team.model == "openai-chat:scripted"


def test_auto_is_by_code_where_the_environment_says_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADHAND_MODEL", "none")
    answer = Supervisor(Team("mine", model="auto", workers=(CODER,))).run_sync("Count the words")
    assert (answer.status, answer.engine) == ("complete", "deterministic")


def test_auto_that_finds_nothing_says_where_it_looked_and_what_else_there_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LEADHAND_MODEL", "none")
    supervisor = Supervisor(Team("mine", model="auto", workers=(TALKER,)))
    with pytest.raises(TeamError, match=r"found nothing \(no model, from LEADHAND_MODEL.*offline="):
        supervisor.run_sync("Say hello")


def test_a_nested_team_may_look_for_itself(
    model_server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADHAND_MODEL", "openai-chat:named")
    inner = Team("inner", model="auto", workers=(TALKER,))
    team = Team("outer", workers=(Worker("talk", "Talks", team=inner), CODER))
    supervisor = Supervisor(team)
    plan = Plan(goal="Talk", tasks=(Task(id="a", worker="talk", intent="Say hello"),))
    assert supervisor.run_sync(plan=plan).status == "complete"
    assert model_server.stats().requests > 0


def test_only_a_team_can_say_auto() -> None:
    worker = Worker("talker", "Talks", model="auto")
    with pytest.raises(InputError, match="only a team's `model` can be `auto`"):
        Supervisor(Team("mine", workers=(worker,)))
