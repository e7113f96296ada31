"""A run as one self-contained HTML page, without network or server.

Its content security policy allows only its own style and script, by their hashes.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib import resources

from leadhand.contracts.events import Event
from leadhand.trace.page import sections
from leadhand.trace.page.events import events_table
from leadhand.trace.page.graph import drawing
from leadhand.trace.page.markup import Html, shown, tag
from leadhand.trace.page.tasks import tasks
from leadhand.trace.page.timeline import timeline
from leadhand.trace.run_history import RunHistory

__all__ = ["page"]

MAX_NESTED_GRAPHS = 20


def page(events: Sequence[Event], *, held: bool) -> Iterator[str]:
    """The page in pieces; `held`: whether a process works on the run now."""
    history = RunHistory.of(events)
    style, script = _own("style.css"), _own("script.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{shown(history.state.run_id)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
    )
    yield tag("a", "To the answer", href="#answer", class_="skip")
    yield sections.head(history, held=held)
    yield Html("<main>")
    yield sections.next_step(history, held=held)
    yield _section("Answer", "answer", *sections.answer(history.state.answer))
    yield _section("Graph", "graph", drawing(history), *_nested_graphs(history))
    yield _section("Timeline", "timeline", timeline(history))
    yield _section("Tasks", "tasks", tasks(history))
    yield _section("Plan", "plan", sections.plans(history))
    yield _section("Costs", "costs", *sections.costs(history))
    yield Html('<section id="events"><h2>Events</h2>')
    yield from events_table(events)
    yield f"</section></main>\n<script>{script}</script>\n</body>\n</html>\n"


def _section(title: str, id: str, *content: Html) -> Html:
    return tag("section", tag("h2", title), *content, id=id)


def _nested_graphs(history: RunHistory) -> list[Html]:
    return [
        tag(
            "details",
            tag("summary", f"Within {path.removesuffix('/')}: team {inner.state.team}"),
            drawing(inner, path=path),
            open=number < 3,
        )
        for number, (path, inner) in enumerate(_nested(history, ""))
        if number < MAX_NESTED_GRAPHS
    ]


def _nested(history: RunHistory, path: str) -> Iterator[tuple[str, RunHistory]]:
    for id, task in history.tasks.items():
        inner = task.attempts[-1].nested if task.attempts else None
        if inner is not None and inner.tasks:
            yield f"{path}{id}/", inner
            yield from _nested(inner, f"{path}{id}/")


def _own(name: str) -> str:
    return (resources.files(__name__) / name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
