"""`teams import`: crewAI projects and folders of Markdown subagents become teams that run."""

import dataclasses
from pathlib import Path
from textwrap import dedent

import pytest

from leadhand.errors import InputError, TeamError
from leadhand.supervisor import Supervisor
from leadhand.teams.importing import import_team
from leadhand.teams.loader import inspect, load
from leadhand.testing import ScriptedServer

AGENTS = """\
researcher:
  role: >
    {topic} researcher
  goal: Find what is new about {topic}
  backstory: You read everything.
  llm: openai/gpt-5-mini
  max_iter: 4
  verbose: true
writer:
  role: Writer
  goal: Write plainly
  backstory: You leave things out.
  allow_delegation: false
spare:
  role: Nobody's choice
"""
TASKS = """\
search:
  description: Search for {topic}.
  expected_output: A list of ten points
  agent: researcher
check:
  description: Check the points.
  agent: researcher
report:
  description: Write a report.
  expected_output: A report
  markdown: true
  output_file: report.md
"""
CREW = """\
from crewai import Agent, Crew, Process, Task
from crewai.project import CrewBase, agent, crew, task
from crewai_tools import FileReadTool, SerperDevTool

raise SystemExit("this was executed")
search_tool = SerperDevTool()


@CrewBase
class Reports:
    @agent
    def researcher(self) -> Agent:
        return Agent(config=self.agents_config["researcher"], tools=[search_tool, MailTool()])

    @agent
    def author(self) -> Agent:
        reader = FileReadTool(file_path="x.md")
        return Agent(config=self.agents_config["writer"], tools=[reader, SerperDevTool()])

    @task
    def search(self) -> Task:
        return Task(config=self.tasks_config["search"])

    @task
    def check(self) -> Task:
        return Task(config=self.tasks_config["check"], guardrail=self.guard)

    @task
    def report(self) -> Task:
        return Task(config=self.tasks_config["report"], agent=self.author())

    @crew
    def crew(self) -> Crew:
        return Crew(agents=self.agents, tasks=self.tasks, process=Process.sequential)
"""


def write_crew(folder: Path, agents: str = AGENTS, tasks: str = TASKS, crew: str = CREW) -> Path:
    source = folder / "reports"
    (source / "config").mkdir(parents=True)
    (source / "config" / "agents.yaml").write_text(agents, encoding="utf-8")
    (source / "config" / "tasks.yaml").write_text(tasks, encoding="utf-8")
    if crew:
        (source / "crew.py").write_text(crew, encoding="utf-8")
    return source


def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The workers of the tasks of a complete run with a scripted model, in order."""
    with ScriptedServer() as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        team = load(folder)
        scripted = "openai-chat:scripted"
        workers = [dataclasses.replace(one, model=None) for one in team.workers]
        team = dataclasses.replace(team, model=scripted, workers=workers)
        answer = Supervisor(team).run_sync("tea")
    assert (answer.status, answer.engine) == ("complete", "model")
    return [task.worker for task in answer.tasks]


def test_a_sequential_crew_becomes_a_template_and_what_is_lost_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = import_team(write_crew(tmp_path), tmp_path / "team")
    assert imported.lost == (
        "config/agents.yaml:14: `spare`: not imported, the crew does not use it",
        "config/tasks.yaml: {topic}: is now <topic>; the request of each run has to say what it "
        "stands for",
        "config/tasks.yaml:12: `output_file`: not carried over, redirect what `leadhand run` "
        "prints",
        "crew.py:13: tool 'MailTool': no ready-made tool does the same; write a function and name "
        "it as `module:function`",
        "crew.py:18: tool 'FileReadTool(...)': is now 'read_file', without what is in brackets",
        "crew.py:26: `guardrail` is code, not carried over: self.guard",
    )
    team, problems, warnings = inspect(tmp_path / "team")
    assert (problems, warnings) == ((), ())
    assert team is not None
    researcher, author = team.workers[1], team.workers[0]
    assert (researcher.name, author.name) == ("researcher", "author")
    assert researcher.description == "<topic> researcher: Find what is new about <topic>"
    assert researcher.instructions.endswith("Your goal: Find what is new about <topic>")
    assert (researcher.model, researcher.limits.max_steps) == ("openai:gpt-5-mini", 4)
    assert (researcher.tools, author.tools) == (("search_web",), ("read_file", "search_web"))
    assert [(one.id, one.worker, one.depends_on) for one in team.template] == [
        ("search", "researcher", ()),
        ("check", "researcher", ("search",)),
        ("report", "author", ("search", "check")),
    ]
    request = "The request, with the values of what is in <>: {request}"
    assert [one.intent for one in team.template] == [
        f"Search for <topic>. {request}",
        f"Check the points. {request}",
        f"Write a report. {request}",
    ]
    assert team.template[2].done_when == "A report It is formatted in Markdown."
    assert team.synthesis == "last"
    assert run(tmp_path / "team", monkeypatch) == ["researcher", "researcher", "author"]


def test_a_hierarchical_crew_gets_a_planner_that_knows_its_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crew = CREW.replace("Process.sequential", "Process.hierarchical, manager_llm='gpt-5'")
    tasks = TASKS.replace("  agent: researcher\n", "")
    source = write_crew(tmp_path, tasks=tasks, crew=crew)
    team = load(import_team(source, tmp_path / "team").folder)
    assert (team.planner.kind, team.planner.model) == ("ahead", "openai:gpt-5")
    assert "1. search: Search for <topic>. Expected: A list of ten points\n2. check: " in (
        team.planner.instructions
    )
    written = tmp_path / "team" / "team.yaml"
    written.write_text(written.read_text().replace("  model: openai:gpt-5\n", ""))
    assert set(run(tmp_path / "team", monkeypatch)) <= {"researcher", "author"}


def test_context_and_asynchronous_tasks_decide_which_outputs_a_task_gets(tmp_path: Path) -> None:
    tasks = dedent("""\
        a: {description: First., agent: writer}
        b: {description: Beside., agent: writer, async_execution: true}
        c: {description: Beside too., agent: writer, async_execution: true}
        d: {description: After both., agent: writer}
        e: {description: Of the first., agent: writer, context: [a]}
        f: {description: Of none., agent: writer, context: []}
        """)
    imported = import_team(write_crew(tmp_path, tasks=tasks, crew=""), tmp_path / "team")
    team = load(imported.folder)
    assert {one.id: list(one.depends_on) for one in team.template} == {
        "a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["a"], "f": [],
    }  # fmt: skip
    assert team.synthesis == "merge", "several tasks end the plan"
    said = "crew.py: no crew is read of it: tasks run in the order of tasks.yaml, one by one"
    assert said in imported.lost


def test_several_placeholders_are_stated_by_the_request(tmp_path: Path) -> None:
    tasks = "t: {description: 'Compare {a} with {b}.', agent: writer}"
    agents = "writer: {role: Writer}"
    imported = import_team(write_crew(tmp_path, agents, tasks, ""), tmp_path / "team")
    assert imported.team.request == "a: ...; b: ..."
    said = "{a}, {b}: is now <a>, <b>; the request of each run has to say what it stands for"
    assert f"config/tasks.yaml: {said}" in imported.lost
    assert load(imported.folder).template[0].intent == (
        "Compare <a> with <b>. The request, with the values of what is in <>: {request}"
    )


def test_a_planner_of_a_hierarchical_crew_is_told_whose_results_a_task_uses(tmp_path: Path) -> None:
    crew = CREW.replace("Process.sequential", "Process.hierarchical")
    tasks = TASKS.replace("markdown: true", "context: [search]\n  async_execution: true")
    imported = import_team(write_crew(tmp_path, tasks=tasks, crew=crew), tmp_path / "team")
    instructions = load(imported.folder).planner.instructions
    assert instructions.splitlines()[3].endswith("It uses the results of: search.")
    lost = (
        "config/tasks.yaml:12: `async_execution`: not carried over, the planner decides what runs"
    )
    assert lost in "\n".join(imported.lost)


SUBAGENT = """\
---
name: code-reviewer
description: Reviews code. Example: user: "look at this"
tools: Read, Grep, Bash(git diff:*), WebFetch
model: opus
maxTurns: 5
color: red
---

You review code.
"""


def test_subagents_become_workers_with_the_tools_that_leadhand_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "desk"
    agents = source / ".claude" / "agents"
    (agents / "docs").mkdir(parents=True)
    (agents / "review.md").write_text(SUBAGENT)
    (agents / "README.md").write_text("# What this is\n")
    (agents / "docs" / "Tech Writer.md").write_text("---\ndescription: Writes\n---\nYou write.\n")
    monkeypatch.chdir(tmp_path)
    imported = import_team(source)
    assert imported.folder == Path("desk-team")
    assert tuple(line.removeprefix(".claude/agents/") for line in imported.lost) == (
        "README.md: not imported: it has no front matter with a `name` or a `description`",
        "docs/Tech Writer.md:2: there is no `tools`, so the other program allows every tool; here "
        "it has none",
        "review.md:3: is not YAML (mapping values are not allowed here): put text with `: ` in it "
        "in quotes, and indent evenly; it is read as plain text",
        "review.md:4: tool 'Bash(git diff:*)': no ready-made tool does the same; write a function "
        "and name it as `module:function`",
        "review.md:7: `color`: not carried over, it has no counterpart",
    )
    team = load(imported.folder)
    writer, reviewer = team.workers
    assert (writer.name, writer.instructions, writer.tools) == ("Tech Writer", "You write.", ())
    assert reviewer.description == 'Reviews code. Example: user: "look at this"'
    assert reviewer.tools == ("read_file", "search_files", "read_page")
    assert (reviewer.tier, reviewer.limits.max_steps) == ("strong", 5)
    assert run(imported.folder, monkeypatch)


def test_code_that_a_definition_names_is_not_carried_over(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    hostile = "---\nname: a\ndescription: b\ntools: os:system\nrun: os:system\nteam: ../x\n---\n"
    (tmp_path / "agents" / "a.md").write_text(hostile)
    imported = import_team(tmp_path / "agents", tmp_path / "team")
    assert "os:system" not in (imported.folder / "workers" / "a.md").read_text()
    assert [line.partition(": ")[0] for line in imported.lost] == ["a.md:4", "a.md:5", "a.md:6"]


DEEP = "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c, *c, *c, *c, *c, *c]\n"


@pytest.mark.parametrize(
    ("agents", "tasks", "said"),
    [
        ("writer: {role: [", TASKS, "config/agents.yaml:1: is not YAML"),
        (DEEP, TASKS, "config/agents.yaml:4: has more than 10 aliases"),
        ("a: b\n" * 2_000_000, TASKS, "config/agents.yaml: is larger than 256 KiB"),
        ("writer: !!python/object:os.x {}", TASKS, "the tag '!!python/object:os.x' is not read"),
        ("writer: {goal: G}\nwriter: {goal: G}", TASKS, "config/agents.yaml:2: `writer` is on lin"),
        ("writer: text", TASKS, "config/agents.yaml:1: `writer` must have `key: value` lines"),
        ("writer: {verbose: true}", TASKS, "agent 'writer' has no `role`, `goal` or `backstory`"),
        (AGENTS, "t: {description: D}", "config/tasks.yaml:1: task 't' names no agent"),
        (AGENTS, "t: {description: D, agent: write}", "is no agent: did you mean 'writer'?"),
        (AGENTS, "t: {description: D, agent: writer, context: [u]}", "context 'u', which is no"),
        (AGENTS, "t: {agent: writer}", "config/tasks.yaml:1: task 't' has no `description`"),
        (
            AGENTS,
            "t: {description: D, agent: writer, context: [t]}",
            "'t', which is no task before it",
        ),
        ("'': {role: W}", TASKS, "config/agents.yaml:1: has no name"),
        (f"{AGENTS}---\n{AGENTS}", TASKS, "is not YAML (but found another document)"),
        ("writer:\n\trole: W", TASKS, "config/agents.yaml:2: is not YAML (found character '\\t'"),
    ],
    ids=range(15),
)
def test_a_crew_that_cant_be_read_is_named_by_file_and_line_and_nothing_is_written(
    tmp_path: Path, agents: str, tasks: str, said: str
) -> None:
    source = write_crew(tmp_path, agents, tasks, crew="")
    with pytest.raises(TeamError) as raised:
        import_team(source, tmp_path / "team")
    assert [said in line for line in raised.value.problems].count(True) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["reports"]


def test_links_bad_bytes_and_doubled_names_of_subagents_are_problems(tmp_path: Path) -> None:
    folder = tmp_path / "agents"
    folder.mkdir()
    (tmp_path / "secret.md").write_text(SUBAGENT)
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "latin.md").write_bytes(b"---\nname: caf\xe9\n---\n")
    (folder / "one.md").write_text(SUBAGENT)
    (folder / "two.md").write_text(SUBAGENT)
    with pytest.raises(TeamError) as raised:
        import_team(folder, tmp_path / "team")
    assert raised.value.problems == (
        "latin.md:2: is not UTF-8 text here: save the file as UTF-8",
        "link.md: is a link that leads out of the folder: put a copy there",
        "two.md:2: 'code-reviewer' is also the name of one.md",
    )
    assert not (tmp_path / "team").exists()


def test_without_agents_or_with_a_taken_folder_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="has no agents"):
        import_team(tmp_path / "empty", tmp_path / "team")
    with pytest.raises(InputError, match="there is no folder"):
        import_team(tmp_path / "gone", tmp_path / "team")
    source = write_crew(tmp_path)
    with pytest.raises(InputError, match="is not empty"):
        import_team(source, source)
    assert sorted(path.name for path in source.iterdir()) == ["config", "crew.py"]


def test_a_flow_with_several_crews_asks_for_one(tmp_path: Path) -> None:
    for name in ("poem", "review"):
        write_crew(tmp_path / "crews" / name)
        (tmp_path / "crews" / name / "reports").rename(tmp_path / "crews" / f"{name}_crew")
    with pytest.raises(InputError, match=r"has 2 crews: import one of .*poem_crew, .*review_crew"):
        import_team(tmp_path, tmp_path / "team")


@pytest.mark.parametrize(
    "crew", ["def (", CREW.replace("search_tool, ", f"{' + '.join('x' * 900)}, ")]
)
def test_a_crew_whose_python_cant_be_parsed_is_read_from_yaml_alone(
    tmp_path: Path, crew: str
) -> None:
    source = write_crew(tmp_path, tasks=TASKS + "  agent: writer\n", crew=crew)
    imported = import_team(source / "config", tmp_path / "team")
    lost = [line.removeprefix("crew.py").removeprefix(":1") for line in imported.lost]
    assert ": not read: Python can't parse this file" in lost
    assert [worker.name for worker in imported.team.workers] == ["researcher", "writer", "spare"]
