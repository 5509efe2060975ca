"""Write docs/reference/api.md: the public names for programs, from docstrings, signatures and `#:` comments."""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, is_typeddict

from hookline.model.events import EventSpec
from tools.markdown import GENERATED, code, page, table

#: The modules of the page, in its order.
MODULES = ("hookline", "hookline.host", "hookline.guards", "hookline.testing", "hookline.testing.conformance")
_INTRO = """\
The public names of Hookline for Python programs. [Add hooks to your own agent](../how-to/embed.md) shows them in use,
[Extend Hookline](../how-to/extend.md) has those for new handlers, dialects and journals, and
[Tools](tools.md) has `hookline.actions`, with which a program declares what its tools do."""
#: Names are shown without the modules they live in.
_MODULE = re.compile(r"\b(?:typing|collections\.abc|pathlib|hookline(?:\.\w+)+)\.(?=\w)")
_ADDRESS = re.compile(r"<(function|object) ?(?:<lambda>|[^<>])*>")


def api_page(events: Mapping[str, EventSpec[Any]]) -> str:
    sections = [_section(importlib.import_module(name)) for name in MODULES]
    return page("# API", GENERATED, _INTRO, *sections, _events(events))


def public_names(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in sorted(module.__all__, key=str.casefold):
        yield name, getattr(module, name)


def _section(module: ModuleType) -> str:
    entries = [_entry(name, value) for name, value in public_names(module)]
    return "\n\n".join([f"## `{module.__name__}`", _prose(module.__doc__), *entries])


def _entry(name: str, value: Any) -> str:
    if inspect.isclass(value):
        return _class(name, value)
    if callable(value) and inspect.isfunction(value):
        return "\n\n".join([f"### `{name}{_signature(value)}`", _prose(inspect.getdoc(value))])
    return "\n\n".join([f"### `{name}`", _value(value)])


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(code(str(each)) for each in value) + "."  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return code(_cleaned(str(value)))


def _class(name: str, kind: type[Any]) -> str:
    fields = list(_fields(kind))
    parts = [f"### `{name}`" if fields else f"### `{name}{_signature(kind)}`", _prose(inspect.getdoc(kind))]
    if fields:
        parts.append(table(("field", "type", "meaning"), fields))
    parts += [_method(f"{name}.{each}", member) for each, member in _methods(kind)]
    return "\n\n".join(part for part in parts if part)


def _method(name: str, member: Any) -> str:
    if isinstance(member, property):
        doc, shown = inspect.getdoc(member), name
    else:
        doc, shown = inspect.getdoc(member), f"{name}{_signature(member, method=True)}"
    return "\n\n".join(filter(None, [f"**`{shown}`**", _prose(doc)]))


def _methods(kind: type[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the members of a class and of its bases in Hookline, without those for Hookline's own modules."""
    seen: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.partition(".")[0] == "hookline":
            seen |= {name: member for name, member in vars(base).items() if not name.startswith("_")}
    for name, member in sorted(seen.items()):
        if (isinstance(member, property) or inspect.isfunction(member)) and inspect.getdoc(member):
            yield name, member


def _fields(kind: type[Any]) -> Iterator[tuple[str, str, str]]:
    """The fields of a record, with the comments above them."""
    names = kind.__annotations__ if is_typeddict(kind) else getattr(kind, "__struct_fields__", ())
    if not names:
        return
    source = textwrap.dedent(inspect.getsource(kind))
    lines = source.splitlines()
    for node in ast.parse(source).body[0].body:  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id in names:
            said = " ".join(_comment(lines, node.lineno - 2))
            yield code(node.target.id), code(ast.unparse(node.annotation)), said


def _comment(lines: list[str], at: int) -> list[str]:
    found: list[str] = []
    while lines[at].strip().startswith("#:"):
        found.insert(0, lines[at].strip().removeprefix("#:").strip())
        at -= 1
    return found


def _signature(value: Any, *, method: bool = False) -> str:
    try:
        signature = inspect.signature(value)
    except (ValueError, TypeError):
        return ""
    parameters = [
        parameter.replace(annotation=_annotation(parameter.annotation))
        for parameter in list(signature.parameters.values())[1 if method else 0 :]
    ]
    returned = _annotation(signature.return_annotation)
    return _cleaned(str(signature.replace(parameters=parameters, return_annotation=returned)))


class _Unquoted(str):
    """An annotation that was written as text, shown without its quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _annotation(annotation: Any) -> Any:
    return _Unquoted(annotation) if isinstance(annotation, str) else annotation


def _cleaned(text: str) -> str:
    return _ADDRESS.sub("...", _MODULE.sub("", text)).replace("~", "").replace("mappingproxy({})", "{}")


def _prose(doc: str | None) -> str:
    """A docstring as Markdown: blocks behind `::` and indented ones are code."""
    if not doc:
        return ""
    blocks: list[str] = []
    for block in re.split(r"\n\s*\n", inspect.cleandoc(doc)):
        if block.strip() == "::":
            continue
        if all(line.startswith("    ") or not line for line in block.splitlines()):
            text = textwrap.dedent(block)
            if blocks and blocks[-1].startswith("```"):
                blocks[-1] = blocks[-1].removesuffix("\n```") + f"\n\n{text}\n```"
            else:
                blocks.append(f"```python\n{text}\n```")
        else:
            blocks.append(
                re.sub(r"\s*::$", "", block) if block.endswith(". ::") else re.sub(r"::$", ":", block)
            )
    return "\n\n".join(blocks)


def _events(events: Mapping[str, EventSpec[Any]]) -> str:
    from hookline import events as public  # noqa: PLC0415 - the names of the constants

    constants: dict[str, EventSpec[Any]] = {
        name: getattr(public, name) for name in public.__all__ if name.isupper()
    }
    names = {id(value): name for name, value in constants.items()}
    rows = [
        (
            code(names.get(id(event), event.name)),
            f"[{event.name}](events.md#{event.name.lower()})",
            f"`{event.payload.__name__}`({', '.join(event.payload.__struct_fields__)})",
        )
        for event in events.values()
    ]
    text = (
        "The events and their payload records. `session.dispatch(EVENT, payload)` fires one; "
        "[Events](events.md) says when each fires, and what each field means."
    )
    return "\n\n".join(["## `hookline.events`", text, table(("constant", "event", "payload"), rows)])
