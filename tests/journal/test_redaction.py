import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.extending import Redactor
from hookline.journal.redaction import MARK, holds_a_secret
from hookline.journal.secret_formats import CONTEXTS, TOKEN_FORMATS, SecretContext, TokenFormat
from hookline.journal.secret_shapes import token_shape
from tests.every import every
from tests.journal.hostile_texts import (
    ENV,
    GITHUB,
    HARMLESS,
    JWT,
    MODEL,
    PEM,
    PLANTED,
    PLANTED_FORMATS,
    Planted,
    in_context,
    made_up,
)

_REDACTOR = Redactor(ENV)
_IN_ONE_TEXT = [planted for planted in PLANTED if "\x1b" not in planted.text]


@every("planted", _IN_ONE_TEXT)
def test_a_planted_secret_is_gone_and_the_mark_is_there(planted: Planted) -> None:
    redacted = _REDACTOR.redact(planted.text)
    assert planted.secret in planted.text
    assert planted.secret not in redacted
    assert MARK in redacted


@every("planted", _IN_ONE_TEXT)
def test_redacting_twice_changes_nothing_more(planted: Planted) -> None:
    once = _REDACTOR.redact(planted.text)
    assert _REDACTOR.redact(once) == once


def test_the_table_has_sixty_formats_and_more() -> None:
    assert len({row.name for row in TOKEN_FORMATS}) == len(TOKEN_FORMATS) >= 60


@every("row", TOKEN_FORMATS)
def test_a_token_is_recognised_by_its_own_row(row: TokenFormat) -> None:
    token = made_up(row.example)
    assert MARK in token_shape(row.pattern)(token)
    assert any(hint in token.lower() for hint in row.hints)
    assert max(len(word) for word in token.split()) >= row.shortest


@every("context", CONTEXTS)
def test_only_the_secret_is_taken_out_of_its_context(context: SecretContext) -> None:
    before, secret, after = in_context(context.example)
    assert _REDACTOR.redact(before + secret + after) == before + MARK + after


def test_no_format_is_seen_wherever_it_stands() -> None:
    seen = [planted for planted in PLANTED_FORMATS if planted.secret in _REDACTOR.redact(planted.text)]
    assert seen == []
    assert len(PLANTED_FORMATS) > 500


def test_no_format_is_redacted_twice() -> None:
    once = {_REDACTOR.redact(planted.text) for planted in PLANTED_FORMATS}
    assert [text for text in once if _REDACTOR.redact(text) != text] == []


@every("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert _REDACTOR.redact(text) == text


@every(
    "text",
    [
        "",
        "The key to a good token ring is a secret: patience. Basic authentication matters.",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b (HEAD -> main)",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        '{"input_tokens": 12345678, "max_tokens": 4096, "token_count": 1234567}',
        "tokens=200000 tokenizer: cl100k_base",
        "Unexpected token: identifier at line 3",
        "task-management-system-2024-overview and risk-assessment-2024-q1-final",
        "class sk-folding-cube-container",
        "http://localhost:8080/path?mail=a@b.c see https://example.test/@user/post",
        "docker run -u 1000:1000 image",
        "password=$PASSWORD token: ${TOKEN} --password <password> secret=None",
        "Ada Lovelace works in /home/someone with /tmp/ssh-agent.sock",
        "Cookie: the monster likes them",
        "Basic AAAAAAAAA, basic JavaScript, bearer of bad news",
        "authorization: required for everybody",
        "def check(token: str, password: str | None = None) -> bool:",
        "https://github.com/org/repo/blob/main/src/monkey.py#L10-L20",
    ],
)
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert _REDACTOR.redact(text) == text


@every(
    ("text", "redacted"),
    [
        ('{"password": "hunter22", "port": 1}', '{"password": "[redacted]", "port": 1}'),
        (r"{\"password\": \"hunter22\", \"a\": 1}", r"{\"password\": \"[redacted]\", \"a\": 1}"),
        ("{'api_key': 'abcd', 'b': 2}", "{'api_key': '[redacted]', 'b': 2}"),
        (
            "password=$ecret!23 secret=<3hearts token=none-of-yours",
            "password=[redacted] secret=[redacted] token=[redacted]",
        ),
        ("GET /?token=abcdef&x=1", "GET /?token=[redacted]&x=1"),
        ("https://u:p@ss@host/x", "https://[redacted]@host/x"),
        (f"a {PEM} b", "a [redacted] b"),
        (f"a {JWT} b", "a [redacted] b"),
        (f"{GITHUB},{MODEL}", "[redacted],[redacted]"),
        ("found '-----BEGIN " + "PRIVATE KEY-----' in x.py, line 3", "found '[redacted]' in x.py, line 3"),
    ],
)
def test_what_surrounds_a_secret_stays(text: str, redacted: str) -> None:
    assert Redactor({}).redact(text) == redacted


_WORDS = (
    "token password passwd passphrase db_pwd secret credential api_key access-key privatekey account_key signing_key "
    "encryption_key master_key auth_key x-amz-signature"
)


@every("word", _WORDS.split())
@every("before", ["", "x ", "İ "])
def test_every_word_for_a_secret_is_known_in_any_case(word: str, before: str) -> None:
    for name in (word, word.upper(), word.title()):
        assert (
            Redactor({}).redact(f"{before}{name}=abc {name}: abc123 ok")
            == f"{before}{name}={MARK} {name}: {MARK} ok"
        )


def test_a_signed_address_loses_its_signature() -> None:
    assert Redactor({}).redact("https://x/?a=1&sig=abcdef&b=2") == f"https://x/?a=1&sig={MARK}&b=2"


@pytest.mark.parametrize("kept", [6, 12, 20])
def test_the_first_half_of_a_known_secret_is_taken_from_the_end_of_cut_text(kept: int) -> None:
    secret = ENV["DEPLOY_TOKEN"]
    text = "and then " + secret[:kept]
    assert _REDACTOR.redact(text, ends_early=True) == "and then " + MARK
    assert _REDACTOR.redact(text) == text


@every(
    ("name", "value", "secret"),
    [
        ("GITHUB_TOKEN", "abcdefgh", True),
        ("API_TOKEN", "short", False),
        ("MYSQL_PWD", "whatever1", True),
        ("PWD", "/home/someone", False),
        ("AWS_SECRET_ACCESS_KEY", "abcdefgh1", True),
        ("GIT_AUTHOR_NAME", "Ada Lovelace", False),
        ("SSH_AUTH_SOCK", "/tmp/agent.1", False),
        ("AUTH_METHOD", "password-based", False),
        ("MAX_TOKENS", "200000000", False),
        ("SORT_KEY", "modified", False),
        ("SORT_KEY", "m0dified", True),
        ("MONKEYS", "bananas and more", False),
        ("npm_config__auth", "dXNlcjpwYXNz", True),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/a/key.json", False),
    ],
)
def test_a_variable_is_secret_by_its_name(name: str, value: str, secret: bool) -> None:
    assert holds_a_secret(name, value) is secret


@pytest.mark.unmeasured
@given(st.text())
def test_any_text_is_redacted_without_an_exception_and_only_once(text: str) -> None:
    once = _REDACTOR.redact(text)
    assert _REDACTOR.redact(once) == once


def test_an_environment_of_broken_strings_is_no_obstacle() -> None:
    redactor = Redactor({"A_TOKEN": "\udcff\ud800 broken", "B_SECRET": "nul\0in the middle"})
    assert redactor.redact("x \udcff\ud800 broken y") == f"x {MARK} y"


_HINTS = "token passw://bearer basic cookie eyJ sk- private key -- -u authorization sig= ghp_ "
_UNITS = [
    "sk-", "eyJ-", "eyJ.", "eyJaaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----'", "--",
    "--token ", "token", "token:", "token: a", 'token="\\', "token='", "authorization: ", "basic aaaaaaaa ",
    "mysql ", "mysql -p", "mysql -pa ", "curl -b a=", "htpasswd -b a ", "echo a |", "machine a login ", "?key=",
    "&pass=", "x-key: ", "-pass pass:", "--password ", "AAaa0", "a.b-c_", "0badc0de-", "ghp_", "docker login -p ",
    "cookie: a", "://", "://@", "://a:b/", "password    \n", " -u a:", "a", "\n", "\ntoken: a b", "\\", '\\"', "SG.",
]  # fmt: skip


@pytest.mark.unmeasured
@every("unit", _UNITS)
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    _REDACTOR.redact(_HINTS)
    small, large = (_seconds(_HINTS + unit * (size // len(unit))) for size in (8192, 8192 * 8))
    assert large < small * 8 * 6 + 0.5


def _seconds(text: str) -> float:
    start = time.thread_time()
    _REDACTOR.redact(text, ends_early=True)
    return time.thread_time() - start
