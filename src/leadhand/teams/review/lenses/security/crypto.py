"""Rules on cryptography that is too weak for what it protects.

A weak hash is a problem if it protects a password, a token or a signature, which only names can
tell. Checksums and cache keys are left alone.
"""

import itertools
import re

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.events import (
    Comparison,
    Event,
    Hits,
    ResolvedCall,
    Topic,
    hit,
)
from leadhand.teams.review.lenses.security.hints import ANYTHING, ATTRIBUTE, CALL
from leadhand.teams.review.lenses.security.values import Trust, Value
from leadhand.teams.review.syntax import word_set, words

_FAMILY = "security/crypto"
HASH = LensRule(
    "security/weak-hash", _FAMILY, "warning",
    "Collisions are easy to find, and guesses are cheap to try.",
    "Use SHA-256 or better; for passwords scrypt, Argon2 or bcrypt.",
)  # fmt: skip
PASSWORD = LensRule(
    "security/fast-password-hash", _FAMILY, "warning",
    "An attacker can try billions of guesses a second against a stolen hash.",
    "Use a slow, salted password hash: `hashlib.scrypt`, Argon2 or bcrypt.",
)  # fmt: skip
SALT = LensRule(
    "security/constant-salt", _FAMILY, "warning",
    "Equal passwords give equal hashes, and one precomputed table breaks them all.",
    "Generate a salt for each password with `os.urandom(16)` and store it with the hash.",
)  # fmt: skip
CIPHER = LensRule(
    "security/weak-cipher", _FAMILY, "warning",
    "Data that it encrypts can be read or recognised with little effort.",
    "Use AES-GCM or ChaCha20-Poly1305.",
)  # fmt: skip
IV = LensRule(
    "security/constant-iv", _FAMILY, "warning",
    "Equal plaintexts give equal ciphertexts, and each message leaks more.",
    "Generate a vector for each message with `os.urandom`, and send it with the message.",
)  # fmt: skip
KEY = LensRule(
    "security/weak-key", _FAMILY, "warning",
    "Keys of that size can be broken.",
    "Use at least 2048 bits for RSA and DSA, 256 for elliptic curves.",
)  # fmt: skip
RANDOM = LensRule(
    "security/predictable-secret", _FAMILY, "warning",
    "An attacker who has seen a few of its numbers can predict the next ones.",
    "Use the `secrets` module.",
)  # fmt: skip
TIMING = LensRule(
    "security/timing-comparison", _FAMILY, "warning",
    "The time that the comparison takes reveals how much of a guess is right.",
    "Compare with `hmac.compare_digest`.",
)  # fmt: skip
ENCODED = LensRule(
    "security/encoded-password", _FAMILY, "warning",
    "Base64 is not encryption: anyone who can read the store can read every password.",
    "Store a slow, salted hash and compare with the hash library's own check.",
)  # fmt: skip

_PASSWORD_WORDS = word_set("password passwd pwd passphrase passwords")
_PROTECTED = _PASSWORD_WORDS | word_set("secret signature certificate credential credentials")
_WEAK_HASHES = word_set("hashlib.md5 hashlib.sha1 md5.new sha.new")
_WEAK_MODULES = re.compile(r"^Crypto\.Hash\.(?:MD2|MD4|MD5|SHA|SHA1)\.new$")
_FAST_HASHES = word_set(
    "hashlib.sha224 hashlib.sha256 hashlib.sha384 hashlib.sha512 hashlib.sha3_256"
)
_CIPHER_MODULE = re.compile(r"^Crypto\.Cipher\.(DES3?|ARC2|ARC4|Blowfish|CAST|XOR|IDEA)\.new$")
_ALGORITHMS = re.compile(
    r"\.algorithms\.(TripleDES|ARC4|Blowfish|IDEA|CAST5|SEED|RC2)$|^(?:des|DES)$"
)
_RANDOM = frozenset(
    f"random.{name}"
    for name in word_set(
        "random randint randrange choice choices sample getrandbits uniform randbytes"
    )
)
_SECRET_WORDS = word_set("password passwd pwd passphrase secret otp csrf")
_SECRET_PAIRS = word_set(
    "session_id api_key auth_token access_token reset_token refresh_token verification_code"
    " session_token csrf_token secret_key security_code auth_code login_code salt_bytes"
    " random_password encryption_key session_key private_key confirmation_token"
)
_GENERATES = word_set("generate gen make create new build random issue get")
_PROMISES = re.compile(r"\bunpredictable\b|cryptographically\s+(?:secure|strong)", re.IGNORECASE)
_NOT_A_SECRET = word_set("count index length len size weight test fake mock dummy delay")


def find(event: Event) -> Hits:
    """The hits of this topic's rules in `event`."""
    if isinstance(event, Comparison):
        yield from _comparison(event)
    elif isinstance(event, ResolvedCall):
        yield from _hash(event)
        yield from _encryption(event)
        yield from _salt(event)
        yield from _key(event)
        yield from _random(event)


def _hash(event: ResolvedCall) -> Hits:
    name = event.name
    algorithm = event.arg(0, "name").constant if name == "hashlib.new" else None
    data = event.arg(1 if name == "hashlib.new" else 0, "data", "string")
    weak = name in _WEAK_HASHES or bool(_WEAK_MODULES.match(name))
    weak = weak or (algorithm or "").lower() in ("md5", "sha1", "md4")
    if (not weak and name not in _FAST_HASHES) or event.is_false("usedforsecurity"):
        return
    piece = data.least_trusted("hash")
    subject = set(words(piece.origin))
    if weak and (subject | set(words(event.target))) & _PROTECTED:
        what = algorithm or (name.split(".")[-2] if event.last == "new" else event.last)
        message = f"`{what}` in {event.scope.title} protects `{piece.origin or event.target}`."
        yield hit(HASH, event, message)
    is_password = subject & _PASSWORD_WORDS and not subject & {"hash", "salt", "file"}
    if not weak and is_password and len(data.pieces) == 1 and not data.built:
        message = f"{event.title} hashes `{piece.origin}` quickly and without a salt."
        yield hit(PASSWORD, event, message)


def _encryption(event: ResolvedCall) -> Hits:
    name, where = event.name, event.scope.title
    cipher = _CIPHER_MODULE.match(name)
    if cipher is None and "cryptography" in event.scope.modules:
        cipher = _ALGORITHMS.search(name)
    if cipher is not None:
        yield hit(CIPHER, event, f"`{cipher[1] or event.last}` in {where} is broken or too weak.")
        return
    mode = event.arg(1, "mode").made_by
    if name.startswith("Crypto.Cipher.") and event.last == "new":
        if mode.endswith(".MODE_ECB"):
            yield hit(CIPHER, event, f"`MODE_ECB` in {where} preserves patterns in the data.")
        elif mode.endswith((".MODE_CBC", ".MODE_CFB", ".MODE_OFB")):
            yield from _vector(event, event.arg(2, "iv", "IV"))
        elif mode.endswith((".MODE_GCM", ".MODE_CTR")):
            yield from _vector(event, event.keywords.get("nonce"))
    elif name.endswith("modes.ECB"):
        yield hit(CIPHER, event, f"`ECB` in {where} preserves patterns in the data.")
    elif re.search(r"modes\.(?:CBC|CTR|GCM|CFB|OFB)$", name):
        yield from _vector(event, event.arg(0, "initialization_vector", "nonce"))


def _vector(event: ResolvedCall, vector: Value | None) -> Hits:
    if vector is not None and vector.trust is Trust.CONSTANT and vector.text:
        yield hit(IV, event, f"The initialisation vector of {event.title} is constant.")


def _salt(event: ResolvedCall) -> Hits:
    if event.last == "pbkdf2_hmac":
        salt = event.arg(2, "salt")
    elif event.name in ("hashlib.scrypt", "bcrypt.hashpw", "Crypto.Protocol.KDF.PBKDF2"):
        salt = event.arg(1, "salt")
    elif event.name.endswith((".PBKDF2HMAC", ".Scrypt", ".Argon2id")):
        salt = event.arg(-1, "salt")
    else:
        return
    if salt.constant:
        yield hit(SALT, event, f"The salt of {event.title} is a constant.", salt)


def _key(event: ResolvedCall) -> Hits:
    if event.name in ("Crypto.PublicKey.RSA.generate", "Crypto.PublicKey.DSA.generate"):
        size = event.arg(0, "bits")
    elif event.last == "generate_private_key" and re.search(r"\b(?:rsa|dsa)\.", event.name):
        size = event.arg(1 if "rsa." in event.name else 0, "key_size")
    elif event.name == "rsa.newkeys":
        size = event.arg(0, "nbits")
    else:
        return
    bits = size.constant or ""
    if bits.isdecimal() and len(bits) < 5 and int(bits) < 2048:
        yield hit(KEY, event, f"{event.title} generates a {bits}-bit key.")


def _random(event: ResolvedCall) -> Hits:
    if event.name not in _RANDOM:
        return
    target = _is_secret(event.target)
    scope = event.scope
    promised = False
    if scope.function is not None and not target:
        named = _is_secret(scope.function.name) and bool(scope.words & _GENERATES)
        first = scope.function.body[0]
        text = getattr(getattr(first, "value", None), "value", None)
        promised = named or (isinstance(text, str) and bool(_PROMISES.search(text[:2000])))
    if target or promised:
        what = f"`{event.target}`" if target else f"what {scope.title} returns"
        yield hit(RANDOM, event, f"`{event.name}` generates {what}.")


def _is_secret(name: str) -> bool:
    found = words(name)
    if set(found) & _NOT_A_SECRET:
        return False
    pairs = {"_".join(pair) for pair in itertools.pairwise(found)}
    return bool(set(found) & _SECRET_WORDS or pairs & _SECRET_PAIRS)


def _comparison(event: Comparison) -> Hits:
    for one, other in ((event.left, event.right), (event.right, event.left)):
        if other.trust is Trust.CONSTANT:
            continue
        if one.made_by.startswith("hmac.") and "digest" in one.made_by:
            yield hit(TIMING, event, f"An HMAC is compared with `==` in {event.scope.title}.")
            return
        decoded = one.made_by.startswith("base64.") and "decode" in one.made_by
        if decoded and _PASSWORD_WORDS & set(words(other.origin)):
            message = f"`{other.origin}` is compared with decoded Base64 in {event.scope.title}."
            yield hit(ENCODED, event, message)
            return


TOPIC = Topic(
    rules=(HASH, PASSWORD, SALT, CIPHER, IV, KEY, RANDOM, TIMING, ENCODED),
    calls=word_set(
        "new TripleDES ARC4 Blowfish IDEA CAST5 SEED RC2 ECB CBC CTR GCM CFB OFB pbkdf2_hmac scrypt"
        " hashpw PBKDF2 PBKDF2HMAC Scrypt Argon2id generate generate_private_key newkeys"
    )
    | {name.rsplit(".", 1)[-1] for name in _WEAK_HASHES | _FAST_HASHES | _RANDOM},
    find=find,
    hints={
        CALL: "md5 sha1 sha224 sha256 sha384 sha512 sha3_256 new generate CBC ECB CTR GCM CFB OFB"
        " TripleDES ARC4 Blowfish IDEA CAST5 SEED RC2 choice choices randint sample getrandbits"
        " randrange Scrypt Argon2id scrypt hexdigest digest b64decode",
        ANYTHING: "pbkdf2_hmac PBKDF2 PBKDF2HMAC hashpw generate_private_key newkeys",
        ATTRIBUTE: "random",
    },
    event_kinds=frozenset((Comparison,)),
)
