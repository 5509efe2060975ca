"""Random shell lines that write to protected files, in a real bash: none may change one without a question."""

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bench.findings import Finding
from hookline.config.protection.calls import CallReader
from hookline.config.protection.protected_paths import protected_in
from hookline.shell import ShellReader

LINES = 4_000

_PROJECT_FILES = (
    ".hookline/hooks.toml", ".hookline/guard.sh", ".claude/settings.json", ".mcp.json", "agent.yaml", "src/deep/b.py",
    "notes.md", "new/hooks.toml",
)  # fmt: skip
_USER_FILES = (".claude/settings.json", ".config/hookline/hooks.toml", "own/settings.json")
#: The files that are compared before and after a line.
_GUARDED = (
    "project/.hookline",
    "project/.claude",
    "project/.mcp.json",
    "project/agent.yaml",
    ".claude",
    ".config",
    "own",
)

#: Spellings of one file.
TARGETS = (
    ".hookline/hooks.toml", "./.hookline/hooks.toml", "src/../.hookline/hooks.toml", "link/hooks.toml",
    "src/alias.toml", '"$PWD"/.hookline/hooks.toml', "'.hookline'/hooks.toml", ".hook\\line/hooks.toml",
    ".hookline/hook?.toml", ".hook*/hooks.toml", "{.hookline,x}/hooks.toml", "$PWD/link/hooks.toml",
    "plain/../.hookline/hooks.toml", "~/.claude/settings.json", "$HOME/own/settings.json", "agent.yaml",
    "./agent.y*ml", "around/agent.yaml", "$(echo .hookline)/hooks.toml", "${D:-.hookline}/hooks.toml",
    "$'.hookline'/hooks.toml", "~/project/agent.yaml", "../project/.mcp.json", "src/deep/../../agent.yaml",
    "${PWD}/agent.yaml", "link/guard.sh", "~+/agent.yaml", "sr[c]/alias.toml", "src/ali*",
)  # fmt: skip
#: Ways to write to it.
WRITES = (
    "echo y > @", "echo y >> @", "rm -f @", "rm @ @", "truncate -s 0 @", "tee @ < notes.md", "sed -i s/x/y/ @",
    "cp new/hooks.toml @", "mv new/hooks.toml @", "dd if=new/hooks.toml of=@", "echo y | tee -a @",
    "cat new/hooks.toml >| @", "chmod 000 @", "unlink @", "shred -u @", "install new/hooks.toml @",
    "ln -sf /dev/null @", "ls @ | xargs rm", "for f in @; do rm $f; done", "F=@; rm $F",
    'while read f; do rm "$f"; done <<< "@"', "find @ -delete", "set -- @; rm $1", "x() { rm $1; }; x @",
    'eval "rm @"', "printf y &> @", "exec 5> @", "sort -o @ new/hooks.toml", "rm $(ls @)", "rm `ls @`",
    "A=(@); rm ${A[0]}", "xargs rm <<< @", "cat <<E > @\ny\nE", "echo @ | while read -r a; do : > $a; done",
    "cp --target-directory=$(dirname @) new/hooks.toml", "awk 'BEGIN{printf \"\" > \"@\"}'", "sed -n 'w @' notes.md",
    "cd $(dirname @) && rm $(basename @)", "export F=@; rm $F",
)  # fmt: skip
#: What may be around it.
AROUND = (
    "@", "bash -c '@'", "(@)", "{ @; }", "true && @", "false || @", "cd src; cd ..; @", "(cd src && ls); @",
    "env A=1 @", "timeout 5 @", "if true; then @; fi", "nohup @", "! @", "command @", "@ &\nwait", "time @",
    "cat notes.md | (@)", 'sh -c "@"', "eval '@'", "cd src && cd - && @",
)  # fmt: skip


def random_lines(count: int, seed: int) -> Iterator[str]:
    chosen = random.Random(seed)
    for _ in range(count):
        line = chosen.choice(WRITES).replace("@", chosen.choice(TARGETS))
        yield chosen.choice(AROUND).replace("@", line)


def unseen_writes(lines: Iterable[str], top: Path) -> Iterator[str]:
    """Yield lines that change a protected file without a question."""
    home = top / "home"
    project = home / "project"
    shell = ShellReader()
    env = {"HOME": str(home), "CLAUDE_CONFIG_DIR": f"{home}/own"}
    reader = CallReader(lambda: protected_in([str(project)], env), str(home), lambda: shell)
    for line in lines:
        _make(home, project)
        if reader.written_by_line(line, [str(project)]) is None:
            before = _state(home)
            _run(line, home, project)
            if _state(home) != before:
                yield line


def soak(say: Callable[[str], None]) -> list[Finding]:
    say(f"  {LINES:,} random lines that write to protected files")
    with tempfile.TemporaryDirectory() as directory:
        missed = list(unseen_writes(random_lines(LINES, 1), Path(directory)))
    for line in missed[:10]:
        say(f"  not asked about: {line!r}")
    name = "lines that change a protected file without a question"
    return [Finding(name, f"{len(missed)} of {LINES:,}", "0", not missed)]


def _make(home: Path, project: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
    for file in (*(project / name for name in _PROJECT_FILES), *(home / name for name in _USER_FILES)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"x {file.parent.name}\n")
    (project / "link").symlink_to(".hookline")
    (project / "around").symlink_to(project / ".hookline" / "..")
    (project / "plain").symlink_to("src")
    (project / "src" / "alias.toml").symlink_to("../.hookline/hooks.toml")


def _state(home: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in _GUARDED:
        top = home / name
        for path in (top, *sorted(top.rglob("*"))):
            status = path.lstat() if os.path.lexists(path) else None
            content = path.read_bytes() if path.is_file() and os.access(path, os.R_OK) else b""
            found[str(path)] = (status.st_mode, content) if status else None
    return found


def _run(line: str, home: Path, project: Path) -> None:
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    try:
        subprocess.run(
            ["/bin/bash", "-c", line],
            cwd=project,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return
