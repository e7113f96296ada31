"""The body of a request that starts a run: JSON, or JSON and files as multipart."""

from typing import TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import FormData, UploadFile

from leadhand.serve.problems import HttpProblem
from leadhand.serve.service import ServiceSettings

_Body = TypeVar("_Body", bound=BaseModel)
_FIELD, _FILES = "run", "files"


async def read_body(
    request: Request, kind: type[_Body], settings: ServiceSettings
) -> tuple[_Body, dict[str, bytes]]:
    """The body as `kind`, and the files with it by their names. Raises `HttpProblem`."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "multipart/form-data":
        if media_type not in ("", "application/json"):
            raise HttpProblem(415, "the body is JSON, or multipart/form-data with files")
        return _valid(kind, await request.body()), {}
    limit = settings.max_body_bytes
    async with request.form(
        max_files=settings.max_uploads + 1, max_fields=1, max_part_size=limit
    ) as form:
        given = form.get(_FIELD)
        if isinstance(given, UploadFile):
            if (given.size or 0) > limit:
                raise HttpProblem(413, f"the field {_FIELD!r} may have {limit:,} bytes")
            given = (await given.read()).decode("utf-8", "replace")
        if given is None or {*form} - {_FIELD, _FILES}:
            raise HttpProblem(422, f"give the run as {_FIELD!r}, and each file as {_FILES!r}")
        return _valid(kind, given.encode()), await _files(form, settings)


async def _files(form: FormData, settings: ServiceSettings) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for one in form.getlist(_FILES):
        if not isinstance(one, UploadFile) or not one.filename:
            raise HttpProblem(422, f"{_FILES!r} has a part without a filename")
        if one.filename in files:
            raise HttpProblem(422, f"two files have the name {one.filename!r:.200}")
        files[one.filename] = await one.read()
    if len(files) > settings.max_uploads:
        raise HttpProblem(413, f"a run may have {settings.max_uploads} files")
    if sum(map(len, files.values())) > settings.max_upload_bytes:
        raise HttpProblem(413, f"its files may have {settings.max_upload_bytes:,} bytes together")
    return files


def _valid(kind: type[_Body], text: bytes) -> _Body:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        found = [{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_url=False)]
        raise RequestValidationError(found) from None
