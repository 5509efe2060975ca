"""Edit: replace a stretch of a file by another."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from hookline.agent.tooling import ToolError, ToolReply, Workplace
from hookline.agent.tools.changing import Changed, Changes
from hookline.agent.tools.files import missing
from hookline.agent.tools.reading import no_text
from hookline.agent.tools.shaped import ShapedTool
from hookline.agent.tools.write import encoded

_DESCRIPTION = """\
Replaces old_string by new_string in a file that has been read. old_string must be exactly as in the file, without \
the line numbers of Read, and stand there once, unless replace_all is set."""


class EditArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[
        str, Meta(min_length=1, description="The file; absolute, or from the working directory.")
    ]
    old_string: Annotated[
        str, Meta(min_length=1, description="The text to replace, exactly as it stands there.")
    ]
    new_string: Annotated[str, Meta(description="What to put in its place.")]
    replace_all: Annotated[bool, Meta(description="Replace it wherever it stands.")] = False


class Edit:
    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def tool(self) -> ShapedTool[EditArguments]:
        return ShapedTool("Edit", _DESCRIPTION, "write", EditArguments, self._run)

    async def _run(self, arguments: EditArguments, place: Workplace) -> ToolReply:
        if arguments.old_string == arguments.new_string:
            raise ToolError("old_string and new_string are the same: there is nothing to change.")
        changed = await self._changes.make(
            arguments.file_path, place, lambda old, path: _edited(old, path, arguments)
        )
        return ToolReply(
            text=f"The file {changed.path} has been updated successfully.",
            response=_response(changed, arguments),
        )


def _edited(content: bytes | None, path: str, arguments: EditArguments) -> bytes:
    """Bytes, not text: what is no UTF-8 in the rest of the file stays as it is."""
    if content is None:
        raise ToolError(missing(path))
    kind = no_text(content)
    if kind is not None:
        raise ToolError(f"{path} is {kind}; Edit changes text only.")
    old, new = encoded(arguments.old_string), encoded(arguments.new_string)
    if b"\r" not in old + new and content.count(b"\r\n") * 2 > content.count(b"\n"):
        # Read shows lines without the carriage returns of such a file.
        old, new = old.replace(b"\n", b"\r\n"), new.replace(b"\n", b"\r\n")
    times = content.count(old)
    if not times:
        raise ToolError(
            f"old_string is not in {path}. It must be exactly as in the file, also in its blanks and line ends."
        )
    if times > 1 and not arguments.replace_all:
        raise ToolError(
            f"old_string stands {times} times in {path}. Give more of what is around it, or set replace_all."
        )
    return content.replace(old, new)


def _response(changed: Changed, arguments: EditArguments) -> dict[str, Any]:
    return {
        "filePath": changed.path,
        "oldString": arguments.old_string,
        "newString": arguments.new_string,
        "originalFile": changed.before,
        "structuredPatch": changed.patch,
        "userModified": False,
        "replaceAll": arguments.replace_all,
    }
