"""The command line as scripts and agents see it: documents, exit statuses, answers inside other agents."""

from collections.abc import Iterator

import pytest

from tests.cli.run_cli import Workspace, workspace
from tests.frozen.answers import answer_commands, approved_answers
from tests.frozen.approved import check_approved
from tests.frozen.documents import approved_documents, document_commands
from tests.frozen.project import write_project
from tests.frozen.statuses import approved_statuses, status_commands


@pytest.fixture
def project() -> Iterator[Workspace]:
    with workspace() as where:
        write_project(where)
        yield where


def test_the_keys_of_every_document(project: Workspace) -> None:
    done = [command.run() for command in document_commands(project)]
    check_approved("documents.txt", approved_documents(done))


def test_every_exit_status(project: Workspace) -> None:
    with workspace() as nothing:
        done = [command.run() for command in status_commands(project, nothing)]
    check_approved("statuses.txt", approved_statuses(done))


def test_the_answer_to_every_agent(project: Workspace) -> None:
    # An agent's own hooks are not run when it asks, so its answers come from native hooks alone.
    (project.project / ".claude/settings.json").unlink()
    done = [command.run() for command in answer_commands(project)]
    check_approved("hook_answers.txt", approved_answers(project, done))
