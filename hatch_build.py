"""Adds the program `hookline-relay` to the wheel, compiled where there is a compiler, else in Python; the shells that
use it; and the pages that `hookline docs` prints.

A wheel with the compiled one is for systems of one kind: this one, or the processor that HOOKLINE_RELAY_FOR names.
HOOKLINE_PURE=1 builds the other, which is for all of them.
"""

import importlib.util
import os
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_NAME = "hookline-relay"
_PAGES = ("how-to", "explanation", "reference", "dialects")


class RelayBuildHook(BuildHookInterface[Any]):
    """`editable` wheels, which `pip install -e` makes, get it as well."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._made = tempfile.TemporaryDirectory(prefix="hookline-build-")
        source = Path(self.root, "src")
        build = _module(source / "hookline" / "hook" / "relay" / "build.py")
        program = Path(self._made.name, _NAME)
        wanted = os.environ.get("HOOKLINE_PURE", "") in ("", "0")
        machine = os.environ.get("HOOKLINE_RELAY_FOR", "")
        if wanted and build.compile_relay(program, self.metadata.version, machine):
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{build.wheel_platform(program, machine)}"
        elif machine:
            message = f"the relay for {machine} needs {machine}-linux-gnu-gcc and qemu-{machine}-static"
            raise FileNotFoundError(message)
        else:
            folder = str(source) if version == "editable" else ""
            build.write_pure_relay(program, self.metadata.version, folder)
        for each in (program, *build.write_shells(program)):
            build_data["shared_scripts"][str(each)] = each.name
        if version != "editable":  # which finds them in the checkout
            build_data["force_include"] |= {
                str(Path(self.root, "docs", part)): f"hookline/docs/{part}" for part in _PAGES
            }

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        self._made.cleanup()


def _module(file: Path) -> Any:
    """By its path: the package itself cannot be imported where it is built, without what it depends on."""
    spec = importlib.util.spec_from_file_location("relay_build", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
