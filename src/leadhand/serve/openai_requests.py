"""What clients of OpenAI's protocols ask for: a request, what was said before it, and files."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field, JsonValue

from leadhand.contracts.task import EarlierRun
from leadhand.contracts.team import Team
from leadhand.plans.payloads import DeclaredType
from leadhand.run.stored import MAX_RUNS
from leadhand.serve.new_runs import MAX_REQUEST_CHARS, NewRun, start
from leadhand.serve.problems import HttpProblem
from leadhand.serve.service import Service, ServiceCaller
from leadhand.serve.turns import ClientTurn

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]
ORIGIN = "openai"
"""Where the origin of a run has what a response says of its request."""
TEXTS = ("text", "input_text", "output_text")
# What only says how a model writes or how a provider bills has no meaning for a team.
_IGNORED = """
frequency_penalty include logit_bias max_completion_tokens max_output_tokens max_tokens
parallel_tool_calls presence_penalty prompt_cache_key prompt_cache_retention reasoning
reasoning_effort safety_identifier seed service_tier stream_options temperature top_p truncation
user verbosity
"""
IGNORED = frozenset(_IGNORED.split())
"""Parameters that may be sent and change nothing."""
_NEUTRAL: Mapping[str, Sequence[JsonValue]] = {
    "n": (1,),
    "tool_choice": ("none", "auto"),
    "modalities": (["text"],),
}
"""Values that ask for what happens anyway."""


class ClientMessage(BaseModel):
    """A message of a chat, or of a response's input."""

    role: Role
    content: str | list[dict[str, JsonValue]] | None = None


class GivenRequest(NamedTuple):
    request: str
    """The last message, which is the user's."""
    earlier: tuple[EarlierRun, ...]
    """What was said before it, the latest exchange first."""
    files: dict[str, bytes]
    """Of all messages, by their names; of two with the same name the later one."""


class Format(BaseModel):
    """The format of an answer; for a chat, a JSON Schema is in `json_schema`."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: dict[str, JsonValue] = Field(default_factory=dict)
    schema_: dict[str, JsonValue] = Field(default_factory=dict, alias="schema")


class ClientRequest(BaseModel, extra="allow"):
    """What requests for a chat and for a response have in common."""

    model: str
    """The name of a team."""
    stream: bool = False
    store: bool | None = None
    """False: the run is erased once its answer was given, whole."""
    metadata: dict[str, str] | None = Field(default=None, max_length=16)

    async def begin(
        self,
        caller: ServiceCaller,
        messages: Sequence[ClientMessage],
        format: Format | None,
        *,
        parameters: tuple[str, str],
        key: str | None,
        background: bool = False,
        after: str | None = None,
    ) -> ClientTurn:
        """Start the run; `parameters` have the messages and the format. Raises `HttpProblem` for
        what a team can't do, unless it changes nothing, and what `start` raises."""
        for name, value in (self.model_extra or {}).items():
            ignored = name in IGNORED or value in _NEUTRAL.get(name, ())
            if value not in (None, False, [], {}) and not ignored:
                raise unsupported(f"{name:.80}", "a team does not support it; leave it out")
        team = team_named(caller.service, self.model)
        asked = asked_in(messages, team.name, parameter=parameters[0])
        as_output = wants_output(format, team, parameter=parameters[1])
        said: dict[str, JsonValue] = {"as_output": as_output, "background": background}
        said |= {"metadata": {**(self.metadata or {})}}
        stored = self.store is not False
        run = await start(
            caller,
            NewRun(team=team.name, request=asked.request, after=after, store=stored),
            uploads=asked.files,
            key=key,
            earlier=asked.earlier,
            kept={ORIGIN: {name: value for name, value in said.items() if value}},
        )
        stays = background or key is not None
        return ClientTurn(caller, run, as_output, stays=stays, waits=background)


def team_named(service: Service, model: str) -> Team:
    """Raises `HttpProblem` 404 that names the teams."""
    try:
        return service.supervisor(model).team
    except HttpProblem as problem:
        extra = {"param": "model", "code": "model_not_found"}
        raise HttpProblem(404, problem.detail, extra=extra) from None


def unsupported(parameter: str, why: str) -> HttpProblem:
    return HttpProblem(
        400, f"{parameter}: {why}", extra={"param": parameter, "code": "unsupported_parameter"}
    )


def asked_in(messages: Sequence[ClientMessage], team: str, *, parameter: str) -> GivenRequest:
    """Raises `HttpProblem` for messages that ask nothing, or for parts that no team can read."""
    if not messages or messages[-1].role != "user":
        raise unsupported(parameter, "the last message has to be the user's request")
    last = f"{parameter}[{len(messages) - 1}]"
    files = dict[str, bytes]()
    for place, message in enumerate(messages):
        # What can't be read was refused, or is another team's, when it was the last.
        with suppress(*(() if message is messages[-1] else (HttpProblem,))):
            files |= _files(message, f"{parameter}[{place}]")
    request = _text(messages[-1])
    if not request.strip():
        raise unsupported(last, "the request has no text")
    if len(request) > MAX_REQUEST_CHARS:
        raise unsupported(last, f"the request has more than {MAX_REQUEST_CHARS:,} characters")
    return GivenRequest(request, _earlier(messages[:-1], team), files)


def _earlier(messages: Sequence[ClientMessage], team: str) -> tuple[EarlierRun, ...]:
    """The latest exchanges, and before them what the client's application says, all as data."""
    said = [
        text for one in messages if one.role in ("system", "developer") and (text := _text(one))
    ]
    exchanges: list[tuple[str, list[str]]] = []
    for one in messages:
        if one.role == "user":
            exchanges.append((_text(one), []))
        elif one.role == "assistant" and exchanges and (text := _text(one)):
            exchanges[-1][1].append(text)
    latest = [
        EarlierRun(team=team, request=request, answer="\n\n".join(answers))
        for request, answers in reversed(exchanges[-(MAX_RUNS - bool(said)) :])
    ]
    if said:
        latest.append(EarlierRun(request="What the application says", answer="\n\n".join(said)))
    return tuple(latest)


def _text(message: ClientMessage) -> str:
    """Raises `UnicodeEncodeError` for half a character."""
    if isinstance(message.content, list):
        texts = [part.get("text") for part in message.content if part.get("type") in TEXTS]
        text = "\n\n".join(text for text in texts if isinstance(text, str))
    else:
        text = message.content or ""
    text.encode()
    return text


def _files(message: ClientMessage, parameter: str) -> Iterator[tuple[str, bytes]]:
    parts = message.content if isinstance(message.content, list) else []
    for place, part in enumerate(parts):
        match part:
            case {"type": "file", "file": {"file_data": str(data), **named}}:
                yield _file(data, named.get("filename"), f"{parameter}.content[{place}]")
            case {"type": "input_file", "file_data": str(data)}:
                yield _file(data, part.get("filename"), f"{parameter}.content[{place}]")
            case {"type": str(kind)} if kind in TEXTS:
                pass
            case _:
                kind = str(part.get("type"))
                raise unsupported(
                    f"{parameter}.content[{place}]",
                    f"a part of type {kind!r:.80} can't be read: send text, or a file as base64 "
                    "in file_data",
                )


def _file(data: str, name: object, parameter: str) -> tuple[str, bytes]:
    if not isinstance(name, str) or not name:
        raise unsupported(parameter, "the file needs a filename, whose ending says what it is")
    try:
        return (name, base64.b64decode(re.sub(r"\Adata:[^,]*,", "", data), validate=True))
    except (ValueError, binascii.Error):
        raise unsupported(parameter, "file_data is not base64") from None


def wants_output(format: Format | None, team: Team, *, parameter: str) -> bool:
    """Whether the answer is to be the team's typed output. Raises `HttpProblem` for a type that is
    not the team's."""
    if format is None or format.type == "text":
        return False
    if team.output is None:
        raise unsupported(
            parameter, f"the team {team.name!r} answers in text: its output has no type"
        )
    declared = DeclaredType(team.output)
    asked = format.json_schema.get("schema") or format.schema_
    if format.type == "json_schema" and _properties(asked) != _properties(dict(declared.schema)):
        raise unsupported(
            parameter,
            f"the team {team.name!r} answers with its own type, {declared.name}; for its JSON give "
            'that schema, or {"type": "json_object"}',
        )
    return True


def _properties(schema: JsonValue) -> set[str]:
    """The names of all properties: what the ways in which clients write a schema leave as it is."""
    found, todo = set[str](), [schema]
    while todo:
        match todo.pop():
            case dict() as one:
                properties = one.get("properties")
                found |= properties.keys() if isinstance(properties, dict) else set()
                todo += one.values()
            case list() as many:
                todo += many
            case _:
                pass
    return found
