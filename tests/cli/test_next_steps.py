"""What the command line says that one can type after a run that is not complete."""

from pathlib import Path

import pytest

from leadhand.testing import ScriptedServer
from tests.cli.errands_team import UP, errands, errands_team
from tests.in_process import Ended, InProcess


class Office:
    """A folder with the team and its runs; `leadhand` is called in this process."""

    def __init__(self, folder: Path, leadhand: InProcess) -> None:
        self.folder = folder
        self._leadhand = leadhand
        errands_team(folder)

    def does(self, *arguments: str) -> Ended:
        """What `leadhand ARGUMENTS` does."""
        return self._leadhand(*arguments, "--home", "runs")

    def runs(self, *workers: str) -> Ended:
        """What a run does with a task for each of these workers."""
        errands(self.folder, *workers)
        return self.does("run", "--team", "errands", "--plan", "plan.json", "--no-model")


def steps(ended: Ended) -> list[str]:
    """What is said of how to go on, with `RUN` for the run."""
    lines = [line for line in ended.err.splitlines() if line.startswith("leadhand: ")]
    words = (word for line in lines for word in line.split() if word.startswith("run-"))
    run_id = next(words, "RUN")
    return [line.removeprefix("leadhand: ").replace(run_id, "RUN") for line in lines]


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: InProcess) -> Office:
    monkeypatch.chdir(tmp_path)
    for name, value in {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    return Office(tmp_path, in_process)


GO_ON = "continue with: leadhand resume RUN --home runs"


def test_after_an_outage_a_run_is_gone_on_with_by_the_command_that_it_names(office: Office) -> None:
    ended = office.runs("asker", "asker")
    assert (ended.status, steps(ended)) == (3, [GO_ON])
    again = office.does("resume", "last")
    assert (again.status, steps(again)) == (3, [GO_ON])
    UP.touch()
    done = office.does("resume", "last")
    assert (done.status, steps(done)) == (0, [])
    assert "asked: run errand number 2" in done.out


def test_what_failed_for_good_can_be_done_again_task_by_task(office: Office) -> None:
    ended = office.runs("asker", "refuser")
    again = "do a task again: leadhand resume RUN --home runs --from"
    assert steps(ended) == [GO_ON, f"{again} t2"]
    UP.touch()
    partial = office.does("resume", "last")
    assert (partial.status, steps(partial)) == (3, [f"{again} t2"])
    both = office.runs("refuser", "refuser")
    assert steps(both) == [f"{again} TASK"]


def test_a_run_that_is_over_says_that_nothing_was_left_to_go_on_with(office: Office) -> None:
    office.runs("refuser")
    over = "nothing was left to continue with: RUN has done all that it could"
    again = "do a task again: leadhand resume RUN --home runs --from t1"
    ended = office.does("resume", "last")
    assert (ended.status, steps(ended)) == (3, [over, again])
    from_there = office.does("resume", "last", "--from", "t1")
    assert (from_there.status, steps(from_there)) == (3, [again])


def test_a_complete_run_says_only_that_it_is_complete(office: Office) -> None:
    UP.touch()
    assert steps(office.runs("asker")) == []
    assert steps(office.does("resume", "last")) == ["RUN is complete: this is its answer"]


def test_a_run_whose_model_does_not_answer_names_the_way_without_it(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")  # where nothing listens
    errands(office.folder, "clerk")
    model = ("--model", "openai-chat:absent", "--deadline", "3s")
    ended = office.does("run", "--team", "clerks", "--plan", "plan.json", *model)
    without = "no output of a model was used: to do without one, run it anew with --no-model"
    assert steps(ended)[:2] == [GO_ON, without]


def test_a_mistake_in_a_given_plan_is_said_once(office: Office) -> None:
    ended = office.runs("nobody")
    assert ended.status == 2
    assert ended.err.count("is for 'nobody', who is not in team 'errands'") == 1


@pytest.mark.parametrize(
    ("model", "option", "amount"),
    [
        ("openai-chat:scripted", "--budget-tokens", "9000"),
        ("openai-chat:gpt-5-mini", "--budget-usd", "0.003"),
    ],
)
def test_after_a_budget_a_larger_one_is_what_to_type(
    office: Office, model_server: ScriptedServer, model: str, option: str, amount: str
) -> None:
    errands(office.folder, *["clerk"] * 12)
    by = ("--model", model, option, amount)
    ended = office.does("run", "--team", "clerks", "--plan", "plan.json", *by)
    assert ended.status == 4
    larger = f"continue with a larger budget: leadhand resume RUN --home runs {option} N"
    assert steps(ended) == [larger]
    more = office.does("resume", "last", option, "1000000")
    assert (more.status, steps(more)) == (0, [])
