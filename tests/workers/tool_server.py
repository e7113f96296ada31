"""An MCP server over stdio that misbehaves as its arguments say; run as a program.

`python tool_server.py FOLDER [BEHAVIOUR [FIFO]]`: each start adds its process id to
`FOLDER/starts`.
To open one end of a FIFO waits for the other.
"""

import json
import os
import signal
import sys
from pathlib import Path

TOOL = {
    "name": "look_up",
    "description": "Looks a word up.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
}


def main(folder: str, behaviour: str = "answers", fifo: str = "") -> None:
    starts = Path(folder, "starts")
    with starts.open("a") as file:
        file.write(f"{os.getpid()}\n")
    is_first = len(starts.read_text().split()) == 1
    if fifo and behaviour != "hangs":
        Path(fifo).open("r" if behaviour == "waits" else "w").close()
    if behaviour == "never_starts":
        signal.pause()
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        method = asked["method"]
        if method == "tools/call" and behaviour == "hangs" and is_first:
            if fifo:
                Path(fifo).open("w").close()
            signal.pause()
        reply = {"jsonrpc": "2.0", "id": asked["id"], **answer(method, asked.get("params", {}))}
        print(json.dumps(reply), flush=True)
        dies = behaviour == "always_dies" or (behaviour == "dies" and is_first)
        if method == "tools/call" and dies:
            return


def answer(method: str, params: dict[str, object]) -> dict[str, object]:
    tools: dict[str, object] = {}
    shown: dict[str, object] = {"serverInfo": {"name": "words", "version": "1"}}
    match method:
        case "initialize":
            shown |= {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": tools},
            }
            return {"result": shown}
        case "tools/list":
            return {"result": {"tools": [TOOL]}}
        case "tools/call":
            return {"result": {"content": [{"type": "text", "text": f"by {os.getpid()}"}]}}
        case "ping":
            return {"result": {}}
        case _:
            return {"error": {"code": -32601, "message": "no such method"}}


if __name__ == "__main__":
    main(*sys.argv[1:])
