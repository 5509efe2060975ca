"""Test that guards' shortcuts do not change their decisions."""

import os
import re
import time
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hookline.guards.paths import _real  # pyright: ignore[reportPrivateUsage] what it is held to
from hookline.guards.runner import GuardRunner
from hookline.guards.spec import policy_of, without_lookaround
from hookline.model.payloads import ToolCall
from hookline.model.session_info import SessionInfo
from tests.every import every

SECRETS = policy_of("secrets-read")
_PIECES = (
    *(secret.example for secret in SECRETS.secrets), "/", "/srv/app/", "src/", "x.pub", ".ssh", "id_rsa", "example.env",
    ".env.example", "KEY.PEM", "server.key", "a.pub.key", "~", "..", "README.md", "\n", "\u212a", "é", "\0", "*", ".e*",
)  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=4), min_size=1, max_size=4).map("".join))
def test_no_secret_is_passed_over(path: str) -> None:
    found = [re.search(secret.path, path, re.IGNORECASE) is not None for secret in SECRETS.secrets]
    assert [secret.is_at(path) for secret in SECRETS.secrets] == found
    assert SECRETS.may_be_secret(path) or not any(found)


@every("secret", SECRETS.secrets)
def test_every_secret_may_be_one(secret: object) -> None:
    assert SECRETS.may_be_secret(getattr(secret, "example"))  # noqa: B009 a row of the table


@every(
    ("pattern", "wide"),
    [
        (r"a(?!b)c", "ac"),
        (r"(?:^|/)\.ssh/(?!.*\.pub$|config$)[^/]+", r"(?:^|/)\.ssh/[^/]+"),
        (r"(?<!\.pub)\.key$", r"\.key$"),
        (r"[(?!x)]\(?!", r"[(?!x)]\(?!"),
        (r"a(?=(?:b|\))[)\]])c", "ac"),
        (r"x\w[\w.-]", r"x[\w\x80-\x{10FFFF}][\w\x80-\x{10FFFF}.-]"),
        (r"(?>[^\0]*?(?:a|(?!x)b))[(?>]", r"(?:[^\0]*?(?:a|b))[(?>]"),
    ],
)
def test_a_pattern_without_lookaround_finds_no_less(pattern: str, wide: str) -> None:
    assert without_lookaround(pattern) == wide


def test_links_are_followed_as_realpath_does(tmp_path: Path) -> None:
    (tmp_path / "real/inner").mkdir(parents=True)
    (tmp_path / "real/file").write_text("x")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real/back").symlink_to("..")
    (tmp_path / "dangling").symlink_to("nowhere/else")
    (tmp_path / "loop").symlink_to("loop")
    known: dict[str, bool | None] = {}
    for name in (
        "real/file", "link/file", "link/inner/x", "real/back/link/file", "dangling", "dangling/x", "loop", "loop/x",
        "none/x/y", "real/file/below", "real", "link", "link/none/x", "x" * 300,
    ):  # fmt: skip
        path = f"{tmp_path}/{name}"
        assert _real(path, {}) == os.path.realpath(path), name
        # With what is known of directories that were looked at before.
        assert _real(path, known) == os.path.realpath(path), name
    assert _real("/", known) == "/"
    assert _real("/a\0b", known) == "/a\0b"


def test_a_call_that_was_changed_in_place_is_read_again() -> None:
    runner, info = GuardRunner(), SessionInfo(cwd="/p", project_dir="/p")
    given: dict[str, Any] = {"command": "ls"}
    call = ToolCall(tool_name="Bash", tool_input=given)
    assert runner.decision("force-push", (), call, info) is None
    given["command"] = "git push --force"
    assert runner.decision("force-push", (), call, info) is not None
    given = {"file_path": "/p/a", "edits": [{"old_string": "a"}]}
    nested = ToolCall(tool_name="MultiEdit", tool_input=given)
    assert runner.decision("write-outside-project", (), nested, info) is None
    given["file_path"] = "/etc/passwd"
    assert runner.decision("write-outside-project", (), nested, info) is not None


@every("end", ["", "é", "é/.env", "\n"])
def test_a_long_path_takes_no_longer_than_a_short_one(end: str) -> None:
    def seconds(length: int) -> float:
        path = "/" + "firefox/" * (length // 8) + end
        call = ToolCall(tool_name="Read", tool_input={"file_path": path})
        before = time.process_time()
        GuardRunner().decision("secrets-read", (), call, SessionInfo(cwd="/srv/app", project_dir="/srv/app"))
        return time.process_time() - before

    seconds(1000)  # compiled once
    # Squares would be 64 times as much.
    assert seconds(64_000) < 12 * (seconds(8000) + 0.01)


def test_a_path_that_is_long_before_it_is_shortened_is_read() -> None:
    call = ToolCall(tool_name="Read", tool_input={"file_path": "/a/.." * 2000 + "/srv/app/.env"})
    assert GuardRunner().decision(
        "secrets-read", (), call, SessionInfo(cwd="/srv/app", project_dir="/srv/app")
    )
