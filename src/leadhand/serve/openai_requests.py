"""What clients of OpenAI's protocols ask for: a request, and what was said before it."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, Field, JsonValue

from leadhand.contracts.task import EarlierRun
from leadhand.contracts.team import Team
from leadhand.plans.payloads import DeclaredType
from leadhand.run.stored import MAX_RUNS
from leadhand.serve.new_runs import MAX_REQUEST_CHARS, NewRun, start
from leadhand.serve.problems import HttpProblem
from leadhand.serve.service import Service, ServiceCaller
from leadhand.serve.turns import ClientTurn

ORIGIN = "openai"
"""Where the origin of a run has what a response says of its request."""
TEXTS = ("text", "input_text", "output_text")
# What only says how a model writes or how a provider bills has no meaning for a team.
_IGNORED = """
frequency_penalty include logit_bias max_completion_tokens max_output_tokens max_tokens
metadata parallel_tool_calls presence_penalty prompt_cache_key prompt_cache_retention reasoning
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

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[dict[str, JsonValue]] | None = None

    @property
    def text(self) -> str:
        """Raises `UnicodeEncodeError` for half a character."""
        text = self.content or ""
        if not isinstance(text, str):
            texts = [part.get("text") for part in text if part.get("type") in TEXTS]
            text = "\n\n".join(one for one in texts if isinstance(one, str))
        text.encode()
        return text


class Format(BaseModel):
    """The format of an answer; for a chat, a JSON Schema is in `json_schema`."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: dict[str, JsonValue] = Field(default_factory=dict)
    schema_: dict[str, JsonValue] = Field(default_factory=dict, alias="schema")


class ClientRequest(BaseModel, extra="allow"):
    """What requests for a chat and for a response have in common. Other parameters are refused, or
    listed as ignored."""

    model: str
    """The name of a team."""
    stream: bool = False
    store: bool | None = None
    """False: the run is erased once its answer was given, whole."""
    progress: bool = False
    """Whether a stream says how far the run is. Not of OpenAI."""


class ChatRequest(ClientRequest):
    """`POST /v1/chat/completions`."""

    messages: list[ClientMessage] = Field(min_length=1, max_length=10_000)
    """The last one is the request; those before it are context, as data."""
    stream_options: dict[str, JsonValue] | None = None
    response_format: Format | None = None
    """The team's own type, or text."""


class TextOptions(BaseModel):
    format: Format | None = None


class ResponseRequest(ClientRequest):
    """`POST /v1/responses`."""

    input: str | list[dict[str, JsonValue]] = Field(max_length=10_000_000)
    """The request; of messages the last one, and those before it are context, as data."""
    instructions: str | None = None
    """Context, as data: a team follows its own instructions."""
    background: bool = False
    previous_response_id: str | None = None
    text: TextOptions | None = None
    """`format` is the team's own type, or text."""

    @property
    def messages(self) -> list[ClientMessage]:
        """Raises `HttpProblem`."""
        given: list[ClientMessage] = []
        if self.instructions:
            given.append(ClientMessage(role="system", content=self.instructions))
        if isinstance(self.input, str):
            return [*given, ClientMessage(role="user", content=self.input)]
        for place, item in enumerate(self.input):
            if item.get("type") == "reasoning":
                continue
            try:
                if item.get("type", "message") != "message":
                    raise ValueError
                given.append(ClientMessage.model_validate(item))
            except ValueError:
                why = f"an item {str(item.get('type'))!r:.80} can't be read: send messages"
                raise unsupported(f"input[{place}]", why) from None
        return given


async def begin(
    caller: ServiceCaller, body: ChatRequest | ResponseRequest, *, after: str | None = None
) -> ClientTurn:
    """Start the run. Raises `HttpProblem` for what a team can't do, unless it changes nothing, and
    what `start` raises."""
    for name, value in (body.model_extra or {}).items():
        ignored = name in IGNORED or value in _NEUTRAL.get(name, ())
        if value not in (None, False, [], {}) and not ignored:
            raise unsupported(f"{name:.80}", "a team does not support it; leave it out")
    team, messages, background = team_named(caller.service, body.model), body.messages, False
    if isinstance(body, ChatRequest):
        if body.stream_options and not body.stream:
            raise unsupported("stream_options", "it is for streams")
        request = _request(messages, "messages")
        as_output = _wants_output(body.response_format, team, "response_format")
    else:
        if after is not None and len(messages) - bool(body.instructions) > 1:
            raise unsupported("input", "give the new message alone: what was said before is known")
        request, background = _request(messages, "input"), body.background
        as_output = _wants_output(body.text and body.text.format, team, "text.format")
    said: dict[str, JsonValue] = {"as_output": as_output, "background": background}
    run = await start(
        caller,
        NewRun(team=team.name, request=request, after=after, store=body.store is not False),
        earlier=_earlier(messages[:-1], team.name),
        kept={ORIGIN: {name: value for name, value in said.items() if value}},
    )
    return ClientTurn(caller, run, as_output, background, body.progress)


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


def _request(messages: Sequence[ClientMessage], parameter: str) -> str:
    """The last message. Raises `HttpProblem` if it asks nothing, or has what no team can read."""
    if not messages or messages[-1].role != "user":
        raise unsupported(parameter, "the last message has to be the user's request")
    place, last = f"{parameter}[{len(messages) - 1}]", messages[-1]
    for number, part in enumerate(last.content if isinstance(last.content, list) else ()):
        if part.get("type") not in TEXTS:
            why = "only text can be read; files are for /api/v1/runs"
            raise unsupported(f"{place}.content[{number}]", why)
    if not last.text.strip():
        raise unsupported(place, "the request has no text")
    if len(last.text) > MAX_REQUEST_CHARS:
        raise unsupported(place, f"the request has more than {MAX_REQUEST_CHARS:,} characters")
    return last.text


def _earlier(messages: Sequence[ClientMessage], team: str) -> tuple[EarlierRun, ...]:
    """The latest exchanges, and before them what the client's application says, all as data."""
    said = [one.text for one in messages if one.role in ("system", "developer") and one.text]
    exchanges: list[tuple[str, list[str]]] = []
    for one in messages:
        if one.role == "user":
            exchanges.append((one.text, []))
        elif one.role == "assistant" and exchanges and one.text:
            exchanges[-1][1].append(one.text)
    latest = [
        EarlierRun(team=team, request=request, answer="\n\n".join(answers))
        for request, answers in reversed(exchanges[-(MAX_RUNS - bool(said)) :])
    ]
    if said:
        latest.append(EarlierRun(request="What the application says", answer="\n\n".join(said)))
    return tuple(latest)


def _wants_output(format: Format | None, team: Team, parameter: str) -> bool:
    """Whether the answer is to be the team's typed output. Raises `HttpProblem` for a type that is
    not the team's."""
    if format is None or format.type == "text":
        return False
    if team.output is None:
        why = f"the team {team.name!r} answers in text: its output has no type"
        raise unsupported(parameter, why)
    declared = DeclaredType(team.output)
    asked = format.json_schema.get("schema") or format.schema_
    if format.type == "json_schema" and _properties(asked) != _properties(dict(declared.schema)):
        why = (
            f"the team {team.name!r} answers with its own type, {declared.name}; for its JSON give "
            'that schema, or {"type": "json_object"}'
        )
        raise unsupported(parameter, why)
    return True


def _properties(schema: JsonValue) -> set[str]:
    """The names of all properties: what the ways in which clients write a schema leave as it is."""
    match schema:
        case dict():
            own = schema.get("properties")
            found = set(own) if isinstance(own, dict) else set[str]()
            return found.union(*map(_properties, schema.values()))
        case list():
            return set[str]().union(*map(_properties, schema))
        case _:
            return set()
