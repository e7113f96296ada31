"""Serves the page. Its files are public: what they show is asked of the service by the browser."""

import html
import mimetypes

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse, HTMLResponse

from leadhand.page import STATIC

router = APIRouter(include_in_schema=False)

HEADERS = {"Cache-Control": "no-cache"}
"""The rest, as the policy that lets in no script and no style but the page's own files, stands
before every route of the service."""
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@router.get("/")
@router.get("/inbox")
@router.get("/runs")
@router.get("/runs/{path:path}")
@router.get("/teams")
@router.get("/teams/{path:path}")
async def index(request: Request) -> Response:
    """The frame of every view; which one it shows is in the address."""
    base = html.escape(str(request.scope.get("root_path", "")).rstrip("/"), quote=True)
    text = (STATIC / "index.html").read_text(encoding="utf-8").replace("{base}", base)
    return HTMLResponse(text, headers=HEADERS)


@router.get("/static/{name:path}")
async def static(name: str) -> Response:
    """A file of the page. Browsers ask each time whether theirs is the newest."""
    try:
        file = (STATIC / name).resolve()
        if not file.is_relative_to(STATIC.resolve()) or not file.is_file():
            raise HTTPException(404)
    except (OSError, ValueError):  # no file can have this name
        raise HTTPException(404) from None
    kind = _TYPES.get(file.suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    return FileResponse(file, media_type=kind, headers=HEADERS)
