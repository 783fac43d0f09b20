"""
Rules that other distributions bring: the entry points of the group `inplace_lint.rules`.

    [project.entry-points."inplace_lint.rules"]
    my-team = "my_team.inplace:RULES"

A plugin is code of an installed distribution. It is loaded where a configuration names it, and never from the current
folder or the project that names it, which may be a repository that somebody else wrote.
"""

from __future__ import annotations

import hashlib
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from inplace_lint.config.installed import installed_only, search_path
from inplace_lint.config.schema import did_you_mean
from inplace_lint.core.errors import PluginError
from inplace_lint.core.event import Event, Touch
from inplace_lint.rules import RULE_OF, RULES, register
from inplace_lint.rules.draft import Draft
from inplace_lint.rules.rule import Harm, Judge, Rule

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "inplace_lint.rules"
_CODE = re.compile(r"(?!IPL)[A-Z]{2,}[0-9]+")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
_RULE_KINDS = (("code", str), ("name", str), ("harm", Harm), ("judge", FunctionType), ("page", Path), ("url", str))
_DRAFT_KINDS = (
    ("message", str),
    ("write", Touch),
    ("label", str),
    ("related", tuple),
    ("help", str),
    ("says", str),
    ("assumptions", frozenset),
    ("gain", int),
)
_LONG = 40  # characters of a value that an error repeats
_Result = TypeVar("_Result")


class RulePlugin(Struct, frozen=True):
    """The rules of a plugin; `digest` changes with its distribution, its version and its code."""

    rules: tuple[Rule, ...]
    digest: str


_LOADED: dict[str, RulePlugin] = {}


def load(name: str, *checked: Path) -> RulePlugin:
    """
    Return a plugin, whose rules are from then on among `RULE_OF`; it is loaded once in a process.

    No code of the current folder or of those that are `checked` is run.

    Raises: `PluginError` where there is none of this name, where it does not load, or where what it has are no rules.
    """
    if name not in _LOADED:
        _LOADED[name] = _load(name, checked)
    return _LOADED[name]


def _load(name: str, checked: Sequence[Path]) -> RulePlugin:
    entry, brought_by = _entry(name, checked)
    plugin = f"rule plugin {name!r} ({brought_by})"
    with installed_only(*checked):
        value = _run_foreign(entry.load, f"{plugin} does not load")
    if not isinstance(value, tuple | list) or not value:
        msg = f"{plugin} must have rules in a tuple, not {_shown(value)}"
        raise PluginError(msg)
    done: list[Rule] = []
    for rule in value:
        if wrong := _fault(rule, done):
            msg = f"{plugin}: {wrong}"
            raise PluginError(msg)
        done.append(replace(rule, judge=_guarded(rule, plugin)))
    for rule in done:
        register(rule)
    return RulePlugin(tuple(done), _digest(brought_by, sys.modules[entry.module]))


def rules_of(names: Sequence[str], *checked: Path) -> tuple[Rule, ...]:
    """
    Return the rules that judge events: ours, and those of plugins, which do not come from folders that are `checked`.

    Raises: `PluginError`.
    """
    return (*RULES, *(rule for name in names for rule in load(name, *checked).rules))


def digests_of(names: Sequence[str]) -> tuple[str, ...]:
    """
    Return the digests of plugins.

    Raises: `PluginError`.
    """
    return tuple(load(name).digest for name in names)


def _entry(name: str, checked: Sequence[Path]) -> tuple[EntryPoint, str]:
    from importlib.metadata import distributions  # noqa: PLC0415 - most runs have no plugin

    found: dict[str, EntryPoint] = {}
    known: set[str] = set()
    for distribution in distributions(path=search_path(*checked)):
        for entry in distribution.entry_points:
            if entry.group == GROUP:
                known.add(entry.name)
            if entry.group == GROUP and entry.name == name:
                found.setdefault(f"{distribution.metadata['Name']} {distribution.version}", entry)
    if not found:
        msg = f"no package that is installed beside inplace-lint provides rule plugin {name!r}"
        raise PluginError(msg + did_you_mean(name, known))
    if len(found) > 1:
        msg = f"several packages provide rule plugin {name!r}: {', '.join(sorted(found))}"
        raise PluginError(msg)
    return next((entry, brought_by) for brought_by, entry in found.items())


def _fault(rule: object, others: Sequence[Rule]) -> str:
    """Return what is wrong with a rule beside the others of its plugin; empty where nothing is."""
    if not isinstance(rule, Rule):
        return f"{_shown(rule)} is not a `Rule`"
    if wrong := _wrong(rule, _RULE_KINDS):
        return f"a `Rule` in which {wrong}"
    if _CODE.fullmatch(rule.code) is None:
        return (
            f"the code {rule.code!r} must be capital letters and a number, such as `TEAM101`, and not begin with `IPL`"
        )
    if _NAME.fullmatch(rule.name) is None:
        return f"the name {rule.name!r} of {rule.code} must be lowercase words with hyphens between them"
    taken = [one for one in (*RULE_OF.values(), *others) if one.code == rule.code or one.name == rule.name]
    if taken:
        return f"{rule.code} ({rule.name}) has the code or the name of another rule, {taken[0].code} ({taken[0].name})"
    if rule.harm is Harm.STYLE and not rule.opinion:
        return f"{rule.code} reports what is not a fault (`Harm.STYLE`): it must be an opinion (`opinion=True`)"
    if rule.page is None or not rule.page.is_file():
        return f"{rule.code} has no page: {str(rule.page)!r} is not a file"
    unknown = [code for code in (rule.traced_as, rule.supersedes, rule.yields_to) if code and code not in RULE_OF]
    return f"{rule.code} names {unknown[0]!r}, which is not a rule of inplace-lint" if unknown else ""


def _guarded(rule: Rule, plugin: str) -> Judge:
    """Return the judge of a rule; `PluginError` says what it does that a judge must not."""

    def judge(event: Event) -> Draft | None:
        draft: object = _run_foreign(lambda: rule.judge(event), f"{plugin}: the judge of {rule.code} failed")
        if draft is None:
            return None
        if not isinstance(draft, Draft):
            msg = f"{plugin}: {rule.code} returned {_shown(draft)} in place of a `Draft` or `None`"
            raise PluginError(msg)
        if wrong := _wrong(draft, _DRAFT_KINDS):
            msg = f"{plugin}: {rule.code} returned a `Draft` in which {wrong}"
            raise PluginError(msg)
        return draft

    return judge


def _run_foreign(call: Callable[[], _Result], what: str) -> _Result:
    """
    Return the result of code that is not ours.

    Raises: `PluginError` that begins with `what`, for whatever it raises.
    """
    try:
        return call()
    except SystemExit as error:
        raised: BaseException = error
    except Exception as error:  # noqa: BLE001 - other people's code may raise whatever it likes
        raised = error
    own = [frame for frame in traceback.extract_tb(raised.__traceback__) if frame.filename != __file__]
    place = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
    msg = f"{what}: {type(raised).__name__}: {str(raised).partition(chr(10))[0]}{place}"
    raise PluginError(msg) from raised


def _wrong(value: object, kinds: Sequence[tuple[str, type]]) -> str:
    """Return what is wrong with the types of fields; empty where nothing is."""
    for name, kind in kinds:
        if not isinstance(found := getattr(value, name), kind):
            return f"the field {name} is {_shown(found)}, not of type {kind.__name__}"
    return ""


def _digest(brought_by: str, module: object) -> str:
    """Return a digest of a distribution, and of the code beside a module of it: that of an editable install changes."""
    total = hashlib.sha256(brought_by.encode())
    file = Path(getattr(module, "__file__", None) or "")
    parts = file.parent.rglob("*.py") if getattr(module, "__package__", "") else (file,)
    for path in sorted(path for path in parts if path.is_file()):
        total.update(path.read_bytes())
    return total.hexdigest()


def _shown(value: object) -> str:
    """Spell a value that is wrong; a long one by its type."""
    spelled = repr(value)
    return spelled if len(spelled) <= _LONG else f"an object of type {type(value).__name__}"
