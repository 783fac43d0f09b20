"""
Objects of libraries whose attributes are what they are constructed of.

    args = argparse.Namespace(width=8)
    config = OmegaConf.create({"model": {"width": 8}})      # config.model.width, config["model"]["width"]
"""

from __future__ import annotations

from collections.abc import Mapping

from inplace_lint.domain import traits
from inplace_lint.domain.heap import DictObject, Instance
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Dotted, Ref, Value
from inplace_lint.interp.frame import Arguments, Frame
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.interp.outcome import Results

_DEEPEST = 8
_OF_KEYWORDS = ("types.SimpleNamespace", "argparse.Namespace")
# These are mappings as well, and make such objects of the dicts in a dict.
_OF_DICTS = (
    *("addict.Dict", "box.Box", "easydict.EasyDict", "ml_collections.ConfigDict", "munch.Munch", "munch.munchify"),
    *("omegaconf.OmegaConf.create", "omegaconf.DictConfig"),
)


def create(_interp: Interpreter, _frame: Frame, state: State, arguments: Arguments, _at: int) -> Results:
    """Return the object that a call constructs; it may have more attributes where what it is made of is unknown."""
    items: dict[object, Value] = {}
    exact = not arguments.unknown
    if arguments.positional:
        inner = state.object(state.contents(arguments.positional[0]))
        exact = exact and isinstance(inner, DictObject) and inner.exact
        items.update(inner.items if isinstance(inner, DictObject) else {})
    items.update(arguments.keywords)
    return [(state, _created(state, items, exact, 0))]


def _created(state: State, items: Mapping[object, Value], exact: bool, depth: int) -> Ref:
    made: dict[object, Value] = {}
    for name, value in items.items():
        inner = state.object(value)
        made[name] = value
        if isinstance(inner, DictObject) and depth < _DEEPEST:
            made[name] = _created(state, inner.items, inner.exact, depth + 1)
    mapping = state.new(DictObject(made, exact))
    ref = state.new(Instance(Dotted("types.SimpleNamespace"), {"__dict__": mapping}, opaque=not exact))
    state.set_trait(traits.MAPPING, ref.id, mapping)
    return ref


HANDLERS = dict.fromkeys((*_OF_KEYWORDS, *_OF_DICTS), create)
