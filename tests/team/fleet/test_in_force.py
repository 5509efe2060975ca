"""Test active bundles: managed hooks, read from disk, that close when they are tampered with or expire."""

import asyncio
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline.config.bundles.format import BundleFile, BundleScope
from hookline.config.protection.protected_paths import protected_in
from hookline.config.watch import Watch, changes
from hookline.jobs.file import DurableFile
from hookline.jobs.port import Job
from hookline.jobs.stored import fleet_key, goes_to_fleet, hook_key
from hookline.model.hook import Hook
from hookline.team.fleet.settings import FleetSettings
from hookline.team.fleet.worker import Worker
from hookline.telemetry import vocabulary
from tests.every import every
from tests.team.fleet.machines import FILES, GUARD, SCRIPT, Machine, bundle, key, signed
from tests.waiting import until


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    found = Machine(tmp_path)
    assert found.activator.offer(signed(3)).what == "activated"
    return found


def test_its_hooks_are_managed_and_decide_like_any_other(machine: Machine) -> None:
    engine, loaded = machine.load()
    assert [(hook.name, hook.scope, hook.broken) for hook in loaded.hooks] == [
        ("no force push", "managed", None), ("check", "managed", None)
    ]  # fmt: skip
    assert not loaded.diagnostics
    assert str(loaded.hooks[0].where).endswith("hooks.toml:4")
    assert "guards/3-" in loaded.found[0].file
    assert engine.trust is not None
    assert engine.trust.status(loaded.hooks[0]).why == "it is part of the signed bundle guards 3"
    assert (machine.ask("git push -f").reason or "").startswith("`git push -f` overwrites")
    assert machine.ask("echo secret").reason == "no secrets"
    assert not machine.ask("ls").blocked


def test_the_user_cannot_switch_them_off_and_they_come_before_the_users_own(machine: Machine) -> None:
    own = machine.home / ".config" / "hookline" / "hooks.toml"
    own.write_text(f'disable = ["no force push"]\n{GUARD}'.replace('name = "no force push"', 'name = "mine"'))
    loaded = machine.load()[1]
    assert [(hook.name, hook.mode) for hook in loaded.hooks] == [
        ("no force push", "enforce"), ("check", "enforce"), ("mine", "enforce")
    ]  # fmt: skip
    assert [each.code for each in loaded.diagnostics] == []


def test_a_machine_without_a_fleet_loads_nothing_of_bundles(tmp_path: Path) -> None:
    code = (
        "import sys, hookline; hookline.load('.');"
        "print([name for name in sys.modules if 'bundles' in name or 'fleet' in name or 'cryptography' in name])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert ran.stdout.strip() == "[]"


_PROFILE = """
import asyncio, sys
from hookline import Engine
from hookline.events import PRE_TOOL_USE
from hookline.model.payloads import ToolCall

def decide(engine, folder, seen):
    async def main():
        session = engine.session("s", cwd=folder, project_dir=folder)
        call = ToolCall(tool_name="Bash", tool_input={"command": "git push --force"})
        await session.dispatch(PRE_TOOL_USE, call)  # what is loaded with the first one is
        sys.setprofile(lambda frame, event, _: event == "call" and seen.add(frame.f_code))
        try:
            return await session.dispatch(PRE_TOOL_USE, call)
        finally:
            sys.setprofile(None)
    return asyncio.run(main())

called = []
for folder in sys.argv[1:]:
    engine = Engine(env={"HOME": folder, "PATH": "/bin"})
    engine.load(folder, trust=True)
    assert len(engine.hooks) == 1
    seen = set()
    assert decide(engine, folder, seen).blocked
    called.append({f"{each.co_filename.rpartition('/hookline/')[2]} {each.co_name}" for each in seen
                   if "/hookline/" in each.co_filename})
bundled, local = called
print(len(local) > 20)
print(*sorted(bundled - local), sep=", ")
print(*sorted(local - bundled), sep=", ")
print([name for name in sys.modules if name.startswith(("hookline.team.fleet", "nats"))])
"""


def test_a_bundle_guard_decides_by_the_functions_of_a_local_one(machine: Machine, tmp_path: Path) -> None:
    """Check that the profile of a decision names no module of the fleet; it only adds a reading of the clock.

    A local guard can be paused, which is looked up where it stops something, and so is the page that shows it.
    """
    machine.activator.offer(signed(4, files=(BundleFile("hooks.toml", GUARD.encode()),)))
    plain = tmp_path / "plain"
    own = plain / ".config" / "hookline"
    own.mkdir(parents=True)
    (own / "hooks.toml").write_text(GUARD)
    ran = subprocess.run(
        [sys.executable, "-c", _PROFILE, str(machine.home), str(plain)], capture_output=True, text=True, check=False,
        env={**machine.env},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    decided, bundled, local, fleet = ran.stdout.splitlines()
    assert (decided, bundled, fleet) == ("True", "engine/run_hook.py _obstacle, model/hook.py lapse", "[]")
    assert {each.split(" ")[0] for each in local.split(", ")} <= {
        "config/pauses.py", "config/console_address.py", "journal/file.py"
    }  # fmt: skip


# -- tampering on disk


def _tampered(machine: Machine, raw: bytes) -> None:
    machine.active.write_bytes(raw)


def test_an_active_file_that_was_changed_closes_what_it_may_have_guarded(machine: Machine) -> None:
    raw = bytearray(machine.active.read_bytes())
    raw[-20] ^= 1
    _tampered(machine, bytes(raw))
    loaded = machine.load()[1]
    assert {hook.event.name for hook in loaded.hooks} >= {"PreToolUse", "UserPromptSubmit"}
    said = machine.ask("ls")
    assert said.blocked
    assert "it was changed or cut off; run `hookline fleet pull` to get it again" in (said.reason or "")
    # Pulling it again is all it takes.
    assert machine.activator.offer(signed(3, issued=int(time.time()) + 5)).what == "renewed"
    assert not machine.ask("ls").blocked


def test_a_damaged_record_of_what_was_in_force_closes_and_pulling_makes_it_anew(machine: Machine) -> None:
    record = machine.bundles / "in-force.json"
    for damage in (b"{", b'{"bundles":{"guards":{}}}', b"\xff"):
        record.write_bytes(damage)
        assert machine.ask("ls").blocked
        assert machine.activator.offer(signed(2)).code == "revision"  # the bundle on disk still counts
        assert machine.activator.offer(machine.active.read_bytes()).what == "renewed"
        assert not machine.ask("ls").blocked


@every(
    "what",
    ("another key", "older", "other machine", "other name", "gone", "link", "writable", "recomputed"),
)
def test_nothing_else_takes_its_place_on_disk(what: str, tmp_path: Path) -> None:
    directory = tmp_path / what.replace(" ", "")
    directory.mkdir()
    machine = Machine(directory)
    machine.activator.offer(signed(3))
    outside = directory / "other"
    if what == "gone":
        machine.active.unlink()
    elif what == "link":
        machine.active.rename(outside)
        machine.active.symlink_to(outside)
    elif what == "writable":
        machine.active.chmod(0o666)
    else:
        _tampered(
            machine,
            {
                "another key": signed(9, key(7)),
                "older": signed(2),
                "other machine": signed(9, scope=BundleScope(machines=("beta",))),
                "other name": signed(9, name="others"),
                "recomputed": signed(9).replace(b'"hooks":"hooks.toml"', b'"hooks":"hookz.toml"'),
            }[what],
        )
    assert machine.ask("ls").blocked, what
    assert [each.code for each in machine.load()[1].errors] == ["bundle-refused"]


def test_a_script_that_was_changed_or_replaced_by_a_link_does_not_run(
    machine: Machine, tmp_path: Path
) -> None:
    async def main() -> list[bool]:
        async with machine.load()[0] as engine:
            answers = [(await machine.dispatch(engine, "ls")).blocked]
            for change in (_changed, _linked):
                change(script, tmp_path)
                said = await machine.dispatch(engine, "ls")
                answers.append(said.blocked)
                assert "is not the file that was trusted" in (said.reason or ""), said
            return answers

    script = next(machine.bundles.rglob("check.sh"))
    assert asyncio.run(main()) == [False, True, True]
    # A new session says the same, and what needs no file still decides.
    loaded = machine.load()[1]
    assert [each.code for each in loaded.errors] == ["bundle-changed"]
    assert [bool(hook.broken) for hook in loaded.hooks] == [False, True]
    assert not (tmp_path / "ran").exists()
    assert list(machine.activator.repair())
    assert script.read_bytes() == SCRIPT
    assert not machine.ask("ls").blocked


def _evil(directory: Path) -> str:
    return f"#!/bin/sh\ntouch {directory}/ran\n"


def _changed(script: Path, directory: Path) -> None:
    script.chmod(0o700)
    script.write_text(_evil(directory))


def _linked(script: Path, directory: Path) -> None:
    evil = directory / "evil.sh"
    evil.write_text(_evil(directory))
    evil.chmod(0o700)
    script.unlink()
    script.symlink_to(evil)


# -- time


def test_guards_of_an_expired_bundle_deny_and_say_what_to_do(machine: Machine) -> None:
    files = (BundleFile("hooks.toml", (GUARD + 'on_failure = "open"\n').encode()),)
    own = machine.at(time.time() - 7_200)
    now = int(time.time())
    assert own.offer(signed(4, files=files, issued=now - 9_000, expires=now - 60)).what == "activated"
    said = machine.ask("ls")
    assert said.blocked
    assert "the bundle guards 4 expired on 20" in (said.reason or "")
    assert "run `hookline fleet pull`, or have it published again" in (said.reason or "")
    assert [each.code for each in machine.load()[1].errors] == ["bundle-expired"]


def test_one_that_expires_in_a_running_session_closes_then(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.activator.offer(signed(1, files=(BundleFile("hooks.toml", GUARD.encode()),)))

    async def main() -> None:
        async with machine.load()[0] as engine:
            assert not (await machine.dispatch(engine, "ls")).blocked
            engine.swap([_closing(hook, expires=time.time() - 1) for hook in engine.hooks])
            assert (await machine.dispatch(engine, "ls")).blocked
            # The clock is set back by a year: what has passed has passed.
            later = time.time() + 31_536_000
            engine.swap([_closing(hook, expires=later, closes=time.monotonic()) for hook in engine.hooks])
            assert (await machine.dispatch(engine, "ls")).blocked

    asyncio.run(main())


def _closing(hook: Hook, **changes: float) -> Hook:
    assert hook.bundle is not None
    return replace(hook, bundle=replace(hook.bundle, **changes))


def test_a_clock_that_was_set_back_adds_nothing_to_a_bundle(tmp_path: Path) -> None:
    """The time since its issue counts: a clock that shows an earlier one is wrong."""
    machine = Machine(tmp_path)
    ahead = int(time.time()) + 86_400  # seen from there, the clock here is a day behind
    assert machine.at(ahead + 1).offer(signed(1, issued=ahead, expires=ahead + 60)).what == "activated"
    (hook, *_) = machine.load()[1].hooks
    assert hook.bundle is not None
    assert hook.bundle.closes - time.monotonic() <= 60


def test_hooks_that_guard_nothing_are_not_run_and_stop_nothing_once_expired(machine: Machine) -> None:
    text = '[[hooks.PostToolUse]]\n[[hooks.PostToolUse.hooks]]\ncommand = "touch ran"\n'
    now = int(time.time())
    files = (BundleFile("hooks.toml", text.encode()),)
    machine.at(now - 7_200).offer(signed(4, files=files, issued=now - 9_000, expires=now - 60))

    async def main() -> None:
        from hookline.events import POST_TOOL_USE
        from hookline.model.payloads import ToolResult

        async with machine.load()[0] as engine:
            session = engine.session("s", cwd=str(machine.project))
            said = await session.dispatch(
                POST_TOOL_USE, ToolResult(tool_name="Bash", tool_input={}, tool_response={})
            )
            assert not said.blocked
            assert any("expired" in each.text for each in said.messages)

    asyncio.run(main())
    assert not (machine.project / "ran").exists()


# -- settings


def test_a_bundle_is_in_force_in_its_projects_only(machine: Machine) -> None:
    machine.activator.offer(signed(4, scope=BundleScope(projects=("~/pay*", "*/payments"))))
    assert machine.load()[1].hooks == ()
    machine.project.rename(machine.home / "payments")
    machine.project = machine.home / "payments"
    assert len(machine.load()[1].hooks) == 2


def test_a_machine_that_must_have_a_bundle_is_closed_without_one(tmp_path: Path) -> None:
    machine = Machine(tmp_path, more="required = true\n")
    assert "this machine must have a bundle" in (machine.ask("ls").reason or "")
    machine.activator.offer(signed(1))
    assert not machine.ask("ls").blocked


@every(
    ("what", "code"),
    [
        ("writable", "foreign-keys"), ("no keys", "no-keys"), ("bad key", "bad-key"), ("typo", "wrong-setting"),
        ("shape", "wrong-setting"), ("text", "syntax"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_believed_close_what_is_in_force(
    what: str, code: str, tmp_path: Path
) -> None:
    directory = tmp_path / what.replace(" ", "")
    directory.mkdir()
    machine = Machine(directory)
    machine.activator.offer(signed(1))
    text = machine.settings.read_text()
    machine.settings.write_text(
        {
            "writable": text,
            "no keys": '[bundles]\ngroups = ["x"]\n',
            "bad key": '[bundles]\nkeys = ["ed25519:AAAA"]\n',
            "typo": f"{text}kees = []\n",
            "shape": f"{text}required = 1\n",
            "text": "[bundles\n",
        }[what]
    )
    machine.settings.chmod(0o666 if what == "writable" else 0o600)
    loaded = machine.load()[1]
    assert code in [each.code for each in loaded.errors], loaded.errors
    assert machine.ask("ls").blocked


@every("broken", ["[bundles\n", "[bundles]\nrequired = 1\n", "[bundles]\nplace = 3\n"])
def test_settings_that_cannot_be_read_may_have_asked_for_a_bundle(broken: str, tmp_path: Path) -> None:
    directory = tmp_path / str(len(list(tmp_path.iterdir())))
    directory.mkdir()
    machine = Machine(directory)
    machine.settings.write_text(broken)
    reason = machine.ask("ls").reason or ""
    assert "this machine must have a bundle" in reason
    assert f"fix {machine.settings}" in reason


def test_settings_that_a_project_brings_by_moving_the_home_do_not_count(tmp_path: Path) -> None:
    project = tmp_path / "repo"
    (project / ".git").mkdir(parents=True)
    hostile = Machine(project, "home", keys=[key(7)])
    hostile.activator.offer(signed(1, key(7)))
    hostile.project = project
    loaded = hostile.load()[1]
    assert loaded.hooks == ()
    assert [each.code for each in loaded.diagnostics] == ["foreign-fleet"]


# -- sessions


def test_a_new_bundle_is_in_force_without_a_question(machine: Machine) -> None:
    before = machine.load()[1].hooks
    machine.activator.offer(signed(4, files=(BundleFile("hooks.toml", b"[hooks]\n"),)))
    after = machine.load()[1].hooks
    assert before
    assert after == ()
    assert not changes(before, after)


def test_a_running_agent_has_it_at_once_whatever_hooks_object(machine: Machine) -> None:
    async def never(*_: object) -> bool:
        return False

    async def main() -> list[str]:
        async with machine.load()[0] as engine:
            watch = Watch(engine, str(machine.project), agree=never)
            running = asyncio.ensure_future(watch.run())
            await watch.ready.wait()
            machine.activator.offer(signed(4, files=(BundleFile("hooks.toml", GUARD.encode()),)))
            await until(lambda: len(engine.hooks) == 1)
            watch.stop()
            await running
            return [hook.bundle.label for hook in engine.hooks if hook.bundle is not None]

    assert asyncio.run(main()) == ["guards 4"]


def test_the_place_of_bundles_is_protected_wherever_it_is(tmp_path: Path) -> None:
    machine = Machine(tmp_path, more=f'directory = "{tmp_path}/elsewhere"\n')
    machine.activator.offer(signed(1))
    engine, loaded = machine.load()
    found = protected_in([str(machine.project)], machine.env, loaded.hooks)
    assert loaded.hooks
    assert all(
        found.why(f"{tmp_path}/elsewhere/{name}") for name in ("in-force.json", "guards/active.bundle")
    )
    assert found.why(str(machine.settings))
    assert found.why(f"{tmp_path}/other/active.bundle") is None
    assert not engine.hooks[0].broken


def test_jobs_of_a_bundle_hook_find_it_on_other_machines_and_in_later_revisions(tmp_path: Path) -> None:
    text = """
[[hooks.PostToolUse]]
[[hooks.PostToolUse.hooks]]
command = '"$HOOKLINE_BUNDLE/bin/check.sh"'
async = true
durable = "fleet"
"""
    files = (BundleFile("hooks.toml", text.encode()), FILES[1])
    keys: set[tuple[str, str]] = set()
    for name, revision in (("alpha", 1), ("beta", 1), ("gamma", 2)):
        machine = Machine(tmp_path, name)
        machine.activator.offer(signed(revision, files=files))
        (hook,) = machine.load()[1].hooks
        assert goes_to_fleet(hook)
        keys.add((hook_key(hook), fleet_key(hook)))
    assert len(keys) == 1


def test_files_of_earlier_revisions_stay_for_a_while_and_then_go(machine: Machine) -> None:
    own = machine.activator
    for revision in range(4, 9):
        own.offer(signed(revision))
    assert sorted(each.name.split("-")[0] for each in (machine.bundles / "guards").iterdir() if each.is_dir()) == [
        "6", "7", "8"
    ]  # fmt: skip


def test_files_and_directories_of_a_bundle_are_read_only_and_of_this_user(machine: Machine) -> None:
    modes = {each.name: oct(each.stat().st_mode & 0o777) for each in machine.bundles.rglob("*")}
    assert modes["hooks.toml"] == "0o400"
    assert modes["check.sh"] == "0o500"
    assert {modes["guards"], modes["bin"], modes[bundle(3).directory]} == {"0o700"}
    assert modes["active.bundle"] == "0o600"
    assert len(FILES) == 2


# -- crashes and full disks


def test_a_process_that_dies_at_any_step_leaves_the_old_bundle_or_the_new_one(tmp_path: Path) -> None:
    """Kill it after each call that changes the disk; then the next process continues."""
    machine = Machine(tmp_path)
    machine.activator.offer(signed(3))
    step = 0
    for step in range(1, 40):
        old, new = step + 2, step + 3
        finished = _dies_in(machine, signed(new), step)
        loaded = machine.load()[1]
        assert not loaded.errors, (step, loaded.errors)
        labels = {hook.bundle.label for hook in loaded.hooks if hook.bundle is not None}
        assert labels in ({f"guards {old}"}, {f"guards {new}"}), step
        assert len(loaded.hooks) == 2, step
        assert machine.activator.offer(signed(new)).what in ("activated", "renewed", "unchanged")
        assert machine.in_force() == new
        if finished:
            break
    assert 8 < step < 39  # there were some steps to die at, and all were tried


def _dies_in(machine: Machine, raw: bytes, step: int) -> bool:
    """Offer a bundle in a process that ends, without any cleaning up, at this step. Whether it came to the end."""
    own = machine.activator
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork with threads
        child = os.fork()
    if child == 0:
        left = step

        def counted(call: Callable[..., Any]) -> Callable[..., Any]:
            def do(*args: Any, **named: Any) -> Any:
                nonlocal left
                left -= 1
                if left <= 0:
                    os._exit(9)
                return call(*args, **named)

            return do

        for name in ("rename", "replace", "fsync", "mkdir", "unlink"):
            setattr(os, name, counted(getattr(os, name)))
        try:
            own.offer(raw)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def test_a_full_disk_changes_nothing_and_is_said(machine: Machine) -> None:
    raw = signed(4)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    own = machine.activator
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
    try:
        result = own.offer(raw)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (result.what, result.code) == ("refused", "disk")
    assert "cannot be written: File too large" in result.why
    assert machine.in_force() == 3
    assert not machine.ask("ls").blocked
    assert own.offer(raw).what == "activated"


def test_a_worker_measures_the_age_of_the_oldest_bundle_and_dead_letters(machine: Machine) -> None:
    queue = DurableFile(str(machine.home / ".local/state/hookline/jobs.sqlite"))
    queue.submit(Job(id="1", session="s", queue="files", body=b"{}"))
    (lease,) = queue.claim(["files"], 1)
    worker = Worker(FleetSettings(name="alpha"), machine.env, lambda _: None)
    assert dict(worker.facts())[vocabulary.DEAD_LETTERS] == 0
    queue.bury(lease, (), "exit 1")
    issued = machine.activator.store.in_force().bundles["guards"].issued
    least = time.time() - issued
    found = dict(worker.facts())
    assert least <= found[vocabulary.BUNDLE_AGE] <= time.time() - issued
    assert (found[vocabulary.DEAD_LETTERS], found[vocabulary.CONNECTED]) == (1, 0)
    queue.close()
