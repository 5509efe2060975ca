"""Edit known text as a shell does: `${x/a/b}`, `${x%a}`, `${x:1:2}`, and the escapes of printf."""

import re

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|([nt\\\"'])|(.?))")
_ARGUMENT = re.compile("%[sb]")
_PATTERN = re.compile(r"[*?\[\\]")
_SLICE = re.compile(r"\s*+(-?\d{0,9})\s*+(?::\s*+(-?\d{1,9})\s*+)?")
_PLAIN = {"n": "\n", "t": "\t"}


def unescaped(text: str, *arguments: str) -> str | None:
    """Return what printf makes of a text; None where it has more in it than escapes of characters and `%s`."""
    given = iter(arguments)
    if len(arguments) <= len(_ARGUMENT.findall(text)):
        text = _ARGUMENT.sub(
            lambda at: next(given, "") if at[0] == "%b" else next(given, "").replace("\\", r"\\"), text
        )
    unknown = False

    def character(found: re.Match[str]) -> str:
        nonlocal unknown
        if found[1] or found[2]:
            return chr(int(found[1] or found[2], 16 if found[1] else 8))
        unknown = unknown or found[3] is None
        return _PLAIN.get(found[3], found[3] or "")

    done = _ESCAPE.sub(character, text)
    return None if unknown or "%" in text else done


def edited(text: str, operator: str, word: str) -> str | None:
    """Return the value of a variable after an operation; None where it takes a pattern or is not known."""
    if operator == ":" and (cut := _SLICE.fullmatch(word)) is not None:
        start, length = int(cut[1]) if cut[1].strip("-") else 0, cut[2]
        rest = text[start:]
        return rest if length is None else rest[: int(length)]
    if operator in {"^^", ",,"} and not word:
        return text.upper() if operator == "^^" else text.lower()
    if _PATTERN.search(word):
        return None
    if operator[:1] in {"#", "%"}:
        return text.removeprefix(word) if operator[0] == "#" else text.removesuffix(word)
    if operator in {"/", "//"} and word[:1] not in {"#", "%", "/", ""}:
        old, _, new = word.partition("/")
        return text.replace(old, new, 1 if operator == "/" else -1)
    return None
