"""Removes secrets from text: those this environment holds, and text that looks like a secret.

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

_WORD_HINTS = ("token", "passw", "passphrase", "_pwd", "secret", "credential", "key", "signature", "sig=")
_VENDOR_HINTS = (
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "xapp-", "akia", "asia", "aiza",
    "ya29.", "gocspx-", "npm_", "pypi-", "hf_", "k_live_", "k_test_", "whsec_", "sg.", "dop_v1_", "shpat_",
    "shpss_", "shpca_", "shppa_", "age-secret-key-1",
)  # fmt: skip

#: Shapes of secrets, in the order in which they are applied: whole keys before the pairs and headers that hold them.
#: Each with its hints, in lower case: text without any of them cannot contain the shape.
SHAPE_HINTS: Mapping[str, tuple[str, ...]] = {
    "private key": ("private key",),
    "vendor key": _VENDOR_HINTS,
    "model key": ("sk-",),
    "jwt": ("eyj",),
    "authorization": ("authorization",),
    "bearer": ("bearer",),
    "basic": ("basic",),
    "cookie": ("cookie",),
    "userinfo": ("://",),
    "pair": _WORD_HINTS,
    "line": _WORD_HINTS,
    "flag": ("--",),
    "user flag": ("-u", "--user"),
}


class Redactor:
    """Built from an environment snapshot; what it looks for is prepared when it is first needed."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._values: tuple[str, ...] | None = None
        self._shapes: Mapping[str, Redact] = {}

    def redact(self, text: str, *, ends_early: bool = False) -> str:
        """The text without secrets. `ends_early`: it was truncated, so it may end in the first half of one."""
        if not text:
            return text
        if self._values is None:
            self._values = secret_values(self._env)
        for value in self._values:
            if value in text:
                text = text.replace(value, MARK)
        if ends_early:
            text = _without_cut_secret(text, self._values)
        lowered = text.lower()
        for shape, hints in SHAPE_HINTS.items():
            for hint in hints:
                if hint in lowered:
                    text = self._shape(shape)(text)
                    break
        return text

    def _shape(self, name: str) -> Redact:
        if not self._shapes:
            # Imported with the first hint: most texts have none.
            from hookline.journal.secret_shapes import secret_shapes  # noqa: PLC0415 - see above

            self._shapes = secret_shapes()
        return self._shapes[name]


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
#: Lines of a secret with several lines (a private key) are looked for one by one.
_SHORTEST_LINE = 20

# Sources, compiled by `re` when first needed: most environments have few names that come near one of them.
_HINTS = (
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
#: The value says where something is or what kind it is, and hiding it everywhere would make texts unreadable.
_NAMES_A_PLACE = (
    r"_(?:SOCK|FILE|PATH|DIR|HOME|COMMAND|NAME|TYPE|EMAIL|MODE|METHOD|URL|URI|HOST|ENDPOINT)$"
    r"|^GOOGLE_APPLICATION_CREDENTIALS$"
)
_IN_A_URL = r"://[^\s/?#@:]*:([^\s@]{8,})@"


def secret_values(env: Mapping[str, str]) -> tuple[str, ...]:
    """Everything to look for, longest first, so that no secret is found only by a part of it."""
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

        for password in re.findall(_IN_A_URL, value):
            yield password
            yield unquote(password)


def holds_a_secret(name: str, value: str) -> bool:
    if (
        len(value) < _SHORTEST
        or name in ("PWD", "OLDPWD")
        or not any(hint in name.upper() for hint in _HINTS)
    ):
        return False
    if re.search(_NAMES_A_PLACE, name, re.IGNORECASE):
        return False
    if re.search(_SAYS_SO, name, re.IGNORECASE):
        return True
    return re.search(_MAY_SAY_SO, name, re.IGNORECASE) is not None and not (
        value.isalpha() and value.islower()
    )


def secret_forms(secret: str) -> Iterator[str]:
    """A secret as it may appear in a text: as it is, escaped, encoded."""
    import json  # noqa: PLC0415 only for an environment that holds secrets
    from urllib.parse import quote, quote_plus  # noqa: PLC0415 the same

    yield secret
    yield printable(secret)
    yield quote(secret, safe="", errors="replace")
    yield quote_plus(secret, errors="replace")
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]
    raw = secret.encode("utf-8", "surrogatepass")
    yield raw.hex()
    yield raw.hex().upper()
    yield from _base64_forms(raw)


def _base64_forms(raw: bytes) -> Iterator[str]:
    """Base64 groups bytes by three, so the same secret looks different at each of three places in a text."""
    import base64  # noqa: PLC0415 only for an environment that holds secrets

    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(raw).decode().rstrip("=")
        for before in range(3):
            text = encode(b"\0" * before + raw).decode()
            # Characters that also carry bits of the bytes before or after are not part of the secret.
            end = (before + len(raw)) * 8 // 6
            yield text[-(-before * 8 // 6) : end]
