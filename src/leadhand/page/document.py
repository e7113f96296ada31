"""A run as one self-contained file, shown by the same code as in the service's page."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from pydantic import JsonValue

from leadhand.page import STATIC
from leadhand.page.bundle import script

_STYLES = ("base.css", "run.css")
_PLAIN = "!'()*/"
"""What the browser's `encodeURIComponent` leaves as it is besides what `quote` does."""


def document(run: Mapping[str, JsonValue], tasks: Mapping[str, JsonValue]) -> Iterator[str]:
    """The file in pieces: a run and the details of its tasks, by their paths, as the service's API
    gives them. It loads nothing, and its policy lets in its own style and script alone."""
    run_id = str(run["run_id"])
    path = f"/runs/{quote(run_id, safe=_PLAIN)}"
    style = "\n".join(_style(name) for name in _STYLES)
    code = script("stored.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(code)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta name="start" content="{html.escape(path)}">\n'
        f"<title>{html.escape(run_id)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<div id="app"></div>\n'
        '<noscript><p class="boot">This page needs JavaScript.</p></noscript>\n'
        f'<script type="application/json" id="stored">{{{_data(path)}:{_data(run)}'
    )
    for task, detail in tasks.items():
        yield f",\n{_data(f'{path}/tasks/{quote(task, safe=_PLAIN)}')}:{_data(detail)}"
    yield f'}}</script>\n<script type="module">{code}</script>\n</body>\n</html>\n'


def _data(value: object) -> str:
    """JSON that ends no element, and has no command for a runner of GitHub Actions in it."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("##[", "##\\u005b")


def _style(name: str) -> str:
    return re.sub(r"/\*.*?\*/\s*", "", (STATIC / name).read_text(encoding="utf-8"), flags=re.DOTALL)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
