"""
Which release of a framework is installed: the one that the file is checked for. And which one of Python runs.

    if version.parse(torch.__version__) < version.parse("1.6"):     # false: what follows is not run
    if hasattr(F, "scaled_dot_product_attention"):                  # true: there is a fact of it
"""

from __future__ import annotations

from itertools import takewhile

from inplace_lint.domain import traits
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Dotted, Ref, Tuple, Value
from inplace_lint.interp.context import Context
from inplace_lint.knowledge.facts import Facts


class Release(str):
    """The text of a version, which is compared by its numbers, as the classes for versions and PyTorch's own do."""

    __slots__ = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the version, without the last ones that are 0; raises `ValueError` for any other text."""
        found = [int(part) for part in self.partition("+")[0].split(".")]
        zeros = len([*takewhile(lambda number: number == 0, reversed(found))])
        return tuple(found[: len(found) - zeros])

    def __lt__(self, other: object) -> bool:
        return self.numbers < _numbers(other)

    def __le__(self, other: object) -> bool:
        return self.numbers <= _numbers(other)

    def __gt__(self, other: object) -> bool:
        return self.numbers > _numbers(other)

    def __ge__(self, other: object) -> bool:
        return self.numbers >= _numbers(other)


def _numbers(other: object) -> tuple[int, ...]:
    return Release(".".join(map(str, other)) if isinstance(other, tuple | list) else other).numbers


def installed(facts: Facts, name: str) -> Const | None:
    """Return the value of `torch.__version__`; None for any other name."""
    package, _, last = name.partition(".")
    if last not in {"__version__", "version.__version__"} or package not in facts.framework.packages:
        return None
    release = facts.version or next(reversed(facts.framework.releases), "")
    return Const(Release(f"{release}.0" if release.count(".") == 1 else release)) if release else None


def part(value: Value, name: str) -> Value | None:
    """Return an attribute of a version that is known: `version.parse("1.6").major`; None for any other."""
    release = value.value if isinstance(value, Const) else None
    if not isinstance(release, Release):
        return None
    numbers = [int(number) for number in release.partition("+")[0].split(".") if number.isdecimal()]
    if name in {"release", "version"}:
        return Tuple(tuple([Const(number) for number in numbers]))
    if name in {"base_version", "public"}:
        return Const(release.partition("+")[0])
    return Const((*numbers, 0, 0, 0)[_PLACES[name]]) if name in _PLACES else None


OF_PYTHON = "sys.version_info"
# IMPRECISE: what is only for older versions of Python is not run.
PYTHON = Tuple(
    (Const(3), Const(13), Const(0), Const("final"), Const(0)),
    fields=("major", "minor", "micro", "releaselevel", "serial"),
)
_PLACES = {"major": 0, "minor": 1, "micro": 2}


def has(context: Context, state: State, value: Value | None, name: str) -> bool:
    """Check whether a tensor or a part of a framework has an attribute of this name in the newest release."""
    tensor = None if value is None else state.tensor(value)
    known = None if tensor is None else context.facts.get(tensor.framework)
    owner = value.name if isinstance(value, Dotted) else "" if known is None else known.framework.tensor
    facts = context.facts_of(owner) if owner else None
    return facts is not None and facts.version is None and bool(facts.forms(facts.canonical(f"{owner}.{name}")))


def lacks(context: Context, state: State, value: Value | None, name: str) -> bool:
    """Check whether a tensor that a call has made has no attribute of this name, and was given none."""
    tensor = None if value is None else state.tensor(value)
    facts = None if tensor is None else context.facts.get(tensor.framework)
    if tensor is None or facts is None or not isinstance(value, Ref) or not tensor.made or tensor.param:
        return False
    listed = name in facts.members or name in facts.framework.unlisted or name.startswith("_")
    return not listed and state.trait(traits.ATTRIBUTE, (value.id, name)) is None
