"""
The command line: parses options, runs a command, prints, and returns an exit status.

Exit status: 0 nothing found, 1 errors or warnings found, 2 something could not be run or read, 130 interrupted. A
user's mistake is reported in one line on stderr. Imports other than click are inside the functions that need them, so
that `--version` and wrong options answer at once.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inplace_lint import __version__
from inplace_lint.cli import CLEAN, FAILED, FOUND, INTERRUPTED, shared_options, streams, terminal
from inplace_lint.cli.facts.command import facts
from inplace_lint.cli.machines.fleet_command import fleet
from inplace_lint.cli.machines.merge_command import merge
from inplace_lint.cli.opportunities import opportunities
from inplace_lint.cli.options import (
    PolicyOptions,
    absolute_path,
    not_watched,
    parsed_by,
    resolve_paths,
    resolver_of,
    split_by_pattern,
    words_of,
)
from inplace_lint.cli.param_types import Count, OneOf, Output
from inplace_lint.cli.rule_command import rule
from inplace_lint.cli.usage_errors import check_first_word, chosen_language, message_of
from inplace_lint.config.schema import did_you_mean, patterns
from inplace_lint.core.errors import InplaceLintError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from inplace_lint.cli.watch import Lasting

_COMPLETION = "_INPLACE_LINT_COMPLETE"
_OWN_OPTIONS = {"--version", "--help", "-h"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status; error messages are on stderr by then."""
    words = with_command(sys.argv[1:] if arguments is None else arguments)
    streams.prepare()
    try:
        check_first_word(words[1:] if words[:1] == ["check"] else words, program.commands)
        status = program.main(words, prog_name="inplace-lint", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        return _fail(message_of(error, program.commands.get(words[0], program)), chosen_language(words))
    except InplaceLintError as error:
        return _fail(str(error), chosen_language(words))
    except (click.Abort, KeyboardInterrupt):
        streams.write_error("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        streams.mute(sys.stdout)  # who reads our output has seen enough
        return CLEAN
    except OSError as error:
        if not (reason := streams.describe(error)):
            raise
        return _fail(reason, chosen_language(words))
    return status if isinstance(status, int) else CLEAN


def with_command(words: Sequence[str]) -> list[str]:
    """Return the words of a command line, with `check` before them if they name no command."""
    named = not words or words[0] in _OWN_OPTIONS or words[0] in program.commands
    return [*words] if named else ["check", *words]


class _Program(click.Group):
    """The commands. When a shell completes a word and no command is named, those of `check` count."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Build the context of the words before the one that is completed."""
        if extra.get("resilient_parsing"):
            args = with_command(args)
        return super().make_context(info_name, args, parent, **extra)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return commands, our own options, and the options of the default command."""
        return [*super().shell_complete(ctx, incomplete), *check.shell_complete(ctx, incomplete)]


@click.group(cls=_Program, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def program(context: click.Context) -> int | None:
    """
    Find in-place tensor operations that break or silently corrupt training.

    `inplace-lint PATHS` is short for `inplace-lint check PATHS`; `inplace-lint check` alone checks the current folder.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        return FAILED
    return None


@program.command(short_help="Check files and folders (the default command).")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@shared_options.selectors
@click.option(
    "--per-file-ignores",
    multiple=True,
    callback=split_by_pattern,
    metavar="PATTERN:CODE[,CODE]",
    help="Rules to disable in some files.",
)
@click.option(
    "--exclude",
    multiple=True,
    callback=parsed_by(lambda lines: patterns(words_of(lines))),
    help="Files and folders to skip; patterns as in .gitignore.",
)
@click.option(
    "--force-exclude/--no-force-exclude", default=None, help="Apply --exclude to paths on the command line as well."
)
@shared_options.output_format
@shared_options.output_file
@click.option("--fix/--no-fix", default=None, help="Apply safe fixes and report what remains.")
@click.option("--unsafe-fixes/--no-unsafe-fixes", default=None, help="Include unsafe fixes.")
@click.option("--fix-only/--no-fix-only", default=None, help="Apply fixes and report nothing.")
@click.option("--show-fixes/--no-show-fixes", default=None, help="List the fixes that were applied.")
@shared_options.diff
@click.option("--watch", is_flag=True, help="Check again whenever a file changes.")
@click.option("--statistics", is_flag=True, help="Show counts by rule and how much of the code was analyzed.")
@click.option("--no-cache", is_flag=True, help="Do not read or write the cache.")
@click.option("--cache-dir", metavar="DIR", help="Cache folder; default .inplace_lint_cache in the project.")
@shared_options.jobs
@shared_options.versions
@shared_options.config_options
@click.option(
    "--baseline", metavar="FILE", callback=absolute_path, help="Do not report the findings listed in this file."
)
@click.option("--write-baseline", type=Output(), metavar="FILE", help="Write current findings to this file.")
@click.option("--prune-baseline", is_flag=True, help="Remove entries that no longer match from the baseline.")
@click.option("--since", metavar="REF", help="Report only findings in lines that changed since this branch left REF.")
@click.option("--add-noqa", is_flag=True, help="Suppress current findings with `# noqa: CODE` comments.")
@click.option("--add-ignore", is_flag=True, help="Likewise with `# inplace-lint: ignore[NAME]` comments.")
@click.option("--show-files", is_flag=True, help="List the files that would be checked.")
@click.option("--show-settings", is_flag=True, help="Show the settings and rules for the first path.")
@click.option(
    "--dump-state", type=Count(), metavar="LINE", hidden=True, help="Print what is known at a line of a file."
)
@click.option("--stdin-filename", metavar="PATH", help="Treat the text on standard input as the contents of this file.")
@shared_options.lang
@shared_options.color()
@shared_options.confirm_options
@shared_options.report_options
def check(
    paths: tuple[Path, ...], output_file: Path | None, stdin_filename: str | None, *, watch: bool, **options: Any
) -> int:
    """Check files and folders, the current folder by default, or standard input (`-`)."""
    paths, stdin = resolve_paths(paths, stdin_filename)
    if not watch:
        return _check(None, paths, stdin, output_file, **options)
    from inplace_lint.cli.watch import watch as check_again

    excluded = not_watched(options) if paths != (Path("-"),) else ["standard input"]
    return check_again(lambda lasting: _check(lasting, paths, stdin, output_file, **options), paths, excluded=excluded)


def _check(
    last: Lasting | None, paths: tuple[Path, ...], stdin: Path, output_file: Path | None, *, diff: bool, **options: Any
) -> int:
    shows = {key: options.pop(key) for key in ("show_files", "show_settings", "dump_state")}
    no_cache = options.pop("no_cache")
    proof = shared_options.proof_of(options)
    policy = PolicyOptions(**{key: options.pop(key) for key in PolicyOptions._fields})
    resolver = resolver_of(options)
    if any(shows.values()):
        from inplace_lint.cli.show import show

        return FAILED if show(paths, stdin, resolver, output_file, **shows) else CLEAN
    settings = resolver.settings_of(Path.cwd())
    if no_cache:
        from msgspec.structs import replace

        settings = replace(settings, cache=False)
    is_stdin = paths == (Path("-"),)
    from inplace_lint.cli.check_command import apply_fixes, check_compatible, runner
    from inplace_lint.cli.output import exit_status, write

    check_compatible(policy, settings, diff=diff, is_stdin=is_stdin)
    again = diff or settings.fix or settings.fix_only
    run = runner(paths, stdin, resolver, settings, policy, is_again=again, lasting=last)
    fixes = apply_fixes(run, settings, proof, diff=diff, is_stdin=is_stdin)
    outcome, texts = run({}) if fixes is None else (fixes.outcome, fixes.texts)
    if outcome.notice:
        streams.write(sys.stdout, f"{outcome.notice}\n")
        return exit_status(outcome, settings.lang, exit_zero=True)
    if proof["confirm"]:
        from inplace_lint.live.confirm.command import proved

        texts |= proved(outcome, proof, settings)
    if fixes is None or not fixes.silent:
        write(outcome, settings, output_file, texts, fixes)
    status = exit_status(outcome, settings.lang, exit_zero=settings.exit_zero, fail_on=settings.fail_on)
    if fixes is not None and fixes.silent and not outcome.failures:
        return FOUND if diff and fixes.fixed else CLEAN
    return status


@program.command(
    short_help="Run a program and report what it overwrites.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="[OPTIONS]",
)
@click.option("-m", "is_module", is_flag=True, help="Run a module, as `python -m` does.")
@click.option("--python", metavar="PATH", help="The interpreter or virtual environment to run it with.")
@shared_options.output_format
@shared_options.output_file
@shared_options.lang
@shared_options.color()
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="SCRIPT [ARGS]...")
def trace(words: tuple[str, ...], output_file: Path | None, *, is_module: bool, **options: Any) -> int:
    """
    Run SCRIPT, or a module with -m, and report in-place writes that break or corrupt backward.

    Findings are printed to standard error at the end; the exit status is that of the program.
    """
    from inplace_lint.live.report import run_watched

    if words[0].startswith("-"):
        options_there = [name for item in trace.params for name in item.opts if name.startswith("--")]
        msg = f"no such option {words[0]!r}{did_you_mean(words[0], options_there)}"
        raise click.UsageError(msg)
    wants_color = functools.partial(terminal.wants_color, is_file=output_file is not None, stream=sys.stderr)
    python = options.pop("python")
    resolver = resolver_of(options)
    return run_watched(("-m", *words) if is_module else words, output_file, python, resolver, wants_color)


@program.command(short_help="Show the size of the cache, what files cost, or remove it.")
@click.argument("action", type=OneOf(("stats", "costs", "clear")), metavar="stats|costs|clear")
@click.option("--cache-dir", metavar="DIR", help="Cache folder; default .inplace_lint_cache in the project.")
def cache(action: str, cache_dir: str | None) -> int:
    """
    Show the size of the cache of this project, or remove it.

    `costs` prints the milliseconds that each file took, as JSON for `--shard-costs`.
    """
    import json

    from inplace_lint.driver.store import Store, remove

    folder = resolver_of({"cache_dir": cache_dir}).settings_of(Path.cwd()).cache_folder
    if action == "clear":
        remove(folder)
        return CLEAN
    if action == "costs":
        costs = Store(folder).costs() if folder.is_dir() else {}
        streams.write(sys.stdout, json.dumps(costs, indent=0) + "\n")
        return CLEAN
    results, claims, size = Store(folder).size() if folder.is_dir() else (0, 0, 0)
    lines = (f"folder: {folder}", f"results: {results}", f"claims: {claims}", f"size: {size / 1000:.0f} kB")
    streams.write(sys.stdout, "".join(f"{line}\n" for line in lines))
    return CLEAN


program.add_command(rule)


@program.command(short_help="Explain an error message from torch or Paddle.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@shared_options.lang
@shared_options.color(default="auto")
def explain(paths: tuple[Path, ...], lang: str | None, color: str) -> int:
    """Read a traceback of torch or Paddle from standard input, explain it, and find its cause in PATHS."""
    from msgspec.structs import replace

    from inplace_lint.cli.check_command import runner
    from inplace_lint.cli.explain import describe
    from inplace_lint.cli.explain import explain as read
    from inplace_lint.cli.fitting import fitting, found_out
    from inplace_lint.cli.output import exit_status, write
    from inplace_lint.report.i18n import language, sayer
    from inplace_lint.rules.plugins import rules_of

    lang = language(lang, stream=sys.stdout)
    if sys.stdin.isatty():
        streams.write_error("paste the traceback, then press Ctrl-D")
    resolver = resolver_of({"color": color, "lang": lang})
    settings = resolver.settings_of(Path.cwd())
    explained = read(streams.read().decode("utf-8", "replace"), rules_of(settings.rule_plugins, settings.root))
    if explained is None:
        return _fail("this text contains no error message of torch or paddle about in-place operations", lang)
    if not paths:
        streams.write(sys.stdout, "".join(f"{line}\n" for line in describe(explained, sayer(lang))))
        return CLEAN
    outcome, texts = runner(paths, Path("-"), resolver, settings, PolicyOptions())({})
    outcome.findings, elsewhere = fitting(explained, outcome.findings, outcome.requested)
    lines = describe(found_out(explained, outcome.findings), sayer(lang))
    streams.write(sys.stdout, "".join(f"{line}\n" for line in (*lines, "")))
    if outcome.findings:
        write(outcome, replace(settings, output_format="full", statistics=False), None, texts, None)
    else:
        streams.write(sys.stdout, sayer(lang)("No finding in these paths matches.") + "\n")
    if elsewhere:
        more = f"{elsewhere} more could match, in files that the program of the traceback does not import."
        streams.write(sys.stdout, sayer(lang)(more) + "\n")
    return exit_status(outcome, lang, exit_zero=True)


@program.command(short_help="Serve findings to an editor (Language Server Protocol).")
@shared_options.selectors
@shared_options.config_options
@click.option("--python", metavar="PATH", help="The interpreter or virtual environment that confirms findings.")
@click.option(
    "--debounce", type=Count(), default=50, metavar="MS", help="Delay from the last key to the analysis; default 50."
)
@shared_options.lang
def server(debounce: int, python: str | None, **options: Any) -> int:
    """Serve findings, fixes and rule pages to an editor, on standard input and output."""
    resolver_of(dict(options))  # wrong options end it here
    try:
        from inplace_lint.server.serving import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"pygls", "lsprotocol", "cattrs", "attrs"}:
            raise
        msg = "`inplace-lint server` needs `pygls`: `pip install 'inplace-lint[server]'`"
        raise click.UsageError(msg) from error
    serve(options, debounce / 1000, [] if python is None else ["--python", python])
    return CLEAN


for _command in (opportunities, merge, fleet, facts):
    program.add_command(_command)


@program.command(short_help="Print a script for shell completion.")
@click.argument("shell", type=OneOf(("bash", "zsh", "fish")), metavar="bash|zsh|fish")
def completion(shell: str) -> int:
    """Print a script for shell completion, for example `inplace-lint completion bash >> ~/.bashrc`."""
    from click.shell_completion import get_completion_class

    known = get_completion_class(shell)
    assert known is not None, "click knows these three"
    streams.write(sys.stdout, known(program, {}, "inplace-lint", _COMPLETION).source() + "\n")
    return CLEAN


def _fail(message: str, lang: str | None) -> int:
    terminal.report_error(("error: ", " ".join(message.split())), lang)
    return FAILED
