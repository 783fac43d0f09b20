"""
The command line: options in, text and an exit status out.

Exit status: 0 nothing found, 1 errors or warnings found, 2 something could not be run or read, 130 interrupted. What a
user did wrong is told in one line on stderr. Imports beyond click stand in the functions that need them, so that
`--version` and wrong options answer at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inplace_lint import __version__
from inplace_lint.asked import KEYS as CONFIRM_KEYS
from inplace_lint.asked import confirm_options
from inplace_lint.config import COLORS, FORMATS, nearest, version
from inplace_lint.errors import InplaceLintError

if TYPE_CHECKING:
    from inplace_lint.config import Settings
    from inplace_lint.scope import Scope
    from inplace_lint.selection import Known
    from inplace_lint.session import Outcome

CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130
_OWN_OPTIONS = {"--version", "--help", "-h"}
_PLAIN_WIDTH = 120
_PATIENCE_SECONDS = 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and give its exit status; the words of errors are on stderr by then."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] not in _OWN_OPTIONS and words[0] not in program.commands:
        words.insert(0, "check")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a C locale must not end a run over a name in Chinese
    try:
        status = program.main(words, prog_name="inplace-lint", standalone_mode=False)
        sys.stdout.flush()
    except click.NoSuchOption as error:
        return _fail(f"no such option {error.option_name!r}{_nearest_option(error)}")
    except click.ClickException as error:
        return _fail(error.format_message())
    except InplaceLintError as error:
        return _fail(str(error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Who reads our output has seen enough; Python would complain again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    return status if isinstance(status, int) else CLEAN


class _OneOf(click.Choice[str]):
    """A choice whose error names the nearest right word."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            self.fail(
                f"{value!r} is not one of {', '.join(self.choices)}{nearest(str(value), self.choices)}", param, ctx
            )
        return str(value)


def _split(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def _version(_context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    try:
        return value if value is None else version(value)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from error


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def program(context: click.Context) -> int | None:
    """
    Find in-place tensor operations that break or silently corrupt training.

    `inplace-lint PATHS` is short for `inplace-lint check PATHS`.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        return FAILED
    return None


@program.command(short_help="Check files and folders (the default command).")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--select", multiple=True, callback=_split, help="Rules to apply: code, prefix, name or ALL.")
@click.option("--extend-select", multiple=True, callback=_split, help="Rules to apply besides those selected.")
@click.option("--ignore", multiple=True, callback=_split, help="Rules to leave out.")
@click.option("--exclude", multiple=True, callback=_split, help="Files and folders to pass over, as in .gitignore.")
@click.option("--output-format", type=_OneOf(FORMATS), metavar="|".join(FORMATS), help="How findings are written.")
@click.option("-o", "--output-file", type=click.Path(path_type=Path, dir_okay=False), help="Write findings here.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when something was found.")
@click.option("--statistics", is_flag=True, help="Show counts by rule and how much of the code was understood.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write the cache.")
@click.option("--cache-dir", metavar="DIR", help="Where the cache is; default .inplace_lint_cache in the project.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes; default one for each CPU.")
@click.option("--torch-version", callback=_version, metavar="VERSION", help="Check for this version of torch.")
@click.option("--paddle-version", callback=_version, metavar="VERSION", help="Check for this version of Paddle.")
@click.option("--stdin-filename", metavar="PATH", default="-", help="The name of what is read for the path `-`.")
@click.option("--color", type=_OneOf(COLORS), metavar="|".join(COLORS), help="When to use colours.")
@confirm_options
def check(paths: tuple[Path, ...], output_file: Path | None, stdin_filename: str, **options: Any) -> int:
    """Check files and folders, the current folder by default, or standard input (`-`)."""
    from inplace_lint.scope import Scope
    from inplace_lint.selection import codes_of

    known = _known()
    for key in ("select", "extend_select", "ignore"):
        for selector in options[key]:
            codes_of(selector, known, f"--{key.replace('_', '-')}")
    chosen = {key: value for key, value in options.items() if key not in {"no_cache", *CONFIRM_KEYS}}
    scope = Scope(chosen, known)
    settings = scope.settings_of(Path.cwd())
    if options["no_cache"]:
        from dataclasses import replace

        settings = replace(settings, cache=False)
    outcome, texts = _run(paths or (Path(),), stdin_filename, scope, settings)
    if options["confirm"]:
        from inplace_lint.proving import proved

        texts |= proved(outcome, options, settings)
    _write(outcome, settings, output_file, texts)
    for line in outcome.troubles:
        click.echo(line, err=True)
    return _status(outcome, exit_zero=settings.exit_zero)


@program.command(
    short_help="Run a program and see what it overwrites.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="[OPTIONS]",
)
@click.option("-m", "is_module", is_flag=True, help="Run a module, as `python -m` does.")
@click.option("--python", metavar="PATH", help="The interpreter, or the virtual environment, to run it with.")
@click.option("--output-format", type=_OneOf(FORMATS), metavar="|".join(FORMATS), help="How findings are written.")
@click.option("-o", "--output-file", type=click.Path(path_type=Path, dir_okay=False), help="Write findings here.")
@click.option("--color", type=_OneOf(COLORS), metavar="|".join(COLORS), help="When to use colours.")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT [ARGS]...")
def trace(words: tuple[str, ...], output_file: Path | None, *, is_module: bool, **options: Any) -> int:
    """
    Run SCRIPT, or with -m a module, under watch, and end as it ends.

    What it overwrites although backward needs it is told at its end, on standard error.
    """
    from inplace_lint.live.report import tell

    if words[0].startswith("-"):
        options_there = [name for item in trace.params for name in item.opts if name.startswith("--")]
        msg = f"no such option {words[0]!r}{nearest(words[0], options_there)}"
        raise click.UsageError(msg)
    return tell(("-m", *words) if is_module else words, output_file, options, _known())


@program.command(short_help="Show the page of a rule.")
@click.argument("name", required=False, metavar="[CODE|NAME]")
@click.option("--all", "every", is_flag=True, help="Show the pages of all rules.")
@click.option("--color", type=_OneOf(COLORS), metavar="|".join(COLORS), default="auto", help="When to use colours.")
def rule(name: str | None, *, every: bool, color: str) -> int:
    """Show the page of a rule, or list the rules there are."""
    from inplace_lint.knowledge.locate import rules_dir

    known = _known()
    if name is None and not every:
        for item in known:
            click.echo(f"{item.code}  {item.name}")
        return CLEAN
    wanted = list(known)
    if name is not None:
        wanted = [item for item in known if name.upper() == item.code or name.lower() == item.name]
    if not wanted:
        words = [word for item in known for word in (item.code, item.name)]
        msg = f"unknown rule {name!r}{nearest(name or '', words)}"
        raise click.UsageError(msg)
    pages = [rules_dir() / f"{item.name}.md" for item in wanted]
    texts = [page.read_text(encoding="utf-8") for page in pages if page.is_file()]
    if name is not None and not texts:
        texts = [f"# {wanted[0].name} ({wanted[0].code})\n\nThis rule has no page of its own.\n"]
    _show_pages(texts, color)
    return CLEAN


def _known() -> list[Known]:
    """Give the rules there are, that for files that do not parse included."""
    from inplace_lint.rules import RULES
    from inplace_lint.selection import Known
    from inplace_lint.session import SYNTAX_CODE, SYNTAX_NAME
    from inplace_lint.suppress import UNUSED_CODE, UNUSED_NAME

    known = [Known(item.code, item.name) for item in RULES]
    if all(item.code != SYNTAX_CODE for item in known):
        known.extend((Known(UNUSED_CODE, UNUSED_NAME), Known(SYNTAX_CODE, SYNTAX_NAME)))
    return known


def _run(
    paths: tuple[Path, ...], stdin_filename: str, scope: Scope, settings: Settings
) -> tuple[Outcome, dict[str, bytes]]:
    from inplace_lint import files, notebook, session, sources

    plan = session.Plan(settings, scope.settings_of, scope.codes_of, _progress() if sys.stderr.isatty() else None)
    if paths != (Path("-"),):
        return session.run(paths, scope.excludes(paths), plan), {}
    path = Path(stdin_filename)
    data = sys.stdin.buffer.read()
    own = scope.settings_of(path)
    name, root = (files.shown(path), sources.root_of(path)) if stdin_filename != "-" else ("-", "")
    outcome = session.Outcome()
    if path.suffix == notebook.SUFFIX:
        book = outcome.notebooks[name] = notebook.parse(name, data)
        data = book.source.encode("utf-8", "surrogatepass")
    task = session.Task(name, data, own.torch_version, own.paddle_version, root)
    tasks = [task] if files.mentions(data, session.framework_names()) else []
    return session.check_all(tasks, plan, outcome), {task.path: data}


def _write(outcome: Outcome, settings: Settings, output_file: Path | None, texts: dict[str, bytes]) -> None:
    from inplace_lint.files import Sources
    from inplace_lint.report.github import job_summary
    from inplace_lint.report.model import Report
    from inplace_lint.report.reporters import REPORTERS
    from inplace_lint.report.summary import statistics, summary

    color = _wants_color(settings.color, is_file=output_file is not None)
    width = _PLAIN_WIDTH if output_file is not None else _width()
    for book in outcome.notebooks.values():
        texts |= book.texts()
    report = Report(outcome.findings, Sources(texts).lines, outcome.statements, width, color)
    text = REPORTERS[settings.output_format](report)
    if settings.output_format == "github" and (place := os.environ.get("GITHUB_STEP_SUMMARY")):
        _put(Path(place), job_summary(report), "a")
    is_for_people = settings.output_format in {"full", "concise", "grouped"}
    if is_for_people:
        text += summary(outcome.findings, len(outcome.troubles), color=color) + "\n"
    if settings.statistics:
        numbers = statistics(outcome.findings, outcome.counters, outcome.seconds)
        if is_for_people:
            text += "\n" + numbers
        else:
            sys.stderr.write(numbers)  # stdout is for a program
    if output_file is None:
        sys.stdout.write(text)
    else:
        _put(output_file, text, "w")


def _put(path: Path, text: str, mode: str) -> None:
    try:
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        msg = f"{path}: {(error.strerror or 'cannot be written').lower()}"
        raise InplaceLintError(msg) from error


def _status(outcome: Outcome, *, exit_zero: bool) -> int:
    from inplace_lint.finding import Severity

    if outcome.troubles:
        return FAILED
    counts = any(finding.severity is not Severity.INFO for finding in outcome.findings)
    return FOUND if counts and not exit_zero else CLEAN


def _show_pages(texts: Sequence[str], color: str) -> None:
    text = "\n".join(texts)
    if not _wants_color(color, is_file=False):
        click.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(force_terminal=True).print(Markdown(text))


def _wants_color(choice: str, *, is_file: bool) -> bool:
    if choice != "auto":
        return choice == "always"
    if is_file or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _width() -> int:
    import shutil

    return shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns


def _progress() -> Callable[[int, int], None]:
    """Give what counts files on the terminal, once a run has taken a while, and leaves no trace of itself."""
    import time

    started = time.monotonic()

    def tell(done: int, total: int) -> None:
        if time.monotonic() - started > _PATIENCE_SECONDS:
            text = f"checked {done} of {total} files" if done < total else ""
            click.echo(f"\r{text:<40}\r", err=True, nl=False)

    return tell


def _nearest_option(error: click.NoSuchOption) -> str:
    parameters = error.ctx.command.params if error.ctx is not None else []
    return nearest(error.option_name, [name for item in parameters for name in item.opts if name.startswith("--")])


def _fail(message: str) -> int:
    click.echo(f"error: {' '.join(message.split())}", err=True)
    return FAILED
