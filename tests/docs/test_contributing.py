"""The map of the code in CONTRIBUTING is true: what it names is there, and no room is missing."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "hookline"
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
MAP = [line for line in TEXT.split("## The map")[1].split("\n## ")[0].splitlines() if line.startswith("| `")]


def named(text: str) -> list[str]:
    """Return files and directories that a text names in backticks."""
    return [each for each in re.findall(r"`([\w./]+)`", text) if each.endswith((".py", "/"))]


def test_every_room_is_on_the_map() -> None:
    rooms = {room for line in MAP for room in named(line.split("|")[1])}
    directories = {f"{each.name}/" for each in PACKAGE.iterdir() if (each / "__init__.py").exists()}
    modules = {each.name for each in PACKAGE.glob("*.py")} - {"__init__.py"}
    assert (directories | modules) - rooms == set()


def test_what_the_map_names_is_in_its_room() -> None:
    for line in MAP:
        _, rooms, about, _ = line.split("|")
        for room in named(rooms):
            assert (PACKAGE / room).exists(), room
        for name in named(about):
            assert any((PACKAGE / room / name).exists() for room in named(rooms)), name


def test_every_other_file_it_names_is_there() -> None:
    for name in named(TEXT.split("\n## ", 2)[2]):
        assert any(root.joinpath(name).exists() for root in (ROOT, PACKAGE)) or _in_a_room(name), name


def _in_a_room(name: str) -> bool:
    """Find a name such as `spawn.py` after a file of the same directory."""
    return any(PACKAGE.rglob(name))
