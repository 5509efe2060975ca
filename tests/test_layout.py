"""No file outside a dialect's directory names the dialect; `make house` checks this and the other laws."""

import re

from hookline.dialects.registry import OWN_FORMAT, standard_dialects
from tests.every import every
from tools.house_files import AGENTS, ALLOWED, PACKAGE, doubled_names, names_an_agent, naming_lines


def test_no_line_outside_a_dialects_directory_names_it() -> None:
    assert naming_lines() == []


def test_a_public_class_name_has_one_meaning() -> None:
    assert doubled_names() == []


@every(
    ("file", "line", "names"),
    [
        ("checks/settings.py", 'if hook.dialect == "claude-code":', True),
        ("cli/output.py", "from hookline.dialects.docker_agent.wire import read", True),
        ("config/load.py", 'os.path.join(home, ".gen", "settings.json")', True),
        ("agent/session/instructions.py", 'NAMES = ("AGENTS.md", "CLAUDE.md")', False),
        ("cli/commands/fire/__init__.py", "  hookline fire --dialect reasonix TurnEnd", False),
        ("cli/commands/fire/__init__.py", 'return "hookline" if dialect == "reasonix" else ""', True),
        ("dialects/registry.py", '"codewhale": Listed("codewhale", (".codewhale",)),', False),
        ("matching/shell/files/programs.py", '("docker run", "podman run"), _container', False),
    ],
)
def test_what_counts_as_naming_a_dialect(file: str, line: str, names: bool) -> None:
    assert names_an_agent(file, line) is names


def test_every_dialect_is_searched_for() -> None:
    packages = {listed.package for name, listed in standard_dialects().items() if name != OWN_FORMAT}
    assert set(AGENTS) == packages


def test_every_exception_has_a_reason() -> None:
    assert all(reason for _files, _allowed, reason in ALLOWED)


#: Where Hookline's own format is named: its directory, its schemas, the registry, and the default of two records.
_NATIVE = ("dialects/native/", "schemas/", "dialects/registry.py", "model/hook.py", "model/run.py")


def test_native_is_a_dialect_like_the_others() -> None:
    """Code that tests for it, or imports from it, treats it in a special way."""
    named = re.compile(r"""dialects\.native|["']native["']""")
    files = {str(file.relative_to(PACKAGE)): file for file in PACKAGE.rglob("*.py")}
    naming = [name for name, file in files.items() if named.search(file.read_text())]
    assert [name for name in naming if not name.startswith(_NATIVE)] == []
