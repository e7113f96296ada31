"""Reads requests and writes responses of Anthropic's messages API. Makes no decisions."""

from leadhand.testing.chat_completions import joined
from leadhand.testing.exchange import (
    Completion,
    Finish,
    Message,
    Request,
    Response,
    ScriptedCall,
    Speaker,
    Tool,
    streamed,
    tokens_in,
)
from leadhand.testing.json_data import Json, Object, items, mapping, text, whole, wire
from leadhand.testing.schema import schema_in

PATH = "/messages"

_STOPS: dict[Finish, str] = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_SPEAKERS: dict[str, Speaker] = {"assistant": "assistant", "system": "system"}


def read(body: Object) -> Request:
    system = joined(body.get("system"))
    messages = (Message("system", system),) if system else ()
    messages += _messages([mapping(message) for message in items(body.get("messages"))])
    tools = tuple(_tool(mapping(tool)) for tool in items(body.get("tools")))
    choice = mapping(body.get("tool_choice"))
    form = mapping(mapping(body.get("output_config")).get("format"))
    return Request(
        protocol="anthropic",
        model=text(body.get("model")),
        messages=messages,
        tools=_allowed(tools, choice),
        # This API has no flag for a schema in the prompt.
        schema=mapping(form.get("schema")) if form else None if tools else schema_in(system),
        must_call=choice.get("type") in ("any", "tool"),
        stream=body.get("stream") is True,
        max_tokens=whole(body.get("max_tokens")),
        prompt_tokens=tokens_in(messages, body.get("tools"), form),
    )


def _messages(messages: list[Object]) -> tuple[Message, ...]:
    """Each tool result becomes its own message, before the rest of its message."""
    made: list[Message] = []
    tools: dict[str, str] = {}
    for message in messages:
        content = message.get("content")
        parts = [mapping(part) for part in items(content)]
        results = [part for part in parts if part.get("type") == "tool_result"]
        uses = [part for part in parts if part.get("type") == "tool_use"]
        tools |= {text(use.get("id")): text(use.get("name")) for use in uses}
        for result in results:
            tool = tools.get(text(result.get("tool_use_id")), "")
            made.append(Message("tool", joined(result.get("content")), tool=tool))
        texts: list[Json] = [part for part in parts if part.get("type") == "text"]
        said = content if isinstance(content, str) else joined(texts)
        calls = tuple(
            ScriptedCall(text(use.get("name")), mapping(use.get("input"))) for use in uses
        )
        if said or calls or not results:
            speaker = _SPEAKERS.get(text(message.get("role")), "user")
            made.append(Message(speaker, said, calls))
    return tuple(made)


def _tool(tool: Object) -> Tool:
    schema = mapping(tool.get("input_schema"))
    return Tool(text(tool.get("name")), text(tool.get("description")), schema)


def _allowed(tools: tuple[Tool, ...], choice: Object) -> tuple[Tool, ...]:
    match choice.get("type"):
        case "none":
            return ()
        case "tool":
            return tuple(tool for tool in tools if tool.name == choice.get("name"))
        case _:
            return tools


def write(request: Request, completion: Completion, *, tokens: int, number: int) -> Response:
    """`number` makes its ids unique."""
    usage = completion.usage or {"input_tokens": request.prompt_tokens, "output_tokens": tokens}
    stop = _STOPS[completion.finish]
    message: Object = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": _blocks(completion, number),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
    }
    if not request.stream:
        return Response(body=wire(message))
    return streamed(PATH, message, completion)


def _blocks(completion: Completion, number: int) -> list[Json]:
    texts: list[Json] = [{"type": "text", "text": completion.text}] if completion.text else []
    for index, call in enumerate(completion.tool_calls):
        identity = f"toolu_{number}_{index}"
        block: Object = {"type": "tool_use", "id": identity, "name": call.name}
        texts.append({**block, "input": call.arguments})
    return texts


def error(status: int, message: str) -> bytes:
    kind = _ERRORS.get(status, "api_error")
    return wire({"type": "error", "error": {"type": kind, "message": message}})
