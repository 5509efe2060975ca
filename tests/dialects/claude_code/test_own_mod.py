"""Hookline as a mod of Claude Code: the real module, run by Node.js with the effects that Claude Code gives it."""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.claude_code.own_mod import MODULE, mod_texts
from tests.cli.run_cli import Ran, run_cli
from tests.homes import at_home
from tests.hook.daemon.daemons import Daemons, command, hook_file

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
CHANGE = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "true"}}
HOOK = f"""case $(cat) in
*forbidden*) echo not that >&2; exit 2 ;;
*change*) echo '{json.dumps({"hookSpecificOutput": CHANGE})}' ;;
esac"""
#: Plays calls through the middlewares of the mod; what is beneath them may change a call, and decides `beneath`.
DRIVER = """
import { readFileSync } from "node:fs"
import { spawnSync } from "node:child_process"
const [file, cwd, steps] = process.argv.slice(1)
const $ = {
  env: { get: async (name) => process.env[name] },
  fs: { read: async (name) => readFileSync(name, "utf8") },
  session: { id: async () => "s", cwd: async () => cwd },
  http: { fetch: async (url, init) => {
    const answer = await fetch(url, init)
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() }
  } },
  process: { run: async ([program, ...words], { stdin, env }) => {
    const ran = spawnSync(program, words, { cwd, input: stdin, env: { ...process.env, ...env }, encoding: "utf8" })
    return { exitCode: ran.status, stdout: ran.stdout, stderr: ran.stderr }
  } },
}
const taken = {}
const { register } = await import(file)
register((event, run) => {
  taken[event] = run
  return { catch: (instead) => (taken[event] = (...all) => run(...all).catch(instead)) }
})
const results = []
for (const [command, changed, beneath] of JSON.parse(steps)) {
  const id = `t${results.length}`
  const check = (e) => {
    const { tool, tool_use_id, ...input } = changed ? { ...e, command: changed } : e
    const asked = { tool, tool_use_id, input }
    return taken["tool.check"]($, asked, async () => ({ decision: beneath })).then((said) => ({ ...said, input }))
  }
  const e = { command, tool: "Bash", tool_use_id: id }
  results.push(await taken["tool.call"]($, e, check).catch(() => check(e)))
}
console.log(JSON.stringify(results))
"""


class ClaudeCode:
    def __init__(self, daemons: Daemons) -> None:
        self.daemons = daemons
        daemons.write(".hookline/hooks.toml", hook_file(command(HOOK, "rewrites = true")))
        self.file = daemons.home / "register.mjs"
        words = at_home(["hook", "--dialect", "claude-code", "PreToolUse"], daemons.env)
        self.install(shlex.join([sys.executable, "-P", "-m", "hookline", *words]))

    def install(self, line: str) -> None:
        address = self.daemons.home / ".local/state/hookline/daemon-http.json"
        self.file.write_text(mod_texts("", line, str(address))[MODULE])

    def decide(self, line: str, changed: str = "", beneath: str = "ask", **env: str) -> dict[str, Any]:
        steps = json.dumps([[line, changed, beneath]])
        ran = subprocess.run(
            ["node", "--input-type=module", "-e", DRIVER, str(self.file), str(self.daemons.project), steps],
            env={**self.daemons.env, "HOOKLINE_DAEMON": "off", **env}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        (found,) = json.loads(ran.stdout)
        return found


@pytest.fixture
def claude(tmp_path: Path) -> Iterator[ClaudeCode]:
    daemons = Daemons(tmp_path)
    yield ClaudeCode(daemons)
    daemons.stop()


@needs_node
@pytest.mark.parametrize("by", ["process", "daemon"])
def test_it_decides_as_guards_do(claude: ClaudeCode, by: str) -> None:
    if by == "daemon":
        claude.install("exit 9")
        claude.daemons.start("--http", "0")
    assert claude.decide("ls") == {"decision": "ask", "input": {"command": "ls"}}
    denied = claude.decide("touch forbidden", beneath="allow")
    assert (denied["decision"], denied["reason"]) == ("deny", "not that")
    changed = claude.decide("change it")
    assert (changed["decision"], changed["input"]) == ("allow", {"command": "true"})
    assert claude.decide("change it", beneath="deny")["decision"] == "deny"


@needs_node
def test_a_call_that_another_plugin_has_changed_is_judged_again(claude: ClaudeCode) -> None:
    assert claude.decide("ls", changed="touch forbidden", beneath="allow")["reason"] == "not that"
    assert "has changed it since" in claude.decide("ls", changed="change it", beneath="allow")["reason"]


@needs_node
def test_a_proxy_hears_of_no_call(claude: ClaudeCode) -> None:
    claude.daemons.start("--http", "0")
    proxy = {"HTTPS_PROXY": "http://proxy.invalid:1"}
    assert claude.decide("touch forbidden", **proxy)["reason"] == "not that"
    assert _answered(claude) == 0
    assert (
        claude.decide("touch forbidden", **proxy, NO_PROXY="example.org, 127.0.0.1")["reason"] == "not that"
    )
    assert _answered(claude) == 1


def _answered(claude: ClaudeCode) -> int:
    status = claude.daemons.status()
    assert status is not None
    return status.calls


@needs_node
@pytest.mark.parametrize("line", ["exit 1", "kill -9 $$", "echo nonsense", "no-such-program"])
def test_it_fails_closed(claude: ClaudeCode, line: str) -> None:
    claude.install(line)
    found = claude.decide("ls", beneath="allow")
    assert (found["decision"], found["reason"].partition(":")[0]) == (
        "deny",
        "hookline could not be run, so this was blocked",
    )


def hookline(claude: ClaudeCode, *words: str) -> Ran:
    return run_cli(list(words), claude.daemons.project, claude.daemons.home)


@pytest.mark.parametrize(
    "settings", [None, "{}\n", '{\n    "prependPlugins": ["mine@here"],\n\n    "model": "x"\n}']
)
def test_it_is_installed_first_and_leaves_no_trace(claude: ClaudeCode, settings: str | None) -> None:
    home = claude.daemons.home
    file = home / ".claude/settings.json"
    if settings is not None:
        claude.daemons.write("~/.claude/settings.json", settings)

    def seen() -> dict[str, bytes]:
        found = [each for each in home.rglob("*") if ".local" not in each.parts]
        return {str(each): each.read_bytes() if each.is_file() else b"" for each in found}

    before = seen()
    hookline(claude, "install", "claude-code", "--mod", "--yes")
    assert json.loads(file.read_text())["prependPlugins"][0] == "hookline-mod@skills-dir"
    hookline(claude, "install", "claude-code", "--events", "Stop", "--yes")  # it stays
    module = home / ".claude/skills/hookline-mod/hooks/register.js"
    assert "claude-code" in module.read_text()
    codes = {each["code"] for each in json.loads(hookline(claude, "doctor", "--json").stdout)["problems"]}
    assert "overruling-mod" not in codes
    hookline(claude, "uninstall", "claude-code", "--yes")
    assert seen() == before


def test_a_changed_mod_is_found(claude: ClaudeCode) -> None:
    hookline(claude, "install", "claude-code", "--mod", "--yes")
    module = claude.daemons.home / ".claude/skills/hookline-mod/hooks/register.js"
    module.write_text(module.read_text().replace('decision: "deny"', 'decision: "allow"'))
    found = json.loads(hookline(claude, "doctor", "--json").stdout)
    assert "overruling-mod" in {each["code"] for each in found["problems"]}
    (site,) = [each for each in found["agents"][0]["sites"] if each["events"]]
    assert site["trusted_by_agent"] == "untrusted"
    hookline(claude, "install", "claude-code", "--yes")
    assert 'decision: "allow"' not in module.read_text()


def test_only_claude_code_has_mods(claude: ClaudeCode) -> None:
    ran = hookline(claude, "install", "codex", "--mod", "--yes")
    assert (ran.status, "leave --mod out" in ran.stderr) == (1, True)
    ran = hookline(claude, "install", "claude-code", "--project", "--mod", "--yes")
    assert (ran.status, "all your projects (--user): leave --mod out" in ran.stderr) == (1, True)
    ran = hookline(claude, "install", "claude-code", "codex", "--mod", "--yes")
    assert (ran.status, "installed: Claude Code, Codex" in ran.stdout) == (0, True)
    assert "this agent cannot have a mod: it calls Hookline by its entries alone" in " ".join(
        ran.stdout.split()
    )
    assert (claude.daemons.home / ".codex/hooks.json").exists()
