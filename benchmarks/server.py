"""
How soon after a key an editor shows findings: `python benchmarks/server.py [TREE] [--files FILE...] [--edits N]`.

Starts `inplace-lint server` on a copy of timm, opens a model file, and edits it as somebody does who types: each edit
is one message, and the next is sent when findings of that version are there. The first edit of a file is not counted.
TREE is a folder with the package `timm`; by default the pinned wheel is fetched. Times are from the message to the
findings; the time for which the server waits for another key (`--debounce`) is in them, and is printed below. CPU times
are those of the server: on a machine that does nothing else, they and the debounce are the time that one waits.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.edits import _functions  # noqa: E402 - of this checkout
from benchmarks.speed import download  # noqa: E402

FILES = ("vision_transformer", "resnet", "efficientnet", "convnext", "swin_transformer", "densenet")
DEBOUNCE_MS = 50


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", type=Path)
    parser.add_argument("--files", nargs="+", default=FILES, help="model files, without folder and suffix")
    parser.add_argument("--edits", type=int, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "project").resolve()
        shutil.copytree(chosen.tree / "timm" if chosen.tree else download(Path(name), "timm"), folder / "timm")
        (folder / "pyproject.toml").write_text("[project]\nname = 'timm'\n")
        asyncio.run(_measure(folder, chosen.files, chosen.edits))


async def _measure(folder: Path, names: list[str], edits: int) -> None:
    client, shown = LanguageClient("benchmark", "1"), asyncio.Queue[types.PublishDiagnosticsParams]()
    client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(_put, shown))
    client.feature(types.WINDOW_LOG_MESSAGE)(lambda params: print(params.message, file=sys.stderr))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = ("-m", "inplace_lint", "server", "--debounce", str(DEBOUNCE_MS))
    await client.start_io(sys.executable, *command, env=environment)
    place = types.WorkspaceFolder(folder.as_uri(), "timm")
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), workspace_folders=[place]))
    client.initialized(types.InitializedParams())
    print(
        "| file | lines | opened | median | 95th percentile | CPU, median | CPU, 95th |\n|---|---|---|---|---|---|---|"
    )
    every: list[tuple[float, float]] = []
    for name in names:
        path = folder / "timm" / "models" / f"{name}.py"
        text = path.read_text(encoding="utf-8")
        opened, _, *seconds = [one async for one in _edited(client, shown, path, text, edits)]
        every += seconds
        print(f"| {name}.py | {text.count(chr(10))} | {opened[0]:.2f} s | {_words(seconds)} |", flush=True)
    print(f"| all | | | {_words(every)} |\n\n{DEBOUNCE_MS} ms of each are the debounce.")
    await client.shutdown_async(None)
    client.exit(None)


async def _edited(client: LanguageClient, shown: asyncio.Queue, path: Path, text: str, edits: int):  # noqa: ANN202
    """Yield the seconds from opening a file, and from each edit, to the findings of that text."""
    uri = path.as_uri()
    clock = _Clock(client)
    item = types.TextDocumentItem(uri, "python", 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    await _shown(shown, uri, 1)
    yield clock.spent()
    await asyncio.sleep(2)  # a reader's pause: callers are analyzed meanwhile
    rng = random.Random(7)
    places = sorted(rng.choices(_functions(path), k=edits + 1), reverse=True)
    for version, (line, column) in enumerate(places, 2):
        change = types.TextDocumentContentChangePartial(_empty(line - 1), f"{' ' * column}_edited = {version}\n")
        clock = _Clock(client)
        client.text_document_did_change(
            types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(version, uri), [change])
        )
        await _shown(shown, uri, version)
        yield clock.spent()
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))


def _put(shown: asyncio.Queue, params: types.PublishDiagnosticsParams) -> None:
    shown.put_nowait(params)


async def _shown(shown: asyncio.Queue, uri: str, version: int) -> None:
    while True:
        params = await asyncio.wait_for(shown.get(), 300)
        if (params.uri, params.version) == (uri, version):
            return


def _empty(line: int) -> types.Range:
    return types.Range(types.Position(line, 0), types.Position(line, 0))


def _words(times: list[tuple[float, float]]) -> str:
    wall, cpu = (sorted(column) for column in zip(*times, strict=True))
    last = int(len(wall) * 0.95)
    return f"{statistics.median(wall):.2f} s | {wall[last]:.2f} s | {statistics.median(cpu):.2f} s | {cpu[last]:.2f} s"


class _Clock:
    """Seconds since it was made, and those that the server's process spent."""

    def __init__(self, client: LanguageClient) -> None:
        self._stat = Path(f"/proc/{client._server.pid}/stat")  # noqa: SLF001 - nothing else says it
        self._wall, self._cpu = time.perf_counter(), self._spent()

    def spent(self) -> tuple[float, float]:
        return time.perf_counter() - self._wall, self._spent() - self._cpu

    def _spent(self) -> float:
        if not self._stat.exists():
            return float("nan")
        fields = self._stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
