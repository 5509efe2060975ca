"""Tests of the facts by which agents are found before anything of their directories is imported."""

import subprocess
import sys
from pathlib import Path

import pytest

from hookline.dialects.dialect import Dialect
from hookline.dialects.installer import InstallError, Site
from hookline.dialects.registry import dialects_here, every_dialect, searched_directories, standard_dialects

_INSTALLABLE = [each for each in every_dialect() if each.installer is not None]


@pytest.mark.parametrize("dialect", _INSTALLABLE, ids=lambda each: each.name)
def test_whatever_shows_that_an_agent_is_installed_is_a_sign_of_it(dialect: Dialect, tmp_path: Path) -> None:
    """`hookline install` looks for the signs of an installer, everything else for those of the registry first."""
    installer = dialect.installer
    assert installer is not None
    home, project = tmp_path / "home", tmp_path / "project"
    project.mkdir()
    env = {"HOME": str(home)}
    own = dialect.listed
    for scope in ("user", "project"):
        site = Site(scope, str(project), env)
        paths = list(installer.signs(site))
        try:
            paths += installer.files(site)
        except InstallError:  # it has no files of projects
            continue
        directories = searched_directories(str(project), env)
        for sign in paths:
            assert not own.is_used(directories, env), f"{dialect.name} is used where nothing is"
            made = _make(Path(sign), tmp_path)
            assert own.is_used(directories, env), f"{sign} is no sign of {dialect.name}"
            for each in made:
                each.rmdir()


def _make(path: Path, root: Path) -> list[Path]:
    """Make directories up to the path; return those that are new, the innermost first."""
    made = [each for each in (path, *path.parents) if each.is_relative_to(root) and not each.exists()]
    path.mkdir(parents=True)
    return made


def test_agents_are_found_by_their_programs(tmp_path: Path) -> None:
    for name, listed in standard_dialects().items():
        for program in listed.programs:
            place = tmp_path / program
            place.write_text("#!/bin/sh\n")
            env = {"HOME": str(tmp_path / "home"), "PATH": str(tmp_path)}
            assert name not in [each.name for each in dialects_here(str(tmp_path), env)]
            place.chmod(0o755)
            assert name in [each.name for each in dialects_here(str(tmp_path), env)]
            place.unlink()


def test_a_command_imports_only_the_agents_that_are_used(tmp_path: Path) -> None:
    (tmp_path / ".hookline").mkdir()
    (tmp_path / ".hookline/hooks.toml").write_text(
        '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = "true"\n'
    )
    for name in (".gemini", "home"):
        (tmp_path / name).mkdir()
    code = (
        "import sys; from hookline.cli.main import run; run(sys.argv[1:]);"
        "sys.stderr.write(' '.join(each for each in sys.modules if each.startswith('hookline.dialects.')))"
    )
    for words in (["doctor"], ["fire", "PreToolUse", "Bash", "command=ls", "--trust"]):
        env = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
        ran = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        loaded = ran.stderr.rpartition("\n")[2].split()
        # Of some agents' directories Hookline's own agent uses a part.
        packages = {each.package for each in standard_dialects().values() if not each.shares}
        assert {each.split(".")[2] for each in loaded} & packages == {"gemini_cli"}, ran.stdout
