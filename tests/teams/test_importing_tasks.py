"""`teams import`: the texts of a crew's tasks, with their lines and placeholders."""

from pathlib import Path

from leadhand.teams.importing import import_team
from leadhand.teams.loader import load
from tests.teams.test_importing import write_crew

LINES = """\
search:
  agent: writer
  description: |
    Do this:
    - search for {topic}

    - read it
  expected_output: |
    A list:
    1. points about {topic}
  markdown: true
"""


def test_tasks_keep_their_line_breaks(tmp_path: Path) -> None:
    source = write_crew(tmp_path, "writer: {role: Writer}", LINES, "")
    (task,) = load(import_team(source, tmp_path / "team").folder).template
    assert task.intent == (
        "Do this:\n- search for <topic>\n\n- read it\n\n"
        "The request, with the values of what is in <>: {request}"
    )
    assert task.done_when == ("A list:\n1. points about <topic>\n\nIt is formatted in Markdown.")


def test_tasks_that_a_planner_is_told_of_keep_their_line_breaks(tmp_path: Path) -> None:
    source = write_crew(
        tmp_path,
        "writer: {role: Writer}",
        LINES,
        "class C:\n    @crew\n    def crew(self): return Crew(process=Process.hierarchical)\n",
    )
    told = load(import_team(source, tmp_path / "team").folder).planner.instructions
    assert "1. search: Do this:\n   - search for <topic>\n" in told
    assert "   - read it Expected: A list:\n   1. points about <topic>\n" in told


def test_a_placeholder_in_what_is_expected_alone_is_explained_in_the_task(tmp_path: Path) -> None:
    tasks = "t: {description: Search., expected_output: 'All about {topic}', agent: writer}"
    source = write_crew(tmp_path, "writer: {role: Writer}", tasks, "")
    (task,) = load(import_team(source, tmp_path / "team").folder).template
    assert (task.intent, task.done_when) == (
        "Search. The request, with the values of what is in <>: {request}",
        "All about <topic>",
    )
