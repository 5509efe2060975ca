"""Recognise secrets by the documents and lines of code that hold them: XML, YAML, JSON, SQL, settings of tools.

Patterns take linear time, as those of `secret_shapes`: group 1 is kept, the rest of the match is redacted.
"""

import re
from collections.abc import Iterator
from functools import cache

from hookline.journal.redaction import MARK

#: Words in the name of a secret.
_NAMED = (
    r"[\w.-]{0,40}?(?:passw(?:or)?d|passphrase|passcode|secret|credential|token(?!s|iz)|pwd"
    r"|(?:api|access|private|preshared|signing|encryption|master|auth)[_-]?key)[\w.-]{0,40}+"
)
#: Not a secret: a variable, a placeholder, a word of the language.
_NOT_ONE = (
    r"(?!\$|\{\{|<|\*\*\*|%\w|\[redacted\]|(?:null|none|nil|true|false|undefined|string|str|bytes|required|optional)"
    r"(?![\w-]))"
)
_WITH_DIGIT = r"(?=[^\s\"'<]{0,64}\d)"
_GAP = r"[ \t]{0,4}+"
_IS = rf"{_GAP}[:=]{_GAP}"
_QUOTE = r"\\?[\"']"
#: A word, and a text in quotes, that is no placeholder.
_VALUE = _NOT_ONE + r"[^\s\"'\\]{3,}+"
_TEXT = _NOT_ONE + r"[^\"'\n]{3,}+"
_ARGUMENTS = r"\b[^\n|;&]{0,200}?[ \t]"

_ELEMENT = rf"<(?:\w{{1,20}}+:)?{_NAMED}(?:[ \t][^<>\n]{{0,200}}+)?>\s{{0,40}}+"

#: Each with its hints, in lower case.
_PATTERNS: tuple[tuple[tuple[str, ...], str], ...] = (
    # Elements and attributes of XML, and property lists
    (("</",), rf"({_ELEMENT}){_NOT_ONE}[^<\n]{{3,}}+(?=\s{{0,40}}</)"),
    (("cdata",), rf"({_ELEMENT}<!\[CDATA\[)(?!\[redacted\])[^\]\n]{{3,}}+"),
    (("</",), rf"(<\w{{1,40}}+[ \t](?:key|name)=[\"']{_NAMED}[\"'][^<>\n]{{0,100}}>){_NOT_ONE}[^<\n]{{3,}}+(?=</)"),
    (("<string>",), rf"(<key>{_NAMED}</key>\s{{0,20}}+<string>){_NOT_ONE}[^<\n]{{3,}}+"),
    # A name and a value, in YAML, JSON and attributes
    (("value",), rf"(\b(?:name|key|id)(?:{_QUOTE})?{_IS}(?:{_QUOTE})?{_NAMED}(?:{_QUOTE})?[,;]?\s{{1,40}}+"
      rf"(?:{_QUOTE})?value(?:{_QUOTE})?{_IS}(?:{_QUOTE})?)" + _NOT_ONE + r"[^\s\"'\\,}]{3,}+"),
    (("value",), rf"(\b(?:name|key){_QUOTE}{_IS}{_QUOTE}{_NAMED}{_QUOTE}{_GAP},{_GAP}"
      rf"{_QUOTE}value{_QUOTE}{_IS}{_QUOTE})" + _VALUE),
    (("value",), (rf"([\"']value[\"']{_GAP}:{_GAP}[\"']){_VALUE}"
      rf"(?=[\"']{_GAP},{_GAP}[\"'](?:name|key)[\"']{_GAP}:{_GAP}[\"']{_NAMED}[\"'])")),
    (("default",), rf"(\bvariable[ \t][\"']{_NAMED}[\"'][ \t]{{0,4}}+\{{[^}}]{{0,400}}?\bdefault{_IS}[\"'])" + _TEXT),
    (('"""', "\'\'\'"),
      rf"(\b{_NAMED}{_GAP}={_GAP}(?:\"{{3}}|'{{3}})\s{{0,20}}+)(?!\[redacted\])[^\"'\s][^\"'\n]{{2,}}+"),
    # Lists, and JSON in texts of JSON
    (("[",), rf"(\b{_NAMED}s?(?:{_QUOTE})?{_IS}\[\s{{0,20}}+{_QUOTE}){_NOT_ONE}[^\]\n]{{3,2000}}(?<![\"'\s\\])"),
    (("\\\\",), rf"(\b{_NAMED}\\{{2,16}}+[\"']{_IS}\\{{2,16}}+[\"']){_VALUE}"),
    # A text on the lines below its name, in YAML
    (("|", ">"), (rf"(\b{_NAMED}[\"']?{_GAP}:{_GAP}[|>][+-]?{_GAP}\r?\n[ \t]{{1,40}}+)"
      r"(?!\[redacted\])[^\s][^\n]{2,}+")),
    # SQL
    (("identified",), (r"(\bidentified\s{1,8}+(?:with\s{1,8}+\w{1,40}+\s{1,8}+)?(?:by|as)"
      rf"(?:\s{{1,8}}+password)?\s{{1,8}}+[\"']){_TEXT}")),
    (("password",), rf"(\b(?:encrypted\s{{1,8}}+)?password\s{{1,8}}+(?:=\s{{0,8}}+)?[\"']){_TEXT}"),
    (("password",), rf"(\bpassword\s{{0,8}}+(?:=\s{{0,8}}+)?(?:N|\(\s{{0,4}}+)[\"']){_TEXT}"),
    (("pwd",), rf"(\bpwd[\"']?{_GAP}:{_GAP}[\"']){_TEXT}"),
    (("setuser",), r"(\bsetuser[ \t][^\n]{1,100}?[ \t]>)(?!\[redacted\])[^\s]{3,}+"),
    (("getconnection",),
      rf"(getConnection\({_GAP}[^\n,]{{1,200}}+,{_GAP}[\"'][^\"'\n]{{0,64}}+[\"']{_GAP},{_GAP}[\"']){_TEXT}"),
    # A line of ~/.pgpass, and hashes of passwords
    ((":5432:", ":*:"), r"(^(?:[^\s:]{1,200}+:)(?:5432|\*):[^\s:]{1,64}+:[^\s:]{1,64}+:)(?!\[redacted\])[^\s]{3,}+$"),
    (("$",), r"(\b[\w.-]{1,64}+:)\$(?:apr1|1|2[aby]|5|6|7|y|gy)\$[\w./$=,-]{20,}+"),
    # A name and a value as arguments, a pair of user and password, an object of JavaScript
    (("',", '",'), rf"([\"']{_NAMED}[\"']{_GAP},{_GAP}[\"']){_NOT_ONE}{_WITH_DIGIT}" + r"[^\"'\n]{6,}+"),
    (("auth",), rf"(\b(?:basic_?)?auth{_IS}(?:\w{{1,40}}+)?[(\[]{_GAP}[\"'][^\"'\n]{{1,64}}+[\"']{_GAP},{_GAP}[\"'])"
     + _TEXT),
    (("pass",), rf"(\bpass(?:wd)?[\"']?{_GAP}:{_GAP}[\"']){_NOT_ONE}" + r"[^\"'\n]{4,}+"),
    # A variable that is set without a sign of equality
    (("set ", "setx"), rf"((?:\bset[ \t]{{1,4}}+-\w{{1,6}}|\bsetx)[ \t]{{1,4}}+{_NAMED}[ \t]{{1,4}}+[\"']?){_VALUE}"),
    (("securestring",), rf"(ConvertTo-SecureString[ \t]{{1,4}}+(?:-String[ \t]{{1,4}}+)?[\"']){_TEXT}"),
    (("recovery", "backup"),
      (r"(\b(?:recovery|backup)[_ -]?codes?[\"']?[ \t]{0,4}+[:=]\s{0,8}+\[?\s{0,8}+)(?!\[redacted\])"
      r"[\"']?[\w-]{8,}+[\"']?(?:,\s{0,8}+[\"']?[\w-]{8,}+[\"']?)*+")),
    # npm, docker
    (("authident",), rf"(\bnpmAuthIdent[\"']?{_IS}[\"']?){_VALUE}"),
    (("_auth",), rf"((?<![\w-])_auth(?:Token)?[\"']?{_IS}[\"']?)" + r"(?!\$|\[redacted\])[^\s\"']{6,}+"),
    (("auth",), rf"([\"']auth[\"']{_GAP}:{_GAP}[\"'])" + r"[A-Za-z0-9+/]{8,}+={0,2}"),
    # Keys of WireGuard and Wi-Fi, of PuTTY, as JSON, and in base64
    (("preshared", "psk"), rf"(\b(?:preshared[_-]?key|psk){_IS}[\"']?){_NOT_ONE}" + r"[^\s\"']{8,}+"),
    (("private-lines",), rf"(\bPrivate-Lines:{_GAP}\d{{1,4}}+\s{{1,4}}+)" + r"(?:[A-Za-z0-9+/=]{8,}+\s{0,4}+)++"),
    (("kty",), rf"({_QUOTE}(?:d|p|q|dp|dq|qi|k){_QUOTE}{_GAP}:{_GAP}{_QUOTE})" + r"[A-Za-z0-9_-]{16,}+"),
    (("ls0tls1crudjti",), r"()LS0tLS1CRUdJTiB(?!DRVJUSUZJQ0FUR|QVUJMSUM)[A-Za-z0-9+/]{16,}+={0,2}"),
    # Arguments of programs
    (("from-literal",), rf"(--from-literal[ =][\"']?[\w.-]{{1,64}}+=){_VALUE}"),
    (("gh ",), rf"(\bgh[ \t](?:secret|variable)[ \t]set{_ARGUMENTS}(?:--body[ =]|-b[ =]?)[\"']?){_VALUE}"),
    (("secret", "sudo"),
      (r"(\b(?:echo|printf)[ \t]{1,4}+(?:-\w{1,4}+[ \t]{1,4}+|[\"']?%s(?:\\n)?[\"']?[ \t]{1,4}+)?[\"']?)"
      + _VALUE + r"(?=[\"']?[ \t]{0,4}+\|[^\n|]{0,60}?\bsecrets?[ \t:](?:set|put|create|versions|add))")),
    (("vault login", "bw login", "bw unlock", "lpass login"),
      rf"(\b(?:vault[ \t]login|bw[ \t](?:login[ \t][^\s]{{1,100}}+|unlock))[ \t]{{1,4}}+)(?!-|\w{{1,20}}=){_VALUE}"),
    (("--value", "--secret-string"),
      (rf"(\b(?:aws[ \t]ssm[ \t]put-parameter|az[ \t]keyvault[ \t]secret[ \t]set){_ARGUMENTS}"
      rf"--value[ =][\"']?)(?!file:){_VALUE}")),
    (("nmcli", "wifi"), rf"(\bnmcli{_ARGUMENTS}password[ \t]{{1,4}}+[\"']?){_VALUE}"),
    (("expect",),
      r"(\bsend[ \t]{1,4}+(?:--[ \t]{1,4}+)?[\"'])(?!\$|\[redacted\])[^\s\"'\\]{6,}+(?=\\[rn][\"'])"),
    (("redis-cli",), rf"(\bredis-cli{_ARGUMENTS}AUTH[ \t]{{1,4}}+(?:\w{{1,40}}+[ \t]{{1,4}}+(?=\S))?){_VALUE}"),
    (("influx",), rf"(\binflux{_ARGUMENTS}(?:-t|--token)[ =]{{1,2}}+[\"']?){_VALUE}"),
    (("lftp",), rf"(\blftp{_ARGUMENTS}-u{_GAP}[^\s,\"']{{1,64}}+,){_VALUE}"),
    (("curl",), rf"(\bcurl{_ARGUMENTS}(?:-E|--cert)[ =]{{0,2}}+[^\s:\"']{{1,200}}+:){_VALUE}"),
    (("net use",), r"(\bnet[ \t]use\b[^\n]{0,100}?\\\\[^\s]{1,200}+[ \t]{1,4}+)(?![/*])[^\s]{3,}+(?=[ \t]{1,4}+/user)"),
    (("chpasswd",), (r"(\b(?:echo|printf)[ \t][^\n|;&]{0,40}?[\"']?[\w.-]{1,32}+:)(?!\$)[^\s\"'|:]{3,}+"
      r"(?=[\"']?[ \t]{0,4}+\|[^\n]{0,20}chpasswd)")),
    (("pass ", "password "), r"((?<![\w-])-{1,2}[\w-]{0,20}?pass(?:word)?[ \t]{1,4}+[\"']?)"
     + _NOT_ONE + _WITH_DIGIT + r"[^\s\"'-][^\s\"']{2,}+"),
    # The rest of a token that is written in two parts
    (("[redacted]",), r"(\[redacted\])(?:\\\r?\n|\r?\n(?=[\w-]{0,200}\.[\w-]{20})|''|\"\")[\w.+/=-]{8,}+"),
)  # fmt: skip
_SETS = (
    r"\b(?:secrets?[ \t:](?:set|put|import)|config:set|config[ \t]set|env:set|env[ \t](?:set|add)"
    r"|variables?[ \t](?:set|--set))\b"
)
_ASSIGNED = r"((?<![\w$])[A-Za-z_]\w{0,63}+=[\"']?)(?!\$|\[redacted\])[^\s\"']{4,}+"
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_BODY = r"[A-Za-z0-9+/=\s\\]*+"
_OF_KUBERNETES = r"^[ \t]{0,40}+[\"']?kind[\"']?[ \t]{0,4}+:[ \t]{0,4}+[\"']?Secret\b"
_DATA = r"^([ \t]{0,40}+)[\"']?(?:data|stringData)[\"']?[ \t]{0,4}+:[ \t]{0,4}+\{?[ \t]{0,4}+$"
_IN_JSON = r"([\"'](?:data|stringData)[\"'][ \t]{0,4}+:[ \t]{0,4}+\{)([^{}\n]{0,20000}+)"
_ITEM = r"([\"'][\w.-]{1,128}+[\"'][ \t]{0,4}+:[ \t]{0,4}+[\"'])(?!\[redacted\])[^\"'\n]{3,}+"
_KIND_IN_JSON = r"[\"']kind[\"'][ \t]{0,4}+:[ \t]{0,4}+[\"']Secret[\"']"
_ENTRY = (
    r"^([ \t]{1,80}+[\"']?[\w.-]{1,128}+[\"']?[ \t]{0,4}+:[ \t]{1,4}+[\"']?)"
    r"(?![|>{]|\[redacted\])[^\s\"',]{3,}+"
)


def redact_documents(text: str) -> str:
    """Return the text without the secrets of its documents."""
    lowered = text.lower()
    for hints, source in _PATTERNS:
        if any(hint in lowered for hint in hints):
            text = _compiled(source).sub(rf"\g<1>{MARK}", text)
    if "secret" in lowered or ":set" in lowered or "env " in lowered:
        text = _by_lines(text)
    return _without_ends(text) if "-----end" in lowered else text


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE | re.MULTILINE | re.ASCII)


def _by_lines(text: str) -> str:
    """Redact `fly secrets set A=… B=…`, and the data of a Secret of Kubernetes."""
    if _compiled(_KIND_IN_JSON).search(text):
        item = _compiled(_ITEM)
        text = _compiled(_IN_JSON).sub(lambda found: found[1] + item.sub(rf"\g<1>{MARK}", found[2]), text)
    found = [_assigned(line) if _compiled(_SETS).search(line) else line for line in text.split("\n")]
    return "\n".join(_of_secret(found) if _compiled(_OF_KUBERNETES).search(text) else found)


def _assigned(line: str) -> str:
    return _compiled(_ASSIGNED).sub(rf"\g<1>{MARK}", line)


def _of_secret(lines: list[str]) -> Iterator[str]:
    indent: int | None = None
    for line in lines:
        start = _compiled(_DATA).match(line)
        if start is not None:
            indent = len(start[1])
        elif indent is not None and line.strip() and len(line) - len(line.lstrip()) <= indent:
            indent = None
        elif indent is not None:
            yield _compiled(_ENTRY).sub(rf"\g<1>{MARK}", line)
            continue
        yield line


def _without_ends(text: str) -> str:
    """Remove the body of a key whose first line is missing."""
    kept: list[str] = []
    done = 0
    for end in _compiled(_END).finditer(text):
        before = text[done : end.start()]
        # From behind, as far as it looks like a key.
        body = _compiled(_BODY).match(before[::-1])
        length = body.end() if body is not None else 0
        if len(before[len(before) - length :].strip()) >= 16:
            kept += (before[: len(before) - length], MARK)
            done = end.end()
    return "".join((*kept, text[done:])) if kept else text
