"""The page's files over HTTP: one frame for every view, and a policy against foreign scripts."""

import re

import httpx2 as httpx
import pytest
from fastapi import FastAPI

from leadhand.page import STATIC
from leadhand.page.routes import router
from leadhand.serve.guards import Guards
from leadhand.serve.service import ServiceSettings


def client(*, root_path: str = "") -> httpx.AsyncClient:
    """Of the page behind what stands before every route of the service."""
    app = FastAPI()
    app.include_router(router)
    app.add_middleware(Guards, allow_hosts=("desk.example",), settings=ServiceSettings())
    transport = httpx.ASGITransport(app, root_path=root_path)
    return httpx.AsyncClient(transport=transport, base_url="http://desk.example")


@pytest.mark.parametrize("path", ["/", "/inbox", "/runs", "/runs/r1/tasks/a/b", "/teams/review"])
async def test_every_view_is_the_same_page_with_a_strict_policy(path: str) -> None:
    async with client() as http:
        answer = await http.get(path)
    assert answer.status_code == 200
    policy = dict(
        rule.strip().split(" ", 1) for rule in answer.headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert "<script type" in answer.text
    assert not re.search(r"<script>|<style| style=| on\w+=", answer.text)


async def test_what_the_page_names_is_served_with_its_type() -> None:
    async with client() as http:
        page = await http.get("/")
        for name in re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text):
            file = await http.get(name)
            assert file.status_code == 200, name
            assert file.headers["X-Content-Type-Options"] == "nosniff"
            kind = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
            assert file.headers["Content-Type"].startswith(kind[name.rpartition(".")[2]])


@pytest.mark.parametrize(
    "name",
    ["../routes.py", "%2e%2e/routes.py", "..%2f..%2fpage", "none.js", "%00", "a" * 5_000],
)
async def test_nothing_beside_the_pages_files_is_served(name: str) -> None:
    async with client() as http:
        assert (await http.get(f"/static/{name}")).status_code == 404


async def test_under_a_prefix_the_page_loads_its_files_from_there() -> None:
    async with client(root_path="/desk") as http:
        text = (await http.get("/desk/")).text
    assert 'src="/desk/static/app.js"' in text
    assert '<meta name="base" content="/desk">' in text


def test_what_modules_import_is_there() -> None:
    for file in STATIC.rglob("*.js"):
        text = file.read_text(encoding="utf-8")
        for name in re.findall(r'^(?:import|export) .*from "(.+)";$', text, re.MULTILINE):
            assert (file.parent / name).resolve().is_file(), f"{file.name}: {name}"
