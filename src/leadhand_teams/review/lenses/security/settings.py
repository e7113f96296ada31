"""Rules on protections that code switches off or makes constant, where ruff has no rule.

Code that leaves the decision to its caller (inside `if not verify:` and the like) is left alone.
"""

import ast
import re

from leadhand_teams.review.lenses.security import events
from leadhand_teams.review.lenses.security.values import Trust
from leadhand_teams.review.ruff_rules.judges import is_callers_choice
from leadhand_teams.review.syntax import Tree, dotted, pattern_of, words, words_of

_PASSWORDS = words_of("settings.passwords")
_WEAK_CIPHER = re.compile(r"Crypto\.Cipher\.(DES3?|ARC2|ARC4|Blowfish|CAST|XOR|IDEA)\.new$")
_MODES = re.compile(r"modes\.(?:CBC|CTR|GCM|CFB|OFB)$")
UNCHECKED = {
    "verify_mode": "CERT_NONE",
    "check_hostname": "False",
    "_create_default_https_context": "_create_unverified_context",
}
"""Attributes of SSL contexts -> values that turn checks of certificates off."""
_CALLS = words_of("settings.calls")
_SALTED = pattern_of("settings.salted")


def find(event: events.Event) -> events.Hits:
    """The hits of this topic's rules in `event`."""
    if isinstance(event, events.Comparison):
        for one, other in ((event.left, event.right), (event.right, event.left)):
            decoded = one.made_by.startswith("base64.") and "decode" in one.made_by
            if decoded and _PASSWORDS & set(words(other.origin)):
                yield events.hit("encoded-password", event, origin=other.origin)
    elif isinstance(event, events.ResolvedCall) and event.last in _CALLS:
        yield from _constants(event)
        yield from _token(event)
        if event.last in ("XMLParser", "ETCompatXMLParser"):
            on = [word for word in ("resolve_entities", "load_dtd") if event.passes(word, True)]
            if on or event.passes("no_network", False):
                what = f"{event.last}({on[0] if on else 'no_network'}=...)"
                yield events.hit("xml-external-entities", event, what=what)
        elif event.last == "setFeature" and event.arg(1, "state").constant in ("True", "1"):
            feature = event.arg(0, "feature", "name")
            if re.search(r"external.ge", f"{feature.origin} {feature.text} {feature.made_by}"):
                yield events.hit("xml-external-entities.feature", event)


def _constants(event: events.ResolvedCall) -> events.Hits:
    vector = salt = None
    if cipher := _WEAK_CIPHER.match(event.name):
        yield events.hit("weak-cipher", event, cipher=cipher[1])
    if event.name.startswith("Crypto.Cipher.") and event.last == "new":
        mode = event.arg(1, "mode").made_by
        vector = event.arg(2, "iv", "IV", "nonce") if "MODE_" in mode else None
    elif _MODES.search(event.name):
        vector = event.arg(0, "initialization_vector", "nonce")
    elif _SALTED.search(event.name):
        salt = event.arg(2 if event.last == "pbkdf2_hmac" else 1, "salt")
    if vector is not None and vector.trust is Trust.CONSTANT and vector.text:
        yield events.hit("constant-iv", event)
    if salt is not None and salt.constant:
        yield events.hit("constant-salt", event, salt)


def _token(event: events.ResolvedCall) -> events.Hits:
    if event.name in ("jwt.decode", "jose.jwt.decode"):
        options = event.keyword("options")
        text = ast.unparse(options) if isinstance(options, ast.Dict) else ""
        off = re.search(r"'verify(?:_signature)?': False", text)
        unverified = event.passes("verify", False) or off is not None
    else:
        reads = event.name == "python_jwt.process_jwt"
        code = ast.unparse(event.scope.function) if reads and event.scope.function else ""
        unverified = reads and "verify_jwt(" not in code
    if unverified and not event.scope.words & {"unverified", "unsafe", "peek"}:
        yield events.hit("token-not-verified", event)


def unchecked_certificates(tree: Tree) -> events.Hits:
    """Hits where an SSL context, or the whole process, no longer checks certificates."""
    for node in tree.nodes(ast.Assign):
        target = dotted(node.targets[0])
        expected = UNCHECKED.get(target.rpartition(".")[2])
        # An attribute of `self` is a default of the class, not of an SSL context.
        if expected is None or "." not in target or target.startswith("self."):
            continue
        value = ast.unparse(node.value)
        if value.rpartition(".")[2] == expected and not is_callers_choice(tree, node):
            message = f"`{target} = {value}` turns off certificate checks."
            yield events.SecurityHit("tls-verification-off", node, message)
