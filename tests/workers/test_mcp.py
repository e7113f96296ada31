"""An MCP server as a worker's tools: a real server in a process of its own, over stdio."""

import asyncio
import sys
from pathlib import Path

import pytest

from leadhand import Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.event import Event, ToolCalled
from leadhand.testing import ScriptedServer

SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("stock", log_level="ERROR")


@server.tool()
def search_stock(article: str) -> str:
    """Says how much of an article is in stock."""
    return f"17 of {article} in stock"


server.run()
'''


def test_a_worker_uses_the_tools_of_an_mcp_server(
    tmp_path: Path, model_server: ScriptedServer
) -> None:
    mcp = pytest.importorskip("pydantic_ai.mcp")
    pytest.importorskip("fastmcp")
    program = tmp_path / "stock.py"
    program.write_text(SERVER)
    server = {"command": sys.executable, "args": [str(program)]}
    toolset = mcp.MCPToolset({"mcpServers": {"stock": server}})
    team = Team(
        "store",
        model="openai-chat:scripted",
        workers=(Worker("stock", "Knows the stock", instructions="Look it up.", tools=(toolset,)),),
    )
    plan = Plan(goal="g", tasks=(Task(id="t1", worker="stock", intent="How many lamps?"),))
    events: list[Event] = []
    answer = asyncio.run(Supervisor(team).run(plan=plan, listener=events.append))
    assert answer.status == "complete", answer.gaps
    called = [event for event in events if isinstance(event, ToolCalled)]
    assert "in stock" in called[0].output
