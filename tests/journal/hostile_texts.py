"""Planted secrets and terminal tricks, for tests and for the long runs in bench/."""

import base64
import json
import random
import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple
from urllib.parse import quote

from hookline.journal.secret_formats import CONTEXTS, TOKEN_FORMATS

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


_MADE_UP = {"": "MadeUp0Example1", "x": "0badc0de", "A": "MADEUP01", "d": "2345678901"}


def made_up(example: str) -> str:
    """An example of `secret_formats` as it would be seen."""
    return re.sub(
        r"\{([xAd]?)(\d+)\}",
        lambda found: (_MADE_UP[found[1]] * int(found[2]))[: int(found[2])],
        example.replace("·", ""),
    )


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


_AROUND = ("see {}, ok", "{}", '{{"log": "x\\n{}"}}', "curl '{}'", "https://a.test/{}", "x=%20{}&y")


def _of_formats(around: Sequence[str]) -> Iterator[Planted]:
    """Every token in the middle of something; every context with its secret."""
    for row in TOKEN_FORMATS:
        token = made_up(row.example)
        yield from (Planted(text.format(token), token[-12:]) for text in around)
    for context in CONTEXTS:
        before, secret, after = in_context(context.example)
        yield Planted(before + secret + after, secret)


def in_context(example: str) -> tuple[str, str, str]:
    """The text before a secret, the secret, and the text after it."""
    before, _, rest = made_up(example).partition("«")
    secret, _, after = rest.partition("»")
    return before, secret, after


PLANTED_FORMATS = tuple(_of_formats(_AROUND))
#: Each format once.
EACH_FORMAT = tuple(_of_formats(_AROUND[:1]))
PLANTED = _planted()


#: Texts that look a little like secrets and must stay as they are.
HARMLESS = (
    "commit 3f786850e387550fdab836ed7e6dc881de23001b (HEAD -> main, origin/main)",
    "git cherry-pick 3F786850E387550FDAB836ED7E6DC881DE23001B && git show 3f78685:src/app.py",
    "index 3f786850e387..89e6c98d92887913cadf06b2adb97f26cde4849b 100644",
    "id 123e4567-e89b-12d3-a456-426614174000 and 123E4567-E89B-12D3-A456-426614174000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
    "mkdir -p build/out && cp -p a.txt b.txt && tar -xpf a.tar -C /tmp",
    "ssh -p 2222 host; scp -P 2222 a host:; docker run -p 8080:80 -e TERM=xterm nginx; nc -p 99 host",
    "ps -p 1234; grep -p x; rsync -p a b; install -p x y; patch -p1 < fix.diff; kubectl port-forward -p x",
    "psql -p 5432 -U app; redis-cli -p 6379 ping; mysql -P 3306 -u root -p shop; mongosh --port 27017",
    "python -m pytest -p no:cacheprovider -k password tests/test_login.py::test_password_reset",
    "curl -u $USER:$PASS https://example.test; curl -b cookies.txt https://example.test; curl -sSL -o a https://x.test",
    "docker login --password-stdin; docker login -u bob -p $TOKEN; az login; gh auth login --with-token < f",
    "docker run -u 1000:1000 image; chown -R 1000:1000 .; id -u bob",
    "export PASS; PGPASSWORD=$PGPASSWORD psql; DB_PASS=${DB_PASS:-} make; token=$(cat f)",
    "--password is required; pass --password to log in; use --password-file; --pass-through; tests --passed",
    "pass=12 fail=3; passed: 120; first_pass_time=123; bypass=true; compass: north; PASS: test_login (0.01s)",
    "PWD=/home/someone/src OLDPWD=/tmp",
    "numpy==1.26.4 react@18.3.1 @types/node@20.11.5 left-pad-1.3.0.tgz 2.0.0-rc.1+build.5",
    "pip install torch==2.3.0+cu121 --index-url https://download.example.test/whl/cu121",
    "https://example.test/watch?v=dQw4w9WgXcQ&list=PL1234567890&code=404&key=name&page=2",
    "https://example.test/search?q=how+to+pass+a+token&session=morning",
    "/home/someone/src/Project2/Components/ButtonGroup/index.module.tsx",
    "src/main/java/org/example/MyVeryLongCamelCaseClassNameTest.java",
    "node_modules/.pnpm/react-dom@18.3.1_react@18.3.1/node_modules/react-dom/cjs/react-dom.development.js",
    "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B",
    "AbstractSingletonProxyFactoryBean2Builder and xmlHttpRequestFactoryProvider1Impl",
    "The key to a good token ring is a secret: patience. Basic authentication matters.",
    "s.addEventListener(x); self_test_for_everything_1; sk_something_else; re_compile_all_the_patterns_here",
    "task-management-system-2024-overview and risk-assessment-2024-q1-final, class sk-folding-cube-container",
    "Host: example.test\nX-Request-Id: 7f3c2b1a\nX-Forwarded-For: 10.0.0.1\nX-Frame-Options: SAMEORIGIN",
    "the machine login page asks for a password, the default login form too",
    "machine learning; default login shell; login form password field",
    "12345678:30 minutes; 2024-11-16T17:05:00Z; 192.168.0.1:8080; ::ffff:10.0.0.1; 00:1A:2B:3C:4D:5E",
    "dapi is a name, dp.state.now too, and key-value, key-1234, access-control-allow-origin, pat-a-cake",
    "def check(token: str, password: str | None = None) -> bool:",
    '{"input_tokens": 12345678, "max_tokens": 4096, "token_count": 1234567, "cache_key": null}',
    "echo hello | sudo tee /etc/motd; echo done | docker build -",
    "zip -r a.zip dir -x '*.pyc'; unzip -p a.zip f; 7z l a.7z; htpasswd -c file bob; openssl passwd -1",
)


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
    """Characters that must never reach a terminal."""
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
