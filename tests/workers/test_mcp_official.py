"""Official MCP servers, from the registries of packages, as tools."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest
from pydantic_ai.mcp import MCPToolset

from leadhand import Limits, Supervisor
from leadhand.contracts.events import Event
from leadhand.extension import load
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json
from tests.patience import HANG_S
from tests.test_docs import blocks
from tests.workers.model_runs import call, final, steps
from tests.workers.test_mcp_lifetimes import answering, asked, supervisor, tasks

PATIENT = Limits(timeout_s=HANG_S)
"""The start of a server counts, and takes long on a busy machine."""
SERVERS = Path(sys.prefix, "mcp-servers", "node_modules", "@modelcontextprotocol")


def given(server: ScriptedServer, tool: str, arguments: dict[str, Json], *command: str) -> str:
    """What a call of a server's tool gives."""
    server.configure(script=steps(call(tool, **arguments), final("done")))
    config = {"mcpServers": {"it": {"command": command[0], "args": [*command[1:]]}}}
    worker = asked(MCPToolset(config, init_timeout=HANG_S))
    events: list[Event] = []
    answer = asyncio.run(
        supervisor(worker).run(plan=tasks("a", limits=PATIENT), listener=events.append)
    )
    assert answer.status == "complete", answer.gaps
    (found,) = answering(events)
    return found


def node(server: str, *arguments: str) -> tuple[str, ...]:
    """The command of a server for Node, which only `make test-all` installs."""
    if "LEADHAND_TEST_ALL" not in os.environ:
        pytest.skip("`make test-all` installs this server")
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    program = SERVERS / server / "dist" / "index.js"
    if not program.exists():
        pytest.skip(f"{program} is not installed: npm was missing")
    return "node", str(program), *arguments


def test_the_time_server_converts_a_time(model_server: ScriptedServer) -> None:
    noon: dict[str, Json] = {
        "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"
    }  # fmt: skip
    command = (sys.executable, "-m", "mcp_server_time")
    assert "21:00" in given(model_server, "convert_time", noon, *command)


def test_a_worker_of_a_folder_takes_its_server_from_a_module_there(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    page = Path(__file__).parents[2] / "docs" / "extending.md"
    for block in blocks(page):
        if block.file is not None:
            file = tmp_path / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text)
    noon: dict[str, Json] = {
        "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"
    }  # fmt: skip
    model_server.configure(script=steps(call("convert_time", **noon), final("done")))
    events: list[Event] = []
    host = Supervisor(load(tmp_path / "travel"), synthesizer=Merge())
    answer = asyncio.run(host.run(plan=tasks("clock", limits=PATIENT), listener=events.append))
    assert answer.status == "complete", answer.gaps
    (found,) = answering(events)
    assert "21:00" in found


def test_the_server_of_everything_echoes(model_server: ScriptedServer) -> None:
    command = node("server-everything", "stdio")
    assert "Echo: lamp" in given(model_server, "echo", {"message": "lamp"}, *command)


def test_the_server_of_files_reads_a_file(model_server: ScriptedServer, tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("seven lamps")
    command = node("server-filesystem", str(tmp_path))
    assert "seven lamps" in given(model_server, "read_text_file", {"path": str(file)}, *command)
