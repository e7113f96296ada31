"""`/v1/conversations`: runs that follow each other under one name.

A conversation is its runs, whose ids are its id and a number: nothing else is stored.
"""

import re
import secrets
import time

from fastapi import APIRouter
from pydantic import BaseModel

from leadhand.contracts.summary import RunView
from leadhand.serve.openai_answers import Document
from leadhand.serve.openai_requests import check_parameters
from leadhand.serve.principals import Current, Principal
from leadhand.serve.problems import HttpProblem
from leadhand.serve.response_documents import input_item, listed, response_of
from leadhand.serve.service import Service, Serving

router = APIRouter(prefix="/v1/conversations", tags=["OpenAI"])

MAX_LISTED = 100
_ID = re.compile(r"conv_(?P<created>[0-9a-f]{8})[0-9a-f]{32}")


class NewConversation(BaseModel, extra="allow"):
    """It begins with its first response: it takes no items."""


@router.post("")
async def create(_: Current, body: NewConversation | None = None) -> Document:
    check_parameters(body and body.model_extra)
    return _conversation(f"conv_{int(time.time()):08x}{secrets.token_hex(16)}")


@router.get("/{conversation_id}")
async def retrieve(conversation_id: str, principal: Current, service: Serving) -> Document:
    await _runs(service, principal, conversation_id)
    return _conversation(conversation_id)


@router.get("/{conversation_id}/items")
async def list_items(
    conversation_id: str, principal: Current, service: Serving, order: str = "desc"
) -> Document:
    """The requests and answers of its last runs, the latest first unless `order` is `asc`."""
    items: list[Document] = []
    for run_id in (await _runs(service, principal, conversation_id))[-MAX_LISTED:]:
        view = await _view(service, principal, run_id)
        items.append(input_item(view))
        if view.answer is not None and view.status not in ("running", "interrupted"):
            items += response_of(view, principal).output(view.answer)
    return listed(items if order == "asc" else items[::-1])


async def next_run(
    service: Service, principal: Principal, conversation_id: str
) -> tuple[str, str | None]:
    """The id of the next run of a conversation, and that of the one which it follows, if any."""
    runs = await _runs(service, principal, conversation_id)
    return f"{conversation_id}-{len(runs) + 1}", runs[-1] if runs else None


async def _runs(service: Service, principal: Principal, conversation_id: str) -> list[str]:
    """Raises `HttpProblem` 404 for an id that is not a conversation's, or another principal's."""
    if _ID.fullmatch(conversation_id) is None:
        raise HttpProblem(404, f"there is no conversation {conversation_id!r:.80}")
    found: list[str] = []
    while await service.journal.last_seq(run_id := f"{conversation_id}-{len(found) + 1}"):
        found.append(run_id)
    for run_id in found[-1:]:
        await service.visible(principal, run_id)
    return found


async def _view(service: Service, principal: Principal, run_id: str) -> RunView:
    known = await service.visible(principal, run_id)
    return await service.supervisor(known.team).handle(run_id).view()


def _conversation(id: str) -> Document:
    created = _ID.fullmatch(id)
    at = int(created["created"], 16) if created else 0
    return {"id": id, "object": "conversation", "created_at": at, "metadata": {}}
