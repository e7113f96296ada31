"""`leadhand runs`, `show` and `trace`: what a person sees of runs that are kept."""

import asyncio
import datetime as dt
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leadhand import Team, Worker
from leadhand.cli.app import app
from leadhand.cli.duration import parse_duration
from leadhand.cli.home import find_run
from leadhand.cli.runs.history_text import history_lines
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import ApprovalRequested, Event, RunStarted, RunWaiting, parse
from leadhand.contracts.summary import RunFilter, RunSummary
from leadhand.errors import InputError
from leadhand.journal import MemoryStore, open_store
from leadhand.journal.store import Store
from leadhand.state.fold import fold
from leadhand.trace.run_history import RunHistory
from tests.cli.program import PROGRAM, leadhand
from tests.cli.terminal import Terminal
from tests.plans.samples import nothing, plan, task
from tests.programs import forkserver
from tests.trace import runs


def keep(journal: Store, events: Sequence[Event], *ids: str, days_ago: float = 0) -> None:
    """The events in the journal, as runs of these ids that were so long ago."""

    async def write() -> None:
        for id in ids:
            with journal.hold(id):
                for event in events:
                    at = event.at - dt.timedelta(days=days_ago)
                    journal.append(replace(event, run_id=id, at=at))
                await journal.commit()

    asyncio.run(write())


@pytest.fixture(scope="module", name="flow")
def _flow() -> Sequence[Event]:
    return runs.flow()[1]


@pytest.fixture(name="journal")
def _journal(tmp_path: Path) -> Iterator[Store]:
    journal = open_store(tmp_path / "home")
    yield journal
    journal.close()


@pytest.fixture(name="home")
def _home(tmp_path: Path) -> str:
    return str(tmp_path / "home")


def printed(home: str, *words: str) -> str:
    """What `leadhand WORDS` prints on stdout. Raises what the command does."""
    ended = CliRunner().invoke(app, words, env={"LEADHAND_HOME": home})
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended.stdout


# Which run


def test_a_run_is_named_by_its_id_the_beginning_of_it_or_last(
    journal: Store, home: str, flow: Sequence[Event]
) -> None:
    keep(journal, flow, "run-a1", days_ago=2)
    keep(journal, flow, "run-a", days_ago=1)
    keep(journal, flow, "run-b7")
    assert find_run(journal, "run-a", home) == "run-a", "an id beats those that begin with it"
    assert find_run(journal, "run-b", home) == "run-b7"
    assert find_run(journal, "last", home) == "run-b7"


class ListedJournal(MemoryStore):
    """A journal that notes how many runs it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.limits: list[int | None] = []

    def runs(
        self, *, limit: int | None = None, cursor: str | None = None, where: RunFilter | None = None
    ) -> Sequence[RunSummary]:
        self.limits.append(limit)
        return super().runs(limit=limit, cursor=cursor, where=where)


def test_the_last_run_is_found_without_listing_the_others(flow: Sequence[Event]) -> None:
    journal = ListedJournal()
    keep(journal, flow, "early", "late")
    assert find_run(journal, "last", "home") == "late"
    assert journal.limits == [1]


def test_what_is_no_run_or_several_is_one_line_with_the_nearest(
    journal: Store, home: str, flow: Sequence[Event]
) -> None:
    with pytest.raises(InputError, match=r"no runs are stored in .*home"):
        find_run(journal, "last", home)
    keep(journal, flow, "run-a1", "run-a2")
    with pytest.raises(InputError, match=r"may be any of 2 runs: run-a[12], run-a[12]"):
        find_run(journal, "run-", home)
    with pytest.raises(InputError, match=r"there is no run 'run-a9'.* run-a[12]"):
        find_run(journal, "run-a9", home)
    with pytest.raises(InputError, match="no run ''"):
        find_run(journal, "", home)


def test_what_can_be_no_id_is_no_run(journal: Store, home: str, flow: Sequence[Event]) -> None:
    keep(journal, flow, "run-1")
    for given in ("\udcff", "x" * 100_000, "a\0b"):
        with pytest.raises(InputError, match="there is no run") as refused:
            find_run(journal, given, home)
        assert len(str(refused.value)) < 200
    assert printed(home, "runs", "--limit", str(10**30)).startswith("run-1 ")


# The list


def test_runs_are_listed_a_line_each_the_last_first(
    journal: Store, home: str, flow: Sequence[Event]
) -> None:
    keep(journal, flow, "run-1", days_ago=1)
    keep(journal, flow[:8], "run-2")
    later, earlier = printed(home, "runs").splitlines()
    assert later.split()[:1] == ["run-2"]
    assert later.split()[3] == "interrupted"
    assert earlier.split()[3:5] == ["partial", "4/6"]
    assert earlier.endswith("$0.5000  six  get it all done")
    only = CliRunner().invoke(app, ["runs", "--limit", "1", "--json", "--home", home])
    assert only.stderr == "this is the last one; --limit shows more\n"
    (listed,) = json.loads(only.stdout)
    assert (listed["run_id"], listed["status"]) == ("run-2", "interrupted")


def test_f34_f35_a_request_stays_one_line_and_does_nothing_to_the_terminal(
    journal: Store, home: str, flow: Sequence[Event]
) -> None:
    started = flow[0]
    assert isinstance(started, RunStarted)
    started = replace(started, request="do\r\n\x1b]52;c;eA==\x07 \u202ethis " + "x" * 500)
    keep(journal, [started, *flow[1:]], "run-1")
    (line,) = printed(home, "runs").splitlines()
    assert line.isprintable()
    assert len(line) < 200
    assert all(map(str.isprintable, printed(home, "show", "run-1").splitlines()))


def test_on_a_terminal_a_run_is_one_line_of_it(
    journal: Store, home: str, flow: Sequence[Event], tmp_path: Path
) -> None:
    keep(journal, flow, "run-1", "run-" + "9" * 90)
    with Terminal("runs", "--home", home, folder=tmp_path, env={}) as terminal:
        assert terminal.ended() == 0
        lines = terminal.text.splitlines()
    assert [len(line) <= 100 for line in lines] == [True, True]
    assert lines[0].endswith("…")


# Pruning


def test_only_what_is_older_goes_and_a_dry_run_says_the_same_and_deletes_nothing(
    journal: Store, home: str, flow: Sequence[Event]
) -> None:
    keep(journal, flow, "run-old", "run-held", days_ago=40)
    keep(journal, flow, "run-new", days_ago=20)
    prune = ["runs", "prune", "--older-than", "30d"]
    with journal.hold("run-held"):
        told = printed(home, *prune, "--dry-run")
        assert told.splitlines()[0] == "run-old"
        assert "1 run older than" in told
        assert "would be deleted" in told
        assert {run.run_id for run in journal.runs()} == {"run-old", "run-held", "run-new"}
        done = printed(home, *prune)
        assert done.startswith("run-old\n1 run older than")
        assert done.endswith("UTC deleted\n")
    assert {run.run_id for run in journal.runs()} == {"run-held", "run-new"}
    (line,) = printed(home, "runs", "deleted").splitlines()
    assert re.search(r"run-old .* runs prune\Z", line)


def test_durations_may_be_days_and_weeks() -> None:
    assert parse_duration("30d") == 30 * 86_400
    assert parse_duration("1w2d") == 9 * 86_400
    with pytest.raises(InputError, match="not a duration"):
        parse_duration("30 moons")


# One run


def test_a_run_is_shown_with_every_attempt_in_80_columns(journal: Store, home: str) -> None:
    keep(journal, runs.trouble().log(), "run-1")
    text = printed(home, "show", "last")
    assert all(len(line) <= 80 and line == line.rstrip() for line in text.splitlines())
    lines = [line.strip() for line in text.splitlines()]
    assert "✓ fails completed · second · 0 ms" in lines
    assert "attempt 1, first: failed after 0 ms (tool error): no table `sales`" in lines
    assert "- work on part fails" in lines
    assert "+ Look in the table `orders`." in lines
    words = " ".join(text.split())
    assert "→ reassigned to second: first ended with tool_error; second is its fallback" in words
    assert "→ tier raised from standard to strong" in words
    assert "→ of two results the second was taken, of second: it names its source" in words
    assert "→ split into big.1, big.2" in words
    assert text.index("┄ big split") < text.index("    ✓ big.1 completed")
    assert "- lost skipped · second needs 'never', which gave no result" in words
    assert "critical path" in lines
    # A program began it, and the command line has to be told its team.
    assert "continue with: leadhand resume run-1 --team TEAM" in lines


def test_nested_teams_stand_within_the_task_that_they_do(journal: Store, home: str) -> None:
    keep(journal, runs.nested()[1], "run-1")
    lines = printed(home, "show", "last").splitlines()
    depth = {
        line.split()[1]: line.index(line.split()[0]) for line in lines if "completed ·" in line
    }
    assert depth["t1"] == depth["t2"] < depth["reader"]
    assert any(line.strip().startswith("✗ writer failed") for line in lines)
    assert any(line.startswith("  t1/writer: no archive. It was to: ") for line in lines)
    assert "  legal/writer  2 requests, 70 tokens in, 9 out, $0.5000" in lines


def test_what_a_run_waits_for_is_told_with_the_command_to_answer(
    journal: Store, home: str, flow: Sequence[Event]
) -> None:
    asked = ApprovalRequested(
        seq=9, at=flow[7].at, elapsed_s=9.0, run_id="run-1", task_id="e", question="Which archive?"
    )
    answer = Answer(run_id="r", status="waiting", engine="model", team="t", request="r")
    waits = RunWaiting(seq=10, at=asked.at, elapsed_s=9.0, run_id="run-1", answer=answer)
    keep(journal, [*flow[:8], asked, waits], "run-1")
    text = printed(home, "show", "last", "--home", home)
    assert "run-1  waiting\n" in text
    assert f"  e: Which archive?\n  continue with: leadhand answer run-1 --home {home}\n" in text
    long = f"{home}/../{'a long folder/../' * 20}home"
    (Path(home).parent / "a long folder").mkdir()
    text = printed(home, "show", "last", "--home", long)
    assert f"continue with: leadhand answer run-1 --home '{long}'\n" in text, (
        "to copy: in one piece"
    )


def test_a_run_without_its_first_event_is_named_in_the_command_too(flow: Sequence[Event]) -> None:
    """F44"""
    lines = history_lines(RunHistory.of(flow[1:4]), held=False, options=" --home /h")
    text = "\n".join(line.plain for _, line in lines)
    assert text.startswith(f"{flow[0].run_id}  ")
    assert f"leadhand resume {flow[0].run_id} --home /h" in text


def test_many_quiet_tasks_are_counted_and_what_went_wrong_is_not(journal: Store, home: str) -> None:
    team = Team("t", workers=(Worker("w", "d", run=nothing), Worker("bad", "d", run=runs.broken)))
    tasks = [task(f"t{number}", worker="w") for number in range(60)]
    _, events = runs.ran(team, plan(*tasks, task("late", worker="bad")))
    keep(journal, events, "run-1")
    text = printed(home, "show", "last")
    assert "✓ 20 more tasks completed at the first attempt (w 20)" in text
    assert "✗ late failed" in text


def test_an_interrupted_run_of_thousands_of_tasks_is_shown_on_a_few_screens() -> None:
    """F47: one of 20,000 tasks took 5,950 lines. What runs or failed comes before all others."""
    team = Team("t", workers=(Worker("w", "d", run=nothing), Worker("bad", "d", run=runs.broken)))
    tasks = [
        task(f"t{number}", worker="bad" if number % 10 == 9 else "w") for number in range(1500)
    ]
    late = [task(f"late{number}", "t0", worker="w") for number in range(500)]
    _, events = runs.ran(team, plan(*tasks, *late))
    done = [n for n, event in enumerate(events) if event.type == "task_failed"][139]
    history = RunHistory.of(events[: done + 1])
    lines = [line.plain for _, line in history_lines(history, held=False)]
    assert len(lines) < 500
    status = Counter(one.status for one in history.state.tasks.values())
    text = "\n".join(lines)
    assert f" {status['pending'] - 40:,} more pending (" in text
    assert " more tasks completed at the first attempt (w " in text
    assert sum(line.startswith("✗ ") for line in lines) <= 101
    assert re.search(r"^✗ \d+ more failed \(bad \d+\)$", text, re.MULTILINE)


def test_a_run_is_shown_as_data_too(journal: Store, home: str) -> None:
    keep(journal, runs.nested()[1], "run-1")
    told = json.loads(printed(home, "show", "run-1", "--json"))
    assert told["status"] == "partial"
    (t1, t2) = told["tasks"]
    assert (t1["id"], t2["status"]) == ("t1", "completed")
    inside = {task["id"]: task for task in t1["attempts"][0]["tasks"]}
    assert inside["writer"]["attempts"][0]["kind"] == "error"
    assert told["used_by_worker"]["legal/writer"]["requests"] == 2
    (gap,) = told["gaps"]
    assert (gap["task_id"], gap["why"]) == ("t1/writer", "no archive")
    assert gap["what"]


def test_the_answer_can_be_read_again(journal: Store, home: str, flow: Sequence[Event]) -> None:
    keep(journal, flow, "run-1")
    assert "said a" in printed(home, "show", "last", "--answer")
    keep(journal, flow[:8], "run-2")
    with pytest.raises(InputError, match="no answer yet"):
        printed(home, "show", "run-2", "--answer")


def test_a_trace_is_written_where_it_is_wanted(
    journal: Store, home: str, flow: Sequence[Event], tmp_path: Path
) -> None:
    keep(journal, flow, "run-1")
    data, document = tmp_path / "run.json", tmp_path / "run.html"
    printed(home, "trace", "run-1", "--out", str(data))
    words = ("trace", "run-1", "--format", "html", "--out", str(document))
    ended = CliRunner().invoke(app, words, env={"LEADHAND_HOME": home})
    assert (ended.stdout, ended.stderr) == (
        "",
        f"leadhand: wrote a page of run-1 to {document}\n",
    )
    trace = json.loads(data.read_text(encoding="utf-8"))
    state = fold(parse(json.dumps(event)) for event in trace["events"])
    assert state.answer == fold(flow).answer
    assert document.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(InputError, match="can't write the trace"):
        printed(home, "trace", "run-1", "--out", str(tmp_path / "none" / "run.json"))


def test_a_reader_of_a_trace_that_leaves_is_no_error(
    journal: Store, home: str, flow: Sequence[Event], tmp_path: Path
) -> None:
    keep(journal, [flow[0], replace(flow[1], seq=2)], "run-1")
    reading, writing = os.pipe()
    os.close(reading)
    command = (*PROGRAM, "trace", "run-1", "--home", home)
    ended = forkserver().start(*command, folder=tmp_path, stdout=writing).ended()
    os.close(writing)
    assert (ended.status, ended.err) == (0, "")


def test_the_commands_as_typed(tmp_path: Path, flow: Sequence[Event]) -> None:
    """Each is a process of its own; nothing is made where there was nothing."""
    env = {"LEADHAND_HOME": str(tmp_path / "none")}
    none = leadhand("runs", folder=tmp_path, env=env)
    assert (none.status, none.out) == (0, f"no runs are stored in {tmp_path / 'none'}\n")
    assert not (tmp_path / "none").exists()

    home = tmp_path / "home"
    journal = open_store(home)
    keep(journal, flow, "run-1", days_ago=40)
    journal.close()
    there = ("--home", str(home))
    assert leadhand("runs", *there, folder=tmp_path).out.startswith("run-1 ")
    assert json.loads(leadhand("trace", "run", *there, folder=tmp_path).out)["run_id"] == "run-1"
    plain = leadhand("show", "last", *there, folder=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    assert "+ a completed" in plain.out
    beside = home / "runs" / "run-1"
    beside.mkdir(parents=True)
    gone = leadhand("runs", *there, "prune", "--older-than", "30d", folder=tmp_path, env=env)
    assert gone.out.startswith("run-1\n1 run older than")
    assert not beside.exists()
    unknown = leadhand("show", "run-1", *there, folder=tmp_path)
    assert (unknown.status, unknown.err) == (2, f"leadhand: no runs are stored in {home}\n")
