"""Make the program `hookline-relay`: compiled where there is a compiler, else the script that starts
`client.py`.

Run when the package is built (`hatch_build.py`), and by tests.
"""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).resolve().parent
#: The programs that are a shell under the exec guard: the relay under these names, or `shell.sh` where it is a script.
SHELLS: Final = ("hookline-bash", "hookline-zsh")
COMPILERS: Final = ("cc", "gcc", "clang")
_OPTIONS: Final = ("-std=c11", "-Os", "-Wall", "-Wextra")
#: Linked statically it starts in half the time, and on every system of its kind; not all systems can do it.
_LINKED: Final = (("-static", "-s"), ("-s",), ())
#: A program that is linked to libraries of the system names the loader of those.
_INTERPRETER: Final = b"/ld-"


def observed() -> str:
    """Return the events that guard nothing, each with its dialect in a line: a call there is not blocked when
    nobody answers it."""
    return (_HERE / "observed.txt").read_text()


def compile_relay(target: Path, version: str, machine: str = "") -> bool:
    """Return True if there is a compiler whose program works.

    `machine` is another kind of processor, such as aarch64: its program must be static, and run in an emulator here.
    """
    names = (f"{machine}-linux-gnu-gcc",) if machine else COMPILERS
    compiler = next((found for name in names if (found := shutil.which(name))), None)
    emulator = [f"qemu-{machine}-static"] if machine else []
    if compiler is None or not all(map(shutil.which, emulator)):
        return False
    listed = observed().replace("\n", "\\n")
    named = [f'-DHOOKLINE_VERSION="{version}"', f'-DHOOKLINE_OBSERVED="{listed}"']
    for linked in _LINKED[:1] if machine else _LINKED:
        words = [compiler, *_OPTIONS, *named, *linked, str(_HERE / "relay.c"), "-o", str(target)]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode == 0 and _works([*emulator, str(target)]):
            return True
    return False


def wheel_platform(program: Path, machine: str = "") -> str:
    """Return the platform tag of a wheel with this program. A static one runs on every Linux of its processor."""
    here = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    machine = machine or here.removeprefix("linux_")
    if not here.startswith("linux_") or _INTERPRETER in program.read_bytes():
        return here
    return f"manylinux_2_17_{machine}.musllinux_1_1_{machine}"


def write_pure_relay(target: Path, version: str, directory: str = "") -> None:
    """Write the script; `directory` is the directory of the package, if it is not installed in the environment
    of the program."""
    text = (_HERE / "start.sh").read_text()
    quoted = directory.replace("'", "'\\''")
    for name, value in (("VERSION", version), ("DIRECTORY", quoted), ("OBSERVED", observed())):
        text = text.replace(f"@{name}@", value)
    target.write_text(text)
    target.chmod(0o755)


def write_shells(relay: Path) -> list[Path]:
    """Write the shells beside a relay; return their files."""
    script = relay.read_bytes()[:2] == b"#!"
    written = [relay.with_name(name) for name in SHELLS]
    for target in written:
        draft = target.with_name(f"{target.name}.new")
        shutil.copyfile(_HERE / "shell.sh" if script else relay, draft)
        draft.chmod(0o755)
        draft.replace(target)  # the old one may be running
    return written


def _works(program: list[str]) -> bool:
    """Return True if the program runs here. The call is a mistake in the arguments, which the program itself
    answers."""
    try:
        done = subprocess.run(
            [*program, "--daemon"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=os.environ,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 2 and done.stderr.startswith(b"hookline-relay: --daemon")


if __name__ == "__main__":
    # In place, for a package that is installed in place: `make` does it when the sources of the relay
    # change.
    import sys

    from hookline import __version__

    program = Path(sys.argv[1])
    draft = program.with_name(f"{program.name}.new")
    if not compile_relay(draft, __version__):
        write_pure_relay(draft, __version__, str(_HERE.parents[2]))
    draft.replace(program)  # the old one may be running
    write_shells(program)
