import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from hookline.dialects.dialect import unused_files, user_directory
from hookline.dialects.native import dialect


def found(cwd: Path, env: Mapping[str, str] = {}) -> list[str]:
    return [
        config_path.file for config_path in dialect().find(str(cwd), env) if os.path.exists(config_path.file)
    ]


def put(path: Path, text: str = "") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "a" / "b").mkdir(parents=True)
    return tmp_path / "project"


def test_the_users_directory_is_below_the_home_whatever_other_variables_say():
    assert user_directory({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}) == "/h/.config/hookline"
    assert user_directory({"HOME": "/h"}) == "/h/.config/hookline"
    assert user_directory({}) is None
    assert user_directory({"HOME": "relative"}) is None


def test_files_that_a_variable_leads_to_are_named_as_unused(tmp_path: Path):
    home, moved = tmp_path / "home", put(tmp_path / "xdg/hookline/hooks.toml")
    env = {"HOME": str(home), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert unused_files(env) == [moved]
    assert unused_files({**env, "XDG_CONFIG_HOME": "xdg"}) == []
    (home / ".config").parent.mkdir()
    (home / ".config").symlink_to(tmp_path / "xdg")
    assert unused_files(env) == []


def test_a_variable_does_not_hide_the_users_own_files(tmp_path: Path, project: Path):
    home = tmp_path / "home"
    put(tmp_path / "xdg/hookline/hooks.toml")
    expected = [put(home / ".config/hookline/hooks.toml")]
    env = {"HOME": str(home), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    assert found(project, env) == expected


def test_files_of_machine_user_project_and_local_ones_come_in_that_order(tmp_path: Path, project: Path):
    home = tmp_path / "home"
    expected = [
        put(home / ".config/hookline/hooks.toml"),
        put(home / ".config/hookline/hooks.local.yaml"),
        put(project / ".hookline/hooks.json"),
        put(project / ".hookline/hooks.local.yml"),
    ]
    env = {"HOME": str(home)}
    assert found(project, env) == expected
    scopes = dict.fromkeys(config_path.scope for config_path in dialect().find(str(project), env))
    assert list(scopes) == ["managed", "user", "project", "local"]
    assert dialect().find(str(project), env)[0].file == "/etc/hookline/hooks.toml"


def test_the_nearest_directory_up_to_the_root_of_the_repository_wins(tmp_path: Path, project: Path):
    put(tmp_path / ".hookline/hooks.toml")
    assert found(project / "a" / "b") == []
    root = put(project / ".hookline/hooks.toml")
    assert found(project / "a" / "b") == [root]
    nearer = put(project / "a/.hookline/hooks.yaml")
    assert found(project / "a" / "b") == [nearer]


def test_a_local_file_deep_down_does_not_hide_the_project(project: Path):
    root = put(project / ".hookline/hooks.toml")
    local = put(project / "a/.hookline/hooks.local.toml")
    assert found(project / "a" / "b") == [root, local]


def test_outside_of_a_repository_only_the_directory_itself_counts(tmp_path: Path):
    put(tmp_path / ".hookline/hooks.toml")
    below = tmp_path / "below"
    below.mkdir()
    assert found(below) == []
    assert found(tmp_path) == [str(tmp_path / ".hookline/hooks.toml")]


def test_places_where_nothing_stands_are_told_too(project: Path):
    env = {"HOME": "/nowhere"}
    assert found(project, env) == []
    files = [config_path.file for config_path in dialect().find(str(project), env)]
    assert os.path.join(str(project), ".hookline/hooks.toml") in files
    assert "/nowhere/.config/hookline/hooks.json" in files


def test_a_worktree_has_a_git_file_and_is_a_root_as_well(tmp_path: Path):
    put(tmp_path / ".hookline/hooks.toml")
    put(tmp_path / "tree/.git", "gitdir: elsewhere")
    assert found(tmp_path / "tree") == []
