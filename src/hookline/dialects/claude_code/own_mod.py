"""Write Hookline as a mod of Claude Code: a plugin with a module, and its place before the user's other plugins."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, cast

from hookline.dialects.entries import as_json
from hookline.dialects.installer import Texts
from hookline.documents.edit import appended, found_at, read_value, removed, with_value

#: Below the user's directory of Claude Code, which loads every plugin there.
DIRECTORY = "skills/hookline-mod"
MODULE = "hooks/register.js"
#: Its name in settings; earlier in this list is further outside, and has the last word.
NAME = "hookline-mod@skills-dir"
_FIRST = ("prependPlugins",)
_CALL = re.compile(r"^const CALL = (\".*\")$", re.MULTILINE)
_ADDRESS = re.compile(r"^const ADDRESS = \".*\"$", re.MULTILINE)


def mod_files(root: str) -> Sequence[str]:
    """Return its files, the module first."""
    return [os.path.join(root, name) for name in (MODULE, *_others())]


def mod_texts(root: str, line: str, address: str) -> Mapping[str, str]:
    """Return the texts of its files: `line` asks Hookline where no daemon answers."""
    text = files(__package__ or __name__).joinpath("mod.js").read_text(encoding="utf-8")
    text = _CALL.sub(lambda _: f"const CALL = {json.dumps(line)}", text)
    module = _ADDRESS.sub(lambda _: f"const ADDRESS = {json.dumps(address)}", text)
    return {os.path.join(root, name): each for name, each in {MODULE: module, **_others()}.items()}


def line_of(text: str | None) -> tuple[str, int] | None:
    """Return the shell line in a module of ours, and its line number; None for any other module."""
    found = _CALL.search(text or "")
    if text is None or found is None:
        return None
    line: str = json.loads(found[1])
    return line, text[: found.start()].count("\n") + 1


def is_ours(text: str | None) -> bool:
    """Return True for a module exactly as this version writes it."""
    found = line_of(text)
    if text is None or found is None:
        return False
    own = mod_texts("", found[0], "")[MODULE]
    return _ADDRESS.sub("", text) == _ADDRESS.sub("", own)


def placed_first(settings: str | None) -> str:
    """Return settings in which our mod comes before other plugins."""
    text = settings or "{}\n"
    known: Any = found_at(read_value(text, "json"), _FIRST)
    if not isinstance(known, list):
        return appended(text, "json", _FIRST, NAME)
    others = [each for each in cast("list[Any]", known) if each != NAME]
    return text if known[:1] == [NAME] else with_value(text, "json", _FIRST, [NAME, *others])


def without_mod(texts: Texts, root: str, settings: str, originals: Mapping[str, str | None]) -> Texts:
    """Return the files without our mod."""
    text = texts.get(settings)
    known: Any = found_at(read_value(text, "json"), _FIRST) if text else None
    if text and isinstance(known, list) and NAME in known:
        alone = (
            known == [NAME] and found_at(read_value(originals.get(settings) or "{}", "json"), _FIRST) is None
        )
        place = _FIRST if alone else (*_FIRST, cast("list[Any]", known).index(NAME))
        text = removed(text, "json", place)
    return {**texts, settings: text, **dict.fromkeys(mod_files(root))}


def _others() -> Mapping[str, str]:
    from hookline import __version__  # noqa: PLC0415 only to install

    manifest = {"name": "hookline-mod", "version": __version__, "description": "Hookline asks your guards"}
    module = {"modules": ["./register.js"]}
    return {
        ".claude-plugin/plugin.json": f"{as_json(manifest)}\n",
        "hooks/hooks.json": f"{as_json(module)}\n",
    }
