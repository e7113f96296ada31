"""The words by which code names its protections, and which expressions are replies of refusal."""

import ast
import re
from collections.abc import Iterable

from leadhand_teams.review import syntax

_VERBS = syntax.word_set(
    "verify verifies validate validates authenticate authorize authorise escape sanitize sanitise"
    " quote ensure require requires enforce deny forbid protect restrict throttle ratelimit redact"
    " scrub bleach secure whitelist blacklist allowlist denylist blocklist"
)
"""A function with one of these words protects something."""
_NOUNS = syntax.word_set(
    "permission permissions perm perms auth authentication authorization login csrf xsrf signature"
    " hmac nonce captcha ratelimit access role roles owner ownership credentials privilege origin"
    " safe trusted valid allowed permitted authenticated authorized authorised admin superuser"
    " staff anonymous forbidden unauthorized quota sandbox sandboxed password token session"
    " certificate cert ssl tls hostname redirect"
)
"""A function that checks one of these protects something."""
_CHECKS = syntax.word_set(
    "check is has can may must verify validate get decode parse assert compare match test only"
    " require requires required validator checker guard limit"
)
_EXACT = syntax.word_set(
    "compare_digest constant_time_compare safe_join secure_filename strip_tags normpath realpath"
    " abspath relative_to is_relative_to raise_for_status full_clean cycle_key regenerate"
    " regenerate_id rotate_token select_for_update isdigit isalnum isidentifier"
    " check_password_hash check_password is_valid is_safe_url is_authenticated abortConnection"
    " url_has_allowed_host_and_scheme conditional_escape html_escape autoescape rate_limit"
    " create_default_context load_verify_locations set_ciphers fullmatch quote_plus quoteattr"
    " quote_identifier quote_ident quote_name escape_string literal_eval safe_load safe_dump"
    " verify_mode check_hostname has_perm has_permission get_object_or_404 hmac sign unsign"
    " setgroups umask translate format_html format_html_join"
)
_LIMITS = re.compile(
    r"^max_|_max$|_max_|^max[A-Z]|limit|quota|^timeout$|_timeout|timeout_|max_?size|maxsize"
    r"|^maximum_|_depth$|maxlen|^max$"
)
_NOT_LIMITS = re.compile(r"limited|delimit|unlimited|limits?_?choices|rlimit|callback|handle|error")
_ACCESS = syntax.word_set(
    "auth authenticated authorized authorised authorize anonymous permission permissions permitted"
    " perm perms forbidden unauthorized unauthorised login logged admin staff superuser owner role"
    " roles csrf xsrf signature verified credentials privilege access jwt current_user"
)
_DENIALS = syntax.word_set("denied bad request suspicious unsafe traversal disallowed")
_ENCODERS = syntax.word_set("escape quote sanitize sanitise")
WRITES = syntax.word_set("replace sub translate encode dumps format join b64encode hexlify")
"""Functions that a function which encodes a text may be made of."""
_SAFETY = _VERBS | _NOUNS | _ACCESS | _DENIALS | {"scheme", "netloc", "host"}
_REFUSALS = _ACCESS | {"redirect", "denied", "error", "errors", "errcode", "reject", "rejected"}
_STATUS = re.compile(
    r"BAD_REQUEST|UNAUTHORIZED|FORBIDDEN|NOT_FOUND|CONFLICT|TOO_|UNPROCESSABLE|NOT_ALLOWED"
)


def protects(name: str) -> bool:
    """Whether a function of this name checks, limits or makes something safe."""
    return checks(name) or (is_limit(name) and name != "max")


def checks(name: str) -> bool:
    """Whether a function of this name checks something or makes it safe."""
    found = set(syntax.words(name))
    return name in _EXACT or bool(found & _VERBS) or bool(found & _CHECKS and found & _NOUNS)


def encodes(name: str) -> bool:
    """Whether a function of this name only writes a text in a safe form."""
    return not _ENCODERS.isdisjoint(syntax.words(name))


def about_safety(names: Iterable[str]) -> bool:
    """Whether these names speak of protection, or of what decides where a request goes."""
    return any(not _SAFETY.isdisjoint(syntax.words(name)) for name in names)


def is_limit(name: str) -> bool:
    """Whether a parameter, keyword or constant of this name limits something."""
    lower = name if name.isupper() is False else name.lower()
    return bool(_LIMITS.search(lower)) and not _NOT_LIMITS.search(lower)


def about_access(names: frozenset[str] | set[str]) -> bool:
    """Whether these names speak of identity or permissions."""
    return any(not _ACCESS.isdisjoint(syntax.words(name)) for name in names)


def is_error_status(node: ast.expr) -> bool:
    """Whether an expression is an HTTP status of 400 to 599, as a number or by its name."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, int):
            if 400 <= part.value <= 599:
                return True
        elif isinstance(part, ast.Attribute) and _STATUS.search(part.attr):
            return True
    return False


def refusing_value(value: ast.expr) -> str:
    """What a returned value that rejects a request is called; empty if it rejects nothing."""
    match value:
        case ast.Tuple(elts=[_, *rest]) if any(is_error_status(part) for part in rest):
            return "return"
        case ast.Call(func=function):
            name = syntax.last_name(function)
            if _REFUSALS & set(syntax.words(name)) or name.endswith("BadRequest"):
                return name
            if any(is_error_status(part) for part in (*value.args, *_values(value))):
                return name
            return ""
        case ast.Dict(keys=keys):
            named = {key.value for key in keys if isinstance(key, ast.Constant)}
            return "return" if named & {"error", "errors", "errcode"} else ""
        case _:
            return ""


def denies(refusal: ast.stmt) -> bool:
    """Whether a refusal is a 4xx status or a permission error."""
    if isinstance(refusal, ast.Return) and refusal.value is not None:
        return bool(refusing_value(refusal.value))
    names = {
        name
        for node in ast.walk(refusal)
        if isinstance(node, ast.Name | ast.Attribute)
        for name in syntax.words(syntax.last_name(node))
    }
    return bool(names & (_ACCESS | _DENIALS)) or any(
        is_error_status(node) for node in ast.walk(refusal) if isinstance(node, ast.expr)
    )


def is_logging(function: ast.expr) -> bool:
    """Whether a function writes a log line."""
    name = syntax.dotted(function)
    return bool({"log", "logger", "logging", "warnings"} & set(syntax.words(name)))


def speaks_of_access(node: ast.AST) -> bool:
    """Whether a text in `node` speaks of identity or permissions."""
    return any(
        isinstance(part, ast.Constant)
        and isinstance(part.value, str)
        and not _ACCESS.isdisjoint(re.findall(r"[a-z]+", part.value.lower()))
        for part in ast.walk(node)
    )


def _values(call: ast.Call) -> list[ast.expr]:
    return [keyword.value for keyword in call.keywords]
