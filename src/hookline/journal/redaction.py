"""Secrets taken out of text: those this environment holds, and those that look like secrets.

Works on whole text; whoever shortens text does it afterwards, or half a key is left that nothing recognises.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from hookline.model.safe_text import printable

#: What stands where a secret stood.
MARK = "[redacted]"

#: The shortest beginning of a known secret that is taken out where text was cut off.
_SHORTEST_BEGINNING = 6


class Shape(Struct, frozen=True):
    """Text that looks like a secret, wherever it comes from."""

    #: Lower-case words without one of which the shape cannot be there.
    hints: tuple[str, ...]
    taken_out: Callable[[str], str]


class _Wanted(Struct, frozen=True):
    values: tuple[str, ...]
    shapes: tuple[Shape, ...]


class Redactor:
    """Built from an environment snapshot; what it looks for is worked out when first needed."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._wanted: _Wanted | None = None

    def redact(self, text: str, *, ends_early: bool = False) -> str:
        """The text without secrets. `ends_early`: it was cut off, so it may end in the first half of one."""
        if not text:
            return text
        wanted = self._wanted or self._find_out()
        values = wanted.values
        for value in values:
            if value in text:
                text = text.replace(value, MARK)
        if ends_early:
            text = _without_a_beginning(text, values)
        lowered = text.lower()
        for shape in wanted.shapes:
            for hint in shape.hints:
                if hint in lowered:
                    text = shape.taken_out(text)
                    break
        return text

    def _find_out(self) -> _Wanted:
        # Imported here: the patterns take milliseconds to compile, and many runs say nothing at all.
        from hookline.journal.secret_shapes import secret_shapes  # noqa: PLC0415 - see above

        self._wanted = wanted = _Wanted(secret_values(self._env), secret_shapes())
        return wanted


def _without_a_beginning(text: str, values: tuple[str, ...]) -> str:
    longest = 0
    for value in values:
        for length in range(min(len(value) - 1, len(text)), _SHORTEST_BEGINNING - 1, -1):
            if text.endswith(value[:length]):
                longest = max(longest, length)
                break
    return text[: len(text) - longest] + MARK if longest else text


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
#: The value says where something is or what kind it is, and hiding it everywhere would hide half of a text.
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
            found.update(form for form in _forms(secret) if len(form) >= _SHORTEST)
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


def _forms(secret: str) -> Iterator[str]:
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
            # Characters that also carry bits of what stands before or after are not the secret's own.
            end = (before + len(raw)) * 8 // 6
            yield text[-(-before * 8 // 6) : end]
