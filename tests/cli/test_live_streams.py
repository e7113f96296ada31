"""A terminal that shows a run has planner and synthesizer streamed; a pipe has not."""

import re
from pathlib import Path

from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json
from tests.cli.program import leadhand
from tests.cli.terminal import Terminal
from tests.models.asking import OPENAI, body

TEAM = """from leadhand import Team, Worker

team = Team("desk", workers=[Worker(n, n, instructions="Work.") for n in ("billing", "tax")])
"""


def streamed(server: ScriptedServer) -> dict[Json, bool]:
    """Of each role whether its last request asked for a stream."""
    kept = server.stats().bodies
    return {one["role"]: body(one).get("stream") is True for one in kept}


def arguments(folder: Path) -> list[str]:
    file = folder / "desk.py"
    file.write_text(TEAM, encoding="utf-8")
    return ["run", "Who pays what?", "--team", f"{file}:team", "--model", OPENAI]


def test_a_terminal_has_the_planner_and_the_synthesizer_streamed(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    with Terminal(*arguments(tmp_path), folder=tmp_path, env=model_server.env()) as terminal:
        assert terminal.ended() == 0
    assert streamed(model_server) == {"planner": True, "worker": False, "synthesizer": True}


def test_a_pipe_has_nothing_streamed(model_server: ScriptedServer, tmp_path: Path) -> None:
    done = leadhand(*arguments(tmp_path), folder=tmp_path, env=model_server.env())
    assert done.status == 0
    assert re.search(r"^\w+: completed in \d+\.\d s, 1 request, \d+ tokens$", done.err, re.M)
    assert not any(streamed(model_server).values())
