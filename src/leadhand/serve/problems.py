"""Errors as `application/problem+json` (RFC 9457); under `/v1` in OpenAI's envelope."""

import functools
import logging
import math
import os
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import JsonValue
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Scope

from leadhand import errors
from leadhand.redaction import Redactor

MEDIA_TYPE = "application/problem+json"
RETRY_S = 2
"""When a client comes again to a service that is stopping or can't reach its journal."""
_FAILED = "the service failed; its log says why"
_STATUS: Mapping[type[errors.LeadhandError], int] = {
    errors.BudgetSpent: 402,
    errors.BudgetUsedUp: 402,
    errors.QueueFull: 429,
    errors.RunExists: 409,
    errors.InputError: 400,
    errors.RunInterrupted: 503,
    errors.JournalError: 503,
    errors.ModelError: 503,
}
"""The first class that fits counts."""
SHOWN = (errors.InputError, errors.RunInterrupted, errors.RunRefused, errors.ModelError)
"""Whose messages are for clients."""

_OPENAI: Mapping[int, tuple[str, str | None]] = {
    401: ("invalid_request_error", "invalid_api_key"),
    402: ("insufficient_quota", "insufficient_quota"),
    403: ("permission_error", None),
    404: ("invalid_request_error", "not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}
"""The type and the code of a status in OpenAI's envelope."""
_WORTH_A_RETRY = (408, 429, 503)
"""Clients of OpenAI's also come again after other errors, unless the response says not to."""

_log = logging.getLogger("leadhand")


@functools.cache
def _redactor() -> Redactor:
    return Redactor.of(os.environ)


class HttpProblem(HTTPException):
    """Raised anywhere below a route: its response is the problem."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        title: str = "",
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, JsonValue] | None = None,
    ) -> None:
        """`extra` are further members of the problem; `title` is the status' own by default."""
        super().__init__(status, _redactor()(detail), headers)
        self.title = title or HTTPStatus(status).phrase
        self.extra = extra or {}


def stopping() -> HttpProblem:
    return HttpProblem(503, "the service is stopping", headers={"Retry-After": str(RETRY_S)})


def problem_of(error: Exception) -> HttpProblem:
    """The problem that a client sees. What is not meant for it has no detail."""
    match error:
        case HttpProblem():
            return error
        case HTTPException():
            return HttpProblem(error.status_code, error.detail, headers=error.headers)
        case RequestValidationError() if isinstance(error.body, bytes):
            return HttpProblem(415, "the body is JSON: say so by Content-Type: application/json")
        case RequestValidationError():
            # Without what was sent: it may be secret, or large.
            rows: list[JsonValue] = [
                {"field": ".".join(map(str, row["loc"])), "message": str(row["msg"])}
                for row in error.errors()
            ]
            return HttpProblem(422, "the request has errors", extra={"errors": rows})
        case ClientDisconnect():
            return HttpProblem(400, "the connection ended before the body")
        case UnicodeEncodeError():
            return HttpProblem(422, "the request has half a character, a lone surrogate")
        case errors.PlanError():
            found = [{"code": one.code, "message": one.message} for one in error.problems]
            return HttpProblem(400, str(error), extra={"problems": [{**one} for one in found]})
        case errors.RunTaken():  # its message has the process and the machine
            why = f"run {error.run_id!r} is under way: cancel it first, or wait for its end"
            return HttpProblem(409, why)
        case errors.LeadhandError():
            status = next((_STATUS[kind] for kind in _STATUS if isinstance(error, kind)), 500)
            wait_s = error.retry_after_s if isinstance(error, errors.QueueFull) else RETRY_S
            headers = {"Retry-After": str(math.ceil(wait_s))} if status in (429, 503) else None
            # Other messages may name paths and hosts of the service.
            detail = str(error) if isinstance(error, SHOWN) else _FAILED
            return HttpProblem(status, detail, headers=headers)
        case _:
            return HttpProblem(500, _FAILED)


def problem_response(request: Request, error: Exception) -> JSONResponse:
    problem = problem_of(error)
    if problem.status_code >= 500 and not isinstance(error, HTTPException):
        _log.error("%s %s: %s", request.method, request.url.path, error)
    status, headers = problem.status_code, dict(problem.headers or {})
    if path_of(request.scope).startswith("/v1/"):
        status = 400 if status == 422 else status
        if status not in _WORTH_A_RETRY:
            headers.setdefault("x-should-retry", "false")
        return JSONResponse({"error": openai_error(problem)}, status, headers)
    content = {"type": "about:blank", "title": problem.title, "status": status}
    content |= {"detail": problem.detail, **problem.extra}
    return JSONResponse(content, status, headers, media_type=MEDIA_TYPE)


def path_of(scope: Scope) -> str:
    """Within the service, wherever it is mounted."""
    return scope["path"].removeprefix(scope.get("root_path", ""))


def add_problem_handlers(app: FastAPI) -> None:
    async def handle(request: Request, error: Exception) -> JSONResponse:
        return problem_response(request, error)

    for kind in (
        HTTPException,
        RequestValidationError,
        errors.LeadhandError,
        UnicodeEncodeError,
        ClientDisconnect,
    ):
        app.add_exception_handler(kind, handle)


def openai_error(problem: HttpProblem) -> dict[str, JsonValue]:
    """A problem in OpenAI's words: the first of several errors, with its parameter."""
    kind, code = _OPENAI.get(problem.status_code, ("invalid_request_error", None))
    extra, message, parameter = dict(problem.extra), problem.detail, None
    match extra.pop("errors", None):
        case [{"field": str(field), "message": str(message)}, *_]:
            parameter = field.removeprefix("body.")
            message = f"{parameter}: {message}"
        case _:
            pass
    kind = "server_error" if problem.status_code >= 500 else kind
    return {"message": message, "type": kind, "param": parameter, "code": code, **extra}
