"""Secrets never leave a log by way of its evidence line. Too much removed is no harm; too little is."""

import base64
from string import ascii_lowercase, ascii_uppercase, digits

import re2

from slipway.diagnosis.printing import printable

REMOVED = "<removed>"
_KEYS = (
    r"[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|credential|api[_-]?key|access[_-]?key|private[_-]?key|"
    r"certificate[_-]?key|client-key-data|client-certificate-data|certificate-authority-data|authorization|"
    r"cookie|signature|blob|kubeconfig)[\w-]*"
)
# One group in front is kept. Order matters: what is whole first.
_SECRETS = [
    re2.compile(pattern)
    for pattern in (
        r"()-----BEGIN .*",
        r"()\b[A-Za-z0-9+/=]*LS0tLS1CRUdJ[A-Za-z0-9+/=]*",
        r"(?i)(\b(?:bearer|basic|negotiate) +)[A-Za-z0-9._~+/=-]{8,}",
        r"(://)[^/\s@]*@",
        r"(\?)[^\s\"'>)]*=[^\s\"'>)]*",
        r"""(?i)(""" + _KEYS + r"""(?:\\*["'])?\s*[:=]\s*)(?:\\*"[^"\\]*\\*"?|\\*'[^'\\]*\\*'?|[^\s"',;]+)""",
        r"""(?i)(--[\w-]*(?:token|password|certificate-key|secret)[= ]+)\S+""",
        r"(?i)(net use .*|/p(?:assword)?:)\S+",
        r"()\b[a-z0-9]{6}(?:\.|(?i:%2e))[a-z0-9]{16}\b",
        r"()\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*",
        r"()\$(?:1|2[abxy]?|5|6|7|y|gy)\$[^\s:\"']+",
        r"()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"()\b(?:ghp|gho|ghs|glpat|xox[bp])[_-][A-Za-z0-9_-]{16,}",
        r"(sha256:[0-9a-f]{64}|(?:/[a-z0-9._~-]{1,64})+)|(?i:\b[0-9a-f]{44,}\b)|[A-Za-z0-9+/_-]{43}=|[A-Za-z0-9+/_-]{60,}={0,2}",
    )
]
_ANY = re2.compile("|".join(f"(?:{secret.pattern})" for secret in _SECRETS))
"""Most lines have none of them, and are done with one search."""
_BASE64 = re2.compile(r"[A-Za-z0-9+/_-]{22,}={0,2}")
_BASE32 = re2.compile(r"[A-Za-z2-7]*")
_DIGITS = str.maketrans(f"{ascii_uppercase}{ascii_lowercase}234567", f"{digits}{ascii_uppercase[:16]}" * 2 + "QRSTUV")
_AROUND = 4096
_REST = re2.compile(r"[^\s\"'\\{}]*")
_STANDARD = str.maketrans("-_", "+/")
_READABLE = re2.compile(r"[\x20-\x7e\t\r\n]{14}")


def scrubbed(line: str) -> str:
    """Give a line as it may be shown: without tokens, keys, passwords and control characters."""
    text = printable(line)
    if _ANY.search(text):
        for secret in _SECRETS:
            text = secret.sub(_kept, text)
    shown: str = _BASE64.sub(_readable, text)
    return shown


def secret_at(text: str, place: int) -> tuple[int, int]:
    """Give where the secret begins and ends that goes across a place in a text; the place itself where none does.

    A secret is looked for 4,096 characters before and behind the place; a word that is longer goes to its end.
    """
    start = max(place - _AROUND, 0)
    window = text[start : place + _AROUND]
    spans = sorted(matched.span() for secret in (*_SECRETS, _BASE64) for matched in secret.finditer(window))
    first = last = 0
    # What overlaps goes together.
    for begin, end in spans:
        if begin < last:
            last = max(last, end)
        elif first < place - start < last:
            break
        else:
            first, last = begin, end
    if not first < place - start < last:
        return place, place
    return start + first, start + last if last < len(window) else _REST.match(text, start + last).end()


def _readable(matched: "re2._Match") -> str:
    """Remove what holds readable text in base64 or base32, as a token or a command to join. Words do not, by chance."""
    word: str = matched.group(0)
    letters = word.rstrip("=").translate(_STANDARD)
    for start in range(4):
        part = letters[start : len(letters) - (len(letters) - start) % 4]
        if _READABLE.search(base64.b64decode(part).decode("latin-1")):
            return REMOVED
    return REMOVED if _BASE32.fullmatch(letters) and _holds_text_in_base32(letters) else word


def _holds_text_in_base32(letters: str) -> bool:
    """Whether a word does, at any of eight places of base32's groups; it is decoded once, as a number."""
    number = int(letters.translate(_DIGITS), 32)
    texts = ((number >> bits).to_bytes(len(letters), "big").decode("latin-1") for bits in range(8))
    return _READABLE.search("\0".join(texts)) is not None


def _kept(matched: "re2._Match") -> str:
    before: str = matched.group(1) or ""
    return before if before == matched.group(0) else before + REMOVED
