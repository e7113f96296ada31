"""Rules on cryptography that is too weak for what it protects.

A weak hash is a problem where it protects a password, a token or a signature, which only names can
tell; a checksum or a cache key is left alone.
"""

import itertools
import re
from collections.abc import Iterator

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.events import (
    Comparison,
    Event,
    ResolvedCall,
    SecurityHit,
    Topic,
)
from leadhand.teams.review.lenses.security.hints import CALL, MEMBER
from leadhand.teams.review.lenses.security.names import listed, words
from leadhand.teams.review.lenses.security.values import Trust, Value

_FAMILY = "security/crypto"
HASH = LensRule(
    "security/weak-hash", _FAMILY, "warning",
    "Collisions are cheap to make, and guesses are cheap to try.",
    "Use SHA-256 or better; for passwords scrypt, Argon2 or bcrypt.",
)  # fmt: skip
PASSWORD = LensRule(
    "security/fast-password-hash", _FAMILY, "warning",
    "Billions of guesses a second can be tried against a stolen hash.",
    "Use a slow, salted password hash: `hashlib.scrypt`, Argon2 or bcrypt.",
)  # fmt: skip
SALT = LensRule(
    "security/constant-salt", _FAMILY, "warning",
    "Equal passwords give equal hashes, and one table serves to break them all.",
    "Make a fresh salt for each password with `os.urandom(16)` and keep it beside the hash.",
)  # fmt: skip
CIPHER = LensRule(
    "security/weak-cipher", _FAMILY, "warning",
    "What it encrypts can be read or recognised with little effort.",
    "Use AES-GCM or ChaCha20-Poly1305.",
)  # fmt: skip
IV = LensRule(
    "security/constant-iv", _FAMILY, "warning",
    "Equal plain texts give equal cipher texts, and more leaks with each message.",
    "Make a fresh vector for each message with `os.urandom`, and send it along.",
)  # fmt: skip
KEY = LensRule(
    "security/weak-key", _FAMILY, "warning",
    "Keys of that size can be broken.",
    "Use at least 2048 bits for RSA and DSA, 256 for elliptic curves.",
)  # fmt: skip
RANDOM = LensRule(
    "security/predictable-secret", _FAMILY, "warning",
    "Its numbers can be predicted from a few that were seen.",
    "Use the `secrets` module.",
)  # fmt: skip
TIMING = LensRule(
    "security/timing-comparison", _FAMILY, "warning",
    "How long the comparison takes tells how much of the guess is right.",
    "Compare with `hmac.compare_digest`.",
)  # fmt: skip
ENCODED = LensRule(
    "security/encoded-password", _FAMILY, "warning",
    "Base64 is no encryption: whoever reads the store reads every password.",
    "Store a slow, salted hash and compare with its library's own check.",
)  # fmt: skip

_PASSWORD_WORDS = listed("password passwd pwd passphrase passwords")
_PROTECTED = _PASSWORD_WORDS | listed("secret signature certificate credential credentials")
_WEAK_HASHES = listed("hashlib.md5 hashlib.sha1 md5.new sha.new")
_WEAK_MODULES = re.compile(r"^Crypto\.Hash\.(?:MD2|MD4|MD5|SHA|SHA1)\.new$")
_FAST_HASHES = listed(
    "hashlib.sha224 hashlib.sha256 hashlib.sha384 hashlib.sha512 hashlib.sha3_256"
)
_CIPHER_MODULE = re.compile(r"^Crypto\.Cipher\.(DES3?|ARC2|ARC4|Blowfish|CAST|XOR|IDEA)\.new$")
_ALGORITHMS = re.compile(
    r"\.algorithms\.(TripleDES|ARC4|Blowfish|IDEA|CAST5|SEED|RC2)$|^(?:des|DES)$"
)
_RANDOM = frozenset(
    f"random.{name}"
    for name in listed(
        "random randint randrange choice choices sample getrandbits uniform randbytes"
    )
)
_SECRET_WORDS = listed("password passwd pwd passphrase secret otp csrf")
_SECRET_PAIRS = listed(
    "session_id api_key auth_token access_token reset_token refresh_token verification_code"
    " session_token csrf_token secret_key security_code auth_code login_code salt_bytes"
    " random_password encryption_key session_key private_key confirmation_token"
)
_MAKES = listed("generate gen make create new build random issue get")
_PROMISES = re.compile(r"\bunpredictable\b|cryptographically\s+(?:secure|strong)", re.IGNORECASE)
_NOT_A_SECRET = listed("count index length len size weight test fake mock dummy delay")


def look(event: Event) -> Iterator[SecurityHit]:
    """What is wrong with `event`, if anything."""
    if isinstance(event, Comparison):
        yield from _comparison(event)
    elif isinstance(event, ResolvedCall):
        yield from _hash(event)
        yield from _encryption(event)
        yield from _salt(event)
        yield from _key(event)
        yield from _random(event)


def _hash(event: ResolvedCall) -> Iterator[SecurityHit]:
    name = event.name
    algorithm = event.arg(0, "name").constant if name == "hashlib.new" else None
    data = event.arg(1 if name == "hashlib.new" else 0, "data", "string")
    weak = name in _WEAK_HASHES or bool(_WEAK_MODULES.match(name))
    weak = weak or (algorithm or "").lower() in ("md5", "sha1", "md4")
    if not weak and name not in _FAST_HASHES:
        return
    if event.is_false("usedforsecurity"):
        return
    piece = data.worst("hash")
    about = set(words(piece.origin)) | set(words(event.target))
    where = event.scope.title
    if weak and about & _PROTECTED:
        what = algorithm or event.last if event.last != "new" else name.split(".")[-2]
        message = f"`{what}` in {where} protects `{piece.origin or event.target}`."
        yield SecurityHit(HASH, event.node, message)
    elif not weak and len(data.pieces) == 1 and not data.built:
        said = set(words(piece.origin))
        if said & _PASSWORD_WORDS and not said & {"hash", "salt", "file"}:
            message = f"`{event.name}` in {where} hashes `{piece.origin}` fast and without a salt."
            yield SecurityHit(PASSWORD, event.node, message)


def _encryption(event: ResolvedCall) -> Iterator[SecurityHit]:
    name, where = event.name, event.scope.title
    cipher = _CIPHER_MODULE.match(name)
    algorithm = _ALGORITHMS.search(name)
    if cipher or (algorithm and ("cryptography" in event.scope.modules)):
        found = cipher or algorithm
        message = (
            f"`{found[1] if found and found[1] else event.last}` in {where} is broken or too weak."
        )
        yield SecurityHit(CIPHER, event.node, message)
        return
    mode = event.arg(1, "mode").made_by
    if name.startswith("Crypto.Cipher.") and event.last == "new":
        if mode.endswith(".MODE_ECB"):
            yield SecurityHit(
                CIPHER, event.node, f"`MODE_ECB` in {where} keeps the pattern of the data."
            )
        elif mode.endswith((".MODE_CBC", ".MODE_CFB", ".MODE_OFB")):
            yield from _vector(event, event.arg(2, "iv", "IV"))
        elif mode.endswith((".MODE_GCM", ".MODE_CTR")):
            yield from _vector(event, event.keywords.get("nonce"))
    elif name.endswith("modes.ECB"):
        yield SecurityHit(CIPHER, event.node, f"`ECB` in {where} keeps the pattern of the data.")
    elif re.search(r"modes\.(?:CBC|CTR|GCM|CFB|OFB)$", name):
        yield from _vector(event, event.arg(0, "initialization_vector", "nonce"))


def _vector(event: ResolvedCall, vector: Value | None) -> Iterator[SecurityHit]:
    if vector is not None and vector.trust is Trust.CONSTANT and vector.text:
        message = f"The initialisation vector of `{event.name}` in {event.scope.title} is constant."
        yield SecurityHit(IV, event.node, message)


def _salt(event: ResolvedCall) -> Iterator[SecurityHit]:
    if event.last == "pbkdf2_hmac":
        salt = event.arg(2, "salt")
    elif event.name in ("hashlib.scrypt", "bcrypt.hashpw", "Crypto.Protocol.KDF.PBKDF2"):
        salt = event.arg(1, "salt")
    elif event.name.endswith((".PBKDF2HMAC", ".Scrypt", ".Argon2id")):
        salt = event.arg(-1, "salt")
    else:
        return
    if salt.constant:
        message = f"The salt of `{event.name}` in {event.scope.title} is a constant."
        yield SecurityHit(SALT, event.node, message, salt.steps)


def _key(event: ResolvedCall) -> Iterator[SecurityHit]:
    if event.name in ("Crypto.PublicKey.RSA.generate", "Crypto.PublicKey.DSA.generate"):
        size = event.arg(0, "bits")
    elif event.last == "generate_private_key" and re.search(r"\b(?:rsa|dsa)\.", event.name):
        size = event.arg(1 if "rsa." in event.name else 0, "key_size")
    elif event.name in ("rsa.newkeys",):
        size = event.arg(0, "nbits")
    else:
        return
    bits = size.constant or ""
    if bits.isdecimal() and len(bits) < 5 and int(bits) < 2048:
        yield SecurityHit(
            KEY, event.node, f"`{event.name}` in {event.scope.title} makes a {bits}-bit key."
        )


def _random(event: ResolvedCall) -> Iterator[SecurityHit]:
    if event.name not in _RANDOM:
        return
    target = _is_secret(event.target)
    scope = event.scope
    promised = False
    if scope.function is not None and not target:
        named = _is_secret(scope.function.name) and bool(scope.words & _MAKES)
        document = scope.function.body[0]
        said = getattr(getattr(document, "value", None), "value", None)
        promised = named or (isinstance(said, str) and bool(_PROMISES.search(said[:2000])))
    if target or promised:
        what = f"`{event.target}`" if target else f"what {scope.title} returns"
        yield SecurityHit(RANDOM, event.node, f"`{event.name}` makes {what}.")


def _is_secret(name: str) -> bool:
    found = words(name)
    if set(found) & _NOT_A_SECRET:
        return False
    pairs = {"_".join(pair) for pair in itertools.pairwise(found)}
    return bool(set(found) & _SECRET_WORDS or pairs & _SECRET_PAIRS)


def _comparison(event: Comparison) -> Iterator[SecurityHit]:
    for one, other in ((event.left, event.right), (event.right, event.left)):
        if other.trust is Trust.CONSTANT:
            continue
        if one.made_by.startswith("hmac.") and "digest" in one.made_by:
            message = f"An HMAC is compared with `==` in {event.scope.title}."
            yield SecurityHit(TIMING, event.node, message)
            return
        decoded = one.made_by.startswith("base64.") and "decode" in one.made_by
        if decoded and _PASSWORD_WORDS & set(words(other.origin)):
            message = f"`{other.origin}` is compared with a decoded text in {event.scope.title}."
            yield SecurityHit(ENCODED, event.node, message)
            return


TOPIC = Topic(
    rules=(HASH, PASSWORD, SALT, CIPHER, IV, KEY, RANDOM, TIMING, ENCODED),
    calls=frozenset(
        {name.rsplit(".", 1)[-1] for name in _WEAK_HASHES | _FAST_HASHES | _RANDOM}
        | {"new", "TripleDES", "ARC4", "Blowfish", "IDEA", "CAST5", "SEED", "RC2", "ECB", "CBC"}
        | {"CTR", "GCM", "CFB", "OFB", "pbkdf2_hmac", "scrypt", "hashpw", "PBKDF2", "PBKDF2HMAC"}
        | {"Scrypt", "Argon2id", "generate", "generate_private_key", "newkeys"}
    ),
    look=look,
    hints={
        **dict.fromkeys(
            listed(
                "md5 sha1 sha224 sha256 sha384 sha512 sha3_256 new generate CBC ECB CTR GCM CFB OFB"
                " TripleDES ARC4 Blowfish IDEA CAST5 SEED RC2 choice choices randint sample"
                " getrandbits randrange Scrypt Argon2id scrypt hexdigest digest b64decode"
            ),
            CALL,
        ),
        **dict.fromkeys(
            listed("pbkdf2_hmac PBKDF2 PBKDF2HMAC hashpw generate_private_key newkeys"), ()
        ),
        "random": MEMBER,
    },
    others=frozenset((Comparison,)),
)
