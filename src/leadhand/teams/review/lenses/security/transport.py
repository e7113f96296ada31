"""Rules on verification that is turned off: TLS certificates, tokens, SSH host keys.

Code that leaves the decision to its caller (inside `if not verify:` and the like) is left alone.
"""

import ast

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.events import (
    Event,
    Hits,
    ResolvedCall,
    Scope,
    Store,
    Topic,
    hit,
)
from leadhand.teams.review.lenses.security.hints import ANYTHING, FALSE
from leadhand.teams.review.lenses.security.values import HOLE, Trust
from leadhand.teams.review.syntax import word_set

_FAMILY = "security/transport"
TLS = LensRule(
    "security/tls-verification-off", _FAMILY, "critical",
    "An attacker on the network can read and change the traffic.",
    "Leave verification on; for a private certificate authority, pass its certificate file.",
)  # fmt: skip
OLD_TLS = LensRule(
    "security/tls-old-version", _FAMILY, "warning",
    "This protocol version is insecure, and current servers reject it.",
    "Use `ssl.create_default_context()` and keep its minimum version.",
)  # fmt: skip
JWT = LensRule(
    "security/token-not-verified", _FAMILY, "critical",
    "Anyone can then forge a token with any content.",
    "Verify the signature, and name the algorithms that you expect.",
)  # fmt: skip
HOST_KEY = LensRule(
    "security/ssh-host-key-off", _FAMILY, "warning",
    "An attacker on the network can impersonate the server.",
    "Load the known host keys and reject unknown ones (`RejectPolicy`).",
)  # fmt: skip
CLEAR_TEXT = LensRule(
    "security/clear-text-credentials", _FAMILY, "warning",
    "The credentials cross the network unencrypted.",
    "Use https.",
)  # fmt: skip

_CLIENTS = word_set("requests httpx urllib3 aiohttp boto3 hvac elasticsearch")
_SWITCHES = word_set("verify verify_ssl ssl_verify verify_certs tls_verify ssl check_hostname")
_VERBS = word_set(
    "get post put patch delete head options request stream Session Client AsyncClient"
    " ClientSession TCPConnector client resource"
)
_OLD = word_set("PROTOCOL_SSLv2 PROTOCOL_SSLv3 PROTOCOL_TLSv1 PROTOCOL_TLSv1_1")
_OLD_MINIMUM = frozenset(("SSLv2", "SSLv3", "TLSv1", "TLSv1_1", "MINIMUM_SUPPORTED"))
_CALLERS_CHOICE = word_set(
    "verify verification verified insecure ssl tls cert certs certificate check trust trusted"
    " validate validation hostname debug unverified secure skip policy allow"
)
_POLICIES = frozenset(("AutoAddPolicy", "WarningPolicy"))
_LOOPBACK = ("http://localhost", "http://127.", "http://[::1]", "http://0.0.0.0")


def find(event: Event) -> Hits:
    """The hits of this topic's rules in `event`."""
    if not isinstance(event, ResolvedCall | Store) or event.condition_words & _CALLERS_CHOICE:
        return
    if isinstance(event, Store):
        yield from _store(event)
        return
    name, last = event.name, event.last
    where = event.scope.title
    if name in ("ssl._create_unverified_context", "ssl._create_stdlib_context"):
        if not _says_unverified(event.scope):
            yield hit(TLS, event, f"{event.title} does not check certificates.")
    elif last in _VERBS and event.scope.modules & _CLIENTS:
        yield from _request(event)
    elif last in ("PoolManager", "HTTPSConnectionPool", "wrap_socket", "ProxyManager"):
        if event.arg(-1, "cert_reqs").made_by.endswith("CERT_NONE") or (
            event.arg(-1, "cert_reqs").constant in ("CERT_NONE", "NONE")
        ):
            yield hit(TLS, event, f"`{last}` in {where} does not check certificates.")
        elif name == "ssl.wrap_socket" and "cert_reqs" not in event.keywords and not event.spread:
            yield hit(TLS, event, f"{event.title} does not check certificates.")
    elif name in ("jwt.decode", "jose.jwt.decode", "jwt.PyJWT().decode"):
        yield from _jwt(event)
    elif last == "verify_jwt":
        event.scope.facts["verified"] = True
    elif name == "python_jwt.process_jwt" and not event.scope.facts.get("verified"):
        yield hit(JWT, event, f"{event.title} reads the token without verifying its signature.")
    elif last == "set_missing_host_key_policy":
        policy = event.arg(0, "policy").made_by.rsplit(".", 1)[-1]
        if policy in _POLICIES:
            yield hit(HOST_KEY, event, f"`{policy}` in {where} accepts any host key.")
    elif name == "asyncssh.connect":
        known = event.keyword("known_hosts")
        if isinstance(known, ast.Constant) and known.value is None:
            yield hit(HOST_KEY, event, f"`known_hosts=None` in {where} accepts any host key.")
    elif name in ("ssl.SSLContext", "ssl.wrap_socket"):
        version = event.arg(0 if last == "SSLContext" else -1, "protocol", "ssl_version")
        if version.made_by.rsplit(".", 1)[-1] in _OLD:
            message = f"`{version.origin}` in {where} selects an old protocol version."
            yield hit(OLD_TLS, event, message)


def _request(event: ResolvedCall) -> Hits:
    for switch in _SWITCHES:
        if event.is_false(switch) and not (
            switch == "ssl" and "aiohttp" not in event.scope.modules
        ):
            what = f"`{event.name}({switch}=False)` in {event.scope.title}"
            yield hit(TLS, event, f"{what} does not check certificates.")
            return
    url = event.arg(0, "url").text.split(HOLE, 1)[0]
    if "auth" in event.keywords and url.startswith("http://") and not url.startswith(_LOOPBACK):
        auth = event.keywords["auth"]
        if auth.constant != "None":
            yield hit(CLEAR_TEXT, event, f"{event.title} sends `auth` to `{url[:60]}`.")


def _jwt(event: ResolvedCall) -> Hits:
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
        yield hit(JWT, event, f"{event.title} reads the token without verifying its signature.")


def _store(event: Store) -> Hits:
    expression = event.expression
    is_false = isinstance(expression, ast.Constant) and expression.value is False
    where = event.scope.title
    if event.name == "ssl._create_default_https_context":
        if event.value.made_by.endswith("_create_unverified_context"):
            yield hit(TLS, event, "This turns off certificate checks for the whole process.")
    elif not isinstance(event.target, ast.Attribute) or _says_unverified(event.scope):
        return
    elif isinstance(event.target.value, ast.Name) and event.target.value.id == "self":
        return  # The class sets a default of its own, not an attribute of an SSL context.
    elif event.key == "verify_mode" and event.value.made_by.endswith("CERT_NONE"):
        message = f"`{event.name} = CERT_NONE` in {where} turns off certificate checks."
        yield hit(TLS, event, message)
    elif event.key == "check_hostname" and is_false:
        message = f"`{event.name} = False` in {where} accepts certificates of any host."
        yield hit(TLS, event, message)
    elif event.key == "verify" and is_false and event.owner.made_by in (
        "requests.Session", "requests.session", "requests.sessions.Session", "httpx.Client",
    ):  # fmt: skip
        yield hit(TLS, event, f"`{event.name} = False` in {where} turns off certificate checks.")
    elif event.key == "minimum_version":
        version = event.value.made_by.rsplit(".", 1)[-1]
        if version in _OLD_MINIMUM and event.value.trust is Trust.UNKNOWN:
            message = f"`{event.name} = {version}` in {where} allows an old protocol version."
            yield hit(OLD_TLS, event, message)


def _says_unverified(scope: Scope) -> bool:
    """Whether the function's name says that it does not verify, so that callers know."""
    return bool(scope.words & {"unverified", "insecure", "noverify", "unsafe"})


TOPIC = Topic(
    rules=(TLS, OLD_TLS, JWT, HOST_KEY, CLEAR_TEXT),
    calls=_VERBS
    | word_set(
        "_create_unverified_context _create_stdlib_context PoolManager HTTPSConnectionPool"
        " ProxyManager wrap_socket decode process_jwt verify_jwt set_missing_host_key_policy"
        " connect SSLContext"
    ),
    find=find,
    hints={
        FALSE: " ".join(_SWITCHES),
        ANYTHING: "_create_unverified_context _create_stdlib_context CERT_NONE verify_signature"
        " process_jwt set_missing_host_key_policy known_hosts wrap_socket minimum_version auth "
        + " ".join(_OLD),
    },
    event_kinds=frozenset((Store,)),
)
