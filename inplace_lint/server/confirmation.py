"""Confirms a finding by `inplace-lint check --confirm` in a process of its own: the server imports no framework."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path


async def confirmed(path: Path, folder: Path, code: str, line: int, options: Sequence[str]) -> str:
    """
    Return what a run on the real framework says of the finding of a rule in a line of a saved file.

    All findings of the file are tried, since another one that ends the program has to be repaired to reach this one.
    """
    words = ["check", "--confirm", "--exit-zero", "--output-format", "json", *options, str(path)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "inplace_lint", *words),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, words_of_error = await process.communicate()
    if process.returncode != 0:
        return words_of_error.decode("utf-8", "replace").strip() or f"the run ended with status {process.returncode}"
    for row in json.loads(out):
        if row["code"] == code and row["location"]["row"] == line and row["confirmed"] is not None:
            verdict = row["confirmed"]
            where = f" on {row['framework']} {verdict['version']} ({verdict['device']})" if verdict["version"] else ""
            return f"{code} in line {line}: {verdict['verdict']}{where}: {verdict['reason']}"
    return f"{code} is not found in line {line} of the saved file"
