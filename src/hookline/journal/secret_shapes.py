"""Recognise the shapes of secrets, whatever product they belong to.

Every pattern takes linear time, because hooks choose the text: it starts at a literal, or where its alphabet
starts; it repeats possessively (`++`, `{n,}+`), so nothing is tried twice; and what is optional around the
literal is bounded. Group 1 is kept, the rest of the match is redacted.
"""

import re
from functools import cache
from itertools import pairwise

from hookline.journal.redaction import MARK, Redact

#: Where a key may begin, after `{}`: not in the middle of a word, but right after an escaped character.
_AFTER = r"(?:(?<![A-Za-z0-9_-]{0})|(?<=\\[nrt]{0})|(?<=%[0-9A-Fa-f]{{2}}{0})|(?<=\\u[0-9A-Fa-f]{{4}}{0}))"
_START = _AFTER.format("")

#: Forty characters as random as the secret of an AWS access key: no path, name or hash looks like that.
_BARE_KEY = r"(?<![A-Za-z0-9/+=_-])[A-Za-z0-9/+_-]{40}(?![A-Za-z0-9/+=_-])"
_LEAST_CAPITALS, _LEAST_CHANGES, _MOST_DASHES = 6, 14, 4

_B64 = "[A-Za-z0-9_-]"
_JWT = _START + rf"()eyJ{_B64}{{8,}}+(?:\.{_B64}{{2,}}+(?:\.{_B64}*+){{0,3}}|\.?\Z)"

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
    r"(?:(token)(?!s|iz)|passw(?:or)?d|passphrase|passcode|_pwd|secret|credential"
    r"""|_pass(?=\\?["']?\]?[ \t]{0,8}+[:=])|(?<![\w-])pass(?==(?!\d{1,9}+(?!\w)))|;[ \t]?pwd(?==)"""
    r"|(?:api|access|private|account|signing|encryption|master|auth|admin)[_-]?key|x-amz-signature|[?&]sig(?==))"
)
#: Where one of them may begin, in lower case: starting with a literal each, they are found fast.
_LOWER_WORDS = (
    r"token|passw|passphrase|passcode|_pass(?![a-z])|pass=|_pwd|;[ \t]?pwd=|secret|credential|x-amz-signature"
    r"|\?sig=|&sig="
    r"|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|signing[_-]?key|encryption[_-]?key"
    r"|master[_-]?key|auth[_-]?key|admin[_-]?key"
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
    rf"(--(?<![\w-]--)(?=\w)[\w-]{{0,30}}?{_WORDS}(?!-file|-path)[\w-]{{0,20}}+[ \t]{{1,4}}+[\"']?)"
    rf"{_PLACEHOLDER}(?=[^\s\d]{{0,64}}\d)[^\s\"']{{4,}}+"
)
_USER_FLAG = (
    r"""((?:^|\s)(?:-u|--user)[ =]["']?[^\s:"']{1,64}+:)"""
    r"""(?!\d{1,9}+(?:[\s"']|$)|\$|\[redacted\])[^\s"']{3,}+"""
)

#: Not a password but a variable, a placeholder or an option.
_NOT_ONE = r"""(?!["']?(?:\$|<\w|\*\*\*|%\w{1,64}+%|\{\{|\[redacted\])|-)"""
_WORD = _NOT_ONE + r"""(?:"[^"\n]++"|'[^'\n]++'|[^\s"'|;&<>()]{2,}+)"""
#: Words of a sentence about the option.
_PROSE = (
    r"(?!(?:a|an|and|are|argument|can|cannot|field|file|flag|for|from|has|if|in|instead|is|may|must|not|of|on|option|or"
    r"|prompt|requires?|required|should|stdin|that|the|to|value|via|was|when|which|will|with)(?![\w-]))"
)
_PASSWORD_FLAG = (
    r"""(-(?<![\w-]-)-?[\w-]{0,30}?(?:password|passwd|passphrase|pass|pwd)(?:[ \t]{1,4}+|=))"""
    rf"{_PROSE}(?=.{{3}}){_WORD}"
)
_NETRC = (
    r"(\b(?:machine\s{1,8}+\S{1,200}+|default)\s{1,8}+login\s{1,8}+\S{1,128}+\s{1,8}+"
    r"(?:account\s{1,8}+\S{1,128}+\s{1,8}+)?password\s{1,8}+)(?!\$|\[redacted\])(?:\"[^\"\n]++\"|\S{2,}+)"
)
_QUERY = (
    r"""([?&](?:(?:pass|pwd)=|(?:key|code|auth|sid|session(?:_?id)?|access|jwt)=(?=[^\s&#]{0,64}\d)(?=[^\s&#]{16})))"""
    r"""(?!\$|\{|<|\[redacted\])[^\s&#"'<>]{1,}+"""
)
_HEADER = (
    r"""(\b(?:x-[a-z0-9-]{0,30}?(?:key|token|secret|auth)|private-token|job-token|circle-token|api-?key)"""
    rf"""\\?["']?[ \t]{{0,4}}+:[ \t]{{0,4}}+\\?["']?){_NOT_ONE}[^\s"'\\,;]{{6,}}+"""
)

#: Text between a program and the option that takes its password.
_ARGUMENTS = r"[^\n|;&]{0,200}?(?<=[ \t])"
_LOGINS = r"(?:(?:docker|podman|nerdctl|buildah|skopeo|oras|crane|az|oc|cf|helm registry|az acr)[ \t]login)"
#: Passwords in arguments of programs that have a short option for them, each with hints in lower case.
_COMMANDS = (
    (
        ("mysql", "mariadb", "mycli"),
        rf"(\b(?:mysql\w{{0,12}}+|mariadb[\w-]{{0,12}}+|mycli){_ARGUMENTS}-p){_WORD}",
    ),
    (("7z",), rf"(\b7z[ar]?\b{_ARGUMENTS}-p){_WORD}"),
    (("sshpass",), rf"(\bsshpass[ \t]{{1,4}}+(?:-v[ \t]{{1,4}}+)?-p[ \t]{{0,4}}+){_WORD}"),
    (
        ("mongo", "cqlsh", " login"),
        rf"(\b(?:mongo(?:sh|dump|restore|export|import)?|cqlsh|{_LOGINS})\b{_ARGUMENTS}-p[ \t=]{{0,4}}+){_WORD}",
    ),
    (("sqlcmd", "bcp "), rf"(\b(?:sqlcmd|bcp)\b{_ARGUMENTS}-P[ \t]{{0,4}}+){_WORD}"),
    (("zip ",), rf"(\b(?:un)?zip\b{_ARGUMENTS}-P[ \t]{{1,4}}+){_WORD}"),
    (("redis-cli",), rf"(\bredis-cli\b{_ARGUMENTS}-a[ \t]{{1,4}}+){_WORD}"),
    (
        ("ldap",),
        rf"(\bldap(?:search|modify|add|delete|passwd|whoami)\b{_ARGUMENTS}-w[ \t]{{0,4}}+){_WORD}",
    ),
    (
        ("smbclient", "rpcclient"),
        rf"(\b(?:smb|rpc)client\b{_ARGUMENTS}-U[ \t]{{0,4}}+[\"']?[^\s%\"']{{1,64}}+%){_WORD}",
    ),
    (
        ("curl",),
        rf"(\bcurl\b{_ARGUMENTS}(?:-[uU]|--proxy-user)[ \t=]{{0,2}}+[\"']?[^\s:\"'-][^\s:\"']{{0,64}}+:){_WORD}",
    ),
    (
        ("curl",),
        rf"(\bcurl\b{_ARGUMENTS}(?:-b|--cookie)[ \t=]{{0,2}}+[\"']?[^\s=;\"']{{1,64}}+=){_NOT_ONE}[^\n\"']{{2,}}+",
    ),
    (
        ("htpasswd",),
        rf"(\bhtpasswd[ \t]{{1,4}}+-\w{{0,6}}b\w{{0,6}}[ \t](?:\S{{1,200}}+[ \t]){{1,2}}?){_WORD}(?=[ \t]{{0,4}}+$)",
    ),
    (("pass:",), rf"(-pass(?:in|out)?[ \t=]{{1,4}}+[\"']?pass:){_WORD}"),
    (("freerdp",), rf"(\bx?freerdp\w{{0,8}}+{_ARGUMENTS}/p:){_WORD}"),
    (
        ("aws_secret_access_key ", "aws_session_token "),
        rf"(\baws_(?:secret_access_key|session_token)[ \t]{{1,4}}+){_WORD}",
    ),
    (
        ("sudo", " login"),
        rf"(\becho[ \t](?:-\w{{1,4}}+[ \t])?){_WORD}(?=[ \t]?\|[ \t]?(?:sudo\b[^\n|;&]{{0,40}}?-S|{_LOGINS}))",
    ),
)
_BY_HINT = tuple((hint, source) for hints, source in _COMMANDS for hint in hints)


def secret_shapes() -> dict[str, Redact]:
    """Return the redacting functions of `SHAPE_HINTS`, by shape."""
    any_case = re.IGNORECASE | re.MULTILINE
    return {
        "private key": _pattern(_PEM),
        "bare key": _bare_keys,
        "jwt": _pattern(_JWT),
        "authorization": _pattern(_AUTHORIZATION, any_case),
        "bearer": _pattern(_BEARER, any_case),
        "basic": _basic_credentials(),
        "cookie": _pattern(_COOKIE, any_case),
        "userinfo": _pattern(_USERINFO, keep_after="@"),
        "query": _pattern(_QUERY, any_case),
        "netrc": _pattern(_NETRC),
        "command": _commands,
        "header": _pattern(_HEADER, any_case),
        "pair": _pairs(any_case),
        "line": _pattern(_LINE, any_case),
        "flag": _pattern(_FLAG, any_case),
        "password flag": _pattern(_PASSWORD_FLAG),
        "user flag": _pattern(_USER_FLAG, any_case),
        "document": _documents,
    }


def token_shape(pattern: str) -> Redact:
    """Return the redacting function of a format of `secret_formats`."""
    if not pattern.startswith("<"):
        return _pattern(f"(){pattern}")
    literal = re.match(r"<((?:[\w/-]|\\\.)*)", pattern)
    first = literal[1] if literal is not None else ""
    # A pattern that begins with a literal is found much faster, so the text before it is checked afterwards.
    return _pattern(f"(){first}{_AFTER.format(first)}{pattern[1 + len(first) :]}")


def _documents(text: str) -> str:
    from hookline.journal.secret_documents import redact_documents  # noqa: PLC0415 with the first of its hints

    return redact_documents(text)


def _commands(text: str) -> str:
    lowered = text.lower()
    for source in {source: None for hint, source in _BY_HINT if hint in lowered}:
        text = _compiled(source, re.ASCII | re.MULTILINE).sub(rf"\g<1>{MARK}", text)
    return text


def _bare_keys(text: str) -> str:
    return _compiled(_BARE_KEY, re.ASCII).sub(
        lambda found: MARK if _looks_random(found[0]) else found[0], text
    )


def _looks_random(word: str) -> bool:
    """Return True if letters of both cases and digits are mixed as only chance mixes them."""
    kinds = [
        "A" if each.isupper() else "a" if each.islower() else "0" if each.isdigit() else "/" for each in word
    ]
    changes = sum(one != other for one, other in pairwise(kinds))
    return (
        min(kinds.count("A"), kinds.count("a")) >= _LEAST_CAPITALS
        and "0" in kinds
        and word.count("-") + word.count("_") < _MOST_DASHES
        and changes >= _LEAST_CHANGES
        and "".join(kinds).count("AA") > 1
    )


@cache
def _compiled(source: str, flags: int) -> re.Pattern[str]:
    """Compile a pattern when its hint is first found: most texts have none, and all patterns together take 20 ms."""
    return re.compile(source, flags)


def _pattern(source: str, flags: int = 0, keep_after: str = "") -> Redact:
    replacement = rf"\g<1>{MARK}{keep_after}"

    def redact(text: str) -> str:
        return _compiled(source, flags | re.ASCII).sub(replacement, text)

    return redact


def _pairs(flags: int) -> Redact:
    """Return a function that tries the slow pattern only where one of its words occurs: ten times faster on
    ordinary text.
    """

    def redact(text: str) -> str:
        pair, words = _compiled(_PAIR, flags | re.ASCII), _compiled(_LOWER_WORDS, 0)
        lowered = text.lower()
        if len(lowered) != len(text):  # a few capitals become two letters, which shifts positions
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
