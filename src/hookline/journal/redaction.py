"""Remove secrets from text: those this environment holds, and text that looks like a secret.

Redact whole texts and truncate afterwards: part of a key is not recognised.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from hookline.model.safe_text import printable

#: Replaces a secret.
MARK = "[redacted]"

#: The shortest beginning of a known secret that is redacted at the end of truncated text.
_SHORTEST_BEGINNING = 6

Redact = Callable[[str], str]

_WORDS = (
    "token", "passw", "passphrase", "passcode", "_pass", "pass=", "pwd", "secret", "credential", "key", "signature",
    "sig=",
)  # fmt: skip

_OPTIONS = (
    " -p", " -u", " -a ", " -w", " -b", " -nb", " -cb", " -s", "-stdin", "-user", "--cookie", "aws_s", "/p:",
)  # fmt: skip

_DOCUMENTS = (
    "pass", "secret", "credential", "token", "pwd", "key", "auth", "identified", "psk", "-----end", "kty", "ls0tls1",
    "eyj", "literal", "influx", "lftp", "curl", "net use", ":set", "env ", "config set", "[redacted]", "private-lines",
    "getconnection", "setuser", "recovery", "backup", "securestring", "vault login", "bw login", "bw unlock", "--value",
    ":5432:", ":*:", "$apr1$", "$2", "$5$", "$6$", "$y$",
)  # fmt: skip

#: Shapes of secrets, in the order in which they are applied: whole keys before the pairs and headers that hold them.
#: Each with its hints, in lower case: text without any of them cannot contain the shape. (Tokens: `secret_formats`.)
SHAPE_HINTS: Mapping[str, tuple[str, ...]] = {
    "jwt": ("eyj",),
    "authorization": ("authorization",),
    "bearer": ("bearer",),
    "basic": ("basic",),
    "cookie": ("cookie",),
    "userinfo": ("://",),
    "query": ("?", "&"),
    "netrc": ("machine ", "default login"),
    "command": _OPTIONS,
    "header": ("x-", "-token:", "api-key", "apikey"),
    "pair": _WORDS,
    "line": _WORDS,
    "flag": ("--",),
    "password flag": ("passw", "passphrase", "-pass", "-pwd", "_pass"),
    "user flag": ("-u", "--user"),
    "document": _DOCUMENTS,
}
_HINTS = tuple(dict.fromkeys(hint for hints in SHAPE_HINTS.values() for hint in hints))
#: No token and no bare key is shorter.
_SHORTEST_TOKEN, _BARE_KEY = 12, 40
#: Few words are as long as this: tokens without a prefix are searched only in them.
_LONG_WORD = 26
_DIGITS = frozenset("0123456789")
_LEAST_CAPITALS = 4
#: Separators of parts in paths, addresses and JSON.
_SEPARATORS = dict.fromkeys(map(ord, "/\"'{}[](),;:=&?|<>"), " ")


class Redactor:
    """A redactor for an environment snapshot; its search is prepared when first needed."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._values: tuple[str, ...] | None = None
        self._shapes: dict[str, Redact] = {}
        #: Texts known to need no change, and names by what is kept of them (`RunCleaner`): journals share both.
        self.known_clean: set[str] = {""}
        self.clean_names: dict[str, str] = {}

    def redact(self, text: str, *, ends_early: bool = False) -> str:
        """Return the text without secrets. `ends_early`: it was truncated, so it may end in the first half of one."""
        if not text:
            return text
        text = self._without_values(text, ends_early=ends_early)
        if "PRIVATE KEY" in text:
            text = self._shape("private key")(text)
        if any(map(_may_be_random, set(text.translate(_SEPARATORS).split()))):
            text = self._without_tokens(text)
        lowered = text.lower()
        if found := {hint for hint in _HINTS if hint in lowered}:
            for shape, hints in SHAPE_HINTS.items():
                if not found.isdisjoint(hints):
                    text = self._shape(shape)(text)
        return text

    def _without_values(self, text: str, *, ends_early: bool) -> str:
        if self._values is None:
            self._values = secret_values(self._env)
        for value in self._values:
            if value in text:
                text = text.replace(value, MARK)
        return _without_cut_secret(text, self._values) if ends_early else text

    def _without_tokens(self, text: str) -> str:
        """Remove texts that are secrets in any context. Only words as long as a token are searched."""
        from hookline.journal.secret_formats import formats_in  # noqa: PLC0415 - many texts have no such word

        words = {word for word in text.split() if len(word) >= _SHORTEST_TOKEN}
        longest = max(map(len, words), default=0)
        joined = " ".join(words)
        long = " ".join([word for word in words if len(word) >= _LONG_WORD])
        for pattern, shortest in formats_in(joined.lower(), longest):
            shape, place = self._shape(pattern), long if shortest >= _LONG_WORD else joined
            if shape(place) != place:
                text = shape(text)
        # A key without a prefix has capitals in it, and most long paths have none.
        if longest >= _BARE_KEY and not long.islower() and self._shape("bare key")(long) != long:
            text = self._shape("bare key")(text)
        return text

    def _shape(self, name: str) -> Redact:
        """Return the function that redacts a shape by its name, or a token by its pattern."""
        if not self._shapes:
            # Imported with the first hint: most texts have none.
            from hookline.journal.secret_shapes import secret_shapes  # noqa: PLC0415 - see above

            self._shapes = secret_shapes()
        known = self._shapes.get(name)
        if known is None:
            from hookline.journal.secret_shapes import token_shape  # noqa: PLC0415 - as above

            known = self._shapes[name] = token_shape(name)
        return known


def _may_be_random(part: str) -> bool:
    """Return False for parts without a digit and with few capitals: tokens are random."""
    return len(part) >= _SHORTEST_TOKEN and (
        not _DIGITS.isdisjoint(part)
        or (not part.islower() and sum(map(str.isupper, part)) >= _LEAST_CAPITALS)
    )


def _without_cut_secret(text: str, values: tuple[str, ...]) -> str:
    longest = 0
    for value in values:
        for length in range(min(len(value) - 1, len(text)), _SHORTEST_BEGINNING - 1, -1):
            if text.endswith(value[:length]):
                longest = max(longest, length)
                break
    return text[: len(text) - longest] + MARK if longest else text


# The secrets an environment holds, in every form in which they turn up in text

_SHORTEST = 8
#: The lines of a multi-line secret (a private key) are searched one by one.
_SHORTEST_LINE = 20

# Sources, compiled by `re` when first needed: most environments have few names that come near one of them.
_NAME_HINTS = (
    "TOKEN",
    "SECRET",
    "PASS",
    "CREDENTIAL",
    "KEY",
    "COOKIE",
    "PWD",
    "PAT",
    "JWT",
    "AUTH",
    "PRIVATE",
    "DSN",
    "SIGN",
)
_SAYS_SO = (
    r"TOKEN(?!S|IZ)|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|APIKEY|COOKIE|_PWD$|(?:^|_)(?:PAT|JWT|PASS)$"
)
#: Words that also name harmless things; a value that is one plain word is then left alone.
_MAY_SAY_SO = (
    r"(?:^|_|ACCESS|PRIVATE|SIGNING|MASTER)KEYS?(?=_|$)"
    r"|(?:^|_)(?:AUTH|AUTHORIZATION|PRIVATE|DSN|SIGNATURE)(?=_|$)"
)
#: The value is a path or a kind of thing, and hiding it everywhere would make texts unreadable.
_NAMES_A_PLACE = (
    "_SOCK", "_FILE", "_PATH", "_DIR", "_HOME", "_COMMAND", "_NAME", "_TYPE", "_EMAIL", "_MODE", "_METHOD", "_URL",
    "_URI", "_HOST", "_ENDPOINT",
)  # fmt: skip
#: Variables of nearly every process, which only look as if they held a secret.
_PLACES = frozenset(("PWD", "OLDPWD", "PATH", "GOOGLE_APPLICATION_CREDENTIALS"))
_IN_A_URL = r"://[^\s/?#@:]*:([^\s@]{8,})@"


def secret_values(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return all texts to search for, longest first, so that no secret is found only by a part of it."""
    found: set[str] = set()
    for name, value in env.items():
        for secret in _secrets_of(name, value.strip()):
            found.update(form for form in secret_forms(secret) if len(form) >= _SHORTEST)
    return tuple(sorted(found, key=lambda form: (-len(form), form)))


def _secrets_of(name: str, value: str) -> Iterator[str]:
    if holds_a_secret(name, value):
        yield value
        if "\n" in value:
            yield from (line.strip() for line in value.splitlines() if len(line.strip()) >= _SHORTEST_LINE)
    if "://" in value and "@" in value:
        from urllib.parse import unquote  # noqa: PLC0415 few environments hold such a url

        for word in value.split():
            for password in re.findall(_IN_A_URL, word[: word.rfind("@") + 1]):
                yield password
                yield unquote(password)


def holds_a_secret(name: str, value: str) -> bool:
    upper = name.upper()
    if len(value) < _SHORTEST or upper in _PLACES or upper.endswith(_NAMES_A_PLACE):
        return False
    if not any(hint in upper for hint in _NAME_HINTS):
        return False
    if re.search(_SAYS_SO, name, re.IGNORECASE):
        return True
    return re.search(_MAY_SAY_SO, name, re.IGNORECASE) is not None and not (
        value.isalpha() and value.islower()
    )


def secret_forms(secret: str) -> Iterator[str]:
    """Yield the forms in which a secret may appear in a text: plain, escaped, encoded."""
    import json  # noqa: PLC0415 only for an environment that holds secrets
    from urllib.parse import quote, quote_plus  # noqa: PLC0415 the same

    yield secret
    yield printable(secret)
    quoted = quote(secret, safe="", errors="replace")
    yield quoted
    yield quote(quoted)
    yield quote_plus(secret, errors="replace")
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]
    raw = secret.encode("utf-8", "surrogatepass")
    yield from _escaped_forms(secret)
    yield raw.hex()
    yield raw.hex().upper()
    yield raw.hex(" ")
    yield raw.hex(":")
    yield "".join(f"\\x{byte:02x}" for byte in raw)
    yield secret[::-1]
    yield from _base64_forms(raw)


def _escaped_forms(secret: str) -> Iterator[str]:
    """Yield the secret as pages, programs and shells escape characters that are not letters or digits."""
    from html import escape  # noqa: PLC0415 only for an environment that holds secrets

    yield escape(secret)
    yield escape(secret, quote=False)
    for form in (
        "&#{0};",
        "&#x{0:x};",
        "&#x{0:X};",
        "\\x{0:02x}",
        "\\x{0:02X}",
        "\\u{0:04x}",
        "\\u{0:04X}",
        "\\{0:03o}",
        "\\{1}",
        "'{1}'",
        '"{1}"',
        "={0:02X}",
        "\\\\u{0:04x}",
    ):
        yield "".join(each if each.isalnum() else form.format(ord(each), each) for each in secret)


def _base64_forms(raw: bytes) -> Iterator[str]:
    """Yield the base64 forms of a secret: base64 groups bytes by three, so its position changes how it looks."""
    import base64  # noqa: PLC0415 only for an environment that holds secrets

    yield base64.b32encode(raw).decode().rstrip("=")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(raw).decode().rstrip("=")
        for before in range(3):
            text = encode(b"\0" * before + raw).decode()
            # Characters that also carry bits of the bytes before or after are not part of the secret.
            end = (before + len(raw)) * 8 // 6
            yield text[-(-before * 8 // 6) : end]
