"""The command that shows what is known of a call."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inplace_lint.cli import FAILED, shared_options, streams, terminal
from inplace_lint.cli.options import resolver_of
from inplace_lint.cli.param_types import OneOf, Output

if TYPE_CHECKING:
    from inplace_lint.cli.facts.search import Known


class _Facts(click.Group):
    """The commands below `facts`; a word that is none of them is the name of a call to show."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words after `facts`."""
        named = not args or args[0] in self.commands or args[0] in ctx.help_option_names
        return super().parse_args(ctx, args if named else ["show", *args])


@click.group(cls=_Facts, invoke_without_command=True, short_help="Show what is known about a call, or probe it.")
@click.pass_context
def facts(context: click.Context) -> int | None:
    """
    Show what is known about a call: what it writes, what it keeps for backward, and what it returns.

    `inplace-lint facts NAME` is short for `inplace-lint facts show NAME`.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        return FAILED
    return None


@facts.command(short_help="Show what is known about a call.")
@click.argument("name")
@click.option("--output-format", type=OneOf(("full", "json")), default="full", help="Output format.")
@shared_options.config_options
@shared_options.lang
@shared_options.color(default="auto")
def show(name: str, output_format: str, lang: str | None, color: str, **options: Any) -> None:  # noqa: ANN401 - as click passes them
    """Show what is known about a call such as `torch.Tensor.add_`, its source, and for which versions it holds."""
    from inplace_lint.cli.facts.search import search  # noqa: PLC0415 - wrong options answer at once
    from inplace_lint.report.i18n import language, sayer  # noqa: PLC0415

    settings = resolver_of(options).settings_of(Path.cwd())
    found = search(name, settings.own_facts)
    if output_format == "json":
        rows = [{"framework": one.framework or None, "from": one.place, "fact": one.row} for one in found]
        streams.write(sys.stdout, json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
        return
    say = sayer(language(lang or settings.lang, stream=sys.stdout))
    is_colored = terminal.wants_color(color, is_file=False)
    streams.write(sys.stdout, "\n".join("".join(_lines(one, say, color=is_colored)) for one in found))


@facts.command(short_help="Find out what an operator does, by calling it.")
@click.argument("name", metavar="MODULE:FUNCTION")
@click.option("--args", "arguments", metavar="TEXT", default="", help="Arguments as in a call.")
@click.option("--python", metavar="PATH", help="The interpreter or virtual environment to run it with.")
@click.option(
    "-o", "--output-file", type=Output(), metavar="FILE", help="Add the fact to this file, in place of an older one."
)
def probe(name: str, arguments: str, python: str | None, output_file: Path | None) -> None:
    """
    Call an operator and print what it was seen to do, as a line for a file of facts.

    It is called several times, in a separate process, on small tensors, which are guessed unless --args is given.
    """
    from inplace_lint.live.launch import interpreter, probed  # noqa: PLC0415
    from inplace_lint.workspace import files  # noqa: PLC0415

    if not all(part for part in name.partition(":")):
        msg = f"{name!r} is not a `module:function`"
        raise click.UsageError(msg)
    settings = resolver_of({}).settings_of(Path.cwd())
    fact = probed(interpreter(python, settings), name, arguments)
    line = json.dumps(fact, ensure_ascii=False) + "\n"
    if output_file is None:
        streams.write(sys.stdout, line)
    else:
        before = output_file.read_text(encoding="utf-8") if output_file.is_file() else ""
        kept = [one for one in before.splitlines(keepends=True) if not _is_probed(one, fact["op"])]
        files.put_text(output_file, "".join(kept) + ("\n" if kept and not kept[-1].endswith("\n") else "") + line)


def _is_probed(line: str, op: str) -> bool:
    """Check whether a line of a file of facts is what a call of this operator has shown before."""
    try:
        row = json.loads(line)
    except ValueError:
        return False
    return isinstance(row, dict) and row.get("op") == op and "probed" in row


def _lines(known: Known, say: Callable[[str], str], *, color: bool) -> Iterator[str]:
    from inplace_lint.report.style import Ink, paint  # noqa: PLC0415
    from inplace_lint.report.text_width import width_of  # noqa: PLC0415

    row = known.row
    parts = [
        (say("also"), ", ".join(row.get("same", ()))),
        (say("constructed with"), ", ".join(row.get("init", ()))),
        (say("schema"), row.get("schema", "")),
        (say("when"), row.get("if", "")),
        (say("becomes"), "; ".join(_given(one, one["op"]) for one in row.get("becomes", ()))),
        (say("state"), "; ".join(_given(part, name) for name, part in row.get("state", {}).items())),
        (say("writes"), "; ".join(map(_write, row.get("writes", ())))),
        (say("saves"), "; ".join(map(_save, row.get("saves", ())))),
        (say("gradients"), ", ".join(row["grads"]) or "-" if "grads" in row else ""),
        (say("returns"), "; ".join(map(_result, row.get("returns", ())))),
        (say("history"), row.get("history", "")),
        (say("act"), row.get("act", "")),
        (say("for"), " ".join(filter(None, (known.framework, row.get("versions", ""))))),
        (say("probed on"), ", ".join(row.get("probed", ()))),
        (say("from"), known.place),
        (say("source"), row.get("source", "")),
    ]
    yield f"{paint(row['op'], Ink.BOLD, color=color)}({', '.join(row.get('args', ()))})\n"
    shown = [(label, text) for label, text in parts if text]
    width = max(width_of(label) for label, _ in shown)
    for label, text in shown:
        yield f"  {paint(label, Ink.FRAME, color=color)}{' ' * (width - width_of(label))}  {text}\n"


def _given(part: Mapping[str, Any], text: str) -> str:
    return f"{text} if {part['if']}" if "if" in part else text


def _write(write: Mapping[str, Any]) -> str:
    checks = f", checks {' '.join(write['checks'])}" if write.get("checks") else ""
    return _given(write, f"{write['to']} ({'counted' if write['counted'] else 'not counted'}{checks})")


def _save(save: Mapping[str, Any]) -> str:
    words = ["copy"] * bool(save.get("copy")) + ["not checked"] * (save.get("checked") is False)
    return _given(save, save["of"] + (f" ({', '.join(words)})" if words else ""))


def _result(result: Mapping[str, Any]) -> str:
    inner = result.get("items", [result["item"]] if "item" in result else [])
    text = f"{result['is']} of {result['of']}" if "of" in result else result["is"]
    words = [f"{key} {result[key]}" for key in ("kind", "moves", "dtype", "shape") if key in result]
    words += [_result(one) for one in inner]
    return _given(result, text + (f" ({', '.join(words)})" if words else ""))
