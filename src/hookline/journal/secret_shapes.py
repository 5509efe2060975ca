"""What secrets look like, whatever product they belong to.

Every pattern takes linear time, because hooks choose the text: it starts at a literal, or where its alphabet
starts; it repeats possessively (`++`, `{n,}+`), so nothing is tried twice; and what is optional around the
literal is bounded. Group 1 is kept, the rest of the match is redacted.
"""

import re
from collections.abc import Mapping
from functools import cache

from hookline.journal.redaction import MARK, Redact

#: Where a key may begin: not in the middle of a word, but right after an escaped newline.
_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"

_VENDOR_KEYS = (
    r"gh[pousr]_[A-Za-z0-9]{16,}+",
    r"github_pat_[A-Za-z0-9_]{16,}+",
    r"glpat-[A-Za-z0-9_-]{16,}+",
    r"xox[a-z]-[A-Za-z0-9-]{8,}+",
    r"xapp-[A-Za-z0-9-]{8,}+",
    r"(?:AKIA|ASIA)[0-9A-Z]{12,}+",
    r"AIza[A-Za-z0-9_-]{20,}+",
    r"ya29\.[A-Za-z0-9_-]{16,}+",
    r"GOCSPX-[A-Za-z0-9_-]{16,}+",
    r"npm_[A-Za-z0-9]{20,}+",
    r"pypi-[A-Za-z0-9_-]{32,}+",
    r"hf_[A-Za-z0-9]{20,}+",
    r"[srp]k_(?:live|test)_[A-Za-z0-9]{10,}+",
    r"whsec_[A-Za-z0-9+/=]{16,}+",
    r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+",
    r"dop_v1_[a-f0-9]{32,}+",
    r"shp(?:at|ss|ca|pa)_[a-f0-9]{16,}+",
    r"AGE-SECRET-KEY-1[0-9A-Z]{16,}+",
)
_MODEL_KEY = _START + r"()sk-(?=[A-Za-z_-]{0,48}[0-9])[A-Za-z0-9_-]{16,}+"

_B64 = "[A-Za-z0-9_-]"
_JWT = _START + rf"()eyJ{_B64}{{8,}}+(?:\.{_B64}{{4,}}+(?:\.{_B64}*+)?|\.?\Z)"

#: Up to the END line when there is one, else as far as it looks like a key. A body never holds five dashes,
#: so the search for END stops at the next BEGIN.
_PEM = (
    r"()-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:(?:[^-]++|-(?!----))*+-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\:,]*+)"
)

_SCHEMES = r"(?:bearer|basic|digest|token|negotiate|apikey|key|aws4-hmac-sha256)"
_AUTHORIZATION = (
    r"""(authorization\\?["']?\s{0,8}+[:=]\s{0,8}+\\?["']?)(?!\[redacted\])"""
    rf"""(?:{_SCHEMES}[ \t]{{1,8}}+(?!\[redacted\])[^\r\n"'\\]{{4,}}+|[^\s"'\\]{{16,}}+)"""
)
_BEARER = (
    r"""(\bbearer[\s:=]{1,4}+["']?)"""
    r"(?:(?=[A-Za-z._~+/=-]{0,64}[0-9])[A-Za-z0-9._~+/=-]{12,}+|[A-Za-z0-9._~+/=]{20,}+)"
)
_BASIC = r"(\bbasic\s{1,4}+)([A-Za-z0-9+/_-]{8,}+={0,2})"
_COOKIE = r"""(cookie\\?["']?\s{0,8}+[:=]\s{0,8}+\\?["']?)[^\s=;"'\\]{1,128}+=[^\r\n"'\\]++"""

#: Up to the last @ before the path; and passwords with a slash in them, unless it is a port and a path.
_USERINFO = (
    r"""(://)(?!\[redacted\]@)(?:(?:[^\s/?#@"'<>]*+@)++"""
    r"""|[^\s/?#@:"'<>]{0,128}+:(?!\d{1,5}(?:[/?#\s]|\Z))[^\s@"'<>:]{1,256}+@)"""
)

_WORDS = (
    r"(?:(token)(?!s|iz)|passw(?:or)?d|passphrase|_pwd|secret|credential"
    r"|(?:api|access|private|account|signing|encryption|master|auth)[_-]?key|x-amz-signature|[?&]sig(?==))"
)
#: Where one of them may begin, in lower case: starting with a literal each, they are found fast.
_LOWER_WORDS = (
    r"token|passw|passphrase|_pwd|secret|credential|x-amz-signature|\?sig=|&sig="
    r"|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|signing[_-]?key|encryption[_-]?key"
    r"|master[_-]?key|auth[_-]?key"
)
#: Not a secret: a variable, a placeholder, a word of the language, or (for tokens) a count of them.
_PLACEHOLDER = (
    r"""(?!\$[({]|\$\w{1,64}+(?=[\s"',;)}&/]|\Z)|\{\{|<[^>\s]{1,64}+>|\*\*\*|%\w{1,64}+%|\[redacted\]"""
    r"|(?:null|none|nil|true|false|undefined|string|str|bytes)(?![\w-]))"
    r"(?(2)(?!\d++(?:\.\d++)?(?![A-Za-z0-9_-])))"
)
_NAME_TAIL = r"""[\w.-]{0,40}+\\?["']?\]?"""
_BARE = r"""(?:[^\s"',;&\\]|\\(?![nrt"']))"""
_PAIR = (
    rf"({_WORDS}{_NAME_TAIL}[ \t]{{0,8}}+(?:=>|:=|[:=])\s{{0,8}}+"
    r"""(?:(?P<escaped>\\")|(?P<double>")|(?P<single>'))?+)"""
    rf"{_PLACEHOLDER}(?:"
    r"""(?(escaped)(?=[^"\r\n]{4})(?:[^"\\\r\n]++|\\(?!"))++"""
    r"""|(?(double)(?=(?:[^"\\\r\n]|\\.){4})(?:[^"\\\r\n]++|\\.)++"""
    r"""|(?(single)(?=(?:[^'\\\r\n]|\\.){4})(?:[^'\\\r\n]++|\\.)++"""
    rf"|(?:(?<==){_BARE}{{3,}}+|(?=[^\s\d]{{0,64}}\d){_BARE}{{6,}}+)))))"
)
#: `password: correcthorse`, alone on its line, as YAML and .properties files have it.
_LINE = (
    rf"(^[ \t]{{0,40}}+(?:-[ \t])?[\w.-]{{0,40}}?{_WORDS}[\w.-]{{0,40}}+[ \t]{{0,8}}+[:=][ \t]{{1,8}}+)"
    rf"{_PLACEHOLDER}[^\s\"',;]{{4,}}+(?=[ \t]{{0,8}}+\r?$)"
)
_FLAG = (
    rf"((?<![\w-])--(?=\w)[\w-]{{0,30}}?{_WORDS}(?!-file|-path)[\w-]{{0,20}}+[ \t]{{1,4}}+[\"']?)"
    rf"{_PLACEHOLDER}(?=[^\s\d]{{0,64}}\d)[^\s\"']{{4,}}+"
)
_USER_FLAG = (
    r"""((?:^|\s)(?:-u|--user)[ =]["']?[^\s:"']{1,64}+:)"""
    r"""(?!\d{1,9}+(?:[\s"']|$)|\$|\[redacted\])[^\s"']{3,}+"""
)


def secret_shapes() -> Mapping[str, Redact]:
    """What redacts each shape of `SHAPE_HINTS`."""
    any_case = re.IGNORECASE | re.MULTILINE
    return {
        "private key": _pattern(_PEM),
        "vendor key": _pattern(f"()(?:{'|'.join(_VENDOR_KEYS)})"),
        "model key": _pattern(_MODEL_KEY),
        "jwt": _pattern(_JWT),
        "authorization": _pattern(_AUTHORIZATION, any_case),
        "bearer": _pattern(_BEARER, any_case),
        "basic": _basic_credentials(),
        "cookie": _pattern(_COOKIE, any_case),
        "userinfo": _pattern(_USERINFO, keep_after="@"),
        "pair": _pairs(any_case),
        "line": _pattern(_LINE, any_case),
        "flag": _pattern(_FLAG, any_case),
        "user flag": _pattern(_USER_FLAG, any_case),
    }


@cache
def _compiled(source: str, flags: int) -> re.Pattern[str]:
    """Compiled when a hint was first found: most texts have none, and all patterns together take 20 ms."""
    return re.compile(source, flags)


def _pattern(source: str, flags: int = 0, keep_after: str = "") -> Redact:
    replacement = rf"\g<1>{MARK}{keep_after}"

    def redact(text: str) -> str:
        return _compiled(source, flags | re.ASCII).sub(replacement, text)

    return redact


def _pairs(flags: int) -> Redact:
    """Tries the slow pattern only where one of its words occurs: ten times faster on ordinary text."""

    def redact(text: str) -> str:
        pair, words = _compiled(_PAIR, flags | re.ASCII), _compiled(_LOWER_WORDS, 0)
        lowered = text.lower()
        if len(lowered) != len(text):  # a few capitals become two letters, and then places differ
            return pair.sub(rf"\g<1>{MARK}", text)
        kept: list[str] = []
        done = 0
        for word in words.finditer(lowered):
            if word.start() >= done and (found := pair.match(text, word.start())):
                kept += (text[done : found.end(1)], MARK)
                done = found.end()
        return "".join((*kept, text[done:])) if kept else text

    return redact


def _basic_credentials() -> Redact:
    def hidden(found: re.Match[str]) -> str:
        # "Basic JavaScript" is not a secret: only what decodes to user:password is.
        return found[1] + MARK if b":" in _decoded(found[2]) else found[0]

    return lambda text: _compiled(_BASIC, re.IGNORECASE | re.ASCII).sub(hidden, text)


def _decoded(text: str) -> bytes:
    import base64  # noqa: PLC0415 few texts say "basic"

    try:
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars=b"-_")
    except ValueError:
        return b""
