"""What the terminal supports: colours, links, its width; and the progress line of a long run."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO

from inplace_lint.cli import streams

PLAIN_WIDTH = 120
_PATIENCE_SECONDS = 1.0
_LINKING_PROGRAMS = frozenset({"Hyper", "iTerm.app", "terminology", "WezTerm", "vscode", "ghostty", "rio", "Tabby"})
_LINKING_MARKS = ("DOMTERM", "WT_SESSION", "KONSOLE_VERSION", "KITTY_WINDOW_ID")
_FIRST_VTE = 5000
_NO = frozenset({"", "0", "false"})


def wants_color(choice: str, *, is_file: bool, stream: IO[str] | None = None) -> bool:
    """
    Return whether output to a stream (stdout for None) is coloured, for a choice of auto, always or never.

    Source: no-color.org; bixense.com/clicolors; FORCE_COLOR as Node reads it, where 0 is no.
    """
    if choice != "auto":
        return choice == "always"
    get = os.environ.get
    if is_file or get("NO_COLOR"):
        return False
    if forced := get("FORCE_COLOR"):
        return forced not in _NO
    if get("CLICOLOR_FORCE", "0") not in _NO:
        return True
    is_terminal = (sys.stdout if stream is None else stream).isatty()
    return is_terminal and get("TERM") != "dumb" and get("CLICOLOR", "1") != "0"


def shows_links(environment: Mapping[str, str] = os.environ) -> bool:
    """
    Return whether stdout is a terminal that is known to show links (OSC 8).

    `FORCE_HYPERLINK` decides where it is set.

    Source: the list of terminals of the `supports-hyperlinks` crate, which cargo and Ruff use.
    """
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced.strip() not in {"", "0"}
    if not sys.stdout.isatty():
        return False
    vte = environment.get("VTE_VERSION", "")
    return (
        any(environment.get(mark) for mark in _LINKING_MARKS)
        or (vte.isdigit() and int(vte) >= _FIRST_VTE)
        or environment.get("TERM_PROGRAM") in _LINKING_PROGRAMS
        or environment.get("TERM") in {"xterm-kitty", "alacritty", "alacritty-direct", "xterm-ghostty"}
    )


def width() -> int:
    """Return the width of the terminal in cells, or that of plain text where there is none."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns


def progress(what: str = "files") -> Callable[[int, int], None]:
    """Return a function that shows how much is done, once a run has taken a while, and clears up at the end."""
    started = time.monotonic()

    def tell(done: int, total: int) -> None:
        if time.monotonic() - started > _PATIENCE_SECONDS:
            text = f"checked {done} of {total} {what}" if done < total else ""
            sys.stderr.write(f"\r{text:<40}\r")
            sys.stderr.flush()

    return tell


def show_pages(texts: Sequence[str], color: str) -> None:
    """Print pages in Markdown, rendered where colours are wanted."""
    text = "\n".join(texts)
    if not wants_color(color, is_file=False):
        streams.write(sys.stdout, text)
        return
    from rich.console import Console  # noqa: PLC0415 - `--version` does without rich
    from rich.markdown import Markdown  # noqa: PLC0415

    console = Console(force_terminal=True)
    with console.capture() as shown:
        console.print(Markdown(text))
    streams.write(sys.stdout, shown.get())


def report_error(parts: Sequence[str], lang: str | None) -> None:
    """
    Write a line to stderr, each part of it translated; `lang` None is the language of the environment.

    Of several parts the first is the kind of line ("error: "), in colour where there are colours.
    """
    from inplace_lint.report.i18n import language, sayer  # noqa: PLC0415 - most runs have nothing to say there
    from inplace_lint.report.paths import visible  # noqa: PLC0415
    from inplace_lint.report.style import Ink, paint  # noqa: PLC0415

    say = sayer(language(lang, stream=sys.stderr))
    first, *rest = (visible(say(part)) for part in parts)
    color = bool(rest) and wants_color("auto", is_file=False, stream=sys.stderr)
    streams.write_error("".join((paint(first, Ink.ERROR, color=color), *rest)))
