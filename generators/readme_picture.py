"""
Draws what the documentation shows of the tool: its output on a terminal, in colour, as a picture.

    python -m generators.readme_picture

The text of a picture is the tool's. How it is laid out is rich's, and may differ with its version.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from html import escape, unescape
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from rich.cells import cell_len
from rich.console import CONSOLE_SVG_FORMAT, Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 104
CELL = 12.2  # how wide rich draws a cell
_FONT = re.compile(r"\s*@font-face\s*{{.*?}}", re.DOTALL)
_TEXT = re.compile(r'(<text [^>]*?x=")([\d.]+)("[^>]*? textLength=")[\d.]+("[^>]*>)([^<]*)</text>')
_ROW = re.compile(r"^(?P<id>.*)-line-(?P<row>\d+)$")


class Picture(NamedTuple):
    """A picture: its file, the words of the command that it shows, the page with it, and where the command runs."""

    path: str
    words: tuple[str, ...]
    page: str
    folder: str = "."

    @property
    def title(self) -> str:
        """Return the command as it is typed."""
        return " ".join(("inplace-lint", *self.words))


PICTURES = (
    Picture("fixtures/residual_net.svg", ("fixtures/residual_net.py",), "README.md"),
    Picture("fixtures/residual_net.zh.svg", ("fixtures/residual_net.py", "--lang", "zh"), "README.zh.md"),
    Picture("fixtures/gate.svg", ("gate.py",), "docs/start.md", "fixtures"),
    Picture("fixtures/gate.zh.svg", ("gate.py", "--lang", "zh"), "docs/zh/start.md", "fixtures"),
)


def said(picture: Picture, color: str) -> str:
    """Return what the tool prints on a terminal, with the command before it."""
    command = [sys.executable, "-m", "inplace_lint", *picture.words, "--no-cache", "--color", color]
    environment = {**os.environ, "COLUMNS": str(WIDTH), "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(command, cwd=ROOT / picture.folder, capture_output=True, check=False, env=environment)
    if run.returncode != 1:
        message = f"{picture.title}: exit status {run.returncode}: {run.stderr.decode()}"
        raise ValueError(message)
    return f"$ {picture.title}\n{run.stdout.decode()}"


def drawn(picture: Picture) -> str:
    """Draw a picture; it loads no font from elsewhere."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in said(picture, "always").splitlines():
        console.print(Text.from_ansi(line), soft_wrap=True)
    name = Path(picture.path).stem.replace(".", "-")
    svg = console.export_svg(title=picture.title, code_format=_FONT.sub("", CONSOLE_SVG_FORMAT), unique_id=name)
    return _TEXT.sub(_in_cells, svg)


def _in_cells(match: re.Match[str]) -> str:
    """
    Return a text with wide characters as one text for each run of characters of equal width.

    rich gives a text the length of its characters, so Chinese ones, which take two cells, would overlap.
    """
    before, place, length, after, escaped = match.groups()
    text = unescape(escaped)
    if text.isascii() or cell_len(text) == len(text):
        return match[0]
    parts, x = "", float(place)
    for _, run in groupby(text, key=cell_len):
        part = "".join(run)
        width = cell_len(part) * CELL
        parts += f"{before}{x:g}{length}{width:g}{after}{escape(part)}</text>"
        x += width
    return parts


def shown(svg: str) -> str:
    """Return the text that a picture shows, row by row, without the title of its window."""
    rows: dict[int, dict[float, str]] = {}
    for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        clip = _ROW.match(node.get("clip-path", "").removeprefix("url(#").removesuffix(")"))
        if clip is not None:
            rows.setdefault(int(clip["row"]), {})[float(node.get("x", "0"))] = unescape(node.text or "")
    lines = (_row(rows.get(number, {})) for number in range(max(rows) + 1))
    return "\n".join(lines).rstrip() + "\n"


def colours(svg: str) -> list[str]:
    """Return the colours and weights that a picture uses, in order."""
    return re.findall(r"-r\d+ { ([^}]+) }", svg)


def _row(parts: dict[float, str]) -> str:
    """Put the parts of a row where they stand: white space between them is not drawn."""
    line = ""
    for place, text in sorted(parts.items()):
        line += " " * (round(place / CELL) - cell_len(line)) + text.replace("\N{NO-BREAK SPACE}", " ")
    return line.rstrip()


if __name__ == "__main__":
    for one in PICTURES:
        (ROOT / one.path).write_text(drawn(one), encoding="utf-8")
