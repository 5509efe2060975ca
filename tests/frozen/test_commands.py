"""The command line as scripts and agents see it: documents, exit statuses, answers inside other agents."""

from contextlib import ExitStack

from tests.cli.run_cli import place
from tests.frozen.answers import answer_commands, approved_answers
from tests.frozen.approved import check_approved
from tests.frozen.commands import run_commands
from tests.frozen.documents import approved_documents, document_commands
from tests.frozen.project import write_project
from tests.frozen.statuses import approved_statuses, status_commands


def test_documents_statuses_and_answers_are_those_approved() -> None:
    """One test, because loading the program once for all commands is what makes them cheap."""
    with ExitStack() as stack:
        one, two, native, nothing = (stack.enter_context(place()) for _ in range(4))
        for where in (one, two, native):
            write_project(where)
        # An agent's own hooks are not run when it asks, so its answers come from native hooks alone.
        (native.project / ".claude/settings.json").unlink()
        documents, statuses = document_commands(one), status_commands(two, nothing)
        done = iter(run_commands([*documents, *statuses, *answer_commands(native)]))
        check_approved("documents.txt", approved_documents([next(done) for _ in documents]))
        check_approved("statuses.txt", approved_statuses([next(done) for _ in statuses]))
        check_approved("hook_answers.txt", approved_answers(native, list(done)))
