"""Read and write KEY=VALUE lines, which a shell_env hook prints."""

from collections.abc import Mapping

from hookline.dialects.codewhale.texts import CAPTURE

VALUE_BYTES = 32 << 10
_TOTAL_BYTES = 256 << 10


def read_lines(text: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Return the variables in order, and the names of those that no shell could use."""
    kept: list[tuple[str, str]] = []
    dropped: list[str] = []
    total = 0
    for line in text.split("\n"):
        pair = _pair(line)
        if pair is None:
            continue
        key, value = pair
        size = len(key.encode("utf-8", "replace")) + len(value.encode("utf-8", "replace"))
        if total + size > _TOTAL_BYTES:
            dropped.append(key)
            break
        if not usable(key, value):
            dropped.append(key)
            continue
        total += size
        kept.append(pair)
    return tuple(kept), tuple(dropped)


def _pair(line: str) -> tuple[str, str] | None:
    line = line.strip()
    if not line or line.startswith("#"):
        return None
    key, equals, value = line.removeprefix("export ").partition("=")
    if not equals:
        return None
    return key.strip(), _unquoted(value.strip())


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1]
    return value


def usable(key: str, value: str) -> bool:
    if not key or any(each == "=" or each.isspace() or not each.isprintable() for each in key):
        return False
    return "\0" not in value and len(value.encode("utf-8", "replace")) <= VALUE_BYTES


def write_lines(env: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Return lines that are read back as the same variables, and the names of those that cannot be written so."""
    lines: list[str] = []
    lost: list[str] = []
    room = CAPTURE
    for key, value in env.items():
        # In quotes always: blanks around a value and quotes that belong to it would be lost otherwise.
        line = f'{key}="{value}"\n'
        size = len(line.encode("utf-8", "replace"))
        if "\n" in value or "\r" in value or key.startswith("#") or not usable(key, value) or size > room:
            lost.append(key)
            continue
        room -= size
        lines.append(line)
    return "".join(lines), tuple(lost)
