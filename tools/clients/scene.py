"""Make a new home and project for one run of the client, with Hookline as its hook."""

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from tools.clients.agents.claude_code import CLAUDE_CODE
from tools.clients.client import Client

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
#: Seconds that a session may take.
_LONGEST = 180
#: Where `hookline` is installed.
_BIN = str(Path(sys.executable).parent)
#: The program that entries name, and its fallback.
_NAMES = ("hookline", "hookline-relay")


#: How the user trusts the project: in the settings, with `hookline trust`, or not at all.
Trusted = Literal["settings", "trust", "nobody"]


#: How Hookline becomes a hook of the client: by the entries that it prints, by `hookline install`, or not at all.
Hooked = Literal["printed", "installed", ""]


class Scene:
    def __init__(
        self,
        place: Path,
        client: Client = CLAUDE_CODE,
        *,
        hooked: Hooked = "printed",
        guarded: bool = True,
        trusted: Trusted = "settings",
        packages: Mapping[str, Path] = {},
    ) -> None:
        place = Path(os.path.realpath(place))
        self.client = client
        #: The client's own program, once it is known, and directories that it needs in PATH.
        self.program = ""
        self.path: tuple[str, ...] = ()
        #: Where the model will listen: some clients have its address in their files.
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.home, self.project, self.marks = place / "home", place / "project", place / "marks"
        for directory in (self.home, self.project, self.marks):
            directory.mkdir(parents=True)
        #: What the user saw of the last session.
        self.said = ""
        #: Where the client finds programs before anywhere else.
        self.programs = _BIN
        self.hooks = self.project / ".hookline" / "hooks.toml"
        if guarded:
            guard = self.write(".hookline/guard.sh", _GUARD)
            guard.chmod(0o755)
            self.write(".hookline/hooks.toml", _HOOKS.format(guard=guard, started=self.marks / "started"))
        settings = str(self.home / ".config/hookline/settings.toml")
        self.write(
            settings, f"trusted = {json.dumps([str(self.project)] if trusted == 'settings' else [])}\n"
        )
        if trusted == "trust":
            self.hookline("trust", "--yes", self.hashes())
        self.write("README.md", "A project.\n")
        for name, text in client.beforehand.items():
            self.write(str(self.home / name), text.format(url=self.url))
        for directory, modules in packages.items():
            (self.home / directory).mkdir(parents=True, exist_ok=True)
            (self.home / directory / "node_modules").symlink_to(modules)
        if hooked == "printed":
            self.connect()
        elif hooked:
            self.install()
        self._written = self._files()

    @property
    def settings(self) -> Path:
        """The user's own file of the client."""
        return self.home / self.client.settings

    def install(self, *events: str, if_missing: str = "block", options: Sequence[str] = ()) -> None:
        """Install with `hookline install`, from a Hookline that can disappear: it is in a separate directory."""
        self.programs = str(self.marks.parent / "programs")
        Path(self.programs).mkdir(exist_ok=True)
        for name in _NAMES:
            shutil.copy(Path(_BIN, name), self.programs)
        only = ("--events", ",".join(events)) if events else ()
        self.hookline("uninstall", self.client.name, "--yes")
        self.hookline("install", self.client.name, "--if-missing", if_missing, "--yes", *only, *options)

    def connect(self, *events: str) -> None:
        """Put Hookline's printed entries into the client's own file, and let the client run them."""
        before = self.settings.read_text() if self.settings.exists() else ""
        if self.settings.suffix == ".toml":
            self.write(str(self.settings), before + self.entries(*events))
            return
        entries = json.loads(before or "{}") | json.loads(self.entries(*events))
        self.write(str(self.settings), json.dumps(entries))
        for name, text in self.client.trust(str(self.settings), entries).items():
            self.write(str(self.home / name), text)

    def entries(self, *events: str) -> str:
        return self.hookline("hook", "--print-config", self.client.name, *events)

    def add_hook(self, event: str, line: str, *, rewrites: bool = False) -> None:
        """A native hook of the project beside those that it has; the line is for a shell."""
        entry = f"command = {json.dumps(line)}{', rewrites = true' if rewrites else ''}"
        with self.hooks.open("a") as file:
            file.write(f"\n[[hooks.{event}]]\nhooks = [{{ {entry} }}]\n")
        self._written = self._files()

    def lines(self, name: str) -> list[str]:
        """Read what hooks have written into a file beside the marks."""
        file = self.marks / name
        return file.read_text().split() if file.exists() else []

    def lose_hookline(self, instead: str = "") -> None:
        """Hide Hookline from the client, or put another program in its place."""
        self.programs = str(self.marks.parent / "programs")
        Path(self.programs).mkdir(exist_ok=True)
        for name in _NAMES:
            program = Path(self.programs, name)
            program.unlink(missing_ok=True)
            if instead:
                self.write(str(program), f"#!/bin/sh\n{instead}\n")
                program.chmod(0o755)

    def lose_python(self) -> None:
        """Leave Hookline's programs where they are, without the Python that they need."""
        self.write(f"{self.programs}/hookline", "#!/nowhere/bin/python\n")

    @property
    def guarded(self) -> bool:
        """Return True if the configuration files are unchanged, and no other was added."""
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
        """Return the arguments of `hookline trust --yes` that trust the project in its current form."""
        return json.loads(self.hookline("trust", "--json"))["hashes"]

    def started(self) -> bool:
        """Return True if the project's hook at the beginning of the session has run."""
        return (self.marks / "started").exists()

    def mark(self, number: int = 0) -> Path:
        return self.marks / f"{FORBIDDEN}-{number}"

    def environment(self) -> dict[str, str]:
        """Nothing of the real user: no key, no proxy, no address but the model's."""
        return {
            "PATH": os.pathsep.join([self.programs, *self.path, *_other_programs()]),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.marks.parent),
            # A call that finds no daemon would start one in the real user's directory.
            "HOOKLINE_DAEMON": "off",
            **self.client.environment(self.url),
        }

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """The client, as the user starts it in the project."""
        ran = subprocess.run(
            [self.program, *words], cwd=self.project, env=self.environment(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=_LONGEST, check=False,
        )  # fmt: skip
        self.said = ran.stdout + ran.stderr
        return ran

    def hookline(self, *words: str) -> str:
        """Return the output of a command of the user. Its status says only whether something is untrusted."""
        return subprocess.run(
            ["hookline", *words],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        ).stdout


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _other_programs() -> list[str]:
    """Return the directories of the real user's PATH without a Hookline."""
    directories = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [directory for directory in directories if not Path(directory, "hookline").exists()]
