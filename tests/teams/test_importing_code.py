"""`teams import`: what of a crew's Python and YAML is carried over, and what is named as lost."""

from pathlib import Path
from textwrap import dedent

from leadhand.teams.importing import import_team
from leadhand.teams.loader import load
from tests.teams.test_importing import AGENTS, write_crew


def test_all_python_of_a_crew_that_is_not_carried_over_is_listed(tmp_path: Path) -> None:
    crew = dedent("""\
        class Reports:
            @before_kickoff
            def prepare(self, inputs): ...
            @llm
            def model(self): ...
            @agent
            def researcher(self): return Agent(self.base, config=self.agents_config["researcher"])
            @agent
            def writer(self): return Agent(config=load("writer", 1))
            @task
            async def search(self): return Task(config=self.tasks_config["search"])
            @task
            def check(self): return Task(config=self.tasks_config["check"])
            @task
            def report(self): return Task(config=self.tasks_config["report"], agent=self.writer())
            @crew
            def crew(self): return Crew(agents=[self.writer()], tasks=[self.search(), self.check()])
        """)
    source = write_crew(tmp_path, crew=crew)
    (source / "other_crew.py").write_text(crew)
    imported = import_team(source, tmp_path / "team")
    assert [line for line in imported.lost if "agents.yaml" not in line] == [
        "config/tasks.yaml: {topic}: is now <topic>; the request of each run has to say what it "
        "stands for",
        "config/tasks.yaml:8: `report`: not imported, the crew does not use it",
        "crew.py:3: `prepare` is code, not carried over: @before_kickoff def prepare(self, "
        "inputs): ...",
        "crew.py:5: `model` is code, not carried over: @llm def model(self): ...",
        "crew.py:7: `argument 1` is code, not carried over: self.base",
        "crew.py:9: `config` is code, not carried over: load('writer', 1)",
        "other_crew.py: not read: a team is made of one crew, and this folder has crew.py",
    ]
    assert [entry.id for entry in load(imported.folder).template] == ["search", "check"]


def test_python_that_names_a_value_is_read_and_other_code_is_named(tmp_path: Path) -> None:
    crew = dedent("""\
        MODEL = "gpt-5"
        class Other:
            @property
            def a(self): ...
        class Reports:
            tools = [SerperDevTool(), FileReadTool("x")]
            @agent
            def writer(self):
                \'\'\'Writes.\'\'\'
                model = LLM(model=MODEL)
                return Agent(config=self.agents_config.get("writer"), tools=self.tools, llm=model)
            @agent
            def researcher(self):
                return Agent(role="R", goal=GOAL, tools=a + b, max_iter=3, llm=make("gpt-5", 1).x)
            @task
            def search(self):
                if self.deep: return None
                return Task(agent=self.writer())
            @task
            def report(self): return Task(agent=made(self), context=[self.search()], markdown=True)
        class Second:
            @crew
            def crew(self): ...
        """)
    tasks = "search: {description: D, agent: writer}\nreport: {description: E, agent: writer}"
    imported = import_team(write_crew(tmp_path, AGENTS, tasks, crew), tmp_path / "team")
    assert [line for line in imported.lost if line.startswith("crew.py")] == [
        "crew.py:11: tool 'FileReadTool(...)': is now 'read_file', without what is in brackets",
        "crew.py:14: `goal` is code, not carried over: GOAL",
        "crew.py:14: `tools` is code, not carried over: a + b",
        "crew.py:14: `llm` is code, not carried over: make('gpt-5', 1).x",
        "crew.py:16: `search` is code, not carried over: @task def search(self): if self.deep: "
        "return None return Tas...",
        "crew.py:20: `agent` is code, not carried over: made(self)",
        "crew.py:21: `Second` is code, not carried over: class Second: @crew def crew(self): ...",
    ]
    researcher, writer = load(imported.folder).workers
    assert (writer.tools, writer.model) == (("search_web", "read_file"), "openai:gpt-5")
    assert (researcher.limits.max_steps, researcher.tools) == (3, ())
    assert [entry.depends_on for entry in load(imported.folder).template] == [(), ("search",)]


def test_a_merge_key_of_yaml_and_what_else_has_no_counterpart_are_named(tmp_path: Path) -> None:
    agents = (
        "writer:\n  role: Writer\n  <<: {llm: gpt-5}\n  memory: false\n  step_callback: f\n"
        "  temperature: 0.5\n  max_execution_time: 60\n"
    )
    source = write_crew(tmp_path, agents, "t: {description: D, agent: writer}", "")
    imported = import_team(source, tmp_path / "team")
    assert imported.lost[:2] == (
        "config/agents.yaml:3: `<<`: not carried over, it has no counterpart",
        "config/agents.yaml:5: `step_callback`: not carried over, it has no counterpart",
    )
    (worker,) = load(imported.folder).workers
    assert (worker.limits.timeout_s, worker.settings) == (60, {"temperature": 0.5})
