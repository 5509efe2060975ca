"""Runs the scripts of scripts.txt cold and warm, and compares what they did. Also for `make soak`."""

import asyncio
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from hookline.extending import Exited, Failed
from hookline.handlers.process.pool import Processes
from hookline.handlers.warm.scripts import WarmScripts

TABLE = Path(__file__).parent / "scripts.txt"
_BASE = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "TERM": "dumb"}
_LONG = 60.0


class Script(Struct, frozen=True):
    """One entry of the table."""

    name: str
    files: Mapping[str, str]
    settings: Mapping[str, Sequence[str]]

    def said(self, key: str, default: str = "") -> str:
        return self.settings.get(key, (default,))[-1]

    def has(self, key: str) -> bool:
        return key in self.settings


def scripts() -> list[Script]:
    _, *entries = TABLE.read_text(encoding="utf-8").split("\n=== ")
    return [_script(entry) for entry in entries]


def _script(entry: str) -> Script:
    name, _, body = entry.partition("\n")
    files: dict[str, list[str]] = {}
    settings: dict[str, list[str]] = {}
    current = "script.py"
    for line in body.split("\n"):
        if not line.startswith("#: "):
            files.setdefault(current, []).append(line)
            continue
        key, _, value = line[3:].partition(" ")
        if key == "file":
            current = value
            files.setdefault(current, [])
        else:
            settings.setdefault(key, []).append(value)
    files.setdefault("script.py", [])
    return Script(name, {file: "\n".join(lines) for file, lines in files.items()}, settings)


def interpreters() -> list[str]:
    """Every Python from 3.10 on that this machine has."""
    homes = sorted(Path(os.path.expanduser("~/.pyenv/versions")).glob("3.1*/bin/python3"))
    return [str(each) for each in (Path("/usr/bin/python3"), *homes) if each.exists()]


class Differences:
    """Runs scripts with one interpreter, each in a new directory, and reports where warm differs from cold."""

    def __init__(self, python: str, directory: Path, at_once: int = 4) -> None:
        self._python = python
        self._directory = directory
        self._at_once = at_once
        self.compared = 0
        self.misses = 0

    async def among(self, wanted: Sequence[Script]) -> list[str]:
        found: list[str] = []
        self._warm = WarmScripts(children=3, interpreters=40, after=1)
        self._processes = Processes(warm=self._warm)
        self._starting = asyncio.Lock()
        gate = asyncio.Semaphore(self._at_once)
        version = subprocess.run(
            [self._python, "-c", "import sys; print(*sys.version_info[:2])"],
            check=True,
            capture_output=True,
            text=True,
        )
        self._version = tuple(map(int, version.stdout.split()))
        wanted = [
            each for each in wanted if not each.has("until") or self._version <= _version(each.said("until"))
        ]

        async def one(number: int, script: Script) -> None:
            async with gate:
                found.extend(await self._of(number, script))

        try:
            await asyncio.gather(*(one(number, script) for number, script in enumerate(wanted)))
        finally:
            await self._processes.close()
            self._warm.close()
        return found

    async def _of(self, number: int, script: Script) -> list[str]:
        # Twice warm: the second time with what the first has taught it.
        seen: list[dict[str, object]] = []
        name = f"s{number}"
        for turn in ("cold", "warm", "again"):
            place = self._directory / turn / name
            _write(script, place, self._python)
            result = await self._run(script, place, turn != "cold")
            facts = _facts(result, place, turn, name)
            if script.has("lingers"):
                del facts["held"]
            seen.append(facts)
        self.compared += 1
        return [
            f"{script.name} ({turn}), {key}:\n   cold {seen[0][key]!r}\n   warm {value!r}"
            for turn, facts in zip(("warm", "again"), seen[1:], strict=True)
            for key, value in facts.items()
            if value != seen[0][key]
        ]

    async def _run(self, script: Script, directory: Path, warm: bool) -> Exited | Failed:
        argv, env, stdin = self._order(script, directory)
        end = asyncio.get_running_loop().time() + _LONG
        while True:
            run = self._processes.run(
                argv, stdin=stdin, env=env, cwd=str(directory), timeout=float(script.said("timeout", "20")),
                run_id=directory.name, warm=warm,
            )  # fmt: skip
            async with self._starting:  # one at a time, because the umask is that of the whole process
                before = os.umask(int(script.said("umask", "022"), 8))
                try:
                    ran = asyncio.ensure_future(run)
                    await asyncio.sleep(0)
                finally:
                    os.umask(before)
            result: Any = await ran
            early = result.warm if warm else None
            elsewhere = script.has("elsewhere") and self._version >= _version(
                script.said("elsewhere") or "3.0"
            )
            if not warm or early is (not elsewhere):
                return result
            self.misses += 1
            if asyncio.get_running_loop().time() > end:
                why = self._warm.why_cold(argv, env, str(directory))
                return Failed("not_started", f"it never ran warm: {why}, {self._warm.runs}")
            _write(script, directory, self._python)
            await asyncio.sleep(0.02)
            self._warm.tend()

    def _order(self, script: Script, directory: Path) -> tuple[list[str], dict[str, str], bytes]:
        flags, args = (shlex.split(_unescaped(script.said(key))) for key in ("flags", "args"))
        form = script.said("form")
        target = {
            "code": ["-c", script.files["script.py"]],
            "module": ["-m", "not_there" if script.has("missing") else "script"],
            "relative": ["script.py"],
        }.get(form, [str(directory / "script.py")])
        words = (
            [str(directory / "script.py"), *args]
            if form == "first-line"
            else [self._python, *flags, *target, *args]
        )
        argv = words if form == "exec" else ["/bin/sh", "-c", shlex.join(words)]
        env = _BASE | dict(_unescaped(each).split("=", 1) for each in script.settings.get("env", ()))
        if script.has("pythonpath"):
            env["PYTHONPATH"] = str(directory / script.said("pythonpath"))
        if env["LANG"] == "":
            del env["LANG"]
        stdin = _unescaped(script.said("stdin")).encode("utf-8", "surrogateescape")
        return argv, env, b"x" * (3 << 20) if script.has("big-stdin") else stdin


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))


def _unescaped(text: str) -> str:
    return (
        text.replace("\\n", "\n")
        .replace("\\udce4", "\udce4")
        .replace("\\udcff", "\udcff")
        .replace("\\u00e4", "ä")
    )


def _write(script: Script, directory: Path, python: str) -> None:
    """The files of a script, as they are before it has run."""
    import shutil

    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in script.files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(_bytes(script, text.replace("{name}", directory.name)))
    main = directory / "script.py"
    if script.said("form") == "first-line":
        main.write_text(f"#!{python}\n{script.files['script.py']}", encoding="utf-8")
        main.chmod(0o755)
    if script.has("missing"):
        main.unlink()
    if script.has("folder"):
        main.rename(directory / "__main__.py")
        main.mkdir()
        (directory / "__main__.py").rename(main / "__main__.py")
    if script.has("link") and not main.is_symlink():
        (directory / "real").mkdir()
        main.rename(directory / "real" / "other.py")
        main.symlink_to("real/other.py")


def _bytes(script: Script, text: str) -> bytes:
    if script.has("nul"):
        text = text.replace("x", "\0")
    if script.has("crlf"):
        text = text.replace("\n", "\r\n")
    if script.has("bare"):
        text = text.rstrip("\n")
    encoded = text.encode("latin-1" if "latin-1 -*-" in text else "utf-8")
    return b"\xef\xbb\xbf" + encoded if script.has("bom") else encoded


def _facts(result: Exited | Failed, directory: Path, turn: str, name: str) -> dict[str, object]:
    """Return what must be equal. The directories differ in one word."""
    ended = result.code if isinstance(result, Exited) else (result.cause, result.detail, result.signal)
    held = result.pipes_held if isinstance(result, Exited) else None
    own = f"/{turn}/{name}".encode()
    streams = {
        key: re.sub(
            rb"0x[0-9a-f]{6,}|(?<=test in )[\d.]+",
            b"0x",
            getattr(result, key).replace(own, b"/turn/" + name.encode()),
        )
        for key in ("stdout", "stderr")
    }
    left = {
        each.name: each.read_bytes()
        for each in sorted(directory.glob("*"))
        if each.is_file() and each.suffix != ".py" and not each.is_symlink()
    }
    return {"end": ended, "held": held, "files": left, **streams}


def main() -> Iterator[str]:
    import tempfile

    wanted = [
        each for each in scripts() if not sys.argv[2:] or any(word in each.name for word in sys.argv[2:])
    ]
    for python in [sys.argv[1]] if sys.argv[1:] and sys.argv[1] != "all" else interpreters():
        with tempfile.TemporaryDirectory() as directory:
            differences = Differences(python, Path(directory))
            found = asyncio.run(differences.among(wanted))
            yield f"{python}: {differences.compared} scripts, {len(found)} differences, {differences.misses} misses"
            yield from found


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
