"""A home and a project of their own for one run of the client, with Hookline as its hook."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

#: The file whose absence shows that a call was stopped is named like this, and the guard knows it by that.
FORBIDDEN = "forbidden"
REASON = "the guard of this project says no"
_GUARD = f"""#!/bin/sh
case $(cat) in *{FORBIDDEN}*) echo "{REASON}" >&2; exit 2 ;; esac
exit 0
"""
_HOOKS = """[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
name = "nothing forbidden"
command = "{guard}"

[[hooks.SessionStart]]
hooks = [{{ command = "touch {started}" }}]
"""
#: Where `hookline` is installed.
_BIN = str(Path(sys.executable).parent)


#: How the user vouches for the project: in the settings, with `hookline trust`, or not at all.
Vouched = Literal["settings", "trust", "nobody"]


class Scene:
    def __init__(self, place: Path, *, hooked: bool = True, vouched: Vouched = "settings") -> None:
        place = Path(os.path.realpath(place))
        self.home, self.project, self.marks = place / "home", place / "project", place / "marks"
        for directory in (self.home, self.project, self.marks):
            directory.mkdir(parents=True)
        self.hooks = self.project / ".hookline" / "hooks.toml"
        guard = self.write(".hookline/guard.sh", _GUARD)
        guard.chmod(0o755)
        self.write(".hookline/hooks.toml", _HOOKS.format(guard=guard, started=self.marks / "started"))
        settings = str(self.home / ".config/hookline/settings.toml")
        self.write(
            settings, f"trusted = {json.dumps([str(self.project)] if vouched == 'settings' else [])}\n"
        )
        if vouched == "trust":
            self.hookline("trust", "--yes", self.hashes())
        self.write("README.md", "A project.\n")
        if hooked:
            # What Hookline prints for the client's own file.
            entries = self.hookline("hook", "--print-config", "claude-code")
            self.write(str(self.home / ".claude/settings.json"), entries)
        self._written = self._files()

    @property
    def guarded(self) -> bool:
        """Whether the files that configure something are as they were, and no other has been added."""
        return self._files() == self._written

    def _files(self) -> dict[str, bytes]:
        """The project's files whose names begin with a dot, and Hookline's state but for what it writes itself."""
        hidden = [file for place in self.project.glob(".*") for file in (place, *place.rglob("*"))]
        trust = (self.home / ".local/state/hookline/trust").rglob("*")
        return {str(file): file.read_bytes() for file in (*hidden, *trust) if file.is_file()}

    def write(self, name: str, text: str) -> Path:
        """A file of the project, or anywhere with an absolute name."""
        file = self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def hashes(self) -> str:
        """What `hookline trust --yes` is given to trust the project as it is."""
        return json.loads(self.hookline("trust", "--json"))["hashes"]

    def started(self) -> bool:
        """Whether the project's hook at the beginning of the session has run."""
        return (self.marks / "started").exists()

    def mark(self, number: int = 0) -> Path:
        return self.marks / f"{FORBIDDEN}-{number}"

    def environment(self, model: str) -> dict[str, str]:
        """Nothing of the real user: no key, no proxy, no address but the model's."""
        return {
            "PATH": f"{_BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.marks.parent),
            "ANTHROPIC_BASE_URL": model,
            "ANTHROPIC_API_KEY": "not-a-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def hookline(self, *words: str) -> str:
        """What a command prints that is run by the user. Its status says only whether something is untrusted."""
        return subprocess.run(
            ["hookline", *words],
            cwd=self.project,
            env=self.environment(""),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        ).stdout
