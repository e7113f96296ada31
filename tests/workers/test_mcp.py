"""An MCP server as a worker's tools: the real client, and a process that speaks MCP over stdio."""

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

from leadhand import Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, ToolCalled
from leadhand.testing import ScriptedServer
from tests.patience import HANG_S

SERVER = """
import json
import sys

TOOL = {
    "name": "search_stock",
    "description": "Says how much of an article is in stock.",
    "inputSchema": {
        "type": "object",
        "properties": {"article": {"type": "string"}, "idempotency_key": {"type": "string"}},
        "required": ["article", "idempotency_key"],
    },
}
for line in sys.stdin:
    asked = json.loads(line)
    params = asked.get("params", {})
    match asked["method"]:
        case "initialize":
            result = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "stock", "version": "1"},
            }
        case "tools/list":
            result = {"tools": [TOOL]}
        case "tools/call":
            given = params["arguments"]
            text = f"17 of {given['article']} in stock, key {given['idempotency_key']}"
            result = {"content": [{"type": "text", "text": text}]}
        case _:
            result = {}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def test_a_worker_uses_the_tools_of_an_mcp_server_which_receive_our_key(
    tmp_path: Path, model_server: ScriptedServer
) -> None:
    mcp = pytest.importorskip("pydantic_ai.mcp")
    pytest.importorskip("fastmcp")
    program = tmp_path / "stock.py"
    program.write_text(SERVER)
    server = {"command": sys.executable, "args": [str(program)]}
    toolset = mcp.MCPToolset({"mcpServers": {"stock": server}}, init_timeout=HANG_S)
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
    assert re.search(r"in stock, key [0-9a-f]{32}\b", called[0].output)
    assert "idempotency_key" not in json.dumps(model_server.stats().bodies)
