"""Test where the home directory is: the user database, `--home`, or a HOME that no one else can have made."""

import os
import pwd
from pathlib import Path

import pytest

from hookline import Engine
from hookline.config.home import Home, HomeError, home_by_hand, home_of_call, projects_here
from hookline.journal.file import account_home
from hookline.model.errors import HooklineError


def none() -> list[str]:
    return []


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of the user database."""
    home = tmp_path / "account"
    home.mkdir()
    known = tuple(pwd.getpwuid(os.geteuid()))

    def at_home(_uid: int) -> pwd.struct_passwd:
        return pwd.struct_passwd((*known[:5], str(home), *known[6:]))

    monkeypatch.setattr(pwd, "getpwuid", at_home)
    return home


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user whom the user database does not know, as in many containers."""

    def unknown(uid: int) -> pwd.struct_passwd:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)


def unfit(directory: Path) -> list[str]:
    """Homes that someone else can have made, or that are not homes at all."""
    (directory / "open").mkdir()
    (directory / "open").chmod(0o777)
    (directory / "group").mkdir()
    (directory / "group").chmod(0o775)
    (directory / "foreign").mkdir()
    os.chown(directory / "foreign", 4242, 4242)
    (directory / "file").touch()
    loop = directory / "loop"
    loop.symlink_to(loop)
    names = ["open", "group", "foreign", "file", "loop", "gone", "file/below"]
    return ["", "relative", "/tmp", *(str(directory / name) for name in names)]


def test_a_call_believes_the_user_database_and_the_option(tmp_path: Path, account: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for given in (str(other), *unfit(tmp_path)):
        found = home_of_call(None, {"HOME": given}, none)
        assert found.path == str(account)
        assert given in found.remark if os.path.isabs(given) else not found.remark
    assert home_of_call(None, {"HOME": str(account)}, none) == Home(str(account))
    assert home_of_call(str(other), {"HOME": "/tmp"}, none) == Home(str(other))
    for named in ("", "relative", str(tmp_path / "gone")):
        with pytest.raises(HomeError, match="--home"):
            home_of_call(named, {}, none)


def test_a_person_is_believed_if_nobody_else_can_have_made_the_home(tmp_path: Path, account: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert home_by_hand({"HOME": str(other)}, none) == Home(str(other))
    assert home_by_hand({"HOME": str(other)}, lambda: [str(tmp_path)]).path == str(account)
    assert home_by_hand({}, none) == Home(str(account))
    for given in filter(None, unfit(tmp_path)):
        found = home_by_hand({"HOME": given}, none)
        assert found.path == str(account)
        assert given in found.remark


@pytest.mark.usefixtures("nobody")
def test_without_an_entry_in_the_user_database_such_a_home_counts_for_calls_too(tmp_path: Path) -> None:
    assert account_home() is None
    own = tmp_path / "own"
    own.mkdir()
    assert (
        home_of_call(None, {"HOME": str(own)}, none)
        == home_by_hand({"HOME": str(own)}, none)
        == Home(str(own))
    )
    for given in unfit(tmp_path):
        with pytest.raises(HomeError, match="set HOME to a directory that is yours alone"):
            home_of_call(None, {"HOME": given}, none)
        with pytest.raises(HomeError, match="set HOME to a directory that is yours alone"):
            home_by_hand({"HOME": given}, none)
    with pytest.raises(HomeError, match="inside the project"):
        home_of_call(None, {"HOME": str(own)}, lambda: [str(tmp_path)])
    # What contains everything says nothing.
    assert home_of_call(None, {"HOME": str(own)}, lambda: ["/"]).path == str(own)


def test_only_a_home_that_the_user_database_does_not_have_is_named_to_others(
    tmp_path: Path, account: Path
) -> None:
    assert Home(str(account)).option == Home(f"{account}/../account").option == ()
    assert Home(str(tmp_path)).option == ("--home", str(tmp_path))


def test_the_project_is_the_repository_of_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "sub").mkdir()
    assert projects_here(str(tmp_path / "repo" / "sub")) == [str(tmp_path / "repo")]
    assert projects_here(str(tmp_path)) == []


def test_an_engine_of_a_program_finds_the_users_guards_whatever_home_says(
    tmp_path: Path, account: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = account / ".config/hookline/hooks.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[[hooks.PreToolUse]]\nhooks = [{ type = "builtin", command = "deny", name = "mine" }]\n')
    for home in ("/nonexistent", "/tmp", ""):
        monkeypatch.setenv("HOME", home)
        assert [hook.name for hook in Engine().load(tmp_path).hooks] == ["mine"]
    # The program decides by what it passes to the constructor.
    assert Engine(env={"HOME": "/nonexistent"}).load(tmp_path).hooks == ()


@pytest.mark.usefixtures("nobody")
def test_an_engine_without_a_home_says_so_where_files_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/nonexistent")
    engine = Engine()
    with pytest.raises(HooklineError, match="set HOME"):
        engine.load(tmp_path)


@pytest.mark.parametrize("broken", ["directory", "parent", "loop"])
def test_a_directory_that_cannot_be_read_closes_guards(tmp_path: Path, broken: str) -> None:
    """A link to itself and a file instead of a directory are errors for root as well, unlike a mode."""
    config = tmp_path / ".config"
    if broken == "parent":
        config.write_text("")
    elif broken == "directory":
        config.mkdir()
        (config / "hookline").write_text("")
    else:
        config.symlink_to(config)
    project = tmp_path / "project"
    project.mkdir()
    loaded = Engine(env={"HOME": str(tmp_path)}).load(project)
    assert loaded.unreadable
    assert {hook.event.name for hook in loaded.hooks} >= {"PreToolUse", "UserPromptSubmit"}
    assert loaded.errors


def test_hooks_that_xdg_config_home_leads_to_are_an_error_and_close(tmp_path: Path) -> None:
    file = tmp_path / "xdg/hookline/hooks.toml"
    file.parent.mkdir(parents=True)
    file.write_text("")
    (tmp_path / "project").mkdir()
    env = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    loaded = Engine(env=env).load(tmp_path / "project")
    (error,) = loaded.errors
    assert (error.code, error.where.file) == ("not-read", str(file))
    assert f"move it to {tmp_path}/.config/hookline" in error.message
    assert "PreToolUse" in {hook.event.name for hook in loaded.hooks}
    # In a project it is the project's, which has no say.
    assert Engine(env=env).load(tmp_path / "xdg").errors == ()
