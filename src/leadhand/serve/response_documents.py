"""Responses of `/v1/responses`: as a document, and as the events of a stream."""

import datetime as dt
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import cast

from leadhand.contracts.answer import Answer
from leadhand.contracts.summary import RunView
from leadhand.serve.event_streams import Queue
from leadhand.serve.openai_answers import (
    Document,
    ProgressLine,
    about,
    annotations,
    error_of,
    failure_of,
    message_of,
    refusal_of,
    text_of,
)
from leadhand.serve.principals import Principal

PREFIX = "resp_"
ORIGIN = "openai"
"""Where the origin of a run has what its response says of the request."""


class RunResponse:
    """The response that a run is, for a principal."""

    def __init__(
        self,
        run_id: str,
        team: str,
        principal: Principal,
        *,
        created_at: dt.datetime,
        asked: Mapping[str, object],
        after: str | None = None,
    ) -> None:
        """`asked` is what `ORIGIN` has: which output, where it runs, its metadata."""
        self.run_id, self._principal = run_id, principal
        self.as_output = bool(asked.get("as_output"))
        self.in_background = bool(asked.get("background"))
        self._head: Document = {
            "id": f"{PREFIX}{run_id}",
            "object": "response",
            "created_at": int(created_at.timestamp()),
            "model": team,
            "status": "in_progress",
            "background": self.in_background,
            "error": None,
            "incomplete_details": None,
            "metadata": asked.get("metadata") or {},
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": f"{PREFIX}{after}" if after else None,
            "text": {"format": {"type": "json_object" if self.as_output else "text"}},
            "tool_choice": "none",
            "tools": [],
            "usage": None,
        }

    def begun(self, status: str = "running") -> Document:
        """While there is no answer."""
        return {**self._head, "leadhand": {"run_id": self.run_id, "status": status}}

    def ended(self, answer: Answer, before: Sequence[Document] = ()) -> Document:
        """With an answer, or what there is while the run waits for a person; `before` are items
        that come before its message."""
        out = {**self._head, "leadhand": about(answer), "usage": _usage(answer)}
        out["output"] = [*before, *self.output(answer)]
        match answer.status:
            case "complete":
                out["status"] = "completed"
            case "cancelled":
                out["status"] = "cancelled"
            case "failed":
                problem = failure_of(answer, self._principal)
                error = {"code": "server_error", "message": problem.detail if problem else ""}
                out |= {"status": "failed", "error": error}
            case "waiting" if self.in_background:
                pass  # clients ask again until it has ended
            case "waiting" | "partial":
                reason = answer.ended_by or "gaps"
                reason = "waiting_for_person" if answer.waiting else reason
                out |= {"status": "incomplete", "incomplete_details": {"reason": reason}}
        return out

    def output(self, answer: Answer) -> list[Document]:
        if failure_of(answer, self._principal) is not None:
            return []
        content = self.content(answer)
        return [{**self.message, "status": "completed", "content": [content]}]

    @property
    def message(self) -> Document:
        """Its message, before it says anything."""
        return {
            "id": f"msg_{self.run_id}",
            "type": "message",
            "role": "assistant",
            "status": "in_progress",
            "content": list[Document](),
        }

    def content(self, answer: Answer) -> Document:
        """What the message says: the text with its citations, or why there is none."""
        text = text_of(answer, self._principal, as_output=self.as_output)
        if text is None:
            return {"type": "refusal", "refusal": refusal_of(answer)}
        cited = list[Document](annotations(answer, text))
        return {**_NO_TEXT, "text": text, "annotations": cited}


class Stream:
    """The events of a response to one reader, numbered from 0."""

    def __init__(self, response: RunResponse, queue: Queue) -> None:
        self._response, self._queue = response, queue
        self._sent = 0
        self._items: list[Document] = []
        """Those that were added: how far the run is, then the message."""
        self._steps: list[Document] = []

    async def follow(self, parts: AsyncGenerator[ProgressLine | str | Answer]) -> None:
        try:
            for kind in ("created", "in_progress"):
                await self._put(kind, response=self._response.begun())
            async for part in parts:
                match part:
                    case ProgressLine():
                        await self._add_step(part.line)
                    case str():
                        await self._begin_message(_NO_TEXT)
                        await self._put_of_text("delta", delta=part, logprobs=[])
                    case Answer():
                        await self._end(part)
        except Exception as error:  # the status was sent before
            await self._queue.put(message_of({"type": "error", **error_of(error)}))

    async def _put(self, kind: str, **fields: object) -> None:
        event: Document = {"type": f"response.{kind}", "sequence_number": self._sent}
        self._sent += 1
        await self._queue.put(message_of(event | fields))

    async def _add(self, item: Document) -> None:
        self._items.append(item)
        await self._put("output_item.added", output_index=len(self._items) - 1, item=item)

    async def _finish(self, **fields: object) -> None:
        """Ends the last item."""
        self._items[-1] = item = self._items[-1] | fields
        await self._put("output_item.done", output_index=len(self._items) - 1, item=item)

    def _place(self, **part: object) -> Document:
        """Where a part of the last item is."""
        index = len(self._items) - 1
        return {"item_id": self._items[index]["id"], "output_index": index, **part}

    async def _add_step(self, line: str) -> None:
        """As part of a reasoning item, which is the first; once the text has begun, no more."""
        if not self._items:
            id = f"rs_{self._response.run_id}"
            await self._add({"id": id, "type": "reasoning", "summary": []})
        elif self._is_writing:
            return
        place, part = self._place(summary_index=len(self._steps)), _summary(line)
        kind = "reasoning_summary"
        await self._put(f"{kind}_part.added", **place, part=_summary(""))
        await self._put(f"{kind}_text.delta", **place, delta=line)
        await self._put(f"{kind}_text.done", **place, text=line)
        await self._put(f"{kind}_part.done", **place, part=part)
        self._steps.append(part)

    @property
    def _is_writing(self) -> bool:
        return bool(self._items) and self._items[-1]["type"] == "message"

    async def _begin_message(self, content: Document) -> None:
        if self._is_writing:
            return
        if self._items:
            await self._finish(summary=self._steps)
        await self._add(self._response.message)
        await self._put("content_part.added", **self._place(content_index=0), part=content)

    async def _put_of_text(self, kind: str, **fields: object) -> None:
        await self._put(f"output_text.{kind}", **self._place(content_index=0), **fields)

    async def _end(self, answer: Answer) -> None:
        output = self._response.output(answer)
        if output:
            await self._end_message(self._response.content(answer))
        elif self._is_writing:
            await self._finish(status="incomplete")
        elif self._items:
            await self._finish(summary=self._steps)
        steps = [one for one in self._items if one["type"] == "reasoning"]
        response = self._response.ended(answer, steps)
        status = response["status"]
        # A stream ends with one of three events; the status of the response says more.
        kind = status if status in ("completed", "failed") else "incomplete"
        await self._put(f"{kind}", response=response)

    async def _end_message(self, content: Document) -> None:
        if "refusal" in content:
            said = content["refusal"]
            await self._begin_message(content | {"refusal": ""})
            await self._put("refusal.delta", **self._place(content_index=0), delta=said)
            await self._put("refusal.done", **self._place(content_index=0), refusal=said)
        else:
            await self._begin_message(_NO_TEXT)
            for number, one in enumerate(cast("list[Document]", content["annotations"])):
                await self._put_of_text("annotation.added", annotation_index=number, annotation=one)
            await self._put_of_text("done", text=content["text"], logprobs=[])
        await self._put("content_part.done", **self._place(content_index=0), part=content)
        await self._finish(status="completed", content=[content])


def response_of(view: RunView, principal: Principal) -> RunResponse:
    asked = view.origin.get(ORIGIN)
    return RunResponse(
        view.run_id,
        view.team,
        principal,
        created_at=view.started_at,
        asked=asked if isinstance(asked, dict) else {},
        after=view.after,
    )


_NO_TEXT: Document = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}


def _summary(text: str) -> Document:
    return {"type": "summary_text", "text": text}


def _usage(answer: Answer) -> Document:
    used = answer.metrics
    return {
        "input_tokens": used.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": used.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used.input_tokens + used.output_tokens,
    }
