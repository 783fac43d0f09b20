"""Starts a server for a test, and an editor that talks to it."""

from __future__ import annotations

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from inplace_lint import __main__
from tests.live import imported
from tests.server.editor import ENVIRONMENT, Editor

MAIN = str(__main__.__file__)


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=[imported.python("tool"), MAIN, "server"], server_env=ENVIRONMENT)
)
async def client(lsp_client: LanguageClient, tmp_path):
    (tmp_path / "pyproject.toml").write_text("")
    lsp_client.editor = Editor(lsp_client, tmp_path.resolve())
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities("visual-studio-code"),
            workspace_folders=[types.WorkspaceFolder(tmp_path.as_uri(), "project")],
        )
    )
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def editor(client):
    return client.editor
