"""A person on the command line: asked at the terminal, or answering a run that waits."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.desk_team import ENV, PLAN, desk_team
from tests.cli.program import leadhand as program
from tests.cli.program import started
from tests.cli.terminal import CTRL_C, CTRL_D, Terminal
from tests.in_process import Ended, InProcess


class House:
    """A folder with a team, its plan, and its runs."""

    def __init__(self, folder: Path, leadhand: InProcess) -> None:
        self.folder = folder
        self._leadhand = leadhand
        desk_team(folder)
        self.write("plan.json", PLAN)

    def write(self, name: str, plan: object) -> None:
        (self.folder / name).write_text(json.dumps(plan), encoding="utf-8")

    def does(self, *arguments: str) -> Ended:
        """What `leadhand ARGUMENTS` does here, away from any terminal; in this process."""
        return self._leadhand(*arguments, "--home", "runs")

    def runs(self, *arguments: str) -> Ended:
        """What a run of the plan does, in a process of its own."""
        given = ("run", "--team", "desk", "--plan", "plan.json", "--home", "runs", *arguments)
        return program(*given, folder=self.folder, env=ENV)

    def refuses(self, arguments: tuple[str, ...], why: str) -> None:
        """See to it that such an answer ends with one line, if need be after the run's id."""
        ended = self.does("answer", "last", *arguments)
        *before, error = ended.err.splitlines()
        assert (ended.status, ended.out) == (2, ""), ended.err
        assert not before or (len(before) == 1 and before[0].startswith("reading run-")), ended.err
        assert why in error

    def editor(self, *lines: str) -> dict[str, str]:
        """The setting of an editor in which these lines make another `text` of the file's."""
        editor = self.folder / "editor.py"
        head = (
            "import pathlib, sys",
            "file = pathlib.Path(sys.argv[1])",
            "text = file.read_text()",
        )
        editor.write_text("\n".join((*head, *lines, "file.write_text(text)")))
        return {"VISUAL": f"{sys.executable} {editor}"}

    def at_terminal(self, *arguments: str, env: dict[str, str] | None = None) -> Terminal:
        """The same, in a terminal."""
        return Terminal(
            *arguments, "--home", "runs", folder=self.folder, env={**ENV, **(env or {})}
        )


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: InProcess) -> House:
    monkeypatch.chdir(tmp_path)
    for name, value in {**ENV, "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    return House(tmp_path, in_process)


# Away from a terminal


def test_a_run_waits_for_its_plan_to_be_approved_and_for_answers_and_then_goes_on(
    house: House,
) -> None:
    parked = house.runs("--approve", "plan,escalation", "--json")
    document = json.loads(parked.out)
    run_id = document["run_id"]
    assert (parked.status, document["status"]) == (3, "waiting")
    assert [one["text"] for one in document["waiting"]] == ["Is this plan to be carried out?"]
    how = f"leadhand answer {run_id} --home runs --approve | --refuse [WHY] | --plan FILE"
    assert parked.err.splitlines()[-2:] == [
        "? the plan waits for your approval: Is this plan to be carried out?",
        f"leadhand: it waits for a person: {how}",
    ], "once as it happens, and once with what to type"

    asked = house.does("answer", "last")
    assert asked.status == 0
    assert "paint the north wall" in asked.out
    assert how in asked.out
    assert f"{run_id}  " in house.does("runs").out
    assert "  waiting  " in house.does("runs").out
    assert "waits for a person" in house.does("show", run_id).out

    (house.folder / "south.json").write_text(
        json.dumps(PLAN).replace("north", "south"), encoding="utf-8"
    )
    gone_on = house.does("answer", run_id, "--plan", "south.json")
    assert gone_on.status == 3
    assert "painter (ambiguous input): which colour?" in gone_on.out
    assert gone_on.out.splitlines()[-1].startswith("waiting · engine: deterministic")

    done = house.does("answer", run_id, "--task", "t1", "dark blue")
    assert done.status == 0
    assert "the south wall: dark blue" in done.out
    assert "filed: file the permit" in done.out
    over = house.does("answer", run_id, "red")
    assert (over.status, over.out) == (2, "")
    assert f"run '{run_id}' asks no question" in over.err
    dead = house.does("cancel", run_id)
    assert (dead.status, dead.out) == (2, "")
    assert "is complete: there is nothing to cancel" in dead.err


def test_a_plan_is_refused_by_command_and_the_answer_says_why(house: House) -> None:
    house.runs("--approve", "plan")
    refused = house.does("answer", "last", "--refuse", "the wall is gone")
    assert refused.status == 3
    assert "a person refused the plan: the wall is gone" in refused.out
    assert "it waits" not in refused.err


def test_what_fits_no_question_is_one_clear_line(house: House) -> None:
    house.runs("--approve", "plan,escalation")
    house.write("broken.json", {**PLAN, "tasks": [{"id": "a", "worker": "nobody", "intent": "x"}]})
    os.mkfifo(house.folder / "pipe")
    (house.folder / "half.json").write_text('{"goal":')
    for arguments, why in {
        ("blue",): "a plan waits for approval: give --approve, --refuse or --plan FILE",
        ("blue", "--task", "t1"): "a plan waits for approval",
        ("--approve", "--task", "t1"): "no plan or call waits for this approval",
        ("--approve", "--refuse"): "give one of --approve, --refuse and --plan",
        ("--approve", "why"): "leave it out",
        ("--plan", "broken.json", "why"): "leave it out",
        ("--plan", "none.json"): "can't read the plan none.json",
        ("--plan", "broken.json"): "'nobody'",
        ("--plan", "pipe"): "can't read the plan pipe: it is a pipe; give a file",
        ("--plan", "desk"): "can't read the plan desk: Is a directory",
        ("--plan", "half.json"): "half.json:1:9: the plan is not valid JSON",
        ("--plan", "/dev/zero"): "can't read the plan /dev/zero: it is a device",
    }.items():
        house.refuses(arguments, why)
    assert house.does("answer", "last", "--approve").status == 3
    for arguments, why in {
        ("--approve",): "no plan or call waits for this approval; a reply is asked for t1",
        ("blue", "--task", "t2"): "--task t1",
        ("--task", "t1"): "give a TEXT",
    }.items():
        house.refuses(arguments, why)


def test_a_run_under_way_is_cancelled_from_elsewhere_and_prints_its_answer(house: House) -> None:
    tasks = [*PLAN["tasks"], {"id": "t3", "worker": "sleeper", "intent": "sleep on it"}]
    house.write("plan.json", {**PLAN, "tasks": tasks})
    arguments = ("run", "--team", "desk", "--plan", "plan.json", "--home", "runs")
    with started(*arguments, "--events", "-", folder=house.folder, env=ENV) as running:
        running.says("task_completed")
        told = house.does("cancel", "last")
        assert told.status == 0
        assert "is cancelled: process" in told.err
        ended = running.ended()
    assert ended.status == 130
    assert "`t3`: cancelled by `leadhand cancel`" in ended.out
    assert "filed: file the permit" in ended.out
    assert "continue with: leadhand resume run-" in ended.err


def test_f46_a_plan_of_ones_own_is_binding_unless_amend_is_given(house: House) -> None:
    first = {"id": "t1", "worker": "finder", "intent": "look at the wall"}
    second = {"id": "t2", "worker": "clerk", "intent": "file the permit", "depends_on": ["t1"]}
    house.write("plan.json", {"goal": "Have it painted", "tasks": [first, second]})
    given = ("run", "--team", "desk", "--plan", "plan.json", "--json")
    ended = house.does(*given)
    assert ended.status == 3
    (gap,) = json.loads(ended.out)["gaps"]
    assert gap["task_id"] == "t1"
    assert "the plan no longer fits (there is no wall); it was not amended" in gap["why"]
    assert house.does(*given, "--amend").status == 0
    alone = house.does("run", "Paint it", "--team", "desk", "--amend")
    assert (alone.status, alone.out) == (2, "")
    assert "--amend is for a plan of your own: give --plan FILE as well" in alone.err


# At a terminal


def test_somebody_at_the_terminal_edits_and_approves_the_plan_and_answers(house: House) -> None:
    """F29"""
    change = "text.replace('north', 'süd')[:-6] if 'north' in text else text + '  ]\\n}\\n'"
    env = house.editor(f"text = {change}")
    with house.at_terminal(
        "run", "--team", "desk", "--plan", "plan.json", "--approve", "plan,escalation",
        env=env,
    ) as terminal:  # fmt: skip
        terminal.shows("paint the north wall")
        terminal.shows("[a]pprove, [e]dit or [r]efuse? ")
        terminal.types("what?")
        terminal.shows("[a]pprove, [e]dit or [r]efuse? ")
        terminal.types("e")
        terminal.shows("This is not a plan")
        terminal.shows("[a]pprove, [e]dit or [r]efuse? ")
        terminal.types("e")
        terminal.shows("paint the süd wall")
        terminal.shows("[a]pprove, [e]dit or [r]efuse? ")
        terminal.types("a")
        terminal.shows("painter (ambiguous input): which colour?")
        terminal.shows("(empty: continue without) ")
        terminal.types("dark blue,\nbut not the door")
        terminal.shows("answered by person")
        assert terminal.ended() == 0
    assert "the süd wall: dark blue" in terminal.text
    assert "but not the door" in terminal.text.partition("answered by person")[2]


def test_f11_a_plan_edited_to_name_unknown_workers_is_refused_before_it_is_approved(
    house: House,
) -> None:
    env = house.editor(
        "broken = text.replace('painter', 'nobody').replace('clerk', 'ghost')",
        "mended = text.replace('nobody', 'clerk').replace('ghost', 'clerk')",
        "text = broken if 'painter' in text else mended",
    )
    run = ("run", "--team", "desk", "--plan", "plan.json", "--approve", "plan")
    house.runs("--approve", "plan")
    for command in (("answer", "last"), run):
        with house.at_terminal(*command, env=env) as terminal:
            terminal.shows("[a]pprove, [e]dit or [r]efuse? ")
            terminal.types("e")
            terminal.shows("This plan can't be carried out:")
            terminal.shows("- task 't1' is for 'nobody'")
            terminal.shows("- task 't2' is for 'ghost'")
            terminal.shows("[a]pprove, [e]dit or [r]efuse? ")
            terminal.types("e")
            terminal.shows("2 tasks for 1 worker")
            terminal.shows("[a]pprove, [e]dit or [r]efuse? ")
            terminal.types("a")
            assert terminal.ended() == 0
        assert "filed: paint the north wall" in terminal.text


def test_ctrl_c_at_a_question_leaves_a_run_that_asks_again_when_it_is_resumed(house: House) -> None:
    """F37"""
    run = ("run", "--team", "desk", "--plan", "plan.json", "--approve", "escalation")
    with house.at_terminal(*run) as terminal:
        terminal.shows("(empty: continue without) ")
        terminal.types(CTRL_C)
        terminal.shows("continue with: leadhand resume run-")
        assert terminal.ended() == 130
        assert "Fatal" not in terminal.text
        assert "Traceback" not in terminal.text
    begun = json.loads(house.does("trace", "last").out)["events"][0]
    assert begun["deadline_s"] is None, "nobody hurries who sits there and did not ask for it"
    with house.at_terminal("resume", "last") as terminal:
        terminal.shows("(empty: continue without) ")
        terminal.types("red")
        assert terminal.ended() == 0
    assert "the north wall: red" in terminal.text


def test_the_end_of_input_leaves_a_plan_waiting_and_the_answer_command_asks_for_it(
    house: House,
) -> None:
    with house.at_terminal(
        "run", "--team", "desk", "--plan", "plan.json", "--approve", "plan"
    ) as terminal:
        terminal.shows("[r]efuse? ")
        terminal.types(CTRL_D)
        terminal.shows("it waits for a person: leadhand answer run-")
        assert terminal.ended() == 3
    with house.at_terminal("answer", "last") as terminal:
        terminal.shows("[r]efuse? ")
        terminal.types("r")
        terminal.shows("Why?")
        terminal.types("too late")
        terminal.shows("a person refused the plan: too late")
        assert terminal.ended() == 3


def test_nobody_is_asked_who_does_not_want_to_be(house: House) -> None:
    run = ("run", "--team", "desk", "--plan", "plan.json", "--approve", "plan", "--no-input")
    with house.at_terminal(*run) as terminal:
        terminal.shows("it waits for a person: leadhand answer run-")
        assert terminal.ended() == 3
    assert "[r]efuse?" not in terminal.text


CREW = """
from leadhand import Escalated, Team, Worker
from leadhand.contracts.outcome import PausedAttempt
from leadhand.contracts.people import ToolCall

CALLS = tuple(
    ToolCall(id=f"k{n}", tool="demolish", worker="crew", arguments={"house": n}) for n in (1, 2)
)


def work(handoff):
    if handoff.paused is None:
        paused = PausedAttempt(calls=CALLS)
        return Escalated(reason="ambiguous_input", message="may I?", paused=paused)
    return ", ".join(f"{id} {one.approved}" for id, one in handoff.paused.replies.items())


team = Team("crew", workers=[Worker("crew", "Takes houses down", run=work)])
"""


def test_each_tool_call_of_a_question_is_approved_or_refused(house: House) -> None:
    (house.folder / "crew.py").write_text(CREW, encoding="utf-8")
    parked = house.does("run", "Take them down", "--team", "crew.py", "--no-model", "--json")
    (question,) = json.loads(parked.out)["waiting"]
    assert (parked.status, question["call"]) == (3, True)
    assert [(one["id"], one["tool"], one["arguments"]) for one in question["calls"]] == [
        ("k1", "demolish", {"house": 1}),
        ("k2", "demolish", {"house": 2}),
    ]
    task = question["task_id"]
    asked = house.does("answer", "last")
    assert '2. demolish: {"house": 2}' in asked.out
    how = f"--task {task} --approve | --refuse [WHY] | --approve-call 1 --refuse-call 2 [WHY]"
    assert how in asked.out
    for arguments, why in {
        ("--approve-call", "1"): "for each call once: 1 (demolish), 2 (demolish)",
        ("--approve-call", "1", "--refuse-call", "k1"): "for each call once",
        ("--approve-call", "1", "--refuse-call", "3"): "for each call once",
        ("--approve", "--refuse-call", "2"): "give one of --approve",
    }.items():
        house.refuses(arguments, why)
    done = house.does("answer", "last", "--approve-call", "1", "--refuse-call", "k2", "listed")
    assert done.status == 3
    assert "k1 True, k2 False" in done.out
    assert 'a person refused the call demolish {"house": 2}: listed' in " ".join(done.out.split())
    shown = house.does("show", "last").out
    assert "2. demolish refused: listed" in shown
    assert "paused" in shown


def test_each_tool_call_is_asked_about_at_the_terminal(house: House) -> None:
    (house.folder / "crew.py").write_text(CREW, encoding="utf-8")
    arguments = ("run", "Take them down", "--team", "crew.py", "--no-model")
    with house.at_terminal(*arguments) as terminal:
        terminal.shows("1. demolish: y: approve it; else why not? (empty: no reason)")
        terminal.types("y")
        terminal.shows("2. demolish: y: approve it; else why not? (empty: no reason)")
        terminal.types("listed")
        terminal.shows('refused the call demolish {"house": 2}: listed')
        terminal.shows("k1 True, k2 False")
        assert terminal.ended() == 3
