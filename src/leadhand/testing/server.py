"""The scripted model server: a process on loopback that speaks OpenAI's and Anthropic's protocols.

    python -m leadhand.testing.server --port 0

prints its URL and serves until it is stopped. `ScriptedServer` controls it over its standard input
and output (`--piped`). It makes no connections.
"""

import argparse
import asyncio
import contextlib
import json
import resource
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from leadhand.errors import InputError
from leadhand.testing import anthropic_messages, chat_completions
from leadhand.testing.counts import Counts
from leadhand.testing.exchange import Completion, ModelReply, Request, Response
from leadhand.testing.http import HttpConnection
from leadhand.testing.json_data import Json, Object, mapping, parse, text, wire
from leadhand.testing.misbehaviour import TO_ANSWERS, TO_RESPONSES, retry_after, status_of
from leadhand.testing.roles import complete, role_of
from leadhand.testing.settings import HOST, ServerSettings

_BACKLOG = 4096
_TOKEN_CHARS = 4
_NO_RESPONSES = (
    "this server speaks chat completions, not responses: POST /v1/chat/completions "
    "(pydantic-ai: the provider `openai-chat`)"
)


class ProtocolModule(Protocol):
    def read(self, body: Object) -> Request: ...
    def write(
        self, request: Request, completion: Completion, *, tokens: int, number: int
    ) -> Response: ...
    def error(self, status: int, message: str) -> bytes: ...


class ModelServer:
    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._script = settings.script_of()
        self.counts = Counts(keep_bodies=settings.keep_bodies)
        self._number = 0

    def configure(self, changes: Object) -> None:
        """Change settings; a new script, faults or seed resets the script."""
        self._settings = self._settings.changed(changes)
        if {"script", "faults", "seed"} & changes.keys():
            self._script = self._settings.script_of()
        self.counts.keep_bodies(self._settings.keep_bodies)

    def reset(self, changes: Object) -> None:
        self._settings = self._settings.changed(changes)
        self._script = self._settings.script_of()
        self.counts.clear(keep_bodies=self._settings.keep_bodies)

    def answer(self, method: str, path: str, body: bytes) -> Response:
        plain = path.partition("?")[0].rstrip("/")
        if method == "POST" and plain.endswith(chat_completions.PATH):
            return self._model_call(chat_completions, body)
        if method == "POST" and plain.endswith(anthropic_messages.PATH):
            return self._model_call(anthropic_messages, body)
        if method == "GET" and plain.endswith("/models"):
            return Response(body=wire(_models(self._settings.model)))
        if method == "GET" and plain == "/props" and self._settings.context_tokens:
            given: Object = {"n_ctx": self._settings.context_tokens}
            return Response(body=wire({"default_generation_settings": given, "total_slots": 1}))
        if method == "GET" and plain == "/stats":
            return Response(body=wire(self.counts.snapshot()))
        missing = _NO_RESPONSES if plain.endswith("/responses") else f"no {method} {plain} here"
        return Response(status=404, body=chat_completions.error(404, missing))

    def _model_call(self, protocol: ProtocolModule, body: bytes) -> Response:
        try:
            asked = parse(body)
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            return Response(status=400, body=protocol.error(400, "the body is not a JSON object"))
        request = protocol.read(asked)
        role = role_of(request)
        self.counts.asked(request, role, asked, chars=len(body))
        self._number += 1
        if (why := self._settings.refusal(request.prompt_tokens, request.max_tokens)) is not None:
            return Response(status=400, body=protocol.error(400, why))
        try:
            reply = self._script.reply(request, role)
            response = self._respond(protocol, request, reply)
        except Exception as error:  # A user's script may raise anything; the test should see it.
            said = f"the script raised {type(error).__name__}: {error}"
            return Response(status=400, body=protocol.error(400, said))
        return response

    def _respond(self, protocol: ProtocolModule, request: Request, reply: ModelReply) -> Response:
        marked = request.latency_ms
        delay_s = (self._settings.latency_ms if marked is None else marked) / 1000.0
        for name in reply.misbehave:
            self.counts.misbehaved(name)
        status = status_of(reply.misbehave)
        if status is None:
            response = self._spoken(protocol, request, reply)
        else:
            response = _failure(protocol, *status)
        response = replace(response, delay_s=delay_s + response.delay_s)
        for name, parameter in reply.misbehave.items():
            if name in TO_RESPONSES:
                response = TO_RESPONSES[name](response, parameter)
        return response

    def _spoken(self, protocol: ProtocolModule, request: Request, reply: ModelReply) -> Response:
        completion = complete(request, reply)
        for name, parameter in reply.misbehave.items():
            if name in TO_ANSWERS:
                completion = TO_ANSWERS[name](completion, request, parameter)
        tokens, rate = _tokens(completion), self._settings.tokens_per_s
        self.counts.stats.completion_tokens += tokens
        completion = replace(completion, piece_chars=_TOKEN_CHARS if rate else 0)
        response = protocol.write(request, completion, tokens=tokens, number=self._number)
        if not rate:
            return response
        if request.stream:
            return replace(response, event_every_s=1 / rate)
        return replace(response, delay_s=tokens / rate)


def _failure(protocol: ProtocolModule, status: int, parameter: Json) -> Response:
    waits = status in (429, 503, 529)
    headers = retry_after(parameter) if waits else ()
    said = "slow down" if status == 429 else "not now" if waits else "the model failed"
    return Response(status=status, body=protocol.error(status, said), headers=headers)


def _tokens(completion: Completion) -> int:
    arguments = sum(len(call.argument_text) for call in completion.tool_calls)
    return (len(completion.text) + arguments) // _TOKEN_CHARS + 1


def _models(name: str) -> Object:
    model: Object = {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "script"}
    model |= {"type": "model", "display_name": name, "created_at": "2023-11-14T22:13:20Z"}
    return {"object": "list", "data": [model], "has_more": False, "first_id": name, "last_id": name}


async def serve(model_server: ModelServer, *, port: int, piped: bool) -> None:
    """Serve until the commands on standard input end, or for ever without `piped`."""
    loop = asyncio.get_running_loop()
    answer, counts = model_server.answer, model_server.counts
    listening = await loop.create_server(
        lambda: HttpConnection(answer, counts), HOST, port, backlog=_BACKLOG
    )
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        if piped:
            print(json.dumps({"port": port}), flush=True)
            await _run_commands(model_server)
        else:
            print(f"http://{HOST}:{port}/v1", flush=True)
            await listening.serve_forever()


async def _run_commands(model_server: ModelServer) -> None:
    """Carry out the commands on standard input, one per line, and answer each with a line."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2**30)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        try:
            answer = _command(model_server, mapping(parse(line)))
        except InputError as error:
            answer = {"error": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _command(model_server: ModelServer, command: Object) -> Object:
    changes = mapping(command.get("settings"))
    match text(command.get("do")):
        case "stats":
            return {"stats": model_server.counts.snapshot()}
        case "reset":
            model_server.reset(changes)
        case "configure":
            model_server.configure(changes)
        case unknown:
            return {"error": f"no command {unknown!r}"}
    return {}


def _settings(arguments: argparse.Namespace) -> ServerSettings:
    given: Object = {"latency_ms": arguments.latency_ms, "seed": arguments.seed}
    given["tokens_per_s"] = arguments.tokens_per_s
    script: str = arguments.script
    if script:
        is_file = script.endswith(".json")
        given["script"] = parse(Path(script).read_bytes()) if is_file else script
    given["faults"] = parse(arguments.faults)
    return ServerSettings().changed(given)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m leadhand.testing.server",
        description="A model server on loopback that answers by script and misbehaves on demand.",
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--script", default="", help="module:function, or a JSON file of rules")
    parser.add_argument("--faults", default="{}", help='JSON, for example {"429": 0.1}')
    parser.add_argument("--seed", type=int, default=0, help="of the faults")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--tokens-per-s", type=float, default=0.0, help="0: answers come at once")
    parser.add_argument("--piped", action="store_true", help="take commands from standard input")
    arguments = parser.parse_args(argv)
    try:
        model_server = ModelServer(_settings(arguments))
    except (InputError, OSError, ValueError) as error:
        parser.error(str(error))
    # A thousand clients at once need more files than many systems allow by default.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if arguments.piped:
        # Ctrl-C in a terminal reaches the whole group; this process ends with its parent's pipe.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(model_server, port=arguments.port, piped=arguments.piped))
    return 0


if __name__ == "__main__":
    sys.exit(main())
