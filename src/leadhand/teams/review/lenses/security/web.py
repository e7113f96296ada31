"""Rules on the responses, redirects, requests and settings of web applications.

Most rules need data that provably comes from a request; the others check settings.
"""

import re

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.events import (
    Event,
    Hits,
    ResolvedCall,
    Return,
    Scope,
    Store,
    Topic,
    hit,
)
from leadhand.teams.review.lenses.security.hints import ANYTHING, CALL, TRUE
from leadhand.teams.review.lenses.security.values import HOLE, Trust, Value
from leadhand.teams.review.syntax import word_set, words

_FAMILY = "security/untrusted-input"
_SWITCH = "security/web-settings"
XSS = LensRule(
    "security/cross-site-scripting", _FAMILY, "critical",
    "Scripts in the input run in the browsers of visitors.",
    "Render a template with autoescaping, or escape the value with `markupsafe.escape`.",
)  # fmt: skip
MARKUP = LensRule(
    "security/unescaped-markup", _FAMILY, "warning",
    "The value is marked as safe HTML without being escaped.",
    "Keep the markup constant and let `format_html` or `Markup.format` escape the values.",
)  # fmt: skip
REDIRECT = LensRule(
    "security/open-redirect", _FAMILY, "warning",
    "A link to this site can lead anywhere, which helps phishing.",
    "Redirect to paths of this site only, or check the host against an allow-list.",
)  # fmt: skip
SSRF = LensRule(
    "security/request-forgery", _FAMILY, "critical",
    "The client decides what this server fetches, even from internal services.",
    "Check the host against an allow-list.",
)  # fmt: skip
URL_PART = LensRule(
    "security/request-path", _FAMILY, "warning",
    "With `..`, `?` or `#`, the client can reach other endpoints of that service.",
    "Quote it: `urllib.parse.quote(value, safe='')`.",
)  # fmt: skip
HEADER = LensRule(
    "security/response-header", _FAMILY, "warning",
    "The client decides how browsers treat the response.",
    "Choose the value from a fixed set.",
)  # fmt: skip
ERROR = LensRule(
    "security/error-details", _FAMILY, "warning",
    "Stack traces show an attacker how the program works.",
    "Log the details and send a generic message.",
)  # fmt: skip
DEBUG = LensRule(
    "security/debug-mode", _SWITCH, "critical",
    "The debugger lets any visitor run code on the server.",
    "Take it from the environment, and leave it off by default.",
)  # fmt: skip
COOKIE = LensRule(
    "security/insecure-cookie", _SWITCH, "warning",
    "Scripts can read the session, or it is sent over unencrypted connections.",
    "Set `secure=True, httponly=True, samesite='Lax'`.",
)  # fmt: skip
CSRF = LensRule(
    "security/csrf-off", _SWITCH, "warning",
    "Other sites can then make a visitor's browser submit forms.",
    "Leave the protection on, and exempt only views that verify a signature.",
)  # fmt: skip
CORS = LensRule(
    "security/cors-any-origin", _SWITCH, "warning",
    "Any site can act with a visitor's credentials.",
    "List the origins that may send credentials.",
)  # fmt: skip
AUTOESCAPE = LensRule(
    "security/autoescape-off", _SWITCH, "warning",
    "Jinja puts values into HTML unescaped.",
    "Pass `autoescape=select_autoescape()`.",
)  # fmt: skip

_FETCHES = re.compile(
    r"^(?:requests|httpx)\.(?:get|post|put|patch|delete|head|options|request|stream)$"
    r"|^urllib\.request\.(?:urlopen|urlretrieve|Request)$|^(?:aiohttp|requests|httpx)\.\w+\(\)\.\w+$"
    r"|^http\.client\.HTTPS?Connection$|^urllib2\.urlopen$"
)
_REDIRECTS = word_set(
    "redirect HttpResponseRedirect HttpResponsePermanentRedirect RedirectResponse HTTPFound"
    " HTTPSeeOther"
)
_RESPONSES = word_set(
    "flask.make_response flask.Response django.http.HttpResponse django.http.response.HttpResponse"
    " starlette.responses.HTMLResponse fastapi.responses.HTMLResponse flask.wrappers.Response"
    " werkzeug.Response werkzeug.wrappers.Response"
)
_MARKUPS = word_set(
    "markupsafe.Markup flask.Markup jinja2.Markup django.utils.safestring.mark_safe"
    " django.utils.safestring.SafeString django.utils.html.format_html"
)
_SESSION_WORDS = word_set("session sessionid sid auth token jwt login")
_APPS = frozenset(("flask.Flask", "flask.Flask()"))
_COOKIE_SETTINGS = word_set("SESSION_COOKIE_SECURE SESSION_COOKIE_HTTPONLY CSRF_COOKIE_SECURE")
_CSRF_SETTINGS = frozenset(("WTF_CSRF_ENABLED", "CSRF_ENABLED", "WTF_CSRF_CHECK_DEFAULT"))
_SCHEME = re.compile(r"^https?://(?=\x00)|^//", re.IGNORECASE)


def find(event: Event) -> Hits:
    """The hits of this topic's rules in `event`."""
    match event:
        case ResolvedCall():
            yield from _call(event)
            yield from _settings(event)
        case Return():
            yield from _return(event)
        case Store():
            yield from _store(event)
        case _:
            return


def _call(event: ResolvedCall) -> Hits:
    name, last = event.name, event.last
    if name in _RESPONSES:
        kind = event.arg(-1, "content_type", "mimetype", "headers", "media_type")
        if kind.text and "html" not in kind.text:
            return
        yield from _xss(event, event.arg(0, "response", "content"), f"`{name}`")
    elif name in _MARKUPS:
        yield from _markup(event)
    elif last in _REDIRECTS:
        target = event.arg(0, "location", "redirect_to", "url", "to")
        yield from _redirect(event, target, f"`{name}`")
    elif _FETCHES.match(name) or (last in ("get", "post") and _client(event)):
        index = 1 if last in ("request", "stream") else 0
        url = event.arg(index, "url", "host")
        piece = url.least_trusted("url")
        if piece.trust is not Trust.REMOTE:
            return
        if _controls_host(url):
            message = f"`{piece.origin}` decides what {event.title} fetches."
            yield hit(SSRF, event, message, piece, url)
        elif "?" not in url.text.split(HOLE, 1)[0]:
            message = f"`{piece.origin}` goes unquoted into the URL of {event.title}."
            yield hit(URL_PART, event, message, piece, url)


def _client(event: ResolvedCall) -> bool:
    made = event.receiver.made_by
    return made in ("requests.Session", "requests.session", "httpx.Client", "httpx.AsyncClient")


def _controls_host(url: Value) -> bool:
    """Whether the client controls the host of `url`."""
    start = _SCHEME.sub("", url.text)
    return start.startswith(HOLE) and bool(url.pieces) and url.pieces[0].trust is Trust.REMOTE


def _markup(event: ResolvedCall) -> Hits:
    text = event.arg(0, "s", "base", "format_string")
    piece = text.least_trusted("html")
    named = piece.trust is Trust.PARAMETER and "." not in piece.origin
    tagged = text.built and "<" in text.text and (named or piece.trust is Trust.LOCAL)
    if tagged or piece.trust is Trust.REMOTE:
        yield hit(MARKUP, event, f"{event.title} puts `{piece.origin}` into markup.", piece, text)


def _xss(event: ResolvedCall | Return, body: Value, where: str) -> Hits:
    piece = body.least_trusted("html")
    if piece.trust is Trust.REMOTE:
        message = (
            f"`{piece.origin}` reaches the page unescaped through {where} in {event.scope.title}."
        )
        yield hit(XSS, event, message, piece, body)
    elif "traceback.format_exc" in piece.made_by:
        message = f"{where} in {event.scope.title} sends the stack trace to the client."
        yield hit(ERROR, event, message)


def _redirect(event: ResolvedCall | Store, target: Value, where: str) -> Hits:
    piece = target.least_trusted("url")
    if piece.trust is Trust.REMOTE and _controls_host(target):
        message = f"`{piece.origin}` decides where {where} in {event.scope.title} leads."
        yield hit(REDIRECT, event, message, piece, target)


def _return(event: Return) -> Hits:
    scope = event.scope
    if scope.handler and "flask" in scope.modules and not scope.modules & {"fastapi"}:
        yield from _xss(event, event.value, "`return`")


def _store(event: Store) -> Hits:
    key = event.key.lower()
    off = event.value.constant == "False"
    where = event.scope.title
    if event.key in _COOKIE_SETTINGS and off:
        yield hit(COOKIE, event, f"`{event.key}` is turned off.")
    elif event.key in _CSRF_SETTINGS and off:
        yield hit(CSRF, event, f"`{event.key}` is turned off.")
    elif event.key == "debug" and event.value.constant == "True" and event.owner.made_by in _APPS:
        yield hit(DEBUG, event, f"`{event.name}` is turned on in {where}.")
    elif key == "location" and "headers" in event.name:
        yield from _redirect(event, event.value, "the `Location` header")
    elif key == "content-type" and "headers" in event.name:
        piece = event.value.least_trusted("header")
        if piece.trust is Trust.REMOTE:
            message = f"`{piece.origin}` decides the content type of the response in {where}."
            yield hit(HEADER, event, message, piece, event.value)


def _settings(event: ResolvedCall) -> Hits:
    last, where = event.last, event.scope.title
    if last == "run" and event.is_true("debug") and event.receiver.made_by in _APPS:
        yield hit(DEBUG, event, f"`{event.name}(debug=True)` starts the debugger.")
    elif last == "set_cookie":
        yield from _cookie(event)
    elif last == "CORS" or event.arg(0).made_by.endswith("CORSMiddleware"):
        origins = event.arg(-1, "origins", "allow_origins", "resources")
        credentials = event.is_true("supports_credentials") or event.is_true("allow_credentials")
        if credentials and origins.constant == "*":
            yield hit(CORS, event, f"`{last}` in {where} allows any origin with credentials.")
    elif event.name in ("jinja2.Environment", "jinja2.environment.Environment"):
        yield from _environment(event)
    elif last == "get_template" and event.receiver.made_by == "jinja2.Environment":
        page = event.arg(0).text.endswith((".html", ".htm", ".xhtml"))
        if page and not event.scope.facts.get("escapes"):
            message = (
                f"The Jinja environment in {where} renders `{event.arg(0).text}` without escaping."
            )
            yield hit(AUTOESCAPE, event, message, event.receiver)


def _cookie(event: ResolvedCall) -> Hits:
    if event.spread:
        return
    name = event.arg(0, "key").constant
    if not name or not _SESSION_WORDS & set(words(name)) or "csrf" in name.lower():
        return
    age = event.arg(2, "max_age").constant
    missing = [
        flag
        for flag in ("secure", "httponly")
        if event.is_false(flag) or (flag not in event.keywords and len(event.args) < 7)
    ]
    if missing and age != "0":
        yield hit(COOKIE, event, f"The cookie `{name}` is set without {' and '.join(missing)}.")


def _environment(event: ResolvedCall) -> Hits:
    if event.spread or "autoescape" in event.keywords:
        event.scope.facts["escapes"] = not event.is_false("autoescape")
    if event.is_false("autoescape") and _serves(event.scope):
        message = f"`autoescape=False` in {event.scope.title} turns off escaping."
        yield hit(AUTOESCAPE, event, message)


def _serves(scope: Scope) -> bool:
    return bool(scope.modules & {"flask", "fastapi", "starlette", "aiohttp", "bottle", "tornado"})


_RULES = (
    XSS, MARKUP, REDIRECT, SSRF, URL_PART, HEADER, ERROR, DEBUG, COOKIE, CSRF, CORS, AUTOESCAPE,
)  # fmt: skip
TOPIC = Topic(
    rules=_RULES,
    calls=_REDIRECTS
    | frozenset(name.rsplit(".", 1)[-1] for name in _RESPONSES | _MARKUPS)
    | word_set(
        "get post put patch delete head options request stream urlopen urlretrieve Request"
        " HTTPConnection HTTPSConnection run set_cookie CORS add_middleware Environment"
        " get_template Middleware"
    ),
    find=find,
    hints={
        ANYTHING: "Markup mark_safe SafeString format_html set_cookie CORS CORSMiddleware"
        " autoescape format_exc get_template " + " ".join(_COOKIE_SETTINGS | _CSRF_SETTINGS),
        TRUE: "debug",
        CALL: "Environment",
    },
    event_kinds=frozenset((Return, Store)),
)
