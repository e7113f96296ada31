"""The journals of every release still resume, whatever prompts and code are now."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from leadhand import InputError, Supervisor, Team
from leadhand.contracts.people import Reply
from leadhand.contracts.team import TaskTemplate
from leadhand.journal import StoreJournal
from leadhand.journal.sqlite import SqliteStore
from leadhand.journal.store import Store
from leadhand.state.fold import fold
from tests.handles import resumed
from tests.run.resuming.old import ASKING, FINISHED, NESTED, ON_THE_LADDER, RUNS, Hands, load, team

DUMPS = sorted((Path(__file__).parents[2] / "journal" / "old").glob("*.sql"))


@pytest.fixture(name="journal", params=DUMPS, ids=[dump.stem for dump in DUMPS])
def _journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    load(request.param, tmp_path / "home")
    with closing(SqliteStore(tmp_path / "home")) as journal:
        yield journal


def resume(journal: Store, run_id: str, the_team: Team) -> dict[str, tuple[str, int]]:
    """What becomes of each task of the run: its status and its attempts."""
    supervisor = Supervisor(the_team, journal=StoreJournal(journal), approve=["escalation"])
    answer = asyncio.run(resumed(supervisor, run_id))
    assert answer.gaps == ()
    assert answer.status == "complete"
    return {task.id: (task.status, task.attempts) for task in answer.tasks}


def test_there_are_journals_of_releases() -> None:
    assert DUMPS


def test_they_list_their_runs(journal: Store) -> None:
    statuses = {run.run_id: run.status for run in journal.runs()}
    assert statuses == {
        FINISHED: "complete",
        ON_THE_LADDER: "interrupted",
        ASKING: "waiting",
        NESTED: "interrupted",
    }
    for run_id in RUNS:
        assert fold(journal.events(run_id)).run_id == run_id


def test_a_finished_run_gives_its_answer_and_nothing_is_done(journal: Store) -> None:
    hands = Hands()
    done = resume(journal, FINISHED, team(hands))
    assert done == {"of-expert": ("completed", 1), "last": ("completed", 1)}
    assert hands.given == []


def test_a_run_goes_on_in_the_middle_of_the_ladder(journal: Store) -> None:
    """The guess was handed back; what follows from that is done now."""
    hands = Hands()
    done = resume(journal, ON_THE_LADDER, team(hands))
    assert done["of-guesser"] == ("completed", 2)
    assert hands.keys() == ["of-guesser", "last"]
    assert hands.given[0].to_agent == "expert"


def test_a_run_that_waits_for_a_person_goes_on_when_that_answers(journal: Store) -> None:
    hands = Hands()
    supervisor = Supervisor(team(hands), journal=StoreJournal(journal), approve=["escalation"])
    (question,) = asyncio.run(resumed(supervisor, ASKING)).waiting
    assert question.task_id == "of-painter"
    assert "which colour?" in question.text
    assert hands.given == []
    asyncio.run(
        supervisor.handle(ASKING).reply(
            Reply(task_id="of-painter", verdict="answered", text="red"), resume=False
        )
    )
    assert resume(journal, ASKING, team(hands))["of-painter"] == ("completed", 2)
    assert hands.keys() == ["of-painter", "last"]


def test_a_nested_run_goes_on_within_its_task(journal: Store) -> None:
    hands = Hands()
    done = resume(journal, NESTED, team(hands))
    assert done["of-annex"] == ("completed", 1)
    assert hands.keys() == ["of-annex/t1", "last"]


def test_the_recorded_plan_wins_over_a_new_template(journal: Store) -> None:
    hands = Hands()
    template = (TaskTemplate(id="other", worker="expert", intent="do something else"),)
    done = resume(journal, ON_THE_LADDER, team(hands, template=template))
    assert sorted(done) == ["last", "of-expert", "of-guesser"]


@pytest.mark.parametrize(
    ("run_id", "gone"), [(ON_THE_LADDER, "guesser"), (ON_THE_LADDER, "clerk"), (NESTED, "annex")]
)
def test_a_team_without_a_worker_that_is_still_needed_is_refused(
    journal: Store, run_id: str, gone: str
) -> None:
    hands, before = Hands(), journal.events(run_id)
    the_team = team(hands, without=gone)
    with pytest.raises(InputError) as refused:
        resume(journal, run_id, the_team)
    assert str(refused.value) == (
        f"run {run_id!r} can't be resumed: team 'gallery' has no worker {gone} any more"
    )
    assert hands.given == []
    assert journal.events(run_id) == before


def test_so_is_one_with_a_team_that_lacks_one(journal: Store) -> None:
    hands = Hands()
    with pytest.raises(InputError, match="team 'annex' has no worker filer any more"):
        resume(journal, NESTED, team(hands, without="annex/filer"))
    assert hands.given == []
