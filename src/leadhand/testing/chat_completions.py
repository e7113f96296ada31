"""Reads requests and writes responses of OpenAI's chat completions API. Makes no decisions."""

from leadhand.testing.exchange import (
    Completion,
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

PATH = "/chat/completions"

_SPEAKERS: dict[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "tool": "tool",
}
_CREATED = 1_700_000_000
_ERRORS = {400: "invalid_request_error", 404: "invalid_request_error", 429: "rate_limit_error"}


def read(body: Object) -> Request:
    messages = _messages([mapping(message) for message in items(body.get("messages"))])
    tools = tuple(_tool(mapping(tool)) for tool in items(body.get("tools")))
    form = mapping(body.get("response_format"))
    return Request(
        protocol="openai",
        model=text(body.get("model")),
        messages=messages,
        tools=_allowed(tools, body.get("tool_choice")),
        schema=_schema(form, messages),
        must_call=_must_call(body.get("tool_choice")),
        stream=body.get("stream") is True,
        stream_usage=mapping(body.get("stream_options")).get("include_usage") is True,
        max_tokens=whole(body.get("max_completion_tokens", body.get("max_tokens"))),
        prompt_tokens=tokens_in(messages, body.get("tools"), form),
    )


def _messages(messages: list[Object]) -> tuple[Message, ...]:
    made: list[Message] = []
    tools: dict[str, str] = {}
    for message in messages:
        calls = [mapping(call) for call in items(message.get("tool_calls"))]
        tools |= {text(call.get("id")): _called(call).name for call in calls}
        speaker = _SPEAKERS.get(text(message.get("role")), "user")
        tool = tools.get(text(message.get("tool_call_id")), "")
        said = joined(message.get("content"))
        made.append(Message(speaker, said, tuple(map(_called, calls)), tool))
    return tuple(made)


def _called(call: Object) -> ScriptedCall:
    function = mapping(call.get("function"))
    return ScriptedCall(text(function.get("name")), text(function.get("arguments")))


def joined(content: Json) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(text(mapping(part).get("text")) for part in items(content))


def _tool(tool: Object) -> Tool:
    function = mapping(tool.get("function"))
    description = text(function.get("description"))
    return Tool(text(function.get("name")), description, mapping(function.get("parameters")))


def _allowed(tools: tuple[Tool, ...], choice: Json) -> tuple[Tool, ...]:
    if choice == "none":
        return ()
    wanted = [mapping(choice), *map(mapping, items(mapping(_subset(choice)).get("tools")))]
    names = {text(mapping(one.get("function")).get("name")) for one in wanted} - {""}
    return tuple(tool for tool in tools if tool.name in names) if names else tools


def _subset(choice: Json) -> Json:
    return mapping(choice).get("allowed_tools")


def _must_call(choice: Json) -> bool:
    mode = mapping(_subset(choice)).get("mode")
    return "required" in (choice, mode) or mapping(choice).get("type") == "function"


def _schema(form: Object, messages: tuple[Message, ...]) -> Object | None:
    match form.get("type"):
        case "json_schema":
            return mapping(mapping(form.get("json_schema")).get("schema"))
        case "json_object":
            prompts = (message.text for message in messages if message.speaker == "system")
            return schema_in("\n".join(prompts))
        case _:
            return None


def write(request: Request, completion: Completion, *, tokens: int, number: int) -> Response:
    """`number` makes its ids unique."""
    usage = completion.usage or {
        "prompt_tokens": request.prompt_tokens,
        "completion_tokens": tokens,
        "total_tokens": request.prompt_tokens + tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    head: Object = {"id": f"chatcmpl-{number}", "created": _CREATED, "model": request.model}
    message: Object = {"role": "assistant", "content": completion.text or None, "refusal": None}
    if completion.tool_calls:
        message["tool_calls"] = _calls(completion, number)
    choice: Object = {"index": 0, "message": message, "finish_reason": completion.finish}
    body: Object = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    if not request.stream:
        return Response(body=wire(body))
    if not request.stream_usage:
        del body["usage"]
    return streamed(PATH, body, completion)


def _calls(completion: Completion, number: int) -> list[Json]:
    return [
        {
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.argument_text},
        }
        for index, call in enumerate(completion.tool_calls)
    ]


def error(status: int, message: str) -> bytes:
    kind = _ERRORS.get(status, "server_error")
    return wire({"error": {"message": message, "type": kind, "param": None, "code": None}})
