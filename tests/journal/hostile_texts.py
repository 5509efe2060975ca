"""Planted secrets and terminal tricks, for tests and for the long runs in bench/."""

import base64
import json
import random
from itertools import product
from typing import NamedTuple
from urllib.parse import quote

#: Put together here, so that no scanner takes this file for a leak.
GITHUB = "ghp_" + "A1b2C3d4E5" * 4
MODEL = "sk-" + "ant-api03-" + "Zx9Wv8Ut7S" * 5
JWT = ".".join(
    ("eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P")
)
PEM_BODY = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + str(number) * 30 for number in range(8))
PEM = "-----BEGIN RSA " + f"PRIVATE KEY-----\n{PEM_BODY}\n-----END RSA PRIVATE KEY-----"
DATABASE_PASSWORD = "pa/ss+w0rd-of-db"

ENV = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/someone",
    "GIT_AUTHOR_NAME": "Ada Lovelace",
    "SSH_AUTH_SOCK": "/tmp/ssh-agent.sock",
    "DEPLOY_TOKEN": "correct horse/battery",
    "SERVICE_API_KEY": "k3y-with-plain-shape",
    "DB_PASSWORD": "sunshine",
    "QUOTED_SECRET": 'say "friend"\\now',
    "SIGNING_KEY": PEM,
    "INVISIBLE_SECRET": "zero\u200bwidth\x1b[0m",
    "UMLAUT_PASSWD": "schlüssel-für-öl",
    "DATABASE_URL": f"postgres://app:{quote(DATABASE_PASSWORD, safe='')}@db/app",
}


class Planted(NamedTuple):
    """A text, and what of it must be seen nowhere."""

    text: str
    secret: str


def _planted() -> tuple[Planted, ...]:
    token, key, quoted = ENV["DEPLOY_TOKEN"], ENV["SERVICE_API_KEY"], ENV["QUOTED_SECRET"]
    in_base64 = base64.b64encode(f"user:{token}".encode()).decode()
    return (
        Planted(f"using {token} now", token),
        Planted(f"key is {key}.", key),
        Planted(f"it was {ENV['DB_PASSWORD']} all along", ENV["DB_PASSWORD"]),
        Planted(f"GET /?q={quote(token, safe='')}", quote(token, safe="")),
        Planted(f"blob {base64.b64encode(key.encode()).decode()}", base64.b64encode(key.encode()).decode()),
        Planted(f"blob {in_base64}", in_base64[10:-6]),
        Planted(json.dumps({"said": quoted}), json.dumps(quoted)[1:-1]),
        Planted(json.dumps({"said": ENV["UMLAUT_PASSWD"]}), json.dumps(ENV["UMLAUT_PASSWD"])[1:-1]),
        Planted(f"odd {ENV['INVISIBLE_SECRET']} one", "width"),
        Planted(f"hex {key.encode().hex()}", key.encode().hex()),
        Planted("    " + PEM_BODY.splitlines()[3], PEM_BODY.splitlines()[3]),
        Planted(f"cannot log in with {DATABASE_PASSWORD}", DATABASE_PASSWORD),
        Planted(f"pushing with {GITHUB}", GITHUB),
        Planted("github_pat_" + "11ABCDEFG0" * 4, "11ABCDEFG0" * 4),
        Planted(f"export KEY={MODEL}", MODEL),
        Planted(f'{{"log": "line\\n{MODEL}"}}', MODEL),
        Planted("xoxb" + "-123456789012-abcdefABCDEF", "123456789012-abcdefABCDEF"),
        Planted("id AKIA" + "IOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
        Planted("AIza" + "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"),
        Planted(f"jwt {JWT}", JWT[20:]),
        Planted(PEM, PEM_BODY[:40]),
        Planted(PEM[:200] + " [cut here]", PEM[60:190]),
        Planted(json.dumps({"key": PEM}), PEM_BODY[10:50]),
        Planted("Authorization: Bearer opaque-and-plain", "opaque-and-plain"),
        Planted("curl -H 'authorization: Basic dXNlcjpodW50ZXI='", "dXNlcjpodW50ZXI="),
        Planted("Bearer 0123456789abcdef", "0123456789abcdef"),
        Planted("Set-Cookie: session=s3ss10n; Path=/", "s3ss10n"),
        Planted("clone https://bob:hunter2@example.test/repo", "hunter2"),
        Planted("redis://:p/w1+x@cache:6379", "p/w1+x"),
        Planted('{"user": "bob", "password": "tr\\"0ub4dor"}', "0ub4dor"),
        Planted("db:\n  password: correcthorse\n  port: 1", "correcthorse"),
        Planted("MYSQL_PASSWORD=pass!word", "pass!word"),
        Planted("login --password hunter22 --user bob", "hunter22"),
        Planted("curl -u bob:s3cretly http://x", "s3cretly"),
        Planted("GITHUB\x1b[32m " + GITHUB[:9] + "\x1b[0m" + GITHUB[9:], GITHUB[9:]),
        Planted("x" * 4080 + GITHUB + "y" * 9000, GITHUB[:16]),
        Planted("x" * 200_000 + f" {MODEL} " + "y" * 4080, MODEL[-10:]),
    )


PLANTED = _planted()


def terminal_tricks(count: int, seed: int = 1) -> list[str]:
    """Strings that steer a terminal or fool a reader, the first 200 from a fixed list, then mixed at random."""
    openings = (
        "\x1b[",
        "\x9b",
        "\x1b]",
        "\x9d",
        "\x1bP",
        "\x90",
        "\x1b_",
        "\x9f",
        "\x1b^",
        "\x9e",
        "\x1bX",
        "\x98",
    )
    bodies = ("31m", "2J", "0;title", "8;;http://x", "52;c;ZXZpbA==", "?1049h", "1;1H\nmore", "")
    endings = ("", "\x07", "\x1b\\", "\x9c")
    fixed = [f"a{opening}{body}{ending}b" for opening, body, ending in product(openings, bodies, endings)]
    invisible = (
        "\u202e\u202d\u2066\u2069\u200b\u200d\u200f\ufeff\u2060\u00ad\u3164\ud800\udfff\U000e0041\u2028\x85"
    )
    fixed += [f"rm{character}-rf" for character in invisible]
    fixed += ["ok" + "\t" * 40 + "; rm -rf /", "ok" + " " * 300 + "; rm -rf /", "ok" + " \t" * 60 + "evil"]
    fixed += [
        "safe\rEVIL",
        "12\x08\x08rm",
        "\x1b",
        "\x1b\x1b[31m[31m",
        "\x1bc",
        "\x1b(0",
        "\x1b#8",
        "bell\x07",
        "\x7f",
        "\x00",
    ]
    pick = random.Random(seed)
    alphabet = [
        "\x1b",
        "[",
        "]",
        "\\",
        "m",
        ";",
        "0",
        "\n",
        "\t",
        " ",
        "é",
        "漢",
        "\ufe0f",
        *invisible,
        *openings,
        *endings,
    ]
    while len(fixed) < count:
        fixed.append("".join(pick.choices(alphabet, k=pick.randint(1, 40))))
    return fixed[: max(count, 0)] if count >= 200 else pick.sample(fixed, count)


def unsafe_characters(text: str) -> list[str]:
    """What must never reach a terminal."""
    return [
        character
        for character in text
        if (ord(character) < 0x20 and character not in "\n\t")
        or 0x7F <= ord(character) <= 0x9F
        or "\u200b" <= character <= "\u200f"
        or "\u2028" <= character <= "\u202e"
        or "\u2060" <= character <= "\u206f"
        or "\ud800" <= character <= "\udfff"
        or "\U000e0000" <= character <= "\U000e0fff"
        or character in "\u00ad\u061c\u3164\ufeff"
    ]
