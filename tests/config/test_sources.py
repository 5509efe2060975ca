import os
from pathlib import Path

import pytest

from hookline.config.files import Source, native_sources, user_directory


def files(sources: tuple[Source, ...]) -> list[str]:
    return [file for source in sources for file in source.files]


def put(path: Path, text: str = "") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    (tmp_path / "project" / "a" / "b").mkdir(parents=True)
    return tmp_path / "project"


def test_the_users_directory_follows_the_xdg_rule():
    assert user_directory({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}) == "/c/hookline"
    assert user_directory({"XDG_CONFIG_HOME": "", "HOME": "/h"}) == "/h/.config/hookline"
    assert user_directory({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}) == "/h/.config/hookline"
    assert user_directory({"HOME": "/h"}, "/other") == "/other/.config/hookline"
    assert user_directory({}) is None
    assert user_directory({"HOME": "relative"}) is None


def test_user_project_and_local_files_come_in_that_order(tmp_path: Path, project: Path):
    home = tmp_path / "home"
    expected = [
        put(home / ".config/hookline/hooks.toml"),
        put(project / ".hookline/hooks.json"),
        put(home / ".config/hookline/hooks.local.yaml"),
        put(project / ".hookline/hooks.local.yml"),
    ]
    sources = native_sources(str(project), {"HOME": str(home)})
    assert files(sources) == expected
    assert [source.scope for source in sources] == ["user", "project", "local", "local"]


def test_the_nearest_directory_up_to_the_root_of_the_repository_wins(tmp_path: Path, project: Path):
    put(tmp_path / ".hookline/hooks.toml")
    assert files(native_sources(str(project / "a" / "b"), {})) == []
    root = put(project / ".hookline/hooks.toml")
    assert files(native_sources(str(project / "a" / "b"), {})) == [root]
    nearer = put(project / "a/.hookline/hooks.yaml")
    assert files(native_sources(str(project / "a" / "b"), {})) == [nearer]


def test_a_local_file_deep_down_does_not_hide_the_project(project: Path):
    root = put(project / ".hookline/hooks.toml")
    local = put(project / "a/.hookline/hooks.local.toml")
    assert files(native_sources(str(project / "a" / "b"), {})) == [root, local]


def test_outside_of_a_repository_only_the_directory_itself_counts(tmp_path: Path):
    put(tmp_path / ".hookline/hooks.toml")
    below = tmp_path / "below"
    below.mkdir()
    assert files(native_sources(str(below), {})) == []
    assert files(native_sources(str(tmp_path), {})) == [str(tmp_path / ".hookline/hooks.toml")]


def test_places_where_nothing_stands_are_told_too(project: Path):
    sources = native_sources(str(project), {"HOME": "/nowhere"})
    assert [len(source.files) for source in sources] == [0, 0, 0, 0]
    assert os.path.join(str(project), ".hookline/hooks.toml") in sources[1].looked_for
    assert "/nowhere/.config/hookline/hooks.json" in sources[0].looked_for


def test_a_worktree_has_a_git_file_and_is_a_root_as_well(tmp_path: Path):
    put(tmp_path / ".hookline/hooks.toml")
    put(tmp_path / "tree/.git", "gitdir: elsewhere")
    assert files(native_sources(str(tmp_path / "tree"), {})) == []
