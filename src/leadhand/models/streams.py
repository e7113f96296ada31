"""Converts a whole reply, of servers that ignore `stream`, into the stream that the SDK expects.
Pure: bytes in, bytes out."""

import json
from collections.abc import Callable, Iterator
from typing import cast

_Object = dict[str, object]


def wants_stream(request: bytes) -> bool:
    if b'"stream":true' not in request and b'"stream": true' not in request:
        return False
    return _object(_parsed(request)).get("stream") is True


def as_stream(path: str, body: bytes) -> bytes:
    """A whole reply as server-sent events; `body` itself if it is not a reply of a known API."""
    reply = _object(_parsed(body))
    events = next((made for end, made in _EVENTS.items() if path.endswith(end)), None)
    if events is None or not reply:
        return body
    return b"".join(_line(event) for event in events(reply)) or body


def _completion(reply: _Object) -> Iterator[_Object]:
    chunk = {**reply, "object": "chat.completion.chunk"}
    for choice in map(_object, _list(reply.get("choices"))):
        message = _object(choice.get("message"))
        calls = [
            {**_object(call), "index": number}
            for number, call in enumerate(_list(message.get("tool_calls")))
        ]
        delta = {**message, **({"tool_calls": calls} if calls else {})}
        given = {"index": 0, "delta": delta, "finish_reason": choice.get("finish_reason")}
        yield {**chunk, "choices": [given], "usage": None}
        yield {**chunk, "choices": []}


def _message(reply: _Object) -> Iterator[_Object]:
    if reply.get("type") != "message":
        return
    yield {"type": "message_start", "message": {**reply, "content": [], "stop_reason": None}}
    for index, block in enumerate(map(_object, _list(reply.get("content")))):
        empty: _Object = block
        delta: _Object | None = None
        if block.get("type") == "text":
            empty = {**block, "text": ""}
            delta = {"type": "text_delta", "text": block.get("text")}
        elif block.get("type") == "tool_use":
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        if delta is not None:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {name: reply.get(name) for name in ("stop_reason", "stop_sequence")}
    yield {"type": "message_delta", "delta": ending, "usage": reply.get("usage") or {}}
    yield {"type": "message_stop"}


def _response(reply: _Object) -> Iterator[_Object]:
    if reply.get("object") != "response":
        return
    for index, item in enumerate(map(_object, _list(reply.get("output")))):
        at = {"output_index": index, "item_id": item.get("id") or f"item-{index}"}
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        for number, part in enumerate(map(_object, _list(item.get("content")))):
            if part.get("type") == "output_text":
                said: _Object = {"content_index": number, "delta": part.get("text"), "logprobs": []}
                yield {"type": "response.output_text.delta", **at, **said}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": reply}


_EVENTS: dict[str, Callable[[_Object], Iterator[_Object]]] = {
    "/chat/completions": _completion,
    "/messages": _message,
    "/responses": _response,
}


def _line(event: _Object) -> bytes:
    kind = event.get("type")
    name = f"event: {kind}\n" if kind else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


def _parsed(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _object(value: object) -> _Object:
    return cast("_Object", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
