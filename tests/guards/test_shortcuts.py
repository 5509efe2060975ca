"""What guards do to be quick changes nothing that they say."""

import os
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from hookline.guards.paths import _real  # pyright: ignore[reportPrivateUsage] what it is held to
from hookline.guards.policy import policy_of, without_lookaround
from hookline.guards.runner import GuardRunner
from hookline.model.payloads import ToolCall
from hookline.model.scene import Scene
from tests.every import every

SECRETS = policy_of("secrets-read")
_PIECES = (
    *(secret.example for secret in SECRETS.secrets), "/", "/srv/app/", "src/", "x.pub", ".ssh", "id_rsa", "example.env",
    ".env.example", "KEY.PEM", "server.key", "a.pub.key", "~", "..", "README.md", "\n", "\u212a", "é", "\0", "*", ".e*",
)  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=4), min_size=1, max_size=4).map("".join))
def test_no_secret_is_passed_over(path: str) -> None:
    if any(re.search(secret.path, path, re.IGNORECASE) for secret in SECRETS.secrets):
        assert SECRETS.may_be_secret(path)


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
    for name in (
        "real/file", "link/file", "link/inner/x", "real/back/link/file", "dangling", "dangling/x", "loop", "loop/x",
        "none/x/y", "real/file/below", "real", "link", "link/none/x", "x" * 300,
    ):  # fmt: skip
        path = f"{tmp_path}/{name}"
        assert _real(path) == os.path.realpath(path), name
    assert _real("/") == "/"
    assert _real("/a\0b") == "/a\0b"


def test_a_call_that_was_changed_in_place_is_read_again() -> None:
    runner, scene = GuardRunner(), Scene(cwd="/p", project_dir="/p")
    call = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
    assert runner.verdict("force-push", (), call, scene) is None
    call.tool_input["command"] = "git push --force"
    assert runner.verdict("force-push", (), call, scene) is not None
    nested = ToolCall(tool_name="MultiEdit", tool_input={"file_path": "/p/a", "edits": [{"old_string": "a"}]})
    assert runner.verdict("write-outside-project", (), nested, scene) is None
    nested.tool_input["file_path"] = "/etc/passwd"
    assert runner.verdict("write-outside-project", (), nested, scene) is not None
