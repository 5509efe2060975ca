"""Test which variables reach a hook."""

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from hookline.extending import Failed
from hookline.handlers.command import hook_environment, project_environment
from hookline.model.hook import Scope
from tests.every import every
from tests.handlers.calls import POLICY, call_with

SNAPSHOT = {
    "PATH": "/bin", "HOME": "/h", "LANG": "C", "LC_ALL": "C", "TMPDIR": "/t", "USER": "u", "LOGNAME": "u",
    "SHELL": "/bin/sh", "TZ": "UTC", "XDG_CACHE_HOME": "/c", "HOOKLINE_TRACE": "1", "TERM": "xterm",
    "EDITOR": "vi", "AWS_SECRET_ACCESS_KEY": "s", "HOOKLINE_API_KEY": "s", "XDG_TOKEN": "s", "PATHOLOGY": "p",
    "LD_PRELOAD": "x", "PYTHONPATH": "y", "OPENAI_API_KEY": "z", "PATH\n": "w",
}  # fmt: skip


def environment(scope: Scope, extra: Mapping[str, str]) -> Mapping[str, str] | Failed:
    hook = replace(call_with(None).hook, scope=scope, policy=replace(POLICY, project_env="minimal"))
    return hook_environment(SNAPSHOT, hook, extra)


@pytest.mark.parametrize("scope", ["project", "local"])
def test_hooks_from_a_repository_get_an_allow_list_without_secrets(scope: Scope) -> None:
    env = environment(scope, {})
    assert isinstance(env, dict)
    assert sorted(env) == [
        "HOME", "HOOKLINE_TRACE", "LANG", "LC_ALL", "LOGNAME", "NO_COLOR", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
        "USER", "XDG_CACHE_HOME",
    ]  # fmt: skip
    assert (env["TERM"], env["NO_COLOR"], env["PATH"]) == ("dumb", "1", "/bin")


@pytest.mark.parametrize("scope", ["managed", "user", "plugin", "flag", "session"])
def test_hooks_of_the_user_get_everything(scope: Scope) -> None:
    assert environment(scope, {"MORE": "1"}) == {**SNAPSHOT, "MORE": "1"}


def test_what_the_entry_itself_lists_is_given_even_if_it_looks_like_a_secret() -> None:
    env = project_environment(SNAPSHOT, {"API_KEY": "own", "TERM": "xterm"})
    assert isinstance(env, dict)
    assert (env["API_KEY"], env["TERM"]) == ("own", "xterm")


@every(
    "name",
    [
        "LD_PRELOAD",
        "LD_X",
        "DYLD_INSERT_LIBRARIES",
        "BASH_ENV",
        "ENV",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "GIT_DIR",
    ],
)
def test_what_makes_programs_load_code_is_refused_by_name(name: str) -> None:
    refused = project_environment(SNAPSHOT, {name: "x", "FINE": "y"})
    assert isinstance(refused, Failed)
    assert refused.cause == "not_started"
    assert name in refused.detail
    assert "FINE" not in refused.detail
    assert isinstance(environment("user", {name: "x"}), dict)


@pytest.mark.parametrize("name", ["ENVIRONMENT", "MY_ENV", "GITHUB", "LDFLAGS", "MY_PYTHON"])
def test_names_that_only_look_alike_are_fine(name: str) -> None:
    assert isinstance(project_environment(SNAPSHOT, {name: "x"}), dict)
