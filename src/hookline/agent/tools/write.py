"""Write: put a whole text into a file."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from hookline.agent.tooling import ToolError, ToolReply, Workplace
from hookline.agent.tools.changing import Changed, Changes
from hookline.agent.tools.shaped import ShapedTool

_DESCRIPTION = """\
Writes a whole file, with the folders it needs. A file that exists must have been read before; to change a part of \
one, use Edit."""


class WriteArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    file_path: Annotated[
        str, Meta(min_length=1, description="The file; absolute, or from the working directory.")
    ]
    content: Annotated[str, Meta(description="All that is to be in it.")]


class Write:
    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def tool(self) -> ShapedTool[WriteArguments]:
        return ShapedTool("Write", _DESCRIPTION, "write", WriteArguments, self._run)

    async def _run(self, arguments: WriteArguments, place: Workplace) -> ToolReply:
        content = encoded(arguments.content)
        changed = await self._changes.make(arguments.file_path, place, lambda _old, _path: content)
        if changed.created:
            text = f"File created successfully at: {changed.path}"
        else:
            text = f"The file {changed.path} has been updated successfully."
        return ToolReply(text=text, response=_response(changed, arguments.content))


def encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as problem:
        raise ToolError(f"The text cannot be written as UTF-8: {problem.reason}.") from None


def _response(changed: Changed, content: str) -> dict[str, Any]:
    return {
        "type": "create" if changed.created else "update",
        "filePath": changed.path,
        "content": content,
        "structuredPatch": changed.patch,
        "originalFile": changed.before,
        "userModified": False,
    }
