"""The command that shows the pages of rules, or lists them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from inplace_lint.cli import shared_options, streams, terminal
from inplace_lint.cli.options import complete_rule, known_rules, resolver_of
from inplace_lint.cli.param_types import OneOf
from inplace_lint.config.schema import LANGS, did_you_mean


@click.command(short_help="Show the documentation of a rule.")
@click.argument("name", required=False, metavar="[CODE|PREFIX|NAME]", shell_complete=complete_rule)
@click.option("--all", "every", is_flag=True, help="Show the pages of all rules.")
@click.option("--lang", type=OneOf(LANGS), help="Language of the pages.")
@shared_options.color(default="auto")
def rule(name: str | None, *, every: bool, lang: str | None, color: str) -> int:
    """Show the documentation of a rule, or list all rules, or those whose codes begin with a prefix."""
    from inplace_lint.report.i18n import language  # noqa: PLC0415 - wrong options answer at once
    from inplace_lint.rules import RULE_OF  # noqa: PLC0415
    from inplace_lint.rules.links import page_of  # noqa: PLC0415

    known = known_rules()
    if name is None or all(name.upper() != item.code and name.lower() != item.name for item in known):
        resolver = resolver_of({})
        known = [*resolver.rules_of(resolver.settings_of(Path.cwd()))]
    group = [item for item in known if name is None or (name.isalnum() and item.code.startswith(name.upper()))]
    wanted = [item for item in known if name is None or name.upper() == item.code or name.lower() == item.name]
    if not every and group and (name is None or not wanted):
        streams.write(sys.stdout, "".join(f"{item.code}  {item.name}\n" for item in group))
        return 0
    if not wanted:
        words = [word for item in known for word in (item.code, item.name)]
        msg = f"unknown rule {name!r}{did_you_mean(name or '', words)}"
        raise click.UsageError(msg)
    lang = language(lang, stream=sys.stdout)
    pages = [page_of(RULE_OF[item.code], lang) for item in wanted]
    terminal.show_pages([page.read_text(encoding="utf-8") for page in pages if page.is_file()], color)
    return 0
