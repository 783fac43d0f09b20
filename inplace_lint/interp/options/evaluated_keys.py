"""
Settings that a program stores in a batch where it evaluates, and nowhere else: training meets none of them.

    def forward(self, batch):
        y = self.net(batch["x"])
        if batch.get("clips") or batch["clips"]:    # not in training
            y.clamp_(0)

    def predict_step(self, batch, batch_idx):       # which its trainer runs without gradients
        batch["clips"] = True
        return self(batch)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from inplace_lint.domain import origins
from inplace_lint.domain.state import State
from inplace_lint.domain.values import Const, Sym, Value
from inplace_lint.effects.summary import Definition
from inplace_lint.interp.interpreter import Interpreter
from inplace_lint.ir import nodes as ir
from inplace_lint.ir.walk import walk

_STORES = r"""\[["']{0}["']\]\s*=(?!=)|["']{0}["']\s*:"""


def settled(interp: Interpreter, state: State, value: Value) -> Value:
    """Return what a test is in training: false for an item that only evaluation stores, else the value itself."""
    match state.symbols.key(value) if type(value) is Sym else None:
        case (origins.ITEM, Sym(), Const(str(key))) if key in _keys(interp):
            return Const(value=False)
        case _:
            return value


def _keys(interp: Interpreter) -> frozenset[str]:
    context = interp.context
    if context.evaluated_keys is None:
        names = context.default().framework.evaluated
        methods = [method for item in context.outline.items for method in item.methods if method.name in names]
        found = {key for method in methods for key in _stored(interp, method)}
        texts = "".join(context.main.text(method.slice) for method in methods)
        context.evaluated_keys = frozenset(
            key for key in found if _count(key, texts) == _count(key, context.main.source)
        )
    return context.evaluated_keys


def _stored(interp: Interpreter, method: Definition) -> Iterator[str]:
    """Yield the keys under which a method stores True."""
    for node in walk(interp.context.code(method.slice).body):
        match node:
            case ir.Assign(targets=(ir.Subscript(key=ir.Const(value=str(key))),), value=ir.Const(value=True)):
                yield key
            case _:
                pass


def _count(key: str, text: str) -> int:
    return len(re.findall(_STORES.format(re.escape(key)), text))
