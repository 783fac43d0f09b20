"""`inplace-lint server`: speaks the Language Server Protocol on standard input and output."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from inplace_lint.server.language_server import Server
from inplace_lint.server.requests import answer_actions, answer_commands, answer_hover
from inplace_lint.server.synchronization import follow_folders, follow_notebooks, follow_texts


def serve(options: dict[str, Any], delay: float, confirm_options: Sequence[str]) -> None:
    """
    Serve until the editor ends the connection; `confirm_options` are those of the runs that confirm a finding.

    Units: `delay` in seconds, from a key to the analysis.
    """
    server = Server(options, delay)
    follow_folders(server)
    follow_texts(server)
    follow_notebooks(server)
    answer_actions(server)
    answer_hover(server)
    answer_commands(server, confirm_options)
    try:
        # What anything else prints would break the protocol.
        with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out, contextlib.redirect_stdout(sys.stderr):
            server.start_io(stdout=out)
    finally:
        server.analyses.end()
