"""Converts a whole reply, of servers that ignore `stream`, into the stream that the SDK expects.
Pure: bytes in, bytes out."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import cast

Pieces = Callable[[str], Sequence[str]]
_Object = dict[str, object]


def wants_stream(request: bytes) -> bool:
    if b'"stream":true' not in request and b'"stream": true' not in request:
        return False
    return _object(_parsed(request)).get("stream") is True


def as_stream(path: str, body: bytes, pieces: Pieces = lambda text: [text]) -> bytes:
    """A whole reply as server-sent events, its texts in `pieces`; `body` itself if it is not a
    reply of a known API."""
    reply = _object(_parsed(body))
    events = next((made for end, made in _EVENTS.items() if path.endswith(end)), None)
    if events is None or not reply:
        return body
    end = b"data: [DONE]\n\n" if events is _completion else b""
    stream = b"".join(_line(event) for event in events(reply, pieces))
    return stream + end if stream else body


def _completion(reply: _Object, pieces: Pieces) -> Iterator[_Object]:
    usage = reply.pop("usage", None)
    for choice in map(_object, _list(reply.get("choices"))):
        message = _object(choice.get("message"))
        calls = [_object(call) for call in _list(message.pop("tool_calls", None))]
        for delta in _deltas(message, calls, pieces):
            yield _chunk(reply, {"index": 0, "delta": delta, "finish_reason": None})
        end: _Object = {"index": 0, "delta": {}, "finish_reason": choice.get("finish_reason")}
        yield _chunk(reply, end)
    if usage is not None:
        yield {**_chunk(reply), "usage": usage}


def _chunk(reply: _Object, *choices: _Object) -> _Object:
    return {**reply, "object": "chat.completion.chunk", "choices": [*choices]}


def _deltas(message: _Object, calls: Sequence[_Object], pieces: Pieces) -> Iterator[_Object]:
    content = message.get("content")
    texts: Sequence[str] = pieces(content) if isinstance(content, str) else ()
    yield {**message, "content": ""} if texts else message
    for text in texts:
        yield {"content": text}
    for number, call in enumerate(calls):
        function = _object(call.get("function"))
        given = function.get("arguments")
        texts = pieces(given) if isinstance(given, str) else ()
        opening: _Object = {**function, "arguments": ""} if texts else function
        yield {"tool_calls": [{**call, "index": number, "function": opening}]}
        for text in texts:
            yield {"tool_calls": [{"index": number, "function": {"arguments": text}}]}


def _message(reply: _Object, pieces: Pieces) -> Iterator[_Object]:
    if reply.get("type") != "message":
        return
    yield {"type": "message_start", "message": {**reply, "content": [], "stop_reason": None}}
    for index, block in enumerate(map(_object, _list(reply.get("content")))):
        empty: _Object = block
        deltas: list[_Object] = []
        if block.get("type") == "text":
            empty = {**block, "text": ""}
            texts = pieces(str(block.get("text")))
            deltas = [{"type": "text_delta", "text": text} for text in texts]
        elif block.get("type") == "tool_use":
            given, nothing = block.get("input"), dict[str, object]()
            empty = {**block, "input": nothing}
            texts = pieces(given if isinstance(given, str) else json.dumps(given))
            deltas = [{"type": "input_json_delta", "partial_json": text} for text in texts]
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {name: reply.get(name) for name in ("stop_reason", "stop_sequence")}
    yield {"type": "message_delta", "delta": ending, "usage": reply.get("usage") or {}}
    yield {"type": "message_stop"}


def _response(reply: _Object, pieces: Pieces) -> Iterator[_Object]:
    if reply.get("object") != "response":
        return
    for index, item in enumerate(map(_object, _list(reply.get("output")))):
        at = {"output_index": index, "item_id": item.get("id") or f"item-{index}"}
        yield {"type": "response.output_item.added", "output_index": index, "item": item}
        for number, part in enumerate(map(_object, _list(item.get("content")))):
            for text in pieces(str(part["text"])) if part.get("type") == "output_text" else ():
                said: _Object = {"content_index": number, "delta": text, "logprobs": []}
                yield {"type": "response.output_text.delta", **at, **said}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": reply}


_EVENTS: dict[str, Callable[[_Object, Pieces], Iterator[_Object]]] = {
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
