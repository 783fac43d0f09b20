"""What the terminal supports: colours, links, its width; and the progress bar of a long run."""

from __future__ import annotations

import os
import shutil
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import IO, Literal

from inplace_lint.cli import streams

PLAIN_WIDTH = 120
_PATIENCE_SECONDS = 1.0
_REDRAW_SECONDS = 0.1
_BAR = 24  # cells
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


def progress() -> Progress | None:
    """Return what shows the progress of a run; None where stderr is no terminal that can draw over a line."""
    return Progress() if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else None


class Progress:
    """
    Shows how much of a run is done, once it has taken a while: a bar, the time left, and the file that was done last.

    It is one line, which each call writes anew, and which is gone at the end.
    Units: sizes in bytes, since a file of twice the size takes about twice the time.
    """

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown = self._done = 0.0

    def __call__(self, path: str, size: int, total: int) -> None:
        """Show that a file of this size is done, of all files with this size together."""
        self._done += size
        now = time.monotonic()
        if self._done >= total:
            self.end()
        elif now - self._started > _PATIENCE_SECONDS and now - self._shown > _REDRAW_SECONDS:
            left = round((now - self._started) * (total - self._done) / self._done)
            done = self._done / total
            self._write(f" {done:4.0%}  {left // 60}:{left % 60:02} left  ", path, done)
            self._shown = now

    def end(self) -> None:
        """Remove the line, however much is done; what follows is another run, such as the next round of fixes."""
        if self._shown:
            self._write("")
        self._shown = self._done = 0.0
        self._started = time.monotonic()

    def _write(self, text: str, path: str = "", done: float | None = None) -> None:
        from inplace_lint.report.paths import visible  # noqa: PLC0415 - only where it takes a while
        from inplace_lint.report.text_width import ending, width_of  # noqa: PLC0415

        room = width() - 1  # a full line would begin the next one
        cells = 0 if done is None else max(min(_BAR, room - len(text)), 0)
        text += ending(visible(path), room - cells - len(text))
        bar = _bar(done, cells) if done is not None and cells else ""
        sys.stderr.write(f"\r{bar}{text[:room]}{' ' * (room - cells - width_of(text))}\r")
        sys.stderr.flush()


def _bar(done: float, cells: int) -> str:
    from rich.console import Console  # noqa: PLC0415 - only where it takes a while
    from rich.progress_bar import ProgressBar  # noqa: PLC0415

    color = wants_color("auto", is_file=False, stream=sys.stderr)
    kind: Literal["standard"] | None = "standard" if color else None
    console = Console(file=sys.stderr, force_terminal=True, width=cells, color_system=kind, no_color=not color)
    with console.capture() as shown:
        console.print(ProgressBar(1.0, done, width=cells), end="")
    return shown.get() if color else shown.get().ljust(cells)  # without colours the rest of a bar is not drawn


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


def report_defect(error: Exception) -> None:
    """Write to stderr what an exception says that nothing handles, and how to report it; `-X dev` adds the trace."""
    from inplace_lint.driver.crashes import crash  # noqa: PLC0415 - only where there is one
    from inplace_lint.rules.links import REPOSITORY  # noqa: PLC0415

    if sys.flags.dev_mode:
        traceback.print_exception(error)
    report_error(("error: ", crash(error)), None)
    issues, trace = f"{REPOSITORY}/issues", "`python -X dev -m inplace_lint`"
    report_error((f"this is a defect of inplace-lint: please report it at {issues}, with what {trace} prints",), None)
