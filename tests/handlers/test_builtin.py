import os
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from hookline import Outcome, allow, ask, context, deny
from hookline.extending import Builtin, Failed, RawResult, Returned, SessionInfo, standard_builtins
from hookline.handlers.builtin import BuiltinHandler, BuiltinSpec
from hookline.model.outcome import PASS
from tests.handlers.calls import call_with, finished


def ran(name: str, *args: str, cwd: str = "", builtins: dict[str, Builtin] | None = None) -> RawResult:
    handler = BuiltinHandler(builtins if builtins is not None else standard_builtins())
    return finished(
        handler.run(call_with(BuiltinSpec(name, args), kind="builtin", info=SessionInfo(cwd=cwd)))
    )


def said(raw: RawResult) -> Outcome:
    assert isinstance(raw, Returned)
    assert isinstance(raw.value, Outcome)
    return raw.value


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("deny", deny("not here")),
        ("ask", ask("not here")),
        ("allow", allow("not here")),
        ("context", context("not here")),
    ],
)
def test_a_fixed_answer_has_its_words_from_args(name: str, outcome: Outcome) -> None:
    assert ran(name, "not", "here") == Returned(outcome)


def test_a_fixed_answer_needs_no_words() -> None:
    assert said(ran("deny")).blocked
    assert said(ran("deny")).reason
    assert ran("context") == Returned(None)


def test_the_date_is_todays() -> None:
    builtins = standard_builtins(today=lambda: date(2031, 2, 3))
    assert said(ran("add_date", builtins=builtins)).context == ("Today's date: 2031-02-03",)
    assert said(ran("add_date")).context[0].startswith("Today's date: 20")


def test_the_environment_is_told(tmp_path: Path) -> None:
    (text,) = said(ran("add_environment_info", cwd=str(tmp_path))).context
    system = os.uname()
    assert f"Working directory: {tmp_path}" in text
    assert f"Operating system: {system.sysname}" in text
    assert f"Architecture: {system.machine}" in text
    assert "Git repository: no" in text


@pytest.mark.parametrize(
    ("head", "received"),
    [
        ("ref: refs/heads/feature/x\n", "yes, branch feature/x"),
        ("0123456789abcdef0123456789abcdef01234567\n", "yes, at commit 0123456789ab"),
        (None, "yes"),
        ("", "yes"),
    ],
)
def test_git_is_read_from_its_files(tmp_path: Path, head: str | None, received: str) -> None:
    (tmp_path / ".git").mkdir()
    if head is not None:
        (tmp_path / ".git" / "HEAD").write_text(head)
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (text,) = said(ran("add_environment_info", cwd=str(inner))).context
    assert text.rstrip().endswith(f"Git repository: {received}")


def test_a_worktree_names_its_real_git_directory(tmp_path: Path) -> None:
    real = tmp_path / "repo" / ".git" / "worktrees" / "w"
    real.mkdir(parents=True)
    (real / "HEAD").write_text("ref: refs/heads/wt\n")
    work = tmp_path / "w"
    work.mkdir()
    (work / ".git").write_text("gitdir: ../repo/.git/worktrees/w\n")
    (text,) = said(ran("add_environment_info", cwd=str(work))).context
    assert "yes, branch wt" in text


def prompt_files(cwd: Path, *names: str, home: Path | None = None) -> Outcome:
    builtins = standard_builtins(home=str(home) if home is not None else None)
    return said(ran("add_prompt_files", *names, cwd=str(cwd), builtins=builtins))


def test_the_nearest_file_of_each_name_is_added_in_the_order_of_args(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("far")
    (tmp_path / "a" / "AGENTS.md").write_text("near")
    (tmp_path / "STYLE.md").write_text("style")
    outcome = prompt_files(inner, "STYLE.md", "AGENTS.md", "STYLE.md")
    assert outcome.context == (
        f"Contents of {tmp_path}/STYLE.md:\n\nstyle",
        f"Contents of {tmp_path}/a/AGENTS.md:\n\nnear",
    )
    assert outcome.messages == ()


def test_the_search_ends_at_home(tmp_path: Path) -> None:
    inner = tmp_path / "home" / "work"
    inner.mkdir(parents=True)
    (tmp_path / "X.md").write_text("outside")
    (tmp_path / "home" / "Y.md").write_text("in home")
    outcome = prompt_files(inner, "X.md", "Y.md", home=tmp_path / "home")
    assert [item.text[-7:] for item in outcome.context_items] == ["in home"]
    assert "X.md was not found" in outcome.messages[0].text


def test_what_is_missing_or_unreadable_is_said(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    names = ("pipe", "folder", "dangling", "missing", "nul\0", "", "/no/such/file")
    outcome = prompt_files(tmp_path, *names)
    assert outcome.context_items == ()
    assert len(outcome.messages) == len(names)
    assert prompt_files(tmp_path).messages[0].text.endswith("no file is named in args")


def test_a_huge_file_is_cut_with_a_mark(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"\xff" + b"x" * 200_000)
    (text,) = prompt_files(tmp_path, "big").context
    assert text.endswith("[cut after 65536 bytes]")
    assert len(text) < 66_000


@pytest.mark.parametrize(
    ("name", "hint"), [("add_dat", "did you mean 'add_date'?"), ("zzz", "there are add_date, ")]
)
def test_an_unknown_name_says_the_nearest_one_early_and_does_not_start(name: str, hint: str) -> None:
    problem = BuiltinHandler(standard_builtins()).problem(BuiltinSpec(name))
    assert problem is not None
    assert hint in problem
    assert ran(name) == Failed("not_started", problem)


def test_a_builtin_of_the_host_may_fail_without_harm() -> None:
    def broken(_args: tuple[str, ...], _payload: Any, _info: SessionInfo) -> Outcome:
        raise ValueError("mine")

    raw = ran("broken", builtins={"broken": broken})
    assert isinstance(raw, Failed)
    assert raw.cause == "crashed"
    assert (raw.detail, raw.logged.startswith("ValueError: mine (")) == ("it raised ValueError", True)


def test_a_builtin_of_the_host_is_found_by_its_name() -> None:
    def mine(args: tuple[str, ...], _payload: Any, info: SessionInfo) -> Outcome:
        return PASS if args == ("x",) and info.cwd == "/" else deny("wrong")

    assert ran("mine", "x", cwd="/", builtins={"mine": mine}) == Returned(PASS)
