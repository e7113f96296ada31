"""Rules on verification that is switched off: TLS certificates, tokens, SSH host keys.

A switch that the caller turns (inside `if not verify:` and the like) is the caller's decision and
is left alone.
"""

import ast
from collections.abc import Iterator

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.events import (
    Event,
    ResolvedCall,
    Scope,
    SecurityHit,
    Store,
    Topic,
)
from leadhand.teams.review.lenses.security.hints import FALSE
from leadhand.teams.review.lenses.security.names import listed
from leadhand.teams.review.lenses.security.values import HOLE, Trust

_FAMILY = "security/transport"
TLS = LensRule(
    "security/tls-verification-off", _FAMILY, "critical",
    "Anyone on the way can read and change the traffic.",
    "Leave verification on; for a private authority pass its certificate file.",
)  # fmt: skip
OLD_TLS = LensRule(
    "security/tls-old-version", _FAMILY, "warning",
    "That protocol version is broken and no longer accepted by current servers.",
    "Use `ssl.create_default_context()` and leave its minimum version.",
)  # fmt: skip
JWT = LensRule(
    "security/token-not-verified", _FAMILY, "critical",
    "Anyone can then write a token that says whatever they like.",
    "Verify the signature, with the algorithms that you expect named.",
)  # fmt: skip
HOST_KEY = LensRule(
    "security/ssh-host-key-off", _FAMILY, "warning",
    "Anyone on the way can pose as the server.",
    "Load the known host keys and reject unknown ones (`RejectPolicy`).",
)  # fmt: skip
CLEAR_TEXT = LensRule(
    "security/clear-text-credentials", _FAMILY, "warning",
    "The credentials cross the network unencrypted.",
    "Use https.",
)  # fmt: skip

_CLIENTS = frozenset(("requests", "httpx", "urllib3", "aiohttp", "boto3", "hvac", "elasticsearch"))
_SWITCHES = listed("verify verify_ssl ssl_verify verify_certs tls_verify ssl check_hostname")
_VERBS = listed(
    "get post put patch delete head options request stream Session Client AsyncClient"
    " ClientSession TCPConnector client resource"
)
_OLD = listed("PROTOCOL_SSLv2 PROTOCOL_SSLv3 PROTOCOL_TLSv1 PROTOCOL_TLSv1_1")
_OLD_MINIMUM = frozenset(("SSLv2", "SSLv3", "TLSv1", "TLSv1_1", "MINIMUM_SUPPORTED"))
_CALLERS_CHOICE = listed(
    "verify verification verified insecure ssl tls cert certs certificate check trust trusted"
    " validate validation hostname debug unverified secure skip policy allow"
)
_POLICIES = frozenset(("AutoAddPolicy", "WarningPolicy"))
_LOOPBACK = ("http://localhost", "http://127.", "http://[::1]", "http://0.0.0.0")


def look(event: Event) -> Iterator[SecurityHit]:
    """What is wrong with `event`, if anything."""
    if not isinstance(event, ResolvedCall | Store) or event.guarded & _CALLERS_CHOICE:
        return
    if isinstance(event, Store):
        yield from _store(event)
        return
    name, last, node = event.name, event.last, event.node
    where = event.scope.title
    if name in ("ssl._create_unverified_context", "ssl._create_stdlib_context"):
        if not _own_switch(event.scope):
            yield SecurityHit(TLS, node, f"`{name}` in {where} checks no certificate.")
    elif last in _VERBS and event.scope.modules & _CLIENTS:
        yield from _request(event)
    elif last in ("PoolManager", "HTTPSConnectionPool", "wrap_socket", "ProxyManager"):
        if event.arg(-1, "cert_reqs").made_by.endswith("CERT_NONE") or (
            event.arg(-1, "cert_reqs").constant in ("CERT_NONE", "NONE")
        ):
            yield SecurityHit(TLS, node, f"`{last}` in {where} is told to check no certificate.")
        elif name == "ssl.wrap_socket" and "cert_reqs" not in event.keywords and not event.spread:
            yield SecurityHit(TLS, node, f"`ssl.wrap_socket` in {where} checks no certificate.")
    elif name in ("jwt.decode", "jose.jwt.decode", "jwt.PyJWT().decode"):
        yield from _jwt(event)
    elif last == "verify_jwt":
        event.scope.facts["verified"] = True
    elif name == "python_jwt.process_jwt" and not event.scope.facts.get("verified"):
        message = f"`{name}` in {where} reads the token without checking its signature."
        yield SecurityHit(JWT, node, message)
    elif last == "set_missing_host_key_policy":
        policy = event.arg(0, "policy").made_by.rsplit(".", 1)[-1]
        if policy in _POLICIES:
            yield SecurityHit(HOST_KEY, node, f"`{policy}` in {where} accepts any host key.")
    elif name == "asyncssh.connect":
        known = event.keyword("known_hosts")
        if isinstance(known, ast.Constant) and known.value is None:
            yield SecurityHit(
                HOST_KEY, node, f"`known_hosts=None` in {where} accepts any host key."
            )
    elif name in ("ssl.SSLContext", "ssl.wrap_socket"):
        version = event.arg(0 if last == "SSLContext" else -1, "protocol", "ssl_version")
        if version.made_by.rsplit(".", 1)[-1] in _OLD:
            yield SecurityHit(
                OLD_TLS, node, f"`{version.origin}` in {where} asks for an old protocol."
            )


def _request(event: ResolvedCall) -> Iterator[SecurityHit]:
    for switch in _SWITCHES:
        if event.is_false(switch) and not (
            switch == "ssl" and "aiohttp" not in event.scope.modules
        ):
            message = (
                f"`{event.name}({switch}=False)` in {event.scope.title} checks no certificate."
            )
            yield SecurityHit(TLS, event.node, message)
            return
    url = event.arg(0, "url").text.split(HOLE, 1)[0]
    if "auth" in event.keywords and url.startswith("http://") and not url.startswith(_LOOPBACK):
        auth = event.keywords["auth"]
        if auth.constant != "None":
            message = f"`{event.name}` in {event.scope.title} sends `auth` to `{url[:60]}`."
            yield SecurityHit(CLEAR_TEXT, event.node, message)


def _jwt(event: ResolvedCall) -> Iterator[SecurityHit]:
    options = event.keyword("options")
    off = event.is_false("verify")
    if isinstance(options, ast.Dict):
        off = off or any(
            isinstance(key, ast.Constant)
            and key.value in ("verify_signature", "verify")
            and isinstance(value, ast.Constant)
            and value.value is False
            for key, value in zip(options.keys, options.values, strict=True)
        )
    if off and not event.scope.words & {"unverified", "unsafe", "peek"}:
        message = f"`{event.name}` in {event.scope.title} reads the token without verifying it."
        yield SecurityHit(JWT, event.node, message)


def _store(event: Store) -> Iterator[SecurityHit]:
    expression = event.expression
    is_false = isinstance(expression, ast.Constant) and expression.value is False
    where = event.scope.title
    if event.name == "ssl._create_default_https_context":
        if event.value.made_by.endswith("_create_unverified_context"):
            message = "The whole process is told to check no certificate."
            yield SecurityHit(TLS, event.node, message)
    elif not isinstance(event.target, ast.Attribute) or _own_switch(event.scope):
        return
    elif isinstance(event.target.value, ast.Name) and event.target.value.id == "self":
        return  # A class that has such an attribute sets its own default, not a context's.
    elif event.key == "verify_mode" and event.value.made_by.endswith("CERT_NONE"):
        yield SecurityHit(
            TLS, event.node, f"`{event.name} = CERT_NONE` in {where} checks no certificate."
        )
    elif event.key == "check_hostname" and is_false:
        message = f"`{event.name} = False` in {where} accepts a certificate of any host."
        yield SecurityHit(TLS, event.node, message)
    elif event.key == "verify" and is_false and event.owner.made_by in (
        "requests.Session", "requests.session", "requests.sessions.Session", "httpx.Client",
    ):  # fmt: skip
        yield SecurityHit(
            TLS, event.node, f"`{event.name} = False` in {where} checks no certificate."
        )
    elif event.key == "minimum_version":
        version = event.value.made_by.rsplit(".", 1)[-1]
        if version in _OLD_MINIMUM and event.value.trust is Trust.UNKNOWN:
            yield SecurityHit(
                OLD_TLS, event.node, f"`{event.name} = {version}` in {where} is too old."
            )


def _own_switch(scope: Scope) -> bool:
    """Whether the function's own name says that it does not verify: calling it is the decision."""
    return bool(scope.words & {"unverified", "insecure", "noverify", "unsafe"})


TOPIC = Topic(
    rules=(TLS, OLD_TLS, JWT, HOST_KEY, CLEAR_TEXT),
    calls=_VERBS
    | listed(
        "_create_unverified_context _create_stdlib_context PoolManager HTTPSConnectionPool"
        " ProxyManager wrap_socket decode process_jwt verify_jwt set_missing_host_key_policy"
        " connect SSLContext"
    ),
    look=look,
    hints={
        **dict.fromkeys(_SWITCHES, FALSE),
        **dict.fromkeys(
            listed(
                "_create_unverified_context _create_stdlib_context CERT_NONE verify_signature"
                " process_jwt set_missing_host_key_policy known_hosts wrap_socket minimum_version"
                " auth"
            ),
            (),
        ),
        **dict.fromkeys(_OLD, ()),
    },
    others=frozenset((Store,)),
)
